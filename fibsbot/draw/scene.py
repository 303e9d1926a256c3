"""What a picture of a board shows: both sides as they sit, the cube between them, and a play; no coordinates yet."""

from __future__ import annotations

from typing import Final

from attrs import evolve, field, frozen

from fibsbot.draw.markup import clean
from fibsbot.draw.text import describe_state, draw_game, draw_state
from fibsbot.draw.themes import Theme
from fibsbot.match import Dice, MatchState, Owner, Phase
from fibsbot.notation.play_notation import CANNOT_MOVE, format_play
from fibsbot.position import Play, Position
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Step, Throw

NAME: Final = 24
"""Characters of a name at most; FIBS itself allows 20."""
LEVELS: Final = ("nothing", "single", "gammon", "backgammon")


@frozen
class ViewOptions:
    """How a board is looked at."""

    theme: Theme = Theme.AUTO
    dark: bool = True
    """Whether the player has the dark checkers."""
    left: bool = False
    """Whether home is on the left."""
    above: bool = False
    """Whether the player sits above, as seen by the opponent."""
    fixed: bool = False
    """Whether points are numbered as the side below counts them, even if the player sits above."""
    bare: bool = False
    """Whether names, scores and pip counts are left out."""
    width: int | None = None
    """Width that the picture asks for, in pixels; it can be shown in any size."""


def _name(text: str) -> str:
    return clean(text, NAME)


@frozen
class Side:
    """One of the two who sit at the board."""

    name: str = field(converter=_name)
    dark: bool
    score: int
    dice: Dice | None = None
    on_turn: bool = False
    """Whether it is for this side to do something."""
    doubles: int = 0
    """What this side offers to play for; 0: nothing."""
    resigns: int = 0
    """How much this side offers to lose: 1 single, 2 gammon, 3 backgammon; 0: no offer."""


@frozen
class ShownPlay:
    """A play to be shown by arrows."""

    play: Play
    before: Position
    """Where it was made, seen by who made it."""
    below: bool
    """Whether it was made by the side below."""


@frozen
class Scene:
    """All that a picture of a board shows."""

    position: Position
    """Seen from below."""
    below: Side
    above: Side
    numbers_below: bool
    """Whether the points are numbered as the side below counts them."""
    length: int
    """Match length in points; 0 is unlimited."""
    cube: int
    owner: Owner
    """Of the cube; PLAYER is the side below."""
    crawford: bool
    shown: ShownPlay | None
    title: str
    text: str
    """All of it in words and as a drawing in ASCII, for those who cannot see the picture."""

    @property
    def offered(self) -> bool:
        """Whether the cube is on its way from one side to the other."""
        return bool(self.below.doubles or self.above.doubles)


def scene_of_state(state: MatchState, look: ViewOptions, play: Play | None, names: tuple[str, str] | None) -> Scene:
    """Show a decision, and one answer to it if there is a play."""
    own, other = names or ("", "")
    called = (_name(own) or "player", _name(other) or "opponent")
    over = state.position.over
    player = Side(own, look.dark, state.score[0], state.dice if state.phase is Phase.MOVE else None, on_turn=not over)
    opponent = Side(
        other,
        not look.dark,
        state.score[1],
        doubles=2 * state.cube if state.phase is Phase.DOUBLED else 0,
        resigns=state.resignation if state.phase is Phase.RESIGNED else 0,
    )
    facts = [f"{name}: {fact}" for name, fact in describe_state(state)]
    scene = Scene(
        position=state.position,
        below=player,
        above=opponent,
        numbers_below=True,
        length=state.length,
        cube=state.cube,
        owner=state.owner,
        crawford=state.crawford,
        shown=ShownPlay(play, state.position, below=True) if play else None,
        title=_title(state, play, called),
        text="\n".join([*draw_state(state, *called), *facts]),
    )
    return _as_viewed(scene, look)


def _title(state: MatchState, play: Play | None, names: tuple[str, str]) -> str:
    player, opponent = names
    if state.position.over:
        return f"{player if state.position.off > state.position.opponent_off else opponent} has borne off"
    if play is not None:
        return f"{player} plays{_dice_text(state.dice)}: {format_play(play, state.position)}"
    match state.phase:
        case Phase.MOVE:
            return f"{player} to play{_dice_text(state.dice)}"
        case Phase.DOUBLED:
            return f"{opponent} doubles to {2 * state.cube}, {player} to answer"
        case Phase.RESIGNED:
            return f"{opponent} resigns ({LEVELS[state.resignation]}), {player} to answer"
        case Phase.ROLL:
            return (
                f"{player} to roll"
                if state.owner is Owner.OPPONENT or state.crawford
                else f"{player} to double or roll"
            )


