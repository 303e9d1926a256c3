"""The page about the library and the README are true: examples give what they show, objects are what is said."""

from __future__ import annotations

import copy
import doctest
import pickle
from pathlib import Path
from typing import Any, Final

import pytest
from attrs.exceptions import FrozenInstanceError

from fibs_protocol import messages as m
from fibs_protocol.errors import BadArgumentError
from fibs_protocol.grammar import parse
from fibsbot.fibs_numbering import board_of
from fibsbot.games import load_ruleset
from fibsbot.match import MatchState
from fibsbot.position import Move, Play, Position
from fibsbot.rules import game as tables
from fibsbot.rules.errors import CubeError, CubeRefusal, IllegalPlayError, Law
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS
from fibsbot.transcript import Game, Player, Transcript

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {"README.md": 2, "docs/reference/library.md": 50}
"""Pages with examples, and how many there are at least."""
START: Final = MatchState(Position.start(), length=3)
BOARD: Final = board_of(START, "You", "bob")
OBJECTS: Final = (
    Position.start(),
    Move(8, 5),
    Play.of((8, 5), (6, 5)),
    START,
    FIBS,
    start_match(FIBS, 5),
    load_ruleset("plakoto"),
    tables.start_match_of(load_ruleset("tabula:exact"), 3),
    Transcript((Player("alice"), Player("bob")), 3, (Game(1, start_match(FIBS, 3)),), tags={"Event": "The final"}),
    m.Rolls("bob", (3, 1)),
    BOARD,
    parse(BOARD.to_line()),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_examples_give_what_the_page_shows(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8").replace("\n```", "\n\n```")  # a blank line ends an output
    page = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, name, name, 0)
    results = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL).run(page)
    assert (results.failed, results.attempted > PAGES[name]) == (0, True)


@pytest.mark.parametrize(
    "error",
    [
        IllegalPlayError(Law.MUST_PLAY, "24/23: it must be played"),
        CubeError(CubeRefusal.LIMIT),
        BadArgumentError(m.UnknownCommand("x")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling_so_that_other_processes_can_raise_them(error: Exception) -> None:
    """A pool of processes had been broken by an illegal play, or had waited for ever."""
    pickled = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (type(pickled), str(pickled), vars(pickled)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize("it", OBJECTS, ids=lambda it: type(it).__name__)
def test_objects_are_immutable_and_can_be_compared_hashed_copied_and_pickled(it: Any) -> None:
    pickled = pickle.loads(pickle.dumps(it))  # noqa: S301 - our own
    for copied in (pickled, copy.copy(it), copy.deepcopy(it)):
        assert (it == copied, {it: 1}[copied]) == (True, 1)
    with pytest.raises(FrozenInstanceError):
        setattr(it, type(it).__attrs_attrs__[0].name, None)
