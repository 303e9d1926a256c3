"""SavedMatch: what the database keeps of a match of any game: state, names, colours, the list of moves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Self

from attrs import define, field

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.words import Colour
from fibsbot import fibs_numbering
from fibsbot.fast_evolve import fast_evolve
from fibsbot.position import Play
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.laws import Laws
from fibsbot.rules.permissions import match_winner
from fibsbot.rules.ruleset import Numbers, Ruleset
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.server.database import SavedMatchRow
from fibsbot.server.match_lines import BACKGAMMON_LINES, RULESET_LINES, MatchLines
from fibsbot.server.saved_games import game_to_values, values_to_game

CUBE_LIMIT: Final = 4096
"""The highest value of the cube: a `board:` line holds four digits."""
NEW_COLOURS: Final = (Colour.X, Colour.O)
"""The colours of seats A and B before a coin is tossed for them."""


@define(eq=False)
class SavedMatch:
    """A match between two users, who need not be logged in."""

    names: tuple[str, str]
    """The names of seat A, who invited, and seat B."""
    state: GameState
    colours: tuple[Colour, Colour]
    serial: int
    """The number of this match of the pair, from 1; with the names it determines seeded dice."""
    rolls: int = 0
    """Number of rolls so far."""
    moves: list[str] = field(factory=list)
    """The list of moves of the current game, as `oldmoves` shows it."""
    agreed: Laws | None = None
    """The laws that both players have agreed on; None: those of FIBS or of the game, by their toggles."""
    can_move: tuple[int, int] = (0, 0)
    """Checkers that each player could move after the last own roll; as on FIBS it is never reset."""

    @property
    def rules(self) -> Ruleset:
        """The game that is played."""
        return self.state.rules

    @property
    def game(self) -> str | None:
        """The name of the game, with options after colons; None for backgammon."""
        return game_name(self.state.rules)

    @property
    def lines(self) -> MatchLines:
        """What clients see of the match."""
        return BACKGAMMON_LINES if self.state.rules is BACKGAMMON else RULESET_LINES

    @property
    def length(self) -> int:
        """The length as in messages: UNLIMITED for an unlimited match."""
        return fibs_numbering.length_to_fibs(self.state.length)

    @property
    def key(self) -> str:
        """The match's name for seeded dice."""
        return f"{self.names[0]}:{self.names[1]}:{self.serial}"

    @property
    def between_games(self) -> bool:
        """Whether a game is over and the next one has not begun."""
        return self.state.stage is Stage.OVER

    @property
    def on_turn(self) -> Seat:
        """The player on turn according to the server."""
        return self.lines.on_turn(self.state)

    def seat(self, name: str) -> Seat:
        """Return a player's seat."""
        return Seat(self.names.index(name))

    def direction(self, seat: Seat) -> int:
        """Return the direction in which a player of backgammon moves."""
        return fibs_numbering.DIRECTIONS[self.colours[seat]]

    def swap_colours(self) -> None:
        """Swap the colours, as before every game but the first."""
        self.colours = (self.colours[1], self.colours[0])

    def shown(self, seat: Seat, player: str, opponent: str, *, requested: bool = False) -> m.Board | m.TableBoard:
        """Return the board from a seat's side, with the names to show."""
        names, can_move = (player, opponent), self.can_move[seat]
        return self.lines.board(self.state, seat, names, self.colours[seat], can_move=can_move, requested=requested)

    def pips(self, seat: Seat) -> tuple[int, int]:
        """Return the pip counts of a seat and of the other one."""
        sides = self.state.sides_for(seat)
        return sides.own.pips, sides.opponent.pips

    # -- the list of moves ------------------------------------------------------------------------------------------

    def record_play(self, seat: Seat, numbers: Numbers, play: Play) -> None:
        """Add a play of some numbers to the list."""
        self.moves.append(write(self.lines.listed_play(numbers, play, self.colours[seat])))

    def record_action(self, seat: Seat, text: str) -> None:
        """Add an action that is no play to the list."""
        self.moves.append(write(m.MovesAction(self.colours[seat], text)))

    def list_moves(self, seat: Seat) -> tuple[m.Message, ...]:
        """Return the list of the current game, with the score from a seat's side."""
        own, other = self.state.scores[seat], self.state.scores[seat.other]
        x = self.colours.index(Colour.X)
        head = (m.MovesScore(own, other, self.length), m.MovesColours(self.names[x], self.names[1 - x]), m.Unknown(""))
        name = () if self.game is None else (m.MovesGame(self.game),)
        return (*name, *head, *map(m.Unknown, self.moves))

    # -- saving -----------------------------------------------------------------------------------------------------

    def to_saved(self) -> SavedMatchRow:
        """Return the database row of this match."""
        low, high = sorted(self.names)
        return SavedMatchRow((low, high), self.serial, match_winner(self.state) is not None, self.to_json())

    def to_json(self) -> str:
        """Return everything except the users as JSON."""
        values = {**game_to_values(self.state), "names": self.names, "serial": self.serial, **self.board_values()}
        return json.dumps(values if self.agreed is None else {**values, "agreed": True})

    def board_values(self) -> dict[str, Any]:
        """Return what belongs to the board besides the state of the game, as JSON has it."""
        return {"colours": self.colours, "rolls": self.rolls, "moves": self.moves, "can_move": self.can_move}

    def set_board_values(self, values: Mapping[str, Any]) -> None:
        """Take what `board_values` has returned; raise any exception for other values.

        Rows of earlier versions have the rolls of backgammon as `throws`, and no `can_move` in other games.
        """
        x, o = values["colours"]
        self.colours = Colour(x), Colour(o)
        self.rolls = int(values["throws"] if "throws" in values else values["rolls"])
        self.moves = list(map(str, values["moves"]))
        if self.state.rules is BACKGAMMON:
            can_a, can_b = values["can_move"]
            self.can_move = int(can_a), int(can_b)

    @classmethod
    def from_saved(cls, saved: SavedMatchRow) -> Self | None:
        """Read a saved match; None if the row is corrupt."""
        try:
            match = cls._from_values(json.loads(saved.state))
            flaw = match.shown(Seat.A, *match.names).state.flaw()
        except Exception:  # noqa: BLE001 - nothing in a row of the database is trusted
            return None
        return None if flaw or sorted(match.names) != list(saved.names) else match

    @classmethod
    def _from_values(cls, values: dict[str, Any]) -> Self:
        """Return the match that `to_json` has written."""
        a, b = values["names"]
        state = values_to_game(values)
        state = fast_evolve(state, laws=fast_evolve(state.laws, cube_limit=CUBE_LIMIT))
        agreed = state.laws if values.get("agreed") else None
        match = cls((a, b), state, NEW_COLOURS, int(values["serial"]), agreed=agreed)
        match.set_board_values(values)
        return match


def game_name(rules: Ruleset) -> str | None:
    """Return the name of a game in invitations and reports; None for backgammon, which they do not name."""
    return None if rules is BACKGAMMON else rules.full_name
