"""Policy: the operator's settings about opponents and match lengths, and the facts of a match to decide about."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final, Self

from attrs import frozen

from fibsbot.games import GAMES, UnknownGameError, load_other_game
from fibsbot.match import LONGEST_MATCH
from fibsbot.rules.law_words import LawWordsError, name_same_laws, parse_law_words
from fibsbot.setting import DAY, MONTH, seconds, setting

_CODE: Final = "="
"""The first character of the codes that only programs use as client names."""
_PROGRAM: Final = re.compile(r"(?i:bot)(?![a-z])|(?i:computer)")
"""`GammonBot`, `bot_1p`, `fibsbot_2`, `RepBotNG`, `Computer_player`; not `Botticelli` or `bottle`."""
_KNOWN: Final = re.compile(r"(?i:gnubg|matchdog|montecarlo|wildbg)")
"""Programs whose names and clients do not contain `bot` or `computer`."""


def is_bot(name: str, client: str | None = None) -> bool:
    """Return whether a player seems to be a program, judging by the names of player and client."""
    if client and client.startswith(_CODE):
        return True
    return any(_PROGRAM.search(word) or _KNOWN.match(word) for word in (name, client or ""))


_SHORTEST: Final = 3
"""Length of the shortest names on FIBS."""
_RULE: Final = re.compile(r"([A-Za-z_*?]{1,20})(?::(from|to))?")


@frozen
class NamePattern:
    """A case-sensitive pattern of names with the wildcards `*` and `?`, and the invitations it applies to."""

    pattern: str
    from_them: bool = True
    """Whether it applies to invitations from them."""
    to_them: bool = True
    """Whether it applies to invitations to them."""

    @classmethod
    def parse(cls, word: str) -> Self:
        """Parse `name`, `name:from` (invitations from them) or `name:to` (to them). Raises ValueError."""
        match = _RULE.fullmatch(word)
        if match is None:
            raise ValueError(f"expected a name with * and ? as wildcards, perhaps :from or :to, got {word!r}")
        return cls(match[1], from_them=match[2] != "to", to_them=match[2] != "from")

    def matches(self, name: str) -> bool:
        """Return whether the pattern matches this name."""
        return fnmatchcase(name, self.pattern)

    def covers(self, other: NamePattern) -> bool:
        """Return whether it applies to all invitations that the other pattern applies to."""
        return (self.from_them or not other.from_them) and (self.to_them or not other.to_them)

    @property
    def matches_all(self) -> bool:
        """Whether the pattern matches every name: names have at least three characters."""
        return self.pattern.count("?") <= _SHORTEST and set(self.pattern) in ({"*"}, {"*", "?"})

    @property
    def is_name(self) -> bool:
        """Whether it matches one name only."""
        return not set(self.pattern) & {"*", "?"}

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return self.pattern + ("" if self.from_them and self.to_them else ":from" if self.from_them else ":to")


_PLAYER_NAME: Final = re.compile(r"[A-Za-z_]{1,20}")


def is_player_name(text: str) -> bool:
    """Return whether a text can be the name of a player."""
    return _PLAYER_NAME.fullmatch(text) is not None


UNLIMITED_WORD: Final = "unlimited"
_RANGE: Final = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


@frozen
class Lengths:
    """A set of match lengths."""

    ranges: tuple[tuple[int, int], ...] = ((1, 25),)
    """Shortest and longest length of each range, in points."""
    unlimited: bool = False
    """Whether unlimited matches are included."""

    @classmethod
    def parse(cls, words: Iterable[str]) -> Self:
        """Parse words such as `1-9`, `11` and `unlimited`. Raises ValueError."""
        ranges: list[tuple[int, int]] = []
        unlimited = False
        for word in words:
            if word == UNLIMITED_WORD:
                unlimited = True
                continue
            match = _RANGE.fullmatch(word)
            bounds = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
            if not 1 <= bounds[0] <= bounds[1]:
                raise ValueError(f"expected a length such as 5, 1-9 or unlimited, got {word!r}")
            ranges.append(bounds)
        return cls(tuple(sorted(ranges)), unlimited)

    def __contains__(self, length: object) -> bool:
        """Return whether a match length in points is included; 0 is unlimited."""
        if not isinstance(length, int):
            return False
        return any(least <= length <= most for least, most in self.ranges) if length else self.unlimited

    def longest(self, limit: int = LONGEST_MATCH) -> int | None:
        """Return the longest included length up to `limit`; None if there is none."""
        return max((min(most, limit) for least, most in self.ranges if least <= limit), default=None)

    @property
    def shortest(self) -> int | None:
        """The shortest included length; None if there is none."""
        return min((least for least, _ in self.ranges), default=None)

    def to_words(self) -> tuple[str, ...]:
        """Return the words that `parse` reads."""
        ranges = tuple(str(least) if least == most else f"{least}-{most}" for least, most in self.ranges)
        return ranges + ((UNLIMITED_WORD,) if self.unlimited else ())

    def __str__(self) -> str:
        """Return the lengths in English, to follow `matches of`: `1 to 9 or 11 points`."""
        ranges = [str(least) if least == most else f"{least} to {most}" for least, most in self.ranges]
        joined = " or ".join(ranges)
        parts = [f"{joined} point{'' if joined == '1' else 's'}"] if ranges else []
        return " or ".join([*parts, *(["unlimited length"] if self.unlimited else [])]) or "no length"

    @property
    def overlapping(self) -> bool:
        """Whether a length is included twice."""
        return any(one[1] >= other[0] for one, other in pairwise(self.ranges))


_EFFECT_OF_BLOCKING_ALL: Final = {
    (True, True): "nobody is played",
    (True, False): "every invitation is refused",
    (False, True): "nobody is invited",
}
"""The effect of blocking everybody, by whether invitations from them and to them are blocked."""


def _is_inverted(least: float | None, most: float | None) -> bool:
    return least is not None and most is not None and least > most


def is_game(text: str) -> bool:
    """Return whether a text names a game of the family, with options after colons."""
    try:
        load_other_game(text)
    except UnknownGameError:
        return False
    return True


def full_game_name(text: str) -> str:
    """Return the name by which the server calls a game, with the options in its order; any other text as it is."""
    try:
        return load_other_game(text).full_name
    except UnknownGameError:
        return text


ANY_GAME: Final = "any"
"""The word for all games and options."""
CHOUETTE: Final = "chouette"
"""The name of backgammon for three to six players; an invitation to it has no length."""


_DIRECTIONS: Final = "`:from` limits a name to their invitations, `:to` to ours."


ANY_LAWS: Final = "any"
"""The word for all laws."""


def names_laws(text: str) -> bool:
    """Return whether a text names laws."""
    try:
        return bool(parse_law_words(text))
    except LawWordsError:
        return False


def _are_laws(text: str) -> bool:
    return text == ANY_LAWS or names_laws(text)


@frozen
class Policy:
    """Whom to play. A refused player gets the reason; `fibsbot explain-invite` shows it to you."""

    accept: bool = setting(default=True, help="Whether to accept invitations to new matches at all.")
    lengths: Lengths = setting(
        Lengths(),
        "Match lengths to play: single lengths, ranges, unlimited.",
        example=Lengths(((1, 9), (11, 11)), unlimited=True),
    )
    laws: tuple[str, ...] = setting(
        (),
        "Other laws than those of FIBS to play by, as `invite NAME 5 laws ...` names them, or `any`; only the embedded "
        "server knows them.",
        example=("1931 point", "modern reject"),
        blanks=True,
        expected=f"the words of laws, such as 1931 point, or {ANY_LAWS}",
        check=_are_laws,
    )
    games: tuple[str, ...] = setting(
        (),
        "Games to play besides backgammon, with options after colons, `chouette`, or `any`; only the embedded server "
        "has them.",
        example=("plakoto", "tabula:free", CHOUETTE),
        expected=f"the name of a game, such as plakoto, {CHOUETTE} or {ANY_GAME}",
        check=lambda text: text in (ANY_GAME, CHOUETTE) or is_game(text),
        normal=full_game_name,
    )
    min_rating: float | None = setting(None, "Lowest rating of the other player.", minimum=0, example=1450.0)
    max_rating: float | None = setting(None, "Highest rating of the other player.", minimum=0, example=1900.0)
    min_rating_difference: float | None = setting(
        None,
        "Lowest rating of the other player, relative to the bot's own: -200 plays nobody more than 200 below it.",
        minimum=-5000,
        maximum=5000,
        example=-200.0,
    )
    max_rating_difference: float | None = setting(
        None,
        "Highest rating of the other player, relative to the bot's own.",
        minimum=-5000,
        maximum=5000,
        example=300.0,
    )
    min_experience: int | None = setting(
        None, "Lowest experience of the other player: points played on this server.", minimum=0, example=50
    )
    max_experience: int | None = setting(None, "Highest experience of the other player.", minimum=0, example=10_000)
    experience_per_point: float = setting(
        0.0, "Experience that the other player needs per point of the match; 0 asks for none.", minimum=0
    )
    block: tuple[NamePattern, ...] = setting(
        (), f"Players who are not played, not even in a saved match. {_DIRECTIONS}", example=("Quitter*", "ford:to")
    )
    allow: tuple[NamePattern, ...] = setting(
        (), f"If not empty, only these players are played. {_DIRECTIONS}", example=("arthur", "tri*:from")
    )
    bots: bool = setting(default=True, help="Whether to accept invitations of other bots.")
    bot_pause: float = seconds(
        0.0,
        "Time after a match with a bot before the next new one with any bot, so that people find the bot free.",
        minimum=0,
    )
    max_bots_per_day: int | None = setting(
        None,
        "New matches with bots, all of them together, within 24 hours; the rest of the day is for people.",
        minimum=1,
        example=10,
    )
    people: bool = setting(default=True, help="Whether to accept invitations of people.")
    max_saved_games: int | None = setting(
        None,
        "Saved games that the other player may have; if set, the server is asked for their number first.",
        minimum=0,
        example=8,
    )
    cool_down: float = seconds(
        0.0, "Time after a match before the next one with the same player.", minimum=0, maximum=MONTH
    )
    max_per_day: int | None = setting(None, "New matches with the same player within 24 hours.", minimum=1, example=5)

    def plays_by(self, words: str) -> bool:
        """Return whether the bot plays by these laws, other ones than those of FIBS."""
        if not names_laws(words):
            return False
        return any(allowed == ANY_LAWS or name_same_laws(allowed, words) for allowed in self.laws)

    def plays(self, game: str) -> bool:
        """Return whether the bot plays a game other than backgammon."""
        return (game == CHOUETTE or is_game(game)) and bool({ANY_GAME, game} & set(self.games))

    @property
    def tables_games(self) -> tuple[str, ...]:
        """The games of the family that are named, with their options; all without options if any is played."""
        return GAMES if ANY_GAME in self.games else tuple(filter(is_game, self.games))

    def warnings(self) -> tuple[str, ...]:
        """Return warnings about valid but probably mistaken settings, each beginning with the setting's name."""
        return (*self._excludes_everybody(), *self._has_no_effect())

    def _excludes_everybody(self) -> Iterator[str]:
        """Yield warnings about settings that leave nobody to play."""
        if _is_inverted(self.min_rating, self.max_rating):
            yield "min_rating is above max_rating: nobody whose rating is known is played"
        if _is_inverted(self.min_rating_difference, self.max_rating_difference):
            yield "min_rating_difference is above max_rating_difference: nobody whose rating is known is played"
        if _is_inverted(self.min_experience, self.max_experience):
            yield "min_experience is above max_experience: nobody whose experience is known is played"
        if not self.bots and not self.people:
            yield "bots and people are both false: every invitation is refused"
        if not self.lengths.ranges and not self.lengths.unlimited:
            yield "lengths is empty: no match is played"
        shortest = None if self.lengths.unlimited else self.lengths.shortest
        if shortest and _is_inverted(self.experience_per_point * shortest, self.max_experience):
            yield "experience_per_point is above max_experience even for the shortest match: nobody is played"
        for rule in self.block:
            if rule.matches_all:
                yield f"block has {rule}: {_EFFECT_OF_BLOCKING_ALL[rule.from_them, rule.to_them]}"

    def _has_no_effect(self) -> Iterator[str]:
        """Yield warnings about settings without effect."""
        if self.lengths.overlapping:
            yield "lengths names some length more than once"
        for rule in self.allow:
            if rule.is_name and any(other.matches(rule.pattern) and other.covers(rule) for other in self.block):
                yield f"allow has {rule}, whom block has, too: block counts"
        for name in self._set_for_people():
            if not self.bots:
                yield f"{name} only matters for seek.bots, because bots is false"
            if not self.people:
                yield f"{name} keeps time for people, whose invitations are refused, because people is false"
        if self.max_bots_per_day is not None and self.bot_pause * self.max_bots_per_day >= DAY:
            yield "max_bots_per_day makes no difference: bot_pause lets no more matches happen in 24 hours"
        if self.max_per_day is not None and self.cool_down * self.max_per_day >= DAY:
            yield "max_per_day makes no difference: cool_down lets no more matches happen in 24 hours"

    def _set_for_people(self) -> tuple[str, ...]:
        """Return the settings that keep time for people."""
        used = {"bot_pause": self.bot_pause > 0, "max_bots_per_day": self.max_bots_per_day is not None}
        return tuple(name for name, is_set in used.items() if is_set)


