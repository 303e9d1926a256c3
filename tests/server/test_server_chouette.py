"""A chouette on the server: seats, games, members' answers, the ledger, players who are away, restarts."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from fibs_protocol import messages as m
from fibs_protocol.words import Departure, Dice
from fibsbot.position import Position
from fibsbot.rules.state import Seat, Stage
from fibsbot.server import chouette_flow
from fibsbot.server.chouette_flow import ABANDONED_TIME, DECISION_TIME
from fibsbot.server.chouette_table import ChouetteTable
from fibsbot.server.server import Server
from fibsbot.server.users import ClientMode, User
from tests.server.simulated_world import NOON, ListedDice, Simulation, boards
from tests.server.tcp_clients import CHEAP, PASSWORD, Raw

NAMES = ("alice", "bob", "carol", "dave")
CASTS = ((6, 5), (4, 3))
"""alice is in the box, bob is captain, carol and dave follow."""


class Chouette:
    """A simulation of a chouette in which the box has the first move."""

    def __init__(self, *dice: Dice, players: int = 4, db: Path | None = None) -> None:
        """Start a table, with these dice for the first game."""
        self.simulation = Simulation(ListedDice(*CASTS, *dice), db=db)
        self.users = {name: self.simulation.log_in(name) for name in NAMES[:players]}
        for user in self.users.values():
            self.simulation.say(user, "toggle automove")
        self.say("alice", "chouette open")
        for name in NAMES[1:players]:
            self.say(name, "chouette join alice")
        self.first_lines = self.say("alice", "chouette start")

    def say(self, name: str, line: str) -> list[str]:
        """Send a line as a player; return what the player receives."""
        return self.simulation.say(self.users[name], line)

    def heard(self, name: str) -> list[str]:
        """Return what a player has received because of the last line."""
        return self.simulation.received(self.users[name])

    def news(self, name: str) -> list[str]:
        """Return the lines about the table among them."""
        return [line.removeprefix("chouette: ") for line in self.heard(name) if line.startswith("chouette: ")]

    @property
    def table(self) -> ChouetteTable:
        """The table."""
        (table,) = self.simulation.world.tables
        return table

    def ledger(self) -> dict[str, int]:
        """Return the ledger."""
        assert self.table.state is not None
        return dict(self.table.state.ledger)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and drop those who are late."""
        self.simulation.time += seconds
        chouette_flow.drop_late_players(self.simulation.world)
        self.simulation.collect()

    def win(self, seat: Seat) -> None:
        """Let box or captain bear off the last checker; both sides have one left."""
        match = self.table.match
        assert match is not None
        position = Position.from_sides(own=[1, *[0] * 24], opponent=[1, *[0] * 24])
        match.state = evolve(match.state, position=position, turn=seat, stage=Stage.ROLL, dice=None)
        name = match.names[seat]
        self.say(name, "roll")
        self.say(name, "off")

    def join_all(self) -> None:
        """Let everybody who is there join the next game."""
        for name in list(self.table.users):
            if name not in self.table.joined:
                self.say(name, "join")


@pytest.fixture
def chouette() -> Chouette:
    """Return a table of four after the box's first move, with the team to roll: bob is captain."""
    game = Chouette((3, 1))
    game.say("alice", "move 17-20 19-20")
    return game


def test_the_players_cast_for_the_order_and_box_and_captain_begin() -> None:
    game = Chouette((3, 1))
    assert game.news("dave") == [
        "cast for the order: alice 6, bob 5, carol 4, dave 3.",
        "alice's table, game 1: alice in the box against bob (captain), carol, dave.",
    ]
    lines = game.heard("alice")
    assert "Player bob has joined you for an unlimited match." in lines
    assert ["Starting a new game with bob.", "You rolled 3, bob rolled 1", "It's your turn to move."] == lines[-4:-1]
    assert "** You are now playing an unlimited match with alice" in game.heard("bob")
    assert boards(game.heard("dave"))[0].startswith("board:bob:alice:")


