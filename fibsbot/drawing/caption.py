"""What a picture of a board says in words, for screen readers and pages: a title, and what the drawing leaves out."""

from __future__ import annotations

from attrs import frozen

from fibsbot.drawing.scene import last_play, names_of_game, names_of_state
from fibsbot.drawing.sentences import decision_title, describe_game, describe_state, dice_text, is_over, situation
from fibsbot.match import MatchState
from fibsbot.notation.play_notation import CANNOT_MOVE, format_play
from fibsbot.position import Play
from fibsbot.rules.state import GameState
from fibsbot.transcript import Step, Throw


@frozen
class Caption:
    """The words of a picture."""

    title: str
    facts: tuple[tuple[str, str], ...]
    """What the drawing leaves out or abbreviates, each fact with its name."""


def caption_of_state(state: MatchState, names: tuple[str, str] | None = None, play: Play | None = None) -> Caption:
    """Return the caption of a decision, and of a play if given."""
    shown_names = names_of_state(names)
    title = decision_title(state, shown_names)
    if play is not None and not is_over(state):
        title = f"{shown_names[0]} plays{dice_text(state.dice)}: {format_play(play, state)}"
    return Caption(title, tuple(describe_state(state)))


def caption_of_game(
    game: GameState, names: tuple[str, str] = ("", ""), play: Play | None = None, last: Step | None = None
) -> Caption:
    """Return the caption of a game, and of a play if given, or of the last one."""
    shown_names = names_of_game(names)
    title = situation(game, shown_names)
    if play is not None:
        title = f"{shown_names[game.turn]} plays{dice_text(game.dice)}: {format_play(play, game)}"
    elif last is not None and (played := last_play(last)):
        title = f"{_last_play_text(last, *played, shown_names)}; {title}"
    return Caption(title, tuple(describe_game(game, shown_names)))


def _last_play_text(last: Step, before: GameState, play: Play, names: tuple[str, str]) -> str:
    text = format_play(play, before)
    rolled = f"rolled{dice_text(before.dice)}, " if isinstance(last.entry, Throw) else ""
    return f"{names[before.turn]} {rolled}{text if text == CANNOT_MOVE else f'played {text}'}"
