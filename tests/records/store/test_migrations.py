"""An old store becomes what a new one is, with everything that was in it; a newer one is left alone."""

from __future__ import annotations

import datetime as dt
import threading
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy
from sqlalchemy import Engine, insert, inspect, update

from fibsbot.records.store import Outcome, Store, StoreError, StoreWriter, schema
from fibsbot.records.store.checking import check
from fibsbot.records.store.database import locate, open_engine
from fibsbot.records.store.migrations import STEPS, prepare, upgrade
from tests.records.store.telling import NOON, Teller

DATA: Final = Path(__file__).parents[2] / "data" / "store"
ROWS: Final = """
INSERT INTO store_version VALUES ({version}, '{noon}', '0.1.0');
INSERT INTO accounts (name) VALUES ('marvin');
INSERT INTO opponents (account_id, name, first_seen, last_seen) VALUES (1, 'ford', '{noon}', '{noon}');
INSERT INTO matches (account_id, opponent_id, length, started, seen, outcome, inferred, own_score, opponent_score,
 resumed) VALUES (1, 1, 5, '{noon}', '{noon}', 'saved', {false}, 2, 0, 0);
INSERT INTO games (match_id, number, started, ended, won, points, inferred)
 VALUES (1, 1, '{noon}', '{noon}', {true}, 2, {false});
INSERT INTO games (match_id, number, started, inferred) VALUES (1, 2, '{noon}', {false});
INSERT INTO decisions (game_id, at, sitting, turn, phase, xgid, dice, answer)
 VALUES (2, '{noon}', 0, 7, 'move', 'XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:0:0:5:10', '31', '8/5 6/5')
"""
"""What a program of version 1 had written; one of version 2 could have."""


def engine_for(url: str) -> Engine:
    return open_engine(locate(url), writing=True)


OLD: Final = range(1, schema.VERSION)


def make_version(version: int, url: str) -> None:
    """Make a store as an old version did: its statements are kept, its code is not."""
    engine = engine_for(url)
    dialect = engine.dialect.name
    noon = NOON.isoformat(timespec="microseconds")
    false, true = ("0", "1") if dialect == "sqlite" else ("false", "true")
    rows = ROWS.format(version=version, noon=noon, false=false, true=true)
    tables = (DATA / f"version_{version}.{dialect}.sql").read_text("utf-8")
    with engine.begin() as connection:
        for statement in f"{tables}{rows}".split(";\n"):
            connection.exec_driver_sql(statement)


def shape(url: str) -> dict[str, Any]:
    """Describe all tables, whatever the order of their columns."""
    look = inspect(engine_for(url))
    return {
        name: (
            {it["name"]: (str(it["type"]), it["nullable"]) for it in look.get_columns(name)},
            look.get_pk_constraint(name),
            sorted(map(repr, look.get_foreign_keys(name))),
            sorted(map(repr, look.get_indexes(name))),
            sorted(map(repr, look.get_unique_constraints(name))),
            sorted(map(repr, look.get_check_constraints(name))),
        )
        for name in sorted(look.get_table_names())
    }


def test_there_is_a_step_to_every_version() -> None:
    assert list(range(2, schema.VERSION + 1)) == list(STEPS)


@pytest.mark.parametrize("version", OLD)
def test_an_old_store_becomes_what_a_new_one_is(
    url: str, version: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    make_version(version, url)
    assert (version, schema.VERSION) == upgrade(url)
    fresh = f"fresh_{version}"
    new = str(tmp_path / "new.sqlite") if "://" not in url else request.getfixturevalue("postgres").make(fresh)
    prepare(engine_for(new))
    assert shape(new) == shape(url)
    with engine_for(url).connect() as connection:
        versions = connection.scalars(sqlalchemy.select(schema.STORE_VERSION.c.version).order_by("version")).all()
    assert list(range(version, schema.VERSION + 1)) == list(versions)


@pytest.mark.parametrize("version", OLD)
def test_what_was_in_an_old_store_is_in_it_still_and_goes_on(url: str, version: int) -> None:
    make_version(version, url)
    with Teller(url, now=NOON + dt.timedelta(days=1)) as bot:
        bot.log_in()
        bot.resume(score=(2, 0))
        bot.decide(8, "13/8")
        bot.win_game(3, (5, 0))
        bot.end(score=(5, 0))
        match = bot.match()
        assert (Outcome.WON, NOON, (5, 0)) == (match.outcome, match.started, match.score)
        assert [(1, 2), (2, 3)] == [(game.number, game.points) for game in bot.games()]
        assert [("8/5 6/5", (3, 1), None), ("13/8", (3, 1), 0)] == [
            (decision.answer, decision.dice, decision.offer) for decision in bot.decisions()
        ]
    with Store.open(url) as store:
        assert () == check(store).problems


@pytest.mark.parametrize("version", OLD)
def test_a_reader_says_what_an_old_store_needs_and_leaves_it(url: str, version: int) -> None:
    make_version(version, url)
    before = shape(url)
    with pytest.raises(StoreError, match=rf"has schema version {version}: `fibsbot db upgrade`, or a bot"):
        Store.open(url)
    assert before == shape(url)


def test_a_newer_store_is_refused_in_one_line_and_left_alone(url: str) -> None:
    StoreWriter(url).close()
    newer = schema.VERSION + 1
    with engine_for(url).begin() as connection:
        row = {"version": newer, "applied": NOON, "program": "9.0"}
        connection.execute(insert(schema.STORE_VERSION), row)
    text = f"the store has schema version {newer}; this program knows versions up to {schema.VERSION}"
    for use in (StoreWriter, Store.open, upgrade):
        with pytest.raises(StoreError) as caught:
            use(url)
        assert text in str(caught.value)
        assert 1 == len(str(caught.value).splitlines())


@pytest.mark.parametrize("version", OLD)
def test_a_step_that_fails_changes_nothing(url: str, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    make_version(version, url)
    before = shape(url)

    def step(connection: sqlalchemy.Connection) -> None:
        STEPS[version + 1](connection)
        connection.execute(update(schema.ACCOUNTS).values(nosuch=1))

    monkeypatch.setattr("fibsbot.records.store.migrations.STEPS", {version + 1: step})
    with pytest.raises(sqlalchemy.exc.CompileError):
        upgrade(url)
    assert before == shape(url)


def test_processes_that_begin_at_the_same_time_make_one_store(url: str) -> None:
    ready = threading.Barrier(4)
    failures: list[BaseException] = []

    def begin() -> None:
        ready.wait()
        try:
            prepare(engine_for(url))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failures
    with Store.open(url) as store:
        assert schema.VERSION == store.version


def test_an_upgrade_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        upgrade(tmp_path / "store.sqlite")
    assert [] == list(tmp_path.iterdir())