def test_ties_are_cast_again_among_the_tied() -> None:
    simulation = Simulation(ListedDice((2, 5), (5, 5), (1, 6), (4, 4), (2, 1)))
    users = [simulation.log_in(name) for name in NAMES]
    simulation.say(users[0], "chouette open")
    for user in users[1:]:
        simulation.say(user, "chouette join alice")
    simulation.say(users[0], "chouette start")
    casts = [line for line in simulation.received(users[1]) if "cast for" in line]
    assert casts == [
        "chouette: cast for the order: alice 2, bob 5, carol 5, dave 5.",
        "chouette: cast for the order: bob 1, carol 6, dave 4.",
    ]
    (table,) = simulation.world.tables
    assert table.state is not None
    assert ("carol", "dave", "bob", "alice") == table.state.order


def test_all_at_the_table_see_the_board_in_their_own_style() -> None:
    game = Chouette((3, 1))
    game.say("carol", "set boardstyle 1")
    game.say("alice", "move 17-20 19-20")
    assert "alice moves 17-20 19-20 ." in game.heard("dave")
    assert boards(game.heard("dave"))
    assert not boards(game.heard("carol"))
    assert any("+13-14-15-16-17-18" in line for line in game.heard("carol"))
    assert boards(game.say("dave", "board"))
    assert ["Pipcounts: bob 167   alice 163"] == game.say("dave", "pip")


def test_only_the_captain_acts_for_the_team(chouette: Chouette) -> None:
    for command in ("roll", "double", "resign n", "move 8-5 6-5", "off"):
        assert ["** chouette: bob is the captain and acts for the team"] == chouette.say("carol", command)
    assert "bob rolls 3 and 1." in (chouette.say("bob", "roll"), chouette.heard("carol"))[1]


def test_the_box_answers_the_double_of_the_team_once_for_all(chouette: Chouette) -> None:
    assert ["You double. Please wait for alice to accept or reject."] == chouette.say("bob", "double")
    assert "bob doubles." in chouette.heard("dave")
    chouette.say("alice", "reject")
    assert "alice gives up. You win 1 point." in chouette.heard("bob")
    assert {"alice": -3, "bob": 1, "carol": 1, "dave": 1} == chouette.ledger()
    assert chouette.news("dave") == [
        "bob, carol, dave win 1 point each from alice.",
        "ledger: alice -3, bob +1, carol +1, dave +1.",
        "next game: bob in the box, carol captain, then dave, alice.",
    ]


def doubled_by_the_box() -> Chouette:
    """Return a table at which the box has doubled."""
    game = Chouette((3, 1))
    game.say("alice", "move 17-20 19-20")
    game.say("bob", "roll")
    game.say("bob", "move 8-5 6-5")
    assert "It's your turn. Please roll or double" in game.heard("alice")
    game.say("alice", "double")
    return game


def test_each_member_answers_the_double_of_the_box_in_turn() -> None:
    game = doubled_by_the_box()
    assert "alice doubles. Type 'accept' or 'reject'." in game.heard("bob")
    assert "alice doubles." in game.heard("carol")
    assert ["** chouette: bob has to answer the double first"] == game.say("carol", "accept")
    game.say("bob", "accept")
    assert ["chouette: bob takes.", "alice doubles. Type 'accept' or 'reject'."] == game.heard("carol")
    game.say("carol", "reject")
    assert "chouette: carol passes and loses 1 point to alice." in game.heard("alice")
    game.say("dave", "accept")
    assert "bob accepts the double. The cube shows 2." in game.heard("alice")
    assert "alice rolls 3 and 1." in game.heard("dave"), "the team owns the cube, so the box is not asked"
    assert {"alice": 1, "bob": 0, "carol": -1, "dave": 0} == game.ledger()
    game.win(Seat.A)
    assert {"alice": 5, "bob": -2, "carol": -1, "dave": -2} == game.ledger()


def test_who_has_dropped_out_may_not_advise_any_more() -> None:
    game = doubled_by_the_box()
    for name, answer in (("bob", "accept"), ("carol", "reject"), ("dave", "accept")):
        game.say(name, answer)
    for command in ("chouette say run", "say run"):
        assert ["** chouette: only members of the team who are still in the game may advise"] == game.say(
            "carol", command
        )
    for command in ("kibitz run", "whisper run"):
        assert ["** chouette: who has dropped out of the game may not advise any more"] == game.say("carol", command)
    assert ["chouette: dave advises: hit!"] == game.say("dave", "chouette say hit!")
    assert ["chouette: dave advises: hit!"] == game.heard("bob")
    assert [] == game.heard("alice") == game.heard("carol")
    assert "** 3 users heard you." in "\n".join(game.say("dave", "kibitz hello"))


