"""Pure functions on decisions in games other than backgammon: what decisions.py is for backgammon.

A `table:` line shows everything that a decision depends on, so it is the decision's key.
"""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol.session import State
from fibs_protocol.table_state import TablePlayer
from fibsbot.bot.decisions import DecisionCommand, command_without_moves
from fibsbot.bot.events_and_actions import TableKey
from fibsbot.bot.settings import AgentSettings
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.games.game import TableGame, choices
from fibsbot.games.plays import check_play, legal_plays
from fibsbot.match import Phase
from fibsbot.notation.table_plays import format_play
from fibsbot.position import Play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Stage
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.questions import AcceptAnswer, NameAnswer, StrategyAnswer
from fibsbot.strategies.table_questions import TableQuestion
from fibsbot.table_lines import game_from_state, moves_to_fibs

_PHASES: Final = {
    State.MY_ROLL: Phase.ROLL,
    State.MY_MOVE: Phase.MOVE,
    State.MY_NAMING: Phase.MOVE,
    State.THEY_DOUBLED: Phase.DOUBLED,
    State.THEY_RESIGNED: Phase.RESIGNED,
}


def open_table_key(tracked: TrackedMatch, state: State, resign_from: int) -> TableKey | None:
    """Return the key of the decision that the last `table:` line asks us for; None if it is for others to act."""
    line, phase = tracked.table, _PHASES.get(state)
    if line is None or phase is None or line.decides is not TablePlayer.PLAYER:
        return None
    offer = {Phase.ROLL: resign_from, Phase.DOUBLED: line.offered, Phase.RESIGNED: line.resignation}.get(phase, 0)
    return TableKey(tracked.match, tracked.game, tracked.turn_count, phase, line, offer)


def obvious_table_answer(game: TableGame) -> StrategyAnswer | None:
    """Return the answer to a decision that needs no thought; None for any other."""
    if game.resignation:
        wins = game.length and game.scores[0] + game.resignation.points >= game.length
        return AcceptAnswer(accepted=True) if wins else None
    if game.stage is Stage.MOVE:
        plays = legal_plays(game.rules, game.table, game.part)
        return PlayAnswer(plays[0] if plays else Play()) if len(plays) < 2 else None
    if game.stage is Stage.NAME and len(choices(game)) == 1:
        return NameAnswer(choices(game)[0])
    return None


def table_question(
    key: TableKey, game: TableGame, settings: AgentSettings, *, cube_closed: bool, resign_from: int
) -> TableQuestion:
    """Return the question to put to the strategy; see `decisions.question_for`."""
    may_double = key.phase is Phase.ROLL and key.position.may_double and not cube_closed
    most = 0
    if key.phase is Phase.ROLL and settings.play.resign:
        levels = range(1, (max(Level) if game.laws.triple else 2) + 1) if game.laws.gammon else (1,)
        keeps_match = not game.length or settings.play.resign_match
        most = max((it for it in levels if keeps_match or game.scores[1] + it * game.cube < game.length), default=0)
    return TableQuestion(game, may_double, resign_from, most)


def table_command(key: TableKey, answer: StrategyAnswer) -> DecisionCommand:
    """Return the command for an answer. A play that the rules refuse is never sent: a legal one goes in its place."""
    if not isinstance(answer, PlayAnswer):
        return command_without_moves(answer)
    game = game_from_state(key.position)
    play = _legal(game, answer.play)
    text = format_play(play, game.rules, game.table, game.part)
    return DecisionCommand(c.Move(moves_to_fibs(play)), text, play)


def table_plays(game: TableGame) -> tuple[Play, ...]:
    """Return the legal plays; none if nothing is to be played."""
    return legal_plays(game.rules, game.table, game.part) if game.stage is Stage.MOVE else ()


def _legal(game: TableGame, play: Play) -> Play:
    try:
        return check_play(game.rules, game.table, game.part, play)[0]
    except PlayError:
        return next(iter(legal_plays(game.rules, game.table, game.part)), Play())
