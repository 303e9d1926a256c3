"""Decisions as the lines that gnubg's external mode answers. What is said of them here was found by asking 1.07.001.

- After a board may follow `jacobyrule on`, `crawfordrule off`, `beavers on` and `resignation 2`. The Crawford game is
  one in which somebody is a point away and "did Crawford" (token 51) is 0, unless `crawfordrule off` follows.
- While a double or resignation is pending the turn has to be the other side's: else it answers for the wrong player.
- `evaluation fibsboard BOARD plies N cube on` is answered by the chances of the player on roll (to win, to win a gammon
  or backgammon, to lose one) and a sixth number: the cubeful equity at a cube of 1, or the chance to win the match.
- It takes the two scores for each other, but not when it answers a double. It displays them rightly (`set debug on`).
- A cube far above what wins the match kills it (512 in a match to 19).
- A hit is marked by `*`, no move is the empty line.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from attrs import evolve

from fibsbot.match import MatchState, Phase
from fibsbot.position import Position
from fibsbot.strategies.foreign.boards import board_line
from fibsbot.strategies.foreign.errors import EngineError
from fibsbot.strategies.judge import Chances, all_chances

MOST_CUBE: Final = 1024
"""What it is told of higher cubes in an unlimited match, where the value plays no part; it stops at 4096."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,3}\.[0-9]{1,9}")
_SWITCH: Final = ("off", "on")
_BEHIND: Final = MatchState(Position.start(), length=3, score=(0, 2), post_crawford=True)


def question(state: MatchState, *, scores_swapped: bool) -> str:
    """Return the line that asks for a decision.

    `scores_swapped` says whether this gnubg takes the scores for each other (see `PROBE`).
    """
    line = f"{_board(state, scores_swapped=scores_swapped)} beavers {_SWITCH[state.redoubles > 0]}"
    return f"{line} resignation {state.resignation}" if state.phase is Phase.RESIGNED else line


def value_question(state: MatchState, plies: int, *, scores_swapped: bool) -> str:
    """Return the line that asks what a position is worth before the throw."""
    board = _board(state, scores_swapped=scores_swapped)
    return f"evaluation fibsboard {board} plies {plies} cube {_SWITCH[not state.cubeless]}"


def _board(state: MatchState, *, scores_swapped: bool) -> str:
    """Return the board, with the rules that it does not tell."""
    state = with_a_cube_that_fits(state)
    if scores_swapped and state.phase is not Phase.DOUBLED:
        state = evolve(state, score=state.score[::-1])
    return f"{board_line(state)} jacobyrule {_SWITCH[state.jacoby]} crawfordrule {_SWITCH[state.crawford]}"


PROBE: Final = f"evaluation fibsboard {board_line(_BEHIND)} crawfordrule off plies 0 cube on"
"""Asks for the chances of one who is 0-2 behind in a match to 3."""


def swaps_scores(answer: str) -> bool:
    """Return what the answer to `PROBE` tells: whether who is behind is said to be ahead. Raises EngineError."""
    return evaluation(answer).value > 0.5


class Evaluation(NamedTuple):
    """What is answered to `evaluation`."""

    value: float
    """Points at a cube of 1, or the chance to win the match."""
    chances: Chances
    """Of the player on roll."""


def evaluation(answer: str) -> Evaluation:
    """Read the six numbers that are answered to `evaluation`; raise EngineError where they are none."""
    numbers = answer.split()
    if len(numbers) != 6 or not all(map(_NUMBER.fullmatch, numbers)):
        raise EngineError(f"expected six numbers, got {answer[:80]!r}")
    *chances, value = map(float, numbers)
    return Evaluation(value, all_chances(*chances))


def with_a_cube_that_fits(state: MatchState) -> MatchState:
    """Return a decision that is the same, with a cube no higher than what wins the match for either."""
    enough = 1 << (max(state.away) - 1).bit_length() if state.length else MOST_CUBE
    return evolve(state, cube=min(state.cube, enough))
