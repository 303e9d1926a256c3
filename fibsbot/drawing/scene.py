"""Content of a picture of a board, without coordinates: both sides, the cube, and a play. It is the same in every game.

Boards as text and as SVG are drawn from it; what an SVG says in words is in `caption.py`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from attrs import evolve, field, frozen

from fibsbot.drawing.markup import clean
from fibsbot.drawing.sentences import (
    describe_turn,
    is_over,
    is_plain,
)
from fibsbot.drawing.themes import Theme
from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.notation.play_notation import (
    IN_HAND,
    Path,
    PlayedOn,
    paths_of,
    touches_of,
)
from fibsbot.position import BAR, Play, Position
from fibsbot.rules.backgammon import BACKGAMMON, sides_of
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.sides import HAND, START, Course, Side
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Continuation, Step, Throw, after_roll

NAME: Final = 24
"""Maximum length of a name; FIBS itself allows 20."""


@frozen
class ViewOptions:
    """DrawnSide, direction, colours and size of a picture of a board."""

    theme: Theme = Theme.AUTO
    dark: bool = True
    """Whether the player has the dark checkers."""
    left: bool = False
    """Whether home is on the left."""
    opponents_side: bool = False
    """Whether the board is seen from the opponent's side, with the player above."""
    fixed_numbers: bool = False
    """Whether points are always numbered as the side below counts them."""
    board_only: bool = False
    """Whether names, scores and pip counts are left out."""
    narrow: bool = False
    """Whether points are short, so that the board fits a telephone on which it is turned by a quarter."""
    width: int | None = None
    """Width in pixels that the picture asks for."""


def _name(text: str) -> str:
    return clean(text, NAME)


@frozen
class DrawnSide:
    """One side of the board and its player."""

    name: str = field(converter=_name)
    dark: bool
    score: int
    row: tuple[int, ...]
    """Numbers of checkers as the side counts: off, on the points 1 to 24, on the bar, in hand."""
    pinned: frozenset[int] = frozenset()
    """Points with a checker that lies under the other side's."""
    dice: tuple[int, ...] | None = None
    dice_played: frozenset[int] = frozenset()
    """Which of the dice have been played, from 0."""
    on_turn: bool = False
    """Whether this side has to act."""
    doubles: int = 0
    """The cube that this side offers; 0: no double."""
    resigns: int = 0
    """The resignation that this side offers: 1 single, 2 gammon, 3 backgammon; 0: none."""

    @property
    def pips(self) -> int:
        """What all checkers have still to go."""
        return sum(point * count for point, count in enumerate(self.row[: BAR + 1])) + BAR * self.row[IN_HAND]


def _pinned(checkers: Side) -> frozenset[int]:
    return frozenset(point for point in range(1, START + 1) if checkers.pinned >> point & 1)


def _row(rules: Ruleset, checkers: Side) -> tuple[int, ...]:
    in_hand = rules.in_hand(checkers)
    return (*checkers.row[:HAND], checkers.row[HAND] - in_hand, in_hand)


@frozen
class ShownPlay:
    """A play shown by arrows."""

    paths: tuple[Path, ...]
    """The path of each checker, in the mover's numbering; equal ones are neighbours."""
    row: tuple[int, ...]
    """The row of the mover before the play."""
    hits: tuple[int, ...]
    """Where a checker is hit or pinned."""
    below: bool
    """Whether the side below made it."""


def show_play(play: Play, before: PlayedOn, *, below: bool) -> ShownPlay:
    """Return the arrows of a play; `before` is the board before it, seen by the player who made it."""
    if isinstance(before, Position):
        row = _row(BACKGAMMON, sides_of(before).own)
    else:
        row = _row(before.rules, before.sides.own)
    touches = touches_of(play, before)
    return ShownPlay(
        tuple(paths_of(play, before)), row, tuple(sorted(touches.hits | touches.pins, reverse=True)), below
    )


@frozen
class Scene:
    """Content of a picture of a board."""

    below: DrawnSide
    above: DrawnSide
    names: tuple[str, str]
    """What the players below and above are called in sentences."""
    turn: str
    """The dice, or who is on turn, in words."""
    numbers_below: bool
    """Whether the points are numbered as the side below counts them."""
    rules: Ruleset
    length: int
    """Match length in points; 0 is unlimited."""
    cube: int
    """The value of the cube, or what the game is played for; 0: no cube is shown."""
    has_cube: bool
    owner: Owner
    """Owner of the cube; PLAYER is the side below."""
    crawford: bool
    remarks: tuple[str, ...] = ()
    """What has to be said below a drawing."""
    shown: ShownPlay | None = None

    @property
    def course(self) -> Course:
        """How the courses of the two sides meet."""
        return self.rules.course

    @property
    def marks_starts(self) -> bool:
        """Whether it is marked where each side starts, and in which direction; in backgammon everybody knows it."""
        return self.rules is not BACKGAMMON

    @property
    def offered(self) -> bool:
        """Whether a double is offered."""
        return bool(self.below.doubles or self.above.doubles)


def names_of_state(names: tuple[str, str] | None) -> tuple[str, str]:
    """Return what the player and the opponent are called in a picture of a decision."""
    own, other = names or ("", "")
    return _name(own) or "player", _name(other) or "opponent"


def names_of_game(names: tuple[str, str]) -> tuple[str, str]:
    """Return what the players at seat A and seat B are called in a picture of a game."""
    return _name(names[Seat.A]) or "A", _name(names[Seat.B]) or "B"


