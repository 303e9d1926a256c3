"""What an operator has decided about whom to play, and what a decision is made from."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Final

from attrs import field, frozen
from attrs.validators import ge, optional

from fibsbot.policy.lengths import Lengths
from fibsbot.policy.names import NameRule

_DAY: Final = 86_400.0
"""Seconds."""
_WHO: Final = {
    (True, True): "nobody is played",
    (True, False): "every invitation is refused",
    (False, True): "nobody is invited",
}
"""What it means that everybody is blocked, by whether their invitations and ours are."""


def _crossed(least: float | None, most: float | None) -> bool:
    return least is not None and most is not None and least > most


@frozen
class Policy:
    """Whom we play, and how long. What is None is not limited."""

    accept: bool = True
    """Whether to accept invitations to new matches at all."""
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
    """Who is not played, not even a saved match."""
    allow: tuple[NameRule, ...] = ()
    """If there are any, nobody else is played; those about one direction do not limit the other."""
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

    def useless(self) -> tuple[str, ...]:
        """Return what is allowed, but cannot be meant, a sentence each that begins with the setting's name."""
        return (*self._nobody(), *self._nothing_added())

    def _nobody(self) -> Iterator[str]:
        """Yield what leaves nobody to play."""
        if _crossed(self.min_rating, self.max_rating):
            yield "min_rating is above max_rating: nobody whose rating is known is played"
        if _crossed(self.min_experience, self.max_experience):
            yield "min_experience is above max_experience: nobody whose experience is known is played"
        if not self.bots and not self.people:
            yield "bots and people are both false: every invitation is refused"
        if not self.lengths.spans and not self.lengths.unlimited:
            yield "lengths is empty: no match is played"
        shortest = None if self.lengths.unlimited else self.lengths.shortest
        if shortest and _crossed(self.experience_per_point * shortest, self.max_experience):
            yield "experience_per_point is above max_experience even for the shortest match: nobody is played"
        for rule in self.block:
            if rule.fits_all:
                yield f"block has {rule}: {_WHO[rule.theirs, rule.ours]}"

    def _nothing_added(self) -> Iterator[str]:
        """Yield what makes no difference."""
        if self.lengths.overlapping:
            yield "lengths names some length more than once"
        for rule in self.allow:
            if rule.is_name and any(other.fits(rule.pattern) and other.covers(rule) for other in self.block):
                yield f"allow has {rule}, whom block has, too: block counts"
        if self.max_per_day is not None and self.cool_down * self.max_per_day >= _DAY:
            yield "max_per_day makes no difference: cool_down lets no more matches happen in 24 hours"


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
    """New matches with the other that ended within the last 24 hours."""
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
