"""eXtreme Gammon's own files: what was played comes back, and no bytes break the reader."""

from __future__ import annotations

import datetime as dt
import json
import zipfile
import zlib
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.cli import main
from fibsbot.formats import Format, FormatError
from fibsbot.formats.conversion import WRITERS, lost_details, read_file, reading_remarks
from fibsbot.formats.xg import iter_xg
from fibsbot.formats.xg_records import LARGEST_MEMBER
from fibsbot.library.matches import read
from fibsbot.match import CubeAction
from fibsbot.rules.laws import FIBS
from fibsbot.transcript import Game, Gap, Resign, Throw, Transcript, decisions, walk
from tests.examples import examples
from tests.formats.simulated_matches import simulate
from tests.formats.xg_writer import LOSS, LUCK, Fields, match_records, pack, write_xg

MONEY: Final = evolve(FIBS, jacoby=True, redoubles=2)
SHORT: Final = simulate(11, 1)
SHORT_RECORDS: Final = b"".join(match_records(SHORT, analysed=True))
SHORT_FILE: Final = pack(SHORT_RECORDS)


def only(data: bytes) -> Transcript:
    """Return the match of a file."""
    (match,) = iter_xg(data)
    return match


def sayable(game: Game) -> Game:
    """Return a game without what the format cannot say: refused resignations, and the rolls that come again after."""
    entries = [entry for entry in game.entries if not (isinstance(entry, Resign) and not entry.accepted)]
    pairs = zip(entries, [*entries[1:], None], strict=True)
    again = [isinstance(entry, Throw) and entry.play is None and isinstance(after, Throw) for entry, after in pairs]
    return evolve(
        game, entries=tuple(entry for entry, comes_again in zip(entries, again, strict=True) if not comes_again)
    )


def shown(game: Game) -> list[object]:
    """Return what happened in a game, whatever the order of dice and moves."""
    found: list[object] = [game.number, game.start.scores, game.start.crawford, game.start.post_crawford, game.result]
    for step in walk(game):
        entry = step.entry
        what = sorted(entry.dice) if isinstance(entry, Throw) else getattr(entry, "action", getattr(entry, "level", 0))
        found.append((type(entry), getattr(entry, "seat", None), what, step.after.cube, step.after.sides_for(0)))  # type: ignore[arg-type]
    return found


@given(seed=st.integers(0, 2**32), length=st.sampled_from((0, 1, 3)))
@examples(5)
def test_what_was_played_comes_back(seed: int, length: int) -> None:
    match = simulate(seed, length, games=2, laws=FIBS if length else MONEY)
    match = evolve(match, games=tuple(map(sayable, match.games)))
    found = only(write_xg(match))
    assert match.length == found.length
    for played, game in zip(match.games, found.games, strict=True):
        assert shown(played) == shown(game)
        assert (played.start.laws.crawford, played.start.laws.jacoby) == (
            game.start.laws.crawford,
            game.start.laws.jacoby,
        )
    assert found.games[0].start.laws.redoubles >= bool(match.games[0].start.laws.redoubles)


def test_the_match_is_described() -> None:
    match = evolve(SHORT, tags={"Event": "Zürich Open"}, started=dt.datetime(2026, 11, 20, 21, 15, tzinfo=dt.UTC))
    found = only(write_xg(match))
    assert [player.name for player in match.players] == [player.name for player in found.players]
    assert ("FIBS", "Zürich Open", match.started) == (found.site, found.tags["Event"], found.started)


def test_the_stored_analysis_stands_at_the_decisions_and_is_kept_in_json() -> None:
    match = simulate(3, 3)
    found = only(write_xg(match, analysed=True))
    judged = [decision for game in found.games for step in walk(game) for decision in decisions(step)]
    by_answer: dict[CubeAction, set[tuple[str, str, float]]] = {answer: set() for answer in CubeAction}
    for decision in judged:
        stored = decision.stored
        if isinstance(decision.answer, CubeAction) and stored:
            by_answer[decision.answer].add((stored.by, stored.best, stored.loss))
        elif isinstance(decision.step.entry, Throw) and stored:
            assert ("XG 3-ply", LUCK) == (stored.by, stored.luck)
            assert (0.0 if stored.best == decision.text else LOSS) == stored.loss
    assert {("XG Roller+", "double", 0.2)} == by_answer[CubeAction.ROLL]
    assert {("XG Roller+", "double", 0.0)} == by_answer[CubeAction.DOUBLE]
    assert {("XG Roller+", "take", 0.0)} == by_answer[CubeAction.TAKE]
    text = WRITERS[Format.JSON](found)
    assert [found] == list(read_file(Format.JSON, text.encode()))
    assert "what an analysis in the file says" in lost_details(Format.MAT, found)


def test_a_position_is_read_with_its_dice_and_shown(tmp_path: Path) -> None:
    records = match_records(SHORT)
    at = next(number for number, record in enumerate(records) if record[8] == 3 and number > 8)
    start, play = Fields(1), bytearray(records[at])
    play[2308] = 0
    path = tmp_path / "position.xgp"
    path.write_bytes(pack(b"".join((records[0], bytes(start), records[at - 1], bytes(play))), picture=b"\xff\xd8" * 20))
    (match,) = read(path)
    assert 1 == len(match.transcript.games[0].entries)
    result = CliRunner().invoke(main, ["show", str(path)])
    assert 0 == result.exit_code, result.output
    assert "decision  play" in result.output


