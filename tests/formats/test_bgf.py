"""BGBlitz' own files: what was played comes back, however it is packed, and no bytes break the reader."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import zipfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from fibsbot.cli import main
from fibsbot.formats import Format, FormatError, detect_format
from fibsbot.formats.bgf import iter_bgf
from fibsbot.formats.bgf_fields import LARGEST_CONTENT
from fibsbot.formats.conversion import WRITERS, _is_counted_once, read_file, reading_remarks
from fibsbot.library.matches import read
from fibsbot.match import CubeAction
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, Seat
from fibsbot.transcript import Gap, Resign, Throw, Transcript, decisions, walk
from tests.examples import examples
from tests.formats.bgf_writer import LOSS, LUCK, PACKERS, match_object, pack, write_bgf
from tests.formats.simulated_matches import simulate
from tests.formats.test_xg import shown

MONEY: Final = evolve(FIBS, jacoby=True)
SHORT_OBJECT: Final = match_object(simulate(11, 1), analysed=True)
SHORT_FILE: Final = pack(SHORT_OBJECT)
FIRST_LINE: Final = SHORT_FILE[: SHORT_FILE.index(b"\n") + 1]


def only(data: bytes) -> Transcript:
    """Return the match of a file."""
    (match,) = iter_bgf(data)
    return match


def changed(change: Callable[[dict[str, Any]], object], content: dict[str, Any] = SHORT_OBJECT) -> bytes:
    """Return a file whose object is changed."""
    content = deepcopy(content)
    change(content)
    return pack(content)


def playable(match: Transcript) -> Transcript:
    """Return a match without what the format cannot say: refused resignations, and rolls that were not played.

    A file has the points of a resignation, which do not say its level where the Jacoby rule counts a gammon once.
    """
    games = []
    for game in match.games:
        kept = [it for it in game.entries if not (isinstance(it, Resign) and not it.accepted)]
        kept = [it for it in kept if not (isinstance(it, Throw) and it.play is None)]
        if _is_counted_once(game):
            end, result = kept.pop(), game.result
            assert isinstance(end, Resign)
            assert result is not None
            kept.append(evolve(end, level=Level.SINGLE))
            games.append(evolve(game, entries=tuple(kept), result=evolve(result, level=Level.SINGLE)))
            continue
        games.append(evolve(game, entries=tuple(kept)))
    return evolve(match, games=tuple(games))


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32),
    length=st.sampled_from((0, 1, 3)),
    smile=st.booleans(),
    packed=st.sampled_from(sorted(PACKERS)),
)
@example(seed=1, length=0, smile=False, packed="gzip")  # ends by a backgammon that is resigned and counts once
@examples(8)
def test_what_was_played_comes_back(seed: int, length: int, packed: str, *, smile: bool) -> None:
    match = playable(simulate(seed, length, games=2, laws=FIBS if length else MONEY))
    found = only(write_bgf(match, smile=smile, packed=packed))
    assert match.length == found.length
    assert not list(reading_remarks(found))
    for played, game in zip(match.games, found.games, strict=True):
        assert shown(played) == shown(game)
        assert (played.start.laws.crawford, played.start.laws.jacoby) == (
            game.start.laws.crawford,
            game.start.laws.jacoby,
        )


def test_green_has_seat_a_and_the_first_number_of_its_board_is_its_24_point() -> None:
    """The board as the sources have it, so that reader and writer cannot share an error."""
    points = [0] * 28
    points[0], points[5], points[7], points[11] = 2, -5, -3, 5
    points[12], points[16], points[18], points[23] = -5, 3, 5, -2
    assert points == SHORT_OBJECT["games"][0]["initial"]["points"]
    moves = [
        {"player": -1, "red": 1, "green": 3, "from": [8, 6, -1, -1], "to": [5, 5, -1, -1]},
        {"player": 1, "red": 6, "green": 5, "from": [24, -1, -1, -1], "to": [13, -1, -1, -1]},
    ]
    found = only(pack({"matchlen": 3, "nameGreen": "g", "nameRed": "r", "games": [{"moves": moves}]}))
    assert [(Seat.A, (3, 1)), (Seat.B, (6, 5))] == [
        (entry.seat, entry.dice) for entry in found.games[0].entries if isinstance(entry, Throw)
    ]
    assert ["g", "r"] == [player.name for player in found.players]


@pytest.mark.parametrize(("text", "day"), [("2026.11.20", 20), ("Nov 2, 2026", 2), ("2026-11-3 12:00", 3)])
def test_the_match_is_described(text: str, day: int) -> None:
    found = only(changed(lambda match: match.update(date=text, event="Zürich  Open", site="fibs.com", round="2")))
    assert dt.datetime(2026, 11, day, tzinfo=dt.UTC) == found.started
    assert ({"Event": "Zürich Open", "Round": "2"}, "fibs.com") == (found.tags, found.site)


@pytest.mark.parametrize("text", ["20/11/26", "Foo 2, 2026", "2026.13.40", ""])
def test_a_date_in_another_form_is_left_out(text: str) -> None:
    assert only(changed(lambda match: match.update(date=text))).started is None


def test_the_stored_analysis_stands_at_the_decisions() -> None:
    """Chances of 0.55, 0.65 and 1, with an equity of 0.1 for 0.55: 0.1, 0.3 and 1 as equities."""
    found = only(write_bgf(simulate(3, 3), analysed=True))
    by_answer: dict[CubeAction, set[tuple[str, str, float, float | None]]] = {answer: set() for answer in CubeAction}
    plays = 0
    for decision in (it for game in found.games for step in walk(game) for it in decisions(step)):
        stored = decision.stored
        if isinstance(decision.answer, CubeAction) and stored:
            by_answer[decision.answer].add((stored.by, stored.best, stored.loss, stored.equity))
        elif isinstance(decision.step.entry, Throw) and stored:
            is_dance = not (decision.step.entry.play and decision.step.entry.play.moves)
            assert ("BGBlitz 2-ply", LUCK, 0.0 if is_dance else LOSS, 0.5) == (
                stored.by,
                stored.luck,
                stored.loss,
                stored.equity,
            )
            assert stored.best == decision.text
            plays += 1
    assert plays > 20
    assert {("BGBlitz 2-ply", "double", 0.2, 0.3)} == by_answer[CubeAction.ROLL]
    assert {("BGBlitz 2-ply", "double", 0.0, 0.3)} == by_answer[CubeAction.DOUBLE]
    assert {("BGBlitz 2-ply", "take", 0.0, -0.3)} == by_answer[CubeAction.TAKE]
    assert [found] == list(read_file(Format.JSON, WRITERS[Format.JSON](found).encode()))


def test_figures_of_an_unlimited_match_are_equities() -> None:
    def as_money(match: dict[str, Any]) -> None:
        for move in match["games"][0]["moves"]:
            if "equity" not in move or "hasDoubled" in move["equity"]["cubeDecision"]:
                continue
            cube = {"eqNoDouble": 0.75, "eqDoubleTake": 0.5, "eqDoublePass": 1.0, "stateOnMove": "NO_DOUBLE"}
            move["equity"] = {"hasEMG": False, "emg": -999, "matchEquity": -999, "cubeDecision": cube}
            move["luck"] = {"mode": "Money", "luckPlain": 0.5, "luckWeighted": 1.0}

    content = match_object(playable(simulate(11, 0, games=1, laws=MONEY)), analysed=True)
    found = only(changed(as_money, content))
    throws = [entry for entry in found.games[0].entries if isinstance(entry, Throw)]
    assert {(0.0, "roll", 0.75)} == {
        (it.loss, it.best, it.equity) for it in (throw.undoubled for throw in throws) if it
    }
    assert {0.5} == {throw.verdict.luck for throw in throws if throw.verdict}


@pytest.mark.parametrize(
    "figure",
    [-999, -99, "-999.0", None, "nan", "1e999", [1], True, 10**400, float("inf")],
    ids=lambda figure: str(figure)[:8],
)
def test_what_was_not_analysed_is_no_verdict(figure: object) -> None:
    def spoil(match: dict[str, Any]) -> None:
        for move in match["games"][0]["moves"]:
            for option in move.get("moveAnalysis", []):
                option["eq"] = {"hasEMG": True, "emg": figure}

    content = deepcopy(SHORT_OBJECT)
    spoil(content)
    data = pack(content, smile=not isinstance(figure, int))
    entries = only(data).games[0].entries
    assert not any(isinstance(entry, Throw) and entry.verdict and entry.play and entry.play.moves for entry in entries)


def test_cube_actions_may_have_records_of_their_own() -> None:
    def split(match: dict[str, Any]) -> None:
        for game in match["games"]:
            for place, move in enumerate(game["moves"]):
                decision = move.get("equity", {}).get("cubeDecision", {})
                if "hasDoubled" in decision and move["type"] == "amove":
                    move["type"] = "adouble"
                    answer = "atake" if decision["hasAccepted"] else "apass"
                    game["moves"][place + 1] = {"type": answer, "player": -move["player"]}

    match = simulate(3, 3)
    content = match_object(match, analysed=False)
    assert only(changed(split, content)).games == only(pack(content)).games


def test_a_record_without_moves_and_dice_ends_a_game() -> None:
    last = {"type": "amove", "player": 1, "red": 0, "green": 0, "from": [-1] * 4, "to": [-1] * 4}
    assert only(SHORT_FILE) == only(changed(lambda match: match["games"][0]["moves"].append(last)))


def test_a_resigned_game_is_won_by_the_one_whose_score_rises() -> None:
    content = match_object(simulate(11, 1))
    del content["games"][0]["moves"][6:]
    content.update(finalGreen=0, finalRed=2)
    content["games"][0].update(wonPoints=2)
    content["matchlen"] = 3
    (game,) = only(pack(content)).games
    assert game.result
    assert (Seat.B, 2, Ending.RESIGNED) == (game.result.winner, game.result.points, game.result.how)
    content.update(finalGreen=0, finalRed=0)
    found = only(pack(content))
    assert found.games[0].result is None
    assert ["game 1: 2 points won, and the file does not say by whom"] == list(reading_remarks(found))


def test_an_illegal_play_costs_the_rest_of_its_game() -> None:
    content = match_object(playable(simulate(5, 3)))
    assert len(content["games"]) > 1
    content["games"][0]["moves"][5].update({"from": [24, 24, 24, 24], "to": [1, 1, 1, 1]})
    found = only(pack(content))
    assert isinstance(found.games[0].entries[-1], Gap)
    assert found.games[0].result is not None
    assert found.games[1].whole
    assert any("move 6" in remark for remark in reading_remarks(found))


def test_a_match_of_which_no_game_plays_out_by_the_rules_is_refused() -> None:
    def swap(match: dict[str, Any]) -> None:
        for game in match["games"]:
            for move in game["moves"]:
                move["player"] = 1

    with pytest.raises(FormatError, match="move 2: game 1, turn 2"):
        only(changed(swap))


def bears(data: bytes) -> None:
    """See that a reader returns what can be walked through and written, or says what is wrong in a line."""
    told = ""
    found: list[Transcript] = []
    try:
        found += iter_bgf(data)
    except FormatError as error:
        told = str(error)
    assert found or 10 < len(told) < 400
    assert "\n" not in told
    for match in found:
        for game in match.games:
            for step in walk(game):
                assert all(decision.text for decision in decisions(step))
        for write in WRITERS.values():
            write(match)


@given(
    edits=st.lists(st.tuples(st.integers(0, len(SHORT_FILE) - 1), st.integers(0, 255)), max_size=3),
    end=st.integers(0, len(SHORT_FILE)),
    cut=st.booleans(),
)
@examples(30)
def test_no_mutilated_file_breaks_the_reader(edits: list[tuple[int, int]], end: int, *, cut: bool) -> None:
    data = bytearray(SHORT_FILE)
    for place, byte in edits:
        data[place] = byte
    bears(bytes(data[:end] if cut else data))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to all values within a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, inner in items for place in places(inner, (*path, key)))]


PLACES: Final = places(SHORT_OBJECT)[1:]
OTHER_VALUES: Final = st.sampled_from(
    (None, True, -1, 0, 1, 7, 25, 26, 2**31, -(2**62), 0.5, "", "x" * 500, "DOUBLE", [], [1], [-1] * 4, {}, {"a": 1})
)


@given(edits=st.lists(st.tuples(st.sampled_from(PLACES), OTHER_VALUES), min_size=1, max_size=4))
@examples(40)
def test_no_other_values_break_the_reader(edits: list[tuple[tuple[Any, ...], object]]) -> None:
    content = deepcopy(SHORT_OBJECT)
    for path, value in edits:
        inner: Any = content
        try:
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an edit before it has removed the place
    bears(pack(content))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"format": "BGF"}', "expected a match of BGBlitz"),
        (b'{"format": "BGX"}\n', "expected a match of BGBlitz"),
        (b"\x00\n", "expected JSON as the first line of a file of BGBlitz"),
        (pack({}, version="2.0"), "expected a file of BGBlitz of version 1, got '2.0'"),
        (pack({}, version=None), "expected a file of BGBlitz of version 1, got 'None'"),
        (SHORT_FILE[:200], "expected a whole file of BGBlitz, got one that is cut off"),
        (SHORT_FILE[:100] + b"\0" * 100, "expected a whole file of BGBlitz, got"),
        (FIRST_LINE + gzip.compress(bytes(LARGEST_CONTENT + 1), 1), f"expected at most {LARGEST_CONTENT} bytes"),
        (pack([1], smile=False), "expected JSON as the match of a file of BGBlitz"),
        (FIRST_LINE + b"[" * 100_000, "expected a whole file of BGBlitz, got a damaged one"),
        (b'{"format": "BGF"}\n' + b"[" * 100_000, "expected JSON as the match"),
        (b'{"format": "BGF"}\n' + b"[" * 3_000_000, "values in the match, got more"),
        (pack([]), "expected an object as the match"),
        (pack({"games": []}), "expected a game, got a match without one"),
        (pack({"games": 1}), "match: expected a list of objects as games, got '1'"),
        (changed(lambda match: match.update(matchlen="5")), "match: expected a number from 0 to"),
        (changed(lambda match: match["games"][0].update(scoreGreen=1)), "game 1: expected scores from 0 to below"),
        (
            changed(lambda match: match["games"][0]["initial"].update(points=[0] * 26)),
            "game 1: expected a position of a game that goes on, got another one",
        ),
        (
            changed(lambda match: match["games"][0]["moves"][0].update(red=0)),
            "game 1, move 1: expected two dice, got",
        ),
    ],
    ids=[
        "no newline",
        "other",
        "no JSON",
        "version",
        "no version",
        "cut off",
        "damaged",
        "bomb",
        "list as JSON",
        "not packed",
        "deep JSON",
        "wide JSON",
        "list",
        "no game",
        "games",
        "length",
        "scores",
        "board",
        "dice",
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(data: bytes, told: str) -> None:
    with pytest.raises(FormatError) as caught:
        only(data)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "content", [b'{"format":"BGF","version":"1.0"}\n\x1f\x8b', b'{ "version": 1, "format" : "BGF" }\n']
)
def test_it_is_known_by_its_first_line(content: bytes) -> None:
    assert Format.BGF is detect_format(content.decode("utf-8", "replace"), "download.txt")


def test_every_command_takes_it_also_packed_and_from_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "match.bgf"
    path.write_bytes(SHORT_FILE)
    with zipfile.ZipFile(tmp_path / "matches.zip", "w") as packed:
        packed.write(path, "inner.bgf")
    (alone,), (zipped,) = read(path), read(tmp_path / "matches.zip")
    assert alone.transcript == zipped.transcript == only(SHORT_FILE)

    def told(*words: str) -> str:
        result = CliRunner().invoke(main, list(words))
        assert 0 == result.exit_code, result.output
        return result.stdout

    assert "1 point match" in told("convert", str(path), "-", "--to", "mat")
    assert told("export", str(path), "--format", "xgid")
    assert told("replay", str(path))
    row = json.loads(told("analyse", str(path), "--evaluator", "heuristic", "--no-luck", "--json"))
    assert all(player["stored_loss"] for player in row["players"])
    page = tmp_path / "match.html"
    told("report", str(path), "--evaluator", "heuristic", "--no-luck", "-o", str(page))
    assert "BGBlitz 2-ply, in the file: " in page.read_text(encoding="utf-8")
