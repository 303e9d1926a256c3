"""What other programs write as `.mat` is understood; what cannot have happened is told with its line."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.formats import FormatError
from fibsbot.formats.mat import write_mat
from fibsbot.formats.mat_reader import read_mats
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.replay.match_files import load_transcripts
from fibsbot.rules.laws import FIBS, Level
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.transcript import Cube, Game, Gap, Player, Resign, Throw, decisions, walk
from tests.examples import more_examples
from tests.formats.one_match import read_mat
from tests.formats.simulated_matches import simulate

PASSED = """\
 3 point match

 Game 1
 alice : 0                      bob : 0
  1) 31: 8/5 6/5                  Doubles => 2
  2)  Drops
                                  Wins 3 points

 Game 2
 alice : 0                      bob : 1
  1)                             31: 8/5 6/5
"""
PLAIN = """\
 3 point match

 Game 1
 alice : 0                      bob : 0
  1) 41: 24/23 13/9              65: 24/18 18/13
  2)  Doubles => 2                Takes
  3) 33: 8/5 8/5 6/3 6/3         62: 24/18 13/11
                                  Wins 2 points

 Game 2
 alice : 0                      bob : 2
  1)                             31: 8/5 6/5
  2) 66: 24/18 24/18 13/7 13/7
      Wins 1 point
"""


def only_game(rows: str, length: int = 5) -> Game:
    """Return the game that these rows are."""
    (game,) = read_mat(f" {length} point match\n\n Game 1\n alice : 0                      bob : 0\n{rows}\n").games
    return game


def refusal(text: str) -> str:
    """Return why a text is refused."""
    with pytest.raises(FormatError) as caught:
        read_mat(text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_passed_double_counts_what_the_cube_shows() -> None:
    match = read_mat(PASSED)
    assert Result(Seat.B, 1, Level.SINGLE, Ending.DROPPED) == match.games[0].result
    assert "3, which no cube and level make" == match.tags["Points 1"]


def test_a_match_with_cube_resignation_and_crawford_game() -> None:
    match = read_mat(PLAIN)
    assert (Player("alice"), Player("bob")) == match.players
    first, second = match.games
    assert [False, True] == [game.start.crawford for game in match.games]
    assert Result(Seat.B, 2, Level.SINGLE, Ending.RESIGNED) == first.result
    assert Resign(seat=Seat.A, level=Level.SINGLE, accepted=True) == first.entries[-1]
    assert Throw(seat=Seat.B, dice=(3, 1), play=Play.of((8, 5), (6, 5))) == second.entries[0]
    assert (1, 2) == match.scores


@pytest.mark.parametrize(
    ("change", "by"),
    [
        ("\n", "\r\n"),
        ("\n", "\r"),
        (" 3 point", "\ufeff 3 point"),
        ("                      bob", "\tbob"),
        ("41: 24/23 13/9              65", "41: 24/23 13/9\t\t65"),
        ("24/18 18/13", "24/13"),
        ("24/18 18/13", "24/18/13"),
        ("8/5 8/5 6/3 6/3", "8/5(2) 6/3(2)"),
        ("8/5 8/5 6/3 6/3", "8-5(2), 6-3(2)"),
        ("Doubles => 2", "Doubles to 2"),
        ("Doubles => 2", "doubles"),
        ("Takes", "Accepts"),
        ("Wins 2 points", "Wins 2 points and the match"),
        (" Game 1\n", "Game 1 \n; [Game 1, Move 1: Dice set to Manual Rolls]\n"),
        (" 3 point match", "# made by hand\n3 Point Match"),
        (" 3 point match", "Dear all, this is\n\n 3 point match"),
        (
            "                                  Wins 2",
            "  4)  Resigned Game             \n            " + 20 * " " + "  Wins 2",
        ),
        ("alice : 0                      bob : 0", "alice: 0     bob: 0"),
        ("  1)                             31", "  1)                31"),
    ],
)
def test_variants_of_other_programs_read_the_same(change: str, by: str) -> None:
    assert change in PLAIN
    assert read_mat(PLAIN).games == read_mat(PLAIN.replace(change, by)).games


def test_ratings_of_gamesgrid_follow_the_names() -> None:
    text = PLAIN.replace("alice : ", "alice,1650.5 : ").replace("bob : ", "bob, 1499 : ")
    assert (Player("alice", 1650.5), Player("bob", 1499.0)) == read_mat(text).players


def test_headers_of_xg_are_understood_and_the_rest_is_kept() -> None:
    headers = """\
