"""The chances of the player on roll in any position."""

from __future__ import annotations

from fibsbot.position import CHECKERS, Position
from fibsbot.strategies.handmade.chances import Chances
from fibsbot.strategies.handmade.contact import contact_chances
from fibsbot.strategies.handmade.race import race_chances


def chances(position: Position) -> Chances:
    """Return the chances of the player on roll, who is about to throw."""
    if position.opponent_off == CHECKERS:
        return _lost(position)
    if position.off == CHECKERS:
        return _lost(position.swapped()).reversed()
    if position.contact:
        return contact_chances(position)
    cells = position.points
    own = tuple(max(n, 0) for n in cells[1:25])
    opponent = tuple(max(-n, 0) for n in cells[24:0:-1])
    return race_chances(own, opponent)


def _lost(position: Position) -> Chances:
    """Return what a player has lost whose opponent has no checker left."""
    gammon = float(position.off == 0)
    backgammon = float(gammon and any(n > 0 for n in position.points[19:]))
    return Chances(0.0, lose_gammon=gammon, lose_backgammon=backgammon)
