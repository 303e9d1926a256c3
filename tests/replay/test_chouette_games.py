"""The games of a chouette, as each player's log tells them: what they were worth, who decided, what is left out."""

from __future__ import annotations

import pytest

from fibsbot.replay.events import EntryAdded, MatchBegan, MatchEnded, MatchEvent
from fibsbot.rules.chouette import BOX
from fibsbot.rules.state import Result, Seat
from fibsbot.transcript import Gap, Transcript
from tests.replay.chouette_logs import LoggedChouette
from tests.replay.transcript_helpers import differences_in
from tests.server.chouette_simulation import NAMES


def told(events: list[MatchEvent]) -> dict[int, Transcript]:
    """Return the games of a log by the server's numbers."""
    numbers = {it.match: it.chouette.number for it in events if isinstance(it, MatchBegan) and it.chouette}
    ended = [it for it in events if isinstance(it, MatchEnded)]
    assert sorted(numbers) == sorted(it.match for it in ended)  # none is told twice
    return {numbers[it.match]: it.transcript for it in ended}


def won(result: Result | None, seat: Seat) -> int:
    """Return what a side has won by a result, below zero if it has lost."""
    assert result is not None
    return result.points if result.winner is seat else -result.points


@pytest.mark.parametrize(("seed", "trouble"), [(1, 0.0), (2, 0.0), (3, 0.004), (4, 0.004)])
def test_the_points_of_the_games_in_each_log_are_those_of_the_ledger(seed: int, trouble: float) -> None:
    chouette = LoggedChouette(seed, trouble=trouble)
    chouette.play(3)
    logs = {name: told(events) for name, events in chouette.events.items()}
    for number, end in enumerate(chouette.ends, 1):
        before, after = chouette.ledgers[number - 1 : number + 1]
        for name in NAMES:
            (game,) = logs[name][number].games
            assert {*logs[name][number].players} >= set()
            if name != end.box:
                assert after[name] - before[name] == won(game.result, Seat.A)
            elif end.in_game:
                assert won(end.game.result, BOX) == won(game.result, Seat.A)
    for events in chouette.events.values():
        assert [] == differences_in(events)
        assert not any(isinstance(it.step.entry, Gap) for it in events if isinstance(it, EntryAdded)) or trouble
