"""The demo: a whole match to watch."""

import io
import re
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from rich.console import Console

from fibs_protocol import messages as m
from fibs_protocol.board import BoardState
from fibs_protocol.stream import MessageReader
from fibsbot.arena.demo import LAST_LINES, Display
from fibsbot.arena.match_board import BackgammonBoard
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.cli import EXIT_USAGE, main
from fibsbot.match import MatchState
from fibsbot.position import Play, Position
from fibsbot.records.session_log import Received, read_session_log
from fibsbot.strategies import loader
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.strategies.random_play import RandomStrategy

BOARD: Final = BoardState.from_line(
    "board:You:opponent:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    ":1:6:2:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Play the demo once; return what it printed, and the folder of the log."""
    folder = tmp_path_factory.mktemp("logs")
    result = CliRunner().invoke(main, ["demo", "--length", "3", "--seed", "18", "--log-dir", str(folder)])
    assert result.exit_code == 0, result.output
    return result.output, folder


@pytest.mark.slow
def test_it_ends_with_the_result_and_the_score_sheet(shown: tuple[str, Path]) -> None:
    text, folder = shown
    (path,) = folder.iterdir()
    assert re.search(r"^(fibsbot|opponent) wins the match to 3, [3-9] to [0-2], after", text, re.MULTILINE)
    assert re.search(r"^ +1 +(fibsbot|opponent) +\w+", text, re.MULTILINE)
    assert f"The session log is {path}" in text


@pytest.mark.slow
def test_the_board_is_drawn_as_it_goes(shown: tuple[str, Path]) -> None:
    text, _ = shown
    boards = text.count("|BAR|")
    assert boards >= 2
    assert boards == text.count("3-point match") == text.count("   BAR: O-")
    later_games = re.findall(r"^Game [2-9]\n.* has the first move\.\n(.*)", text, re.MULTILINE)
    assert later_games  # they begin with a play, not with the last board of the game before
    assert all(re.match(r"(fibsbot|opponent) \d\d: ", line) for line in later_games)


@pytest.mark.slow
def test_every_play_of_both_players_is_told(shown: tuple[str, Path]) -> None:
    text, folder = shown
    (path,) = folder.iterdir()
    moves = sum(isinstance(message, m.Moves) for message in received(path))
    assert moves == len(re.findall(r"^opponent \d\d: (?!cannot)", text, re.MULTILINE))
    assert len(re.findall(r"^fibsbot \d\d: ", text, re.MULTILINE)) > moves / 2


def received(path: Path) -> list[m.Message]:
    """Read the messages of a session log."""
    reader = MessageReader()
    for record in read_session_log(path):
        if isinstance(record, Received):
            reader.receive_data(record.data)
    messages = []
    while (item := reader.next_message()) is not None:
        messages.append(item.message)
    return messages


def test_a_terminal_sees_one_picture_that_fits_into_24_lines() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80, height=24, color_system=None)
    with Display(console, BackgammonBoard("fibsbot", "opponent")) as display:
        for number in range(3 * LAST_LINES):
            display.print(f"line {number}")
        display.show_board(m.Board(BOARD))
        screen.truncate(0)
    lines = screen.getvalue().splitlines()
    assert f"line {3 * LAST_LINES - 1}" in screen.getvalue()
    assert len(lines) <= 24


def test_the_last_position_and_the_score_after_it_are_shown_although_no_board_comes() -> None:
    screen = io.StringIO()
    after = TrackedMatch("", state=MatchState(Position((0, *[0] * 5, -2, *[0] * 18, 0)), length=3, score=(4, 2)))
    with Display(Console(file=screen, width=80), BackgammonBoard("fibsbot", "opponent")) as display:
        display.show_board(m.Board(BOARD))
        display.board.take_end(after)
        display.print("fibsbot wins 1 point (single).", with_board=True)
    assert "OFF: O-15 X-13" in screen.getvalue()
    assert "BAR: O-0 X-0" in screen.getvalue()
    assert ["2", "4"] == re.findall(r"score: (\d+)", screen.getvalue())


class Nonsense(RandomStrategy):
    """Answers doubles with a word, and cannot be closed."""

    def answer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - as it is called
        """Return no answer."""
        return "take"  # type: ignore[return-value]

    def close(self) -> None:
        """Fail."""
        raise ValueError("expected another end")


def test_a_strategy_that_answers_nonsense_is_refused_and_one_that_cannot_be_closed_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours = entry_points(group=loader.ENTRY_POINT_GROUP)
    points = [EntryPoint("nonsense", f"{__name__}:Nonsense", loader.ENTRY_POINT_GROUP), *ours]
    monkeypatch.setattr(loader, "entry_points", lambda group: points if group == loader.ENTRY_POINT_GROUP else [])
    result = CliRunner().invoke(main, ["demo", "--opponent-strategy", "nonsense", "--log-dir", str(tmp_path)])
    assert EXIT_USAGE == result.exit_code
    assert "Error: strategy 'nonsense' does not work: answer_double, the opening: answered nonsense" in result.stderr


class Raising(RandomStrategy):
    """Rolls at once, and plays nothing."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - as it is called
        """Fail."""
        raise RuntimeError("no\x1bweights")


def test_a_decision_that_the_strategy_could_not_make_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        "fibsbot.cli.demo_games.load", lambda name: Raising() if name == "raising" else RandomStrategy()
    )
    monkeypatch.setattr("fibsbot.cli.demo_games.first_fault", lambda *_: None)  # as if it failed in the match only
    arguments = ["--strategy", "raising", "--opponent-strategy", "random", "--length", "1", "--log-dir", str(tmp_path)]
    result = CliRunner().invoke(main, ["demo", *arguments])
    assert 0 == result.exit_code, result.output
    assert "\nrandom raised RuntimeError: no\N{REPLACEMENT CHARACTER}weights; the fallback decides\n" in result.stdout
