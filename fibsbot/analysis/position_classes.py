"""The class of a position, for many positions at once: rules of thumb, in the words of players.

The first that applies is taken. Either side may be the one that has the back game, the prime or the attack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from fibsbot.engine.arrays import BAR, Boards, Bools, boards_of, have_passed, swapped
from fibsbot.position import Position
from fibsbot.transcript import Decision

CLASSES: Final = {
    "bear-off": "Without contact, all checkers of the player are home",
    "race": "Without contact",
    "opening": "The first four turns of a game",
    "contact bear-off": "One side has all checkers home, and the other can still hit",
    "back game": "A side holds two points or more in the other's home board and is 30 pips behind",
    "prime": "A side blocks five of six points in a row before a checker of the other",
    "blitz": "A side with ten checkers on its points 1 to 11 attacks at least two that have no anchor",
    "holding": "A side holds its 18, 20, 21 or 22 point and no deeper one, and the other has no checker back",
    "middle game": "Everything else",
}
"""All classes with their rules, in order."""
OTHER: Final = "other"
"""The class of positions in games with another board than backgammon's."""
OPENING_TURNS: Final = 4
BEHIND: Final = 30
PRIME: Final = 5
ATTACKERS: Final = 10

_PIPS: Final = np.arange(BAR + 1)
_NAMES: Final = np.array(list(CLASSES), object)


def position_classes(boards: Boards, turns: npt.NDArray[np.integer]) -> npt.NDArray[np.object_]:
    """Return the class of each position, seen by the player on roll; `turns` are their turns in the game, from 1."""
    views = (boards, swapped(boards))
    passed = have_passed(boards)
    home = [~(view[:, 7:] > 0).any(axis=1) for view in views]
    rules = [
        passed & home[0],
        passed,
        turns <= OPENING_TURNS,
        home[0] | home[1],
        _either(_has_back_game, views),
        _either(_has_prime, views),
        _either(_attacks, views),
        _either(_holds, views),
    ]
    return np.asarray(_NAMES[np.select(rules, np.arange(len(rules)), len(rules))])


def classes_of(decisions: Iterable[Decision]) -> list[str]:
    """Return the class of the position of each decision; OTHER in games with another board than backgammon's."""
    made = [(decision.state.board, decision.step.turn) for decision in decisions]
    of_backgammon = [(board, turn) for board, turn in made if isinstance(board, Position)]
    boards, turns = boards_of(board for board, _ in of_backgammon), np.array([turn for _, turn in of_backgammon], int)
    classes = iter(position_classes(boards, turns).tolist())
    return [next(classes) if isinstance(board, Position) else OTHER for board, _ in made]


def _either(rule: Callable[[Boards], Bools], views: tuple[Boards, Boards]) -> Bools:
    return rule(views[0]) | rule(views[1])


def _has_back_game(boards: Boards) -> Bools:
    pips = boards.astype(np.int32).clip(0) @ _PIPS
    theirs = (-boards.astype(np.int32)).clip(0) @ (BAR - _PIPS)
    return np.asarray(((boards[:, 19:BAR] > 1).sum(axis=1) > 1) & (pips - theirs >= BEHIND))


def _has_prime(boards: Boards) -> Bools:
    """Return whether five of six points in a row are held, with a checker of the other side behind them."""
    held = (boards[:, 1:BAR] > 1).astype(np.int8)
    behind = np.cumsum(boards[:, :BAR] < 0, axis=1) > 0  # a checker of the other side on this point or nearer
    found = np.zeros(len(boards), np.bool_)
    for first in range(1, 20):
        found |= (held[:, first - 1 : first + 5].sum(axis=1) >= PRIME) & behind[:, first - 1]
    return found


def _attacks(boards: Boards) -> Bools:
    zone = boards[:, 1:12].clip(0).sum(axis=1) >= ATTACKERS
    back = -boards[:, :7].clip(max=0).sum(axis=1) >= 2
    anchor = (boards[:, 1:7] < -1).any(axis=1)
    return np.asarray(zone & back & ~anchor)


def _holds(boards: Boards) -> Bools:
    anchor = (boards[:, [18, 20, 21, 22]] > 1).any(axis=1)
    deeper = (boards[:, 23:] > 0).any(axis=1)
    escaped = ~(boards[:, :7] < 0).any(axis=1)
    return np.asarray(anchor & ~deeper & escaped)
