"""Boards of every game as text, as FIBS draws that of backgammon: board styles 1 and 2."""

from __future__ import annotations

from operator import itemgetter
from typing import Final

from fibs_protocol.drawing import LOWER, UPPER, Half, draw_frame, draw_stack
from fibsbot.drawing.scene import DrawnSide, Scene, scene_of_game, scene_of_state
from fibsbot.match import MatchState, Owner
from fibsbot.notation.play_notation import IN_HAND
from fibsbot.position import BAR, OFF
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.sides import HAND, START, Course
from fibsbot.rules.state import GameState, Seat

COLOURS: Final = ("O", "X")


def draw_state(state: MatchState, player: str = "player", opponent: str = "opponent") -> list[str]:
    """Draw the board of a decision, seen by the player who has to make it: O, whose home is below on the right."""
    return draw_scene(scene_of_state(state, (player, opponent)))


def draw_game(
    game: GameState, seat: Seat, names: tuple[str, str], *, style: int = 1, own_colour: str = "O"
) -> list[str]:
    """Draw the current state of a game, seen by one player: home below on the right, points as the player counts them.

    A checker that lies under one of the other side is a small letter. Below the board are the checkers in hand, on the
    bar and off, the dice, what of the turn is still to be played, and how the courses meet unless they are contrary.

    Args:
        game: the game, in any stage.
        seat: the player who sees it.
        names: names of seat A and seat B.
        style: 1, or 2 with the point numbers outside the frame.
        own_colour: the player's letter, O or X.
    """
    return draw_scene(scene_of_game(game, seat, names), style=style, own_colour=own_colour)


def draw_scene(scene: Scene, *, style: int = 1, own_colour: str = "O") -> list[str]:
    """Draw a scene; the player below has `own_colour`."""
    letters = (own_colour, COLOURS[own_colour == COLOURS[0]])
    upper, lower = (
        Half(
            numbers,
            [draw_stack(_column(scene, point, letters)) for point in numbers],
            draw_stack(letter * side.row[BAR]),
            f"{letter}: {name} - score: {side.score}",
        )
        for numbers, side, letter, name in (
            (UPPER, scene.above, letters[1], scene.names[1]),
            (LOWER, scene.below, letters[0], scene.names[0]),
        )
    )
    note = f"{scene.length}-point match" if scene.length else "unlimited match"
    if scene.rules is not BACKGAMMON:
        note += f", {scene.rules.full_name}"
    remarks = list(scene.remarks)
    if scene.course is not Course.CONTRARY:
        start, end = scene.course.facing(START), scene.course.facing(1)
        remarks.append(f"{letters[0]} moves from 24 down to 1, {letters[1]} the same way from {start} to {end}.")
    return [
        *draw_frame(upper, lower, note, style),
        _counts(scene, letters),
        *(f"   {remark}" for remark in remarks),
    ]


def _column(scene: Scene, point: int, letters: tuple[str, str]) -> str:
    """Return the checkers on a point from below to the top."""
    below, above, facing = scene.below, scene.above, scene.course.facing(point)
    own, other = letters[0] * below.row[point], letters[1] * above.row[facing]
    if point in below.pinned:
        return letters[0].lower() + other
    return letters[1].lower() + own if facing in above.pinned else own + other


def _counts(scene: Scene, letters: tuple[str, str]) -> str:
    sides: list[tuple[str, DrawnSide]] = sorted(
        zip(letters, (scene.below, scene.above), strict=True), key=itemgetter(0)
    )
    places = {"HAND": IN_HAND, "BAR": BAR, "OFF": OFF}
    if not scene.rules.setup.get(HAND):
        del places["HAND"]
    words = [
        f"{name}: " + " ".join(f"{letter}-{side.row[place]}" for letter, side in sides)
        for name, place in places.items()
    ]
    if scene.has_cube:
        owned = scene.cube > 1 and scene.owner is not Owner.CENTRED
        owner = f" (owned by {scene.names[scene.owner is Owner.OPPONENT]})" if owned else ""
        words.append(f"Cube: {scene.cube}{' (Crawford game)' if scene.crawford else owner}")
    elif scene.cube:
        words.append(f"Stake: {scene.cube}")
    return f"   {'   '.join(words)}  {scene.turn}".rstrip()
