"""Ruleset: what makes one tables game different from another, declared in one value.

A ruleset is data and small functions, each of them one law. The laws that several games share are in `standard.py`;
what one game alone has is in the module of that game.
"""

from __future__ import annotations

import enum
import pkgutil
from collections.abc import Callable, Mapping
from pickle import PicklingError
from typing import Any, Final, TypeAlias

from attrs import frozen

from fibsbot.fast_evolve import fast_evolve
from fibsbot.rules.errors import AnyLaw, NamedLaw
from fibsbot.rules.laws import Laws, Level
from fibsbot.rules.sides import HAND, Course, Side, Sides, side

SINGLE: Final = Laws("single games", cube=False, gammon=False)
"""Every game counts 1, and there is no cube."""
GAMMONS: Final = Laws("gammons", cube=False, triple=False)
"""A game counts 2 if the loser has borne off nothing, and there is no cube."""
TRIPLE: Final = Laws("gammons and backgammons", cube=False)
"""A game counts 1, 2 or 3, as in backgammon, and there is no cube."""
CUBE: Final = Laws("with a cube", crawford=True)
"""A game counts 1, 2 or 3 times the cube, and matches have a Crawford game."""
OPENING_DICE: Final = 2
"""Dice of an opening throw, one of each player."""
Numbers: TypeAlias = tuple[int, ...]
"""Numbers of the dice, each 1 to 6."""
Landing: TypeAlias = Callable[[Side, Side, int, int], Side | AnyLaw]
"""Takes our side, the opponent's, and the number that each has for the point on which a checker of ours lands.

Returns the opponent's side afterwards, or the law that forbids it."""
BearingOff: TypeAlias = Callable[[Sides, int, int], int | AnyLaw]
"""Takes the source and a number that reaches the end of the course; returns where the checker goes, or the law."""
Change: TypeAlias = Callable[[Sides, Sides, int, int], Sides]
"""Takes the board before and after a move, its source and target; returns the board with what is to be remembered."""


@frozen
class MoveLaw:
    """A law that forbids moves."""

    law: NamedLaw
    forbids: Callable[[Sides, int, int], bool]
    """Takes the board before a move, its source and target."""


@frozen
class PlayLaw:
    """A law that forbids what a play leads to."""

    law: NamedLaw
    forbids: Callable[[Sides, Sides], bool]
    """Takes the board before and after the play."""


def move_law(sentence: str) -> Callable[[Callable[[Sides, int, int], bool]], MoveLaw]:
    """Make a law of a function that says whether a move breaks it."""
    return lambda forbids: MoveLaw(NamedLaw(sentence), forbids)


def play_law(sentence: str) -> Callable[[Callable[[Sides, Sides], bool]], PlayLaw]:
    """Make a law of a function that says whether a play breaks it."""
    return lambda forbids: PlayLaw(NamedLaw(sentence), forbids)


@frozen(slots=False)
class Part:
    """Numbers that are played together: a whole turn in most games, or one step of a chain of doubles."""

    numbers: Numbers
    ordered: bool = False
    """Whether the numbers are played in this order; a number that cannot be played then ends the part."""
    one_checker: bool = False
    """Whether one checker makes all moves."""
    compulsory: bool = True
    """Whether as many numbers as possible have to be played."""
    ends_turn: bool = True
    """Whether the rest of the turn is affected if this part cannot be played to its end; see `Rest`."""


class Then(enum.Enum):
    """What may follow in a turn besides parts."""

    ROLL = "roll again"
    NAME_DOUBLE = "name a double"


Turn: TypeAlias = tuple[Part | Then, ...]
"""What is still to be done in a turn."""


class Rest(enum.Enum):
    """What happens to the rest of a turn when a part cannot be played to its end. The value is a sentence about it."""

    LOST = "what cannot be played is lost, and with it the rest of the turn"
    OFFERED = (
        "what cannot be played, and all that follows, is offered to the opponent, who may play as much as he likes"
    )
    TO_OPPONENT = "what cannot be played, and all that follows, passes to the opponent"
    FOLLOWING_TO_OPPONENT = "what cannot be played is lost; the doubles that follow pass to the opponent"


class Opening(enum.Enum):
    """What the winner of the opening throw plays."""

    BOTH = "the winner of the opening throw plays both numbers"
    RETHROW = "the winner of the opening throw rolls anew"


@frozen
class Outcome:
    """How a game ended."""

    winner: int
    """1 if the player who moved has won, -1 if the opponent has, 0 if nobody."""
    points: int
    """What the game counts, before the cube."""
    reason: str
    """Completes the sentence "X wins, having ..."; for a draw, the whole reason."""


End: TypeAlias = Callable[["Ruleset", Sides, Sides], Outcome | None]
"""Takes the board before and after a play, or a move; returns the outcome if the game is over."""


@frozen
class Option:
    """Another reading of a game's text, or another form of it."""

    name: str
    sentence: str
    """What is different, in one sentence."""
    changes: Mapping[str, Any]
    """The fields of the ruleset that are different, by name."""


