"""The server's list of moves as a file: what is written, and what is understood of what others have saved."""

from __future__ import annotations

import re
from typing import Final

import pytest
from attrs import evolve

from fibsbot.formats import FormatError
from fibsbot.formats.mat import write_mat
from fibsbot.formats.oldmoves import iter_oldmoves, write_oldmoves
from fibsbot.match import CubeAction
from fibsbot.rules.game import start_match
from fibsbot.rules.laws import FIBS, AutomaticRaise, Laws, Level
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Gap, Player, Resign, Transcript, walk
from tests.formats.gnubg import ask_gnubg, assert_same, requires_gnubg
from tests.formats.one_match import read_mat, read_oldmoves
from tests.formats.short_game import MOVES
from tests.formats.simulated_matches import simulate

HEAD: Final = "Score is 0-0 in a 3 point match.\nalice is X - bob is O\n\n"
OWN_NUMBERS: Final = f"""{HEAD}X: (4 1) 24-23 13-9
O: (6 5) 24-18 18-13
X: doubles
O: accepts
X: (3 3) 8-5 8-5 6-3 6-3
O: (6 2) 24-18 13-11
X: wants to resign
O: wins
"""
SERVER_NUMBERS: Final = OWN_NUMBERS.replace("24-23 13-9", "1-2 12-16").replace(
    "8-5 8-5 6-3 6-3", "17-20 17-20 19-22 19-22"
)
LOST: Final = Resign(seat=Seat.A, level=Level.SINGLE, accepted=True)


def match_of(*games: Game, length: int = 3) -> Transcript:
    """Return a match between Alice and Bob."""
    return Transcript((Player("alice"), Player("bob")), length, games)


def game_of(*entries: Entry, result: Result | None = None) -> Game:
    """Return a first game."""
    return Game(1, start_match(FIBS, 3), entries, result)


def game_text(scores: str, *lines: str, x: str = "alice", o: str = "bob", length: str = "a 9 point") -> str:
    """Return the list of a game."""
    return "\n".join([f"Score is {scores} in {length} match.", f"{x} is X - {o} is O", "", *lines, "", ""])


@pytest.mark.parametrize("text", [OWN_NUMBERS, SERVER_NUMBERS], ids=["both players' own numbers", "the server's"])
def test_both_ways_to_number_the_points_are_read(text: str) -> None:
    match = read_oldmoves(text)
    assert match_of(game_of(*MOVES, LOST, result=Result(Seat.B, 2, Level.SINGLE, Ending.RESIGNED))) == match


def test_a_game_of_which_only_the_winner_is_written_has_no_entries() -> None:
    text = game_text("0-0", "X: wins")
    match = read_oldmoves(text)
    assert () == match.games[0].entries
    assert match.games[0].result is not None
    assert Seat.A is match.games[0].result.winner
    assert match == read_oldmoves(write_oldmoves(match))


def test_it_is_written_as_the_server_writes_it() -> None:
    assert SERVER_NUMBERS == write_oldmoves(read_oldmoves(OWN_NUMBERS))


def test_bar_off_and_dances_are_read_in_both_numberings() -> None:
    match = simulate(18, 5)
    text = write_oldmoves(match)
    assert "bar-" in text
    assert "-off" in text
    assert "can't move" in text
    assert text == write_oldmoves(read_oldmoves(text))


def test_the_list_may_be_surrounded_by_other_output() -> None:
    text = (
        "Welcome to FIBS.\r\n> bob shouts: Score is 7-7 in a 3 point match\r\n"
        "You win the game and get 2 points. Congratulations!" + OWN_NUMBERS.replace("\n", "\r\n") + "> \r\nX: hello\r\n"
    )
    assert read_oldmoves(OWN_NUMBERS) == read_oldmoves(text)


def test_the_points_are_written_if_the_moves_do_not_show_them() -> None:
    gammon = evolve(LOST, level=Level.GAMMON)
    match = match_of(game_of(*MOVES, gammon, result=Result(Seat.B, 4, Level.GAMMON, Ending.RESIGNED)))
    text = write_oldmoves(match)
    assert text.endswith("X: wants to resign\nO: wins 4 points\n")
    assert match == read_oldmoves(text)


