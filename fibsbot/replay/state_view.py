"""The view that a `table:` line gives of a game: the whole state, but for the cube's owner and the number of turns."""

from __future__ import annotations

from typing import Final, Self

from attrs import fields, frozen

from fibs_protocol.table_state import TableState
from fibsbot.bot.tracked_match import Difference
from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules.backgammon import first_board
from fibsbot.rules.ruleset import Opening
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table_lines import game_from_state, table_state

_NOT_COMPARED: Final = frozenset({"player", "opponent", "colour", "may_double", "opponent_may_double"})
"""Fields of a line that do not follow from the game alone: no line shows the cube's owner."""
_COMPARED: Final = tuple(attribute.name for attribute in fields(TableState) if attribute.name not in _NOT_COMPARED)
_BETWEEN_TURNS: Final = frozenset({Stage.OPENING, Stage.OVER})


@frozen
class StateView:
    """What a line shows, with its player at seat A."""

    line: TableState
    shown: GameState

    @classmethod
    def from_line(cls, line: TableState) -> Self:
        """Return the view of a line. Raises ValueError if it shows no state of the game that it names."""
        return cls(line, game_from_state(line))

    @property
    def length(self) -> int:
        """The length of the match, 0 for an unlimited one."""
        return self.shown.length

    @property
    def scores(self) -> tuple[int, int]:
        """The points of both players."""
        return self.shown.scores

    @property
    def turn(self) -> Seat | None:
        """Whose turn it is; None before the opening roll and between two games."""
        return None if self.shown.stage in _BETWEEN_TURNS else self.shown.turn

    @property
    def dice(self) -> tuple[int, ...] | None:
        """The dice on the board."""
        return self.shown.dice

    def shows(self, state: GameState) -> bool:
        """Whether the line can show a state."""
        return not self.differences(state)

    def differences(self, state: GameState) -> tuple[Difference, ...]:
        """Return how the line differs from a state."""
        line = self.line
        ours = table_state(state, Seat.A, line.player, line.opponent, line.colour)
        pairs = ((name, getattr(ours, name), getattr(line, name)) for name in _COMPARED)
        return tuple(Difference(name, mine, theirs) for name, mine, theirs in pairs if mine != theirs)

    @property
    def shows_opening_roll(self) -> bool:
        """Whether this is the opening roll: no checker has moved, and two different dice are to be played."""
        shown = self.shown
        return (
            shown.stage is Stage.MOVE
            and shown.rules.opening is Opening.BOTH
            and len(set(shown.dice or ())) > 1
            and shown.cube == 1
            and shown.sides == shown.rules.start()
        )

    def opening_state(self) -> GameState:
        """Return the state before the opening roll, with the score and the cube of the line."""
        shown, board = self.shown, first_board(self.shown.rules)
        return fast_evolve(
            shown, stage=Stage.OPENING, board=board, turn=Seat.A, dice=None, todo=(), throws=0, resignation=None
        )

    def state(self, before: GameState | None = None) -> GameState:
        """Return the state that the line shows; `before` has the cube's owner and the turns, which no line shows."""
        shown = self.shown
        if before is None:
            return shown
        owner = before.owner if shown.owner is None and shown.cube == before.cube else shown.owner
        return fast_evolve(shown, laws=before.laws, owner=owner, turns=before.turns + (shown.turn is not before.turn))
