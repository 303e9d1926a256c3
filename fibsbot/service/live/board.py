"""The board of a match that is on, as the agent knows it, always seen from the bot's own seat and numbered from it."""

from __future__ import annotations

from typing import Final

from attrs import evolve, frozen

from fibsbot.bot.track import Side, Track
from fibsbot.draw.scene import Look, Scene, Shown, scene_of_state
from fibsbot.draw.svg import scene_svg
from fibsbot.draw.themes import Theme
from fibsbot.match import Phase
from fibsbot.position import Position

_OWN: Final = Look(theme=Theme.PAGE)
_THEIRS: Final = Look(theme=Theme.PAGE, above=True, dark=False, fixed=True)
"""The opponent decides, and still sits above with the light checkers."""


@frozen
class Picture:
    """A board as the page shows it."""

    svg: str
    title: str
    """What there is to do, in words."""


def picture(track: Track, own_name: str, last: Shown | None) -> Picture | None:
    """Draw a match; None while its state is not known. `last` is a play that may have led there."""
    if track.state is None:
        return None
    decider, phase = _open_decision(track)
    state = track.decision(phase)
    opponent = track.opponent or "opponent"
    if decider is Side.OPPONENT:
        scene = scene_of_state(state.swapped(), _THEIRS, None, (opponent, own_name))
    else:
        scene = scene_of_state(state, _OWN, None, (own_name, opponent))
    if not track.running:
        scene = _at_rest(scene)
    shown = last if last and _seen_from_below(last) == track.state.position else None
    return Picture(scene_svg(evolve(scene, shown=shown), _OWN), scene.title)


def _open_decision(track: Track) -> tuple[Side, Phase]:
    """Return who has to decide what; the player, where nobody has to."""
    if track.resigned_by:
        return track.resigned_by.other, Phase.RESIGNED
    if track.doubled_by:
        return track.doubled_by.other, Phase.DOUBLED
    return track.turn or Side.PLAYER, Phase.MOVE if track.dice else Phase.ROLL


def _at_rest(scene: Scene) -> Scene:
    """Show a game that is over: nobody has anything to do."""
    below, above = (evolve(side, on_turn=False, dice=None) for side in (scene.below, scene.above))
    return evolve(scene, below=below, above=above, title="between two games")


def _seen_from_below(last: Shown) -> Position:
    after = last.before.play(last.play)
    return after if last.below else after.swapped()
