"""States of games that earlier versions have written are read: in stores, on servers and in files of transcripts."""

from __future__ import annotations

import contextlib
import datetime as dt
import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any, Final

import pytest

from fibsbot.formats.transcript_json import iter_json
from fibsbot.games.state_json import state_from_json, state_to_json
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import copy_rows
from fibsbot.records.store.practice_cards import read_cards
from fibsbot.records.store.schema import VERSION
from fibsbot.records.store.transcripts import read_state
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.server.saved_games import values_to_game

DATA: Final = Path(__file__).parent.parent.parent / "data" / "records"
STATES: Final[list[dict[str, Any]]] = json.loads((DATA / "earlier_states.json").read_text())
"""States of several games as an earlier version wrote them: each for the store, for the server and for transcripts."""


@pytest.mark.parametrize("written", STATES, ids=lambda written: written["game"])
def test_a_state_is_the_same_wherever_it_was_written(written: dict[str, Any]) -> None:
    state = state_from_json(written["transcript"])
    assert written["game"] == state.rules.full_name
    assert state == read_state(written["store"])
    saved = values_to_game(written["server"])
    if state.rules is BACKGAMMON:  # of which the server did not save how a game ended that was borne off
        assert {**state_to_json(saved), "reason": state.reason} == {"reason": "", **state_to_json(state)}
    else:
        assert state == saved
    for read in (state_from_json, read_state):
        assert state == read(json.loads(json.dumps(state_to_json(state)))), "as it is written now"


def test_a_store_of_an_earlier_version_has_the_same_transcripts(tmp_path: Path) -> None:
    path = tmp_path / "earlier.sqlite"
    path.write_bytes(gzip.decompress((DATA / "earlier_store.sqlite.gz").read_bytes()))
    expected = list(iter_json((DATA / "earlier_store.json").read_text()))
    with Store.open(str(path)) as store:
        assert expected == [store.transcript(match) for match in store.matches(account="marvin")]
    assert ["fibs", "modern", "1931"] == [match.games[0].start.laws.name for match in expected]
    assert not expected[0].games[0].start.laws.crawford


def test_a_store_of_version_6_is_read_and_copied_into_one_that_is_written(tmp_path: Path) -> None:
    old, new = tmp_path / "old.sqlite", tmp_path / "new.sqlite"
    old.write_bytes(gzip.decompress((DATA / "earlier_store.sqlite.gz").read_bytes()))
    with contextlib.closing(sqlite3.connect(old, isolation_level=None)) as file:  # the only differences of its tables
        file.execute("PRAGMA writable_schema = ON")
        (table,) = file.execute("SELECT sql FROM sqlite_master WHERE name = 'entries'").fetchone()
        assert "'reject', " in table
        table = table.replace("'reject', ", "")
        file.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'entries'", (table,))
        file.execute("UPDATE store_version SET version = 6")
    with Store.open(str(old)) as store:
        expected = [store.transcript(match) for match in store.matches()]
        assert expected
        copy_rows(store, str(new))
    StoreWriter(str(new)).close()
    with Store.open(str(new)) as store:
        assert VERSION == store.version
        assert expected == [store.transcript(match) for match in store.matches()]


def test_a_store_of_1_0_has_the_same_transcripts_and_cards_also_in_a_copy(tmp_path: Path) -> None:
    kept, new = tmp_path / "kept.sqlite", tmp_path / "new.sqlite"
    kept.write_bytes(gzip.decompress((DATA / "store_of_1_0.sqlite.gz").read_bytes()))
    expected = list(iter_json((DATA / "earlier_store.json").read_text()))
    with Store.open(str(kept)) as store:
        copy_rows(store, str(new))
    for path in (kept, new):
        with Store.open(str(path)) as store:
            assert expected == [store.transcript(match) for match in store.matches(account="marvin")]
            (card,) = read_cards(store, "marvin")
        assert (2.5, 5.25, dt.timedelta(days=3)) == (card.stability, card.difficulty, card.due - card.reviewed)


def test_a_match_that_was_saved_before_other_games_had_a_crawford_game_goes_on_without() -> None:
    (first,) = [it["server"] for it in STATES if it["game"] == "nackgammon" and it["transcript"]["scores"] == [4, 4]]
    ruleset = {name: value for name, value in first["ruleset"].items() if name != "crawford"}
    state = values_to_game({"ruleset": ruleset})
    assert (False, False, False) == (state.laws.crawford, state.crawford, state.post_crawford)


@pytest.mark.parametrize("word", ["", "never", 1])
def test_a_saved_game_with_another_word_for_the_crawford_game_is_refused(word: object) -> None:
    (first,) = [it["server"] for it in STATES if it["game"] == "nackgammon" and it["transcript"]["scores"] == [4, 4]]
    with pytest.raises(KeyError):
        values_to_game({"ruleset": {**first["ruleset"], "crawford": word}})