def test_the_level_of_a_resignation_follows_from_the_next_score() -> None:
    first = game_text("0-0", "X: (4 1) 1-2 12-16", "O: wants to resign", "X: wins")
    (game, _) = read_oldmoves(first + game_text("3-0", "O: (4 1) 24-23 13-9")).games
    assert Result(Seat.A, 3, Level.BACKGAMMON, Ending.RESIGNED) == game.result
    assert Resign(seat=Seat.B, level=Level.BACKGAMMON, accepted=True) == game.entries[-1]


def test_the_header_may_name_o_first() -> None:
    usual = game_text("0-0", "X: wins") + game_text("1-0", "O: wins")
    other = usual.replace("alice is X - bob is O", "bob is O - alice is X")
    assert read_oldmoves(usual) == read_oldmoves(other)


def test_swapped_scores_are_corrected() -> None:
    text = "".join(
        (
            game_text("0-0", "X: (4 1) 1-2 12-16", "O: doubles", "X: rejects", "O: wins"),
            game_text("1-0", "X: (4 1) 1-2 12-16", "O: doubles", "X: rejects", "O: wins"),
            game_text("0-2", "X: (4 1) 1-2 12-16", "O: wants to resign", "X: wins"),
            game_text("2-1"),
        )
    )
    assert [(0, 0), (0, 1), (0, 2), (1, 2)] == [game.start.scores for game in read_oldmoves(text).games]


def test_colours_that_change_do_not_change_the_seats() -> None:
    first = game_text("0-0", "X: (4 1) 1-2 12-16", "O: doubles", "X: rejects", "O: wins")
    second = game_text("1-0", "X: (4 1) 1-2 12-16", x="bob", o="alice")
    match = read_oldmoves(first + second)
    assert ["alice", "bob"] == [player.name for player in match.players]
    assert (0, 1) == match.games[1].start.scores
    (entry,) = match.games[1].entries
    assert evolve(MOVES[0], seat=Seat.B) == entry


def test_scores_after_the_games_are_recognised() -> None:
    """So the server lists the moves of a game that is over; of the last one the scores could not be those before it."""
    text = "".join(
        (
            game_text("0-1", "X: (4 1) 1-2 12-16", "O: doubles", "X: rejects", "O: wins", length="a 3 point"),
            game_text("0-3", "X: (4 1) 1-2 12-16", "O: wants to resign", "O: wins", length="a 3 point"),
        )
    )
    match = read_oldmoves(text)
    assert [(0, 0), (0, 1)] == [game.start.scores for game in match.games]
    assert Seat.B is match.winner
    assert [1, 2] == [game.result.points for game in match.games if game.result]


def test_the_crawford_game_is_the_first_at_one_away() -> None:
    dropped = ("X: (4 1) 1-2 12-16", "O: wants to resign", "X: wins")
    text = "".join(game_text(scores, *dropped, length="a 3 point") for scores in ("0-0", "1-0", "2-0"))
    games = read_oldmoves(text).games
    assert [False, False, True] == [game.start.crawford for game in games]
    with_double = game_text("2-0", "X: (4 1) 1-2 12-16", "O: doubles", length="a 3 point")
    assert read_oldmoves(with_double).games[0].start.post_crawford


@pytest.mark.parametrize("cube", [2, 4, 8, 16, 32, 64])
def test_automatic_doubles_are_found_by_what_the_game_counted(cube: int) -> None:
    start = evolve(start_match(FIBS, 0), cube=cube)
    entries = (*MOVES[:3], Cube(seat=Seat.B, action=CubeAction.PASS))
    match = match_of(Game(1, start, entries, Result(Seat.A, cube, Level.SINGLE, Ending.DROPPED)), length=0)
    text = write_oldmoves(match)
    assert text.startswith("Score is 0-0 in an unlimited match.\n")
    assert text.endswith(f"O: rejects\nX: wins {cube} points\n")
    assert match == read_oldmoves(text)


