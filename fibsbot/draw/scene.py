"""Content of a picture of a board, without coordinates: both sides, the cube, and a play."""

from __future__ import annotations

from typing import Final

from attrs import evolve, field, frozen

from fibsbot.draw.board_text import describe_state, dice_text, draw_game, draw_state, situation
from fibsbot.draw.layout import Facing, contrary
from fibsbot.draw.markup import clean
from fibsbot.draw.themes import Theme
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation.play_notation import CANNOT_MOVE, IN_HAND, Path, format_play, paths_of
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Step, Throw

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


def row_of(position: Position) -> tuple[int, ...]:
    """Return the row of the player on roll."""
    return (position.off, *(max(count, 0) for count in position.points[1:]), 0)


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


def show_play(play: Play, before: Position, *, below: bool) -> ShownPlay:
    """Return the arrows of a play; `before` is the position before it, seen by the player who made it."""
    touched = {move.target for move in play.moves if move.target != OFF}
    hits = (point for point in sorted(touched, reverse=True) if before.points[point] == -1)
    return ShownPlay(tuple(paths_of(play, before)), row_of(before), tuple(hits), below)


@frozen
class Scene:
    """Content of a picture of a board."""

    below: DrawnSide
    above: DrawnSide
    numbers_below: bool
    """Whether the points are numbered as the side below counts them."""
    length: int
    """Match length in points; 0 is unlimited."""
    cube: int
    """The value of the cube, or what the game is played for; 0: no cube is shown."""
    owner: Owner
    """Owner of the cube; PLAYER is the side below."""
    crawford: bool
    shown: ShownPlay | None
    title: str
    text: str
    """The board in ASCII and all facts, for screen readers."""
    facing: Facing = contrary
    marks_starts: bool = False
    """Whether it is marked where each side starts, and in which direction."""

    @property
    def offered(self) -> bool:
        """Whether a double is offered."""
        return bool(self.below.doubles or self.above.doubles)


def scene_of_state(state: MatchState, view: ViewOptions, play: Play | None, names: tuple[str, str] | None) -> Scene:
    """Return the scene of a decision, and of a play if given."""
    own, other = names or ("", "")
    shown_names = (_name(own) or "player", _name(other) or "opponent")
    over = state.position.over
    player = DrawnSide(
        own,
        view.dark,
        state.score[0],
        row_of(state.position),
        dice=state.dice if state.phase is Phase.MOVE else None,
        on_turn=not over,
    )
    opponent = DrawnSide(
        other,
        not view.dark,
        state.score[1],
        row_of(state.position.swapped()),
        doubles=2 * state.cube if state.phase is Phase.DOUBLED else 0,
        resigns=state.resignation if state.phase is Phase.RESIGNED else 0,
    )
    facts = [f"{name}: {fact}" for name, fact in describe_state(state)]
    scene = Scene(
        below=player,
        above=opponent,
        numbers_below=True,
        length=state.length,
        cube=state.cube,
        owner=state.owner,
        crawford=state.crawford,
        shown=show_play(play, state.position, below=True) if play else None,
        title=_title(state, play, shown_names),
        text="\n".join([*draw_state(state, *shown_names), *facts]),
    )
    return as_viewed(scene, view)


def _title(state: MatchState, play: Play | None, names: tuple[str, str]) -> str:
    player, opponent = names
    if state.position.over:
        return f"{player if state.position.off > state.position.opponent_off else opponent} has borne off"
    if play is not None:
        return f"{player} plays{dice_text(state.dice)}: {format_play(play, state.position)}"
    match state.phase:
        case Phase.MOVE:
            return f"{player} to play{dice_text(state.dice)}"
        case Phase.DOUBLED:
            return f"{opponent} doubles to {2 * state.cube}, {player} to answer"
        case Phase.RESIGNED:
            return f"{opponent} resigns ({Level(state.resignation).name.lower()}), {player} to answer"
        case Phase.ROLL:
            return f"{player} to {'double or roll' if state.may_double else 'roll'}"


def scene_of_game(state: GameState, seat: Seat, view: ViewOptions, names: tuple[str, str], last: Step | None) -> Scene:
    """Return the scene of a game seen from one seat, with the last play."""
    shown_names = (_name(names[0]) or "A", _name(names[1]) or "B")
    sides = [_side(state, it, shown_names[it], dark=view.dark is (it is seat)) for it in Seat]
    deciding = next((it for it in Seat if sides[it].on_turn), state.turn)
    last_play = _last_play_text(last, shown_names)
    owner = state.owner_for(seat)
    scene = Scene(
        below=sides[seat],
        above=sides[seat.other],
        numbers_below=deciding is seat,
        length=state.length,
        cube=state.cube,
        owner=owner,
        crawford=state.crawford,
        shown=_shown_play(last, seat),
        title="; ".join(filter(None, (last_play, situation(state, shown_names)))),
        text="\n".join(draw_game(state, seat, shown_names)),
    )
    return as_viewed(scene, view)


def _side(state: GameState, seat: Seat, name: str, *, dark: bool) -> DrawnSide:
    resignation = state.resignation
    doubles = state.stage is Stage.DOUBLED and state.answering is seat.other
    return DrawnSide(
        name,
        dark,
        state.scores[seat],
        row_of(state.position_for(seat)),
        dice=state.dice if state.turn is seat and state.stage is Stage.MOVE else None,
        on_turn=_answering(state) is seat,
        doubles=state.offered if doubles else 0,
        resigns=int(resignation.level) if resignation and resignation.seat is seat else 0,
    )


def _answering(state: GameState) -> Seat | None:
    """Return the player who has to act."""
    if state.resignation:
        return state.resignation.seat.other
    if state.stage in {Stage.OPENING, Stage.OVER}:
        return None
    return state.answering if state.stage is Stage.DOUBLED else state.turn


def _shown_play(last: Step | None, seat: Seat) -> ShownPlay | None:
    if last is None or not isinstance(last.entry, Throw) or not last.entry.play:
        return None
    mover = last.entry.seat
    return show_play(last.entry.play, last.before.position_for(mover), below=mover is seat)


def _last_play_text(last: Step | None, names: tuple[str, str]) -> str:
    if last is None or not isinstance(last.entry, Throw) or last.entry.play is None:
        return ""
    seat, play = last.entry.seat, last.entry.play
    text = format_play(play, last.before.position_for(seat))
    last_play = text if text == CANNOT_MOVE else f"played {text}"
    return f"{names[seat]} rolled{dice_text(last.entry.dice)}, {last_play}"


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
        owner=Owner(-scene.owner.value),
        shown=evolve(shown, below=not shown.below) if shown else None,
    )