def test_a_file_whose_index_does_not_fit_is_read_from_its_first_part() -> None:
    assert only(SHORT_FILE) == only(pack(SHORT_RECORDS, fits=False))
    assert only(SHORT_FILE) == only(pack(SHORT_RECORDS, picture=b"\xff\xd8picture", members=[("temp.xgc", b"{}")]))


def test_after_an_illegal_play_the_game_goes_on_from_the_board_in_the_file() -> None:
    records = [bytearray(record) for record in match_records(SHORT)]
    at = next(number for number, record in enumerate(records) if record[8] == 3)
    records[at][100] = records[at][104] = 7 - records[at][100]  # other dice than those that were played
    found = only(pack(b"".join(map(bytes, records))))
    assert any(isinstance(entry, Gap) and "an illegal play" in entry.reason for entry in found.games[0].entries)
    assert len(list(walk(found.games[0]))) >= len(list(walk(sayable(SHORT.games[0])))) - 1
    assert any("record " in remark for remark in reading_remarks(found))


def bears(data: bytes) -> None:
    """See that a reader returns what can be walked through and written, or says what is wrong in a line."""
    told = ""
    found: list[Transcript] = []
    try:
        found += iter_xg(data)
    except FormatError as error:
        told = str(error)
    assert found or len(told) > 10
    assert "\n" not in told
    assert len(told) < 400
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


USED: Final = (*range(8, 140), *range(152, 164), *range(200, 226), *range(552, 560), *range(2304, 2330))
"""The places of fields in a record that the reader uses."""


@given(
    edits=st.lists(
        st.tuples(
            st.integers(0, len(SHORT_RECORDS) // 2560 - 1),
            st.sampled_from(USED),
            st.integers(0, 255) | st.sampled_from((0, 1, 2, 127, 128, 254, 255)),
        ),
        min_size=1,
        max_size=6,
    ),
    order=st.lists(st.integers(0, len(SHORT_RECORDS) // 2560 - 1), max_size=3),
)
@examples(40)
def test_no_mutilated_record_breaks_the_reader(edits: list[tuple[int, int, int]], order: list[int]) -> None:
    records = [bytearray(SHORT_RECORDS[place : place + 2560]) for place in range(0, len(SHORT_RECORDS), 2560)]
    for record, place, byte in edits:
        records[record][place] = byte
    records += [records[place] for place in order]
    bears(pack(b"".join(map(bytes, records))))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"RGMH\x01\0\0\0", "expected a file of eXtreme Gammon, which begins with RGMH, got 'RGMH"),
        (SHORT_FILE[:8232], "expected the records at byte 8232 of the file, got a file of 8232 bytes"),
        (SHORT_FILE[:8400], "expected a whole file of eXtreme Gammon, got one that is cut off"),
        (SHORT_FILE[:8232] + b"\0" * 100, "expected a whole file of eXtreme Gammon, got a damaged one"),
        (SHORT_FILE[:8232] + zlib.compress(bytes(LARGEST_MEMBER + 1)), f"expected at most {LARGEST_MEMBER} bytes of"),
        (pack(SHORT_RECORDS[:2500]), "expected records of 2560 bytes, got 2500 bytes"),
        (pack(SHORT_RECORDS[2560:]), "record 1: expected the beginning of a match, got a record of the kind 1"),
        (
            pack(SHORT_RECORDS[:552] + b"\x29" + SHORT_RECORDS[553:]),
            "record 1: expected a file version up to 40, got 41",
        ),
        (pack(SHORT_RECORDS[:2560]), "expected a game, got a match without one"),
        (pack(SHORT_RECORDS + SHORT_RECORDS[:2560]), "expected a game, got a record of the kind 0"),
    ],
    ids=["short", "no records", "cut off", "damaged", "bomb", "odd size", "no match", "version", "no game", "two"],
)
def test_what_cannot_be_read_is_told_in_a_line(data: bytes, told: str) -> None:
    with pytest.raises(FormatError) as caught:
        list(iter_xg(data))
    assert told in str(caught.value)


def test_every_command_takes_it_also_packed_and_from_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "match.xg"
    path.write_bytes(write_xg(SHORT, analysed=True))
    with zipfile.ZipFile(tmp_path / "matches.zip", "w") as packed:
        packed.write(path, "inner.xg")
    (alone,), (zipped,) = read(path), read(tmp_path / "matches.zip")
    assert alone.transcript == zipped.transcript == only(path.read_bytes())

    def told(*words: str) -> str:
        result = CliRunner().invoke(main, list(words))
        assert 0 == result.exit_code, result.output
        return result.stdout

    assert "1 point match" in told("convert", str(path), "-", "--to", "mat")
    assert told("export", str(path), "--format", "xgid")
    assert told("replay", str(path))
    analysed = told("analyse", str(path), "--evaluator", "heuristic", "--no-luck")
    assert "by the file's analysis" in analysed
    page = tmp_path / "match.html"
    told("report", str(path), "--evaluator", "heuristic", "--no-luck", "-o", str(page))
    assert "XG 3-ply, in the file: 0.250 worse than " in page.read_text(encoding="utf-8")
    row = json.loads(told("analyse", str(path), "--evaluator", "heuristic", "--no-luck", "--json"))
    assert all("stored_loss" in player for player in row["players"])
