"""A match studied game by game is the match studied in one go."""

from __future__ import annotations

import pytest
from attrs import evolve

from fibsbot.match import CubeAction
from fibsbot.rules.state import Seat
from fibsbot.strategies.handmade import HandmadeStrategy
from fibsbot.study.analysis import study
from fibsbot.study.by_game import study_by_game
from fibsbot.study.model import MatchStudy
from fibsbot.transcript import Cube, Transcript, TranscriptError
from tests.formats.simulating import simulate


def short() -> Transcript:
    """Return a match of two games that both break off after a few turns."""
    match = simulate(11, 3, games=2)
    return evolve(match, games=tuple(evolve(game, entries=game.entries[:3], result=None) for game in match.games))


@pytest.mark.slow
def test_the_parts_make_the_whole() -> None:
    match, ticks = short(), []
    unseen = evolve(match, games=())
    found = study_by_game([match, unseen, match], "handmade", cores=1, tick=lambda: ticks.append(1))
    judge = HandmadeStrategy()
    assert [study(it, judge) for it in (match, unseen, match)] == list(found)
    assert 5 == len(ticks)


def test_an_illegal_game_spoils_its_match_and_no_other() -> None:
    match = short()
    first, second = match.games
    wrong = evolve(second, entries=(Cube(seat=Seat.A, action=CubeAction.TAKE),))
    spoilt, other = study_by_game([evolve(match, games=(first, wrong)), match], "handmade", cores=1, luck=False)
    assert isinstance(spoilt, TranscriptError)
    assert "game 2" in str(spoilt)
    assert isinstance(other, MatchStudy)
