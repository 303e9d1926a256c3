"""Legal plays of any tables game, why a play is illegal, and perft counts.

Unlike in backgammon the order of moves can matter in many ways, so all orders are tried. A board that is
reached in several orders is looked at only once. Two moves that can be made in either order lead to the same board by
the laws of every game, so the second order is not even tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, permutations
from math import factorial, prod
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.fast_evolve import fast_evolve
from fibsbot.position import Move, Play
from fibsbot.rules.errors import AnyLaw, DiceError, IllegalPlayError, InvalidPlayError, Law, NamedLaw
from fibsbot.rules.ruleset import Numbers, Outcome, Part, Ruleset, Turn
from fibsbot.rules.shared_laws import HELD, PINNED
from fibsbot.rules.sides import HAND, OFF, Side, Sides

CACHED_ROLLS: Final = 64
"""Number of rolls whose plays are cached: the callers ask for each of them several times."""
Steps: TypeAlias = tuple[Move, ...]
LOWER_FIRST: Final = NamedLaw("the lower number is played first")
ONE_CHECKER: Final = NamedLaw("one checker makes all moves of this roll")
EACH_ONCE: Final = NamedLaw("each number is played once")
GAME_OVER: Final = NamedLaw("the game is over before this move")
AS_MANY: Final = NamedLaw("as many of the numbers as possible must be played")
HIGHEST_SUM: Final = NamedLaw("of plays with equally many numbers one with the highest sum must be made")


def make_move(rules: Ruleset, sides: Sides, source: int, number: int) -> tuple[int, Sides] | AnyLaw:
    """Return where a checker gets by a number and the board after it, or the law that forbids the move."""
    own = sides.own
    checkers = own.row[source]
    if checkers <= (own.held >> source & 1):
        return HELD if checkers else Law.NO_CHECKER
    if own.pinned and own.pinned >> source & 1:
        return PINNED
    reached = source - number if number < source else rules.bearing_off(sides, source, number)
    target = reached if isinstance(reached, int) else OFF
    for law in rules.move_laws:
        if law.forbids(sides, source, target):
            return law.law
    if not isinstance(reached, int):
        return reached
    opponent = _freed(rules, sides, source) if sides.opponent.pinned else sides.opponent
    if target != OFF:
        landed = rules.landing(own, opponent, target, rules.course.facing(target))
        if not isinstance(landed, Side):
            return landed
        opponent = landed
    moved = own.moved(source, target)
    if source == HAND and own.hit:  # of those in hand one that was hit enters first
        moved = fast_evolve(moved, hit=own.hit - 1)
    after = Sides(moved, opponent)
    for change in rules.on_move:
        after = change(sides, after, source, target)
    return target, after


def _freed(rules: Ruleset, sides: Sides, source: int) -> Side:
    """Return the opponent's side, with a checker freed if the last one on it leaves."""
    opponent = sides.opponent
    if source == HAND or sides.own.row[source] > 1:
        return opponent
    return fast_evolve(opponent, pinned=opponent.pinned & ~(1 << rules.course.facing(source)))


def _destination(rules: Ruleset, sides: Sides, source: int, number: int) -> int | AnyLaw:
    """Return where a number would bring a checker, or the law that keeps it from leaving the board."""
    return source - number if number < source else rules.bearing_off(sides, source, number)


@frozen
class _Reached:
    """A board within a play: what is left of the numbers, and how it was reached."""

    steps: Steps
    left: Numbers
    ended: bool = False
    """Whether the game ended with the last move."""

    @property
    def worth(self) -> tuple[int, int]:
        """What is to be as high as possible: how many numbers are played, and then their sum."""
        return len(self.steps), -sum(self.left)


_Made: TypeAlias = "dict[tuple[int, int], _Made]"
"""The moves made from a board, each a source and a number, and what was made from the board after it."""
_Board: TypeAlias = tuple[Sides, _Reached, _Made, _Made, tuple[int, int]]
"""A board to go on from, how it was reached, the moves made from it and from the one before, and the move between."""