@pytest.mark.parametrize("laws", [evolve(FIBS, point_game=True), evolve(FIBS, triple=False)])
def test_laws_by_which_points_count_are_found_by_the_points(laws: Laws) -> None:
    length = 60 if laws.point_game else 9
    matches = (simulate(seed, length, laws=laws) for seed in range(40))
    match = next(it for it in matches if re.search("wins [0-9]+ point", write_oldmoves(it)))
    read = read_oldmoves(write_oldmoves(match))
    assert {(laws.point_game, laws.triple)} == {(it.start.laws.point_game, it.start.laws.triple) for it in read.games}
    won = [(it.result.winner, it.result.points) for it in match.games if it.result]
    assert won == [(it.result.winner, it.result.points) for it in read.games if it.result]
    again = read_mat(write_mat(read))
    assert won == [(it.result.winner, it.result.points) for it in again.games if it.result]


def test_one_game_that_states_odd_points_does_not_change_what_the_others_count() -> None:
    odd = simulate(2108, 0, laws=evolve(FIBS, automatic=AutomaticRaise.ADD_ONE, automatic_limit=6), games=3)
    counted = [it.result and it.result.points for it in odd.games]
    assert counted == [it.result and it.result.points for it in read_oldmoves(write_oldmoves(odd)).games]


def test_beavers_are_written_so_that_gnubg_knows_them_and_read_as_the_server_says_them() -> None:
    laws = evolve(FIBS, redoubles=1)
    beaver = Cube(seat=Seat.B, action=CubeAction.BEAVER)
    game = Game(1, start_match(laws, 0), (*MOVES[:3], beaver, Cube(seat=Seat.A, action=CubeAction.TAKE)))
    text = write_oldmoves(match_of(game, length=0))
    assert "X: doubles\nO: doubles\nX: accepts\n" in text
    assert (game,) == read_oldmoves(text).games
    assert (game,) == read_oldmoves(text.replace("O: doubles", "O: redoubles")).games


def test_an_answer_to_a_resignation_is_not_one_to_a_double() -> None:
    text = OWN_NUMBERS.replace("O: wins\n", "O: rejects\nX: (2 1) 13-11 9-8\nO: wants to resign\nX: accepts\nX: wins\n")
    refused = evolve(LOST, accepted=False)
    entries = read_oldmoves(text).games[0].entries
    assert refused == entries[6]
    assert evolve(LOST, seat=Seat.B) == entries[-1]
    assert "rejects" not in write_oldmoves(read_oldmoves(text))


WHOLE: Final = ("X: (4 1) 1-2 12-16", "O: doubles", "X: rejects", "O: wins")
BAD_TURNS: Final = (
    ("O: (6 5) somewhere", "line 5: expected moves such as 13-8"),
    ("O: (6 5) 24-18 18-12", "line 5: "),
    ("X: (6 5) 1-7 7-12", "line 5: "),
)


@pytest.mark.parametrize(("bad", "reason"), BAD_TURNS)
def test_a_turn_that_cannot_be_read_costs_its_game_from_there_on_and_no_other(bad: str, reason: str) -> None:
    lines = ("X: (4 1) 1-2 12-16", bad, "X: (2 1) nonsense", "O: doubles", "X: wants to resign", "O: wins")
    match = read_oldmoves(game_text("0-0", *lines) + game_text("0-4", *WHOLE) + game_text("0-5"))
    lost, whole, _ = match.games
    throw, gap = lost.entries
    assert MOVES[0] == throw
    assert isinstance(gap, Gap)
    assert gap.reason.startswith(reason)
    assert (Stage.OVER, (0, 4)) == (gap.then.stage, gap.then.scores)
    assert lost.result is not None
    assert (Seat.B, 4) == (lost.result.winner, lost.result.points)
    assert [(0, 0), (0, 4), (0, 5)] == [game.start.scores for game in match.games]
    assert read_oldmoves(game_text("0-4", *WHOLE) + game_text("0-5")).games[0].entries == whole.entries
    for game in match.games:
        assert len(game.entries) == len(list(walk(game)))


