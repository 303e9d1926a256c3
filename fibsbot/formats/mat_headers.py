"""The headers above the games of a `.mat` file: `; [Key "value"]`, as XG writes it and gnubg keeps it.

What we know of a match has a key that XG knows. Whatever else a file says is kept as it is, under its own key. Some
keys are our own, for what the games cannot say:

| key | value |
|---|---|
| `Transcript ID` | the match's own number, where it is none that XG could read from `Match ID` |
| `Start N` | what is not seen in game N's scores: `cube 2`, `Crawford`, `after Crawford`, `set-up -b--...` |
| `Points N` | points that a file says and no cube and level make; game N counts what they can mean |
| `Gap N` | what is missing in game N, which has only its result then |
| `Rejected N` | resignations that were rejected |
| `Rethrown N` | first rolls that were rejected; `Start N` has the cube after them |
| `Laws` | the laws of the match, if other programs cannot know them |
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import define, evolve, field

from fibsbot.formats import FormatError, single_line
from fibsbot.formats.match_laws import name_of_setup, reading_laws, setup_of_name, unusual_setup, with_named_laws
from fibsbot.position import Position
from fibsbot.rules.law_words import is_by_other_laws, law_words
from fibsbot.rules.laws import Laws
from fibsbot.rules.state import Stage
from fibsbot.transcript import Player, Transcript

COMMENT: Final = "Comment"
"""In `Transcript.tags`: lines of comment that have no key."""
NAMELESS: Final = "?"
LONGEST_NAME: Final = 31
"""Bytes; gnubg has no room for more."""
LONGEST_KEY: Final = 80
LONGEST_VALUE: Final = 400
"""Characters; gnubg reads lines of 1,023 bytes, and a character may have two or more."""

_TAG: Final = re.compile(r'\[([^"\[\]]+?)[ \t]*"(.*)"[ \t]*\]')
_DATE: Final = re.compile(r"([0-9]{4})[./-]([0-9]{1,2})[./-]([0-9]{1,2})")
_TIME: Final = re.compile(r"([0-9]{1,2})[.:]([0-9]{2})")
_ELO: Final = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,6})?)(?:/([0-9]{1,9}))?")
_XG_NUMBER: Final = re.compile(r"-?[0-9]{1,9}")
_VARIATIONS: Final = ("", "backgammon", "standard")
USUAL_VARIATION: Final = "Backgammon"


def column_name(name: str) -> str:
    """Return a player's name as it can stand above a game, where `:` ends it and gnubg takes `,1650` for a rating."""
    safe = re.sub(r",(?=[ +]*[0-9])", ";", single_line(name).replace(":", ";"))
    return safe.encode()[:LONGEST_NAME].decode(errors="ignore").strip() or NAMELESS


def write_headers(transcript: Transcript, notes: Mapping[str, str]) -> list[str]:
    """Return the lines; `notes` are our own keys about single games."""
    tags = dict(_standard_headers(transcript))
    for key, value in (*transcript.tags.items(), *notes.items()):
        if key != COMMENT and (name := _safe_key(key)):
            tags.setdefault(name, _clipped_text(value))
    comments = [_comment(line) for line in transcript.tags.get(COMMENT, "").split("\n")]
    return [*(f'; [{key} "{value}"]' for key, value in tags.items()), *(f"; {line}" for line in comments if line)]


def _clipped_text(value: str) -> str:
    return single_line(value)[:LONGEST_VALUE].strip()


def _safe_key(key: str) -> str:
    """Return a key that can be read again; gnubg stumbles over those that begin with `Game `."""
    name = single_line(re.sub(r'["\[\]]', " ", key))[:LONGEST_KEY].strip()
    return re.sub(r"^Game ", "game ", name)


def _comment(line: str) -> str:
    """Return a line of comment that is not taken for a header."""
    text = _clipped_text(line).lstrip(";# ")
    return _clipped_text(f"- {text}") if text.startswith("[") else text


def _standard_headers(transcript: Transcript) -> Iterator[tuple[str, str]]:
    """Yield what XG has keys for, in its own order, and our own number of the match."""
    number = _clipped_text(transcript.match_id) or NAMELESS
    if transcript.site and (site := _clipped_text(transcript.site)):
        yield "Site", site
    yield "Match ID", _xg_match_number(number)
    for place, player in enumerate(transcript.players, 1):
        yield f"Player {place}", _clipped_text(player.name) or NAMELESS
    for place, player in enumerate(transcript.players, 1):
        if player.rating is not None:
            experience = "" if player.experience is None else f"/{player.experience}"
            yield f"Player {place} Elo", f"{player.rating:.2f}{experience}"
    if transcript.started:
        started = transcript.started.astimezone(dt.UTC)
        yield "EventDate", f"{started.year:04}.{started.month:02}.{started.day:02}"
        if (time := f"{started.hour:02}.{started.minute:02}") != "00.00":  # midnight: only the day is known
            yield "EventTime", time
    yield "Variation", variation_of(transcript)
    if laws := next((game.start.laws for game in transcript.games if is_by_other_laws(game.start.laws)), None):
        yield "Laws", law_words(laws)
    yield from _law_headers(transcript)
    if _xg_match_number(number) != number:
        yield "Transcript ID", number


def variation_of(transcript: Transcript) -> str:
    """Return the variation of a match: that of its games, if the set-up of all is the same and has a name."""
    setups = {unusual_setup(game.start) for game in transcript.games if game.start.stage is Stage.OPENING}
    (setup,) = setups if len(setups) == 1 else (None,)
    return (name_of_setup(setup) if setup else None) or USUAL_VARIATION