@lru_cache(CACHED_ROLLS)
def resulting_boards(rules: Ruleset, sides: Sides, part: Part) -> Mapping[Sides, Steps]:
    """Return every board that a part of a turn can lead to, with one play to reach it; empty if no checker can move.

    As many numbers as possible have to be played, and of plays with equally many those with the highest sum. A play
    that ends the game is complete, whatever numbers are left.
    """
    allowed = _reached_boards(rules, sides, part)
    if not part.compulsory:
        allowed[sides] = _Reached((), part.numbers)
    if rules.play_laws:
        kept = {
            board: reached
            for board, reached in allowed.items()
            if _broken_play_law(rules, sides, board, reached) is None
        }
        allowed = kept
    for preference in rules.preferences:
        most = max((reached.worth for reached in allowed.values()), default=())
        full = (board for board, reached in allowed.items() if reached.worth == most)
        if any(not preference.forbids(sides, board) for board in full):
            allowed = {board: reached for board, reached in allowed.items() if not preference.forbids(sides, board)}
    if not part.compulsory:
        return {board: reached.steps for board, reached in allowed.items()}
    worths = [reached.worth for reached in allowed.values()]
    most = max(worths, default=())
    complete = zip(allowed.items(), worths, strict=True)
    return {board: reached.steps for (board, reached), worth in complete if worth == most or reached.ended}


def _broken_play_law(rules: Ruleset, before: Sides, after: Sides, reached: _Reached) -> AnyLaw | None:
    if reached.ended:
        return None
    return next((play_law.law for play_law in rules.play_laws if play_law.forbids(before, after)), None)


def _reached_boards(rules: Ruleset, sides: Sides, part: Part) -> dict[Sides, _Reached]:
    """Return every board that moves by these numbers can lead to, at least one move away, in any order of the moves.

    Of several ways to a board the one of the highest worth is returned, the first of equals.
    """
    found: dict[Sides, _Reached] = {}
    level: list[_Board] = [(sides, _Reached((), part.numbers), {}, {}, (0, 0))]
    while level:
        following: list[_Board] = []
        looked_at: dict[tuple[Numbers, int], dict[Sides, _Made]] = {}
        for board, reached, made_here, made_before, last in level:
            left, steps = reached.left, reached.steps
            sources = [steps[-1].target] if steps and part.one_checker else _places(board.own)
            for number in left[:1] if part.ordered else sorted(set(left), reverse=True):
                rest = _without(left, number)
                for source in sources:
                    move = (source, number)
                    if move in made_before and last in made_before[move]:  # the same two moves in the other order
                        made_here[move] = made_before[move][last]
                        continue
                    made = make_move(rules, board, source, number)
                    if not isinstance(made, tuple):
                        continue
                    target, after = made
                    known = looked_at.setdefault((rest, target if part.one_checker else 0), {})
                    new: _Made = {}
                    made_here[move] = known.setdefault(after, new)
                    if made_here[move] is not new:
                        continue
                    ended = (target == OFF and after.own.all_off) or ends_at_once(rules, board, after) is not None
                    step = _Reached((*steps, _move(source, target)), rest, ended)
                    before = found.setdefault(after, step)
                    if before is not step and step.worth > before.worth:
                        found[after] = step
                    if rest and not ended and not (part.one_checker and target == OFF):
                        following.append((after, step, new, {} if part.one_checker else made_here, move))
        level = following
    return found


_move: Final = lru_cache(1024)(Move)
"""All moves of a board are a few hundred, and each is needed very often."""


def _places(own: Side) -> list[int]:
    """Return the places with checkers, the farthest first."""
    row = own.row
    return [place for place in range(HAND, OFF, -1) if row[place]]


def _without(numbers: Numbers, number: int) -> Numbers:
    at = numbers.index(number)
    return numbers[:at] + numbers[at + 1 :]


def ends_at_once(rules: Ruleset, before: Sides, after: Sides) -> Outcome | None:
    """Return the outcome if the game is over after this move, whatever numbers are left."""
    for end in rules.ends_at_once:
        if outcome := end(rules, before, after):
            return outcome
    return None


