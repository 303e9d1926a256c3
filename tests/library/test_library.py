"""The front door: `import fibsbot as bg`, its boards, values, matches and files."""

from __future__ import annotations

import json
import pickle
import pkgutil
import re
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

import fibsbot as bg
from fibs_protocol.board import BoardState
from fibsbot.formats import FormatError
from fibsbot.games import GAMES
from fibsbot.library.evaluations import BoardValue
from fibsbot.library.hints import BOARD_HINTS, MATCH_HINTS, MODULE_HINTS
from fibsbot.library.matches import UnreadableFileWarning
from fibsbot.match import MatchState
from fibsbot.rules.errors import RuleError
from fibsbot.rules.state import Stage
from tests.marks import is_no_sample, some_slow

ROOT: Final = Path(__file__).parent.parent.parent
EVERY_GAME = some_slow(["backgammon", *sorted(GAMES)], is_no_sample)


def roll(board: bg.Board, random: Random) -> bg.Board:
    return board.roll(*(random.randint(1, 6) for _ in range(board.state.rules.dice)))


def some_boards(game: str, seed: int, most: int = 120) -> list[bg.Board]:
    """Return the boards of a game at random."""
    random, board = Random(seed), bg.Board(game, length=3)
    found = [board]
    while not board.is_over and len(found) < most and board.player is not None:
        match board.state.stage:
            case Stage.ROLL if board.may_double and random.random() < 0.1:
                board = board.double()
            case Stage.ROLL:
                board = roll(board, random)
            case Stage.DOUBLED:
                board = board.take()
            case Stage.NAME:
                board = board.name(random.choice(board.decision.names))
            case _:
                board = board.play(random.choice(board.plays))
        found.append(board)
    return found


@pytest.mark.parametrize("game", EVERY_GAME)
def test_boards_are_values(game: str) -> None:
    for board in some_boards(game, 3):
        assert bg.Board.from_json(board.to_json()) == board == pickle.loads(pickle.dumps(board))  # noqa: S301 - our own
        assert hash(bg.Board.from_json(board.to_json())) == hash(board)
        assert repr(board).count("\n") == 0
        assert len(str(board).splitlines()) <= 24
        if board.player is not None:
            decision = board.decision
            assert MatchState.of(decision.game(board.seat), board.seat) == decision
            assert bg.Board.of(decision).decision == decision


def test_the_lines_of_the_documentation_work() -> None:
    board = bg.Board().roll(3, 1)
    assert repr(board) == "<Board backgammon XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10>"
    assert "8/5 6/5" in map(str, board.plays)
    after = board.play("8/5 6/5")
    assert (after.player, after.pips) == (1, (167, 163))
    assert after == board.play(next(play for play in board.plays if str(play) == "8/5 6/5"))
    ranked = bg.rank(board, evaluator="engine:0")
    assert str(ranked[:3]).splitlines()[1].startswith("8/5 6/5")
    assert ranked[0].loss == 0 < ranked[1].loss
    assert "<td" in ranked[:1]._repr_html_()
    assert bg.cube(after, "engine:0").action == "no double"
    assert -1 < bg.evaluate(after, "engine:0").equity < 0
    assert bg.Board.from_id(after.id).decision == after.decision


def check_value(value: Any) -> None:
    """Check that something can be compared, hashed, pickled, written as JSON and shown on a screen."""
    again = type(value).from_json(value.to_json())
    assert again == value == pickle.loads(pickle.dumps(value))  # noqa: S301 - our own
    assert hash(again) == hash(value)
    assert str(again) == str(value)
    for text in (str(value), repr(value)):
        assert len(text.splitlines()) <= 24
        assert max(map(len, text.splitlines())) <= 120


