"""The rows of the store as frozen classes. All times are UTC."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from attrs import field, frozen

Score: TypeAlias = tuple[int, int]
"""Ours first."""
BACKGAMMON: Final = "backgammon"
"""The name of the game of which the store has no name."""
CHOUETTE: Final = "chouette"
"""The name under which the store has each game of a chouette as a match; the same as in `policy.games`."""


class MatchOutcome(enum.Enum):
    """The outcome of a match."""

    PLAYING = "playing"
    SAVED = "saved"
    """Interrupted; the server keeps it."""
    WON = "won"
    LOST = "lost"
    UNSEEN = "unseen"
    """Over, or removed by the server, while we were away."""

    @property
    def open(self) -> bool:
        """Whether the match may be resumed."""
        return self in OPEN


OPEN: Final = (MatchOutcome.PLAYING, MatchOutcome.SAVED)
FINISHED: Final = (MatchOutcome.WON, MatchOutcome.LOST)


class Fact(enum.Enum):
    """Events with an opponent that are counted. They are facts, not judgements."""

    INVITED = "invited"
    """They invited us."""
    ACCEPTED = "accepted"
    """We accepted their invitation."""
    DECLINED = "declined"
    """We refused their invitation."""
    ASKED = "asked"
    """We invited them."""
    REFUSED = "refused"
    """They refused our invitation."""
    STARTED = "started"
    """A match began."""
    RESUMED = "resumed"
    """A saved match went on."""
    LEFT = "left"
    """They left a match, which was saved."""
    DROPPED = "dropped"
    """A match broke off because they were gone without having left it: logged out, timed out, disconnected."""
    SWAPPED = "swapped"
    """A match began that was not the one agreed on."""
    FINISHED = "finished"
    """A match was played to its end."""
    STUCK = "stuck"
    """A match was given up, because the server could not go on with it."""


@frozen
class StoredMatch:
    """A match, finished or not."""

    id: int
    account: str
    opponent: str
    length: int | None
    """Points, 0 for unlimited; None where we never learnt it."""
    started: dt.datetime
    seen: dt.datetime
    """When anything was last seen of it."""
    ended: dt.datetime | None
    """None while it may be resumed; if we did not see its end, when we learnt of it."""
    outcome: MatchOutcome
    inferred: bool
    """Whether the winner was inferred from our rating, because we did not see the end."""
    score: Score | None
    """As last seen."""
    resumed: int
    """How often it was resumed."""
    why: str | None
    """Why it was interrupted; None while it is played, or if it is over."""
    rating_before: float | None
    """Our rating when it began, or was last resumed."""
    experience_before: int | None
    rating_after: float | None
    """Our rating after its end; None until the server reports it."""
    experience_after: int | None
    opponent_rating: float | None = None
    """The opponent's rating when it began."""
    opponent_experience: int | None = None
    site: str | None = None
    """Where it was played: a server's name or address."""
    game: str | None = None
    """The name of a game other than backgammon, with options after colons; None for backgammon."""

    @property
    def finished(self) -> bool:
        """Whether it was played to its end with a known winner."""
        return self.outcome in FINISHED

    @property
    def won(self) -> bool | None:
        """Whether we won; None for a match that is not finished."""
        return self.outcome is MatchOutcome.WON if self.finished else None

    @property
    def gain(self) -> float | None:
        """The change of our rating in backgammon."""
        if self.rating_before is None or self.rating_after is None:
            return None
        return self.rating_after - self.rating_before


@frozen
class StoredGame:
    """A game of a match."""

    id: int
    match_id: int
    number: int
    """Counted from 1, as far as we saw them."""
    started: dt.datetime
    ended: dt.datetime | None
    """None for one that is played, or part of a saved match."""
    won: bool | None
    """Whether we won; None if the game is not over, was drawn, or its end was not seen."""
    points: int | None
    """0 for a drawn game."""
    how: str | None
    """The message that reported the end, such as `game_won`, `gave_up` or `resign_accepted`."""
    cube: int | None
    """The value of the cube at the end."""
    inferred: bool
    """Whether we did not see the end; winner and points are then taken from the score, if possible."""

    @property
    def drawn(self) -> bool:
        """Whether nobody won it."""
        return self.won is None and self.points == 0


@frozen
class StoredDecision:
    """A decision of ours."""

    id: int
    game_id: int
    at: dt.datetime
    """When the answer was ready."""
    sitting: int
    """How often the match had been resumed by then; turns are counted from 0 each time."""
    turn: int | None
    """Rolls and passes of the game before it, as far as we saw them."""
    phase: str
    """`roll`, `move`, `doubled` or `resigned`."""
    xgid: str | None
    """The position; None if XGID cannot express it."""
    table_text: str | None
    """The position in a game other than backgammon, as fibsbot/games/sides_text.py writes it; None in backgammon."""
    dice: tuple[int, ...] | None
    """Two, or as many as the game has."""
    offer: int | None
    """The offered cube value, the points offered, or the lowest level at which we may resign."""
    answer: str
    """In notation: a play, or one word."""
    equity: float | None
    """The strategy's estimate, if it gives one."""
    seconds: float | None
    """From when the decision was seen to its answer."""
    fallback: str | None
    """Why the answer is not the strategy's own; None if it is."""
    refused: str | None
    """The server's message if it refused the answer; None if it accepted it."""


@frozen
class StoredAction:
    """An action of either player in a game other than backgammon, in a store of the time when these had no sheets."""

    id: int
    game_id: int
    at: dt.datetime
    sitting: int
    """How often the match had been resumed by then."""
    number: int
    """Counts the actions of a game from 1, as far as they were seen."""
    own: bool
    """Whether it is ours."""
    text: str
    """A part of a turn as `32: 24/19`, or words."""


@frozen
class RatingPoint:
    """An account's rating at a time."""

    account: str
    at: dt.datetime
    rating: float
    experience: int


@frozen
class StoredConnection:
    """A connection, or a failed attempt."""

    account: str
    logged_in: dt.datetime | None
    """None for an attempt that never got so far."""
    lost: dt.datetime | None
    """None while it is open, or if the process ended before it could record it."""
    state: str | None
    """How far it was when it was lost, as protocol/fibs_protocol/session.py calls it."""
    reason: str | None
    """Why it was lost."""


@frozen
class FactCount:
    """How often something happened."""

    times: int
    first: dt.datetime
    last: dt.datetime


@frozen
class StoredOpponent:
    """A player whom an account has met."""

    account: str
    name: str
    first_seen: dt.datetime
    last_seen: dt.datetime
    rating: float | None
    """As last known, like experience and client."""
    experience: int | None
    client: str | None
    """The name of the program that they use."""
    facts: Mapping[Fact, FactCount] = field(factory=dict)
    """Counts of what has happened between the two; zero counts are left out."""

    def times(self, fact: Fact) -> int:
        """Return how often something happened."""
        tally = self.facts.get(fact)
        return tally.times if tally else 0


class PlayerMemory(NamedTuple):
    """An account's memory of a player."""

    matches: tuple[dt.datetime, ...] = ()
    """Ends of matches that were played to their end, oldest first."""
    refused: dt.datetime | None = None
    """When the player last refused an invitation of ours."""
    broke_off: dt.datetime | None = None
    """When the saved match with the player was last seen."""
    stuck: dt.datetime | None = None
    """When the last match was given up, because the server could not continue it."""
