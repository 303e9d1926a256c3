"""Players of a chouette who are away, who are late, who come back; restarts of the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from fibs_protocol.words import Departure
from fibsbot.chouette import flow
from fibsbot.chouette.flow import ABANDONED_TIME, DECISION_TIME
from fibsbot.chouette.table import all_tables
from fibsbot.rules.state import Seat
from fibsbot.server import sessions
from fibsbot.server.server import Server
from fibsbot.server.users import User
from tests.chouette.chouette_simulation import CASTS, NAMES, Chouette, box_has_moved, doubled_by_the_box
from tests.server.simulated_world import NOON, ListedDice, Simulation, boards
from tests.server.tcp_clients import CHEAP, PASSWORD, Raw


@pytest.fixture
def chouette() -> Chouette:
    """Return a table of four after the box's first move, with the team to roll: bob is captain."""
    return box_has_moved()


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


def test_a_member_who_comes_back_sees_the_board_as_before(chouette: Chouette) -> None:
    chouette.simulation.log_out(chouette.users["dave"])
    chouette.users["dave"] = chouette.simulation.log_in("dave")
    lines = chouette.heard("dave")
    assert boards(lines)[0].startswith("board:bob:alice:")
    assert not any("running match" in line for line in lines)


def test_a_seat_is_taken_at_the_table_of_anybody_who_has_one_there_or_away(chouette: Chouette) -> None:
    erin, frank = chouette.simulation.log_in("erin"), chouette.simulation.log_in("frank")
    chouette.simulation.say(erin, "chouette join car")
    chouette.simulation.log_out(chouette.users["dave"])
    chouette.simulation.say(frank, "chouette join dave")
    assert [*NAMES, "erin", "frank"] == chouette.table.seats


def test_advice_is_not_read_by_who_has_gagged_the_adviser_but_by_the_adviser(chouette: Chouette) -> None:
    chouette.say("bob", "gag carol")
    chouette.say("carol", "gag carol")
    chouette.say("carol", "chouette say run")
    advice = ["chouette: carol advises: run"]
    assert (advice, advice, []) == (chouette.heard("carol"), chouette.heard("dave"), chouette.heard("bob"))


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
    assert ["dave has not joined.", "dave leaves the table."] == chouette.news("bob")[:2]
    assert "alice's table, game 2: alice in the box against carol (captain), bob." in chouette.news("bob")
    assert None is chouette.users["dave"].table


def test_whatever_happens_a_table_comes_to_an_end() -> None:
    """Nobody says a word any more: everybody is dropped, then the table is closed."""
    game = Chouette((3, 1))
    for _ in range(9):
        if all_tables(game.simulation.world):
            game.pass_time(DECISION_TIME)
    assert [] == all_tables(game.simulation.world)


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


def test_a_clock_that_is_set_drops_nobody(chouette: Chouette) -> None:
    """Only time that has passed counts, not what the machine's clock shows."""
    simulation = chouette.simulation
    simulation.jump = 10 * DECISION_TIME
    chouette.pass_time(DECISION_TIME - 1)
    assert 0 == chouette.ledger()["bob"]
    assert "  Still logged in. 4:59 minutes idle." in simulation.say(chouette.users["bob"], "whois alice")
    chouette.say("bob", "roll")
    simulation.jump = -10 * DECISION_TIME
    chouette.pass_time(DECISION_TIME)
    assert -1 == chouette.ledger()["bob"]


def test_an_abandoned_table_is_closed_in_the_end(chouette: Chouette) -> None:
    for user in chouette.users.values():
        chouette.simulation.log_out(user)
    chouette.pass_time(0)
    chouette.pass_time(ABANDONED_TIME - 1)
    assert chouette.table.playing
    chouette.pass_time(1)
    assert [] == all_tables(chouette.simulation.world)
    assert [] == chouette.simulation.store.saved_tables()


async def test_the_server_drops_late_players_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.server.server.TABLE_INTERVAL", 0.01)
    time = float(NOON)
    async with Server(limits=CHEAP, dice=ListedDice(*CASTS, (3, 1)), timer=lambda: time) as server:
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
    (table,) = all_tables(again.world)
    assert (state, 2, list(NAMES)) == (table.state, table.games, table.seats)
    assert table.match is not None
    assert rolls == table.match.rolls
    alice = again.log_in("alice")
    assert alice.match is table.match
    assert "chouette: ledger: alice +3, bob -1, carol -1, dave -1." in again.say(alice, "chouette")
    again.time += DECISION_TIME
    assert boards(again.say(alice, "board"))


def not_begun(db: Path, players: int = 3) -> tuple[Simulation, dict[str, User]]:
    """Return a server with a table of the first of NAMES that has not begun."""
    simulation = Simulation(ListedDice(*CASTS, (3, 1)), db=db)
    users = {name: simulation.log_in(name) for name in NAMES[:players]}
    simulation.say(users["alice"], "chouette open")
    for name in NAMES[1:players]:
        simulation.say(users[name], "chouette join alice")
    return simulation, users


