"""The decisions of a game, with the positions in which they were made.

A whole game of a match, which is nearly every game, is followed without asking the rules again: whoever reads it has
checked each play. That takes a quarter of the time of `transcript.walk`, which does the rest. Tests compare the two.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

from fibsbot.match import CubeAction, Dice, Owner, Phase
from fibsbot.notation.play_notation import format_play
from fibsbot.position import OFF, Play, Position
from fibsbot.rules.laws import Laws
from fibsbot.rules.state import Seat
from fibsbot.transcript import (
    Cube,
    Decision,
    Entry,
    Game,
    RejectedRoll,
    Resign,
    Step,
    Throw,
    TranscriptError,
    decisions,
    walk,
)

PLAY: Final = "play"
DOUBLE: Final = "double"
TAKE: Final = "take"
RESIGN: Final = "resign"
ACCEPT: Final = "accept"

_OWNER_OF: Final = {None: (Owner.CENTRED, Owner.CENTRED), Seat.A: (Owner.PLAYER, Owner.OPPONENT)} | {
    Seat.B: (Owner.OPPONENT, Owner.PLAYER)
}
"""The owner of the cube as seats A and B see it."""
_CUBE_KINDS: Final = {
    CubeAction.ROLL: DOUBLE,
    CubeAction.DOUBLE: DOUBLE,
    CubeAction.TAKE: TAKE,
    CubeAction.PASS: TAKE,
    CubeAction.BEAVER: TAKE,
}
_CUBE_MARKS: Final = {
    CubeAction.DOUBLE: b"D",
    CubeAction.TAKE: b"K",
    CubeAction.PASS: b"P",
    CubeAction.BEAVER: b"B",
}


class TrackedDecision(NamedTuple):
    """A decision of a player."""

    cells: tuple[int, ...]
    """The position as the player who decided sees it; see `Position.points`."""
    seat: Seat
    kind: str
    turn: int
    cube: int
    owner: Owner
    redoubles: int
    dice: Dice | None
    action: str
    resignation: int
    entry: Entry


class TrackedEvent(NamedTuple):
    """An entry of a game with its decisions."""

    seat: Seat
    canonical: bytes
    """What the digest has of it; empty where formats differ."""
    turns: int
    """Turns completed after it."""
    decisions: tuple[TrackedDecision, ...]


def track(game: Game) -> Iterator[TrackedEvent]:
    """Yield the entries of a game. Raises TranscriptError for a game that breaks the rules."""
    laws = game.start.laws
    plain = (
        bool(game.start.length)
        and game.whole
        and laws.cube_limit is None
        and laws.dead_cube
        and not laws.reject_first_throw
        and not any(isinstance(it, Resign | RejectedRoll) for it in game.entries[:-1])
    )
    return _track_plainly(game, laws) if plain else map(_event, walk(game))


# -- by the rules core ------------------------------------------------------------------------------------------------


def _event(step: Step) -> TrackedEvent:
    entry = step.entry
    canonical, seat = b"", Seat.A
    if isinstance(entry, Throw):
        seat = entry.seat
        if entry.play is not None:
            canonical = _throw_mark(entry.dice, step.after.position_for(seat).points)
    elif isinstance(entry, Cube):
        canonical, seat = _CUBE_MARKS[entry.action], entry.seat
    elif isinstance(entry, RejectedRoll):
        canonical, seat = b"N%d%d" % (max(entry.dice), min(entry.dice)), entry.seat
    return TrackedEvent(seat, canonical, step.after.turns, tuple(map(_decision, decisions(step))))


def _decision(decision: Decision) -> TrackedDecision:
    state, answer = decision.state, decision.answer
    if isinstance(answer, Play):
        kind = PLAY
    elif isinstance(answer, CubeAction):
        kind = _CUBE_KINDS[answer]
    else:
        kind = ACCEPT if state.phase is Phase.RESIGNED else RESIGN
    level = state.resignation if kind == ACCEPT else int(answer) if kind == RESIGN else 0  # type: ignore[call-overload]
    return TrackedDecision(
        state.position.points,
        decision.seat,
        kind,
        decision.step.turn,
        state.cube,
        state.owner,
        state.redoubles,
        state.dice,
        decision.text,
        level,
        decision.step.entry,
    )


# -- quickly ----------------------------------------------------------------------------------------------------------


def _throw_mark(dice: Dice, cells: tuple[int, ...] | list[int]) -> bytes:
    """Return what the digest has of a roll and its play: the dice, and the position that the player has left."""
    return b"T%d%d" % (max(dice), min(dice)) + array("b", cells).tobytes()


def _track_plainly(game: Game, laws: Laws) -> Iterator[TrackedEvent]:
    """Yield the entries of a game of a match that was seen from its opening roll."""
    start = game.start
    cells, turns, cube = list(start.position.points), 0, start.cube
    turn: Seat | None = None
    owner: Seat | None = None
    may_double = laws.cube and not start.crawford
    doubled, over = False, False
    for entry in game.entries:
        place = f"game {game.number}, turn {turns + 1}"
        if over and not isinstance(entry, Resign):  # which may follow a roll that was not played
            raise TranscriptError(f"{place}: the game is over")
        if isinstance(entry, Throw):
            seat = entry.seat
            owners = _OWNER_OF[owner]
            found: list[TrackedDecision] = []
            if turn is None:
                turn = seat
            elif turn is not seat or doubled:
                raise TranscriptError(f"{place}: expected the other player")
            elif may_double and owner is not seat.other:
                found.append(
                    TrackedDecision(
                        tuple(cells), seat, DOUBLE, turns + 1, cube, owners[seat], 0, None, "roll", 0, entry
                    )
                )
            mark = b""
            if entry.play is None:
                over = True
            else:
                before = tuple(cells)
                text = format_play(entry.play, Position(before))
                found.append(
                    TrackedDecision(
                        before, seat, PLAY, turns + 1, cube, owners[seat], 0, entry.dice, text, 0, entry
                    )
                )
                _make(cells, entry.play, place)
                mark = _throw_mark(entry.dice, cells)
                turns += 1
                over = max(cells) <= 0
                cells = [-n for n in cells[::-1]]
                turn = seat.other
            yield TrackedEvent(seat, mark, turns, tuple(found))
        elif isinstance(entry, Cube) and turn is not None:
            seat = entry.seat
            offers = entry.action is CubeAction.DOUBLE
            if doubled is offers or (seat is turn) is doubled or (offers and (not may_double or owner is seat.other)):
                raise TranscriptError(f"{place}: unexpected {entry.action.value}")
            seen = tuple(cells) if seat is turn else tuple([-n for n in cells[::-1]])
            made = TrackedDecision(
                seen,
                seat,
                _CUBE_KINDS[entry.action],
                turns + 1,
                cube,
                _OWNER_OF[owner][seat],
                0,
                None,
                entry.action.value,
                0,
                entry,
            )
            doubled = offers
            if entry.action is CubeAction.TAKE:
                cube, owner = 2 * cube, seat
            over = entry.action is CubeAction.PASS
            yield TrackedEvent(seat, _CUBE_MARKS[entry.action], turns, (made,))
        else:
            yield from _last_steps(game, entry)
            return


def _last_steps(game: Game, entry: Entry) -> Iterator[TrackedEvent]:
    """Yield the last entry of a game, which is of a rare kind, by the rules core."""
    *_, last = walk(game)
    if last.entry is not entry:
        raise TranscriptError(f"game {game.number}: expected {entry} at the end")
    yield _event(last)


def _make(cells: list[int], play: Play, place: str) -> None:
    """Make a play, and check that there is a checker and no point of the opponent in its way."""
    for move in play.moves:
        source, target = move.source, move.target
        if cells[source] < 1 or (target != OFF and cells[target] < -1):
            raise TranscriptError(f"{place}: {move} cannot be played")
        cells[source] -= 1
        if target != OFF:
            if cells[target] == -1:
                cells[target] = 0
                cells[0] -= 1
            cells[target] += 1


__all__ = ["ACCEPT", "DOUBLE", "PLAY", "RESIGN", "TAKE", "TrackedDecision", "TrackedEvent", "track"]
