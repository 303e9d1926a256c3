"""Accounts: names, password hashes, and the changes of ratings by finished matches."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from attrs import define, field, frozen

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU
from fibsbot.fibs_ratings import experience_factor, rating_change, winning_chance
from fibsbot.server.user_settings import UserSettings

NEW_RATING: Final = 1500.0
"""The rating of a new user, with an experience of 0."""
LISTED_EXPERIENCE: Final = 50
"""Users with more experience are on the rating list, and may invite to matches longer than SHORT_MATCH."""
SHORT_MATCH: Final = 9
"""Length of the longest match that every user may invite to."""


@frozen
class RatedPlayer:
    """A player's rating before a match."""

    name: str
    rating: float
    experience: int
    """Points of all rated matches finished so far."""

    @property
    def factor(self) -> float:
        """K of the rating formula."""
        return experience_factor(self.experience)


@define
class GameRating:
    """A user's rating in a game other than backgammon."""

    name: str
    game: str
    """The name of the game, without options."""
    rating: float = NEW_RATING
    experience: int = 0
    """Points of all rated matches of this game finished so far."""

    @property
    def rated_player(self) -> RatedPlayer:
        """The input of the rating formula."""
        return RatedPlayer(self.name, self.rating, self.experience)


@frozen
class RatingCalculation:
    """The changes of both ratings by a finished match."""

    winner: RatedPlayer
    loser: RatedPlayer
    length: int
    """N, the length of the match in points."""
    difference: float = field(init=False)
    """D."""
    upset: float = field(init=False)
    """Pu, the probability that the underdog wins."""
    probability: float = field(init=False)
    """P, the probability of the opposite result: 1 - Pu if the underdog won, else Pu."""

    @difference.default
    def _difference(self) -> float:
        return abs(self.winner.rating - self.loser.rating)

    @upset.default
    def _upset(self) -> float:
        return winning_chance(0.0, self.difference, self.length)

    @probability.default
    def _probability(self) -> float:
        return 1 - self.upset if self.winner.rating < self.loser.rating else self.upset

    @property
    def gain(self) -> float:
        """The rating points that the winner gains."""
        return self._change(self.winner)

    @property
    def loss(self) -> float:
        """The rating points that the loser loses, a positive number."""
        return self._change(self.loser)

    def _change(self, player: RatedPlayer) -> float:
        return rating_change(player.experience, self.length, self.probability)

    def lines(self) -> tuple[Message, ...]:
        """Return the block that `toggle ratings` shows, the winner first."""
        winner, loser = self.winner, self.loser
        return (
            m.RatingStart(),
            m.RatingDifference(self.difference),
            m.RatingLength(self.length),
            m.RatingExperience(winner.name, winner.experience, loser.name, loser.experience),
            m.RatingUpset(self.upset),
            m.RatingProbability(self.probability),
            m.RatingFactor(winner.name, winner.factor),
            m.RatingChange(winner.name, self.gain),
            m.RatingFactor(loser.name, loser.factor),
            m.RatingChange(loser.name, -self.loss),
        )


MIN_PASSWORD: Final = 4
PASSWORD_NOT_ASCII: Final = m.Unknown("Passwords may only contain ASCII characters.")
"""The refusal of a password with other characters: they all become `?`, so that different passwords would match."""
MAX_NAME: Final = 20
RESERVED: Final = frozenset({"guest", YOU.lower(), "none", "nobody", "all", "somebody"})
"""Names that would be ambiguous in a line of the protocol, in lower case."""

_NAME: Final = re.compile(r"[A-Za-z_]+")


@define
class Account:
    """A registered user."""

    name: str
    password: str = field(repr=False)
    """The hash from `Passwords.hash`."""
    rating: float = NEW_RATING
    experience: int = 0
    """Points of all rated matches finished."""
    email: str | None = None
    last_login: int = 0
    """Seconds since 1970 UTC; 0 is never."""
    last_logout: int = 0
    last_host: str = "-"
    settings: UserSettings = field(factory=UserSettings)
    """As last saved; a user who is logged in changes a copy."""

    @property
    def rated_player(self) -> RatedPlayer:
        """The input of the rating formula."""
        return RatedPlayer(self.name, self.rating, self.experience)


def is_valid_name(name: str) -> bool:
    """Return whether a name has only letters and underscores, and not too many (specification: "Guest Log In")."""
    return len(name) <= MAX_NAME and _NAME.fullmatch(name) is not None


def is_reserved(name: str) -> bool:
    """Return whether no user may have this name."""
    return name.lower() in RESERVED


class Passwords:
    """Salted scrypt hashes, computed outside the event loop: logins never stop the games.

    One thread verifies passwords and another one hashes new ones, so that guests who register delay no login.
    """

    def __init__(self, cost: int = 2**14) -> None:
        """Use this cost, scrypt's N; it is stored with every hash, so that it can be raised later."""
        self._cost = cost
        self._checking = ThreadPoolExecutor(1, "passwords")
        self._hashing = ThreadPoolExecutor(1, "new-passwords")
        self._decoy = _encode(cost, secrets.token_bytes(16), bytes(32))

    async def hash(self, password: str) -> str:
        """Return the hash to store instead of the password."""
        salt = secrets.token_bytes(16)
        key = await _derive(self._hashing, password, salt, self._cost)
        return _encode(self._cost, salt, key)

    async def verify(self, password: str, stored: str | None) -> bool:
        """Return whether a password matches a stored hash.

        None, for a user who does not exist, takes as long as a wrong password.
        """
        cost, salt, key = (stored or self._decoy).split("$")
        derived = await _derive(self._checking, password, base64.b64decode(salt), int(cost))
        return hmac.compare_digest(derived, base64.b64decode(key)) and stored is not None

    def close(self) -> None:
        """End the threads."""
        for executor in (self._checking, self._hashing):
            executor.shutdown(wait=True, cancel_futures=True)


async def _derive(executor: ThreadPoolExecutor, password: str, salt: bytes, cost: int) -> bytes:
    return await asyncio.get_running_loop().run_in_executor(executor, _scrypt, password.encode(), salt, cost)


def _scrypt(password: bytes, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(password, salt=salt, n=cost, r=8, p=1, maxmem=256 * cost * 8, dklen=32)


def _encode(cost: int, salt: bytes, key: bytes) -> str:
    return f"{cost}${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"
