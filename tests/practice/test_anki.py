"""The deck for Anki: the format that it reads, notes that stay the same, and names that do no harm.

`FIBSBOT_GOLDEN=write pytest tests/practice/test_anki.py` writes the golden notes anew.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.practice.anki import write_deck
from fibsbot.practice.anki_notes import FIELDS, AnkiNote, note_of
from fibsbot.practice.exercises import Exercise, ExerciseKind
from tests.practice.test_exercises import every_exercise, match

GOLDEN: Final = Path(__file__).parents[1] / "data" / "practice" / "anki_notes.html"
GREATEST: Final = 2**53
"""IDs from here on are not exact in JavaScript, and so on telephones."""
ELEMENTS: Final = {"b", "div", "img", "li", "p", "span", "table", "td", "th", "tr", "ul"}


def exercises() -> list[Exercise]:
    """Return some exercises of two players."""
    return every_exercise(match())[:10]


def one_of(kind: ExerciseKind) -> Exercise:
    return next(one for one in every_exercise(match(0)) if one.kind is kind)


@cache
def deck() -> bytes:
    return deck_of(exercises())


def deck_of(found: Sequence[Exercise]) -> bytes:
    file = io.BytesIO()
    write_deck(file, found)
    return file.getvalue()


@frozen
class ReadDeck:
    """What is in a deck."""

    members: dict[str, bytes]
    pictures: dict[str, bytes]
    """By the names that the notes have for them."""
    collection: sqlite3.Connection

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of a table."""
        self.collection.row_factory = sqlite3.Row
        return [dict(row) for row in self.collection.execute(f"SELECT * FROM {table} ORDER BY 1")]


@contextlib.contextmanager
def opened(deck: bytes, folder: Path) -> Iterator[ReadDeck]:
    with zipfile.ZipFile(io.BytesIO(deck)) as package:
        assert package.testzip() is None
        members = {name: package.read(name) for name in package.namelist()}
    names: dict[str, str] = json.loads(members["media"])
    path = folder / "collection.anki2"
    path.write_bytes(members["collection.anki2"])
    with contextlib.closing(sqlite3.connect(path)) as collection:
        yield ReadDeck(members, {name: members[number] for number, name in names.items()}, collection)


# -- the format -------------------------------------------------------------------------------------------------------


def test_a_deck_is_a_collection_of_schema_11_with_a_card_per_exercise(tmp_path: Path) -> None:
    with opened(deck(), tmp_path) as read:
        assert [("ok",)] == read.collection.execute("PRAGMA integrity_check").fetchall()
        ((collection,), notes, cards) = map(read.rows, ("col", "notes", "cards"))
        types, decks = json.loads(collection["models"]), json.loads(collection["decks"])
        assert 11 == collection["ver"]
        assert [list(FIELDS)] == [[field["name"] for field in one["flds"]] for one in types.values()]
        assert {f"fibsbot-{one.id}" for one in exercises()} == {note["guid"] for note in notes}
        assert {note["id"] for note in notes} == {card["nid"] for card in cards}
        assert {str(card["did"]) for card in cards} <= {*decks}
        assert {str(note["mid"]) for note in notes} == {*types}
        assert all(len(FIELDS) == len(note["flds"].split("\x1f")) for note in notes)
        every_id = [*(row["id"] for row in notes + cards), *map(int, [*types, *decks])]
        assert 0 < min(every_id) <= max(every_id) < GREATEST
        assert all(deck_id == str(one["id"]) for deck_id, one in decks.items())


def test_decks_are_within_each_other_by_player_and_kind(tmp_path: Path) -> None:
    with opened(deck(), tmp_path) as read:
        ((collection,), cards) = map(read.rows, ("col", "cards"))
        names = {number: one["name"] for number, one in json.loads(collection["decks"]).items()}
    assert {"Default", "Backgammon", "Backgammon::Errors of anna", "Backgammon::Errors of anna::Plays"} <= {
        *names.values()
    }
    assert all(name.rpartition("::")[0] in {"", *names.values()} for name in names.values())
    assert all(2 == names[str(card["did"])].count("::") for card in cards)


