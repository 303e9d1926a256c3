"""Boards of tables games as SVG."""

from __future__ import annotations

from fibsbot.draw.board_text import dice_text
from fibsbot.draw.markup import clean
from fibsbot.draw.scene import NAME, DrawnSide, Scene, ShownPlay, ViewOptions, as_viewed
from fibsbot.draw.svg import scene_svg
from fibsbot.draw.table_text import describe_game, draw_table, table_situation
from fibsbot.notation.play_notation import format_play, paths_of, touches_of
from fibsbot.position import Play
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.sides import HAND, START, Side
from fibsbot.rules.state import GameState, Seat, Stage


def table_svg(
    game: GameState,
    seat: Seat,
    *,
    view: ViewOptions | None = None,
    names: tuple[str, str] = ("", ""),
    play: Play | None = None,
) -> str:
    """Draw the current state of a tables game.

    Args:
        game: the game, in any stage.
        seat: the player that `view` refers to, shown below by default.
        view: side, direction and colours.
        names: names of seat A and seat B.
        play: a legal play of the player on turn, shown by arrows.
    """
    view = view or ViewOptions()
    return scene_svg(scene_of_table(game, seat, view, names, play), view)


def scene_of_table(
    game: GameState, seat: Seat, view: ViewOptions, names: tuple[str, str], play: Play | None = None
) -> Scene:
    """Return the scene of a tables game seen from one seat, and of a play of the player on turn if given."""
    shown_names = (clean(names[0], NAME) or "A", clean(names[1], NAME) or "B")
    owner = game.owner_for(seat)
    title = table_situation(game, shown_names)
    if play is not None:
        text = format_play(play, game)
        title = f"{shown_names[game.turn]} plays{dice_text(game.dice)}: {text}"
    facts = [f"{name}: {fact}" for name, fact in describe_game(game, shown_names)]
    scene = Scene(
        below=_side(game, seat, names[seat], dark=view.dark),
        above=_side(game, seat.other, names[seat.other], dark=not view.dark),
        numbers_below=True,
        length=game.length,
        cube=game.cube if game.laws.cube or game.cube > 1 else 0,
        owner=owner,
        crawford=game.crawford,
        shown=_shown_play(game, play, below=game.turn is seat) if play else None,
        title=title,
        text="\n".join([*draw_table(game, seat, shown_names), *facts]),
        facing=game.rules.course.facing,
        marks_starts=True,
    )
    return as_viewed(scene, view)


def _side(game: GameState, seat: Seat, name: str, *, dark: bool) -> DrawnSide:
    checkers, resignation = game.sides_for(seat).own, game.resignation
    return DrawnSide(
        name,
        dark,
        game.scores[seat],
        _row(game.rules, checkers),
        frozenset(point for point in range(1, START + 1) if checkers.pinned >> point & 1),
        dice=game.dice if game.turn is seat and game.stage in {Stage.MOVE, Stage.NAME} else None,
        on_turn=game.decides is seat,
        doubles=game.offered if game.stage is Stage.DOUBLED and game.answering is seat.other else 0,
        resigns=int(resignation.level) if resignation and resignation.seat is seat else 0,
    )


def _row(rules: Ruleset, checkers: Side) -> tuple[int, ...]:
    in_hand = rules.in_hand(checkers)
    return (*checkers.row[:HAND], checkers.row[HAND] - in_hand, in_hand)


def _shown_play(game: GameState, play: Play, *, below: bool) -> ShownPlay:
    """Return the arrows of a play; checkers on the bar enter before those in hand."""
    row = _row(game.rules, game.sides.own)
    paths = paths_of(play, game)
    touches = touches_of(play, game)
    return ShownPlay(tuple(paths), row, tuple(sorted(touches.hits | touches.pins, reverse=True)), below)