@pytest.mark.parametrize("killed", [False, True])
def test_a_table_that_has_not_begun_survives_a_restart(killed: bool, tmp_path: Path) -> None:  # noqa: FBT001
    simulation, users = not_begun(tmp_path / "games.db", 4)
    simulation.say(users["bob"], "chouette leave")
    if not killed:
        sessions.shut_down(simulation.world)
    simulation.store.close()

    again = Simulation(ListedDice(*CASTS, (3, 1)), db=tmp_path / "games.db")
    carol = again.log_in("carol")
    assert "chouette: alice's table, not started: alice, carol, dave." in again.received(carol)
    alice = again.log_in("alice")
    assert "chouette: alice is back." in again.received(carol)
    (refusal,) = again.say(alice, "chouette start")
    assert "dave is not back yet; who stays away loses the seat" in refusal
    again.log_in("dave")
    again.say(alice, "chouette start")
    (table,) = all_tables(again.world)
    assert table.playing
    assert ["alice", "carol", "dave"] == table.seats


def test_who_does_not_come_back_after_a_restart_loses_a_seat_at_a_table_that_has_not_begun(tmp_path: Path) -> None:
    simulation, _ = not_begun(tmp_path / "games.db")
    simulation.store.close()
    again = Simulation(db=tmp_path / "games.db")

    def pass_time(seconds: float) -> None:
        again.time += seconds
        flow.drop_late_players(again.world)
        again.collect()

    pass_time(0)
    pass_time(DECISION_TIME)
    (table,) = all_tables(again.world)
    bob = again.log_in("bob")
    pass_time(DECISION_TIME - 1)
    assert list(NAMES[:3]) == table.seats
    pass_time(1)
    assert ("bob", ["bob"]) == (table.host, table.seats)
    assert "chouette: alice has not come back." in again.received(bob)
    pass_time(2 * ABANDONED_TIME)
    assert ["bob"] == table.seats, "who is there keeps the seat"


def test_a_table_that_nobody_comes_back_to_is_closed_in_the_end(tmp_path: Path) -> None:
    simulation, _ = not_begun(tmp_path / "games.db")
    simulation.store.close()
    again = Simulation(db=tmp_path / "games.db")
    for seconds, tables in ((0, 1), (ABANDONED_TIME - 1, 1), (1, 0)):
        again.time += seconds
        flow.drop_late_players(again.world)
        assert tables == len(all_tables(again.world)) == len(again.store.saved_tables())


def test_a_table_that_all_have_left_before_it_began_is_not_kept(tmp_path: Path) -> None:
    simulation, users = not_begun(tmp_path / "games.db")
    for user in users.values():
        simulation.say(user, "chouette leave")
    assert [] == simulation.store.saved_tables()


@pytest.mark.parametrize(
    "text",
    [
        '{"host": "alice", "seats": []}',
        '{"host": "alice", "seats": ["bob"]}',
        '{"host": "bob", "seats": ["bob", "bob"]}',
    ],
)
def test_a_damaged_table_that_has_not_begun_is_left_out(text: str, tmp_path: Path) -> None:
    simulation, _ = not_begun(tmp_path / "games.db")
    simulation.store.save_table(all_tables(simulation.world)[0].number, text, simulation.time)
    simulation.store.close()
    assert [] == all_tables(Simulation(db=tmp_path / "games.db").world)


@pytest.mark.parametrize("damage", ["", "{}", '"alice"', '"ledger": {"alice": 3', '"can_move": [0, 0]'])
def test_a_damaged_table_is_left_out(damage: str, tmp_path: Path) -> None:
    game = Chouette((3, 1), db=tmp_path / "games.db")
    number = game.table.number
    text = game.table.to_json()
    broken = damage if damage in {"", "{}"} else text.replace(damage, '"x": {"alice": 4', 1) + "."
    game.simulation.store.save_table(number, broken, game.simulation.time)
    game.simulation.store.close()
    assert [] == all_tables(Simulation(db=tmp_path / "games.db").world)


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_a_second_login_keeps_the_seat_at_a_table_that_has_not_begun(name: str, tmp_path: Path) -> None:
    """Also for the player who has opened the table; the table in the database stays the same."""
    simulation, users = not_begun(tmp_path / "games.db")
    (table,), saved = all_tables(simulation.world), simulation.store.saved_tables()
    again = simulation.log_in(name)
    assert "chouette: you have a seat at the table of alice." in simulation.received(again)
    news = [line for line in simulation.received(users["carol"]) if line.startswith(f"chouette: {name}")]
    assert [f"chouette: {name} is away.", f"chouette: {name} is back."] == news[-2:]
    assert ("alice", list(NAMES[:3])) == (table.host, table.seats)
    assert again.table is table.users[again.name].table is table
    assert saved == simulation.store.saved_tables()
    users[name] = again
    simulation.say(users["alice"], "chouette start")
    assert table.playing


def test_a_second_login_of_who_sits_alone_keeps_the_table(tmp_path: Path) -> None:
    simulation, users = not_begun(tmp_path / "games.db", 1)
    again = simulation.log_in("alice")
    assert [again.table] == all_tables(simulation.world)
    assert users["alice"].table is None
    simulation.time += ABANDONED_TIME
    flow.drop_late_players(simulation.world)
    flow.drop_late_players(simulation.world)
    assert [again.table] == all_tables(simulation.world)


def test_who_disconnects_from_a_table_that_has_not_begun_loses_the_seat(tmp_path: Path) -> None:
    simulation, users = not_begun(tmp_path / "games.db")
    simulation.log_out(users["bob"], Departure.DROPPED)
    assert None is simulation.log_in("bob").table
