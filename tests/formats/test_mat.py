"""Matches written as `.mat`: the layout that every program expects, and nothing lost that the format can say.

`FIBSBOT_GOLDEN=write pytest tests/formats/test_mat.py` writes the golden files anew; read the difference first.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.formats import single_line
from fibsbot.formats.mat import write_mat
from fibsbot.formats.mat_headers import column_name
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Player, RejectedRoll, Resign, Throw, Transcript, end_game
from tests.examples import examples
from tests.formats.one_match import read_mat
from tests.formats.simulated_matches import AUTOMATIC, simulate, transcripts

GOLDEN: Final = sorted((Path(__file__).parents[1] / "data" / "formats" / "mat").glob("*.mat"))
"""Simulated matches in which everything happens; gnubg understands them all (test_gnubg_agrees.py)."""

START: Final = start_match(FIBS, 3)
THROW: Final = Throw(seat=Seat.A, dice=(1, 4), play=Play.of((24, 23), (13, 9)))
REPLY: Final = Throw(seat=Seat.B, dice=(6, 5), play=Play.of((24, 18), (18, 13)))
SINGLE: Final = Result(Seat.B, 2, Level.SINGLE, Ending.RESIGNED)


def match_of(*games: Game, length: int = 3, **more: Any) -> Transcript:
    """Return a match between Alice and Bob."""
    return evolve(Transcript((Player("alice"), Player("bob")), length, games=games), **more)


def body(match: Transcript) -> list[str]:
    """Return the lines of a file from the first game's scores on."""
    lines = write_mat(match).splitlines()
    return lines[lines.index(f" Game {match.games[0].number}") + 1 :]