def test_the_points_of_a_game_with_an_unreadable_end_are_kept() -> None:
    text = game_text("0-0", "X: (4 1) 1-2 12-16", "O: (6 5) ?", "X: wins 8 points")
    (game,) = read_oldmoves(text).games
    assert game.result is not None
    assert (Seat.A, 8) == (game.result.winner, game.result.points)
    (unfinished,) = read_oldmoves(game_text("0-0", "X: (4 1) 1-2 12-16", "O: (6 5) ?")).games
    assert unfinished.result is None
    assert unfinished.whole is False


def test_the_rest_after_a_gap_is_left_out() -> None:
    gap = Gap(reason="a line is missing", then=evolve(start_match(FIBS, 3), stage=Stage.ROLL, turns=4))
    game = game_of(MOVES[0], gap, MOVES[2], result=Result(Seat.A, 2, Level.SINGLE, Ending.DROPPED))
    assert HEAD + "X: (4 1) 1-2 12-16\n" == write_oldmoves(match_of(game))
    seen = evolve(game, start=gap.then, entries=())
    assert HEAD == write_oldmoves(match_of(seen))


def test_names_may_be_anything_of_one_line() -> None:
    players = (Player("a is X - b"), Player(" c\nis O \x1b[31m"))
    text = write_oldmoves(evolve(match_of(game_of()), players=players))
    assert "a is X - b is X - c is O [31m is O" == text.splitlines()[1]
    assert text == write_oldmoves(read_oldmoves(text))


def test_several_matches_are_separated() -> None:
    other = OWN_NUMBERS.replace("bob", "carol")
    assert [1, 1] == [len(match.games) for match in iter_oldmoves(OWN_NUMBERS + "\n" + other)]


# -- which lists make a match -----------------------------------------------------------------------------------------

ANNA_WINS: Final = ("X: (3 1) 17-20 19-20", "O: (4 2) 8-4 6-4", "X: (6 5) 1-7 7-12", "O: (6 1) 13-7 8-7", "X: doubles")
DROPPED: Final = (*ANNA_WINS, "O: rejects", "X: wins")
OTHER_DROPPED: Final = ("X: (4 2) 17-21 19-21", "O: (3 1) 8-5 6-5", "X: doubles", "O: rejects", "X: wins")


def games_of(text: str) -> list[list[tuple[int, int]]]:
    """Return the scores at which the games of each match began."""
    return [[game.start.scores for game in match.games] for match in iter_oldmoves(text)]


def test_a_rematch_begins_where_the_match_before_is_over() -> None:
    text = game_text("0-0", *DROPPED, length="a 1 point") + game_text("0-0", *OTHER_DROPPED, length="a 1 point")
    assert [[(0, 0)], [(0, 0)]] == games_of(text)
    first, second = iter_oldmoves(text)
    assert first.match_id != second.match_id


@pytest.mark.parametrize(
    ("before", "rematch"),
    [
        (("0-0", DROPPED), ("0-0", OTHER_DROPPED)),
        (("0-0", DROPPED), ("0-0", OTHER_DROPPED[:2])),
        (("0-0", DROPPED[:4]), ("0-0", OTHER_DROPPED)),
        (("2-1", DROPPED), ("1-0", OTHER_DROPPED)),
        (("1-0", DROPPED), ("1-0", OTHER_DROPPED)),
        (("5-3", DROPPED), ("5-4", OTHER_DROPPED)),
    ],
    ids=["won", "it goes on", "abandoned", "later game", "both over", "the match was over"],
)
def test_a_score_that_the_games_before_cannot_have_led_to_begins_a_match(
    before: tuple[str, tuple[str, ...]], rematch: tuple[str, tuple[str, ...]]
) -> None:
    first, second = (game_text(scores, *lines, length="a 5 point") for scores, lines in (before, rematch))
    assert 2 == len(games_of(first + second))