def test_if_the_captain_passes_the_next_one_plays() -> None:
    game = doubled_by_the_box()
    game.say("bob", "reject")
    game.say("carol", "accept")
    game.say("dave", "accept")
    assert "chouette: carol is captain now." in game.heard("bob")
    assert "** You are now playing an unlimited match with alice" in game.heard("carol")
    assert boards(game.heard("carol"))[0].startswith("board:You:alice:")
    assert "carol accepts the double. The cube shows 2." in game.heard("alice")
    assert ("carol", None) == (game.users["alice"].opponent, game.users["bob"].match)
    game.win(Seat.B)
    assert {"alice": -3, "bob": -1, "carol": 2, "dave": 2} == game.ledger()
    assert "next game: carol in the box, bob captain, then dave, alice." in game.news("bob")


def test_if_everybody_passes_the_box_has_won() -> None:
    game = doubled_by_the_box()
    for name in ("bob", "carol", "dave"):
        game.say(name, "reject")
    assert "bob gives up. You win 1 point." in game.heard("alice")
    assert "nobody is left in the team, and alice wins." in game.news("alice")
    assert {"alice": 3, "bob": -1, "carol": -1, "dave": -1} == game.ledger()


def test_a_resignation_is_settled_with_every_member(chouette: Chouette) -> None:
    chouette.say("bob", "resign g")
    assert ["bob wants to resign. alice will win 2 points."] == chouette.heard("dave")
    chouette.say("alice", "accept")
    assert {"alice": 6, "bob": -2, "carol": -2, "dave": -2} == chouette.ledger()


def test_the_next_game_begins_when_all_have_joined_it(chouette: Chouette) -> None:
    chouette.win(Seat.A)
    assert "Type 'join' if you want to play the next game, type 'leave' if you don't." in chouette.heard("dave")
    assert ["** Please wait for bob to join too."] == chouette.say("alice", "join")
    for name in ("bob", "carol", "dave"):
        chouette.say(name, "join")
    assert "alice's table, game 2: alice in the box against carol (captain), dave, bob." in chouette.news("bob")
    assert ["** You can't play two games at once"] == chouette.say("bob", "join")
    assert 2 == chouette.table.games


def test_nobody_leaves_with_points_at_stake(chouette: Chouette) -> None:
    for name in NAMES:
        assert ["** chouette: you have points at stake; leave after this game"] == chouette.say(name, "leave")
    chouette.win(Seat.A)
    chouette.say("bob", "leave")
    assert None is chouette.users["bob"].table
    for name in ("alice", "carol", "dave"):
        chouette.say(name, "join")
    assert "alice's table, game 2: alice in the box against carol (captain), dave." in chouette.news("dave")
    assert -1 == chouette.ledger()["bob"]


def test_the_next_game_begins_when_the_last_one_who_has_not_joined_leaves(chouette: Chouette) -> None:
    chouette.win(Seat.A)
    for name in ("alice", "bob", "carol"):
        chouette.say(name, "join")
    chouette.say("dave", "leave")
    assert "alice's table, game 2: alice in the box against carol (captain), bob." in chouette.news("bob")
    chouette.pass_time(DECISION_TIME)
    assert {"alice": 1, "bob": 0, "carol": 0, "dave": -1} == chouette.ledger()


def test_the_option_of_the_rules_is_a_word_after_start() -> None:
    simulation = Simulation(ListedDice(*CASTS, (3, 1)))
    users = [simulation.log_in(name) for name in NAMES]
    simulation.say(users[0], "chouette open")
    for user in users[1:]:
        simulation.say(user, "chouette join alice")
    refusal = "** chouette: expected dropped_captain_last or nothing after start"
    assert [refusal] == simulation.say(users[0], "chouette start now")
    simulation.say(users[0], "chouette start dropped_captain_last")
    line = "chouette: a captain who drops out goes to the bottom of the rotation."
    assert line in simulation.received(users[3])
    (table,) = simulation.world.tables
    assert table.state is not None
    assert table.state.dropped_captain_last


