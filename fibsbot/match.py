"""MatchState: everything a decision depends on besides the players' names, seen by the player who decides.

And what can be decided besides plays: CubeAction.
"""

from __future__ import annotations

import enum
from typing import Final, TypeAlias

from attrs import frozen

from fibsbot.evolve import evolve
from fibsbot.position import Position

Dice: TypeAlias = tuple[int, ...]
"""A roll, each die 1 to 6: two dice in backgammon and nearly all other games."""

ROLLS: Final[tuple[Dice, ...]] = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""The 21 rolls, the high number first: 1-1, 2-1, 2-2, 3-1 and so on."""
ROLL_WAYS: Final = tuple(1 if high == low else 2 for high, low in ROLLS)
"""How many of the 36 results of two dice give each of the ROLLS."""
PIPS_PER_ROLL: Final = 49 / 6
"""What a roll moves on average, doubles counted four times."""
LONGEST_MATCH: Final = 99
"""Length of the longest match on FIBS."""


class Owner(enum.Enum):
    """Who may turn the cube."""

    CENTRED = 0
    PLAYER = 1
    OPPONENT = -1


class Phase(enum.Enum):
    """What the player has to decide."""

    ROLL = "roll"
    """Double or roll: on turn, before the roll."""
    MOVE = "move"
    """Which play: after the roll."""
    DOUBLED = "doubled"
    """Take, pass or beaver: the opponent has doubled. The cube still shows the old value."""
    RESIGNED = "resigned"
    """Accept or reject: the opponent wants to resign."""


class CubeAction(enum.Enum):
    """Actions with the cube."""

    ROLL = "roll"
    DOUBLE = "double"
    TAKE = "take"
    PASS = "pass"  # noqa: S105 - a cube action
    BEAVER = "beaver"
    """Take and redouble at once; a raccoon or otter when it answers a beaver or raccoon."""


@frozen(slots=False)
class MatchState:
    """A decision in a match, seen by the player who has to make it ("the player")."""

    position: Position
    length: int = 0
    """Match length in points; 0 is unlimited (money)."""
    score: tuple[int, int] = (0, 0)
    """Points of the player and of the opponent."""
    cube: int = 1
    """The value that the game is played for now."""
    owner: Owner = Owner.CENTRED
    crawford: bool = False
    """Whether this is the Crawford game."""
    post_crawford: bool = False
    """Whether the Crawford game has been played."""
    phase: Phase = Phase.ROLL
    dice: Dice | None = None
    """The player's dice in phase MOVE."""
    resignation: int = 0
    """In phase RESIGNED, what the opponent offers: 1 single, 2 gammon, 3 backgammon."""
    jacoby: bool = False
    """Whether gammons count only after a double (unlimited matches)."""
    redoubles: int = 0
    """How many instant redoubles (beaver, raccoon, otter) are still allowed in this exchange (unlimited matches)."""
    redoubled: bool | None = None
    """In phase DOUBLED, whether the opponent has redoubled the player's own double at once (beaver, raccoon), so that
    the player is on roll; None if that is not known."""
    cubeless: bool = False
    """Whether the match is played without a cube; nobody is asked to double then."""
    triple: bool = True
    """Whether a backgammon counts three times; otherwise it counts as a gammon."""
    point_game: bool = False
    """Whether the winner scores for each checker that the loser has left instead (law 21 of 1931)."""
    may_reject: bool = False
    """In phase MOVE, whether the player may reject the roll, which doubles the centred cube, and roll again."""
    cube_limit: int | None = None
    """The highest value of the cube; None is no limit that matters."""

    @property
    def away(self) -> tuple[int, int]:
        """What player and opponent still need; (0, 0) in an unlimited match."""
        if not self.length:
            return (0, 0)
        return (self.length - self.score[0], self.length - self.score[1])

    @property
    def may_double(self) -> bool:
        """Whether the player may double before the roll, as far as cube, score and the Crawford rule say."""
        dead = bool(self.length) and self.score[0] + self.cube >= self.length
        return self.owner is not Owner.OPPONENT and self.cube_turns and not dead

    @property
    def cube_turns(self) -> bool:
        """Whether the cube can be turned at all: not in the Crawford game, nor without a cube, nor at its limit."""
        return not (self.crawford or self.cubeless or (self.cube_limit and 2 * self.cube > self.cube_limit))

    def swapped(self) -> MatchState:
        """Return the same match seen by the other player; phase, dice and offers are left as they are."""
        return evolve(self, position=self.position.swapped(), score=self.score[::-1], owner=Owner(-self.owner.value))
