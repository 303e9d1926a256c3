"""The strategy `engine`: our engine in backgammon and games that are like it, the network of the game in others.

It evaluates as it decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from fibsbot.engine.engine import Engine
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.ruleset import Ruleset
from fibsbot.strategies.backgammon_player import BackgammonPlayer
from fibsbot.strategies.base import CubeAnswer, CubeValues, Opponent, PlayAnswer, PlayValue, PositionValue
from fibsbot.strategies.engine_options import EngineOptions, is_of_other_games
from fibsbot.strategies.network_player import NetworkPlayer


class EngineStrategy:
    """Play by our own engine; `engine:2` looks 2 plies ahead, `engine:time=1.5` as far as that many seconds allow.

    `engine:rollout` rolls out close decisions, `engine:rollout,time=3` as long as that many seconds allow. Games that
    are not like backgammon are played by the network of the game (`NetworkPlayer`).
    """

    knows_laws = True

    def __init__(self, options: str = "", *, engine: Engine | None = None) -> None:
        """Load the engine.

        Args:
            options: see `EngineOptions.parse`.
            engine: the engine to use instead of the bundled one.

        Raises:
            ValueError: the options are invalid.
            NetworkError: the networks are missing or damaged.
        """
        self.name = f"engine:{options}" if options else "engine"
        parsed = EngineOptions.parse(options)
        self._options, self._engine = parsed, engine
        if engine is not None or not (parsed.networks and is_of_other_games(parsed.networks)):
            _ = self._backgammon  # what is wrong with the networks is said at once
        self._others = NetworkPlayer(parsed.chequer, parsed.networks)

    @cached_property
    def _backgammon(self) -> BackgammonPlayer:
        return BackgammonPlayer(self._options, self._engine)

    def _player(self, state: MatchState) -> BackgammonPlayer | NetworkPlayer:
        return self._backgammon if is_backgammon(state.rules) else self._others

    @property
    def details(self) -> str:
        """Version and plies in backgammon, and after a semicolon the networks."""
        return self._backgammon.details

    def details_of(self, rules: Ruleset) -> str:
        """Return the same for a game."""
        return self._backgammon.details if is_backgammon(rules) else self._others.details

    def plays_game(self, rules: Ruleset) -> bool:  # noqa: ARG002 - the interface
        """Play every game."""
        return True

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:
        """Choose the best play."""
        return self._player(state).choose_play(state, plays)

    def reject_roll(self, state: MatchState) -> bool:
        """Reject the roll if a new one at twice the cube is worth more; only in backgammon."""
        return self._backgammon.reject_roll(state)

    def offer_double(self, state: MatchState) -> CubeAnswer:
        """Double if that gains."""
        return self._player(state).offer_double(state)

    def answer_double(self, state: MatchState) -> CubeAnswer:
        """Take if that loses less than a pass, and beaver if it wins."""
        return self._player(state).answer_double(state)

    def accept_resignation(self, state: MatchState) -> bool:
        """Accept if the offer is worth as much as playing on."""
        return self._player(state).accept_resignation(state)

    def resign(self, state: MatchState) -> int:
        """Resign a game of backgammon that is certainly lost, and no other game."""
        return self._player(state).resign(state)

    def choose_name(self, state: MatchState) -> int:
        """Name the best number."""
        return self._others.choose_name(state)

    def accept_invitation(self, opponent: Opponent, length: int) -> str | None:  # noqa: ARG002 - the interface
        """Accept every opponent and length that the policy accepts."""
        return None

    def forget(self) -> None:
        """Forget evaluated positions: it then answers as a new strategy, to the last digit."""
        if "_backgammon" in vars(self):
            self._backgammon.forget()

    def close(self) -> None:
        """Release nothing."""

    # -- as an evaluator ------------------------------------------------------------------------------------------

    def value(self, state: MatchState) -> float:
        """Return the value to the player on roll, with good cube play."""
        return self._player(state).value(state)

    def value_position(self, state: MatchState) -> PositionValue:
        """Return the value to the player on roll, with plies and chances."""
        return self._player(state).value_position(state)

    def value_plays(self, state: MatchState, plays: Sequence[Play]) -> list[float]:
        """Return the value of each play."""
        return self._player(state).value_plays(state, plays)

    def value_rolls(self, state: MatchState) -> list[float]:
        """Return the value of the best play of each roll: of the 21 of two dice, or the 56 of three."""
        return self._player(state).value_rolls(state)

    def compare_plays(self, state: MatchState, plays: Sequence[Play], made: Play) -> list[PlayValue]:
        """Return the value of each play; the one that was made is searched as deep as the best ones."""
        return self._player(state).compare_plays(state, plays, made)

    def value_names(self, state: MatchState) -> list[float]:
        """Return the value of naming each of `state.names`, in games in which something is named."""
        return self._others.value_names(state)

    def value_cube(self, state: MatchState) -> CubeValues:
        """Return the values of doubling and not doubling."""
        return self._player(state).value_cube(state)

    def match_chance(self, state: MatchState, points: int) -> float:
        """Return the chance to win the match after winning this game with `points`; negative if lost."""
        return self._player(state).match_chance(state, points)