def test_newcomers_play_from_the_next_game_on(chouette: Chouette) -> None:
    chouette.users["erin"] = chouette.simulation.log_in("erin")
    chouette.say("erin", "chouette join carol")
    assert boards(chouette.say("erin", "board"))
    assert (
        "alice's table, game 1: alice in the box against bob (captain), carol, dave, erin (next game)."
        in (
            chouette.say("erin", "chouette"),
            chouette.news("erin"),
        )[1]
    )
    chouette.win(Seat.A)
    for name in NAMES:
        chouette.say(name, "join")
    assert {"alice": 3, "bob": -1, "carol": -1, "dave": -1, "erin": 0} == chouette.ledger()
    assert chouette.table.state is not None
    assert ("alice", "carol", "dave", "bob", "erin") == chouette.table.state.order


def test_a_table_with_fewer_than_three_players_is_closed() -> None:
    game = Chouette((3, 1), players=3)
    game.win(Seat.A)
    game.say("carol", "leave")
    assert game.news("bob") == [
        "carol leaves the table.",
        "fewer than three players are left, and the table is closed.",
        "ledger: alice +2, bob -1, carol -1.",
    ]
    assert [] == game.simulation.world.tables
    assert [] == game.simulation.store.chouettes()
    assert not any(user.busy for user in game.users.values())


def test_commands_that_are_not_possible_are_refused_in_a_line() -> None:
    simulation = Simulation(ListedDice(*CASTS))
    alice, bob, carol = (simulation.log_in(name) for name in NAMES[:3])
    for command, refusal in (
        ("chouette start", "you have no seat at a table; 'help chouette' explains how to get one"),
        ("chouette dance", "expected open, join NAME, start, leave or say TEXT; 'help chouette' explains them"),
        ("chouette join", "join whose table? 'chouette' lists them"),
        ("chouette join bob", "nobody of this name has a seat at a table; 'chouette' lists them"),
    ):
        assert [f"** chouette: {refusal}"] == simulation.say(alice, command)
    assert ["chouette: there is no table; 'chouette open' opens one."] == simulation.say(alice, "chouette")
    simulation.say(alice, "chouette open")
    simulation.say(bob, "chouette join alice")
    assert ["chouette: alice's table, not started: alice, bob."] == simulation.say(carol, "chouette")
    for user, command, refusal in (
        (alice, "chouette start", "** chouette: expected 3 to 6 players, got 2"),
        (bob, "chouette start", "** chouette: alice has opened the table and starts the first game"),
        (bob, "chouette say", "** chouette: say what?"),
        (bob, "chouette say hi", "** chouette: no game is being played"),
        (bob, "join", "** chouette: alice starts the first game with 'chouette start'"),
        (bob, "chouette open", "** You are already playing."),
        (bob, "invite carol 3", "** You are already playing."),
        (bob, "watch carol", "** You can't watch another game while you're playing."),
        (bob, "roll", "** You're not playing."),
        (carol, "invite bob 3", "** bob is already playing with someone else."),
    ):
        assert [refusal] == simulation.say(user, command)
    simulation.say(carol, "chouette join bob")
    others = [simulation.log_in(name) for name in ("dave", "erin", "frank", "grace")]
    replies = [simulation.say(other, "chouette join carol") for other in others]
    assert ["** chouette: a table has at most 6 players"] == replies[-1]
    for other in others:
        simulation.log_out(other)
    simulation.log_out(alice)
    (table,) = simulation.world.tables
    assert ("bob", ["bob", "carol"]) == (table.host, table.seats)
    simulation.say(bob, "leave")
    simulation.say(carol, "leave")
    assert [] == simulation.world.tables


# -- away ------------------------------------------------------------------------------------------------------------


def test_a_player_who_is_away_gets_the_seat_back(chouette: Chouette) -> None:
    for name in ("bob", "dave"):
        chouette.simulation.log_out(chouette.users[name], Departure.DROPPED)
    assert "bob" == chouette.users["alice"].opponent
    assert ["16 hello?"] == chouette.say("alice", "say hello?")
    back = chouette.simulation.log_in("bob")
    assert (back.match, back.table) == (chouette.table.match, chouette.table)
    chouette.users["bob"] = back
    assert "You roll 3 and 1." in chouette.say("bob", "roll")
    chouette.users["dave"] = chouette.simulation.log_in("dave")
    assert boards(chouette.say("dave", "board"))
    assert "waiting for bob." in (chouette.say("dave", "chouette"), chouette.news("dave"))[1]


