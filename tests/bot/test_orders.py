"""Orders about other players: invite, block, say. None can become another command, and none is forgotten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.bot.events_and_actions import OrderGiven, PauseRequested
from fibsbot.bot.lobby import MAX_ORDERED, ORDER_AGE
from fibsbot.bot.orders import MAX_SAID, TOLD_ORDERS, GivenOrder, Order, give_order
from fibsbot.bot.settings import ChatSettings
from fibsbot.policy import Policy
from tests.bot.agent_script import ME, Script
from tests.bot.lobby_lines import TIME, saved, who
from tests.examples import examples

OPERATED = ChatSettings(greet=False, operators=("slarti",))


class Ordered:
    """A bot in the lobby to which orders are given."""

    def __init__(self, *lines: str, rows: tuple[str, ...] = ("no saved games.",), **settings: object) -> None:
        """Log in, with the players of these `5` lines online."""
        self.script = Script(chat=OPERATED, **settings).to_lobby(saved=rows)
        self.lines = lines
        self.sent: list[str] = []
        self.note(self.script.server(*lines))

    def note(self, commands: list[str]) -> None:
        """Note what the bot sends, and answer its requests of the list of users."""
        for command in commands:
            self.sent.append(command)
            if command == "rawwho":
                self.note(self.script.server(*self.lines, who(ME), "6"))
            elif command == "time":
                self.note(self.script.server(TIME))

    def give(self, words: str) -> str:
        """Give an order; return the answer."""
        order, *arguments = words.split()
        self.note(self.script.event(OrderGiven(self.script.now, give_order(Order(order), arguments))))  # type: ignore[call-arg]  # by its word
        return str(self.script.events("order_taken")[-1]["answer"])

    def come(self, *lines: str) -> None:
        """Have players log in."""
        self.lines = (*self.lines, *lines)
        self.note(self.script.server(*lines))

    @property
    def invited(self) -> list[str]:
        """The invitations that were sent."""
        return [command for command in self.sent if command.startswith("invite")]


def test_a_player_who_is_free_is_invited_at_once_and_once() -> None:
    it = Ordered(who("ford"), who("arthur"))
    assert "ford is invited to a 5-point match as soon as we are both free, within an hour." == it.give("invite ford 5")
    assert ["invite ford 5"] == it.invited
    it.note(it.script.server("** You invited ford to a 5 point match."))
    it.note(it.script.wait(ORDER_AGE + 1))
    assert ["invite ford 5"] == it.invited


def test_an_order_waits_for_the_player_and_needs_no_policy() -> None:
    it = Ordered(policy=Policy(accept=False, people=False, bots=False))
    it.script.event(PauseRequested(it.script.now, paused=True))
    it.give("invite ford unlimited")
    assert [] == it.invited
    assert ["ford"] == list(it.script.agent.status.ordered)
    it.come(who("ford"))
    assert ["invite ford unlimited"] == it.invited
    assert [] == list(it.script.agent.status.ordered)


def test_an_order_that_comes_too_late_is_dropped() -> None:
    it = Ordered()
    it.give("invite ford 5")
    for _ in range(1 + int(ORDER_AGE / 5)):
        it.note(it.script.wait(5))
    it.come(who("ford"))
    assert [] == it.invited
    assert [{"name": "ford"}] == it.script.events("order_expired")


def test_an_order_outlives_the_connection() -> None:
    it = Ordered()
    it.give("invite ford 5")
    it.script.lose()
    it.script.connect()
    it.script.to_lobby()
    it.come(who("ford"))
    assert ["invite ford 5"] == it.invited


def test_a_saved_match_comes_first() -> None:
    it = Ordered(rows=saved("ford"))
    it.give("invite ford 3")
    it.come(who("ford"))
    assert ["invite ford"] == it.invited


def test_another_game_is_announced_and_agreed_to() -> None:
    it = Ordered(who("ford"))
    it.give("invite ford 3 plakoto")
    it.note(it.script.server("** games on"))
    it.note(it.script.wait(60))
    assert ["invite ford 3 plakoto"] == it.invited
    assert any(command.startswith("set games") for command in it.sent)


def test_not_too_many_orders_wait_and_none_does_when_leaving() -> None:
    it = Ordered()
    for number in range(MAX_ORDERED):
        it.give(f"invite player_{'abcdefghijklmnopqrstuvwxyz'[number]} 5")
    assert f"{MAX_ORDERED} invitations wait already." == it.give("invite zaphod 5")
    assert it.give("invite player_a 3").startswith("player_a is invited to a 3-point match")
    assert "That is me." == it.give(f"invite {ME} 5")
    leaving = Script().to_their_turn()
    leaving.finish()
    leaving.event(OrderGiven(leaving.now, give_order(Order.INVITE, ["ford", "5"])))
    assert ["I'm about to log out."] == [event["answer"] for event in leaving.events("order_taken")]


def test_a_blocked_player_is_refused_until_unblocked() -> None:
    it = Ordered(who("ford"))
    assert ("ford is blocked now.", "ford is blocked already.") == (it.give("block ford"), it.give("block ford"))
    assert ("ford",) == it.script.agent.status.blocked
    it.note(it.script.server("ford wants to play a 5 point match with you."))
    assert "tell ford My operator doesn't want me to play you, sorry." == it.sent[-1]
    assert "ford is no longer blocked." == it.give("unblock ford")
    assert "ford was not blocked by an order." == it.give("unblock ford")
    it.note(it.script.server("16 ford", "ford wants to play a 5 point match with you."))
    assert 1 == len(it.script.questions)
    assert [True, True, False, False] == [event["blocked"] for event in it.script.events("player_blocked")]


def test_a_saved_match_with_a_blocked_player_is_not_resumed() -> None:
    it = Ordered(rows=saved("ford"))
    it.give("block ford")
    it.come(who("ford"))
    assert [] == it.invited


# -- by tell --------------------------------------------------------------------------------------------------------


def test_operators_give_the_same_orders_by_tell() -> None:
    it = Ordered(who("ford"))
    it.note(it.script.server("12 slarti Invite ford 5"))
    assert "invite ford 5" in it.invited
    it.note(it.script.server("** You invited ford to a 5 point match.", "12 slarti block arthur"))
    it.note(it.script.server("16 slarti", "12 slarti say ford Good  luck; quit"))
    it.note(it.script.server("16 slarti", "16 ford", "16 slarti", "12 slarti invite ford 500"))
    assert "tell ford Good luck; quit" in it.sent
    assert "tell slarti Expected points from 1 to 99, or unlimited, got '500'." == it.sent[-1]
    assert ("arthur",) == it.script.agent.status.blocked
    assert ["invite", "block", "say"] == [event["order"] for event in it.script.events("ordered")]


@pytest.mark.parametrize("line", ["12 ford block arthur", "15 slarti block arthur", "13 slarti say ford hello"])
def test_nobody_else_and_nowhere_else(line: str) -> None:
    it = Ordered(who("ford"))
    it.note(it.script.server(line))
    assert () == it.script.agent.status.blocked
    assert not any(command.startswith("tell ford hello") for command in it.sent)


# -- arbitrary words ------------------------------------------------------------------------------------------------


@examples(200)
@given(st.sampled_from([order for order in Order if order.arguments]), st.lists(st.text(max_size=300), max_size=4))
def test_an_order_is_whole_or_refused_in_one_line(order: Order, arguments: list[str]) -> None:
    try:
        given = give_order(order, arguments)
    except ValueError as error:
        shown = str(error)
        assert shown.isprintable()
        return
    assert given.name.replace("_", "a").isalpha()
    assert len(given.text) <= MAX_SAID
    assert given.text.isascii()
    assert given.text.isprintable() or not given.text


@examples(200)
@given(st.text(max_size=MAX_SAID))
def test_whatever_is_said_is_one_tell_to_that_player(text: str) -> None:
    """Also if somebody makes an order without `give_order`."""
    it = Ordered(who("ford"))
    before = len(it.sent)
    it.note(it.script.event(OrderGiven(it.script.now, GivenOrder(Order.SAY, "ford", text=text))))
    for line in it.sent[before:]:
        assert line.startswith("tell ford ") or line == "tell ford"
        assert "\n" not in line
        assert "\r" not in line
        assert line.isascii()
        assert line.isprintable()
        assert len(line) < 300


def test_every_order_with_arguments_can_be_told() -> None:
    assert {order for order in Order if order.arguments} <= set(TOLD_ORDERS)
