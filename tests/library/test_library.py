"""The front door: `import fibsbot as bg`, its boards, values, matches and files."""

from __future__ import annotations

import pickle
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path
from random import Random

import pytest

import fibsbot as bg
from fibsbot.games import GAMES
from fibsbot.library.matches import UnreadableFileWarning
from fibsbot.match import MatchState
from fibsbot.rules.errors import RuleError
from fibsbot.rules.state import Stage
from tests.marks import is_no_sample, some_slow

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
    with pytest.raises(FileNotFoundError):
        list(bg.read(tmp_path / "nowhere"))


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
        _ = bg.bord


@pytest.mark.slow
def test_a_script_without_a_guard_rolls_out(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import fibsbot as bg
            print("begun")
            print(bg.rollout(bg.Board().roll(3, 1), ["8/5 6/5", "24/23 13/10"], games=36).best)
            """
        )
    )
    printed = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert printed.stdout.splitlines() == ["begun", "8/5 6/5"]
