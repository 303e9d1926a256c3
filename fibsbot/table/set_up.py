"""Positions to play from: from an ID, or as a person sets one up checker by checker; no input or output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve, frozen

from fibsbot.formats import FormatError
from fibsbot.formats.position_lists import find_position
from fibsbot.games.sides_text import SidesTextError, format_sides, parse_sides
from fibsbot.games.state_json import HIGHEST_CUBE, state_flaw
from fibsbot.notation import NotationError, bare_id, parse_state
from fibsbot.rules.backgammon import board_of, is_backgammon
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import roll, start_match
from fibsbot.rules.general_plays import can_move, parts_of, rolls
from fibsbot.rules.laws import Laws
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.sides import HAND, Side, Sides
from fibsbot.rules.state import GameState, Seat, Stage

LONGEST_TEXT: Final = 2000
"""Characters of a text in which a position is looked for."""
LONGEST_MATCH: Final = 99
"""Points of a match that is set up."""


class SetUpError(ValueError):
    """A position that cannot be played from; the text is one line: what was expected, and what came."""


@frozen(kw_only=True)
class SetUp:
    """A position as a person sets it up; the person has seat A."""

    board: str
    """Both rows as `games.sides_text` writes them, the person's first: `24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5`."""
    turn: Seat = Seat.A
    dice: tuple[int, ...] = ()
    """Those that are to be played; none before the roll."""
    cube: int = 1
    owner: Seat | None = None
    length: int = 0
    """Points of the match; 0 is one without end."""
    scores: tuple[int, int] = (0, 0)
    crawford: bool = False
    """Whether a game in which a player needs a single point is the Crawford game."""

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SetUp:
        """Read the values that a page sends, by the names of the fields; seats are 0 and 1. Raises SetUpError."""
        if unknown := set(values) - set(_KINDS):
            raise SetUpError(f"expected {', '.join(_KINDS)}, got {min(unknown)[:40]!r}")
        known = {name: _checked_value(name, value) for name, value in values.items()}
        if "board" not in known:
            raise SetUpError("expected a board, got none")
        return cls(**known)

    @classmethod
    def of(cls, game: GameState) -> SetUp:
        """Return the position of a game, before the roll or with the dice, to be changed."""
        return cls(
            board=format_sides(game.sides_for(Seat.A)),
            turn=game.turn,
            dice=game.dice if game.dice and game.stage is Stage.MOVE else (),
            cube=game.cube,
            owner=game.owner,
            length=game.length,
            scores=game.scores,
            crawford=game.crawford,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the values that `from_json` reads."""
        return {
            "board": self.board,
            "turn": int(self.turn),
            "dice": list(self.dice),
            "cube": self.cube,
            "owner": None if self.owner is None else int(self.owner),
            "length": self.length,
            "scores": list(self.scores),
            "crawford": self.crawford,
        }

    def game(self, rules: Ruleset, laws: Laws) -> GameState:
        """Return the game in which somebody has to decide at this position. Raises SetUpError."""
        if len(self.board) > LONGEST_TEXT:
            raise SetUpError(f"expected a board of at most {LONGEST_TEXT} characters, got {len(self.board)}")
        if not 0 <= self.length <= LONGEST_MATCH:
            raise SetUpError(f"expected a match of 0 to {LONGEST_MATCH} points, got {self.length}")
        if not 1 <= self.cube <= HIGHEST_CUBE or self.cube & (self.cube - 1):
            raise SetUpError(f"expected a cube that is a power of two up to {HIGHEST_CUBE}, got {self.cube}")
        try:
            sides = _with_bar(parse_sides(self.board, rules), rules)
            start = start_match(
                laws, self.length, self.scores, rules=rules, begins=self.turn, post_crawford=not self.crawford
            )
            board = board_of(rules, sides if self.turn is Seat.A else sides.swapped())
            placed = evolve(start, board=board, cube=self.cube, owner=self.owner)
            game = roll(placed, self.turn, self.dice) if self.dice else placed
        except (SidesTextError, RuleError) as error:
            raise SetUpError(str(error)) from None
        return checked(game)


_KINDS: Final[Mapping[str, type]] = {
    "board": str,
    "turn": Seat,
    "dice": list,
    "cube": int,
    "owner": Seat,
    "length": int,
    "scores": list,
    "crawford": bool,
}
_IN_WORDS: Final = {
    str: "text",
    int: "a whole number",
    list: "a row of whole numbers",
    bool: "true or false",
    Seat: "0 (you) or 1 (the bot)",
}


def _checked_value(name: str, value: Any) -> Any:
    """Return the value of a field as `SetUp` has it. Raises SetUpError."""
    kind = _KINDS[name]
    if name == "owner" and value is None:
        return None
    right = {
        Seat: type(value) is int and value in set(Seat),
        list: isinstance(value, list) and all(type(number) is int for number in value),
    }.get(kind, type(value) is kind)
    if not right:
        raise SetUpError(f"expected {name} as {_IN_WORDS[kind]}, got {str(value)[:40]!r}")
    if name == "scores" and len(value) != len(Seat):
        raise SetUpError(f"expected two scores, got {len(value)}")
    return Seat(value) if kind is Seat else tuple(value) if kind is list else value


def _with_bar(sides: Sides, rules: Ruleset) -> Sides:
    """Return the board with the checkers in hand taken as hit, in games in which none begins there."""
    return sides if rules.setup.get(HAND) else Sides(_all_hit(sides.own), _all_hit(sides.opponent))


def _all_hit(side: Side) -> Side:
    return evolve(side, hit=side.row[HAND])


def read_position(text: str, rules: Ruleset, laws: Laws) -> GameState:
    """Return the game that a text describes, in which the person at seat A decides, or is on turn.

    In backgammon an XGID, a GNUbg ID, a text that has one of them, or a position line of Snowie; in every game also
    both rows of a board, the person's first, as `games.sides_text` writes them. Raises SetUpError.
    """
    text = text.strip()[:LONGEST_TEXT]
    if _is_rows(text) or not is_backgammon(rules):
        return SetUp(board=text).game(rules, laws)
    try:
        state = parse_state(bare_id(text))
    except NotationError as error:
        try:
            state = find_position(text)
        except (NotationError, FormatError):
            raise SetUpError(str(error)) from None
    try:
        return checked(evolve(state, rules=rules).game(Seat.A))
    except RuleError as error:
        raise SetUpError(str(error)) from None


def _is_rows(text: str) -> bool:
    """Return whether a text is two rows of checkers, and not an ID, whose letters may be slashes too."""
    return " / " in text and set(text) <= set("0123456789: /=,_abcdefghijklmnopqrstuvwxyz")


def checked(game: GameState) -> GameState:
    """Return a game that can be played on. Raises SetUpError for another."""
    if flaw := state_flaw(game):
        raise SetUpError(flaw)
    for seat in Seat:
        if game.sides_for(seat).own.all_off:
            raise SetUpError("expected checkers of both sides on the board, got one that has borne off all")
    if not any(_ever_moves(game.rules, sides) for sides in (game.sides, game.sides.swapped())):
        raise SetUpError("expected a position in which somebody can move, got one in which nobody ever can")
    return game


def _ever_moves(rules: Ruleset, sides: Sides) -> bool:
    """Return whether a side can move with any roll."""
    for dice, _ in rolls(rules.dice):
        board, turn = parts_of(rules, sides, dice)
        if any(not isinstance(part, Part) or can_move(rules, board, part) for part in turn):
            return True
    return False
