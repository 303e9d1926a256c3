"""Set-ups of games that are played by the rules of backgammon; two besides the usual one have names in files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from fibsbot.evolve import evolve
from fibsbot.games import load_ruleset
from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON, position_of
from fibsbot.rules.state import GameState, Seat, Stage

USUAL: Final = Position.start()
NACKGAMMON: Final = "NackGammon"
"""As eXtreme Gammon spells it in a `.mat`."""
LONGGAMMON: Final = "LongGammon"


_GAMES: Final = {NACKGAMMON: "nackgammon", LONGGAMMON: "longgammon"}


@cache
def named_setups() -> Mapping[str, Position]:
    """Return the other set-ups that have a name, by that name."""
    return {name: position_of(load_ruleset(game).start()) for name, game in _GAMES.items()}


def setup_of_name(name: str) -> Position | None:
    """Return the set-up of this name, in any letters; None for an unknown one."""
    return next((it for known, it in named_setups().items() if known.lower() == name.strip().lower()), None)


def name_of_setup(position: Position) -> str | None:
    """Return the name of a set-up other than the usual one; None if it has none."""
    return next((name for name, it in named_setups().items() if it == position), None)


def unusual_setup(start: GameState) -> Position | None:
    """Return the set-up of a game from its opening roll, as seat A sees it; None for the usual one."""
    if start.stage is not Stage.OPENING or start.position == USUAL:
        return None
    return start.position_for(Seat.A)


def with_setup(start: GameState, position: Position) -> GameState:
    """Return the beginning of a game from another set-up, which is seen by seat A."""
    name = name_of_setup(position)
    rules = BACKGAMMON if name is None else load_ruleset(_GAMES[name])
    return evolve(start, turn=Seat.A, board=position, rules=rules)
