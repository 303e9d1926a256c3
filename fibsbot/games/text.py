"""Tables, turns and games as text, written and read.

A table is two rows, the side on roll first, each in its own numbering: `24:12 23 21 20 / 24:15`. A place without a
count has one checker, 25 is hand and bar, checkers that are not named are off. What has to be remembered about a side
follows its row: `25:2 20:13 hit=1 throws=4 marks=released,five_left pinned=7,12`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fibsbot.evolve import evolve
from fibsbot.games import load_ruleset
from fibsbot.rules import shared_laws
from fibsbot.rules.backgammon import board_of, is_backgammon
from fibsbot.rules.laws import Level
from fibsbot.rules.ruleset import Part, Ruleset, Then, Turn
from fibsbot.rules.sides import HAND, OFF, Mark, Side, Sides, side
from fibsbot.rules.state import Ending, GameState, Naming, Resignation, Result, Seat, Stage

_COUNTS: Final = ("hit", "throws", "head")
_POINTS: Final = ("pinned", "held")
_CRAWFORD: Final = {(False, False): "to come", (True, False): "this game", (False, True): "played"}
"""When the Crawford game of a match is, by whether this game is it and whether it has been played."""
_CRAWFORD_FLAGS: Final = {word: flags for flags, word in _CRAWFORD.items()}


class TableTextError(ValueError):
    """A text that is no table of the game."""


def format_table(sides: Sides) -> str:
    """Write a table, the side on roll first."""
    return f"{_format_side(sides.own)} / {_format_side(sides.opponent)}"


def _format_side(it: Side) -> str:
    places = ((place, it.row[place]) for place in range(HAND, OFF, -1) if it.row[place])
    words = [f"{place}:{count}" if count > 1 else str(place) for place, count in places]
    words += [f"{name}={getattr(it, name)}" for name in _COUNTS if getattr(it, name)]
    words += [f"{name}={','.join(map(str, _bits(getattr(it, name))))}" for name in _POINTS if getattr(it, name)]
    if it.marks:
        words.append(f"marks={','.join(str(mark.name).lower() for mark in it.marks)}")
    return " ".join(words)


def _bits(mask: int) -> list[int]:
    return [bit for bit in range(HAND + 1) if mask >> bit & 1]


def parse_table(text: str, rules: Ruleset) -> Sides:
    """Read a table of a game. Raises TableTextError for a text that is none."""
    rows = text.split("/")
    if len(rows) != 2:
        raise TableTextError(f"expected two rows of checkers with a slash between them, got {text!r}")
    own, opponent = (_parse_side(row, rules.checkers) for row in rows)
    for point in range(OFF + 1, HAND):
        facing = rules.course.facing(point)
        pins = (own.pinned >> point & 1) + (opponent.pinned >> facing & 1)
        both = own.row[point] > 0 < opponent.row[facing]
        if both and rules.landing is not shared_laws.pins:
            raise TableTextError(f"expected no point with checkers of both sides, got both on {point} / {facing}")
        if pins != both:
            raise TableTextError(f"expected pinned=... where both sides are and only there, got {point} / {facing}")
    return Sides(rules.marks_shown(own), rules.marks_shown(opponent))


def _parse_side(text: str, checkers: int) -> Side:
    places: dict[int, int] = {}
    facts: dict[str, Any] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if equals:
            _add(facts, name, _parse_fact(name, value), word)
            continue
        place, _, count = word.partition(":")
        _add(places, _number(place, HAND, word), _number(count or "1", checkers, word), word)
    missing = checkers - sum(count for place, count in places.items() if place != OFF)
    if missing < 0 or places.get(OFF, missing) != missing:
        raise TableTextError(f"expected {checkers} checkers, got {sum(places.values())} in {text.strip()!r}")
    row = evolve(side({**places, OFF: missing}), **facts)
    if row.hit > row.row[HAND] or any(row.row[point] != 1 for point in _bits(row.pinned)):
        raise TableTextError(f"expected hit and pinned checkers where the row has them, got {text.strip()!r}")
    return row


def _add(values: dict[Any, Any], key: object, value: object, word: str) -> None:
    if key in values:
        raise TableTextError(f"expected each place and each fact once, got {key} twice: {word!r}")
    values[key] = value


def _parse_fact(name: str, value: str) -> Any:
    if name in _COUNTS:
        return _number(value, 9999, f"{name}={value}")
    if name in _POINTS:
        return sum(1 << _number(point, HAND - 1, f"{name}={value}") for point in value.split(","))
    names = {str(mark.name).lower(): mark for mark in Mark}
    if name != "marks" or not set(value.split(",")) <= set(names):
        raise TableTextError(
            f"expected {', '.join((*_COUNTS, *_POINTS))} or marks of {', '.join(names)}, got {name}={value}"
        )
    marks = Mark.NONE
    for mark in value.split(","):
        marks |= names[mark]
    return marks


def _number(text: str, most: int, word: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= most):
        raise TableTextError(f"expected numbers up to {most}, got {word!r}")
    return int(text)


def format_turn(turn: Turn) -> str:
    """Write what is to be done in a turn, such as `4444 5555 roll`.

    After the numbers stand `<` for their order, `=` for one checker, `?` if they are offered, `+` if the turn goes on.
    """
    return " ".join(it.name.lower() if isinstance(it, Then) else _format_part(it) for it in turn)


def _format_part(part: Part) -> str:
    flags = ((part.ordered, "<"), (part.one_checker, "="), (not part.compulsory, "?"), (not part.ends_turn, "+"))
    return "".join(map(str, part.numbers)) + "".join(sign for is_on, sign in flags if is_on)


def parse_turn(text: str) -> Turn:
    """Read what `format_turn` wrote. Raises TableTextError for anything else."""
    return tuple(_parse_todo(word) for word in text.split())


def _parse_todo(word: str) -> Part | Then:
    if word.upper() in Then.__members__:
        return Then[word.upper()]
    numbers = word.rstrip("<=?+")
    signs = word[len(numbers) :]
    if not numbers or not set(numbers) <= set("123456"):
        raise TableTextError(f"expected numbers of dice, got {word!r}")
    return Part(tuple(map(int, numbers)), "<" in signs, "=" in signs, "?" not in signs, "+" not in signs)


def game_to_json(game: GameState) -> dict[str, Any]:
    """Return everything about a game as values that JSON has."""
    offer, result = game.resignation, game.result
    values = {
        "game": game.rules.full_name,
        "length": game.length,
        "scores": list(game.scores),
        "table": format_table(game.sides),
        "turn": game.turn.name,
        "stage": game.stage.value,
        "dice": list(game.dice) if game.dice else None,
        "todo": format_turn(game.turn_left),
        "naming": None if game.naming is None else game.naming.name,
        "namer": _name(game.namer),
        "passed": game.passed,
        "throws": game.rolls_made,
        "turns": game.turns,
        "cube": game.cube,
        "owner": _name(game.owner),
        "offered": game.offered,
        "answering": _name(game.answering),
        "resignation": None if offer is None else [offer.seat.name, int(offer.level), offer.points],
        "result": None if result is None else [result.winner.name, result.points, int(result.level), result.how.value],
        "drawn": game.drawn,
        "reason": game.reason,
    }
    if game.laws.crawford and game.length > 1:
        values["crawford"] = _CRAWFORD[game.crawford, game.post_crawford]
    return values


def _name(seat: Seat | None) -> str | None:
    return None if seat is None else seat.name


def game_from_json(values: Mapping[str, Any]) -> GameState:
    """Return the game that `game_to_json` made the values of. Raises TableTextError for values that are none."""
    try:
        rules, length = load_ruleset(values["game"]), int(values["length"])
        # A match that does not say when has no Crawford game: both players left it out, or the match was saved before
        # there was one in tables games, and goes on as it began.
        when = values.get("crawford")
        crawford, post_crawford = (False, False) if when is None else _CRAWFORD_FLAGS[when]
        offer, result = values["resignation"], values["result"]
        return GameState(
            rules=rules,
            laws=evolve(rules.laws, crawford=rules.laws.crawford and (length < 2 or when is not None)),
            length=length,
            scores=(int(values["scores"][0]), int(values["scores"][1])),
            crawford=crawford,
            post_crawford=post_crawford,
            board=board_of(rules, parse_table(values["table"], rules)),
            turn=Seat[values["turn"]],
            stage=Stage(values["stage"]),
            dice=None if values["dice"] is None else tuple(map(int, values["dice"])),
            todo=() if is_backgammon(rules) else parse_turn(values["todo"]),
            naming=None if values["naming"] is None else Naming[values["naming"]],
            namer=_seat(values["namer"]),
            passed=bool(values["passed"]),
            throws=0 if is_backgammon(rules) else int(values["throws"]),
            turns=int(values["turns"]),
            cube=int(values["cube"]),
            owner=_seat(values["owner"]),
            offered=int(values["offered"]),
            answering=_seat(values["answering"]),
            resignation=None if offer is None else Resignation(Seat[offer[0]], Level(offer[1]), int(offer[2])),
            result=None
            if result is None
            else Result(Seat[result[0]], int(result[1]), Level(result[2]), Ending(result[3])),
            drawn=bool(values["drawn"]),
            reason=str(values["reason"]),
        )
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise TableTextError(f"expected a saved game, got {values!r}") from error


def _seat(name: str | None) -> Seat | None:
    return None if name is None else Seat[name]