; [Site "XG Mobile"]
; [Match ID "491989142"]
; [Player 1 "alice"]
; [Player 2 "somebody else"]
; [Player 1 Elo "1522.94/244"]
; [Player 2 Elo "-"]
; [TimeControl "*0"]
; [EventDate "2022.12.24"]
; [EventTime "21.23"]
; [Variation "Backgammon"]
; [Unrated "Off"]
; [Crawford "On"]
; [CubeLimit "1024"]
; a remark
"""
    match = read_mat(headers + PLAIN)
    assert (Player("alice", 1522.94, 244), Player("bob")) == match.players
    assert ("XG Mobile", "491989142") == (match.site, match.given_id)
    assert dt.datetime(2022, 12, 24, 21, 23, tzinfo=dt.UTC) == match.started
    assert {"Player 2 Elo": "-", "TimeControl": "*0", "Unrated": "Off", "Comment": "a remark"} == match.tags
    assert 1024 == match.games[0].start.laws.cube_limit
    assert write_mat(match) == write_mat(read_mat(write_mat(match)))


def test_headers_may_count_the_players_from_the_right() -> None:
    headers = '; [Player 1 "bob"]\n; [Player 2 "alice"]\n; [Player 1 Elo "1500"]\n; [Player 2 Elo "1800/9"]\n'
    assert (Player("alice", 1800.0, 9), Player("bob", 1500.0)) == read_mat(headers + PLAIN).players


def test_malformed_dates_are_kept_as_tags() -> None:
    for date in ("????.??.??", "2022.13.01", "yesterday"):
        match = read_mat(f'; [EventDate "{date}"]\n{PLAIN}')
        assert match.started is None
        assert date == match.tags["EventDate"]


def test_crawford_can_be_off() -> None:
    assert not any(game.start.crawford for game in read_mat(f'; [Crawford "Off"]\n{PLAIN}').games)


def test_bar_and_off_have_words_and_numbers() -> None:
    text = next(text for text in map(write_mat, map(simulate, range(99))) if "25/" in text and "/0" in text)
    words = text.replace("25/", "bar/").replace("/0 ", "/off ").replace("/0\n", "/off\n")
    assert text == write_mat(read_mat(words))


def test_a_dance_is_nothing_or_said_so() -> None:
    text = next(
        text
        for text in (write_mat(simulate(seed, 1)) for seed in range(99))
        if re.search(r"\d\d: $", text, re.MULTILINE)
    )
    for words in ("Cannot Move", "can't move", "No move", "-", "(no play)"):
        assert text == write_mat(read_mat(re.sub(r"(\d\d:) $", rf"\1 {words}", text, flags=re.MULTILINE)))


def test_the_only_legal_play_is_filled_in() -> None:
    match = next(it for it in map(simulate, range(99)) if any(_forced(game) for game in it.games))
    games = tuple(_without_forced_plays(game) for game in match.games)
    shorter = write_mat(evolve(match, games=games))
    assert shorter != write_mat(match)
    assert read_mat(write_mat(match)).games == read_mat(shorter).games


def _forced(game: Game) -> list[int]:
    """Return the places of the throws in a game for which there was only one play."""
    made = [decision for step in walk(game) for decision in decisions(step)]
    return [it.step.index for it in made if it.forced and isinstance(it.answer, Play) and it.answer.moves]


def _without_forced_plays(game: Game) -> Game:
    entries = list(game.entries)
    for place in _forced(game):
        if isinstance(entry := entries[place], Throw):
            entries[place] = evolve(entry, play=Play())
    return evolve(game, entries=tuple(entries))


@pytest.mark.parametrize("unplayed", ["65:", "65: ", "65: ???", "65: ????"])
def test_a_roll_without_a_play_before_the_end_is_a_resignation(unplayed: str) -> None:
    game = only_game(f"  1) 41: 24/23 13/9              {unplayed}\n      Wins 2 points")
    assert (
        Throw(seat=Seat.B, dice=(6, 5), play=None),
        Resign(seat=Seat.B, level=Level.GAMMON, accepted=True),
    ) == game.entries[1:]


def test_gnubg_puts_the_end_after_dice_that_were_not_played() -> None:
    left = only_game("  1) 41: 24/23 13/9              65: 24/18 18/13\n  2) 62:       Wins 1 point")
    right = only_game("  1) 41: 24/23 13/9              65:  Wins 1 point")
    assert Resign(seat=Seat.B, level=Level.SINGLE, accepted=True) == left.entries[-1]
    assert Resign(seat=Seat.A, level=Level.SINGLE, accepted=True) == right.entries[-1]


def test_a_roll_without_a_play_may_be_the_last_entry() -> None:
    game = only_game("  1) 41: 24/23 13/9              65:")
    assert Throw(seat=Seat.B, dice=(6, 5), play=None) == game.entries[-1]
    assert game.result is None


@pytest.mark.parametrize(
    ("points", "cube", "level"), [(1, 1, 1), (2, 1, 2), (3, 1, 3), (2, 2, 1), (4, 2, 2), (6, 2, 3)]
)
def test_the_size_of_a_resignation_is_points_by_cube(points: int, cube: int, level: int) -> None:
    double = "  2)  Doubles => 2                Takes\n" if cube == 2 else ""
    game = only_game(f"  1) 41: 24/23 13/9              65: 24/18 18/13\n{double}      Wins {points} points")
    assert Resign(seat=Seat.B, level=Level(level), accepted=True) == game.entries[-1]
    assert game.result is not None
    assert points == game.result.points


def test_a_win_without_points_counts_the_cube() -> None:
    rows = "  1) 41: 24/23 13/9              65: 24/18 18/13\n  2)  Doubles => 2                Takes\n"
    for end in ("      Wins", "  3) 99: 24/15\n      Wins"):
        result = only_game(rows + end).result
        assert result is not None
        assert (Seat.A, 2) == (result.winner, result.points)


def test_a_beaver_is_taken_by_the_next_roll() -> None:
    actions = [CubeAction.DOUBLE, CubeAction.BEAVER, CubeAction.TAKE]
    for words in ("Beavers", "Beavers => 4", "Doubles => 4", "Redoubles => 4"):
        game = only_game(
            f"  1) 41: 24/23 13/9               Doubles => 2\n  2)  {words}\n  3)       {28 * ' '}65: 24/13", 0
        )
        assert actions == [entry.action for entry in game.entries if isinstance(entry, Cube)]
        assert 4 == list(walk(game))[-1].after.cube
        assert 1 == game.start.laws.redoubles


def test_a_cube_that_ties_have_raised_shows_in_the_first_double() -> None:
    game = only_game("  1) 41: 24/23 13/9               Doubles => 8\n  2)  Takes", 0)
    assert 4 == game.start.cube
    assert 8 == list(walk(game))[-1].after.cube


def test_the_jacoby_rule_shows_in_what_a_gammon_counts() -> None:
    laws = evolve(FIBS, jacoby=True)
    matches = (simulate(seed, 0, games=2, laws=laws) for seed in range(999))
    gammon = Result(Seat.A, 1, Level.GAMMON, Ending.BORNE_OFF)
    levels = Level.GAMMON, Level.SINGLE  # the second game shows nothing of the rule
    match = next(
        it
        for it in matches
        if it.games[0].result == gammon and levels == tuple(game.result and game.result.level for game in it.games)
    )
    text = write_mat(match).replace('; [Jacoby "On"]\n', "")
    gnubg = text.replace("Wins 1 point", "Wins 2 points", 1)  # gnubg writes this, and goes on with the true scores
    for told in (text, gnubg):
        first, second = read_mat(told).games
        assert first.start.laws.jacoby
        assert match.games[0].result == first.result
        assert second.start.laws.jacoby, "a rule of the match"


def test_games_are_counted_on_where_their_numbers_do_not_grow() -> None:
    match = read_mat(PLAIN.replace(" Game 2", " Game 1"))
    assert [1, 2] == [game.number for game in match.games]
    assert match == read_mat(PLAIN)
    twice = evolve(match, games=tuple(evolve(game, number=0) for game in match.games))
    assert write_mat(evolve(twice, given_id="1")) == write_mat(evolve(match, given_id="1"))


def test_several_matches_in_one_text() -> None:
    text = f'; [Event "first"]\n{PLAIN}\n; [Event "second"]\n{PLAIN}'
    first, second = read_mats(text)
    assert first.games == second.games
    assert ["first", "second"] == [match.tags["Event"] for match in (first, second)]


@pytest.mark.parametrize(
    ("change", "by", "why"),
    [
        (" 3 point match", "nothing", "line 1: expected a line such as '7 point match', got 'nothing'"),
        (PLAIN, "", "line 1: expected a line such as '7 point match', got ''"),
        (" Game 1\n", "", "line 3: expected a line such as 'Game 1', got 'alice : 0"),
        (" alice : 0                      bob : 0\n", "", "line 4: expected the scores, such as "),
        (
            " alice : 0                      bob : 2",
            " carol : 0       eve : 2",
            "line 11: expected the scores of alice and bob",
        ),
        ("bob : 2", "bob : 3", "line 11: game 2: expected scores from 0 to below the length"),
        (" Game 1\n", " Game 1\n; Set Pos=-b----E-C---eE---c-e----B-/0\n", "line 4: expected games from the opening"),
        (
            " 3 point",
            '; [Variation "HyperGammon"]\n 3 point',
            "line 2: expected a match of backgammon, got one of 'Hyper",
        ),
        ("  2)  Doubles", "  2) 42: " + "8/4 " * 400 + "\n  2)  Doubles", "line 6: expected a line of up to 1000 char"),
    ],
)
def test_errors_name_the_line(change: str, by: str, why: str) -> None:
    assert change in PLAIN
    text = PLAIN.replace(change, by, 1)
    assert why == refusal(text)[: len(why)]


@pytest.mark.parametrize(
    ("change", "by", "why"),
    [
        ("24/18 18/13", "24/18 18/12", "line 5: 24/18 18/12 for 6-5: a checker moves by a number that was rolled"),
        ("13/9 ", "13/x ", "line 5: expected moves such as 24/18*, bar/22(2) or 6/off, got '13/x'"),
        ("24/18 18/13", "", "line 5: expected a play for the dice, or the end of the game after them, got '65:'"),
        ("24/18 18/13", "Cannot Move", "line 5: expected a play for 6-5, for which there are 10, got 'Cannot Move"),
        ("Doubles => 2", "Doubles => 4", "line 6: expected Doubles => 2, got 'Doubles => 4'"),
        (" Takes", "", "line 7: a double waits for its answer"),
        (" Doubles => 2                Takes", " Takes", "line 6: nobody has doubled"),
        ("  3) 33: 8/5", "  3)                             33: 8/5", "line 7: it is the opponent's turn"),
        ("  2)  Doubles", "  2)  Wins 1 point\n  2)  Doubles", "line 7: expected the next game, as this one is over"),
        ("  2)  Doubles", "whatever\n  2)  Doubles", "line 6: expected a row such as"),
    ],
)
def test_a_turn_that_cannot_be_read_costs_its_game_from_there_on_and_not_the_match(
    change: str, by: str, why: str
) -> None:
    assert change in PLAIN
    whole, match = read_mat(PLAIN), read_mat(PLAIN.replace(change, by, 1))
    game, entries = match.games[0], whole.games[0].entries
    gap = game.entries[-1]
    assert isinstance(gap, Gap)
    assert why == gap.reason[: len(why)]
    assert Stage.OVER is gap.then.stage
    kept = [entry for entry in game.entries[:-1] if entry in entries]
    assert entries[: len(kept)] == tuple(kept)
    assert whole.games[1] == match.games[1]
    assert (1, 2) == match.scores
    assert gap == list(walk(game))[-1].entry


def test_a_result_that_is_only_missing_is_not_made_up_from_the_next_score() -> None:
    before, _, after = PLAIN.partition("                                  Wins 2 points\n")
    rows = before[before.index("  1)") :]
    for text in (before + after, before.removesuffix(rows) + after):
        match = read_mat(text)
        assert match.games[0].result is None
        assert [(0, 0), (0, 2)] == [game.start.scores for game in match.games]


def test_without_a_readable_turn_the_first_error_is_raised() -> None:
    head = " 3 point match\n\n Game 1\n alice : 0                      bob : 0\n"
    assert "line 5: expected a row such as" in refusal(f"{head}Dear all,\nthis is no match\n")
    assert "line 5: game 1, turn 1: " in refusal(f"{head}  1) 41: 24/13\n      Wins 1 point\n")


def well_answered(text: str) -> bool:
    """Whether a text is read as matches that can be written, or refused in one short line."""
    try:
        matches = read_mats(text)
    except FormatError as error:
        return "\n" not in str(error) and len(str(error)) < 400
    again = [write_mat(match) for match in matches]
    return again == [write_mat(read_mat(it)) for it in again]


@given(st.text() | st.text("0123456789 :)/*\n;[]\"'WinsDoublesTakesGamepointmatch=>?", max_size=300))
def test_any_text_is_a_match_or_a_format_error(text: str) -> None:
    assert all(well_answered(it) for it in (text, PLAIN + text, PLAIN[:200] + text))


@pytest.mark.slow
@given(st.integers(0, 40), st.data())
@more_examples(2.5)
def test_a_damaged_file_is_a_match_or_a_format_error(seed: int, data: st.DataObject) -> None:
    text = write_mat(simulate(seed, 1))
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 60)))
    damaged = text[:begin] + data.draw(st.text(max_size=8) | st.sampled_from(("\n", ":", "  ", "99: 1/2"))) + text[end:]
    assert well_answered(damaged[: data.draw(st.integers(0, len(damaged)))])


NONSENSE = (" ", ":", "a : 1 ", "; [a ", '"', "1) ", "11: ", "\r", " 1 point match\n", " Game 1\n", "Wins 1 ")


@pytest.mark.slow
@pytest.mark.parametrize("piece", NONSENSE)
def test_long_files_of_nonsense_are_matches_or_refused(piece: str) -> None:
    for head in ("", " 3 point match\n Game 1\n", f"{PLAIN}\n"):
        assert well_answered(head + piece * (50_000 // len(piece)))


def test_a_day_without_a_time_stays_one() -> None:
    match = read_mat(f'; [EventDate "2022.12.24"]\n{PLAIN}')
    assert dt.datetime(2022, 12, 24, tzinfo=dt.UTC) == match.started
    assert "EventTime" not in write_mat(match)
    assert "EventTime" not in write_mat(evolve(match, started=dt.datetime(2022, 12, 24, 0, 0, 59, tzinfo=dt.UTC)))


def test_files_of_old_programs_are_not_utf_8(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig", "latin-1", "cp1252"):
        path = tmp_path / f"{encoding}.mat"
        path.write_text(PLAIN.replace("alice", "Zoë"), encoding=encoding)
        assert ["Zoë"] == [match.players[0].name for match in load_transcripts(path)]


# -- words and names of other programs --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["Concedes", "00: ????", "Timeout", "(left)", "resign?", "Gives up 1 point", "\u2620"])
@pytest.mark.parametrize("blanks", [1, 6, 24])
def test_an_unknown_word_in_the_right_column_ends_the_game_and_costs_no_play(word: str, blanks: int) -> None:
    game = only_game(
        f"  1) 31: 8/5 6/5                      42: 8/4 6/4\n  2) 65: 24/13{' ' * blanks}{word}\n  3)  Wins 1 point"
    )
    assert ["8/5 6/5", "8/4 6/4", "24/13"] == [
        it.text for step in walk(game) for it in decisions(step) if it.text != "roll"
    ][:3]
    assert Resign(seat=Seat.B, level=Level.SINGLE, accepted=True) == game.entries[-1]
    assert Result(Seat.A, 1, Level.SINGLE, Ending.RESIGNED) == game.result


def test_an_unknown_word_beside_dice_without_a_play_is_that_of_the_other_player() -> None:
    game = only_game("  1) 31: 8/5 6/5                      42:\n  2)  Wins 1 point")
    (_, rolled, _) = game.entries
    unknown = only_game(
        "  1) 31: 8/5 6/5                      42: 8/4 6/4\n  2) 65:                Concedes\n  3)  Wins 1 point"
    )
    assert isinstance(rolled, Throw)
    assert Throw(seat=Seat.A, dice=(6, 5)) == unknown.entries[2]


def test_an_unknown_word_in_the_left_column_ends_the_game_too() -> None:
    game = only_game(
        "  1) 31: 8/5 6/5                      42: 8/4 6/4\n  2) Concedes\n                       Wins 2 points"
    )
    assert Resign(seat=Seat.A, level=Level.GAMMON, accepted=True) == game.entries[-1]


@pytest.mark.parametrize("rest", ["", "\n  3) 31: 8/5 6/5"], ids=["no result", "the game goes on"])
def test_an_unknown_word_is_the_reason_of_what_is_missing(rest: str) -> None:
    game = only_game(f"  1) 31: 8/5 6/5                      42: 8/4 6/4\n  2) 65: 24/13    Timeout{rest}")
    *throws, gap = game.entries
    assert 3 == len(throws)
    assert isinstance(gap, Gap)
    assert "line 6: expected a roll, a cube action or the result, got 'Timeout'" == gap.reason


def test_a_word_that_changes_nothing_is_passed_over() -> None:
    game = only_game("  1) 31: 8/5 6/5                      42: 8/4 6/4   hurry!\n  2) 65: 24/13")
    assert 3 == len([entry for entry in game.entries if isinstance(entry, Throw)])


NAMED: Final = """\
 3 point match

 Game 1
 anna karenina : 0                    bob : 0
  1) 31: 8/5 6/5                      42: 8/4 6/4
  2) 65: 24/13                        61: 13/7 8/7
      Wins 1 point

 Game 2
 {left} : {first}                     {right} : {second}
  1) 31: 8/5 6/5                      42: 8/4 6/4
  2) 65: 24/13                        61: 13/7 8/7