def outcome(rules: Ruleset, before: Sides, after: Sides) -> Outcome | None:
    """Return the outcome if the game is over after this play."""
    ends = (*rules.ends_at_once, *rules.ends)
    return next((outcome for end in ends if (outcome := end(rules, before, after))), None)


def can_move(rules: Ruleset, sides: Sides, part: Part) -> bool:
    """Return whether any checker can move."""
    return any(resulting_boards(rules, sides, part).values())


def legal_plays(rules: Ruleset, sides: Sides, part: Part) -> tuple[Play, ...]:
    """Return one play for each distinct board that a part of a turn can lead to; none if no checker can move."""
    return tuple(Play(steps) for steps in resulting_boards(rules, sides, part).values())


def check_play(rules: Ruleset, sides: Sides, part: Part, play: Play) -> tuple[Play, Sides]:
    """Return the play with its moves in an order in which they can be made, and the board after it.

    The order of the play comes first; if the game ends in different ways by different orders, it decides. Raises
    InvalidPlayError for a move between places that do not exist, IllegalPlayError for a play that breaks a law.
    """
    for move in play.moves:
        if not (OFF < move.source <= HAND and OFF <= move.target < HAND):
            raise InvalidPlayError(f"expected moves between the points 1 to 24, bar and off, got {move}")
    if len(play) > len(part.numbers):
        rolled = "-".join(map(str, part.numbers))
        law = Law.TOO_MANY_MOVES if _as_in_backgammon(part) else EACH_ONCE
        raise IllegalPlayError(law, f"{law.value}: {len(play)} moves for {rolled}")
    results = resulting_boards(rules, sides, part)
    if not play.moves and not results:
        return play, sides
    made: dict[Sides, Steps] = {}
    failures: list[tuple[int, IllegalPlayError]] = []
    for moves in dict.fromkeys(permutations(play.moves)):
        for board in _makings(rules, sides, part, moves, failures):
            if board in results:
                return Play(moves), board
            made.setdefault(board, moves)
    if not made:
        raise max(failures, key=lambda failure: failure[0])[1]
    omission = _omission(rules, sides, part, made)
    raise IllegalPlayError(omission, omission.value)


def _as_in_backgammon(part: Part) -> bool:
    """Return whether a part is a roll of backgammon: two different numbers, or one number four times."""
    return (len(part.numbers), len(set(part.numbers))) in {(2, 2), (4, 1)}


def _makings(
    rules: Ruleset, sides: Sides, part: Part, moves: Sequence[Move], failures: list[tuple[int, IllegalPlayError]]
) -> Iterator[Sides]:
    """Yield the boards to which these moves lead in this order, and note why attempts fail and how far they came."""
    boards: list[tuple[Sides, Numbers, int]] = [(sides, part.numbers, 0)]
    for count, move in enumerate(moves):
        following: list[tuple[Sides, Numbers, int]] = []
        for board, left, at in boards:
            law: AnyLaw | None = GAME_OVER if count and ends_at_once(rules, sides, board) else None
            for number in dict.fromkeys(left if law is None else ()):
                made = make_move(rules, board, move.source, number)
                if not isinstance(made, tuple):
                    # A law about this very move says more than that its length was not rolled.
                    law = made if _leads(rules, board, move, number) else law
                elif made[0] != move.target:
                    continue
                elif part.ordered and number != left[0]:
                    law = LOWER_FIRST
                elif part.one_checker and at not in {0, move.source}:
                    law = ONE_CHECKER
                else:
                    following.append((made[1], _without(left, number), move.target))
            if not following:
                law = law or _wrong_number(rules, board, move)
                failures.append((count, IllegalPlayError(law, f"{move}: {law.value}")))
        boards = following
    for board, _, _ in boards:
        yield board


def _leads(rules: Ruleset, sides: Sides, move: Move, number: int) -> bool:
    """Return whether a number would make a move, but for the laws."""
    to = _destination(rules, sides, move.source, number)
    return move.target in ((to,) if isinstance(to, int) else (OFF, HAND - (number - move.source)))


