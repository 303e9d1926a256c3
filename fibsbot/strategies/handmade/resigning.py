"""When a game is certainly lost, and how much of it.

Certain means that no throws of either side, however lucky or unlucky, change it. So only races are looked at, and the
answer comes late: a bot has no reason to hurry, and what is given away early might have been saved.
"""

from __future__ import annotations

from fibsbot.position import Position
from fibsbot.strategies.handmade.bearoff import EXACT, exact

_HOME = 6
_OPPONENTS_HOME = 18


def certain_loss(position: Position) -> int:
    """Return what the player on roll has lost for certain: 0 nothing, 1 the game, 2 a gammon, 3 a backgammon.

    Nothing also when the game is lost, but more or less than a gammon depends on the dice.
    """
    opponent = tuple(max(-n, 0) for n in position.points[24:0:-1])
    if position.over or position.contact or sum(opponent) > EXACT or any(opponent[_HOME:]):
        return 0
    turns = len(exact(opponent[:_HOME])) - 1
    if _fewest_turns(position, 0) <= turns:
        return 0
    if position.off:
        return 1
    # One more move than brings the last checker home bears one off.
    if _fewest_turns(position, _HOME, 1) <= turns:
        return 0
    if not any(n > 0 for n in position.points[_OPPONENTS_HOME + 1 :]):
        return 2
    return 3 if _fewest_turns(position, _OPPONENTS_HOME) > turns else 0


def _fewest_turns(position: Position, limit: int, more: int = 0) -> int:
    """Return the turns that bring all own checkers to `limit` or nearer, and make some moves more, if all are 6-6."""
    outside = ((point - limit, n) for point, n in enumerate(position.points) if point > limit and n > 0)
    moves = sum(-(-distance // 6) * n for distance, n in outside)
    return -(-(moves + more) // 4)
