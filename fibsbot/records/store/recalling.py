"""What our own decisions tell of a game whose sheet is missing: where it stood at each, and what we did then.

Stores of version 2 and older have nothing else, and it helps where entries got lost. Seat A is ours.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import evolve, frozen

from fibsbot.match import CubeAction, MatchState, Owner, Phase
from fibsbot.notation import NotationError, Xgid, parse_play
from fibsbot.records.views import Decision, Game
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import FIBS, Laws
from fibsbot.rules.scoring import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Entry, Resign, Throw

_OWNERS: Final = {Owner.CENTRED: None, Owner.PLAYER: Seat.A, Owner.OPPONENT: Seat.B}
_CUBES: Final = {it.value: it for it in (CubeAction.DOUBLE, CubeAction.TAKE, CubeAction.PASS, CubeAction.BEAVER)}


@frozen
class Piece:
    """Some entries that follow each other, and where the game stood before them."""

    at: dt.datetime
    start: GameState
    entries: tuple[Entry, ...]
    offered: bool = False
    """Whether the opponent wanted to resign: whose turn it was is not known."""
    unsure: bool = False
    """Whether something happened that is not known well enough to be an entry."""
    doubtful: bool = False
    """Whether the entry went out, but nothing tells that the server got it: the match was broken off."""
    torn: bool = False
    """Whether entries that followed are lost."""
    recalled: bool = False
    """Whether it is from a decision, and not from a sheet."""
    sitting: int = 0
    turn: int | None = None
    """Throws and ends of turns before a decision, in its game and sitting."""


def pieces_from(decisions: Sequence[Decision], game: Game, resumed: int) -> Iterator[Piece]:
    """Yield what decisions of a game, in their order, tell of it; those that tell nothing are left out.

    `resumed` is how often the match was.
    """
    made = [it for it in decisions if it.refused is None]
    for decision, following in itertools.zip_longest(made, made[1:]):
        start = _stood(decision)
        if start is None:
            continue
        doubtful = decision.sitting != (following.sitting if following else resumed)
        resigned = following is None and game.how == "resign_accepted"
        entry = _did(decision, start, resigned=resigned)
        unsure = isinstance(entry, Resign) and (
            doubtful or (following is None and game.ended is None) or entry.accepted is not resigned
        )
        yield Piece(
            decision.at,
            start,
            (entry,) if entry and not unsure else (),
            offered=decision.phase == Phase.RESIGNED.value,
            unsure=unsure,
            doubtful=doubtful,
            recalled=True,
            sitting=decision.sitting,
            turn=decision.turn,
        )


def _stood(decision: Decision) -> GameState | None:
    """Return the game before a decision; before a play, as it was before the throw."""
    try:
        state = Xgid.parse(decision.xgid or "").state()
    except NotationError:
        return None
    doubled = decision.phase == Phase.DOUBLED.value
    offered = (decision.offer or 2 * state.cube) if doubled else 0
    return GameState(
        laws=_laws(state),
        length=state.length,
        scores=state.score,
        crawford=state.crawford,
        post_crawford=state.post_crawford,
        position=state.position.swapped() if doubled else state.position,
        turn=Seat.B if doubled else Seat.A,
        stage=Stage.DOUBLED if doubled else Stage.ROLL,
        cube=state.cube,
        # While a double waits no board tells the owner, and who doubles has the cube.
        owner=Seat.B if doubled and state.cube > 1 else _OWNERS[state.owner],
        offered=offered,
        answering=Seat.A if doubled else None,
    )


def _laws(state: MatchState) -> Laws:
    return FIBS if state.length else evolve(FIBS, redoubles=1)


def _did(decision: Decision, start: GameState, *, resigned: bool) -> Entry | None:
    """Return what we did; None where it shows in what follows, or was not to be read.

    `resigned` tells whether it was our last decision, and the game then ended with a resignation.
    """
    known: dict[str, Any] = {"at": decision.at, "equity": decision.equity, "seconds": decision.seconds}
    word, _, number = decision.answer.partition(" ")
    if decision.phase == Phase.MOVE.value and decision.dice:
        try:
            play = parse_play(decision.answer, start.position, decision.dice)
        except RuleError:
            return None
        return Throw(seat=Seat.A, dice=decision.dice, play=play, **known)
    if decision.answer in _CUBES:
        return Cube(seat=Seat.A, action=_CUBES[decision.answer], **known)
    if word == "resign" and number in {"1", "2", "3"}:
        return Resign(seat=Seat.A, level=Level(int(number)), accepted=resigned, **known)
    if decision.phase == Phase.RESIGNED.value and decision.offer:
        level = Level(min(max(decision.offer // start.cube, 1), 3))
        return Resign(seat=Seat.B, level=level, accepted=decision.answer == "accept", at=decision.at)
    return None
