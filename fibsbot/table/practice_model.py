"""An exercise at the table: the person decides once, and there is no opponent."""

from __future__ import annotations

from collections.abc import Callable

from fibsbot.drawing.markup import clean
from fibsbot.position import Play
from fibsbot.practice.exercises import NAME_LENGTH, Exercise, ExerciseKind
from fibsbot.rules.state import Seat
from fibsbot.table.model import Action, Preference, TableModel

PERSON = Seat.A
"""The seat of the person, whose decision it is."""


class PracticeModel(TableModel):
    """An exercise as the person sees it. Plays are made on the board; all else is asked for beside it."""

    def __init__(self, exercise: Exercise, decide: Callable[[Play], None]) -> None:
        """Show an exercise; `decide` is called with the play that the person makes."""
        names = clean(exercise.player, NAME_LENGTH), clean(exercise.opponent, NAME_LENGTH)
        super().__init__(names, PERSON, exercise.state.game(PERSON))
        self.exercise = exercise
        self.verdict = ""
        """What is said of the person's decision; empty until there is one."""
        self._decide = decide
        self.show_decision(self.state)

    @property
    def waiting(self) -> bool:
        """Whether the person has decided."""
        return bool(self.verdict)

    @property
    def sentence(self) -> str:
        """The question, and then the verdict."""
        return self.verdict or self.exercise.title

    @property
    def actions(self) -> tuple[Action, ...]:
        """What may be done on the board: a play is made there, and nothing else."""
        if self.waiting or self.exercise.kind is not ExerciseKind.PLAY:
            return ()
        return tuple(action for action, allowed in self._actions_in_play().items() if allowed and action in _ON_BOARD)

    def prefer(self, preference: Preference, *, wanted: bool) -> None:
        """Leave nothing to the table: the person is to decide."""

    def carry_out(self, action: Action, number: int = 0) -> None:
        """Do nothing: no such action is offered."""

    def make_play(self, play: Play) -> None:
        """Let the person's play be the answer."""
        self._decide(play)

    def show_solution(self, verdict: str) -> None:
        """Show the position before the play again, with what is said of the decision."""
        self.verdict = verdict
        self.play = None


_ON_BOARD = frozenset({Action.MOVE, Action.UNDO, Action.SWAP, Action.DONE})
