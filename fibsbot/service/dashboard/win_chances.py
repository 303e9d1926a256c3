"""What running bots' chances are on the boards that a page shows."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import structlog

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.loader import ReusedStrategies
from fibsbot.table.hints import Adviser
from fibsbot.text import describe_error

EVALUATOR: Final = "engine:0"
"""It does not look ahead: a board takes about a millisecond, and no bot waits for it."""
_log = structlog.get_logger(__name__)


class WinChances:
    """Evaluates boards, one at a time in a thread of its own, and each once."""

    def __init__(self) -> None:
        """Load nothing: the engine is needed when the first board is shown."""
        self._adviser: Adviser | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="win-chances")
        self._known: dict[str, tuple[GameState, float | None]] = {}
        self._warned = False

    async def of(self, account: str, game: GameState, seat: Seat) -> float | None:
        """Return the chance that the player at `seat` wins the game; None where nobody has anything to decide."""
        known = self._known.get(account)
        if known is not None and known[0] is game:
            return known[1]
        try:
            chance = await asyncio.get_running_loop().run_in_executor(self._thread, self._evaluate, game, seat)
        except Exception as error:  # noqa: BLE001 - whatever an evaluator raises, the page goes on
            chance = None
            if not self._warned:
                self._warned = True
                _log.warning("no chances on the page", reason=describe_error(error))
        self._known[account] = game, chance
        return chance

    def _evaluate(self, game: GameState, seat: Seat) -> float | None:
        if self._adviser is None:
            self._adviser = Adviser(ReusedStrategies().fresh_evaluator(EVALUATOR))
        game = played_on(game)
        if game.decides is None:
            return None
        hint = self._adviser.hint(game, game.decides)
        chances = hint and (hint.chances or hint.choices[0].chances)
        if not chances:
            return None
        return chances[0] if game.decides is seat else 1.0 - chances[0]


def played_on(game: GameState) -> GameState:
    """Return a game as it is if the offers that wait for an answer are declined or taken, and it goes on."""
    game = fast_evolve(game, resignation=None)
    if game.stage is Stage.DOUBLED:
        game = fast_evolve(game, stage=Stage.ROLL, offered=0, answering=None)
    return game
