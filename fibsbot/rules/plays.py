"""Legal plays of backgammon, why a play is illegal (laws 11 to 15 of 1931, 11 to 17 of 1970), and perft counts.

The four sets of laws agree here, so this file has no options.

The generator rests on one observation: if a play can be made at all, it can be made by moving the checkers in order
from the farthest point to the nearest. Moving a far checker first never blocks a point, and can only help to bear off.
So the generator never considers a checker behind the one that it has just moved.

Perft counts positions to a depth, over the 21 rolls, equal positions as often as they are reached; known counts verify
the generator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import starmap
from typing import Final, Protocol, TypeAlias

from attrs import frozen

from fibsbot.position import BAR, OFF, Move, Play, Position
from fibsbot.rules.dice import ROLLS, Dice
from fibsbot.rules.errors import DiceError, IllegalPlayError, InvalidPlayError, Law

Cells: TypeAlias = tuple[int, ...]
"""The 26 cells of `Position.points`."""
Steps: TypeAlias = tuple[tuple[int, int], ...]
"""Source and target of each move of a play."""
_HIGHER_FIRST: Final[Mapping[tuple[int, ...], Dice]] = {
    roll: (high, low) for high, low in ROLLS for roll in ((high, low), (low, high))
}
"""The 36 results of two dice, each with the higher number first."""
_SOURCES: Final = range(1, BAR + 1)
_TARGETS: Final = range(OFF, BAR)
CACHED_ROLLS: Final = 128
"""Number of rolls whose plays are cached: the callers ask for each of them several times."""


class HasPosition(Protocol):
    """A state with a position, such as a MatchState or a GameState."""

    @property
    def position(self) -> Position:
        """As the player on roll sees it."""
        ...


def legal_plays(position: Position | HasPosition, dice: Sequence[int]) -> tuple[Play, ...]:
    """Return one play for each distinct position that the dice allow; none if no checker can move.

    The moves of a play are in an order in which they can be made, farthest checker first. Raises DiceError for
    impossible dice.
    """
    return _legal_plays(position if isinstance(position, Position) else position.position, tuple(dice))


@lru_cache(CACHED_ROLLS)
def _legal_plays(position: Position, dice: tuple[int, ...]) -> tuple[Play, ...]:
    return tuple(starmap(Play.of, resulting_positions(position.points, dice).values()))


def can_move(position: Position, dice: Dice) -> bool:
    """Return whether these dice allow any move, which is faster than generating all plays.

    Raises DiceError for impossible dice.
    """
    high, low = check_dice(dice)
    return any(_moves(position.points, high, BAR)) or any(_moves(position.points, low, BAR))


@lru_cache(CACHED_ROLLS)
def resulting_positions(cells: Cells, dice: Dice) -> Mapping[Cells, Steps]:
    """Return every position that the dice can lead to, with one play to reach it; empty if no checker can move.

    Raises DiceError for impossible dice.
    """
    return _results(cells, dice, None)


KeepPosition: TypeAlias = Callable[[Cells, int], bool]
"""Takes a position within a play and the number of moves left; returns whether to go on from it."""


def resulting_positions_via(cells: Cells, dice: Dice, keep: KeepPosition) -> Mapping[Cells, Steps]:
    """Return the results whose intermediate and final positions are all kept by `keep`.

    The cost depends on the kept positions only, not on the number of plays. Raises DiceError for impossible dice.
    """
    possible = most_moves(cells, dice)
    moves = 4 if dice[0] == dice[1] else 2
    return _results(cells, dice, lambda after, left: keep(after, left - moves + possible), possible) if possible else {}


def play_between(cells: Cells, dice: Dice, after: Cells) -> Steps:
    """Return the play of all numbers of the dice that leads from one position to another; no steps if none does.

    The farthest checker that is missing afterwards was moved first, so each order of the numbers leaves one play. If
    both orders lead there, the lower number comes first, as in `_results`. Raises DiceError for impossible dice.
    """
    high, low = check_dice(dice)
    for numbers in ((high,) * 4,) if high == low else ((low, high), (high, low)):
        cells_left, source = list(cells), BAR
        steps: list[tuple[int, int]] = []
        for number in numbers:
            while source and not (cells_left[source] > 0 and cells_left[source] > after[source]):
                source -= 1  # no move before this one has left a checker there too many: it ended nearer
            if not source or not _move_in_place(cells_left, source, number):
                break
            steps.append((source, max(source - number, OFF)))
        if len(steps) == len(numbers) and tuple(cells_left) == after:
            steps.sort(reverse=True)
            return tuple(steps)
    return ()


def _move_in_place(cells: list[int], source: int, number: int) -> bool:
    """Move an own checker by a number; return False, and leave it, if it may not be moved."""
    target = source - number
    if cells[BAR] > 0 and source != BAR:
        return False
    if target > 0:
        there = cells[target]
        if there < -1:
            return False
        if there < 0:
            cells[target] = 1
            cells[0] -= 1
        else:
            cells[target] = there + 1
    elif _bears_off_from(cells, number) != source:
        return False
    cells[source] -= 1
    return True


def _results(cells: Cells, dice: Dice, keep: KeepPosition | None, moves: int | None = None) -> dict[Cells, Steps]:
    """Return the kept results; `moves` is the number of moves of a play, if it is known."""
    high, low = check_dice(dice)
    if high == low:
        return _play_double(cells, high, keep, 4 if moves is None else moves)
    plays: dict[Cells, Steps] = {}
    halves: list[dict[Cells, Steps]] = []
    for first, second in ((high, low), (low, high)):
        half: dict[Cells, Steps] = {}
        for source, target, between in _moves(cells, first, BAR):
            if keep is None or keep(between, 1):
                half[between] = ((source, target),)
                for next_source, next_target, after in _moves(between, second, source) if moves != 1 else ():
                    if keep is None or keep(after, 0):
                        plays[after] = ((source, target), (next_source, next_target))
        halves.append(half)
    if moves == 1 and not halves[0] and next(_moves(cells, high, BAR), None):
        return {}  # the higher number can be played, but its positions are not kept
    return plays if moves == 2 else plays or halves[0] or halves[1]


def most_moves(cells: Cells, dice: Dice) -> int:
    """Return the number of moves of each legal play of these dice. Raises DiceError for impossible dice."""
    high, low = check_dice(dice)
    orders = ((high,) * 4,) if high == low else ((high, low), (low, high))
    most = 0
    for numbers in orders:
        most = max(most, _most_moves(cells, numbers, BAR))
        if most == len(numbers):
            break
    return most


def _most_moves(cells: Cells, numbers: tuple[int, ...], farthest: int) -> int:
    """Return how many of the numbers can be played in this order, with checkers on the point `farthest` or nearer.

    If four moves are possible they are found at once; if not, few checkers can move.
    """
    most = 0
    for source, _, after in _moves(cells, numbers[0], farthest):
        most = max(most, 1 + (_most_moves(after, numbers[1:], source) if len(numbers) > 1 else 0))
        if most == len(numbers):
            break
    return most


def has_choice(cells: Cells, dice: Dice) -> bool:
    """Return whether the dice allow more than one play, which is faster than generating all of them."""
    high, low = check_dice(dice)
    if high == low:
        left = _doubles(cells, high, most_moves(cells, dice), BAR)
        first = next(left)
        return any(after != first for after in left)
    found: Cells | None = None
    for first_number, second in ((high, low), (low, high)):
        for source, _, between in _moves(cells, first_number, BAR):
            for _, _, after in _moves(between, second, source):
                if after != (found := found or after):
                    return True
    return not found and len(resulting_positions(cells, dice)) > 1


def _doubles(cells: Cells, number: int, moves: int, farthest: int) -> Iterator[Cells]:
    """Yield the position after each way to play a number `moves` times."""
    if not moves:
        yield cells
        return
    for source, _, after in _moves(cells, number, farthest):
        yield from _doubles(after, number, moves - 1, source)


def _play_double(cells: Cells, number: int, keep: KeepPosition | None, moves: int) -> dict[Cells, Steps]:
    """Play one number `moves` times, or as often as possible."""
    plays: dict[Cells, Steps] = {}
    longer: dict[Cells, Steps] = {cells: ()}
    for left in range(3, 3 - moves, -1):
        shorter, longer = longer, {}
        for between, steps in shorter.items():
            farthest = steps[-1][0] if steps else BAR
            for source, target, after in _moves(between, number, farthest):
                if keep is None or keep(after, left):
                    longer[after] = (*steps, (source, target))
        if not longer:
            break
        plays = longer
    return plays if keep is None or len(next(iter(plays.values()), ())) == moves else {}


def _moves(cells: Cells, number: int, farthest: int) -> Iterator[tuple[int, int, Cells]]:
    """Yield the moves by one number of a checker on the point `farthest` or nearer: source, target, new position."""
    on_bar = cells[BAR] > 0
    for source in (BAR,) if on_bar else range(min(farthest, 24), number, -1):
        target = source - number
        if cells[source] > 0 and cells[target] > -2:
            after = list(cells)
            after[source] -= 1
            if after[target] < 0:
                after[target] = 0
                after[0] -= 1
            after[target] += 1
            yield source, target, tuple(after)
    source = 0 if on_bar else _bears_off_from(cells, number)
    if 0 < source <= farthest:
        after = list(cells)
        after[source] -= 1
        yield source, OFF, tuple(after)


def _bears_off_from(cells: Sequence[int], number: int) -> int:
    """Return the point from which a number bears off: its own or, with none higher, the highest below; 0 if none."""
    if max(cells[7:]) > 0:
        return 0
    if cells[number] > 0:
        return number
    highest = next((point for point in range(6, 0, -1) if cells[point] > 0), 0)
    return highest if highest < number else 0


def check_dice(dice: Dice) -> Dice:
    """Return the dice, the higher first; raise DiceError unless they are two numbers from 1 to 6."""
    ordered = _HIGHER_FIRST.get(tuple(dice))
    if ordered is None:
        raise DiceError(f"expected two dice, each 1 to 6, got {dice!r}")
    return ordered


def check_play(position: Position, dice: Dice, play: Play) -> Play:
    """Return the play with its moves in an order in which they can be made. Raises what `play_legally` raises."""
    play_legally(position, dice, play)
    return Play(play.ordered)


def play_legally(position: Position, dice: Dice, play: Play) -> Position:
    """Return the position after a play.

    Raises InvalidPlayError for a move between points that do not exist, IllegalPlayError for a play that breaks a law,
    DiceError for impossible dice.
    """
    high, low = check_dice(dice)
    numbers = (high,) * 4 if high == low else (high, low)
    moves = play.ordered
    if len(moves) == len(numbers):
        after = _made(position.points, moves, numbers)
        if after is not None:
            return after  # all numbers are played
    for move in moves:
        if move.source not in _SOURCES or move.target not in _TARGETS:
            raise InvalidPlayError(f"expected moves between the points 1 to 24, bar and off, got {move}")
    if len(moves) > len(numbers):
        raise IllegalPlayError(Law.TOO_MANY_MOVES, f"{Law.TOO_MANY_MOVES.value}: {len(moves)} moves for {high}-{low}")
    after = _made(position.points, moves, numbers)
    if after is None:
        raise _first_failure(position, moves, numbers)
    possible = most_moves(position.points, dice)
    # Bearing off the last checker wins, even if the other order of the numbers would have used both.
    if (len(moves) < possible or _leaves_the_higher(position, (high, low), after)) and not after.over:
        law = _omission(numbers, len(moves), possible)
        raise IllegalPlayError(law, law.value)
    return after


def _leaves_the_higher(position: Position, dice: Dice, after: Position) -> bool:
    """Return whether the only move was made with the lower number although the higher one can be played."""
    high, low = dice
    if high == low:
        return False
    by_high = [cells for _, _, cells in _moves(position.points, high, BAR)]
    return bool(by_high) and after.points not in by_high


def _made(before: Cells, moves: list[Move], numbers: tuple[int, ...]) -> Position | None:
    """Return the position after these moves, in this order, the numbers in either; None if one cannot be made."""
    for order in (numbers, numbers[::-1]):
        cells = list(before)
        for move, number in zip(moves, order, strict=False):
            source = move.source
            if not 0 < source <= BAR or cells[source] <= 0 or move.target != max(source - number, OFF):
                break
            if not _move_in_place(cells, source, number):
                break
        else:
            return Position(tuple(cells))
    return None


def _first_failure(position: Position, moves: list[Move], numbers: tuple[int, ...]) -> IllegalPlayError:
    """Return the error of moves that cannot be made with the numbers in any order."""
    orders = (numbers, numbers[::-1]) if len(numbers) == 2 else (numbers,)
    failures: list[tuple[int, bool, IllegalPlayError]] = []
    for order in orders:
        after = position
        for made, (move, number) in enumerate(zip(moves, order, strict=False)):
            law = _broken_law(after, move, number)
            if law:
                failures.append((made, law is not Law.NOT_ROLLED, IllegalPlayError(law, f"{move}: {law.value}")))
                break
            after = after.after(move)
    # The attempt that came farthest was probably meant, and any other reason says more than NOT_ROLLED.
    return max(failures, key=lambda failure: failure[:2])[2]


def _broken_law(position: Position, move: Move, number: int) -> Law | None:
    """Return the law that forbids one move by one number; None if it can be made."""
    cells, source, target = position.points, move.source, move.target
    off, pips = target == OFF, source - target
    law = None
    if target >= source:
        law = Law.WRONG_DIRECTION
    elif cells[BAR] and source != BAR:
        law = Law.BAR_FIRST
    elif cells[source] <= 0:
        law = Law.NO_CHECKER
    elif pips > number if off else pips != number:
        law = Law.NOT_ROLLED
    elif not off and cells[target] < -1:
        law = Law.POINT_HELD
    elif off and not position.all_home:
        law = Law.TOO_EARLY
    elif off and _bears_off_from(cells, number) != source:
        law = Law.HIGHER_POINT
    return law


def _omission(numbers: tuple[int, ...], made: int, possible: int) -> Law:
    """Return the law that a play of legal moves breaks by leaving something out."""
    if len(numbers) > 2:
        return Law.WHOLE_DOUBLE
    if possible == 2:
        return Law.BOTH_NUMBERS
    return Law.HIGHER_NUMBER if made else Law.MUST_PLAY


PositionCounts: TypeAlias = Mapping[Cells, int]
"""The number of times that each position is reached, seen by the player on roll."""

PERFT_START: Final[PositionCounts] = {Position.start().points: 1}
"""The opening position."""


@frozen
class PerftCount:
    """The number of positions after one more roll and play."""

    positions: int
    """All positions, equal ones not merged."""
    without_play: int
    """Those after a roll without a legal play."""

    def __add__(self, other: PerftCount) -> PerftCount:
        """Return the sum of the counts of two parts of a level."""
        return PerftCount(self.positions + other.positions, self.without_play + other.without_play)


def perft_count(reached: Iterable[tuple[Cells, int]]) -> PerftCount:
    """Count the positions after one more roll, from these positions and their multiplicities, without storing them."""
    positions = without_play = 0
    for cells, times in reached:
        for roll in ROLLS:
            plays = len(resulting_positions(cells, roll))
            positions += times * (plays or 1)
            without_play += 0 if plays else times
    return PerftCount(positions, without_play)


def perft_level(reached: PositionCounts) -> PositionCounts:
    """Return the positions after one more roll, seen by the player who is then on roll."""
    level: Counter[Cells] = Counter()
    for cells, times in reached.items():
        for roll in ROLLS:
            for after in resulting_positions(cells, roll) or (cells,):
                level[tuple(-n for n in reversed(after))] += times
    return level
