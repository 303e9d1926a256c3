"""Decisions: their stages, and pure functions: which one is open, its question, its obvious answer and its command."""

from __future__ import annotations

import enum
from collections.abc import Hashable
from functools import cached_property
from typing import Any, Final

from attrs import define, evolve, frozen

from fibs_protocol import commands as c
from fibs_protocol.commands import Command, ResignLevel
from fibs_protocol.session import State
from fibs_protocol.words import YOU
from fibsbot.bot.events_and_actions import DecisionKey
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch, cannot_move
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.games.sides_text import format_sides
from fibsbot.match import MatchState, Phase
from fibsbot.notation import NotationError, Xgid, format_play
from fibsbot.position import Play
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import Level
from fibsbot.strategies.base import CubeAction, CubeAnswer, PlayAnswer
from fibsbot.strategies.questions import (
    AcceptAnswer,
    NameAnswer,
    Question,
    RejectRollAnswer,
    ResignAnswer,
    RollQuestion,
    StrategyAnswer,
    question_of,
)
from fibsbot.table_lines import moves_to_fibs

_PHASES: Final = {
    State.MY_ROLL: Phase.ROLL,
    State.MY_MOVE: Phase.MOVE,
    State.THEY_DOUBLED: Phase.DOUBLED,
    State.THEY_RESIGNED: Phase.RESIGNED,
    State.MY_NAMING: Phase.MOVE,
}
LOST_QUESTION: Final = "no answer came"
"""Why the last resort has decided where the answer to a question was lost."""
RESIGNATION_WAITS_STATES: Final = frozenset({State.MY_ROLL, State.MY_MOVE, State.THEIR_TURN})
"""States in which an offer to resign may still be open although the opponent has played on."""
_CUBE_COMMANDS: Final[dict[CubeAction, Command]] = {
    CubeAction.ROLL: c.Roll(),
    CubeAction.DOUBLE: c.Double(),
    CubeAction.TAKE: c.Accept(),
    CubeAction.PASS: c.Reject(),
    CubeAction.BEAVER: c.Redouble(),
}


@frozen
class DecisionCommand:
    """A decision as a command."""

    command: Command
    text: str
    """The answer in usual notation."""
    play: Play | None = None


class DecisionStage(enum.Enum):
    """The stages of a decision."""

    SEEN = "seen"
    """The strategy has not been asked yet."""
    ASKED = "asked"
    """The strategy is thinking."""
    ANSWERED = "answered"
    """The command waits to be sent."""
    SENT = "sent"
    UNCONFIRMED = "in doubt"
    """The command was refused, or got no answer; a board has to show whether the decision is still open."""
    REFUSED = "refused"
    """The command was refused, and there is no other: it goes out again when something new has happened."""


@frozen
class AnswerDetails:
    """How a decision was made."""

    seconds: float
    """Seconds from when the decision was seen to the answer."""
    equity: float | None
    fallback: str | None


@define
class PendingDecision:
    """A decision from when it is seen until the server confirms it."""

    key: DecisionKey
    direction: int
    """The one in which we move on the server's board, where that matters."""
    seen: float
    """On the agent's clock."""
    state: MatchState
    question: Question | None = None
    """None for a decision that has only one answer."""
    stage: DecisionStage = DecisionStage.SEEN
    think_time: float = 0.0
    """Pretended thinking time, in seconds since the decision was seen."""
    due: float = 0.0
    """When it may be sent at the earliest."""
    reply: DecisionCommand | None = None
    details: AnswerDetails | None = None
    """Details of the reply for the record; None once that is written."""
    attempts: int = 0
    place: int = 0
    """The place of its command among all that were sent on this connection."""
    times_asked: int = 0
    """How often `time` was sent since it became unconfirmed."""
    boards_seen: int = 0
    """Boards that have come since it became unconfirmed."""

    @cached_property
    def situation(self) -> Hashable:
        """The situation that a refusal applies to: the same roll in the same position may occur again."""
        key = self.key
        dice = tuple(sorted(key.dice or ()))
        return key.game, key.phase, key.score, key.board, dice, key.todo, key.cube, key.offer


def obvious_answer(state: MatchState, resigned_points: int) -> StrategyAnswer | None:
    """Return the answer to a decision that needs no thought, such as a forced play; None for any other.

    `resigned_points` is what an offered resignation is worth; 0 if that is not known.
    """
    match state.phase:
        case Phase.MOVE if not state.may_reject and not state.has_choice:
            return PlayAnswer(next(iter(state.plays), Play()))
        case Phase.NAME if len(state.names) == 1:
            return NameAnswer(state.names[0])
        case Phase.RESIGNED if not resigned_points:
            return AcceptAnswer(accepted=False)  # the line that says what is offered got lost
        case Phase.RESIGNED if state.length and state.score[0] + resigned_points >= state.length:
            return AcceptAnswer(accepted=True)
    return None


