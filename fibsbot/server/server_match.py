"""ServerMatch: a match between two users. The rules core knows the game; this knows who plays it."""

from __future__ import annotations

import json
from typing import Any, Final

import cattrs
from attrs import define, evolve, field
from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.grammar import write
from fibs_protocol.words import Colour, Toggle

from fibsbot import fibs
from fibsbot.match import Dice
from fibsbot.position import Play
from fibsbot.rules.game import GameState, Seat, Stage, match_winner, start_match
from fibsbot.rules.laws import FIBS, AutomaticRaise, Laws
from fibsbot.server.database import SavedMatchRow
from fibsbot.server.users import User

CUBE_LIMIT: Final = 4096
"""Where the cube stops: a `board:` line has room for four digits."""
MAX_SHOWN: Final = 9999
"""The highest score that a `board:` line can show; an unlimited match may pass it."""
CRAWFORD_OFF: Final = 3
"""What the token "forced move" holds in a match without the Crawford rule (docs/protocol.md, token 50)."""

_CONVERTER: Final = cattrs.Converter()


class CorruptMatchError(Exception):
    """A saved match that cannot be read."""


@define(eq=False)
class ServerMatch:
    """A match between two users, from the invitation to its end or until somebody leaves."""

    names: tuple[str, str]
    """Of seat A, who invited, and of seat B."""
    state: GameState
    colours: tuple[Colour, Colour]
    serial: int
    """Which match of the pair this is, from 1; with the names it names the dice."""
    throws: int = 0
    """Dice thrown so far."""
    moves: list[str] = field(factory=list)
    """The list of moves of the current game, as `oldmoves` shows it."""
    can_move: tuple[int, int] = (0, 0)
    """Checkers that each player could move after the last own throw; like FIBS we never set it back."""
    joined: set[Seat] = field(factory=set)
    """Between two games, who has joined the next one."""
    users: dict[Seat, User] = field(factory=dict)
    """The players; empty for a match that is not being played."""

    @property
    def length(self) -> int:
        """Length as messages have it: UNLIMITED for an unlimited match."""
        return fibs.length_to_fibs(self.state.length)

    @property
    def key(self) -> str:
        """The match's name for the dice."""
        return f"{self.names[0]}:{self.names[1]}:{self.serial}"

    @property
    def between_games(self) -> bool:
        """Whether a game is over and the next one has not begun."""
        return self.state.stage is Stage.OVER

    @property
    def on_turn(self) -> Seat:
        """Whose turn the server says it is: while a double waits, the answering player's."""
        return self.state.turn if self.state.answering is None else self.state.answering

    def seat(self, name: str) -> Seat:
        """Return where a player sits."""
        return Seat(self.names.index(name))

    def direction(self, seat: Seat) -> int:
        """Return the direction in which a player moves."""
        return fibs.DIRECTIONS[self.colours[seat]]

    def swap_colours(self) -> None:
        """Change sides, as before every game but the first."""
        self.colours = (self.colours[1], self.colours[0])

    # -- the list of moves ------------------------------------------------------------------------------------------

    def note_play(self, seat: Seat, dice: Dice, play: Play) -> None:
        """Put a play on the list."""
        moves = fibs.play_to_fibs(play, self.direction(seat))
        self.moves.append(write(m.MovesPlay(self.colours[seat], dice, moves)))

    def note(self, seat: Seat, text: str) -> None:
        """Put anything else on the list."""
        self.moves.append(write(m.MovesAction(self.colours[seat], text)))

    def list_moves(self, seat: Seat) -> tuple[m.Message, ...]:
        """Return the list of the current game, the score seen from a seat."""
        own, other = self.state.scores[seat], self.state.scores[seat.other]
        x = self.colours.index(Colour.X)
        head = (m.MovesScore(own, other, self.length), m.MovesColours(self.names[x], self.names[1 - x]), m.Unknown(""))
        return (*head, *map(m.Unknown, self.moves))

    # -- the board --------------------------------------------------------------------------------------------------

    def board(self, seat: Seat, player: str, opponent: str, *, requested: bool = False) -> BoardState:
        """Return the board as the player on a seat sees it, under the names to be shown (docs/protocol.md).

        While a double waits, the turn is the answering player's and neither may double; `was_doubled` is only on a
        board that the doubled player has asked for.
        """
        state, colour, turn = self.state, self.colours[seat], self.on_turn
        direction = self.direction(seat)
        position = state.position_for(seat)
        doubled = state.stage is Stage.DOUBLED
        dice = state.dice or (0, 0)
        own_turn = turn is seat
        return BoardState(
            player=player,
            opponent=opponent,
            length=self.length,
            score=min(state.scores[seat], MAX_SHOWN),
            opponent_score=min(state.scores[seat.other], MAX_SHOWN),
            points=fibs.cells_from_position(position, colour, direction),
            turn=None if self.between_games or state.stage is Stage.OPENING else self.colours[turn],
            dice=dice if own_turn else (0, 0),
            opponent_dice=(0, 0) if own_turn else dice,
            cube=state.cube,
            may_double=not doubled and state.owner is not seat.other,
            opponent_may_double=not doubled and state.owner is not seat,
            was_doubled=requested and doubled and own_turn,
            colour=colour,
            direction=direction,
            home=0 if direction < 0 else 25,
            bar=25 if direction < 0 else 0,
            off=position.off,
            opponent_off=position.opponent_off,
            on_bar=position.bar,
            opponent_on_bar=position.opponent_bar,
            can_move=self.can_move[seat],
            forced_move=0 if state.laws.crawford else CRAWFORD_OFF,
            post_crawford=state.post_crawford,
            redoubles=0 if state.length else state.laws.redoubles,
        )

    # -- saving -----------------------------------------------------------------------------------------------------

    def to_saved(self) -> SavedMatchRow:
        """Return the row that keeps this match."""
        low, high = sorted(self.names)
        return SavedMatchRow((low, high), self.serial, match_winner(self.state) is not None, self.to_json())

    def to_json(self) -> str:
        """Return everything but the users."""
        return json.dumps(
            {
                "names": self.names,
                "state": _CONVERTER.unstructure(self.state),
                "colours": self.colours,
                "serial": self.serial,
                "throws": self.throws,
                "moves": self.moves,
                "can_move": self.can_move,
            }
        )

    @classmethod
    def from_saved(cls, saved: SavedMatchRow) -> ServerMatch:
        """Read a saved match.

        Raises:
            CorruptMatchError: if it is none.
        """
        try:
            values: dict[str, Any] = json.loads(saved.state)
            a, b = values["names"]
            x, o = values["colours"]
            can_a, can_b = values["can_move"]
            state = _CONVERTER.structure(values["state"], GameState)
            table = cls(
                (a, b),
                state,
                (Colour(x), Colour(o)),
                int(values["serial"]),
                int(values["throws"]),
                list(map(str, values["moves"])),
                (int(can_a), int(can_b)),
            )
            flaw = table.board(Seat.A, a, b).flaw()
        except Exception as error:  # whatever is wrong with it, it is the saved match
            raise CorruptMatchError(str(error)) from error
        if flaw or sorted(table.names) != list(saved.names):
            raise CorruptMatchError(flaw or "the players are others")
        return table


