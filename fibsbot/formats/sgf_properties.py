"""The properties of SGF nodes: a game's root node, and setup nodes for games seen from their middle or after a gap.

Points have the letters a to x, a being White's ace point and Black's 24 point, y is the bar of either and z is off.
White is seat A.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from typing import Final, Self

from attrs import evolve, frozen

from fibsbot.formats import FormatError, expected, single_line
from fibsbot.formats.checked_game import errors_at
from fibsbot.formats.match_laws import (
    NACKGAMMON,
    named_laws,
    named_setups,
    raised_cube,
    reading_laws,
    scores_before,
    unusual_setup,
    with_named_laws,
    with_setup,
)
from fibsbot.formats.sgf_trees import Node, escape_value
from fibsbot.games.state_json import HIGHEST_CUBE, HIGHEST_NUMBER
from fibsbot.match import Dice
from fibsbot.position import BAR, OFF, Flaw, Position
from fibsbot.rules.game import start_match
from fibsbot.rules.law_words import is_by_other_laws, law_words
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Game, Player, Transcript
from fibsbot.version import __version__

LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
COLOURS: Final = {Seat.A: "W", Seat.B: "B"}
SEATS: Final = {colour: seat for seat, colour in COLOURS.items()}
BOARD_PROPERTIES: Final = ("AE", "AW", "AB")
"""Properties that clear points and put checkers on them."""
SETUP_PROPERTIES: Final = (*BOARD_PROPERTIES, "PL", "CV", "CP", "DI")
"""Properties that set something up. PL is who is on turn, CV what the cube shows, CP who owns it, DI the dice."""
_OWNERS: Final = {"c": None, "w": Seat.A, "b": Seat.B}
_BAR_LETTER: Final = 24
"""Place of the bar's letter."""


def point_letter(point: int, seat: Seat) -> str:
    """Return the letter of a point that a player calls by this number, bar and off included."""
    if point in {BAR, OFF}:
        return "y" if point == BAR else "z"
    return LETTERS[point - 1 if seat is Seat.A else 24 - point]


def letter_point(name: str, seat: Seat) -> int:
    """Return what a player calls the point of this letter."""
    place = LETTERS.index(name)
    if place >= _BAR_LETTER:
        return BAR if place == _BAR_LETTER else OFF
    return place + 1 if seat is Seat.A else 24 - place


def write_setup(state: GameState, turn: Seat) -> list[str]:
    """Return the nodes that set a board up, with the cube, and the dice if they lie on the board."""
    white = state.position if state.turn is Seat.A else state.position.swapped()
    # MN is the number of the turn that comes next; GNU Backgammon passes over it.
    text = f"PL[{COLOURS[turn]}]MN[{state.turns + 1}]AE[a:y]"
    for seat, position in ((Seat.A, white), (Seat.B, white.swapped())):
        counts = (
            (point_letter(place, seat), count) for place, count in enumerate(position.points) if place and count > 0
        )
        checkers = "".join(f"[{name}]" * count for name, count in sorted(counts))
        text += f"A{COLOURS[seat]}{checkers}" if checkers else ""
    owner = next(name for name, seat in _OWNERS.items() if seat is state.owner)
    cube = state.cube >> state.redoubles if state.stage is Stage.DOUBLED else state.cube
    nodes = [f"{text}CV[{cube}]CP[{owner}]"]
    if state.dice:  # in a node of its own: GNU Backgammon takes either a board or dice from one
        nodes.append(write_dice(turn, state.dice))
    return nodes


def write_dice(seat: Seat, dice: Dice) -> str:
    """Return the node that puts dice on the board."""
    return f"PL[{COLOURS[seat]}]DI[{dice[0]}{dice[1]}]"


def sets_up(node: Node) -> bool:
    """Whether a node changes the board, the cube or the dice; who is on turn alone says nothing."""
    return any(name in node.properties for name in SETUP_PROPERTIES if name != "PL")


def has_board(node: Node) -> bool:
    """Whether a node moves checkers without anybody playing."""
    return any(name in node.properties for name in BOARD_PROPERTIES)


def read_setup(node: Node, state: GameState) -> GameState:
    """Return the state that a node sets up, from what it was. Raises FormatError."""
    turn = SEATS.get((node.value("PL") or "").strip().upper()[:1], state.turn)
    position = _position(node, state).swapped() if turn is Seat.B else _position(node, state)
    # Without a number it is some turn, though not the first.
    turns = read_number(node, "MN", max(state.turns, 1) + 1) - 1 if has_board(node) else state.turns
    changed = evolve(
        state,
        board=position,
        turn=turn,
        turns=turns,
        cube=read_number(node, "CV", state.cube, HIGHEST_CUBE),
        owner=_OWNERS.get((node.value("CP") or "").strip().lower()[:1], state.owner),
    )
    if state.stage is Stage.OPENING and not has_board(node):
        return changed
    changed = evolve(
        changed,
        stage=Stage.ROLL,
        dice=None,
        offered=0,
        answering=None,
        redoubles=0,
        resignation=None,
        rejected=False,
    )
    dice = read_dice(node.value("DI") or "")
    return evolve(changed, stage=Stage.MOVE, dice=dice) if dice else changed


