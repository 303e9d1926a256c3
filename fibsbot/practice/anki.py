"""Exercises as a deck for Anki, an `.apkg` file: a ZIP with a SQLite collection of schema 11, and pictures.

Every Anki since 2.0 reads schema 11, on computers and telephones. The same exercises make the same bytes. A note is
known by its GUID, which is the exercise's ID: importing again adds nothing twice and keeps what was learnt.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from attrs import define, field

from fibsbot.practice.anki_notes import BACK, FIELDS, FRONT, STYLE, AnkiNote, note_of
from fibsbot.practice.exercises import Exercise
from fibsbot.version import __version__

EXTENSION: Final = ".apkg"
"""How the names of such files end."""
COLLECTION: Final = "collection.anki2"
MEDIA: Final = "media"
"""The member with the names of the pictures, which are members with numbers as names."""
SCHEMA: Final = 11
NOTE_TYPE: Final = "fibsbot exercise"
NOTE_TYPE_ID: Final = 1_764_374_400_000
"""Names the fields and the card. Anki takes another ID for another type of notes: other FIELDS need another one."""
_FIRST_ID: Final = 1_000_000_000_000
"""IDs are milliseconds since 1970, which Anki shows as dates: of decks and notes they begin here, in 2001."""
_ID_BITS: Final = 39
"""Bits in which they differ, so that they end in 2019, and are below 2**53, the greatest number in JavaScript."""
_FIRST_DAY: Final = 1_577_836_800
"""The beginning of 2020. Anki replaces a note only by one with a later time. See `_changed`."""
_OLDEST_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The time of all members of the ZIP, so that the same deck is the same file."""
_SEPARATOR: Final = "\x1f"
"""Between the fields of a note. No field has it: unprintable characters are replaced."""

_TABLES: Final = {
    "col": "id integer primary key, crt integer not null, mod integer not null, scm integer not null, "
    "ver integer not null, dty integer not null, usn integer not null, ls integer not null, conf text not null, "
    "models text not null, decks text not null, dconf text not null, tags text not null",
    "notes": "id integer primary key, guid text not null, mid integer not null, mod integer not null, "
    "usn integer not null, tags text not null, flds text not null, sfld integer not null, csum integer not null, "
    "flags integer not null, data text not null",
    "cards": "id integer primary key, nid integer not null, did integer not null, ord integer not null, "
    "mod integer not null, usn integer not null, type integer not null, queue integer not null, due integer not null, "
    "ivl integer not null, factor integer not null, reps integer not null, lapses integer not null, "
    "left integer not null, odue integer not null, odid integer not null, flags integer not null, data text not null",
    "revlog": "id integer primary key, cid integer not null, usn integer not null, ease integer not null, "
    "ivl integer not null, lastIvl integer not null, factor integer not null, time integer not null, "
    "type integer not null",
    "graves": "usn integer not null, oid integer not null, type integer not null",
}
"""The tables of schema 11; those of reviews and of what was deleted stay empty."""
_INDICES: Final = {
    "ix_notes_usn": "notes (usn)",
    "ix_notes_csum": "notes (csum)",
    "ix_cards_usn": "cards (usn)",
    "ix_cards_nid": "cards (nid)",
    "ix_cards_sched": "cards (did, queue, due)",
    "ix_revlog_usn": "revlog (usn)",
    "ix_revlog_cid": "revlog (cid)",
}
_DECK_OPTIONS: Final = {
    "id": 1,
    "name": "Default",
    "usn": -1,
    "maxTaken": 60,
    "autoplay": True,
    "timer": 0,
    "replayq": True,
    "dyn": False,
    "new": {"delays": [1, 10], "ints": [1, 4, 0], "initialFactor": 2500, "order": 1, "perDay": 20, "bury": False},
    "rev": {"perDay": 200, "ease4": 1.3, "ivlFct": 1, "maxIvl": 36500, "bury": False, "hardFactor": 1.2},
    "lapse": {"delays": [10], "mult": 0, "minInt": 1, "leechFails": 8, "leechAction": 1},
}
"""Anki's own options of a deck: every collection has them, and those of the person count after the import."""


def write_deck(
    file: IO[bytes], exercises: Iterable[Exercise], on_progress: Callable[[int, int], None] | None = None
) -> int:
    """Write a deck of exercises, each once and the worst errors first; return how many there are.

    `on_progress` is called with the number of those that are done, and of all. Raises OSError for a file that
    cannot be written.
    """
    known = {exercise.id: exercise for exercise in exercises}
    worst_first = sorted(known.values(), key=lambda exercise: (-exercise.loss, exercise.id))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package, _Collection.new() as collection:
        numbers: dict[str, int] = {}
        for done, note in enumerate(map(note_of, worst_first), 1):
            collection.add(note)
            for name, picture in note.pictures.items():
                if name not in numbers:
                    numbers[name] = len(numbers)
                    _add(package, str(numbers[name]), picture.encode())
            if on_progress:
                on_progress(done, len(worst_first))
        _add(package, MEDIA, json.dumps({str(number): name for name, number in numbers.items()}).encode())
        _add(package, COLLECTION, collection.content())
    return len(known)


