"""The strategies `pips` and `blots`: simple players of every game, to measure others by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from fibsbot.games.backgammons import last_wins
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.backgammon import sides_of
from fibsbot.rules.general_plays import outcome, resulting_boards
from fibsbot.rules.ruleset import Part, Ruleset
from fibsbot.rules.sides import HAND, OFF, Sides
from fibsbot.rules.state import Naming
from fibsbot.strategies.base import CubeAction, CubeAnswer, Opponent, PlayAnswer

WON: Final = 1e6
"""The value of a won game, above that of any board."""


class CautiousPlayer:
    """Answers about cube and resignation that are never far wrong, for players that do not estimate the result.

    It never doubles and never resigns, takes every double, and accepts a resignation unless more can still be won.
    """

    def plays_game(self, rules: Ruleset) -> bool:  # noqa: ARG002 - the interface
        """Play every game."""
        return True

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002
        """Never double."""
        return CubeAnswer(CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002
        """Take every double."""
        return CubeAnswer(CubeAction.TAKE)

    def accept_resignation(self, state: MatchState) -> bool:
        """Return whether the offer is a gammon, or no gammon can be won any more."""
        return state.resignation > 1 or not state.gammon or state.sides.opponent.row[OFF] > 0

    def resign(self, state: MatchState) -> int:  # noqa: ARG002
        """Never resign."""
        return 0

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002
        """Accept everybody."""
        return None

    def close(self) -> None:
        """Release nothing."""


class ValuingPlayer(CautiousPlayer, ABC):
    """Chooses the play with the best board after it, by values that a subclass gives to boards.

    Of boards with the same value it prefers that with the most checkers off, then with the most on low points.
    """

    @abstractmethod
    def values(self, state: MatchState, boards: Sequence[Sides]) -> Sequence[float]:
        """Return how good these boards are for the player, who has just moved and whose side is `Sides.own`.

        Some of them may end the game.
        """

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the play to the board with the highest value."""
        boards = [sides_of(board) for board in state.boards_after(plays)]
        _, _, best = max(self._rated(state, boards))
        return PlayAnswer(plays[-best])

    def choose_name(self, state: MatchState) -> int:
        """Name the double with the best play, or the point that leaves the best board when it is opened."""
        rated = []
        for number in state.names:
            if state.naming is Naming.DOUBLE:
                boards = list(resulting_boards(state.rules, state.sides, Part((number,) * 4)))
            else:
                boards = [_opened(state, number)]
            value, _, _ = max(self._rated(state, boards))
            rated.append((value, number))
        return max(rated)[1]

    def _rated(self, state: MatchState, boards: Sequence[Sides]) -> list[tuple[float, tuple[int, ...], int]]:
        """Return of each board what it is rated by; of equal ones the first is rated highest, by its negative place."""
        values = self.values(state, boards)
        return [(value, board.own.row, -place) for place, (value, board) in enumerate(zip(values, boards, strict=True))]


def _opened(state: MatchState, point: int) -> Sides:
    """Return the board, the player's own side first, after the player has opened a point."""
    if state.on_turn:
        return state.rules.open_point(state.sides, point)
    return state.rules.open_point(state.sides.swapped(), point).swapped()


def won(state: MatchState, board: Sides) -> float:
    """Return WON if a board wins, -WON if it loses, 0 if the game goes on or is drawn."""
    ended = outcome(state.rules, state.sides, board)
    return WON * ended.winner if ended else 0.0


class PipPlayer(ValuingPlayer):
    """Choose the play after which it is farthest ahead in the race; of equal ones that with the fewest blots.

    In a game that is lost by bearing off it stays behind, so that it does not hit unless it has to.
    """

    name = "pips"

    def values(self, state: MatchState, boards: Sequence[Sides]) -> Sequence[float]:
        """Return the pips that the opponent has to go beyond ours; a board that wins comes first."""
        return [won(state, board) + 64 * lead(state.rules, board) - blots(state.rules, board) for board in boards]


class BlotPlayer(ValuingPlayer):
    """Choose the play that leaves the fewest blots which the opponent can reach; of equal ones as `pips` does."""

    name = "blots"

    def values(self, state: MatchState, boards: Sequence[Sides]) -> Sequence[float]:
        """Return the number of blots, negative; a board that wins comes first."""
        return [won(state, board) + lead(state.rules, board) - 1024 * blots(state.rules, board) for board in boards]


def lead(rules: Ruleset, sides: Sides) -> int:
    """Return how many pips a side is ahead; behind, in a game that is lost by bearing off."""
    ahead = sides.opponent.pips - sides.own.pips
    return -ahead if last_wins in rules.ends else ahead


def blots(rules: Ruleset, sides: Sides) -> int:
    """Return how many checkers stand alone where an opposing one has still to pass."""
    farthest = sides.opponent.farthest
    return sum(sides.own.row[point] == 1 and rules.course.facing(point) < farthest for point in range(1, HAND))
