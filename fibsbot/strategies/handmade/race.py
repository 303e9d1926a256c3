"""Races: contact is over, and each side bears off for itself."""

from __future__ import annotations

from typing import Final

from fibsbot.position import CHECKERS
from fibsbot.strategies.handmade.bearoff import Counts, chance_first, to_bear_off, to_reach
from fibsbot.strategies.handmade.chances import Chances

_HOME: Final = 6
_OPPONENTS_HOME: Final = 18
"""Beyond this point a checker costs a backgammon."""


def race_chances(own: Counts, opponent: Counts) -> Chances:
    """Return the chances of the player on roll; each row counts checkers on the points 1 to 24 of its own side."""
    finish, opponent_finish = to_bear_off(own), to_bear_off(opponent)
    win = chance_first(finish, opponent_finish)
    win_gammon = lose_gammon = win_backgammon = lose_backgammon = 0.0
    if sum(opponent) == CHECKERS:
        win_gammon = min(win, chance_first(finish, to_reach(_HOME, opponent)))
        if any(opponent[_OPPONENTS_HOME:]):
            win_backgammon = min(win_gammon, chance_first(finish, to_reach(_OPPONENTS_HOME, opponent)))
    if sum(own) == CHECKERS:
        lose_gammon = min(1 - win, 1 - chance_first(to_reach(_HOME, own), opponent_finish))
        if any(own[_OPPONENTS_HOME:]):
            reached = to_reach(_OPPONENTS_HOME, own)
            lose_backgammon = min(lose_gammon, 1 - chance_first(reached, opponent_finish))
    return Chances(win, win_gammon, win_backgammon, lose_gammon, lose_backgammon)