def _add(package: zipfile.ZipFile, name: str, content: bytes) -> None:
    member = zipfile.ZipInfo(name, _OLDEST_DATE)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = 3  # as on Unix, wherever it is written
    member.external_attr = 0o644 << 16
    package.writestr(member, content)


def stable_id(text: str) -> int:
    """Return the ID of a deck or a note by its name."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return _FIRST_ID + (int.from_bytes(digest[:8], "big") >> (64 - _ID_BITS))


def _changed(depth: int = 0) -> int:
    """Return when something was changed, in seconds: later for a newer version of the program, and a deeper evaluation.

    The time of the export would replace what the person has written on a note since the last one.
    """
    major, minor, patch = map(int, re.findall(r"\d+", __version__)[:3])
    return _FIRST_DAY + ((major * 100 + minor) * 100 + patch) * 100 + depth


@define
class _Collection:
    """A collection of Anki that is being made, in a file that only exists meanwhile."""

    _path: Path
    _database: sqlite3.Connection
    _decks: dict[int, str] = field(factory=dict)
    _ids: set[int] = field(factory=set)

    @classmethod
    @contextlib.contextmanager
    def new(cls) -> Iterator[_Collection]:
        """Yield an empty collection."""
        with tempfile.TemporaryDirectory(prefix="fibsbot-") as folder:
            path = Path(folder) / COLLECTION
            with contextlib.closing(sqlite3.connect(path)) as database:
                for name, columns in _TABLES.items():
                    database.execute(f"CREATE TABLE {name} ({columns})")
                for name, columns in _INDICES.items():
                    database.execute(f"CREATE INDEX {name} ON {columns}")
                yield cls(path, database)

    def add(self, note: AnkiNote) -> None:
        """Add a note and its card, to be learnt after those that were added before."""
        number, deck = self._new_id(note.guid), self._deck(note.deck)
        changed, title = _changed(note.depth), note.fields[0]
        checksum = int(hashlib.sha1(title.encode(), usedforsecurity=False).hexdigest()[:8], 16)
        tags, fields = f" {' '.join(note.tags)} ", _SEPARATOR.join(note.fields)
        place = len(self._ids)
        self._insert("notes", number, note.guid, NOTE_TYPE_ID, changed, -1, tags, fields, title, checksum, 0, "")
        self._insert("cards", number, number, deck, 0, changed, -1, 0, 0, place, *[0] * 8, "")

    def content(self) -> bytes:
        """Return the file with all that was added."""
        changed = _changed()
        decks = {str(number): _deck(number, name, changed) for number, name in {1: "Default", **self._decks}.items()}
        texts: tuple[dict[str, Any], ...] = (
            {},
            {str(NOTE_TYPE_ID): _note_type(changed)},
            decks,
            {"1": {**_DECK_OPTIONS, "mod": changed}},
            {},
        )
        self._insert("col", 1, _FIRST_DAY, changed * 1000, changed * 1000, SCHEMA, 0, 0, 0, *map(json.dumps, texts))
        self._database.commit()
        return self._path.read_bytes()

    def _insert(self, table: str, *values: object) -> None:
        self._database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608

    def _new_id(self, text: str) -> int:
        number = stable_id(text)
        while number in self._ids:
            number += 1
        self._ids.add(number)
        return number

    def _deck(self, names: tuple[str, ...]) -> int:
        """Return the ID of a deck; it is made with those around it."""
        number = 0
        for count in range(1, len(names) + 1):
            name = "::".join(names[:count])
            number = stable_id(name)
            self._decks[number] = name
        return number


def _deck(number: int, name: str, changed: int) -> dict[str, Any]:
    """Return a deck as the collection has it."""
    today = {f"{what}Today": [0, 0] for what in ("new", "rev", "lrn", "time")}
    return today | {
        "id": number,
        "name": name,
        "mod": changed,
        "usn": -1,
        "desc": "",
        "dyn": 0,
        "conf": 1,
        "collapsed": False,
        "browserCollapsed": False,
        "extendNew": 0,
        "extendRev": 0,
    }


def _note_type(changed: int) -> dict[str, Any]:
    """Return the type of the notes as the collection has it: one card per note."""
    card = {"name": "Exercise", "ord": 0, "qfmt": FRONT, "afmt": BACK, "bqfmt": "", "bafmt": "", "did": None}
    usual = {"sticky": False, "rtl": False, "font": "Arial", "size": 20, "media": []}
    return {
        "id": NOTE_TYPE_ID,
        "name": NOTE_TYPE,
        "type": 0,
        "mod": changed,
        "usn": -1,
        "sortf": 0,
        "did": 1,
        "tmpls": [card],
        "flds": [{"name": name, "ord": number, **usual} for number, name in enumerate(FIELDS)],
        "css": STYLE,
        "latexPre": "",
        "latexPost": "",
        "latexsvg": False,
        "req": [[0, "any", [FIELDS.index("Board"), FIELDS.index("Question")]]],
        "tags": [],
        "vers": [],
    }