def read_number(node: Node, name: str, otherwise: int, most: int = 1 << 30) -> int:
    """Return the number that a property says, from 1 to `most`; raise FormatError for anything else."""
    value = node.value(name)
    if value is None:
        return otherwise
    if not re.fullmatch(r"\s*[0-9]{1,10}\s*", value) or not 1 <= int(value) <= most:
        raise expected(f"{name} with a number from 1 to {most}", value, node.line)
    return int(value)


def read_dice(value: str) -> Dice | None:
    """Return the two dice that a value begins with; None if it does not."""
    found = re.match(r"\s*([1-6])([1-6])", value)
    return (int(found[1]), int(found[2])) if found else None


def _position(node: Node, state: GameState) -> Position:
    """Return the position that a node leaves, seen by White."""
    white = state.position if state.turn is Seat.A else state.position.swapped()
    counts = {seat: _checker_counts(white if seat is Seat.A else white.swapped(), seat) for seat in Seat}
    for place in _letter_places(node, "AE"):
        for seat in Seat:
            counts[seat][place] = 0
    for seat, colour in COLOURS.items():
        for place in _letter_places(node, f"A{colour}"):
            counts[seat][place] += 1
    a, b = counts[Seat.A], counts[Seat.B]
    position = Position.from_sides(own=a, opponent=[*reversed(b[:24]), b[24]])
    if position.status() is not Flaw.VALID or any(a[place] and b[place] for place in range(24)):
        raise FormatError(f"line {node.line}: expected a board of 15 checkers a side, each point held by one of them")
    return position


def _checker_counts(position: Position, seat: Seat) -> list[int]:
    """Count a player's checkers by the letters a to y; `position` is seen by the player."""
    counts = [0] * 25
    for place in range(1, 26):
        counts[LETTERS.index(point_letter(place, seat))] = max(position.points[place], 0)
    return counts


def _letter_places(node: Node, name: str) -> list[int]:
    """Return the places of the letters that a property lists, singly or as `a:y`."""
    places: list[int] = []
    for value in node.properties.get(name, ())[:64]:
        found = re.fullmatch(r"\s*([a-y])(?::([a-y]))?\s*", value)
        if found:
            first, last = found[1], found[2] or found[1]
            places += range(LETTERS.index(first), LETTERS.index(last) + 1)
        elif value.strip():
            raise expected(f"{name} with points from a to y", value, node.line)
    return places


BACKGAMMON: Final = "6"
"""The value of GM."""
ID_MARK: Final = "Match ID: "
"""How GN begins where it says a match's own number."""
LAWS_COMMENT: Final = "Laws: "
"""How the comment on a match begins that is played by other laws than those of FIBS."""
TAG_NAMES: Final = {
    "EV": "Event",
    "RO": "Round",
    "AN": "Transcriber",
    "SO": "Source",
    "ON": "Opening",
    "CP": "Copyright",
    "GC": "Comment",
}
"""Properties of the first node that are kept as tags, with the tags' names."""
DATE_TAG: Final = "Date"
"""The tag for a date of which we cannot make a day."""
PLAYER_PROPERTIES: Final = (("PW", "WR", "White"), ("PB", "BR", "Black"))
"""Name, rating, and what a nameless player is called, by seat."""


@frozen
class RootInfo:
    """The information in the first node of a game."""

    line: int
    names: tuple[str, str]
    length: int
    number: int | None
    """Counted from 1; None where it is not said."""
    start: GameState

    @classmethod
    def read(cls, node: Node) -> Self:
        """Read the first node of a game. Raises FormatError."""
        pairs = (_INFO_PAIR.fullmatch(value.strip()) for value in node.properties.get("MI", ()))
        numbers = {pair[1]: int(pair[2]) for pair in pairs if pair}
        if max(numbers.values(), default=0) > HIGHEST_NUMBER:
            raise FormatError(f"line {node.line}: expected numbers up to {HIGHEST_NUMBER} in MI, got more")
        length = numbers.get("length", 0)
        names = tuple(single_line(node.value(name) or "", nobody) for name, _, nobody in PLAYER_PROPERTIES)
        number = numbers["game"] + 1 if "game" in numbers else None
        scores = (numbers.get("ws", 0), numbers.get("bs", 0))
        return cls(node.line, (names[0], names[1]), length, number, _start_state(node, length, scores))


_NACKGAMMON: Final = "Nackgammon"
"""In RU, as GNU Backgammon spells it."""
_INFO_PAIR: Final = re.compile(r"(\w+):([0-9]{1,12})")
_LAWS_COMMENT: Final = re.compile(rf"{LAWS_COMMENT}([^.]*)\.?\s*(.*)")
_RATING: Final = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(?:/([0-9]{1,12}))?")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