class Direction(enum.Enum):
    """The direction of an invitation."""

    THEIRS = "theirs"
    """The other player has invited the bot."""
    OURS = "ours"
    """The bot may invite the other player."""


@frozen
class MatchRequest:
    """A match that could be played, with the known facts about the other player."""

    name: str
    """The other player."""
    length: int
    """Points; 0 is unlimited."""
    direction: Direction = Direction.THEIRS
    rating: float | None = None
    experience: int | None = None
    client: str | None = None
    """The name of the other player's client."""
    laws: str = ""
    """The words of other laws than those of FIBS; empty for those."""
    game: str | None = None
    """A game other than backgammon."""
    saved_games: int | None = None
    since_last: float | None = None
    """Seconds since the end of the last match with the other player; None if none is known."""
    own_rating: float | None = None
    """The bot's own rating."""
    since_bot: float | None = None
    """Seconds since the end of the last match with any bot; None if none is known."""
    bots_today: int = 0
    """New matches with any bots that ended within the last 24 hours."""
    matches_today: int = 0
    """New matches with the other player that ended within the last 24 hours."""
    on_block_list: bool = False
    """Whether an order or a list has blocked the other player."""
    on_allow_list: bool | None = None
    """Whether the other player is on a list of those who are played; None: there is no such list."""
    paused: bool = False
    """Whether the operator wants no new matches for now."""
    finishing: bool = False
    """Whether the bot is about to log out."""


@frozen
class RefusalReason:
    """A reason why a match is not played."""

    code: str
    """Stable, for logs and programs: `length`, `rating_low`, `cool_down`; docs/reference/policy.md lists them all."""
    sentence: str
    """The sentence for the other player."""