def test_results_are_values() -> None:
    board = bg.Board().roll(3, 1)
    ranked = bg.rank(board, evaluator="engine:0")
    (match,) = bg.read(ROOT / "tests/data/formats/mat/one_point.mat")
    analysed = bg.analyse(match, "engine:0", luck=False)
    errors = analysed.errors()
    for value in (
        bg.evaluate(board, "engine:0"),
        ranked,
        ranked[0],
        bg.cube(board.play("8/5 6/5"), "engine:0"),
        match,
        analysed,
        errors,
        errors[0],
        analysed.by_kind(),
    ):
        check_value(value)
    assert max(ranked) is ranked[0]
    assert sorted(errors, reverse=True) == list(errors)
    assert errors[0].best in map(errors[0].board.text_of, errors[0].board.plays)
    assert bg.Match.from_json(match.to_json()) == match
    assert analysed.analysis == type(analysed).from_json(analysed.to_json()).analysis


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "Expecting value"),
        ("[]", "expected"),
        ('{"equity": "7"}', "expected"),
        ('{"equity": 7, "chances": null, "colour": 1}', "extra fields"),
    ],
)
def test_json_that_is_no_value_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        BoardValue.from_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["nonsense", "[]", "{}", '{"position": [1]}', '{"position": "x", "colour": 3}'])
def test_json_that_is_no_board_is_refused_in_a_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        bg.Board.from_json(text)


def test_a_board_is_drawn_into_the_format_of_the_files_name(tmp_path: Path) -> None:
    board = bg.Board().roll(3, 1)
    picture = bg.draw(board, "8/5 6/5")
    assert picture.svg == picture._repr_svg_() != bg.draw(board).svg == board._repr_svg_()
    picture.save(tmp_path / "opening.svg")
    picture.save(tmp_path / "opening.txt")
    assert (tmp_path / "opening.svg").read_text() == picture.svg
    assert (tmp_path / "opening.txt").read_text() == f"{board}\n" == f"{picture}\n"
    with pytest.raises(ValueError, match=r"expected a file that ends in .svg or .txt, got opening.png"):
        picture.save(tmp_path / "opening.png")
    with pytest.raises(RuleError):
        bg.draw(board, "24/18")
    state = board.decision
    assert bg.draw(bg.Board.of(state.position)).text == str(bg.Board())


def test_mistakes_say_what_was_expected() -> None:
    board = bg.Board()
    with pytest.raises(RuleError, match="expected a board with dice"):
        _ = board.plays
    with pytest.raises(RuleError, match="expected laws, one of"):
        bg.Board(laws="murky")
    with pytest.raises(ValueError, match="expected"):
        bg.Board.from_id("XGID=nonsense")
    with pytest.raises(ValueError, match="a game such as"):
        bg.Board("snakes and ladders")
    with pytest.raises(RuleError):
        board.roll(3, 1).play("24/18")
    for game in ("backgammon", "plakoto"):
        for before in (bg.Board(game), bg.Board.from_id("4HPwATDgc/ABMA")):
            with pytest.raises(RuleError):
                before.play("8/5 6/5")


def anything(value: object) -> Any:
    """Return a value as one of which a type checker knows nothing."""
    return value