def scene_of_state(
    state: MatchState, names: tuple[str, str] | None = None, *, dark: bool = True, play: Play | None = None
) -> Scene:
    """Return the scene of a decision, and of a play if given; the player is below."""
    own, other = names or ("", "")
    shown_names = names_of_state(names)
    sides, rules = state.sides, state.rules
    doubled, has_cube = state.phase is Phase.DOUBLED, isinstance(state.board, Position) or not state.cubeless
    player = DrawnSide(
        own,
        dark,
        state.score[0],
        _row(rules, sides.own),
        _pinned(sides.own),
        dice=state.dice if state.phase is Phase.MOVE else None,
        on_turn=not is_over(state),
    )
    opponent = DrawnSide(
        other,
        not dark,
        state.score[1],
        _row(rules, sides.opponent),
        _pinned(sides.opponent),
        doubles=2 * state.cube if doubled else 0,
        resigns=state.resignation if state.phase is Phase.RESIGNED else 0,
    )
    return Scene(
        below=player,
        above=opponent,
        names=shown_names,
        turn=_rolled(shown_names[0], state.dice) if state.dice else f"turn: {shown_names[doubled]}",
        numbers_below=True,
        rules=rules,
        length=state.length,
        cube=state.cube if has_cube or state.cube > 1 else 0,
        has_cube=has_cube,
        owner=state.owner,
        crawford=state.crawford,
        shown=show_play(play, state, below=True) if play else None,
    )


def _rolled(name: str, dice: Dice) -> str:
    return f"{name} rolled {' '.join(map(str, dice))}."


def scene_of_game(  # noqa: PLR0913 - what may be shown, by name
    game: GameState,
    seat: Seat,
    names: tuple[str, str] = ("", ""),
    *,
    dark: bool = True,
    play: Play | None = None,
    last: Step | None = None,
    dice_played: Collection[int] = (),
) -> Scene:
    """Return the scene of a game with a seat below, and of a play if given, or of the last one."""
    shown_names = names_of_game(names)
    below, above = (
        _side(game, one, shown_names[one], dice_played, dark=dark is (one is seat)) for one in (seat, seat.other)
    )
    before = game
    if play is None and last is not None and (played := last_play(last)):
        before, play = played
    shown = show_play(play, before, below=before.turn is seat) if play else None
    return Scene(
        below=below,
        above=above,
        names=(shown_names[seat], shown_names[seat.other]),
        turn=_turn_text(game, shown_names),
        numbers_below=(game.turn if game.decides is None else game.decides) is seat,
        rules=game.rules,
        length=game.length,
        cube=game.cube if game.laws.cube or game.cube > 1 else 0,
        has_cube=game.laws.cube,
        owner=game.owner_for(seat),
        crawford=game.crawford,
        remarks=_remarks(game, shown_names),
        shown=shown,
    )


def _side(game: GameState, seat: Seat, name: str, dice_played: Collection[int], *, dark: bool) -> DrawnSide:
    checkers, resignation = game.sides_for(seat).own, game.resignation
    return DrawnSide(
        name,
        dark,
        game.scores[seat],
        _row(game.rules, checkers),
        _pinned(checkers),
        dice=game.dice if game.turn is seat and game.stage in {Stage.MOVE, Stage.NAME} else None,
        dice_played=frozenset(dice_played),
        on_turn=game.decides is seat,
        doubles=game.offered if game.stage is Stage.DOUBLED and game.answering is seat.other else 0,
        resigns=int(resignation.level) if resignation and resignation.seat is seat else 0,
    )


def _turn_text(game: GameState, names: tuple[str, str]) -> str:
    if game.dice and game.stage in {Stage.MOVE, Stage.NAME}:
        return _rolled(names[game.turn.other if game.passed else game.turn], game.dice)
    return "" if game.decides is None else f"turn: {names[game.decides]}"


def _remarks(game: GameState, names: tuple[str, str]) -> tuple[str, ...]:
    """Return what has to be said about the turn, and about pins."""
    remarks = []
    if game.stage is Stage.MOVE and not is_plain(game):
        remarks.append(f"{names[game.turn]} to play: {describe_turn(game)}.")
    if game.sides.own.pinned or game.sides.opponent.pinned:
        remarks.append("A small letter is a checker that lies under the others on its point.")
    return tuple(remarks)


def last_play(last: Step) -> tuple[GameState, Play] | None:
    """Return the game in which the play of the last entry was made, and the play; None if it was no play."""
    match last.entry:
        case Throw(play=Play() as play) as entry:
            return last.rolled or after_roll(last.before, entry), play
        case Continuation(play=play):
            return last.before, play
    return None


def as_viewed(scene: Scene, view: ViewOptions) -> Scene:
    """Return the scene from the side, and with the numbers, of `view`."""
    seen = _turned(scene) if view.opponents_side else scene
    return evolve(seen, numbers_below=True) if view.fixed_numbers else seen


def _turned(scene: Scene) -> Scene:
    """Return the scene with the other side below; numbers and colours stay with their sides."""
    shown = scene.shown
    return evolve(
        scene,
        below=scene.above,
        above=scene.below,
        numbers_below=not scene.numbers_below,
        names=scene.names[::-1],
        owner=Owner(-scene.owner.value),
        shown=evolve(shown, below=not shown.below) if shown else None,
    )
