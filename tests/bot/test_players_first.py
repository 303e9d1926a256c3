"""Whom the bot plays and how it speaks to them: people first, lengths in turn, greeting and goodbye, and `eval`."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.bot.chat import ONLY_WATCHERS
from fibsbot.bot.settings import ChatSettings
from fibsbot.policy import Lengths, Policy
from fibsbot.server.server import Server
from fibsbot.strategies.base import PlayAnswer
from tests.bot.agent_script import ME, START_CELLS, Script, after, board
from tests.bot.live_bots import CHEAP, Told
from tests.bot.lobby_lines import who
from tests.bot.test_opponent_search import Seeker
from tests.examples import examples
from tests.patience import SOON
from tests.service.accounts import opponent

# -- people first ---------------------------------------------------------------------------------------------------


def invitation(name: str) -> str:
    """Return an invitation to a match of one point."""
    return f"{name} wants to play a 1 point match with you."


def test_a_persons_invitation_is_joined_before_that_of_a_bot() -> None:
    script = Script().to_lobby()
    script.server(who("gnubot"), who("ford"), invitation("gnubot"), invitation("ford"))
    script.verdict(accepted=True)
    script.verdict(accepted=True)
    assert "join ford" in script.wait(5)
    assert "join gnubot" not in script.sent_so_far


def test_after_a_match_with_a_bot_there_is_time_for_people() -> None:
    script = Script(policy=Policy(bot_pause=600)).to_lobby()
    script.server(who("gnubot"), who("ford"))
    script.server("** Player gnubot has joined you for a 1 point match.", "Starting a new game with gnubot.")
    script.server("gnubot wins the 1 point match 1-0 .")
    script.wait(5)
    (refused,) = [line for line in script.server(invitation("gnubot")) if line.startswith("tell gnubot")]
    assert refused.startswith(
        "tell gnubot I've just played a bot and am free for people now. I can play another bot in "
    )
    script.server("16 gnubot", invitation("ford"))
    assert 1 == len(script.questions), "a person is asked about"


def test_after_so_many_matches_with_bots_the_rest_of_the_day_is_for_people() -> None:
    script = Script(policy=Policy(max_bots_per_day=2)).to_lobby()
    script.server(who("gnubot"), who("RepBotNG"), who("ford"))
    for name in ("gnubot", "RepBotNG"):
        script.server(f"** Player {name} has joined you for a 1 point match.", f"Starting a new game with {name}.")
        script.server(f"{name} wins the 1 point match 1-0 .")
        script.wait(5)
    (refused,) = [line for line in script.server(invitation("gnubot")) if line.startswith("tell gnubot")]
    assert refused.startswith("tell gnubot I've played 2 matches with bots in the last 24 hours; the rest of")
    script.server("16 gnubot", invitation("ford"))
    assert 1 == len(script.questions), "a person is asked about"


async def test_over_a_real_connection_a_bot_that_asks_again_is_refused() -> None:
    refused = Told("I've played 1 match with bots in the last 24 hours; the rest of my time is for people.")
    async with Server(seed=3, limits=CHEAP) as server:
        marvin = opponent(server.port, "marvin", policy=Policy(max_bots_per_day=1))
        async with marvin, opponent(server.port, "gnubot", watcher=refused, invite="marvin"):
            async with asyncio.timeout(SOON):
                await refused.reached.wait()


def test_ratings_are_compared_with_the_bots_own() -> None:
    policy = Policy(min_rating_difference=-100, max_rating_difference=50)
    script = Script(policy=policy).to_lobby()  # whose own line says 1500
    for name, rating, played in (("ford", 1400.0, True), ("arthur", 1399.99, False), ("zaphod", 1550.01, False)):
        script.questions.clear()
        script.server(who(name, rating=rating), invitation(name), f"16 {name}")
        assert played is bool(script.questions), name


# -- lengths in turn ------------------------------------------------------------------------------------------------


def lengths(seeker: Seeker) -> list[str]:
    """Return the lengths of the invitations."""
    return [words.split()[1] for _, words in seeker.invited]


def test_the_search_offers_several_lengths_in_turn() -> None:
    names = [who(f"player_{letter}") for letter in "abcdefgh"]
    seeker = Seeker(*names, seek={"after": 1.0, "lengths": (3, 5, 7)})
    seeker.wait(400)
    assert ["3", "5", "7", "3", "5", "7"] == lengths(seeker)[:6]


def test_a_length_that_fits_nobody_is_passed_over() -> None:
    policy = Policy(lengths=Lengths(((1, 5),)))
    seeker = Seeker(seek={"after": 1.0, "lengths": (3, 7, 5)}, policy=policy)
    seeker.wait(300)
    assert ["3", "5"] == lengths(seeker)[:2]
    assert "7" not in lengths(seeker)


def test_the_wanted_player_is_invited_to_several_lengths_in_turn() -> None:
    seeker = Seeker(who("ford"), seek={"after": None}, invite="ford", invite_lengths=(1, 3))
    seeker.wait(200)
    assert ["1", "3"] == lengths(seeker)[:2]


# -- greeting and goodbye -------------------------------------------------------------------------------------------

POLITE: Final = ChatSettings(
    greeting="Hello {opponent}, {me} here: {length} points, {score}.", goodbye="{score} in {length}, {opponent}!"
)
JOINED: Final = "** Player ford has joined you for a 5 point match."


def test_the_greeting_and_the_goodbye_name_the_facts() -> None:
    script = Script(chat=POLITE).to_lobby()
    script.server(who("ford"), JOINED, "Starting a new game with ford.", board(turn=-1))
    script.wait(5)
    assert f"kibitz Hello ford, {ME} here: 5 points, 0-0." in script.sent_so_far
    script.server("ford wins the 5 point match 5-2 .")
    script.wait(5)
    assert "tell ford 2-5 in 5, ford!" in script.sent_so_far
    assert 1 == sum(line.startswith("kibitz Hello") for line in script.sent_so_far)


def test_the_greeting_of_a_resumed_match_waits_for_its_score() -> None:
    script = Script(chat=POLITE).to_lobby()
    script.server(who("ford"), "ford has joined you. Your running match was loaded.")
    assert not any(line.startswith("kibitz") for line in script.sent_so_far)
    script.server(board(score="3:1", turn=-1))
    script.wait(5)
    assert f"kibitz Hello ford, {ME} here: 5 points, 3-1." in script.sent_so_far


@pytest.mark.parametrize("name", ["gnubot", "RepBotNG"])
def test_no_goodbye_for_bots(name: str) -> None:
    script = Script(chat=POLITE).to_lobby()
    joined = f"** Player {name} has joined you for a 5 point match."
    script.server(who(name), joined, f"Starting a new game with {name}.", f"{name} wins the 5 point match 5-2 .")
    script.wait(5)
    assert not any(line.startswith(("tell", "kibitz")) for line in script.sent_so_far)


# -- the evaluation -------------------------------------------------------------------------------------------------

SECRET: Final = "my equity was"
OPEN: Final = ChatSettings(greet=False, evaluation=True, window=0)


def watcher(name: str, watching: str = ME, opponent: str = "-") -> str:
    """Return the `5` line of somebody who watches."""
    line = who(name).split()
    line[2:4] = [opponent, watching]
    return " ".join(line)


def evaluated(chat: ChatSettings = OPEN) -> Script:
    """Return a script in which the bot has made a decision that its strategy has evaluated."""
    script = Script(chat=chat, strict=False).to_my_move()
    play = script.plays()[0]
    script.answer(PlayAnswer(play, equity=0.1234))
    assert any(line.startswith("move") for line in script.sent_so_far)
    script.server(board(cells=after(START_CELLS, play), turn=-1, other_dice="0:0", may="1:1"))
    return script


def told(script: Script, *lines: str) -> list[str]:
    """Return what is told to anybody after these lines."""
    sent = script.server(*lines) + script.wait(20)
    return [line for line in sent if line.split()[0] in {"tell", "kibitz", "whisper", "say", "shout"}]


@pytest.mark.parametrize("watching", [ME, "ford"])
def test_a_watcher_who_asks_by_tell_gets_the_evaluation(watching: str) -> None:
    script = evaluated()
    text = "tell arthur At my last decision against ford my equity was +0.123."
    assert [text] == told(script, watcher("arthur", watching), "12 arthur eval?")


def test_by_default_nobody_gets_it() -> None:
    script = evaluated(ChatSettings(greet=False))
    assert not any(SECRET in line for line in told(script, watcher("arthur"), "12 arthur eval"))


KINDS: Final = st.sampled_from(["12", "13", "14", "15", "16", "17", "18", "19", "5"])
WORDS: Final = st.sampled_from(["eval", "equity", "evaluation?", "who is winning", f"{ME}: eval", "EVAL please"])
PLAYERS: Final = st.sampled_from(["ford", "Ford", "arthur", "trillian", "zaphod", ME])


@examples(60)
@given(st.lists(st.tuples(KINDS, PLAYERS, WORDS), min_size=1, max_size=3))
def test_no_player_gets_it_by_any_kind_of_message(lines: list[tuple[str, str, str]]) -> None:
    """The opponent, players of other matches, one who plays and watches, one of whom nothing is known."""
    script = evaluated()
    script.server(watcher("ford", ME, ME), watcher("arthur", "-", "trillian"), watcher("trillian", ME, "arthur"))
    for kind, name, words in lines:
        line = watcher(name, ME, "somebody") if kind == "5" else f"{kind} {name} {words}"
        sent = told(script, line)
        assert not any(SECRET in text for text in sent)


def test_it_is_told_by_tell_alone_so_that_no_player_reads_it() -> None:
    script = evaluated()
    for line in ("13 arthur eval", "14 arthur eval", "15 arthur eval", "16 arthur eval"):
        assert [] == told(script, watcher("arthur"), line)
    assert all(text.startswith("tell arthur ") for text in told(script, "12 arthur eval"))


@pytest.mark.parametrize("line", [watcher("arthur", ME, "zaphod"), watcher("arthur", "-")])
def test_a_watcher_who_plays_or_watches_no_more_gets_a_refusal(line: str) -> None:
    script = evaluated()
    script.server(watcher("arthur"))
    assert [f"tell arthur {ONLY_WATCHERS}"] == told(script, line, "12 arthur eval")