def tag(match: Transcript, key: str) -> str | None:
    """Return what a header line says."""
    start = f'; [{key} "'
    return next(
        (line.removeprefix(start)[:-2] for line in write_mat(match).splitlines() if line.startswith(start)), None
    )


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_files_look_as_they_always_did(path: Path) -> None:
    text = write_mat(read_mat(path.read_text(encoding="utf-8")))
    if os.environ.get("FIBSBOT_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_the_columns_are_those_of_the_other_programs() -> None:
    entries = (
        THROW,
        REPLY,
        Cube(seat=Seat.A, action=CubeAction.DOUBLE),
        Cube(seat=Seat.B, action=CubeAction.TAKE),
        Throw(seat=Seat.A, dice=(3, 3), play=Play.of((8, 5), (8, 5), (6, 3), (6, 3))),
        Throw(seat=Seat.B, dice=(6, 2), play=Play.of((24, 18), (13, 11))),
        Resign(seat=Seat.A, level=Level.SINGLE, accepted=True),
    )
    assert [
        " alice : 0                      bob : 0",
        "  1) 41: 24/23 13/9              65: 24/18 18/13",
        "  2)  Doubles => 2                Takes",
        "  3) 33: 8/5 8/5 6/3 6/3         62: 24/18 13/11",
        "                                  Wins 2 points",
    ] == body(match_of(Game(1, START, entries, SINGLE)))


def test_the_player_on_the_right_starts_in_the_right_column() -> None:
    entries = (REPLY, Throw(seat=Seat.A, dice=(6, 6), play=Play.of((24, 18), (24, 18), (13, 7), (13, 7))))
    assert [
        "  1)                             65: 24/18 18/13",
        "  2) 66: 24/18 24/18 13/7 13/7   ",
    ] == body(match_of(Game(1, START, entries)))[1:]


def test_a_drop_ends_the_row_of_who_wins_on_the_right_and_gets_a_line_where_the_left_one_wins() -> None:
    doubled = Cube(seat=Seat.A, action=CubeAction.DOUBLE)
    dropped = Cube(seat=Seat.B, action=CubeAction.PASS)
    left = Game(1, START, (THROW, REPLY, doubled, dropped), Result(Seat.A, 1, Level.SINGLE, Ending.DROPPED))
    assert ["  2)  Doubles => 2                Drops", "      Wins 1 point"] == body(match_of(left))[2:]
    entries = (THROW, evolve(doubled, seat=Seat.B), evolve(dropped, seat=Seat.A))
    right = Game(1, START, entries, Result(Seat.B, 1, Level.SINGLE, Ending.DROPPED))
    assert [
        "  1) 41: 24/23 13/9               Doubles => 2",
        "  2)  Drops                       Wins 1 point",
    ] == body(match_of(right))[1:]


def test_hits_are_marked_and_bar_and_off_are_numbers() -> None:
    text = write_mat(simulate(202, 3))
    assert "25/" in text
    assert "/0" in text
    assert "*" in text


def test_dice_that_were_not_played_are_written_so() -> None:
    game = Game(1, START, (THROW, evolve(REPLY, play=None)), None)
    assert "  1) 41: 24/23 13/9              65: ???" == body(match_of(game))[1]


def test_a_game_may_be_resigned_instead_of_answering_a_double() -> None:
    entries = (
        THROW,
        Cube(seat=Seat.B, action=CubeAction.DOUBLE),
        Resign(seat=Seat.A, level=Level.SINGLE, accepted=True),
    )
    match = match_of(Game(1, START, entries, Result(Seat.B, 1, Level.SINGLE, Ending.RESIGNED)))
    assert [
        "  1) 41: 24/23 13/9               Doubles => 2",
        "                                  Wins 1 point",
    ] == body(match)[1:]
    assert entries[1:] == read_mat(write_mat(match)).games[0].entries[1:]


@pytest.mark.parametrize(
    ("exchange", "written"),
    [
        ("DBT", ["Doubles => 2", "Beavers => 4"]),
        ("DBP", ["Doubles => 2", "Doubles => 4", "Drops"]),
        ("DB", ["Doubles => 2", "Doubles => 4"]),
        ("DBBT", ["Doubles => 2", "Beavers => 4", "Raccoons => 8", "Takes"]),
        ("DBBP", ["Doubles => 2", "Beavers => 4", "Raccoons => 8", "Drops"]),
        ("DBBBT", ["Doubles => 2", "Beavers => 4", "Raccoons => 8", "Doubles => 16", "Takes"]),
    ],
)
def test_beavers_are_written_in_the_way_that_gnubg_understands(exchange: str, written: list[str]) -> None:
    """A throw takes the beaver before it; where anything else follows one, it has to be a double."""
    start = start_match(evolve(FIBS, redoubles=3), 0)
    actions = {"D": CubeAction.DOUBLE, "B": CubeAction.BEAVER, "T": CubeAction.TAKE, "P": CubeAction.PASS}
    entries: list[Entry] = [THROW]
    for place, letter in enumerate(exchange):
        entries.append(Cube(seat=Seat.B if place % 2 == 0 else Seat.A, action=actions[letter]))
    if exchange.endswith("T"):
        entries.append(REPLY)
    result = Result(Seat.A, 2, Level.SINGLE, Ending.DROPPED) if exchange.endswith("P") else None
    match = match_of(Game(1, start, tuple(entries), result), length=0)
    assert written == re.findall(r"[A-Z][a-z]+ => [0-9]+|Takes|Drops", "\n".join(body(match)))
    assert tuple(entries[1:]) == read_mat(write_mat(match)).games[0].entries[1:]


def test_the_headers_are_those_that_xg_reads() -> None:
    players = (Player("alice", 1650.254, 312), Player("bob", 1500.0))
    started = dt.datetime(2026, 11, 20, 23, 59, 30, tzinfo=dt.UTC)
    match = match_of(players=players, site="fibs.com", started=started, given_id="-246338669")
    assert [
        '; [Site "fibs.com"]',
        '; [Match ID "-246338669"]',
        '; [Player 1 "alice"]',
        '; [Player 2 "bob"]',
        '; [Player 1 Elo "1650.25/312"]',
        '; [Player 2 Elo "1500.00"]',
        '; [EventDate "2026.11.20"]',
        '; [EventTime "23.59"]',
        '; [Variation "Backgammon"]',
        '; [Crawford "On"]',
        "",
        " 3 point match",
    ] == write_mat(match).splitlines()
    money = start_match(evolve(FIBS, jacoby=True, redoubles=1, cube_limit=64), 0)
    unlimited = match_of(Game(1, money), length=0)
    assert ["On", "On", "64"] == [tag(unlimited, key) for key in ("Jacoby", "Beaver", "CubeLimit")]


def test_the_match_id_is_a_number_for_xg_and_ours_is_kept_beside_it() -> None:
    match = simulate(3)
    number = tag(match, "Match ID")
    assert number is not None
    assert 0 <= int(number) < 2**31
    assert match.match_id == tag(match, "Transcript ID")
    assert match.match_id == read_mat(write_mat(match)).match_id
    assert number == tag(simulate(3), "Match ID")
    assert number != tag(simulate(4), "Match ID")


def test_tags_of_other_programs_are_kept() -> None:
    tags = {"Event": 'the "Open"', "Game over": "x", "[Odd]": "y", "Comment": "two\nlines", "Site": "elsewhere"}
    text = write_mat(match_of(tags=tags, site="fibs.com"))
    assert '; [Event "the "Open""]' in text
    assert "; two\n; lines\n" in text
    assert "; [Game " not in text
    read = read_mat(text)
    assert "fibs.com" == read.site
    assert {"Event": 'the "Open"', "game over": "x", "Odd": "y", "Comment": "two\nlines"} == read.tags


def test_a_gap_is_noted_and_the_result_kept() -> None:
    then = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=9)
    gap = Gap(reason='connection lost\n"again"', then=then)
    resign = Resign(seat=Seat.A, level=Level.GAMMON, accepted=True)
    match = match_of(Game(1, START, (THROW, gap, REPLY, resign), SINGLE))
    assert 'turn 2: connection lost "again"' == tag(match, "Gap 1")
    assert ["  1) 41: 24/23 13/9               Wins 2 points"] == body(match)[1:]
    (game,) = read_mat(write_mat(match)).games
    assert (THROW.play,) == tuple(it.play for it in game.entries if isinstance(it, Throw))
    assert 1 == len(game.entries)
    assert game.result is not None
    assert (Seat.B, 2) == (game.result.winner, game.result.points)