def test_who_comes_back_is_asked_again() -> None:
    game = doubled_by_the_box()
    game.simulation.log_out(game.users["bob"])
    game.users["bob"] = game.simulation.log_in("bob")
    lines = game.heard("bob")
    assert "You are now playing with alice. Your running match was loaded." in lines
    assert boards(lines)
    assert "alice doubles. Type 'accept' or 'reject'." == lines[-1]


def test_who_comes_back_is_asked_about_a_resignation(chouette: Chouette) -> None:
    chouette.say("alice", "resign g")
    chouette.simulation.log_out(chouette.users["bob"])
    chouette.users["bob"] = chouette.simulation.log_in("bob")
    assert "alice wants to resign. You will win 2 points. Type 'accept' or 'reject'." == chouette.heard("bob")[-1]
    chouette.say("bob", "accept")
    assert {"alice": -6, "bob": 2, "carol": 2, "dave": 2} == chouette.ledger()
    chouette.simulation.log_out(chouette.users["dave"])
    chouette.users["dave"] = chouette.simulation.log_in("dave")
    assert "Type 'join' if you want to play the next game, type 'leave' if you don't." == chouette.heard("dave")[-1]


def test_a_captain_who_does_not_decide_in_time_drops_out(chouette: Chouette) -> None:
    chouette.simulation.log_out(chouette.users["bob"], Departure.DROPPED)
    chouette.pass_time(DECISION_TIME - 1)
    assert "bob" == (chouette.table.state and chouette.table.state.to_act)
    chouette.pass_time(1)
    assert "bob has not played on in time and drops out at 1 point." in chouette.news("dave")
    assert "It's your turn. Please roll or double" == chouette.heard("carol")[-1]
    assert {"alice": 1, "bob": -1, "carol": 0, "dave": 0} == chouette.ledger()
    assert "You roll 3 and 1." in chouette.say("carol", "roll")


def test_a_member_who_does_not_answer_in_time_passes() -> None:
    game = doubled_by_the_box()
    game.pass_time(DECISION_TIME)
    assert "alice doubles. Type 'accept' or 'reject'." in game.heard("carol")
    assert {"alice": 1, "bob": -1, "carol": 0, "dave": 0} == game.ledger()


def test_a_box_that_does_not_decide_in_time_loses_the_game() -> None:
    game = Chouette((3, 1))
    game.pass_time(DECISION_TIME)
    assert {"alice": -3, "bob": 1, "carol": 1, "dave": 1} == game.ledger()
    assert "next game: bob in the box, carol captain, then dave, alice." in game.news("dave")


def test_who_does_not_join_the_next_game_in_time_leaves(chouette: Chouette) -> None:
    chouette.win(Seat.A)
    for name in ("alice", "bob", "carol"):
        chouette.say(name, "join")
    chouette.pass_time(DECISION_TIME)
    assert "dave has not joined and leaves the table." in chouette.news("bob")
    assert "alice's table, game 2: alice in the box against carol (captain), bob." in chouette.news("bob")
    assert None is chouette.users["dave"].table


def test_whatever_happens_a_table_comes_to_an_end() -> None:
    """Nobody says a word any more: everybody is dropped, then the table is closed."""
    game = Chouette((3, 1))
    for _ in range(9):
        if game.simulation.world.tables:
            game.pass_time(DECISION_TIME)
    assert [] == game.simulation.world.tables


def test_time_stands_still_while_nobody_is_there(chouette: Chouette) -> None:
    for user in chouette.users.values():
        chouette.simulation.log_out(user)
    chouette.pass_time(0)
    chouette.pass_time(100 * DECISION_TIME)
    assert chouette.table.playing
    chouette.users["dave"] = chouette.simulation.log_in("dave")
    chouette.pass_time(DECISION_TIME - 1)
    assert 0 == chouette.ledger()["bob"]
    chouette.pass_time(1)
    assert -1 == chouette.ledger()["bob"]


