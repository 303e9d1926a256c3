"""The laws and the set-ups of the matches in files.

Games may begin from another set-up than the usual one, by the rules of backgammon; two set-ups have names in files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Final

from attrs import evolve

from fibsbot.games import load_ruleset
from fibsbot.match import CubeAction
from fibsbot.position import Position
from fibsbot.rules.backgammon import BACKGAMMON, position_of
from fibsbot.rules.law_words import LawWordsError, parse_law_words
from fibsbot.rules.laws import FIBS, UNLIMITED_REDOUBLES, Laws
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, RejectedRoll, add_points

USUAL: Final = Position.start()
NACKGAMMON: Final = "NackGammon"
"""As eXtreme Gammon spells it in a `.mat`."""
LONGGAMMON: Final = "LongGammon"
_GAMES: Final = {NACKGAMMON: "nackgammon", LONGGAMMON: "longgammon"}


def reading_laws(length: int, *, crawford: bool = True, jacoby: bool = False, cube: bool = True) -> Laws:
    """Return the laws for reading a match: those of the server, changed as the file says.

    In unlimited matches any number of beavers is allowed until `with_beavers_allowed` has counted them.
    """
    redoubles = 0 if length else UNLIMITED_REDOUBLES
    return evolve(FIBS, crawford=crawford, jacoby=jacoby, cube=cube, redoubles=redoubles)


def named_laws(words: str) -> Laws | None:
    """Return the laws that words name; None if they name none."""
    try:
        return parse_law_words(words)
    except LawWordsError:
        return None


def with_named_laws(laws: Laws, words: str) -> Laws:
    """Return laws with what the other laws of a match, as our own files name them."""
    named = named_laws(words)
    if named is None:
        return laws
    return evolve(
        laws,
        name=named.name,
        automatic=named.automatic,
        automatic_limit=named.automatic_limit,
        reject_first_throw=named.reject_first_throw,
        triple=named.triple,
        point_game=named.point_game,
    )


def raised_cube(game: Game) -> int:
    """Return the cube after rejected first rolls, which formats that other programs read show as the one at the start.

    After a gap the cube is known anyway.
    """
    seen = takewhile(lambda entry: not isinstance(entry, Gap), game.entries)
    return int(game.start.cube << sum(isinstance(entry, RejectedRoll) for entry in seen))


def scores_before(game: Game) -> tuple[int, int]:
    """Return the scores before a game, even if it was first seen when it was over."""
    result = game.start.result
    if result is None:
        return game.start.scores
    a, b = add_points(game.start.scores, result.winner, -result.points)
    return (max(a, 0), max(b, 0))


def with_beavers_allowed(games: Sequence[Game], *, least: int = 0) -> tuple[Game, ...]:
    """Return games whose laws allow as many instant redoubles in a row as one of them has.

    `least` is the number that the file allows.
    """
    most = max((_longest_beavers(game.entries) for game in games), default=0)
    most = max(most, least)
    return tuple(_with_redoubles(game, most) for game in games)


def _longest_beavers(entries: Sequence[Entry]) -> int:
    """Return the number of instant redoubles in the longest exchange."""
    most = row = 0
    for entry in entries:
        row = row + 1 if isinstance(entry, Cube) and entry.action is CubeAction.BEAVER else 0
        most = max(most, row)
    return most


def _with_redoubles(game: Game, most: int) -> Game:
    def changed(state: GameState) -> GameState:
        return evolve(state, laws=evolve(state.laws, redoubles=most))

    entries = (evolve(entry, then=changed(entry.then)) if isinstance(entry, Gap) else entry for entry in game.entries)
    return evolve(game, start=changed(game.start), entries=tuple(entries))


@cache
def named_setups() -> Mapping[str, Position]:
    """Return the other set-ups that have a name, by that name."""
    return {name: position_of(load_ruleset(game).start()) for name, game in _GAMES.items()}


def setup_of_name(name: str) -> Position | None:
    """Return the set-up of this name, in any letters; None for an unknown one."""
    return next((setup for known, setup in named_setups().items() if known.lower() == name.strip().lower()), None)


def name_of_setup(position: Position) -> str | None:
    """Return the name of a set-up other than the usual one; None if it has none."""
    return next((name for name, setup in named_setups().items() if setup == position), None)


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