def new_match(inviter: User, joiner: User, length: int, serial: int) -> ServerMatch:
    """Set up a match as both players' toggles want it, the inviter as X; `length` is as messages have it."""
    own_length = fibs.length_from_fibs(length)
    state = start_match(_laws(inviter, joiner), own_length)
    return ServerMatch((inviter.name, joiner.name), state, (Colour.X, Colour.O), serial)


def update_laws(table: ServerMatch) -> None:
    """Take up what both players' toggles say, before a game (autodouble) or a match that goes on (redoubles)."""
    a, b = table.users[Seat.A], table.users[Seat.B]
    table.state = evolve(table.state, laws=evolve(_laws(a, b), crawford=table.state.laws.crawford))


def _laws(a: User, b: User) -> Laws:
    """Return the laws that two users agree on: Crawford unless both are against it, the rest only if both want it."""
    limits = [user.settings.redoubles for user in (a, b) if user.settings.redoubles is not None]
    return evolve(
        FIBS,
        crawford=a.settings[Toggle.CRAWFORD] or b.settings[Toggle.CRAWFORD],
        automatic=AutomaticRaise.DOUBLE
        if a.settings[Toggle.AUTODOUBLE] and b.settings[Toggle.AUTODOUBLE]
        else AutomaticRaise.NONE,
        redoubles=min(limits, default=MAX_SHOWN),
        cube_limit=CUBE_LIMIT,
    )