def _dice_text(dice: Dice | None) -> str:
    return f" {max(dice)}-{min(dice)}" if dice else ""


def scene_of_game(state: GameState, seat: Seat, look: ViewOptions, names: tuple[str, str], last: Step | None) -> Scene:
    """Show a game as it stands from one player's seat, with the play that led there."""
    called = (_name(names[0]) or "A", _name(names[1]) or "B")
    sides = [_side(state, it, called[it], dark=look.dark is (it is seat)) for it in Seat]
    deciding = next((it for it in Seat if sides[it].on_turn), state.turn)
    said = _last_play_text(last, called)
    owner = Owner.CENTRED if state.owner is None else Owner.PLAYER if state.owner is seat else Owner.OPPONENT
    scene = Scene(
        position=state.position_for(seat),
        below=sides[seat],
        above=sides[seat.other],
        numbers_below=deciding is seat,
        length=state.length,
        cube=state.cube,
        owner=owner,
        crawford=state.crawford,
        shown=_shown_play(last, seat),
        title="; ".join(filter(None, (said, _situation_text(state, called)))),
        text="\n".join(draw_game(state, seat, called)),
    )
    return _as_viewed(scene, look)


def _side(state: GameState, seat: Seat, name: str, *, dark: bool) -> Side:
    resignation = state.resignation
    doubles = state.stage is Stage.DOUBLED and state.answering is seat.other
    return Side(
        name,
        dark,
        state.scores[seat],
        dice=state.dice if state.turn is seat and state.stage is Stage.MOVE else None,
        on_turn=_answering(state) is seat,
        doubles=state.offered if doubles else 0,
        resigns=int(resignation.level) if resignation and resignation.seat is seat else 0,
    )


def _answering(state: GameState) -> Seat | None:
    """Return whose it is to do something."""
    if state.resignation:
        return state.resignation.seat.other
    if state.stage in {Stage.OPENING, Stage.OVER}:
        return None
    return state.answering if state.stage is Stage.DOUBLED else state.turn


def _shown_play(last: Step | None, seat: Seat) -> ShownPlay | None:
    if last is None or not isinstance(last.entry, Throw) or not last.entry.play:
        return None
    mover = last.entry.seat
    return ShownPlay(last.entry.play, last.before.position_for(mover), below=mover is seat)


def _last_play_text(last: Step | None, names: tuple[str, str]) -> str:
    if last is None or not isinstance(last.entry, Throw) or last.entry.play is None:
        return ""
    seat, play = last.entry.seat, last.entry.play
    text = format_play(play, last.before.position_for(seat))
    said = text if text == CANNOT_MOVE else f"played {text}"
    return f"{names[seat]} threw{_dice_text(last.entry.dice)}, {said}"


def _situation_text(state: GameState, names: tuple[str, str]) -> str:
    if state.resignation:
        offer = state.resignation
        return f"{names[offer.seat]} resigns ({LEVELS[offer.level]}), {names[offer.seat.other]} to answer"
    match state.stage:
        case Stage.OPENING:
            return "the game begins"
        case Stage.OVER if state.result:
            points = "a point" if state.result.points == 1 else f"{state.result.points} points"
            return f"{names[state.result.winner]} wins {points}"
        case Stage.DOUBLED if state.answering is not None:
            seat = state.answering
            return f"{names[seat.other]} doubles to {state.offered}, {names[seat]} to answer"
        case Stage.MOVE if state.dice:
            return f"{names[state.turn]} to play{_dice_text(state.dice)}"
    return f"{names[state.turn]} to roll"


def _as_viewed(scene: Scene, look: ViewOptions) -> Scene:
    """Return the scene from the side, and with the numbers, that the look wants."""
    seen = _turned(scene) if look.above else scene
    return evolve(seen, numbers_below=True) if look.fixed else seen


def _turned(scene: Scene) -> Scene:
    """Return the scene with the other side below; numbers and colours stay with their sides."""
    shown = scene.shown
    return evolve(
        scene,
        position=scene.position.swapped(),
        below=scene.above,
        above=scene.below,
        numbers_below=not scene.numbers_below,
        owner=Owner(-scene.owner.value),
        shown=evolve(shown, below=not shown.below) if shown else None,
    )