@frozen(slots=False, eq=False, repr=False)
class Ruleset:
    """A tables game."""

    name: str
    """As in commands, settings and invitations."""
    title: str
    text: str
    """The rules in our words."""
    source: str
    """Where the rules come from."""
    setup: Mapping[int, int]
    """Checkers of a side by place, in its own numbering."""
    divide: Callable[[Sides, Numbers, int], Turn]
    """Takes the board after the roll has been noted, the dice, and which roll of the turn it is, from 1.

    Returns what is to be played."""
    landing: Landing
    bearing_off: BearingOff
    move_laws: tuple[MoveLaw, ...]
    """Looked at before each move."""
    course: Course = Course.CONTRARY
    dice: int = 2
    opening: Opening = Opening.BOTH
    rest: Rest = Rest.LOST
    play_laws: tuple[PlayLaw, ...] = ()
    """Looked at after a play; a play that breaks one is no play."""
    preferences: tuple[PlayLaw, ...] = ()
    """Looked at after a play; a play that breaks one is allowed only if every other does, too."""
    on_roll: Callable[[Sides, Numbers], Sides] = lambda sides, _dice: sides
    """Notes a roll on the board."""
    on_move: tuple[Change, ...] = ()
    """Notes a move on the board."""
    marks_shown: Callable[[Side], Side] = lambda side: side
    """Adds the marks that a side's checkers prove, to a board that is typed in; moves that are played note theirs."""
    ends: tuple[End, ...] = ()
    """Looked at after a play; the first outcome counts."""
    ends_at_once: tuple[End, ...] = ()
    """Looked at after each move; a play that ends the game so is complete."""
    named_double_ends_turn: bool = False
    """Whether a named double that cannot be played to its end ends the turn, or that none can be named."""
    raises_stake: Callable[[Numbers], bool] = lambda _dice: False
    """Returns whether a roll doubles what the game is played for."""
    points_to_open: Callable[[Sides], tuple[int, ...]] = lambda _sides: ()
    """Returns the points of which the player who has just played has to open one; none if nothing is bound."""
    open_point: Callable[[Sides, int], Sides] = lambda sides, _point: sides
    """Opens one of these points."""
    winner_begins: bool = False
    """Whether the winner of a game begins the next one without an opening roll."""
    counts_checkers: bool = False
    """Whether the winner scores for each checker that the loser has left, also after a drop or a resignation."""
    laws: Laws = SINGLE
    """What a game counts, and whether there is a cube and so a Crawford game."""
    readings: tuple[str, ...] = ()
    """What the text leaves open, and how it is read here; a sentence each."""
    options: tuple[Option, ...] = ()
    chosen: tuple[str, ...] = ()
    """The options that are on."""

    @property
    def full_name(self) -> str:
        """The name with the options that are on, such as `plakoto:exception`."""
        return ":".join((self.name, *self.chosen))

    @property
    def checkers(self) -> int:
        """Checkers of each side."""
        return sum(self.setup.values())

    def start(self) -> Sides:
        """Return the board before the first roll."""
        return Sides(side(self.setup), side(self.setup))

    def __repr__(self) -> str:
        """Return the same text in every process: records of what was analysed are known again by it."""
        return f"<Ruleset {self.full_name}>"

    def __copy__(self) -> Ruleset:
        """Return the ruleset itself, as it cannot change and is compared by identity."""
        return self

    def __deepcopy__(self, _memo: object) -> Ruleset:
        """Return the ruleset itself."""
        return self

    def __reduce__(self) -> tuple[Callable[[str], Ruleset], tuple[str]]:
        """Pickle the name of the game, so that it is the same object again. Raises PicklingError for other rulesets."""
        load: Callable[[str], Ruleset] = pkgutil.resolve_name("fibsbot.games:load_ruleset")
        try:
            found = load(self.full_name)
        except ValueError:
            found = None
        if found is not self:
            raise PicklingError(f"expected a game as `load_ruleset` returns it, got another ruleset: {self.full_name}")
        return load, (self.full_name,)

    def in_hand(self, side: Side) -> int:
        """Return how many checkers of a side have not entered yet; the others in HAND are on the bar."""
        return side.row[HAND] - side.hit if self.setup.get(HAND) else 0

    @property
    def common_options(self) -> tuple[Option, ...]:
        """The options that a game has because every game has them, those left out that change nothing."""
        options = (
            Option("both", f"{Opening.BOTH.value.capitalize()}.", {"opening": Opening.BOTH}),
            Option("rethrow", f"{Opening.RETHROW.value.capitalize()}.", {"opening": Opening.RETHROW}),
            Option("winner-begins", "The winner of a game begins the next.", {"winner_begins": True}),
            Option("cube", "There is a doubling cube.", {"laws": fast_evolve(self.laws, cube=True, crawford=True)}),
        )
        return tuple(
            option
            for option in options
            if any(getattr(self, field) != value for field, value in option.changes.items())
            and (option.name != "both" or self.dice == OPENING_DICE)
        )

    def with_option(self, option: Option) -> Ruleset:
        """Return the ruleset with an option turned on."""
        return fast_evolve(self, **{**option.changes, "chosen": tuple(sorted({*self.chosen, option.name}))})


def level_of(points: int) -> Level:
    """Return the level of a game that counts this many points before the cube."""
    return Level(points) if points in set(Level) else Level.SINGLE
