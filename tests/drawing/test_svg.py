"""Boards as SVG: complete, safe, accessible and deterministic."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Final
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.drawing.arrows import arrows_of, hits_of
from fibsbot.drawing.board_text import draw_state
from fibsbot.drawing.layout import STACK, Layout
from fibsbot.drawing.scene import show_play
from fibsbot.drawing.svg import SvgBoard, Theme, ViewOptions, board_svg, game_svg
from fibsbot.drawing.themes import DARK, LIGHT, ColourRole, Palette, stylesheet
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.notation import parse_play
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat
from fibsbot.transcript import Game, Throw, walk
from tests.drawing.gallery import HITS, OPENING, RACE
from tests.drawing.svg_checks import NASTY, SVG, contrast, parsed, reaches_out, said, texts
from tests.hypothesis_strategies import dice, match_states, positions

LARGEST: Final = 12_000
BELOW: Final = Layout(left=False, board_only=False)


def looks() -> st.SearchStrategy[ViewOptions]:
    """Return any view options."""
    yes = st.booleans()
    return st.builds(ViewOptions, st.sampled_from(Theme), yes, yes, yes, yes, st.none() | st.integers(50, 2000))


def discs(root: ET.Element) -> list[tuple[float, float]]:
    """Return the positions of checkers, without those beside the names."""
    found = root.iter(f"{SVG}circle")
    return [(float(it.attrib["cx"]), float(it.attrib["cy"])) for it in found if it.attrib["r"] == "17.5"]


# -- whatever the position ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            MatchState(Position.from_sides([16, *[0] * 24], [2, *[0] * 24])),
            "a possible position, got one with TOO_MANY",
        ),
        (MatchState(Position([0] * 20)), "a possible position, got one with WRONG_LENGTH"),
        (MatchState(Position.start(), dice=(9, 1), phase=Phase.MOVE), "two dice, each 1 to 6, got"),
    ],
)
def test_the_impossible_is_not_drawn(state: MatchState, message: str) -> None:
    with pytest.raises(ValueError, match=f"expected {message}"):
        board_svg(state)


@given(match_states(), looks(), st.text(max_size=30), st.text(max_size=30))
def test_any_decision_becomes_a_small_picture_that_loads_nothing(
    state: MatchState, view: ViewOptions, own: str, other: str
) -> None:
    text = board_svg(state, view=view, names=(own, other))
    root = parsed(text)
    assert (f"{SVG}svg", "img") == (root.tag, root.attrib["role"])
    assert said(root, "title")
    assert [] == reaches_out(text)
    assert len(text.encode()) < LARGEST
    assert text == board_svg(state, view=view, names=(own, other))


@given(match_states(), looks())
def test_every_checker_is_drawn_or_counted(state: MatchState, view: ViewOptions) -> None:
    root = parsed(board_svg(state, view=view))
    heaps = [abs(n) for n in state.position.points]
    assert sum(min(n, STACK) for n in heaps) == len(discs(root))
    written = texts(root)
    assert all(str(n) in written for n in heaps if n > STACK)
    slabs = [it for it in root.iter(f"{SVG}rect") if it.attrib.get("rx") == "3"]
    assert state.position.off + state.position.opponent_off == len(slabs)


@given(match_states(), looks())
def test_the_other_direction_is_a_mirror(state: MatchState, view: ViewOptions) -> None:
    """Only checkers: texts and dice are not mirrored."""
    one, other = (discs(parsed(board_svg(state, view=evolve(view, left=left)))) for left in (False, True))
    assert sorted((round(BELOW.width - x, 1), y) for x, y in one) == sorted(other)


@given(match_states(), looks())
def test_nothing_is_outside_the_picture(state: MatchState, view: ViewOptions) -> None:
    text = board_svg(state, view=view)
    root = parsed(text)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for x, y in discs(root):
        assert 17 < x < width - 17
        assert 17 < y < height - 17
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.attrib["x"]) >= 0
        assert float(rect.attrib["x"]) + float(rect.attrib["width"]) <= width
        assert 0 <= float(rect.attrib["y"]) <= float(rect.attrib["y"]) + float(rect.attrib["height"]) <= height


# -- names and those who cannot see ---------------------------------------------------------------------------------


def test_hostile_names_are_escaped() -> None:
    text = board_svg(OPENING, names=(NASTY, "x" * 100_000))
    root = parsed(text)
    assert "<script" not in text
    assert any(it.startswith("<script>&\"'") and "\x1b" not in it and "\u202e" not in it for it in texts(root))
    assert f"{'x' * 23}…" in texts(root)
    assert len(text.encode()) < LARGEST


def test_a_long_name_is_scaled_down() -> None:
    def size(name: str) -> float:
        root = parsed(board_svg(OPENING, names=(name, "")))
        group = next(it for it in root.iter(f"{SVG}g") if it.findtext(f"{SVG}text") == name)
        return float(group.attrib["font-size"])

    assert 21 == size("marvin")
    assert 15 < size("W" * 20) < 21


def test_the_description_has_the_board_and_the_facts() -> None:
    root = parsed(board_svg(OPENING, names=("marvin", "ford")))
    lines = said(root, "desc").splitlines()
    drawing = draw_state(OPENING, "marvin", "ford")
    assert drawing == lines[: len(drawing)]
    assert "pips: 167 to 167" in lines


@pytest.mark.parametrize(
    ("state", "title"),
    [
        (OPENING, "marvin to play 3-1"),
        (evolve(OPENING, phase=Phase.ROLL, dice=None), "marvin to double or roll"),
        (evolve(OPENING, phase=Phase.ROLL, dice=None, owner=Owner.OPPONENT), "marvin to roll"),
        (evolve(OPENING, phase=Phase.ROLL, dice=None, crawford=True), "marvin to roll"),
        (evolve(OPENING, phase=Phase.DOUBLED, dice=None), "ford doubles to 2, marvin to answer"),
        (evolve(OPENING, phase=Phase.RESIGNED, resignation=2), "ford resigns (gammon), marvin to answer"),
        (MatchState(Position.from_sides([0] * 25, [1] + [0] * 24)), "marvin has borne off"),
        (MatchState(Position.from_sides([1] + [0] * 24, [0] * 25)), "ford has borne off"),
    ],
)
def test_the_title_says_who_has_to_act(state: MatchState, title: str) -> None:
    assert title == said(parsed(board_svg(state, names=("marvin", "ford"))), "title")


def test_the_default_names_are_player_and_opponent() -> None:
    assert "player to play 3-1" == said(parsed(board_svg(OPENING)), "title")
    assert not {"player", "opponent"} & set(texts(parsed(board_svg(OPENING))))


# -- what is on the board -------------------------------------------------------------------------------------------


def test_the_points_are_numbered_as_the_player_counts_them() -> None:
    def numbers(view: ViewOptions) -> dict[str, tuple[float, float]]:
        root = parsed(board_svg(evolve(OPENING, length=0), view=evolve(view, board_only=True)))
        return {
            it.text or "": (float(it.attrib["x"]), float(it.attrib["y"]))
            for group in root.iter(f"{SVG}g")
            if group.attrib.get("font-size") == "16"
            for it in group
        }

    for view in (
        ViewOptions(),
        ViewOptions(left=True),
        ViewOptions(opponents_side=True),
        ViewOptions(opponents_side=True, left=True),
    ):
        found = numbers(view)
        assert {str(it) for it in range(1, 25)} == set(found)
        (ace_x, ace_y), (last_x, last_y) = found["1"], found["24"]
        assert ace_x == last_x
        assert (ace_y < last_y) == view.opponents_side
        assert (ace_x < BELOW.width / 2) == view.left


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (OPENING, "64"),
        (evolve(OPENING, cube=2), "2"),
        (evolve(OPENING, cube=1, owner=Owner.PLAYER), "1"),
        (evolve(OPENING, cube=1024, owner=Owner.OPPONENT), "1024"),
        (evolve(OPENING, cube=2, phase=Phase.DOUBLED, dice=None), "4"),
        (evolve(OPENING, crawford=True), "Crawford"),
    ],
)
def test_the_cube_shows_its_value(state: MatchState, shown: str) -> None:
    assert shown in texts(parsed(board_svg(state, view=ViewOptions(board_only=True))))


def test_the_cube_is_on_the_side_of_its_owner() -> None:
    def height(owner: Owner, *, above: bool) -> float:
        state = evolve(OPENING, cube=32, owner=owner)
        root = parsed(board_svg(state, view=ViewOptions(opponents_side=above)))
        return next(float(it.attrib["y"]) for it in root.iter(f"{SVG}text") if it.text == "32")

    middle = height(Owner.CENTRED, above=False)
    assert height(Owner.PLAYER, above=False) > middle > height(Owner.OPPONENT, above=False)
    assert height(Owner.PLAYER, above=True) < middle < height(Owner.OPPONENT, above=True)


def test_scores_pips_and_names_can_be_left_out() -> None:
    full, bare = (
        texts(parsed(board_svg(OPENING, view=ViewOptions(board_only=bare), names=("a", "b")))) for bare in (False, True)
    )
    assert {"a", "b", "1/5", "2/5", "167 pips"} <= set(full)
    assert not {"a", "b", "1/5", "2/5", "167 pips"} & set(bare)
    assert "12" in texts(parsed(board_svg(RACE)))


def test_a_resignation_shows_its_level() -> None:
    state = evolve(OPENING, phase=Phase.RESIGNED, dice=None, resignation=3)
    assert "resigns backgammon" in texts(parsed(board_svg(state)))


# -- arrows ---------------------------------------------------------------------------------------------------------


@given(positions(), dice(), looks())
def test_every_legal_play_can_be_shown(position: Position, dice: tuple[int, int], view: ViewOptions) -> None:
    state = MatchState(position, phase=Phase.MOVE, dice=dice)
    for play in legal_plays(position, dice)[:5]:
        text = board_svg(state, view=view, play=play)
        parsed(text)
        assert len(text.encode()) < LARGEST
        layout = Layout(view.left, view.board_only)
        arrows = arrows_of(show_play(play, position, below=not view.opponents_side), layout)
        assert len(arrows) <= len(play)
        spots = [spot for arrow in arrows for spot in arrow.spots]
        assert all(0 < x < layout.width and 0 < y < layout.height for x, y in spots)


def test_arrows_connect_checkers_and_targets_and_hits_get_rings() -> None:
    play = parse_play("bar/21* 8/4*(2) 13/9", HITS.position, (4, 4))
    shown = show_play(play, HITS.position, below=True)
    arrows = {arrow.spots: arrow.times for arrow in arrows_of(shown, BELOW)}
    expected = {
        (BELOW.stack_spot(25, 0, below=True), BELOW.stack_spot(21, 0, below=True)): 1,
        (BELOW.stack_spot(13, 3, below=True), BELOW.stack_spot(9, 0, below=True)): 1,
        (BELOW.stack_spot(8, 2, below=True), BELOW.stack_spot(4, 0, below=True)): 2,
    }
    assert expected == arrows
    assert [BELOW.stack_spot(21, 0, below=True), BELOW.stack_spot(4, 0, below=True)] == hits_of(shown, BELOW)
    assert "\N{MULTIPLICATION SIGN}2" in texts(parsed(board_svg(HITS, play=play)))


def test_a_checker_borne_off_goes_to_its_tray() -> None:
    (arrow,) = arrows_of(show_play(Play.of((4, 0)), RACE.position, below=True), BELOW)
    assert BELOW.off == arrow.spots[-1][0]
    assert arrow.spots[-1][1] > BELOW.middle


def test_checkers_arriving_from_different_points_are_stacked() -> None:
    one, other = arrows_of(show_play(Play.of((8, 5), (6, 5)), Position.start(), below=True), BELOW)
    assert [BELOW.stack_spot(5, 0, below=True), BELOW.stack_spot(5, 1, below=True)] == [one.spots[-1], other.spots[-1]]


def test_a_dance_has_no_arrows() -> None:
    assert f'"{LIGHT[ColourRole.ARROW].fill}"' not in board_svg(
        OPENING, play=Play(), view=ViewOptions(theme=Theme.LIGHT)
    )


# -- colours --------------------------------------------------------------------------------------------------------

GROUNDS: Final = (ColourRole.FIELD, ColourRole.POINT, ColourRole.OTHER_POINT)


def fill(palette: Palette, role: ColourRole) -> str:
    """Return the colour of a surface."""
    return palette[role].fill or ""


def stroke(palette: Palette, role: ColourRole) -> str:
    """Return the colour of an outline."""
    return palette[role].stroke or ""


# Nobody needs to see hues: contrasts are those of lightness alone; 3 is what WCAG asks of graphics, 4.5 of text.

both_palettes = pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])


@both_palettes
def test_both_sides_contrast(palette: Palette) -> None:
    assert contrast(fill(palette, ColourRole.DARK), fill(palette, ColourRole.LIGHT)) > 12


@both_palettes
def test_checkers_contrast_with_their_background(palette: Palette) -> None:
    for side in (ColourRole.DARK, ColourRole.LIGHT):
        for ground in (*GROUNDS, ColourRole.TRAY, ColourRole.FRAME):
            either = (fill(palette, side), stroke(palette, side))
            assert max(contrast(it, fill(palette, ground)) for it in either) > 3, (side, ground)


@both_palettes
def test_points_contrast_with_each_other_and_the_field(palette: Palette) -> None:
    for one, other in combinations(GROUNDS, 2):
        assert contrast(fill(palette, one), fill(palette, other)) > 1.5


@both_palettes
def test_arrows_contrast_with_everything(palette: Palette) -> None:
    pair = (fill(palette, ColourRole.ARROW), fill(palette, ColourRole.OUTLINE))
    assert contrast(*pair) > 7
    for ground in (*GROUNDS, ColourRole.TRAY, ColourRole.FRAME, ColourRole.DARK, ColourRole.LIGHT, ColourRole.PAPER):
        assert max(contrast(it, fill(palette, ground)) for it in pair) > 4, ground


@both_palettes
def test_texts_are_readable(palette: Palette) -> None:
    for text, ground in (
        (ColourRole.INK, ColourRole.PAPER),
        (ColourRole.FAINT, ColourRole.PAPER),
        (ColourRole.INK, ColourRole.TRAY),
        (ColourRole.FAINT, ColourRole.TRAY),
        (ColourRole.ON_FRAME, ColourRole.FRAME),
        (ColourRole.ON_DARK, ColourRole.DARK),
        (ColourRole.ON_LIGHT, ColourRole.LIGHT),
        (ColourRole.ON_CUBE, ColourRole.CUBE),
        (ColourRole.ON_ARROW, ColourRole.ARROW),
    ):
        assert contrast(fill(palette, text), fill(palette, ground)) > 4.5, (text, ground)


@both_palettes
def test_curves_contrast_with_the_background(palette: Palette) -> None:
    for role in (it for it in ColourRole if it.value.startswith("series")):
        assert contrast(stroke(palette, role), fill(palette, ColourRole.PAPER)) > 4.5


def test_the_theme_selects_the_colours() -> None:
    light, dark, auto, page = (board_svg(OPENING, view=ViewOptions(theme=theme)) for theme in Theme)
    assert fill(LIGHT, ColourRole.FIELD) in light
    assert fill(DARK, ColourRole.FIELD) in dark
    assert "fb-" not in light + dark
    assert "<style>@media (prefers-color-scheme:dark)" in auto
    assert "<style" not in page
    used = set(re.findall(r'class="(fb-[a-z-]+)"', page))
    assert used
    assert all(f".{name}{{" in stylesheet() for name in used)
    assert all(f".{name}{{" in auto for name in used)


# -- whole games ----------------------------------------------------------------------------------------------------


def test_a_game_is_always_seen_from_the_same_seat() -> None:
    begun = rules.start_match(FIBS, 3)
    game = Game(1, begun, (Throw(Seat.A, (3, 1), Play.of((8, 5), (6, 5))), Throw(Seat.B, (6, 2), Play.of((24, 18)))))
    first = next(walk(game))
    names = ("marvin", "ford")
    assert "the game begins" == said(parsed(game_svg(begun, Seat.A, names=names)), "title")
    after = parsed(game_svg(first.after, Seat.A, names=names, last=first))
    assert "marvin rolled 3-1, played 8/5 6/5; ford to roll" == said(after, "title")
    dice = parsed(game_svg(rules.roll(first.after, Seat.B, (6, 2)), Seat.A, names=names))
    assert "ford to play 6-2" == said(dice, "title")
    assert discs(after) == discs(dice)
    doubled = parsed(game_svg(rules.double(first.after, Seat.B), Seat.A, names=names))
    assert "ford doubles to 2, marvin to answer" == said(doubled, "title")
    resigned = parsed(game_svg(rules.resign(first.after, Seat.B, Level.GAMMON), Seat.A, names=names))
    assert "ford resigns (gammon), marvin to answer" == said(resigned, "title")
    dropped = rules.drop(rules.double(first.after, Seat.B), Seat.A)
    assert "ford wins a point" == said(parsed(game_svg(dropped, Seat.A, names=names)), "title")


def test_the_white_flag_lies_where_the_dice_were() -> None:
    rolled = rules.roll_opening(rules.start_match(FIBS, 3), 3, 1)
    assert ' r="3.6"' in game_svg(rolled, Seat.A)
    resigned = game_svg(rules.resign(rolled, Seat.A, Level.SINGLE), Seat.A)
    assert "resigns single" in texts(parsed(resigned))
    assert ' r="3.6"' not in resigned


def test_a_notebook_shows_a_board() -> None:
    board = SvgBoard(OPENING, names=("marvin", "ford"))
    assert board._repr_svg_() == board.svg() == board_svg(OPENING, names=("marvin", "ford"))