@pytest.mark.parametrize(
    ("guess", "text"),
    [
        (lambda board: board.play(7), "expected a Play, or its text such as '8/5 6/5', got 7"),
        (lambda board: board.play(bg.rank(board, ["8/5 6/5"])[0]), ", of which .play is one"),
        (lambda board: bg.rank(board, "engine:0"), "expected a list of plays, got the text 'engine:0'"),
        (lambda board: bg.rank(board, [anything(None)]), "expected a Play"),
        (lambda board: bg.evaluate(board.id), "expected a Board, .* got 'XGID="),
        (lambda board: bg.cube(board.id), "expected a Board"),
        (lambda board: bg.rank(board.id), "expected a Board"),
        (lambda board: bg.rollout(board.id), "expected a Board"),
        (lambda board: bg.draw(board.id), "expected a Board"),
        (lambda board: bg.analyse(board.id), "expected one Match"),
        (lambda _: bg.Board.from_id(anything(7)), "expected an ID as text, got 7"),
    ],
)
def test_a_wrong_kind_of_value_is_named(guess: Callable[[bg.Board], object], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        guess(bg.Board().roll(3, 1))


def test_the_board_of_an_id_is_not_asked_for_as_a_game() -> None:
    with pytest.raises(ValueError, match=r"the board of an ID is Board\.from_id"):
        bg.Board(bg.Board().id)


def test_what_hints_name_is_there() -> None:
    board = bg.Board().roll(3, 1)
    match = bg.Match.from_json(a_match())
    for owner, hints in ((board, BOARD_HINTS), (match, MATCH_HINTS), (bg, MODULE_HINTS)):
        for name, hint in hints.items():
            assert not hasattr(owner, name)
            with pytest.raises(AttributeError, match=f"has no attribute '{name}': {re.escape(hint)}"):
                getattr(owner, name)
            found = re.findall(r"\b(?:bg|board|match|fibsbot)(?:\.[a-z_]+|\[0\])+", hint, re.IGNORECASE)
            assert found
            for path in found:
                if path.startswith("fibsbot."):
                    assert pkgutil.resolve_name(path)
                    continue
                value: Any = {"bg": bg, "board": board, "match": match}[path.partition(".")[0]]
                for step in re.findall(r"(?<=\.)\w+|\[0\]", path):
                    value = value[0] if step == "[0]" else getattr(value, step)


def test_names_that_nobody_knows_are_reported_by_python() -> None:
    for owner in (bg.Board(), bg.Match.from_json(a_match())):
        with pytest.raises(AttributeError, match="object has no attribute 'colour'") as raised:
            _ = anything(owner).colour
        assert raised.value.name == "colour"


def a_match(game: str = "backgammon") -> str:
    """Return a match of one game as JSON, as it is played by the rules."""
    from fibsbot.formats.transcript_json import write_json  # noqa: PLC0415
    from fibsbot.strategies.loader import load  # noqa: PLC0415
    from fibsbot.strategies.questions import ask_strategy  # noqa: PLC0415
    from fibsbot.table.bot_match import BotMatch  # noqa: PLC0415
    from fibsbot.table.model import Action  # noqa: PLC0415

    rules = bg.Board(game).state.rules
    table = BotMatch(rules, rules.laws, 1, ("alice", "bob"), Random(4))
    while not table.match_over:
        if table.question is not None:
            answer = ask_strategy(load("pips"), table.question)
            assert answer is not None
            table.answer(answer)
        elif table.moves:
            table.act(Action.MOVE, (table.moves[0].move.source,))
        else:
            action = next(one for one in (Action.DONE, Action.ROLL, Action.TAKE) if one in table.actions)
            table.act(action)
    return write_json(table.transcript)


def test_matches_are_read_from_files_folders_and_zip_files(tmp_path: Path) -> None:
    text = a_match()
    (tmp_path / "one.json").write_text(text)
    (tmp_path / "notes.txt").write_text("no match\n")
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as packed:
        packed.writestr("two.json", text)
    with pytest.warns(UnreadableFileWarning, match=r"notes\.txt"):
        found = list(bg.read(tmp_path))
    assert [match.players for match in found] == [("alice", "bob")] * 2
    assert found[0] == found[1]
    assert found[0].boards[-1].is_over
    bg.write(tmp_path / "again.mat", found[0])
    (again,) = bg.read(tmp_path / "again.mat")
    assert (again.score, again.winner, again.game) == (found[0].score, found[0].winner, "backgammon")
    with pytest.raises(ValueError, match=r"notes\.txt"):
        list(bg.read(tmp_path / "notes.txt"))


def test_an_analysis_is_shown_by_player_by_kind_and_by_error(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(a_match())
    (match,) = bg.read(tmp_path / "one.json")
    analysed = bg.analyse(match, "engine:0", luck=False)
    kinds = analysed.by_kind()
    both = [sum(figures[seat].loss for figures in kinds.values()) for seat in (0, 1)]
    assert both == pytest.approx([figures.loss for figures in analysed.analysis.figures])
    assert str(analysed).splitlines()[1].startswith("alice")
    worst = analysed.errors(0)
    assert [one.loss for one in worst] == sorted((one.loss for one in worst), reverse=True)
    assert str(worst[:1]).splitlines()[0].startswith("player")


def test_importing_costs_little_and_gives_no_warning() -> None:
    script = (
        "import sys, fibsbot as bg; bg.Board().roll(3, 1).plays; print('numpy' in sys.modules, 'numba' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert printed.stdout.split() == ["False", "False"]
    assert set(bg.__all__) <= set(dir(bg))
    for name in bg.__all__:
        assert getattr(bg, name)
    with pytest.raises(AttributeError, match="no attribute 'bord'"):
        _ = anything(bg).bord


@pytest.mark.slow
def test_a_script_without_a_guard_rolls_out(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import fibsbot as bg
            print("begun")
            rolled = bg.rollout(bg.Board().roll(3, 1), ["8/5 6/5", "24/23 13/10"], games=36)
            print(rolled.best.text, rolled == type(rolled).from_json(rolled.to_json()), len(rolled))
            """
        )
    )
    printed = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert printed.stdout.splitlines() == ["begun", "8/5 6/5 True 2"]


def test_what_cannot_be_read_is_said_at_the_call(tmp_path: Path) -> None:
    for name in ("nothing.mat", "nothing.zip", "nowhere/"):
        with pytest.raises(
            FormatError, match=r"expected a file or folder with matches, got .*(nothing|nowhere).*: No such"
        ):
            bg.read(tmp_path / name)
    with pytest.raises(FormatError, match="expected files with matches, got none in "):
        bg.read(tmp_path)


def test_luck_that_was_not_analysed_is_not_shown_as_none() -> None:
    (match,) = bg.read(ROOT / "tests/data/formats/mat/one_point.mat")
    without = bg.analyse(match, "engine:0", luck=False)
    luck = without.columns().index(" luck")
    assert ["-", "-"] == [row[luck] for row in without.rows()]
    assert not without.has_luck


def test_an_analysed_match_has_levels_and_ratings() -> None:
    (match,) = bg.read(ROOT / "tests/data/formats/mat/one_point.mat")
    analysed = bg.analyse(match, "engine:0", luck=False)
    assert analysed.figures == analysed.analysis.figures
    level = analysed.columns().index("level")
    assert [it.level and it.level.value for it in analysed.figures] == [row[level] for row in analysed.rows()]
    for figures, rating in zip(analysed.figures, analysed.estimated_ratings, strict=True):
        assert rating == figures.estimated_rating(1)
        assert 2050 > (rating or 0.0)


def test_analyses_that_were_written_before_an_addition_are_read() -> None:
    (match,) = bg.read(ROOT / "tests/data/formats/mat/one_point.mat")
    analysed = bg.analyse(match, "engine:0", luck=False)
    old = {"decisions", "loss", "play_loss", "cube_loss", "luck", "luck_in_points", "luck_in_chances"}
    values = json.loads(analysed.to_json())
    parts = [values["analysis"], *values["analysis"]["games"]]
    for part in parts:
        part["figures"] = [{name: value for name, value in it.items() if name in old} for it in part["figures"]]
        for decision in part.get("decisions", ()):
            del decision["loss_in_chances"]
    read = type(analysed).from_json(json.dumps(values))
    assert analysed.pr == read.pr
    assert (None, None) == read.estimated_ratings
    assert [it.loss for it in analysed.errors()] == [it.loss for it in read.errors()]


def test_a_notebook_shows_the_games_of_a_match() -> None:
    (match,) = bg.read(ROOT / "tests/data/formats/mat/one_point.mat")
    shown = match._repr_html_()
    assert match.transcript.players[0].name in shown
    assert shown.count("<tr>") == 1 + len(match.transcript.games)


def test_a_double_that_can_win_no_more_is_none() -> None:
    assert not bg.cube(bg.Board(length=1), "engine:0").may_double
    assert bg.cube(bg.Board(length=1), "engine:0").action == "no double"
    assert bg.cube(bg.Board(length=3), "engine:0").may_double


def test_a_board_line_is_a_board() -> None:
    checkers = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    line = f"board:You:bob:3:0:0:{checkers}:1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
    board = bg.Board.from_fibs(BoardState.from_line(line))
    assert bg.Board("backgammon", length=3).roll(3, 1).plays == board.plays
    with pytest.raises(bg.RuleError):
        bg.Board.from_fibs(BoardState.from_line(line.replace(":0:1:3:1:0:0:1", ":0:0:0:0:0:0:1")))
