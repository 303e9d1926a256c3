"""The family of tables games: one core, and a small module for each game.

`load_ruleset("plakoto:exception")` returns a game by its name, with options after colons; the core that all of them
share, and backgammon, are in `fibsbot.rules`.
"""

from __future__ import annotations

import difflib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fibsbot.rules.ruleset import Ruleset

_WHERE: Final = {
    "backgammon": "fibsbot.rules.backgammon:BACKGAMMON",
    "tabula": "fibsbot.games.tabula:RULES",
    "irish": "fibsbot.games.irish:RULES",
    "swedish": "fibsbot.games.swedish:RULES",
    "dutch": "fibsbot.games.dutch:RULES",
    "acey-deucey": "fibsbot.games.acey_deucey:RULES",
    "buff": "fibsbot.games.buff:RULES",
    "around": "fibsbot.games.around:RULES",
    "plakoto": "fibsbot.games.plakoto:RULES",
    "gioul": "fibsbot.games.gioul:RULES",
    "greek": "fibsbot.games.greek:RULES",
    "russian1": "fibsbot.games.russian1:RULES",
    "russian2": "fibsbot.games.russian2:RULES",
    "ticktack": "fibsbot.games.ticktack:RULES",
    "nackgammon": "fibsbot.games.backgammons:NACKGAMMON",
    "hyper": "fibsbot.games.backgammons:HYPER",
    "portes": "fibsbot.games.backgammons:PORTES",
    "fevga": "fibsbot.games.fevga:RULES",
    "narde": "fibsbot.games.narde:RULES",
    "gulbara": "fibsbot.games.gulbara:RULES",
    "tapa": "fibsbot.games.tapa:RULES",
    "longgammon": "fibsbot.games.backgammons:LONGGAMMON",
    "misere": "fibsbot.games.backgammons:MISERE",
}
"""Where the ruleset of each game is: a module, and a name in it."""
GAMES: Final = tuple(name for name in _WHERE if name != "backgammon")
"""The names of the games besides backgammon: those of the founding documents first, then those of today."""


class UnknownGameError(ValueError):
    """There is no game, or no option, of this name."""


def unknown_game(name: str, *others: str) -> UnknownGameError:
    """Return the error for a name that is neither that of a game here nor one of the others."""
    return UnknownGameError(f"expected a game such as {_suggestion(name.lower(), (*others, *GAMES))}, got {name!r}")


_LOADED: Final[dict[str, Ruleset]] = {}
"""Each game with each choice of options that has been loaded, by its full name. There are some thousand of them."""


@lru_cache
def load_ruleset(name: str) -> Ruleset:
    """Return a game by its name, with options after colons in any order, such as `plakoto:exception`.

    The same game with the same options is the same object, as rulesets are compared by identity.

    Raises UnknownGameError if the game or an option does not exist, or if two options change the same law.
    """
    game, *options = name.lower().split(":")
    if game not in _WHERE:
        raise unknown_game(name, "backgammon")
    rules: Ruleset = pkgutil.resolve_name(_WHERE[game])
    own = {option.name: option for option in rules.options}
    changed: dict[tuple[bool, str], str] = {}
    # The common options come last: they change what the game's own options have left.
    for option in sorted(dict.fromkeys(options), key=lambda name: name not in own):
        known = own | {common.name: common for common in rules.common_options}
        if option not in known:
            raise UnknownGameError(f"expected {_suggestion(option, tuple(known))} after {game}:, got {option!r}")
        for field in known[option].changes:
            other = changed.setdefault((option in own, field), option)
            if other != option:
                raise UnknownGameError(f"expected only one of {other} and {option}: both change the same law")
        rules = rules.with_option(known[option])
    return _LOADED.setdefault(rules.full_name, rules)


def load_other_game(name: str) -> Ruleset:
    """Return a game as `load_ruleset` does, for what concerns other games than backgammon alone; raise its errors."""
    game = name.lower().partition(":")[0]
    if game == "backgammon":
        raise UnknownGameError(f"expected another game than backgammon, got {name!r}")
    if game not in _WHERE:
        raise unknown_game(name)
    return load_ruleset(name)


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    """Return the closest names, or all of them."""
    return ", ".join(difflib.get_close_matches(name, known) or known)