def test_an_abandoned_table_is_closed_in_the_end(chouette: Chouette) -> None:
    for user in chouette.users.values():
        chouette.simulation.log_out(user)
    chouette.pass_time(0)
    chouette.pass_time(ABANDONED_TIME - 1)
    assert chouette.table.playing
    chouette.pass_time(1)
    assert [] == chouette.simulation.world.tables
    assert [] == chouette.simulation.store.chouettes()


async def test_the_server_drops_late_players_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.server.server.CHOUETTE_INTERVAL", 0.01)
    time = float(NOON)
    async with Server(limits=CHEAP, dice=ListedDice(*CASTS, (3, 1)), clock=lambda: time) as server:
        players = []
        for name in NAMES:
            await server.register(name, PASSWORD)
            players.append(await Raw.log_in(server.port, name))
            await players[-1].ask(
                "chouette open" if name == "alice" else "chouette join alice",
                f"{name} takes a seat" if name != "alice" else "is open",
            )
        await players[0].ask("chouette start", "It's your turn to move.")
        time += DECISION_TIME
        await players[3].until("alice has not played on in time and drops out at 1 point.")
        await players[3].until("ledger: alice -3, bob +1, carol +1, dave +1.")


def test_a_table_survives_a_restart(tmp_path: Path) -> None:
    game = Chouette((3, 1), db=tmp_path / "games.db")
    game.say("alice", "move 17-20 19-20")
    game.win(Seat.A)
    game.join_all()
    state, rolls = game.table.state, game.table.match.rolls if game.table.match else 0
    for user in list(game.users.values()):
        game.simulation.log_out(user)
    game.simulation.store.close()

    again = Simulation(ListedDice((6, 5)), db=tmp_path / "games.db")
    (table,) = again.world.tables
    assert (state, 2, list(NAMES)) == (table.state, table.games, table.seats)
    assert table.match is not None
    assert rolls == table.match.rolls
    alice = again.log_in("alice")
    assert alice.match is table.match
    assert "chouette: ledger: alice +3, bob -1, carol -1, dave -1." in again.say(alice, "chouette")
    again.time += DECISION_TIME
    assert boards(again.say(alice, "board"))


@pytest.mark.parametrize("damage", ["", "{}", '"alice"', '"ledger": {"alice": 3', '"can_move": [0, 0]'])
def test_a_damaged_table_is_left_out(damage: str, tmp_path: Path) -> None:
    game = Chouette((3, 1), db=tmp_path / "games.db")
    number = game.table.number
    text = game.table.to_json()
    broken = damage if damage in {"", "{}"} else text.replace(damage, '"x": {"alice": 4', 1) + "."
    game.simulation.store.save_chouette(number, broken, game.simulation.time)
    game.simulation.store.close()
    assert [] == Simulation(db=tmp_path / "games.db").world.tables


# -- others ----------------------------------------------------------------------------------------------------------


def test_a_chouette_is_no_match_of_its_players(chouette: Chouette) -> None:
    """Neither ratings nor saved matches change."""
    chouette.win(Seat.A)
    assert [] == chouette.simulation.store.matches("alice")
    assert [1500.0] * 4 == [user.account.rating for user in chouette.users.values()]


def test_people_without_a_client_read_the_same(chouette: Chouette) -> None:
    user: User = chouette.simulation.log_in("frank", ClientMode.TELNET)
    lines = chouette.simulation.say(user, "chouette")
    assert ["chouette: alice's table, game 1: alice in the box against bob (captain), carol, dave."] == lines
    assert isinstance(chouette.simulation.messages(user)[0], m.ChouetteNews)


def test_a_member_is_not_ready_for_invitations(chouette: Chouette) -> None:
    for user in chouette.users.values():
        chouette.simulation.say(user, "toggle ready")
        assert not user.who_info(0).ready
    frank = chouette.simulation.log_in("frank")
    assert ["** carol is already playing with someone else."] == chouette.simulation.say(frank, "invite carol 1")
    assert ["** Error: carol is already playing with someone else."] == chouette.simulation.say(frank, "join carol")


def test_outsiders_can_watch_box_and_captain(chouette: Chouette) -> None:
    frank = chouette.simulation.log_in("frank")
    chouette.simulation.say(frank, "watch bob")
    chouette.say("bob", "roll")
    assert "bob rolls 3 and 1." in chouette.simulation.received(frank)
