"""Chances: how a game may end, and what that is worth without a cube."""

from __future__ import annotations

from attrs import frozen


@frozen
class Chances:
    """How likely each end of the game is for the player."""

    win: float
    """Of any kind."""
    win_gammon: float = 0.0
    """Backgammons included."""
    win_backgammon: float = 0.0
    lose_gammon: float = 0.0
    """Backgammons included."""
    lose_backgammon: float = 0.0

    @property
    def equity(self) -> float:
        """Points that the player expects on average from a game without a cube, -3 to 3."""
        gammons = self.win_gammon + self.win_backgammon - self.lose_gammon - self.lose_backgammon
        return 2 * self.win - 1 + gammons

    def reversed(self) -> Chances:
        """Return the opponent's chances."""
        return Chances(1 - self.win, self.lose_gammon, self.lose_backgammon, self.win_gammon, self.win_backgammon)
