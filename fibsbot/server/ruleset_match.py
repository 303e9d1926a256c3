"""RulesetMatch: a match of a game other than backgammon between two users; matches as the database has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Self

from attrs import define

from fibs_protocol import messages as m
from fibs_protocol.grammar import write
from fibs_protocol.words import Colour
from fibsbot import fibs_numbering
from fibsbot.evolve import evolve
from fibsbot.games.text import game_from_json, game_to_json
from fibsbot.position import Play
from fibsbot.rules.game import start_match_of
from fibsbot.rules.ruleset import Numbers, Ruleset
from fibsbot.rules.state import GameState, Seat
from fibsbot.server.accounts import GameRating
from fibsbot.server.database import Database, SavedMatchRow
from fibsbot.server.pair_match import PairMatch
from fibsbot.server.server_match import CUBE_LIMIT, ServerMatch, wants_crawford
from fibsbot.server.users import User
from fibsbot.table_lines import moves_to_fibs, table_state

_KIND: Final = '{"ruleset": '
"""How the saved state of a match begins that is not of backgammon."""


@define(eq=False)
class RulesetMatch(PairMatch[GameState]):
    """A match of a game other than backgammon."""

    new_ratings: tuple[GameRating, ...] = ()
    """Once the match is over, the ratings that its end has changed."""

    @property
    def rules(self) -> Ruleset:
        """The game that is played."""
        return self.state.rules

    @property
    def game(self) -> str:
        """The name of the game, with options after colons."""
        return self.state.rules.full_name

    @property
    def on_turn(self) -> Seat:
        """The player who has to act, or who is on turn while nobody has to."""
        return self.state.turn if self.state.decides is None else self.state.decides

    def is_shown_to(self, user: User) -> bool:
        """Return whether a user's client understands the lines of this match."""
        return user.plays_games

    def shown(self, seat: Seat, player: str, opponent: str, *, requested: bool = False) -> m.TableBoard:  # noqa: ARG002 - a table always shows offers
        """Return the board from a seat's side, with the names to show."""
        return m.TableBoard(table_state(self.state, seat, player, opponent, self.colours[seat]))

    def pips(self, seat: Seat) -> tuple[int, int]:
        """Return the pip counts of a seat and of the other one."""
        table = self.state.sides_for(seat)
        return table.own.pips, table.opponent.pips

    def record_part(self, seat: Seat, numbers: Numbers, play: Play) -> None:
        """Add the play of a part of a turn to the list of moves."""
        colour, moves = self.colours[seat], moves_to_fibs(play)
        if len(numbers) == 2:
            self.moves.append(write(m.MovesPlay(colour, (numbers[0], numbers[1]), moves)))
        else:
            self.moves.append(write(m.MovesPart(colour, numbers, moves)))

    def list_moves(self, seat: Seat) -> tuple[m.Message, ...]:
        """Return the list of the current game, with the score from a seat's side."""
        return (m.MovesGame(self.game), *super().list_moves(seat))

    def save(self, database: Database, now: float) -> None:
        """Save the match, and with its end the ratings that have changed."""
        database.save_match(self.to_saved(), now, ratings=self.new_ratings)

    def to_json(self) -> str:
        """Return everything except the users as JSON."""
        values = {
            "ruleset": game_to_json(self.state),
            "names": self.names,
            "colours": self.colours,
            "serial": self.serial,
            "rolls": self.rolls,
            "moves": self.moves,
        }
        return json.dumps(values)

    @classmethod
    def _from_values(cls, values: Mapping[str, Any]) -> Self:
        """Return the match that `to_json` has written."""
        a, b = values["names"]
        x, o = values["colours"]
        state = game_from_json(values["ruleset"])
        return cls(
            (a, b),
            evolve(state, laws=evolve(state.laws, cube_limit=CUBE_LIMIT)),
            (Colour(x), Colour(o)),
            int(values["serial"]),
            int(values["rolls"]),
            list(map(str, values["moves"])),
        )


def new_ruleset_match(inviter: User, joiner: User, length: int, serial: int, rules: Ruleset) -> RulesetMatch:
    """Return a new match, the inviter as X, by both players' toggles; `length` is as in messages."""
    state = start_match_of(rules, fibs_numbering.length_from_fibs(length))
    crawford = rules.laws.crawford and wants_crawford(inviter, joiner)
    state = evolve(state, laws=evolve(rules.laws, cube_limit=CUBE_LIMIT, crawford=crawford))
    return RulesetMatch((inviter.name, joiner.name), state, (Colour.X, Colour.O), serial)


def load_match(saved: SavedMatchRow) -> PairMatch[Any] | None:
    """Read a saved match of any game; None if the row is corrupt."""
    kind: type[RulesetMatch | ServerMatch] = RulesetMatch if saved.state.startswith(_KIND) else ServerMatch
    return kind.from_saved(saved)