def test_a_game_that_goes_on_below_the_score_after_the_game_before_it_belongs_to_the_match() -> None:
    text = game_text("1-0", *DROPPED) + game_text("1-0", *OTHER_DROPPED[:2])
    assert [[(0, 0), (1, 0)]] == games_of(text)


def test_lists_of_other_players_do_not_end_a_match() -> None:
    other = game_text("0-0", *DROPPED, o="carol")
    text = game_text("0-0", *DROPPED) + other + game_text("1-0", *OTHER_DROPPED)
    assert [[(0, 0), (1, 0)], [(0, 0)]] == games_of(text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("0-0", DROPPED), ("0-0", DROPPED)),
        (("0-0", DROPPED[:1]), ("0-0", DROPPED)),
        (("0-0", ()), ("0-0", DROPPED)),
        (("0-0", DROPPED[:4]), ("1-0", DROPPED)),
        (("1-0", DROPPED), ("0-0", DROPPED[:4])),
    ],
    ids=["again", "in its first turn", "before it", "the score after it", "the later list first"],
)
def test_a_game_is_counted_once_however_often_its_list_was_asked_for(
    first: tuple[str, tuple[str, ...]], second: tuple[str, tuple[str, ...]]
) -> None:
    text = "".join(game_text(scores, *lines) for scores, lines in (first, second))
    after = "2-0" if "1-0" in text else "1-0"
    (match,) = iter_oldmoves(text + game_text(after, *OTHER_DROPPED))
    assert [(0, 0), (1, 0)] == [game.start.scores for game in match.games]
    assert 6 == len(match.games[0].entries)
    (remark,) = match.remarks
    assert remark.endswith("again; it is counted once")


def test_matches_asked_for_again_after_others_are_counted_once() -> None:
    evening = game_text("0-0", *DROPPED, length="a 1 point") + game_text("0-0", *OTHER_DROPPED[:-1], length="a 1 point")
    assert [1, 1] == [len(games) for games in games_of(evening + evening)]


def test_short_games_with_the_same_rolls_are_two_if_their_scores_say_so() -> None:
    assert [[(0, 0), (1, 0)]] == games_of(game_text("0-0", *DROPPED) + game_text("1-0", *DROPPED))


def test_long_games_with_the_same_rolls_are_one_whatever_their_scores() -> None:
    first = write_oldmoves(simulate(18, 5)).split("\nScore is")[0]
    assert first.count("(") >= 8
    assert first.startswith("Score is 0-0 ")
    assert [[(0, 0)]] == games_of(first + first.replace("Score is 0-0", "Score is 1-0", 1))


def test_other_short_lists_of_a_rematch_are_no_repetition() -> None:
    """A first roll may come twice; only in the same match nobody asks for two lists that are equal."""
    text = game_text("0-0", *DROPPED[:1], "O: wins") + game_text("0-0", *OTHER_DROPPED) + game_text("0-0", *DROPPED[:1])
    assert 3 == len(games_of(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected `Score is 0-0 in a 3 point match.` and below it `A is X - B is O`, got ''"),
        (f"{HEAD}X: (4 1) 24-23 13-8\n", "line 4: game 1, turn 1: 13/8: a checker moves by a number that was rolled"),
        (
            f"{HEAD}X: (4 1) 24-23 somewhere\n",
            "line 4: expected moves such as 13-8, bar-20 or 6-off, got '24-23 somewh",
        ),
        (f"{HEAD}O: doubles\n", "line 4: game 1, turn 1: the opening roll comes first"),
        (game_text("3-1", length="a 3 point"), "line 1: expected scores from 0 to below the length of the match, got"),
    ],
)
def test_errors_are_one_line(text: str, told: str) -> None:
    with pytest.raises(FormatError) as error:
        read_oldmoves(text)
    assert str(error.value).startswith(told)


# -- GNU Backgammon ---------------------------------------------------------------------------------------------------


@requires_gnubg
def test_gnubg_reads_the_servers_own_numbers() -> None:
    for found in ask_gnubg("oldmoves", [OWN_NUMBERS, SERVER_NUMBERS]):
        assert_same(read_oldmoves(OWN_NUMBERS), found.match)
