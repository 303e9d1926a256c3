"""Games that are backgammon with another set-up, another count, or one more law."""

from __future__ import annotations

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules import shared_laws
from fibsbot.rules.laws import Laws
from fibsbot.rules.ruleset import CUBE, GAMMONS, Opening, Option, Outcome, Ruleset
from fibsbot.rules.sides import HOME, Sides


def last_wins(_rules: Ruleset, _before: Sides, after: Sides) -> Outcome | None:
    """Lose by bearing off all checkers."""
    return Outcome(-1, 1, "kept checkers on the board longer") if after.own.all_off else None


def hitter_stays(before: Sides, after: Sides, _source: int, target: int) -> Sides:
    """Note that a checker that hit in its home table does not move on in this turn."""
    if not 0 < target <= HOME or after.opponent.hit == before.opponent.hit:
        return after
    return Sides(fast_evolve(after.own, held=after.own.held | 1 << target), after.opponent)


NACKGAMMON = shared_laws.like_backgammon(
    name="nackgammon",
    title="Nackgammon",
    text="Nackgammon is backgammon from a set-up that makes longer games: two checkers on the 24-point, two on the "
    "23-point, four on the mid-point, three on the 8-point and four on the 6-point.",
    source="a game of today (Nack Ballard)",
    setup={24: 2, 23: 2, 13: 4, 8: 3, 6: 4},
    divide=shared_laws.doubles_twice,
    laws=CUBE,
)
HYPER = fast_evolve(
    NACKGAMMON,
    name="hyper",
    title="Hyper-backgammon",
    text="Hyper-backgammon is backgammon with three checkers for each side, on the 24-, 23- and 22-point.",
    source="a game of today",
    setup={24: 1, 23: 1, 22: 1},
)
LONGGAMMON = fast_evolve(
    NACKGAMMON,
    name="longgammon",
    title="LongGammon",
    text="LongGammon is backgammon with all 15 checkers of each side on its 24-point.",
    source="a game of today",
    setup=shared_laws.FARTHEST,
)
MISERE = fast_evolve(
    NACKGAMMON,
    name="misere",
    title="Misere",
    text="Misere is backgammon to lose: the player who first bears off all checkers loses. Moves are compulsory as "
    "always, and every game counts 1 times the cube.",
    source="a game of today",
    setup=shared_laws.BACKGAMMON,
    ends=(last_wins,),
    laws=Laws("misere", crawford=True, gammon=False),
)
PORTES = fast_evolve(
    NACKGAMMON,
    name="portes",
    title="Portes",
    text="Portes is backgammon as played in Greece, Tavla in Turkey: without a cube and without triple games. The "
    "winner of the opening throw rolls anew, and the winner of a game begins the next.",
    source="a game of today",
    setup=shared_laws.BACKGAMMON,
    opening=Opening.RETHROW,
    winner_begins=True,
    laws=GAMMONS,
    options=(
        Option("tavla", "A checker that hits in its home table does not move on in that turn.", {
            "on_move": (hitter_stays,),
        }),
    ),
)  # fmt: skip
