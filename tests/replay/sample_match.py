"""A transcript with every kind of event, and other helpers of the replay's tests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any, Final

from attrs import evolve

from fibsbot.bot.tracked_match import Difference
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.replay.events import DifferenceFound, MatchBegan, MatchEnded, MatchEvent
from fibsbot.replay.match_files import events_of_transcript
from fibsbot.rules.game import next_game, start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Player, Resign, Throw, Transcript, apply

BEGAN: Final = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


def sample_transcript(
    user: Seat | None = Seat.A, names: tuple[str, str] = ("marvin", "ford"), *, timed: bool = True
) -> Transcript:
    """Return a match of one game and a bit, with a rebuilt throw, a gap, and a rejected resignation."""
    start = start_match(FIBS, 3)
    first, over = _game(1, start, timed=timed)
    second = Game(
        2,
        next_game(over),
        (
            Throw(seat=Seat.A, dice=(6, 4), play=Play.of((24, 18), (13, 9)), at=_at(20) if timed else None),
            Throw(seat=Seat.B, dice=(5, 5), at=_at(21) if timed else None),
        ),
    )
    return Transcript(
        (Player(names[0], 1623.45, 420), Player(names[1])),
        3,
        (first, second),
        user,
        "fibs.example:4321",
        BEGAN if timed else None,
        _at(22) if timed else None,
        given_id="0123456789abcdef",
    )


def _game(number: int, start: GameState, *, timed: bool) -> tuple[Game, GameState]:
    """Play the first game; return it, and how it ended."""
    state = start
    entries: list[Entry] = []

    def add(entry: Entry, **known: Any) -> None:
        nonlocal state
        known = {"at": _at(len(entries) + 1), "seconds": 1.5} | known if timed else known
        entries.append(evolve(entry, **known))
        state = apply(state, entry)

    add(Throw(seat=Seat.B, dice=(3, 1), play=Play.of((8, 5), (6, 5))))
    add(Cube(seat=Seat.A, action=CubeAction.DOUBLE), equity=0.25)
    add(Cube(seat=Seat.B, action=CubeAction.TAKE))
    add(Throw(seat=Seat.A, dice=(6, 5), play=Play.of((24, 18), (18, 13))), equity=-0.125)
    add(Throw(seat=Seat.B, dice=(4, 2), play=Play.of((8, 4), (6, 4))), rebuilt=True)
    add(Gap(reason="3 turns are missing", then=evolve(state, stage=Stage.ROLL, turn=Seat.A, turns=6)))
    add(Throw(seat=Seat.A, dice=(2, 1), play=Play.of((13, 11), (6, 5))))
    add(Resign(seat=Seat.B, level=Level.SINGLE, accepted=False))
    add(Throw(seat=Seat.B, dice=(6, 2), play=Play.of((24, 18), (13, 11))))
    add(Resign(seat=Seat.B, level=Level.SINGLE, accepted=True))
    return Game(number, start, tuple(entries), state.result), state


def _at(turn: int) -> dt.datetime:
    return BEGAN + dt.timedelta(seconds=7 * turn)


def sample_events(transcript: Transcript, match: int = 1) -> Iterator[MatchEvent]:
    """Yield what happens in a match, with a difference at its end."""
    differences = (Difference("cube", 1, 2), Difference("position", (0, -2), (0, 2)))
    for it in events_of_transcript(match, transcript):
        if isinstance(it, MatchEnded):
            yield DifferenceFound(match, 2, 3, differences, 4711, _at(22))
        yield it


def renamed(began: MatchBegan, names: tuple[str, str]) -> MatchBegan:
    """Return the beginning of a match between others."""
    a, b = (evolve(player, name=name) for player, name in zip(began.transcript.players, names, strict=True))
    return evolve(began, transcript=evolve(began.transcript, players=(a, b)))
