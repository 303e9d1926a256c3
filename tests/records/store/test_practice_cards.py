"""Cards of practice: written and read on both databases, and missing in stores of a time without them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from attrs import evolve
from sqlalchemy import select, update

from fibsbot.records.store import Store, StoreError
from fibsbot.records.store.database import database_url, open_engine
from fibsbot.records.store.maintenance import check_integrity, copy_rows, export_rows
from fibsbot.records.store.practice_cards import CardWriter, StoredCard, StoredReview, read_cards
from fibsbot.records.store.schema import PRACTICE_CARDS, PRACTICE_REVIEWS, STORE_VERSION, VERSION, tables_of
from tests.records.store.recorder import NOON

DAY = dt.timedelta(days=1)
CARD = StoredCard("anna", "0123", json.dumps({"made": "8/5 6/5"}), 0.25, 6.5, NOON, NOON + DAY)
REVIEW = StoredReview(NOON, 1, "13/9", 0.125, 4.5)


def test_the_card_is_that_of_the_last_answer_and_all_answers_stay(new_url: str) -> None:
    writer = CardWriter.open(new_url)
    later = evolve(CARD, stability=2.5, reviewed=NOON + DAY, due=NOON + 3 * DAY)
    writer.write(CARD, REVIEW)
    writer.write(evolve(CARD, player="bert"), StoredReview(NOON, 1))
    writer.write(later, StoredReview(NOON + DAY, 3, "8/5 6/5", 0.0, 2.0))
    writer.close()
    with Store.open(new_url) as store:
        assert [later] == read_cards(store, "anna")
        assert [evolve(CARD, player="bert"), later] == read_cards(store)
        with store.reading() as connection:
            assert [1, 1, 3] == list(connection.scalars(select(PRACTICE_REVIEWS.c.rating)))
        assert () == check_integrity(store).problems


def of_an_earlier_version(url: str) -> None:
    """Make a store as version 7 had it."""
    CardWriter.open(url).close()
    with open_engine(database_url(url), writing=True).begin() as connection:
        PRACTICE_REVIEWS.drop(connection)
        PRACTICE_CARDS.drop(connection)
        connection.execute(update(STORE_VERSION).values(version=7))


def test_a_store_without_cards_is_read_exported_and_copied_and_then_has_room(new_url: str, tmp_path: Path) -> None:
    of_an_earlier_version(new_url)
    copy = tmp_path / "copy.db"
    with Store.open(new_url) as store:
        assert [] == read_cards(store)
        assert {"store_version"} == {table.name for table, _ in export_rows(store)}
        assert () == check_integrity(store).problems
        copy_rows(store, copy)
    with pytest.raises(StoreError, match="fibsbot db copy makes a store of version"):
        CardWriter.open(new_url)
    writer = CardWriter.open(copy)
    writer.write(CARD, REVIEW)
    writer.close()
    with Store.open(copy) as store:
        assert [CARD] == read_cards(store)


def test_cards_are_copied(new_url: str, tmp_path: Path) -> None:
    writer = CardWriter.open(new_url)
    writer.write(CARD, REVIEW)
    writer.close()
    with Store.open(new_url) as store:
        assert 2 == copy_rows(store, tmp_path / "copy.db")
    with Store.open(tmp_path / "copy.db") as store:
        assert [CARD] == read_cards(store)


def test_every_version_has_the_tables_of_the_one_before() -> None:
    assert {PRACTICE_CARDS, PRACTICE_REVIEWS} == {*tables_of(VERSION)} - {*tables_of(VERSION - 1)}
    assert tables_of(6) == tables_of(7)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no database, but long enough to be read as one", encoding="utf-8")
    for place in (tmp_path / "file", tmp_path / "file" / "store.db"):
        with pytest.raises(StoreError) as refused:
            CardWriter.open(place)
        assert 1 == len(str(refused.value).splitlines())
