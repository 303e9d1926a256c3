"""The rules of backgammon and chouette in our words; `docs/reference/rules.md` has them sentence by sentence."""

from __future__ import annotations

from typing import Final

from attrs import frozen


@frozen
class Page:
    """The rules of a game that is no ruleset of the family."""

    name: str
    title: str
    text: str
    source: str
    lists: tuple[tuple[str, tuple[str, ...]], ...]
    """Headings, and the sentences below each."""
    board: bool = True
    """Whether the set-up is drawn."""


SETS_OF_LAWS: Final = {
    "fibs": "as FIBS plays: the Crawford game in matches; automatic doubles and beavers if both players want them",
    "modern": "the Crawford game in matches; gammons count only after a double (Jacoby) and one beaver for money",
    "1970": "no Crawford game, no Jacoby rule, no beaver; automatic doubles with a limit by agreement",
    "1931": "as 1970; by agreement also the Point Game",
}
"""Each set of laws in a line."""
BACKGAMMON: Final = Page(
    "backgammon",
    "Backgammon",
    """\
Backgammon is a race of 15 checkers of each side in opposite directions, with hits and a doubling cube.

Checkers move towards their side's home table by the numbers rolled, each number once, a double four times. One checker
may play several numbers, touching down in between. Both numbers are played if that is possible, in either order; if
only one of them can be played, the higher. No checker lands on a point that the opponent holds with two or more. A
single checker is hit, and enters from the bar before any other moves. Once all checkers are home they are borne off; a
number higher than any point with a checker takes one from the highest. In the opening throw each player rolls one die;
the higher begins and plays both numbers.

The player who first bears off all checkers wins the value of the cube: twice if the loser has borne off none (a
gammon), three times if one of them is then on the bar or in the winner's home table (a backgammon). Before rolling, a
player may offer to double the cube, unless the opponent owns it. A pass loses the value before the double; a player who
takes owns the cube.
""",
    'laws of 1931 (New York) and of 1970 (Jacoby and Crawford, "The Backgammon Book"); MacGregor, "Backgammon, or '
    'Tables Games" (1997); a page of rules of 2007; FIBS',
    (("Sets of laws:", tuple(f"{name}: {sentence}." for name, sentence in SETS_OF_LAWS.items())),),
)
CHOUETTE: Final = Page(
    "chouette",
    "Chouette",
    """\
Chouette is backgammon for three to six players at one board: the man in the box against all others, the team.

Each casts a die. The highest is the man in the box, the next is captain of the team, and the others follow in their
order. Only the captain moves; members who are still in may advise. The box wins from, or loses to, each of them what
the game counts times the cube.

The team doubles as a unit. If the box doubles, each member takes or passes, the captain first. Who passes loses the
value before the double and may not advise any more; the first member who plays on is captain then. If all pass, the
game is over.

If the box wins, it stays; the next member is captain, and the captain goes to the bottom. If the team wins, its captain
is the next man in the box.
""",
    'MacGregor, "Backgammon, or Tables Games" (1997), "Chouette"',
    (
        (
            "Where the text leaves something open:",
            (
                "Ties are cast again among the tied.",
                "The captain decides about the team's doubles; the box answers once for all.",
                "A captain who has passed keeps the place, and is captain of the next game.",
                "The old man in the box goes to the bottom.",
                "There is one cube, no Jacoby rule and no beaver.",
            ),
        ),
        (
            "Option:",
            ("dropped_captain_last: a captain who has passed goes to the bottom instead, a common house rule.",),
        ),
    ),
    board=False,
)
PAGES: Final = (BACKGAMMON, CHOUETTE)
