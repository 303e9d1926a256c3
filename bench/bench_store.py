"""Speed of the match store, compared with bare `sqlite3` on the same disk in the same run.

Usage: bench_store.py [RECORDS [URL]]

The records are those of matches: starts, games, ends and mostly decisions. The bare loop inserts as many decisions
into one table without keys, checks or state, in transactions of the same size; the ratio says what the store's
knowledge costs. Then records come one by one, as bots bring them: the time is that from `put` until the record is
committed. Then whole matches, with what both players did, are written and read again as transcripts. With a URL the
store is made there, which must be an empty database, and the bare loop stays on a file.
"""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from fibsbot.games.state_json import state_to_json
from fibsbot.position import Play
from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.records.store.transcripts import write_play
from fibsbot.records.store.writer import BATCH
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.rules.plays import legal_plays
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Throw, apply

RECORDS: Final = 50_000
ONE_BY_ONE: Final = 1_000
MATCHES: Final = 100
"""Of one game, with entries."""
DECISIONS: Final = 40
"""In a game; every game is a match of one point."""
XGID: Final = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10"
NOON: Final = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)


def decision(turn: int) -> dict[str, Any]:
    """Return a decision's fields."""
    known = {"phase": "move", "game": 1, "turn": turn, "xgid": XGID, "dice": (3, 1), "offer": 0}
    return {**known, "answer": "8/5 6/5", "equity": 0.1589, "seconds": 0.0123, "fallback": None}


def records(count: int) -> Iterator[tuple[str, dict[str, Any], dt.datetime]]:
    """Yield a number of records of matches, one after the other."""
    told, at = 0, NOON
    while True:
        story = [
            ("match_started", {"opponent": f"ford{told % 97}", "length": 1, "resumed": False}),
            ("game_started", {"opponent": f"ford{told % 97}", "game": 1}),
            *(("decision", decision(turn)) for turn in range(DECISIONS)),
            ("game_ended", {"winner": "You", "points": 1, "how": "game_won", "cube": 1, "score": [1, 0]}),
            ("match_ended", {"opponent": f"ford{told % 97}", "length": 1, "won": True, "score": [1, 0]}),
        ]
        for name, fields in story:
            if told == count:
                return
            told += 1
            at += dt.timedelta(seconds=5)
            yield name, fields, at


class Bare:
    """A table of decisions, and nothing else."""

    def __init__(self, path: Path) -> None:
        """Create the file."""
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = NORMAL")
        columns = "game_id, at, sitting, turn, phase, xgid, dice, offer, answer, equity, seconds, fallback"
        self.db.execute(f"CREATE TABLE decisions ({columns})")
        self._insert = f"INSERT INTO decisions VALUES (?{', ?' * columns.count(',')})"  # noqa: S608 - our own columns

    def insert(self, count: int) -> None:
        """Insert a number of rows in one transaction."""
        row = (1, NOON.isoformat(), 0, 1, "move", XGID, "31", 0, "8/5 6/5", 0.1589, 0.0123, None)
        self.db.execute("BEGIN IMMEDIATE")
        self.db.executemany(self._insert, [row] * count)
        self.db.execute("COMMIT")


