"""ServerMatch: a match of backgammon between two users, its board and its laws."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Self

from attrs import define, evolve

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.grammar import write
from fibs_protocol.words import Colour, Toggle
from fibsbot import fibs_numbering
from fibsbot.match import Dice
from fibsbot.position import Play
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, AutomaticRaise, Laws
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.server.pair_match import MAX_SHOWN, PairMatch
from fibsbot.server.saved_games import SAVED_GAMES
from fibsbot.server.users import User

CUBE_LIMIT: Final = 4096
"""The highest value of the cube: a `board:` line holds four digits."""
CRAWFORD_OFF: Final = 3
"""The token "forced move" in a match without the Crawford rule (docs/protocol.md, token 50)."""


@define(eq=False)
class ServerMatch(PairMatch[GameState]):
    """A match of backgammon between two users."""

    can_move: tuple[int, int] = (0, 0)
    """Checkers that each player could move after the last own roll; as on FIBS it is never reset."""

    def direction(self, seat: Seat) -> int:
        """Return the direction in which a player moves."""
        return fibs_numbering.DIRECTIONS[self.colours[seat]]

    def record_play(self, seat: Seat, dice: Dice, play: Play) -> None:
        """Add a play to the list."""
        moves = fibs_numbering.play_to_fibs(play, self.direction(seat))
        self.moves.append(write(m.MovesPlay(self.colours[seat], fibs_numbering.dice_to_fibs(dice), moves)))

    def pips(self, seat: Seat) -> tuple[int, int]:
        """Return the pip counts of a seat and of the other one."""
        position = self.state.position_for(seat)
        return position.pips, position.opponent_pips

    # -- the board --------------------------------------------------------------------------------------------------

    def shown(self, seat: Seat, player: str, opponent: str, *, requested: bool = False) -> m.Board:
        """Return the board from a seat's side, with the names to show."""
        return m.Board(self.board(seat, player, opponent, requested=requested))

    def board(self, seat: Seat, player: str, opponent: str, *, requested: bool = False) -> BoardState:
        """Return the board from a seat's side, with the names to show (docs/protocol.md).

        While a double waits, it is the answering player's turn and neither may double; `was_doubled` is only set on a
        board that the doubled player has requested.
        """
        state, colour, turn = self.state, self.colours[seat], self.on_turn
        direction = self.direction(seat)
        position = state.position_for(seat)
        doubled = state.stage is Stage.DOUBLED
        dice = fibs_numbering.dice_to_fibs(state.dice)
        own_turn = turn is seat
        return BoardState(
            player=player,
            opponent=opponent,
            length=self.length,
            score=min(state.scores[seat], MAX_SHOWN),
            opponent_score=min(state.scores[seat.other], MAX_SHOWN),
            points=fibs_numbering.cells_from_position(position, colour, direction),
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

    def to_json(self) -> str:
        """Return everything except the users as JSON."""
        values = {
            "names": self.names,
            "state": SAVED_GAMES.unstructure(self.state),
            "colours": self.colours,
            "serial": self.serial,
            "throws": self.rolls,
            "moves": self.moves,
            "can_move": self.can_move,
        }
        return json.dumps(values if self.agreed is None else {**values, "agreed": True})

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the match that `to_json` has written."""
        a, b = values["names"]
        x, o = values["colours"]
        can_a, can_b = values["can_move"]
        state = SAVED_GAMES.structure(values["state"], GameState)
        return cls(
            (a, b),
            state,
            (Colour(x), Colour(o)),
            int(values["serial"]),
            int(values["throws"]),
            list(map(str, values["moves"])),
            can_move=(int(can_a), int(can_b)),
            agreed=state.laws if values.get("agreed") else None,
        )


def new_match(inviter: User, joiner: User, length: int, serial: int, agreed: Laws | None = None) -> ServerMatch:
    """Return a new match by the agreed laws or both players' toggles, the inviter as X; `length` is as in messages."""
    own_length = fibs_numbering.length_from_fibs(length)
    state = start_match(agreed or _laws(inviter, joiner), own_length)
    return ServerMatch((inviter.name, joiner.name), state, (Colour.X, Colour.O), serial, agreed=agreed)


def update_laws(match: ServerMatch) -> None:
    """Apply both players' toggles before a game (autodouble) or a resumed match (redoubles)."""
    if match.agreed is not None:
        return
    a, b = match.users[Seat.A], match.users[Seat.B]
    match.state = evolve(match.state, laws=evolve(_laws(a, b), crawford=match.state.laws.crawford))


def _laws(a: User, b: User) -> Laws:
    """Return the laws that two users agree on: Crawford if one of them wants it, the rest only if both do."""
    limits = [user.settings.redoubles for user in (a, b) if user.settings.redoubles is not None]
    return evolve(
        FIBS,
        crawford=wants_crawford(a, b),
        automatic=AutomaticRaise.DOUBLE
        if a.settings[Toggle.AUTODOUBLE] and b.settings[Toggle.AUTODOUBLE]
        else AutomaticRaise.NONE,
        redoubles=min(limits, default=MAX_SHOWN),
        cube_limit=CUBE_LIMIT,
    )


def wants_crawford(a: User, b: User) -> bool:
    """Return whether a match of two users has a Crawford game: if one of them wants it."""
    return a.settings[Toggle.CRAWFORD] or b.settings[Toggle.CRAWFORD]