def question_for(state: MatchState, settings: AgentSettings, *, cube_closed: bool, resign_from: int) -> Question:
    """Return the question to put to the strategy.

    `cube_closed`: the server takes no double on this turn. `resign_from` is the least level that may be offered.
    """
    if state.phase is Phase.ROLL:
        return RollQuestion(state, not cube_closed and state.may_double, resign_from, _most_to_resign(state, settings))
    return question_of(state)


def _most_to_resign(state: MatchState, settings: AgentSettings) -> int:
    """Return the highest level at which to resign, 0 for none; the match is resigned only if the settings say so."""
    if not settings.play.resign:
        return 0
    highest = Level.BACKGAMMON if state.triple else Level.GAMMON
    levels = range(1, (highest if state.gammon else Level.SINGLE) + 1)
    keeps_match = settings.play.resign_match or not state.length
    return max((level for level in levels if keeps_match or level * state.cube < state.away[1]), default=0)


def command_for(state: MatchState, answer: StrategyAnswer, direction: int) -> DecisionCommand:
    """Return the command for an answer. `direction` is the one in which we move on the server's board of backgammon.

    A play that the rules refuse is never sent: the first legal one goes in its place.
    """
    if not isinstance(answer, PlayAnswer):
        return _command_without_moves(answer)
    try:
        play = state.check_play(answer.play)
    except RuleError:
        play = next(iter(state.plays), Play())
    moves = play_to_fibs(play, direction) if state.rules is BACKGAMMON else moves_to_fibs(play)
    return DecisionCommand(c.Move(moves) if moves else c.EmptyMove(), format_play(play, state), play)


def _command_without_moves(
    answer: CubeAnswer | ResignAnswer | AcceptAnswer | RejectRollAnswer | NameAnswer,
) -> DecisionCommand:
    """Return the command for an answer that is no play; it is the same in every game."""
    match answer:
        case RejectRollAnswer():
            return DecisionCommand(c.Rethrow(), "rethrow")
        case CubeAnswer():
            return DecisionCommand(_CUBE_COMMANDS[answer.action], answer.action.value)
        case ResignAnswer():
            return DecisionCommand(c.Resign(ResignLevel.of(answer.level)), f"resign {answer.level}")
        case AcceptAnswer(accepted=accepted):
            return DecisionCommand(c.Accept() if accepted else c.Reject(), "accept" if accepted else "reject")
        case NameAnswer():
            return DecisionCommand(c.Name(str(answer.number)), f"name {answer.number}")


def xgid_of(state: MatchState) -> str | None:
    """Return a decision as an XGID; None for what no XGID can say. An offer to resign is shown as what comes after."""
    try:
        return str(Xgid.of(evolve(state, phase=Phase.ROLL) if state.phase is Phase.RESIGNED else state))
    except NotationError:
        return None


def plays_of(decision: PendingDecision) -> tuple[Play, ...]:
    """Return the legal plays of a decision about a play; none if nothing is to be played."""
    return decision.state.plays if decision.state.phase is Phase.MOVE else ()


def recorded_board(state: MatchState) -> dict[str, Any]:
    """Return the fields of a record that show a decision: an XGID, or in other games than backgammon the board."""
    if state.rules is BACKGAMMON:
        return {"xgid": xgid_of(state)}
    return {"table": format_sides(state.sides), "rules": state.rules.full_name}


def open_key(tracked: TrackedMatch, state: State, resign_from: int, *, resignation_pending: bool) -> DecisionKey | None:
    """Return the key of the decision that we have to make now; None when there is none, or too little is known.

    A roll is not played before its board has come: the board is the truth, and it comes first (pitfall 10).

    Args:
        tracked: the match.
        state: of the connection.
        resign_from: the least level that we may still offer in this game: a rejected offer makes a new decision.
        resignation_pending: whether the opponent has played on before we answered an offer to resign, which no board
            of backgammon shows.
    """
    game, pending = tracked.state, resignation_pending and not tracked.shown_whole
    phase = Phase.RESIGNED if pending and state in RESIGNATION_WAITS_STATES else _PHASES.get(state)
    if phase is None or game is None or not tracked.running or tracked.player != YOU:
        return None
    mine = tracked.turn is PlayerSide.PLAYER
    may_move = mine and tracked.board_seen and tracked.dice is not None and not cannot_move(tracked)
    ready, offer = {
        Phase.ROLL: (mine and tracked.roll_prompted and tracked.dice is None, resign_from),
        Phase.MOVE: (may_move or bool(game.names), 0),
        Phase.DOUBLED: (tracked.doubled_by is PlayerSide.OPPONENT, tracked.offered_cube),
        Phase.RESIGNED: (pending or tracked.resigned_by is PlayerSide.OPPONENT, tracked.resigned_points),
    }[phase]
    if not ready:
        return None
    number = tracked.match, tracked.game, tracked.turn_count
    return DecisionKey(*number, phase, game.score, game.board, tracked.dice, game.cube, offer, game.todo)
