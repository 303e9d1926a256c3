"""What an operator has decided about whom to play, and what a decision is made from."""

from __future__ import annotations

import enum

from attrs import field, frozen
from attrs.validators import ge, optional

from fibsbot.policy.lengths import Lengths
from fibsbot.policy.names import NameRule


@frozen
class Policy:
    """Whom we play, and how long. What is None is not limited."""

    accept: bool = True
    """Whether to accept invitations at all."""
    lengths: Lengths = field(factory=Lengths)
    """Lengths of the matches that we play, whoever invites."""
    min_rating: float | None = None
    max_rating: float | None = None
    min_experience: int | None = None
    """Points that the other has played on this server."""
    max_experience: int | None = None
    experience_per_point: float = field(default=0.0, validator=ge(0))
    """The other's experience must be at least so many times the length of the match."""
    block: tuple[NameRule, ...] = ()
    """Who is not played."""
    allow: tuple[NameRule, ...] = ()
    """If there are any, nobody else is played."""
    bots: bool = True
    """Whether to accept invitations of other bots."""
    people: bool = True
    """Whether to accept invitations of people."""
    max_saved_games: int | None = field(default=None, validator=optional(ge(0)))
    """The other's saved games, at most (`show savedcount`); asked for only if this is set."""
    cool_down: float = field(default=0.0, validator=ge(0))
    """Seconds after a match before the next one with the same opponent."""
    max_per_day: int | None = field(default=None, validator=optional(ge(1)))
    """New matches with the same opponent within 24 hours."""


class Direction(enum.Enum):
    """Who invites whom."""

    THEIRS = "theirs"
    """The other has invited us."""
    OURS = "ours"
    """We think of inviting the other."""


@frozen
class Request:
    """A match that could be played, with everything that is known about it."""

    name: str
    """The other player."""
    length: int
    """Points; 0 is unlimited."""
    direction: Direction = Direction.THEIRS
    rating: float | None = None
    experience: int | None = None
    client: str | None = None
    """What the other's program calls itself."""
    saved_games: int | None = None
    since_last: float | None = None
    """Seconds since our last match with the other ended; None if there was none that we remember."""
    matches_today: int = 0
    """Matches with the other that ended within the last 24 hours."""
    paused: bool = False
    """Whether the operator wants no new matches for now."""
    finishing: bool = False
    """Whether we are about to log out."""


@frozen
class Reason:
    """Why a match is not played."""

    code: str
    """Stable, for logs and programs: `length`, `rating_low`, `cool_down`; docs/policy.md lists them all."""
    sentence: str
    """For the other player."""