def at_once(writer: StoreWriter, bare: Bare, count: int) -> None:
    """Print the records per second of a bulk write."""
    waiting = list(records(count))
    puts = []
    started = time.perf_counter()
    for name, fields, at in waiting:
        before = time.perf_counter()
        writer.put("marvin", name, fields, at)
        puts.append(time.perf_counter() - before)
    assert writer.flush(600.0)
    ours = count / (time.perf_counter() - started)
    assert writer.written == count
    started = time.perf_counter()
    for _ in range(0, count, BATCH):
        bare.insert(BATCH)
    theirs = count / (time.perf_counter() - started)
    puts.sort()
    print(f"  at once          store {ours:>9,.0f} records/s   bare {theirs:>9,.0f} rows/s   ratio {ours / theirs:.3f}")
    middle, late = (1e6 * puts[count * percent // 100] for percent in (50, 99))
    print(f"  put              median {middle:.1f} us, 99 % within {late:.1f} us")


def one_by_one(writer: StoreWriter, bare: Bare, count: int) -> None:
    """Print the time until a record is committed."""
    times: tuple[list[float], list[float]] = [], []
    start = {"opponent": "arthur", "length": 25, "resumed": False}
    writer.put("trillian", "match_started", start, NOON)
    assert writer.flush()
    for turn in range(count):
        started = time.perf_counter()
        writer.put("trillian", "decision", decision(turn), NOON)
        assert writer.flush()
        times[0].append(time.perf_counter() - started)
        started = time.perf_counter()
        bare.insert(1)
        times[1].append(time.perf_counter() - started)
    for name, unsorted in zip(("store", "bare"), times, strict=True):
        each = sorted(1000 * it for it in unsorted)
        middle, late = (each[count * percent // 100] for percent in (50, 99))
        print(f"  one by one       {name:<5} median {middle:.3f} ms, 99 % within {late:.3f} ms")


def played(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Yield the entries of a game in which both players always make the first legal play."""
    state = start_match(FIBS, 1)
    first = (6, chance.randint(1, 5))
    entry = Throw(seat=Seat.A, dice=first)
    while state.stage is not Stage.OVER:
        thrown = apply(state, entry)
        plays = legal_plays(thrown.position, entry.dice)
        play = plays[0] if plays else Play()
        state = apply(state, evolve(entry, play=play))
        own = entry.seat is Seat.A
        yield {"kind": "throw", "own": own, "dice": entry.dice, "play": write_play(play)}
        entry = Throw(seat=state.turn, dice=(chance.randint(1, 6), chance.randint(1, 6)))


def whole_matches(place: str, count: int) -> None:
    """Print the speed of writing sheets and entries, and the time to build a transcript."""
    chance, writer = random.Random(1), StoreWriter(place, limit=10**6)
    opening, told = state_to_json(start_match(FIBS, 1)), 0
    games = [list(played(chance)) for _ in range(count)]
    started = time.perf_counter()
    for number, entries in enumerate(games):
        key, opponent = f"sheet{number}", f"ford{number}"
        known = {"opponent": opponent, "length": 1, "won": True, "score": [1, 0]}
        writer.put("zaphod", "match_started", {**known, "resumed": False}, NOON)
        writer.put("zaphod", "sheet", {"sheet": key, "opponent": opponent, "score": [0, 0], "state": opening}, NOON)
        for place_on_sheet, entry in enumerate(entries, 1):
            writer.put("zaphod", "entry", {"sheet": key, "number": place_on_sheet, **entry}, NOON)
        writer.put("zaphod", "match_ended", known, NOON)
        told += 3 + len(entries)
    assert writer.close(600.0)
    print(f"  with entries     store {told / (time.perf_counter() - started):>9,.0f} records/s")
    with Store.open(place) as store:
        matches = list(store.matches(account="zaphod"))
        started = time.perf_counter()
        assert all(store.transcript(match).games[0].whole for match in matches)
        each = 1000 * (time.perf_counter() - started) / len(matches)
        print(f"  transcript       {each:.1f} ms a match of {told / len(matches):.0f} records")


def main() -> None:
    """Print records per second, milliseconds per record, and how long the store takes to check and read."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    with tempfile.TemporaryDirectory() as folder:
        place = sys.argv[2] if len(sys.argv) > 2 else str(Path(folder) / "store.sqlite")
        bare, writer = Bare(Path(folder) / "bare.sqlite"), StoreWriter(place, limit=count)
        print(
            f"{count:,} records into {'a file' if '://' not in place else 'a server'}, transactions of at most {BATCH}"
        )
        with closing(bare.db):
            at_once(writer, bare, count)
            one_by_one(writer, bare, ONE_BY_ONE)
        assert writer.close()
        assert not writer.lost
        with Store.open(place) as store:
            for name, work in (("check", lambda: check_integrity(store).problems), ("read", lambda: read(store))):
                started = time.perf_counter()
                # Whose decisions came one by one had a match too, and its game began with the first of them.
                assert work() in ((), count + 2 + ONE_BY_ONE)
                print(f"  {name:<16} {time.perf_counter() - started:.2f} s")
        whole_matches(place, MATCHES)


def read(store: Store) -> int:
    """Read everything of every match; return the number of records."""
    rows = 0
    for match in store.matches():
        games = list(store.games(match))
        ends = (match.ended is not None) + sum(game.ended is not None for game in games)
        rows += 1 + len(games) + ends + sum(1 for _ in store.decisions(match))
    return rows


if __name__ == "__main__":
    main()