@pytest.mark.parametrize(("cube", "level"), [(1, Level.BACKGAMMON), (2, Level.GAMMON), (4, Level.SINGLE)])
def test_a_cube_that_was_turned_in_a_gap_counts(cube: int, level: Level) -> None:
    then = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=9, cube=cube)
    result = Result(Seat.B, cube * level, level, Ending.RESIGNED)
    read = read_mat(write_mat(match_of(Game(1, START, (THROW, Gap(reason="lost", then=then)), result))))
    assert read.games[0].result is not None
    assert (Seat.B, cube * level) == (read.games[0].result.winner, read.games[0].result.points)
    assert "Points 1" not in read.tags


def test_a_game_first_seen_in_its_middle_has_only_its_result() -> None:
    start = evolve(START, stage=Stage.ROLL, turn=Seat.A, turns=9)
    match = match_of(Game(4, start, (THROW,), SINGLE))
    assert "first seen in turn 10" == tag(match, "Gap 4")
    assert [" alice : 0                      bob : 0", "                                  Wins 2 points"] == body(match)


@pytest.mark.parametrize("result", [SINGLE, None])
def test_a_game_first_seen_when_it_was_over_begins_at_the_scores_before_it(result: Result | None) -> None:
    over = end_game(start_match(FIBS, 3, (1, 0)), SINGLE)
    assert (1, 2) == over.scores
    assert " alice : 1                      bob : 0" == body(match_of(Game(2, over, (), result)))[0]


def test_a_rejected_resignation_is_noted_above_the_games() -> None:
    rejected = Resign(seat=Seat.A, level=Level.GAMMON, accepted=False)
    match = match_of(Game(1, START, (THROW, rejected, REPLY)))
    assert "turn 2: player 1 offered a gammon" == tag(match, "Rejected 1")


def test_details_of_a_games_start_that_the_scores_lack_are_noted() -> None:
    after = start_match(FIBS, 3, (2, 0), post_crawford=True)
    assert "after Crawford" == tag(match_of(Game(1, after)), "Start 1")
    raised = evolve(start_match(FIBS, 0), cube=4)
    match = match_of(Game(1, raised), length=0)
    assert "cube 4" == tag(match, "Start 1")
    for start in (after, raised):
        assert start == read_mat(write_mat(match_of(Game(1, start), length=start.length))).games[0].start


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("alice", "alice"),
        ("a: b", "a; b"),
        ("GG,1650.2", "GG;1650.2"),
        ("Last, First", "Last, First"),
        ("  two\t words\r\n", "two words"),
        ("\0", "?"),
        ("é" * 40, "é" * 15),
        ("<script>", "<script>"),
    ],
)
def test_names_are_made_safe(name: str, written: str) -> None:
    assert written == column_name(name)


