"""The first node of an SGF game: who played, for what, at which score, when and where."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from typing import Final, Self

from attrs import evolve, frozen

from fibsbot import __version__
from fibsbot.formats.building import HIGHEST_CUBE, HIGHEST_NUMBER, plain_laws, scores_before
from fibsbot.formats.errors import FormatError
from fibsbot.formats.sgf_boards import read_number
from fibsbot.formats.sgf_trees import Node, escaped
from fibsbot.formats.text import one_line
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import start_match
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Game, Player, Transcript

BACKGAMMON: Final = "6"
"""The value of GM."""
ID_MARK: Final = "Match ID: "
"""How GN begins where it says a match's own number."""
TAGS: Final = {
    "EV": "Event",
    "RO": "Round",
    "AN": "Transcriber",
    "SO": "Source",
    "ON": "Opening",
    "CP": "Copyright",
    "GC": "Comment",
}
"""Properties of the first node that are kept as tags, with the tags' names."""
DATE: Final = "Date"
"""The tag for a date of which we cannot make a day."""
PLAYERS: Final = (("PW", "WR", "White"), ("PB", "BR", "Black"))
"""Name, rating, and what a nameless player is called, by seat."""


@frozen
class Head:
    """What the first node of a game says of it."""

    line: int
    names: tuple[str, str]
    length: int
    number: int | None
    """Counted from 1; None where it is not said."""
    start: GameState

    @classmethod
    def read(cls, node: Node) -> Self:
        """Read the first node of a game. Raises FormatError."""
        pairs = (_PAIR.fullmatch(value.strip()) for value in node.properties.get("MI", ()))
        numbers = {pair[1]: int(pair[2]) for pair in pairs if pair}
        if max(numbers.values(), default=0) > HIGHEST_NUMBER:
            raise FormatError(f"line {node.line}: expected numbers up to {HIGHEST_NUMBER} in MI, got more")
        length = numbers.get("length", 0)
        names = tuple(one_line(node.value(name) or "", nobody) for name, _, nobody in PLAYERS)
        number = numbers["game"] + 1 if "game" in numbers else None
        scores = (numbers.get("ws", 0), numbers.get("bs", 0))
        return cls(node.line, (names[0], names[1]), length, number, _start(node, length, scores))


_PAIR: Final = re.compile(r"(\w+):([0-9]{1,12})")
_RATING: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(?:/([0-9]{1,12}))?")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def _start(node: Node, length: int, scores: tuple[int, int]) -> GameState:
    rules = {rule.strip() for rule in (node.value("RU") or "").split(":")}
    other = next((rule for rule in rules if rule.startswith(("Nackgammon", "Hypergammon"))), None)
    if other:
        raise FormatError(f"line {node.line}: expected backgammon, got {other[:40]}")
    crawford_game = "CrawfordGame" in rules
    laws = plain_laws(
        length,
        crawford=not length or crawford_game or "Crawford" in rules,  # where it means nothing, as the server has it
        jacoby="Jacoby" in rules,
        cube="NoCube" not in rules,
    )
    try:
        start = start_match(laws, length, scores, post_crawford=not crawford_game)
    except RuleError as error:
        raise FormatError(f"line {node.line}: {error}") from None
    one_away = length > 1 and length - 1 in scores
    past = laws.crawford and one_away and not crawford_game
    cube = read_number(node, "CV", 1, HIGHEST_CUBE)
    return evolve(start, crawford=crawford_game and length > 1, post_crawford=past, cube=cube)


def read_details(node: Node, names: tuple[str, str]) -> Transcript:
    """Return an empty transcript with everything that the first node of a match tells besides."""
    players = tuple(_player(name, node.value(rank) or "") for name, (_, rank, _) in zip(names, PLAYERS, strict=True))
    user = one_line(node.value("US") or "")
    title = one_line(node.value("GN") or "")
    tags = {tag: text for name, tag in TAGS.items() if (text := one_line(node.value(name) or ""))}
    date = one_line(node.value("DT") or "")
    started = _date(date)
    if date and started is None:
        tags[DATE] = date
    if title and not title.startswith(ID_MARK):
        tags["Title"] = title
    return Transcript(
        players=(players[0], players[1]),
        length=0,
        user=Seat(names.index(user)) if user in names else None,
        site=one_line(node.value("PC") or ""),
        started=started,
        given_id=title.removeprefix(ID_MARK) if title.startswith(ID_MARK) else "",
        tags=tags,
    )


def _player(name: str, rank: str) -> Player:
    found = _RATING.fullmatch(rank.strip())
    if not found:
        return Player(name)
    return Player(name, float(found[1]), int(found[2]) if found[2] else None)


def _date(text: str) -> dt.datetime | None:
    found = _DATE.match(text)
    if not found:
        return None
    try:
        return dt.datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=dt.UTC)
    except ValueError:
        return None


def write_head(transcript: Transcript, game: Game, result: str, *, first: bool) -> str:
    """Return the first node of a game; the `first` game says what is true of the whole match."""
    start = game.start
    a, b = scores_before(game)
    texts = {"AP": f"fibsbot:{__version__}"}
    for player, (name, _, nobody) in zip(transcript.players, PLAYERS, strict=True):
        texts[name] = one_line(player.name, nobody)
    if first:
        texts |= _details(transcript)
    texts["RU"] = _rules(start)
    texts["CV"] = str(start.cube) if start.stage is Stage.OPENING and start.cube > 1 else ""
    texts["RE"] = result
    info = f"MI[length:{transcript.length}][game:{max(game.number - 1, 0)}][ws:{a}][bs:{b}]"
    properties = "".join(f"{name}[{escaped(text)}]" for name, text in texts.items() if text)
    return f"FF[4]GM[{BACKGAMMON}]CA[UTF-8]{info}{properties}"


def _details(transcript: Transcript) -> dict[str, str]:
    texts = {rank: _rank(player) for player, (_, rank, _) in zip(transcript.players, PLAYERS, strict=True)}
    tags: Mapping[str, str] = transcript.tags
    started = transcript.started
    texts["DT"] = f"{started.astimezone(dt.UTC):%Y-%m-%d}" if started else one_line(tags.get(DATE, ""))
    texts["PC"] = one_line(transcript.site)
    texts["GN"] = ID_MARK + one_line(transcript.match_id)
    texts["US"] = "" if transcript.user is None else one_line(transcript.players[transcript.user].name)
    return texts | {name: one_line(tags.get(tag, "")) for name, tag in TAGS.items()}


def _rank(player: Player) -> str:
    if player.rating is None or not math.isfinite(player.rating) or not 0 <= player.rating < 1e6:
        return ""
    return f"{player.rating:.2f}" + (f"/{player.experience}" if player.experience is not None else "")


def _rules(start: GameState) -> str:
    laws = start.laws
    rules = {
        "NoCube": not laws.cube,
        "Crawford": bool(laws.crawford and start.length),
        "CrawfordGame": start.crawford,
        "Jacoby": bool(laws.jacoby and not start.length),
    }
    return ":".join(rule for rule, holds in rules.items() if holds)