"""


@pytest.mark.parametrize(
    ("left", "right", "swapped"),
    [
        ("anna karenin", "bob", False),
        ("Anna Karenina", "BOB", False),
        ("anna karenina (RUS)", "bob [DEN]", False),
        ("annie", "bob", False),
        ("anna karenina", "robert", False),
        ("bob", "anna karenina", True),
        ("Bob", "anna", True),
    ],
)
def test_a_name_that_is_spelt_differently_is_noted(left: str, right: str, *, swapped: bool) -> None:
    scores = {"first": int(not swapped), "second": int(swapped)}
    match = read_mat(NAMED.format(left=left, right=right, **scores))
    assert ("anna karenina", "bob") == (match.players[0].name, match.players[1].name)
    assert [(0, 0), (1, 0)] == [game.start.scores for game in match.games]
    opener = Seat.B if swapped else Seat.A
    assert [opener, opener.other] * 2 == [entry.seat for entry in match.games[1].entries if isinstance(entry, Throw)]
    taken = "bob and anna karenina" if swapped else "anna karenina and bob"
    assert (f"line 10: {left} and {right} are taken for {taken}",) == match.remarks


def test_a_result_below_swapped_columns_is_that_of_the_player_above_it() -> None:
    text = NAMED.format(left="bob", right="anna karenina", first=0, second=1)
    for column, winner in ((6, Seat.B), (38, Seat.A)):
        result = read_mat(f"{text}{'':{column}}Wins 1 point\n").games[1].result
        assert result is not None
        assert winner is result.winner


def test_names_that_change_in_every_game_are_noted_once_each() -> None:
    text = NAMED.format(left="Anna", right="bob", first=1, second=0)
    third = text[text.index(" Game 2") :].replace("Game 2", "Game 3")
    assert 1 == len(read_mat(f"{text}      Wins 1 point\n\n{third.replace(': 1', ': 2')}").remarks)