def _start_state(node: Node, length: int, scores: tuple[int, int]) -> GameState:
    rules = {rule.strip() for rule in (node.value("RU") or "").split(":")}
    other = next((rule for rule in rules if rule.startswith("Hypergammon")), None)
    if other:
        raise FormatError(f"line {node.line}: expected backgammon, got {other[:40]}")
    crawford_game = "CrawfordGame" in rules
    laws = reading_laws(
        length,
        crawford=not length or crawford_game or "Crawford" in rules,  # where it means nothing, as the server has it
        jacoby="Jacoby" in rules,
        cube="NoCube" not in rules,
    )
    laws = with_named_laws(laws, _split_laws(node)[0])
    with errors_at(f"line {node.line}"):
        start = start_match(laws, length, scores, post_crawford=not crawford_game)
    one_away = length > 1 and length - 1 in scores
    past = laws.crawford and one_away and not crawford_game
    cube = read_number(node, "CV", 1, HIGHEST_CUBE)
    if _NACKGAMMON in rules:
        start = with_setup(start, named_setups()[NACKGAMMON])
    return evolve(start, crawford=crawford_game and length > 1, post_crawford=past, cube=cube)


def _split_laws(node: Node) -> tuple[str, str]:
    """Return the words of the laws with which the comment on a match begins, if there are any, and its rest."""
    comment = single_line(node.value("GC") or "")
    found = _LAWS_COMMENT.fullmatch(comment)
    return (found[1], found[2]) if found and named_laws(found[1]) else ("", comment)


def read_match_details(node: Node, names: tuple[str, str]) -> Transcript:
    """Return a transcript without games with the other details in the first node of a match."""
    players = tuple(
        _player(name, node.value(rank) or "") for name, (_, rank, _) in zip(names, PLAYER_PROPERTIES, strict=True)
    )
    user = single_line(node.value("US") or "")
    title = single_line(node.value("GN") or "")
    texts = {name: single_line(node.value(name) or "") for name in TAG_NAMES} | {"GC": _split_laws(node)[1]}
    tags = {TAG_NAMES[name]: text for name, text in texts.items() if text}
    date = single_line(node.value("DT") or "")
    started = _date(date)
    if date and started is None:
        tags[DATE_TAG] = date
    if title and not title.startswith(ID_MARK):
        tags["Title"] = title
    return Transcript(
        players=(players[0], players[1]),
        length=0,
        user=Seat(names.index(user)) if user in names else None,
        site=single_line(node.value("PC") or ""),
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


def write_root(transcript: Transcript, game: Game, result: str, *, first: bool) -> str:
    """Return the first node of a game; the `first` game says what is true of the whole match."""
    start = game.start
    a, b = scores_before(game)
    texts = {"AP": f"fibsbot:{__version__}"}
    for player, (name, _, nobody) in zip(transcript.players, PLAYER_PROPERTIES, strict=True):
        texts[name] = single_line(player.name, nobody)
    if first:
        texts |= _match_properties(transcript)
    texts["RU"] = _rules(start)
    if is_by_other_laws(start.laws):
        texts["GC"] = f"{LAWS_COMMENT}{law_words(start.laws)}. {texts.get('GC', '')}".rstrip()
    cube = raised_cube(game)
    texts["CV"] = str(cube) if start.stage is Stage.OPENING and cube > 1 else ""
    texts["RE"] = result
    info = f"MI[length:{transcript.length}][game:{max(game.number - 1, 0)}][ws:{a}][bs:{b}]"
    properties = "".join(f"{name}[{escape_value(text)}]" for name, text in texts.items() if text)
    return f"FF[4]GM[{BACKGAMMON}]CA[UTF-8]{info}{properties}"


def _match_properties(transcript: Transcript) -> dict[str, str]:
    texts = {
        rank: _rating_text(player) for player, (_, rank, _) in zip(transcript.players, PLAYER_PROPERTIES, strict=True)
    }
    tags: Mapping[str, str] = transcript.tags
    started = transcript.started
    texts["DT"] = f"{started.astimezone(dt.UTC):%Y-%m-%d}" if started else single_line(tags.get(DATE_TAG, ""))
    texts["PC"] = single_line(transcript.site)
    texts["GN"] = ID_MARK + single_line(transcript.match_id)
    texts["US"] = "" if transcript.user is None else single_line(transcript.players[transcript.user].name)
    return texts | {name: single_line(tags.get(tag, "")) for name, tag in TAG_NAMES.items()}


def _rating_text(player: Player) -> str:
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
        _NACKGAMMON: unusual_setup(start) == named_setups()[NACKGAMMON],
    }
    return ":".join(rule for rule, holds in rules.items() if holds)
