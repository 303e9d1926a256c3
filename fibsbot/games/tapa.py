"""Tapa is the Bulgarian game of pinning: Plakoto in which a trapped last checker does not end the game.

All 15 checkers of each side start on its farthest point. A single checker that is landed on cannot move as long as an
opposing checker is on the point. If both last checkers are pinned on their starts, the game is drawn. The winner of the
opening throw rolls anew, and the winner of a game begins the next. A game counts 2 if the loser has borne off nothing.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import GAMMONS, Opening

RULES = shared_laws.like_backgammon(
    name="tapa",
    title="Tapa",
    text=__doc__,
    source="a game of today",
    setup=shared_laws.FARTHEST,
    opening=Opening.RETHROW,
    winner_begins=True,
    divide=shared_laws.doubles_twice,
    move_laws=(),
    landing=shared_laws.pins,
    ends=(shared_laws.both_last_pinned, shared_laws.borne_off),
    laws=GAMMONS,
    readings=("The game is drawn as soon as both last checkers are pinned.",),
)
