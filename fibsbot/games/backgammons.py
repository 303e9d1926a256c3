"""Games that are backgammon with another set-up, another count, or one more law."""

from __future__ import annotations

from typing import Final

from attrs import fields

from fibsbot.evolve import evolve
from fibsbot.games import standard
from fibsbot.games.game import TableGame
from fibsbot.games.ruleset import CUBE, GAMMONS, Opening, Option, Outcome, Ruleset
from fibsbot.games.table import HAND, HOME, OFF, Table
from fibsbot.position import CHECKERS, Position
from fibsbot.rules.laws import Laws
from fibsbot.rules.state import GameState, MatchGame


def last_wins(_rules: Ruleset, _before: Table, after: Table) -> Outcome | None:
    """Lose by bearing off all checkers."""
    return Outcome(-1, 1, "kept checkers on the board longer") if after.own.all_off else None


def hitter_stays(before: Table, after: Table, _source: int, target: int) -> Table:
    """Note that a checker that hit in its home table does not move on in this turn."""
    if not 0 < target <= HOME or after.opponent.hit == before.opponent.hit:
        return after
    return Table(evolve(after.own, held=after.own.held | 1 << target), after.opponent)


NACKGAMMON = standard.like_backgammon(
    name="nackgammon",
    title="Nackgammon",
    text="Nackgammon is backgammon from a set-up that makes longer games: two checkers on the 24-point, two on the "
    "23-point, four on the mid-point, three on the 8-point and four on the 6-point.",
    source="a game of today (Nack Ballard)",
    setup={24: 2, 23: 2, 13: 4, 8: 3, 6: 4},
    divide=standard.doubles_twice,
    laws=CUBE,
)
HYPER = evolve(
    NACKGAMMON,
    name="hyper",
    title="Hyper-backgammon",
    text="Hyper-backgammon is backgammon with three checkers for each side, on the 24-, 23- and 22-point.",
    source="a game of today",
    setup={24: 1, 23: 1, 22: 1},
)
LONGGAMMON = evolve(
    NACKGAMMON,
    name="longgammon",
    title="LongGammon",
    text="LongGammon is backgammon with all 15 checkers of each side on its 24-point.",
    source="a game of today",
    setup=standard.FARTHEST,
)
MISERE = evolve(
    NACKGAMMON,
    name="misere",
    title="Misere",
    text="Misere is backgammon to lose: the player who first bears off all checkers loses. Moves are compulsory as "
    "always, and every game counts 1 times the cube.",
    source="a game of today",
    setup=standard.BACKGAMMON,
    ends=(last_wins,),
    laws=Laws("misere", crawford=True, gammon=False),
)
PORTES = evolve(
    NACKGAMMON,
    name="portes",
    title="Portes",
    text="Portes is backgammon as played in Greece, Tavla in Turkey: without a cube and without triple games. The "
    "winner of the opening throw rolls anew, and the winner of a game begins the next.",
    source="a game of today",
    setup=standard.BACKGAMMON,
    opening=Opening.RETHROW,
    winner_begins=True,
    laws=GAMMONS,
    options=(
        Option("tavla", "A checker that hits in its home table does not move on in that turn.", {
            "on_move": (hitter_stays,),
        }),
    ),
)  # fmt: skip


# -- seen as backgammon ---------------------------------------------------------------------------------------------

_MAY_DIFFER: Final = frozenset({
    *("name", "title", "text", "source", "setup", "opening", "winner_begins", "laws", "readings", "options", "chosen"),
})  # fmt: skip
"""The fields of a ruleset that change neither which plays are legal nor who wins. What a game counts is in its laws."""


def is_backgammon(rules: Ruleset) -> bool:
    """Return whether a game is backgammon from another set-up or with another count, so that its positions are known.

    Course, checkers, moves, plays and how a game is won are those of backgammon.
    """
    same = (
        getattr(rules, it.name) == getattr(NACKGAMMON, it.name) for it in fields(Ruleset) if it.name not in _MAY_DIFFER
    )
    return rules.checkers == CHECKERS and all(same)


def is_another_set_up(rules: Ruleset) -> bool:
    """Return whether a game is backgammon but for its set-up, and perhaps without a cube."""
    return (
        is_backgammon(rules)
        and rules.opening is Opening.BOTH
        and not rules.winner_begins
        and evolve(rules.laws, name=CUBE.name, cube=True, crawford=True) == CUBE
    )


def position_of(table: Table) -> Position:
    """Return a table of such a game as a position of backgammon."""
    own, opponent = table.own.row, table.opponent.row
    cells = [own[place] - opponent[HAND - place] for place in range(OFF + 1, HAND)]
    return Position((-opponent[HAND], *cells, own[HAND]))


def backgammon_state(game: TableGame) -> GameState:
    """Return such a game as a game of backgammon, for strategies and rules that know nothing else."""
    shared = {it.name: getattr(game, it.name) for it in fields(MatchGame)}
    return GameState(**shared, position=position_of(game.table))
