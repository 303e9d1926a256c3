"""Forms of other programs: short matches of our own making, and the transcripts that they are read as."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from fibsbot.formats.transcript_json import write_json
from fibsbot.replay.match_files import load_transcripts
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Game, Gap, Resign, Transcript, walk

FOLDER: Final = Path(__file__).parents[1] / "data" / "formats" / "read"
EXAMPLES: Final = sorted(path for path in FOLDER.iterdir() if path.suffix != ".json")


def read(name: str) -> Transcript:
    """Return the match of an example."""
    (match,) = load_transcripts(FOLDER / name)
    return match


def results(match: Transcript) -> list[tuple[Seat, int]]:
    """Return who has won how many points in each game."""
    return [(game.result.winner, game.result.points) for game in match.games if game.result]


def gaps(game: Game) -> list[str]:
    """Return the reasons of a game's gaps."""
    return [entry.reason for entry in game.entries if isinstance(entry, Gap)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_read_as_its_transcript(path: Path) -> None:
    match = read(path.name)
    assert path.with_name(f"{path.name}.json").read_text(encoding="utf-8") == write_json(match)
    for game in match.games:
        assert len(game.entries) == len(list(walk(game)))


def test_the_owner_of_the_column_has_lost() -> None:
    match = read("resigned.mat")
    a, b = Seat.A, Seat.B
    assert [(b, 1), (a, 2), (a, 2), (a, 3), (a, 1), (b, 2), (a, 1)] == results(match)
    assert Seat.A is match.winner
    ends = [game.entries[-1] for game in match.games]
    assert [a, b, b, b, b, a, b] == [end.seat for end in ends if isinstance(end, Resign)]
    assert [1, 2, 1, 3, 1, 2, 1] == [end.level for end in ends if isinstance(end, Resign)]
    assert not any(gaps(game) for game in match.games)


def test_a_word_in_the_losers_column_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "alone.mat"
    text = (FOLDER / "resigned.mat").read_text()
    path.write_text(text.replace("     Wins 2 point\n", "").replace("Wins 1 point\n\n Game 2", "\n\n Game 2"))
    (match,) = load_transcripts(path)
    assert results(read("resigned.mat")) == results(match)


def test_points_that_no_cube_and_level_make_are_named_and_counted_anew() -> None:
    match = read("points.mat")
    assert [(Seat.A, 2), (Seat.B, 8)] == results(match)  # by the next score; by what the winner needs
    assert [Level.SINGLE, Level.GAMMON] == [game.result.level for game in match.games if game.result]
    told = [match.tags[f"Points {number}"] for number in (1, 2)]
    assert ["2008, which no cube and level make", "4016, which no cube and level make"] == told


def test_a_double_at_one_away_means_it_is_not_the_crawford_game() -> None:
    match = read("post_crawford.mat")
    (game,) = match.games
    assert not game.start.crawford
    assert game.start.post_crawford
    assert game.start.laws.crawford
    assert not gaps(game)


def test_an_unreadable_turn_costs_its_game_from_there_on() -> None:
    first, second, third, fourth = read("unreadable.mat").games
    assert ["line 11: an illegal play"] == gaps(first)
    assert Stage.ROLL is next(entry.then for entry in first.entries if isinstance(entry, Gap)).stage
    assert 5 == len(first.entries)  # the position after the illegal play is in the file: the game goes on from there
    assert ["line 18: expected a play for the dice, or the end of the game after them, got '45:'"] == gaps(second)
    assert ["line 24: expected a legal play, got an illegal one"] == gaps(third)
    assert [Seat.A, Seat.B, Seat.A] == [game.result.winner for game in (first, second, third) if game.result]
    assert [1, 2, 2] == [game.result.points for game in (first, second, third) if game.result]
    assert not gaps(fourth)


def test_resignations_of_sgf_are_offered_accepted_and_rejected() -> None:
    first, second, third = read("resigned.sgf").games
    assert [Resign(seat=Seat.A, level=Level.SINGLE, accepted=False)] == [
        entry for entry in first.entries if isinstance(entry, Resign) and not entry.accepted
    ]
    assert Resign(seat=Seat.B, level=Level.SINGLE, accepted=True) == first.entries[-1]
    assert 2 == first.result.points if first.result else False
    assert 1 == len(gaps(second))
    assert Seat.B is second.result.winner if second.result else False
    assert not gaps(third)