def test_every_picture_is_there_and_none_is_in_vain(tmp_path: Path) -> None:
    with opened(deck(), tmp_path) as read:
        fields = "".join(note["flds"] for note in read.rows("notes"))
        assert {*re.findall(r'src="([^"]+)"', fields)} == {*read.pictures}
        assert all(picture.startswith(b"<svg ") for picture in read.pictures.values())
        assert {"media", "collection.anki2", *map(str, range(len(read.pictures)))} == {*read.members}


def test_the_worst_error_is_learnt_first(tmp_path: Path) -> None:
    with opened(deck(), tmp_path) as read:
        guids = {note["id"]: note["guid"] for note in read.rows("notes")}
        found = [guids[card["nid"]] for card in sorted(read.rows("cards"), key=lambda card: card["due"])]
    losses = {f"fibsbot-{one.id}": one.loss for one in exercises()}
    assert [losses[guid] for guid in found] == sorted(losses.values(), reverse=True)


# -- what stays the same ----------------------------------------------------------------------------------------------


def test_the_same_exercises_are_the_same_file_in_any_order_and_number() -> None:
    assert deck() == deck_of(exercises()[::-1]) == deck_of(exercises() * 2)


def test_another_evaluation_is_the_same_note_and_a_deeper_one_replaces_it(tmp_path: Path) -> None:
    before = one_of(ExerciseKind.PLAY)
    choices = tuple(evolve(choice, plies=3, equity=choice.equity / 2) for choice in before.choices)
    notes = []
    for exercise in (before, evolve(before, choices=choices, evaluator="another", source="elsewhere.sgf")):
        with opened(deck_of([exercise]), tmp_path) as read:
            notes += read.rows("notes")
    first, second = notes
    assert [first[key] for key in ("id", "guid", "mid", "sfld")] == [
        second[key] for key in ("id", "guid", "mid", "sfld")
    ]
    assert first["flds"] != second["flds"]
    assert first["mod"] < second["mod"]


def test_a_person_s_remarks_have_a_field_that_is_always_empty() -> None:
    assert {""} == {note_of(one).fields[FIELDS.index("Remarks")] for one in exercises()}


# -- what a person sees -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ExerciseKind.PLAY, ExerciseKind.ANSWER])
def test_the_front_does_not_say_what_is_right(kind: ExerciseKind) -> None:
    exercise = one_of(kind)
    board, question, solution, answer = note_of(exercise).fields[1:5]
    assert exercise.choice_name(exercise.best.text) in answer
    assert "equity" not in question
    if kind is ExerciseKind.PLAY:
        assert exercise.best.text not in board + question
        assert board != solution
    else:
        assert all(f"<li>{exercise.choice_name(choice.text)}</li>" in question for choice in exercise.choices)


def test_notes_read_well() -> None:
    """Of each kind of decision."""
    found = [note_of(one_of(kind)) for kind in ExerciseKind if kind is not ExerciseKind.NAME]
    text = "\n".join(_readable(note) for note in found)
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert GOLDEN.read_text(encoding="utf-8") == text


def _readable(note: AnkiNote) -> str:
    lines = ["::".join(note.deck), " ".join(note.tags), *note.fields]
    return re.sub(r"fibsbot-[0-9a-f]{20}", "fibsbot-...", "\n".join(lines)).replace("><", ">\n<")


# -- names of strangers -----------------------------------------------------------------------------------------------


class _Elements(HTMLParser):
    """Notes the elements of a text, and what they do."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


NASTY: Final = (
    "</p><script>alert(1)</script>",
    "[sound:x.mp3]",
    "[latex]x[/latex]",
    r"\(x\)",
    "{{Board}}",
    'a::b"',
    "\x1f",
)


@given(st.text(max_size=40) | st.sampled_from(NASTY))
def test_names_do_nothing(name: str) -> None:
    exercise = evolve(one_of(ExerciseKind.ACCEPTANCE), player=name, opponent=name, source=name, evaluator=name)
    note = note_of(exercise)
    fields = "".join(note.fields)
    page = _Elements(fields)
    assert page.found <= ELEMENTS
    assert page.attributes <= {"alt", "class", "colspan", "src"}
    assert not {*r"[]{}\\"} & {*fields}
    assert fields.isprintable()
    assert all(part.strip() and "::" not in f"{part}:" and '"' not in part for part in note.deck)
    assert all(re.fullmatch(r"fibsbot::[a-z]+::[^\s:]+", tag) for tag in note.tags)
