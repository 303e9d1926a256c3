"""A sound store is found sound; damage and contradictions are told, each in a sentence."""

from __future__ import annotations

import datetime as dt
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, insert, select, update

from fibsbot.records.store import Store, StoreError
from fibsbot.records.store.database import database_url, open_engine
from fibsbot.records.store.maintenance import MAX_PER_KIND, check_integrity
from fibsbot.records.store.schema import DECISIONS, GAMES, MATCHES, VERSION
from tests.records.store.conftest import EITHER, new_store
from tests.records.store.recorder import NOON, Teller


def tell_of_sound_matches(url: str) -> None:
    """Tell of two finished matches and one that is on."""
    with Teller(url) as bot:
        bot.log_in(1500.0, 10)
        for opponent in ("ford", "arthur"):
            bot.start(opponent, 3)
            bot.decide(1)
            bot.win_game(1, (0, 1), opponent=opponent)
            bot.tell("game_started", opponent=opponent, game=2)
            bot.decide(1)
            bot.win_game(4, (4, 1))
            bot.end(opponent, 3, score=(4, 1))
        bot.start("zaphod", 3)
        bot.sheet("s1", "zaphod", length=3)
        bot.enter("throw", 1, dice=(3, 1), play="8/5 6/5")
        bot.decide(1)


@pytest.fixture
def sound(url: str) -> str:
    """Have a sound store."""
    tell_of_sound_matches(url)
    return url


@pytest.fixture(scope="module", params=EITHER)
def restored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Have a sound store for several tests; each undoes what it changes."""
    url = new_store(request, tmp_path_factory.mktemp("sound"))
    tell_of_sound_matches(url)
    return url


def problems(url: str) -> tuple[str, ...]:
    with Store.open(url) as store:
        report = check_integrity(store)
    return report.problems + report.contradictions


def change(url: str, table: Table, row: int, **values: Any) -> dict[str, Any]:
    """Change a row as nobody should; return what was there before."""
    with open_engine(database_url(url), writing=True).begin() as connection:
        chosen = table.c.id == row
        before = connection.execute(select(*(table.c[name] for name in values)).where(chosen)).mappings().one()
        connection.execute(update(table).where(chosen).values(values))
    return dict(before)


def test_a_sound_store_has_no_problems(sound: str) -> None:
    steps: list[tuple[int, int]] = []
    with Store.open(sound) as store:
        report = check_integrity(store, lambda done, of: steps.append((done, of)))
    assert (VERSION, ()) == (report.version, report.problems)
    assert (1, 3, 3, 5, 5) == tuple(
        report.counts[name] for name in ("accounts", "opponents", "matches", "games", "decisions")
    )
    assert [(done, len(steps)) for done in range(1, len(steps) + 1)] == steps


def test_an_empty_store_has_no_problems(url: str) -> None:
    with Teller(url):
        pass
    assert () == problems(url)


FORD = "match 1 of marvin against ford"
ZAPHOD = "match 3 of marvin against zaphod"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "row", "values", "expected"),
    [
        (
            MATCHES,
            3,
            {"ended": NOON},
            [f"{ZAPHOD} is playing, but has an end", f"{ZAPHOD} has ended, but 1 of its games"],
        ),
        (MATCHES, 1, {"ended": None}, [f"{FORD} is won, but has no end"]),
        (GAMES, 2, {"ended": None}, [f"{FORD} has ended, but 1 of its games have not"]),
        (GAMES, 2, {"number": 3}, [f"{FORD} has 2 games, but the last one is number 3"]),
        (MATCHES, 1, {"outcome": "lost"}, [f"{FORD} ended 4-1, but is lost"]),
        (GAMES, 1, {"points": 2}, [f"{FORD} has the score 4-1, but its games come to 3-2"]),
        (MATCHES, 1, {"own_score": 2}, [f"{FORD} has the score 2-1, but its games come to 3-1"]),
        (MATCHES, 1, {"outcome": "playing", "ended": None}, ["marvin plays 2 matches at once"]),
        (DECISIONS, 2, {"game_id": 1}, ["game 1, turn 1: 2 answers to one move decision"]),
    ],
    ids=lambda it: it[0] if isinstance(it, list) else "",
)
def test_a_contradiction_is_reported(
    restored: str, table: Table, row: int, values: dict[str, Any], expected: list[str]
) -> None:
    before = change(restored, table, row, **values)
    found = problems(restored)
    change(restored, table, row, **before)
    assert len(expected) == len(found)
    for start, sentence in zip(expected, found, strict=True):
        assert sentence.startswith(start)


def test_two_unfinished_matches_with_the_same_player_are_reported(sound: str) -> None:
    with open_engine(database_url(sound), writing=True).begin() as connection:
        row = {"account_id": 1, "opponent_id": 3, "started": NOON, "seen": NOON, "outcome": "saved"}
        connection.execute(insert(MATCHES), row)
    assert ("marvin has 2 unfinished matches with zaphod, and a server keeps only one",) == problems(sound)


def test_a_second_answer_is_valid_if_the_server_refused_the_first(sound: str) -> None:
    change(sound, DECISIONS, 1, refused="** You can't move from 8 in your first move.")
    change(sound, DECISIONS, 2, game_id=1)
    assert () == problems(sound)


def test_an_offer_to_resign_may_be_rejected_repeatedly(url: str) -> None:
    with Teller(url) as bot:
        bot.start()
        for _ in range(3):
            bot.decide(4, "reject", phase="resigned", dice=None, offer=1)
    assert () == problems(url)


def test_a_refusal_is_stored_with_its_decision(url: str) -> None:
    with Teller(url) as bot:
        bot.start()
        bot.decide(1, "8/5 6/5")
        bot.tell("refused", text="** There is no one called x.", command="tell")
        bot.tell("refused", text="** You can't move from 8 in your first move.", command="move")
        bot.decide(1, "13/9")
        said = [decision.refused for decision in bot.decisions(bot.match())]
    assert ["** You can't move from 8 in your first move.", None] == said
    assert () == problems(url)


def test_the_number_of_reported_problems_per_kind_is_limited(url: str) -> None:
    with Teller(url) as bot:
        bot.start()
        for turn in range(MAX_PER_KIND + 5):
            bot.decide(turn)
            bot.decide(turn)
    found = problems(url)
    assert MAX_PER_KIND + 1 == len(found)
    assert "and more of this kind" == found[-1]


# -- damage to a file -------------------------------------------------------------------------------------------


def test_orphaned_rows_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Teller(str(path)) as bot:
        bot.start()
        bot.decide()
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("DELETE FROM games")
    assert ("row 1 of decisions belongs to a row of games that is not there",) == problems(str(path))


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Teller(str(path)) as bot:
        bot.start()
        for turn in range(2000):
            bot.now = NOON + dt.timedelta(seconds=turn)
            bot.decide(turn)
    data = bytearray(path.read_bytes())
    # Pages in the middle are full of decisions: the tables themselves can still be read.
    for page in range(20, 30):
        data[page * 4096 : page * 4096 + 64] = bytes(range(64))
    path.write_bytes(data)
    try:
        found = " ".join(problems(str(path)))
    except StoreError as error:
        found = str(error)
    assert "the file is damaged" in found or "malformed" in found
