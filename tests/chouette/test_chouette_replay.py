"""The games of a chouette, as each player's log has them: what they were worth, who decided, what is left out."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fibs_protocol.grammar import parse, parse_command
from fibsbot.chouette.rules import BOX
from fibsbot.replay.comparison import PlayerSelection, StrategyComparison
from fibsbot.replay.events import EntryAdded, MatchBegan, MatchEnded, MatchEvent
from fibsbot.replay.transcriber import Transcriber
from fibsbot.rules.state import Result, Seat
from fibsbot.transcript import Cube, Gap, Throw, Transcript
from tests.chouette.chouette_logs import LoggedChouette
from tests.chouette.chouette_simulation import NAMES
from tests.replay.scripted_strategy import ScriptedStrategy
from tests.replay.transcript_helpers import differences_in, transcripts_in

TABLE = "chouette: alice's table, game 3: alice in the box against bob (captain), carol, dave (next game)."
SEAT = "chouette: you have a seat at the table of alice."
START = (
    SEAT,
    TABLE,
    "Starting a new game with alice.",
    "bob rolled 1, alice rolled 3",
    "alice makes the first move.",
    "board:bob:alice:9999:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:-1:0:0:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:2:3:0:0",
    "alice moves 17-20 19-20 .",
    "bob rolls 3 and 1.",
    "bob moves 8-5 6-5 .",
    "alice doubles.",
    "alice doubles. Type 'accept' or 'reject'.",
)
"""What carol hears of a game in which alice doubles."""
RESULT = ("chouette: game 3: alice wins 2 points from bob.", "chouette: ledger: alice +3, bob -2, carol -1.")


def heard(name: str, lines: Iterable[str]) -> list[MatchEvent]:
    """Return the events of the lines that a player hears, and of the commands after `<<`."""
    log = Transcriber(name, "test")
    events = []
    for line in lines:
        events += log.send(parse_command(line[3:])) if line.startswith("<< ") else log.receive(parse(line))
    return events + log.close()


def told(events: list[MatchEvent]) -> dict[int, Transcript]:
    """Return the games of a log by the server's numbers."""
    numbers = {it.match: it.chouette.number for it in events if isinstance(it, MatchBegan) and it.chouette}
    ended = [it for it in events if isinstance(it, MatchEnded)]
    assert sorted(numbers) == sorted(it.match for it in ended)  # each is told once
    return {numbers[it.match]: it.transcript for it in ended}


def won(result: Result | None, seat: Seat) -> int:
    """Return what a side has won by a result, below zero if it has lost."""
    assert result is not None
    return result.points if result.winner is seat else -result.points


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "trouble"), [(1, 0.0), (2, 0.0), (3, 0.004)])
def test_the_points_of_the_games_in_each_log_are_those_of_the_ledger(seed: int, trouble: float) -> None:
    """Of the box's game each member who is still in pays the points, so that its own are a multiple of them."""
    chouette = LoggedChouette(seed, trouble=trouble)
    chouette.play(3)
    logs = {name: told(events) for name, events in chouette.events.items()}
    for number, end in enumerate(chouette.ends, 1):
        before, after = chouette.ledgers[number - 1 : number + 1]
        for name in NAMES:
            (game,) = logs[name][number].games
            if name != end.box:
                assert after[name] - before[name] == won(game.result, Seat.A)
            elif end.in_game:
                assert won(end.game.result, BOX) == won(game.result, Seat.A)
    for events in chouette.events.values():
        assert [] == differences_in(events)
        steps = [it.step.entry for it in events if isinstance(it, EntryAdded)]
        assert trouble or not any(isinstance(entry, Gap) or entry.rebuilt for entry in steps)


def test_a_member_who_passes_has_lost_even_if_others_play_on() -> None:
    lines = (*START, "<< reject", "chouette: carol passes and loses 1 point to alice.", "bob accepts the double.")
    events = heard("carol", (*lines, "alice rolls 6 and 2.", *RESULT))
    (match,) = transcripts_in(events)
    (game,) = match.games
    assert ("bob", "alice", 0) == (match.players[0].name, match.players[1].name, match.length)
    assert -1 == won(game.result, Seat.A)
    assert game.whole
    assert match.user is None  # bob's plays are not carol's
    assert "Chouette of alice, game 3" == match.tags["Event"]
    assert [line.removeprefix("chouette: ") for line in (TABLE, lines[-2], *RESULT)] == match.tags["Comment"].split(
        "\n"
    )


def test_a_member_who_takes_and_becomes_captain_has_decided_from_then_on() -> None:
    lines = (
        *START,
        "chouette: bob passes and loses 1 point to alice.",
        "<< accept",
        "chouette: carol is captain now.",
        "** You are now playing with alice in an unlimited match.",
        "You accept the double. The cube shows 2.",
        "alice rolls 6 and 2.",
        "alice moves 12-18 12-14 .",
        "You roll 6 and 5.",
        "<< move 24-13",
    )
    events = heard("carol", (*lines, "chouette: carol has not played on in time and drops out at 2 points."))
    (match,) = transcripts_in(events)
    ours = [it.own for it in events if isinstance(it, EntryAdded) and getattr(it.step.entry, "seat", None) is Seat.A]
    assert [False, True, True] == ours[:3]  # bob's play, our take and play
    assert -2 == won(match.games[0].result, Seat.A)
    comparison = StrategyComparison(ScriptedStrategy(), ScriptedStrategy(), PlayerSelection())
    asked = [found.decision.step.entry for it in events for found in comparison.compare(it)]
    assert [Cube, Throw] == [type(entry) for entry in asked]


def test_a_drawn_board_which_does_not_say_whose_it_is_shows_a_member_the_side_of_the_captain() -> None:
    drawn = START[5].replace("board:bob:", "board:You:")
    after_a_login = (SEAT, TABLE, drawn, *START[6:9], "alice rolls 6 and 2.")
    assert [] == differences_in(heard("carol", after_a_login))


def test_a_board_that_contradicts_the_game_is_a_difference() -> None:
    before_the_play = START[5].replace(":0:-1:0:0:3:1:", ":0:1:0:0:0:0:")
    (found,) = differences_in(heard("carol", (*START[:7], before_the_play)))
    assert ["position"] == [difference.what for difference in found.differences]


@pytest.mark.parametrize("table", [TABLE, TABLE.replace("bob (captain)", "bob (captain), eve (out)")])
def test_a_game_without_points_of_ours_is_left_out(table: str) -> None:
    assert [] == heard("eve" if "eve" in table else "dave", (SEAT, table, *START[2:], *RESULT))
