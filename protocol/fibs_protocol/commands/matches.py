"""Commands of matches: invitations, watching, play (specification: "Game Commands")."""

from __future__ import annotations

import enum

from fibs_protocol.commands.base import Command
from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.words import FibsMove


class ResignLevel(enum.Enum):
    """The level of a resignation, as an argument of `resign`."""

    NORMAL = "n"
    GAMMON = "g"
    BACKGAMMON = "b"

    @classmethod
    def of(cls, multiplier: int) -> ResignLevel:
        """Return the level that counts as much: 1, 2 or 3 times the cube."""
        return tuple(cls)[multiplier - 1]

    @property
    def multiplier(self) -> int:
        """How often the cube counts: 1, 2 or 3."""
        return tuple(ResignLevel).index(self) + 1


@frozen
class Invite(Command):
    """`invite X 5`, `invite X unlimited`, `invite X` (resume the saved match)."""

    name: str
    length: int | None = None
    """Points, UNLIMITED, or None to resume."""


@frozen
class InviteToGame(Invite):
    """`invite X 3 plakoto:exception`: to a match of a game other than backgammon (only this project's server)."""

    game: str = ""
    """Its name, with options after colons."""


@frozen
class InviteByLaws(Invite):
    """`invite X 5 laws 1931 point`: to a match by other laws than those of FIBS (only this project's server)."""

    laws: str = ""
    """The words after `laws`."""


@frozen
class Join(Command):
    """`join X`, or `join` for the next game."""

    name: str | None = None


@frozen
class Leave(Command):
    """`leave`: break the match off; it is saved."""


@frozen
class Chouette(Command):
    """`chouette`, `chouette open`, `chouette join X` and so on: a table for three to six players (ours, not FIBS')."""

    argument: str | None = None


@frozen
class Watch(Command):
    """`watch X`"""

    name: str | None = None


@frozen
class Unwatch(Command):
    """`unwatch`"""


@frozen
class Look(Command):
    """`look X`"""

    name: str | None = None


@frozen
class Oldboard(Command):
    """`oldboard X`"""

    name: str | None = None


@frozen
class Oldmoves(Command):
    """`oldmoves X`"""

    name: str | None = None


@frozen
class Roll(Command):
    """`roll`"""


@frozen
class Move(Command):
    """`move bar-22 13-7`: the whole turn, in the server's numbering.

    In games other than backgammon a part of the turn, in the player's own numbering; the hand is `bar`.
    """

    moves: tuple[FibsMove, ...]


@frozen
class EmptyMove(Command):
    """`move` alone. Servers pass a turn that cannot be played by themselves; one that has forgotten to is reminded."""


@frozen
class Rethrow(Command):
    """`rethrow`: reject the first roll, which doubles the cube; only where the laws of the match allow it."""


@frozen
class Off(Command):
    """`off`: bear off with every number rolled."""


@frozen
class ShowBoard(Command):
    """`board`: send the board again."""


@frozen
class Pip(Command):
    """`pip`"""


@frozen
class Double(Command):
    """`double`"""


@frozen
class Accept(Command):
    """`accept` a double or a resignation."""


@frozen
class Reject(Command):
    """`reject` a double or a resignation."""


@frozen
class Redouble(Command):
    """`redouble`: accept a double and double at once."""


@frozen
class Beaver(Command):
    """`beaver`: the first redouble."""


@frozen
class Raccoon(Command):
    """`raccoon`: the second redouble."""


@frozen
class Otter(Command):
    """`otter`: the third redouble."""


@frozen
class Resign(Command):
    """`resign n`, `resign g`, `resign b`"""

    level: ResignLevel


@frozen
class Panic(Command):
    """`panic`: save the game for the server's author."""