def _law_headers(transcript: Transcript) -> Iterator[tuple[str, str]]:
    laws = [game.start.laws for game in transcript.games]
    if transcript.length:
        yield "Crawford", _on(all(game_laws.crawford for game_laws in laws))
    else:
        yield "Jacoby", _on(any(game_laws.jacoby for game_laws in laws))
        yield "Beaver", _on(any(game_laws.redoubles for game_laws in laws))
    if laws and not laws[0].cube:
        yield "CubeLimit", "1"
    elif laws and laws[0].cube_limit is not None:
        yield "CubeLimit", str(laws[0].cube_limit)


def _on(value: object) -> str:
    return "On" if value else "Off"


def _xg_match_number(number: str) -> str:
    """Return a match's number as XG has it, which keeps it in 32 bits."""
    if _XG_NUMBER.fullmatch(number):
        return number
    digest = hashlib.sha256(number.encode(errors="replace")).digest()
    return str(int.from_bytes(digest[:4], "big") % 10**9)


@define
class Headers:
    """The headers of a file; those that are understood are removed from `tags`."""

    tags: dict[str, str] = field(factory=dict)
    comments: list[str] = field(factory=list)
    beavers: bool = False
    """Whether the file allows instant redoubles."""
    setup: Position | None = None
    """The set-up of all games; None for the usual one."""

    def add(self, line: str) -> None:
        """Add a line, without its `;`."""
        text = line.strip(" \t")
        tag = _TAG.fullmatch(text)
        if tag and (key := _safe_key(tag[1])):
            self.tags[key] = _clipped_text(tag[2])
        elif text:
            self.comments.append(text)

    def note(self, key: str, game: int) -> str | None:
        """Return one of our own notes on a game. It stays in `tags`, so that all are written in their order again."""
        return self.tags.get(f"{key} {game}")

    def laws(self, length: int, line: int) -> tuple[Laws, bool]:
        """Return the laws, and whether an unlimited match may turn out to be played with the Jacoby rule.

        Sets `setup`, too. `line` is where the games begin. Raises FormatError for another game than backgammon.
        """
        variation = self.tags.pop("Variation", "")
        if variation.strip().lower() not in _VARIATIONS:
            self.setup = setup_of_name(variation)
        if variation.strip().lower() not in _VARIATIONS and self.setup is None:
            raise FormatError(f"line {line}: expected a match of backgammon, got one of {variation[:80]!r}")
        crawford, jacoby, beaver = (self._switch(key) for key in ("Crawford", "Jacoby", "Beaver"))
        limit = self._limit()
        laws = reading_laws(length, crawford=crawford is not False, jacoby=jacoby is True, cube=limit != 1)
        self.beavers = bool(beaver) and not length
        laws = with_named_laws(laws, self.tags.pop("Laws", ""))
        return evolve(laws, cube_limit=limit if limit != 1 else None), not length and jacoby is None

    def _switch(self, key: str) -> bool | None:
        value = self.tags.get(key, "").strip().lower()
        if value not in {"on", "off"}:
            return None
        del self.tags[key]
        return value == "on"

    def _limit(self) -> int | None:
        value = self.tags.get("CubeLimit", "").strip()
        if not re.fullmatch("[0-9]{1,9}", value) or not int(value):
            return None
        del self.tags["CubeLimit"]
        return int(value)

    def transcript(self, names: Sequence[str], ratings: Sequence[str], length: int) -> Transcript:
        """Return the match without its games; names and ratings are those above the first game, empty without one."""
        started = self._started()
        places = self._places(names)
        first, second = (self._player(*stated) for stated in zip(places, names, ratings, strict=True))
        number = self.tags.pop("Match ID", "").strip()
        number = self.tags.pop("Transcript ID", "").strip() or number
        site = self.tags.pop("Site", "").strip()
        if self.comments:
            self.tags[COMMENT] = "\n".join(self.comments)
        return Transcript((first, second), length, site=site, started=started, given_id=number, tags=self.tags)

    def _started(self) -> dt.datetime | None:
        """Return when the match began; a day without a time is its beginning."""
        date = _DATE.fullmatch(self.tags.get("EventDate", "").strip())
        if not date:
            return None
        time = _TIME.fullmatch(self.tags.get("EventTime", "").strip())
        clock = (int(time[1]), int(time[2])) if time else (0, 0)
        try:
            started = dt.datetime(int(date[1]), int(date[2]), int(date[3]), *clock, tzinfo=dt.UTC)
        except ValueError:
            return None
        del self.tags["EventDate"]
        if time:
            del self.tags["EventTime"]
        return started

    def _places(self, names: Sequence[str]) -> tuple[int, int]:
        """Return which number in the headers the players have that stand on the left and on the right."""
        numbered = [column_name(self.tags.get(f"Player {place}", "")) for place in (1, 2)]
        above = [column_name(name) for name in names]
        return (2, 1) if numbered == above[::-1] != above else (1, 2)

    def _player(self, place: int, name: str, rating: str) -> Player:
        """Return a player by the full name of the headers, if it matches the one above the games."""
        whole = self.tags.pop(f"Player {place}", "").strip()
        meant = whole and (not name or column_name(whole) == column_name(name))
        player = Player((whole if meant else name) or NAMELESS)
        elo = _ELO.fullmatch(self.tags.get(f"Player {place} Elo", "").strip())
        if elo:
            del self.tags[f"Player {place} Elo"]
            return evolve(player, rating=float(elo[1]), experience=int(elo[2]) if elo[2] else None)
        return evolve(player, rating=float(rating)) if rating else player
