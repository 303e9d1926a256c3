"""Decisions: their stages, and pure functions: which one is open, its question, its obvious answer and its command.

In games other than backgammon a `table:` line shows everything that a decision depends on, so it is the decision's key.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from functools import cached_property
from typing import Final

from attrs import define, evolve, frozen

from fibs_protocol import commands as c
from fibs_protocol.commands import Command, ResignLevel
from fibs_protocol.session import State
from fibs_protocol.table_state import TablePlayer, TableState
from fibs_protocol.words import YOU
from fibsbot.bot.events_and_actions import AnyDecisionKey, DecisionKey, TableKey
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.tracked_match import PlayerSide, TrackedMatch, cannot_move
from fibsbot.fibs_numbering import play_to_fibs
from fibsbot.match import MatchState, Phase
from fibsbot.notation import NotationError, Xgid, format_play
from fibsbot.position import Play
from fibsbot.rules import general_plays as table_plays
from fibsbot.rules.errors import PlayError, RuleError
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import check_play, legal_plays
from fibsbot.rules.state import GameState
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
from fibsbot.table_lines import game_from_state, moves_to_fibs

_PHASES: Final = {
    State.MY_ROLL: Phase.ROLL,
    State.MY_MOVE: Phase.MOVE,
    State.THEY_DOUBLED: Phase.DOUBLED,
    State.THEY_RESIGNED: Phase.RESIGNED,
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

    key: AnyDecisionKey
    direction: int
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
        return key.game, key.phase, key.score, key.position, tuple(sorted(key.dice or ())), key.cube, key.offer


def open_decision_key(
    tracked: TrackedMatch, state: State, resign_from: int, *, resignation_pending: bool = False
) -> AnyDecisionKey | None:
    """Return the key of the decision that we have to make now; None when there is none, or too little is known.

    `resign_from` is the least level that we may still offer in this game: a rejected offer makes a new decision.
    `resignation_pending`: the opponent has played on before we answered an offer to resign, which still waits for it.
    A roll is not played before its board has come: the board is the truth, and it comes first (pitfall 10).
    """
    if tracked.table is not None:
        return _open_table_key(tracked, tracked.table, state, resign_from)
    phase = Phase.RESIGNED if resignation_pending and state in RESIGNATION_WAITS_STATES else _PHASES.get(state)
    if phase is None or tracked.state is None or not tracked.running or tracked.player != YOU:
        return None
    mine = tracked.turn is PlayerSide.PLAYER
    ready, offer = {
        Phase.ROLL: (mine and tracked.roll_prompted and tracked.dice is None, resign_from),
        Phase.MOVE: (mine and tracked.board_seen and tracked.dice is not None and not cannot_move(tracked), 0),
        Phase.DOUBLED: (tracked.doubled_by is PlayerSide.OPPONENT, tracked.offered_cube),
        Phase.RESIGNED: (resignation_pending or tracked.resigned_by is PlayerSide.OPPONENT, tracked.resigned_points),
    }[phase]
    if not ready:
        return None
    return DecisionKey(
        match=tracked.match,
        game=tracked.game,
        turn=tracked.turn_count,
        phase=phase,
        score=tracked.state.score,
        position=tracked.state.position,
        dice=tracked.dice,
        cube=tracked.state.cube,
        offer=offer,
    )


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


def command_for(key: AnyDecisionKey, answer: StrategyAnswer, direction: int) -> DecisionCommand:
    """Return the command for an answer. `direction` is the one in which we move on the server's board.

    A play that the rules refuse is never sent: the first legal one goes in its place.
    """
    if not isinstance(answer, PlayAnswer):
        return _command_without_moves(answer)
    if isinstance(key, TableKey):
        return _table_move(game_from_state(key.position), answer.play)
    if key.dice is None:
        raise ValueError("expected a decision with dice")
    try:
        play = check_play(key.position, key.dice, answer.play)
    except RuleError:
        play = next(iter(legal_plays(key.position, key.dice)), Play())
    return DecisionCommand(c.Move(play_to_fibs(play, direction)), format_play(play, key.position), play)


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


# -- games other than backgammon --------------------------------------------------------------------------------------


_TABLE_PHASES: Final = {**_PHASES, State.MY_NAMING: Phase.MOVE}


def _open_table_key(tracked: TrackedMatch, line: TableState, state: State, resign_from: int) -> TableKey | None:
    """Return the key of the decision that the last `table:` line asks us for; None if it is for others to act."""
    phase = _TABLE_PHASES.get(state)
    if phase is None or line.decides is not TablePlayer.PLAYER:
        return None
    offer = {Phase.ROLL: resign_from, Phase.DOUBLED: line.offered, Phase.RESIGNED: line.resignation}.get(phase, 0)
    return TableKey(tracked.match, tracked.game, tracked.turn_count, phase, line, offer)


def state_of_line(key: TableKey) -> MatchState:
    """Return the decision that a `table:` line asks us for. Raises ValueError if it asks for none."""
    game = game_from_state(key.position)
    state = MatchState.of(game, game.decides)
    if state is None:
        raise ValueError("expected a line with a decision of ours")
    return state


def _table_move(game: GameState, play: Play) -> DecisionCommand:
    try:
        play = table_plays.check_play(game.rules, game.sides, game.part, play)[0]
    except PlayError:
        play = next(iter(table_plays.legal_plays(game.rules, game.sides, game.part)), Play())
    return DecisionCommand(c.Move(moves_to_fibs(play)), format_play(play, game), play)