def _wrong_number(rules: Ruleset, sides: Sides, move: Move) -> AnyLaw:
    """Return the law for a move that no number left to play makes: that another would, or that none does."""
    if move.target < move.source or any(_leads(rules, sides, move, number) for number in range(1, 7)):
        return Law.NOT_ROLLED
    return Law.WRONG_DIRECTION


def _omission(rules: Ruleset, sides: Sides, part: Part, made: Mapping[Sides, Steps]) -> AnyLaw:
    """Return the law that a play breaks whose moves can all be made."""
    reached = _reached_boards(rules, sides, part)
    for board in made:
        if board in reached and (law := _broken_play_law(rules, sides, board, reached[board])):
            return law
    results = resulting_boards(rules, sides, part)
    moves = len(next(iter(made.values())))
    possible = max(map(len, results.values()), default=0)
    if moves == possible:
        unwanted = (
            preference.law
            for preference in rules.preferences
            if all(preference.forbids(sides, board) for board in made)
        )
        return next(unwanted, Law.HIGHER_NUMBER if len(part.numbers) == 2 else HIGHEST_SUM)
    if not moves:
        return Law.MUST_PLAY
    if not _as_in_backgammon(part):
        return AS_MANY
    return Law.WHOLE_DOUBLE if len(part.numbers) == 4 else Law.BOTH_NUMBERS


def check_dice(rules: Ruleset, dice: Sequence[int]) -> Numbers:
    """Return the dice, the highest first; raise DiceError unless they are as many as the game needs, each 1 to 6."""
    if len(dice) != rules.dice or not all(die in range(1, 7) for die in dice):
        raise DiceError(f"expected {rules.dice} dice, each 1 to 6, got {tuple(dice)!r}")
    return tuple(sorted(dice, reverse=True))


@lru_cache
def rolls(dice: int) -> tuple[tuple[Numbers, int], ...]:
    """Return every roll of this number of dice, and in how many ways it can come.

    The highest die comes first, and the rolls in the order of their highest dice: 1-1, 2-1, 2-2, 3-1 and so on.
    """
    return tuple(
        (roll, factorial(dice) // prod(map(factorial, Counter(roll).values())))
        for roll in sorted(numbers[::-1] for numbers in combinations_with_replacement(range(1, 7), dice))
    )


def parts_of(rules: Ruleset, sides: Sides, dice: Numbers, throws: int = 1) -> tuple[Sides, Turn]:
    """Return the board after a roll was noted, and what is to be played with it.

    `throws` says which roll of the turn it is.
    """
    noted = rules.on_roll(sides, dice)
    return noted, rules.divide(noted, dice, throws)


def doubles_to_name(rules: Ruleset, sides: Sides) -> tuple[int, ...]:
    """Return the doubles of which at least one move can be made."""
    return tuple(number for number in range(1, 7) if can_move(rules, sides, Part((number,))))


def turn_over(sides: Sides) -> Sides:
    """Return the board seen by the other player, without what is remembered for the length of a turn only."""
    own = fast_evolve(sides.own, head=0, held=0) if sides.own.head or sides.own.held else sides.own
    return Sides(sides.opponent, own)


def perft(rules: Ruleset, depth: int, sides: Sides | None = None) -> int:
    """Count the boards after this number of turns, over all rolls, equal boards as often as they are reached.

    Of a turn in several parts only the first is played, so that no choice between them is counted.
    """
    level = Counter({sides or rules.start(): 1})
    for turns_left in range(depth - 1, -1, -1):
        following: Counter[Sides] = Counter()
        for board, times in level.items():
            for dice, _ways in rolls(rules.dice):
                noted, turn = parts_of(rules, board, dice)
                part = next((step for step in turn if isinstance(step, Part)), None)
                for after in (part and resulting_boards(rules, noted, part)) or (noted,):
                    if not turns_left or outcome(rules, noted, after) is None:
                        following[turn_over(after)] += times
        level = following
    return level.total()