def test_a_long_name_does_not_touch_its_neighbour() -> None:
    match = match_of(Game(1, START), players=(Player("x" * 31), Player("y" * 50)))
    assert f" {'x' * 31} : 0  {'y' * 31} : 0" == body(match)[0]
    assert ("x" * 31, "y" * 50) == tuple(player.name for player in read_mat(write_mat(match)).players)


def told(transcript: Transcript) -> Transcript:
    """Return a match without what the format cannot say."""
    money = transcript.length == 0
    return Transcript(
        players=(_told_player(transcript.players[0]), _told_player(transcript.players[1])),
        length=transcript.length,
        games=tuple(_told_game(game, money=money) for game in transcript.games),
        site=transcript.site,
        started=transcript.started and transcript.started.replace(second=0, microsecond=0),
        given_id=transcript.match_id,
    )


def _told_player(player: Player) -> Player:
    return Player(single_line(player.name, "?"), player.rating, None if player.rating is None else player.experience)


def _told_game(game: Game, *, money: bool) -> Game:
    entries = list(game.entries)
    if money and game.start.laws.jacoby:  # how much was resigned does not matter where a gammon counts once
        entries = [evolve(it, level=Level.SINGLE) if isinstance(it, Resign) and it.accepted else it for it in entries]
    kept: list[Entry] = []
    for place, entry in enumerate(entries):
        bare = evolve(entry, at=None, seconds=None)
        match bare:
            case Throw(play=None) if any(isinstance(later, Throw) for later in entries[place:][1:]):
                continue
            case Throw(dice=dice, play=play):
                moves = play and Play(tuple(play.ordered))
                kept.append(evolve(bare, dice=(max(dice), min(dice)), play=moves))
            case Resign(accepted=False):
                continue
            case RejectedRoll(dice=dice):
                kept.append(evolve(bare, dice=(max(dice), min(dice))))
            case _:
                kept.append(bare)
    return evolve(game, start=evolve(game.start, laws=FIBS), entries=tuple(kept), result=_told_result(game))


def _told_result(game: Game) -> Result | None:
    if game.result is None or game.result.how is not Ending.RESIGNED:
        return game.result
    return evolve(game.result, level=Level.SINGLE)


@pytest.mark.slow
@given(transcripts(whole=True))
@examples(25)
def test_reading_gives_the_match_that_was_written(match: Transcript) -> None:
    read = read_mat(write_mat(match))
    assert not {key for key in read.tags if not key.startswith(("Rejected", "Rethrown", "Start"))}
    first, second = told(match), told(read)
    assert first.players == second.players
    assert [_without_level(game) for game in first.games] == [_without_level(game) for game in second.games]
    assert evolve(first, games=()) == evolve(second, games=())


def _without_level(game: Game) -> Game:
    """Leave out of a resigned game what its points say: under the Jacoby rule they do not say it all."""
    if not game.start.length:
        kept = (evolve(it, level=Level.SINGLE) if isinstance(it, Resign) else it for it in game.entries)
        return evolve(game, entries=tuple(kept))
    return game


@pytest.mark.slow
@given(transcripts())
@examples(40)
def test_export_import_export_gives_the_same_bytes(match: Transcript) -> None:
    text = write_mat(match)
    again = write_mat(read_mat(text))
    assert text == again
    assert not {it for it in text if ord(it) < 32} - {"\n"}


@given(
    st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=4),
    st.text(max_size=40),
    st.text(max_size=30),
)
def test_any_tags_and_names_survive_unchanged(tags: dict[str, str], name: str, number: str) -> None:
    match = match_of(Game(1, START, (THROW, REPLY)), tags=tags, given_id=number, players=(Player(name), Player("bob")))
    text = write_mat(match)
    assert text == write_mat(read_mat(text))


@pytest.mark.slow
@given(st.integers(0, 10_000))
@examples(20)
def test_raised_cubes_come_back(seed: int) -> None:
    match = simulate(seed, 0, games=3, laws=AUTOMATIC)
    read = read_mat(write_mat(match))
    assert [game.start.cube for game in match.games] == [game.start.cube for game in read.games]
    assert match.scores == read.scores
