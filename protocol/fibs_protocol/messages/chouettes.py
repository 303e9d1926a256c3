"""Messages about chouettes: seats, games, passes and the ledger.

They are those of the embedded server; FIBS has no chouettes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Self

from fibs_protocol.lazy_attrs import frozen
from fibs_protocol.messages.base import Message

_POINTS: Final = re.compile(r"[+-]?[0-9]{1,9}")
"""Points in a ledger."""


@frozen
class ChouetteNews(Message):
    """`chouette: X takes.`: what happens at a chouette's table besides the game at its board."""

    text: str


@frozen
class ChouetteTable(Message):
    """`chouette: X's table, game 3: Y in the box against Z (captain), X.`: who plays the game that is on."""

    host: str
    game: int
    box: str
    text: str
    """The other players, as `team` reads them."""

    @property
    def team(self) -> dict[str, str]:
        """The players against the box, in their order, and what they are: `captain`, `out`, `next game` or nothing."""
        entries = (entry.partition(" (") for entry in self.text.removesuffix(".").split(", "))
        return {name: mark.removesuffix(")") for name, _, mark in entries}

    @property
    def captain(self) -> str:
        """The captain; empty if the line names none."""
        return next((name for name, mark in self.team.items() if mark == "captain"), "")

    def opponent_of(self, name: str) -> str | None:
        """Return whom a player has points against: the box, or for the box the captain; None for who has none."""
        if name == self.box:
            return self.captain or None
        return self.box if self.team.get(name) in {"", "captain"} else None


@frozen
class ChouettePass(Message):
    """`chouette: X passes and loses 2 points to Y.`: a member of the team has passed the double of the box."""

    name: str
    points: int
    box: str


@frozen
class ChouetteDropout(Message):
    """`chouette: X has not played on in time and drops out at 2 points.`"""

    name: str
    points: int


@frozen
class ChouetteCaptain(Message):
    """`chouette: X is captain now.`: the captain before has dropped out of the game."""

    name: str


@frozen
class ChouetteInvitation(Message):
    """`chouette: X invites you to take a seat.`"""

    name: str


@frozen
class ChouetteSeat(Message):
    """`chouette: you have a seat at the table of X.`: at every login, too, and in answer to `chouette`."""

    host: str
    """The player who has opened the table, or who followed."""


@frozen
class ChouetteNoSeat(Message):
    """`chouette: you have no seat at a table.`"""


@frozen
class ChouetteResult(Message):
    """`chouette: game 3: X wins 2 points from Y, Z.`: how a game has ended; the ledger follows."""

    game: int
    text: str


@frozen
class ChouetteLedger(Message):
    """`chouette: ledger: X +2, Y -1, Z -1.`: what everybody has won or lost."""

    text: str

    @classmethod
    def of(cls, points: Mapping[str, int]) -> Self:
        """Return the message of these points."""
        return cls(", ".join(f"{name} {won:+d}" if won else f"{name} 0" for name, won in points.items()) + ".")

    @property
    def points(self) -> dict[str, int]:
        """The points by player; entries that cannot be read are left out."""
        entries = (entry.rsplit(" ", 1) for entry in self.text.removesuffix(".").split(", "))
        return {entry[0]: int(entry[1]) for entry in entries if len(entry) == 2 and _POINTS.fullmatch(entry[1])}


@frozen
class ChouetteLeft(Message):
    """`chouette: X leaves the table.`"""

    name: str
