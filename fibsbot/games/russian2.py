"""Russian II is backgammon in which the lower number is played first.

If the lower number is blocked, the whole turn is lost. Who rolls a double plays, except on the first roll, also the
complementary double (both make seven), the lower of the two first, and rolls again if all eight moves were made. If any
part is blocked, the rest and the extra roll are lost.
"""

from __future__ import annotations

from fibsbot.rules import shared_laws
from fibsbot.rules.ruleset import TRIPLE, Numbers, Opening, Part, Then, Turn
from fibsbot.rules.sides import Sides


def lower_first(sides: Sides, dice: Numbers, _throws: int) -> Turn:
    """Divide a roll: the lower number, or the lower of two complementary doubles, comes first."""
    if dice[0] != dice[1]:
        return (Part(tuple(sorted(dice)), ordered=True),)
    if sides.own.throws == 1:
        return (Part(dice * 2),)
    low, high = sorted((dice[0], 7 - dice[0]))
    return (Part((low,) * 4), Part((high,) * 4), Then.ROLL)


RULES = shared_laws.like_backgammon(
    name="russian2",
    title="Russian II",
    text=__doc__,
    source='MacGregor, "Backgammon, or Tables Games" (1997), "Russian II"',
    opening=Opening.RETHROW,
    on_roll=shared_laws.count_throws,
    divide=lower_first,
    laws=TRIPLE,
    readings=(
        "The lower number is played so that the higher can be played, too, if that is possible.",
        "Each player's first roll, if it is a double, is played four times and brings nothing more, as in Russian I.",
        "A double of which not all moves can be made ends the turn, as in Russian I.",
        "The winner of the opening throw rolls anew, as in Russian I.",
        "The score is not in the text: a gammon counts 2 and a backgammon 3, as in backgammon.",
    ),
)
