"""Decisions as text for other engines: `board:` lines of FIBS, and plays such as `bar/22 24/18 6/off`.

In a board line (docs/reference/protocol.md) the player who decides is always O, who moves from 24 to 1, so that its
cells are the player's points. It cannot express the Jacoby rule, a match without a cube, or the level of an offered
resignation. In a play that we write every step of every checker is written out, without `*` and `(2)`.

`TextStrategy` is the base of strategies whose engine answers each decision by a line of text.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from attrs import evolve

from fibs_protocol.board import BoardState
from fibs_protocol.errors import BoardError, LocalProtocolError
from fibs_protocol.words import Colour
from fibsbot.fibs_numbering import board_of, dice_to_fibs, match_state
from fibsbot.match import MatchState, Phase
from fibsbot.notation import parse_play
from fibsbot.position import BAR, OFF, Move, Play
from fibsbot.rules.errors import InvalidPlayError, PlayError
from fibsbot.rules.plays import check_play
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer
from fibsbot.strategies.child_process.engine_process import DeclinedError, EngineError
from fibsbot.strategies.heuristic.strategy import HeuristicStrategy

NAMES = ("You", "Opponent")


def board_line(state: MatchState) -> str:
    """Return the decision as a `board:` line. Raises DeclinedError if that is impossible.

    While the opponent's double or resignation is pending it is the opponent's turn. The score of an unlimited match
    does not matter and is left out.
    """
    waiting = state.phase in {Phase.DOUBLED, Phase.RESIGNED}
    board = evolve(
        board_of(state if state.length else evolve(state, score=(0, 0)), *NAMES),
        turn=Colour.X if waiting else Colour.O,
        dice=dice_to_fibs(state.dice if state.phase is Phase.MOVE else None),
    )
    try:
        return board.to_line()
    except LocalProtocolError as error:
        raise DeclinedError(f"cannot be asked: {error}") from None


def state_of_line(line: str) -> MatchState:
    """Return the decision that the player of a `board:` line has to make. Raises ValueError if there is none."""
    try:
        return decision_of_board(BoardState.from_line(line))
    except BoardError as error:
        raise ValueError(str(error)) from None


def decision_of_board(board: BoardState) -> MatchState:
    """Return the decision that a board's player has to make: a play, whether to double, or whether to take.

    Raises ValueError if this player has nothing to decide.
    """
    if board.dice != (0, 0):
        phase = Phase.MOVE
    elif board.opponent_dice == (0, 0) and _is_doubled(board):
        phase = Phase.DOUBLED
    else:
        phase = Phase.ROLL
    if phase is not Phase.DOUBLED and board.turn is not board.colour:
        raise ValueError("expected a board on which it is the player's turn, or a double to be answered")
    state = match_state(board, phase=phase, redoubles=board.redoubles)
    if state.position.over:
        raise ValueError("expected a board on which the game is not over")
    return evolve(state, redoubles=0 if state.length else state.redoubles)


def _is_doubled(board: BoardState) -> bool:
    """Whether the player has to answer a double; on FIBS neither player may double while one is pending."""
    nobody_may_double = not (board.may_double or board.opponent_may_double)
    return board.was_doubled and (board.turn is not board.colour or nobody_may_double)


_POINT: Final = re.compile(r"(bar|off|[0-9]{1,2})\*?")
LONGEST_PLAY: Final = 80
"""Characters of a play as people write it, and of what errors repeat."""
_SEPARATORS: Final = re.compile(r"[ /-]")
_WORDS: Final = {"bar": BAR, "off": OFF}
MeaningT = TypeVar("MeaningT")


def format_steps(play: Play) -> str:
    """Return a play as text; an empty text if no checker moves."""
    return " ".join(map(str, play.moves))


def parse_play_choice(text: str, state: MatchState, plays: Sequence[Play]) -> Play:
    """Return the legal play that an engine's text means. Raises EngineError if it is none of them.

    Steps may be written `8/5 6/5`, `8-5 6-5` and `8 5 6 5`; the bar may be 25, and off may be 0. A hit may be marked by
    `*`, which is ignored. Else the text is read as people write plays: `24/14`, `6/4(2)`, and a `*` needs a blot.
    """
    assert state.dice is not None  # noqa: S101 - phase MOVE
    try:
        result = state.position.play(check_play(state.position, state.dice, _parse_steps(text)))
    except PlayError:
        readable = text if len(text) <= LONGEST_PLAY and text.isascii() else ""
        try:
            result = state.position.play(parse_play(readable, state.position, state.dice))
        except InvalidPlayError:
            raise EngineError(f"expected a play such as 24/18 13/11, got {text[:LONGEST_PLAY]!r}") from None
        except PlayError as error:
            raise EngineError(f"expected a legal play, got {text[:LONGEST_PLAY]!r}: {error}") from None
    for play in plays:
        if state.position.play(play) == result:
            return play
    raise EngineError(f"expected one of the {len(plays)} plays offered, got {text[:LONGEST_PLAY]!r}")


def _parse_steps(text: str) -> Play:
    """Return a play whose steps are all written out. Raises InvalidPlayError if it has not this form."""
    words = [word for word in _SEPARATORS.split(text.strip()) if word]
    if len(words) > 8 or len(words) % 2 or not all(map(_POINT.fullmatch, words)):
        raise InvalidPlayError("expected moves such as 24/18 13/11")
    names = [word.rstrip("*") for word in words]
    points = [_WORDS[name] if name in _WORDS else int(name) for name in names]
    return Play(tuple(Move(source, target) for source, target in zip(points[::2], points[1::2], strict=True)))


def parse_word(words: Mapping[str, MeaningT], text: str) -> MeaningT:
    """Return the meaning of an engine's word. Raises EngineError if it is not one of `words`."""
    if text not in words:
        raise EngineError(f"expected {' or '.join(words)}, got {text[:LONGEST_PLAY]!r}")
    return words[text]


OFFERS: Final = {"roll": CubeAction.ROLL, "double": CubeAction.DOUBLE}
AnswerT = TypeVar("AnswerT")


class TextStrategy(ABC):
    """A strategy that asks an engine; `heuristic` decides what the engine has no words for."""

    def __init__(self) -> None:
        self._heuristic = HeuristicStrategy()

    @abstractmethod
    def _decide(self, state: MatchState, parse: Callable[[str], AnswerT]) -> AnswerT:
        """Return the parsed answer of the engine to a decision. Raises EngineError."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose one of the plays."""
        return PlayAnswer(self._decide(state, lambda answer: parse_play_choice(answer, state, plays)))

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double or roll."""
        return CubeAnswer(self._decide(state, partial(parse_word, OFFERS)))

    def resign(self, state: MatchState) -> int:
        """Resign a game that no dice can save; engines never resign."""
        return self._heuristic.resign(state)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Accept every opponent and length that the policy accepts."""
        return None
