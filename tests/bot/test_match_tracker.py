"""MatchTracker: games are tracked by messages alone, and differences from the boards are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import asdict, evolve

from fibs_protocol import messages as m
from fibs_protocol.grammar import parse
from fibs_protocol.messages import Message
from fibs_protocol.stream import MessageReader
from fibs_protocol.words import YOU
from fibsbot.bot.match_tracker import apply_message
from fibsbot.bot.tracked_match import Difference, PlayerSide, TrackedMatch, without_match
from fibsbot.match import Owner, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from tests.bot.agent_script import AFTER_61, PROMPT, START_CELLS, after, board

WATCHED = Path(__file__).parents[1] / "data" / "protocol" / "session_watch.txt"


def messages(data: bytes) -> list[Message]:
    reader = MessageReader()
    reader.receive_data(data)
    reader.receive_data(b"")
    found = []
    while (received := reader.next_message()) is not None:
        found.append(received.message)
    return found


def tracked(*lines: str, track: TrackedMatch | None = None) -> TrackedMatch:
    track = track or TrackedMatch(user="marvin")
    for line in lines:
        track = apply_message(track, parse(line))
    return track


STARTED = (
    "** You are now playing a 5 point match with ford",
    "Starting a new game with ford.",
    "You rolled 1, ford rolled 6",
    "ford makes the first move.",
)


def test_a_new_track_knows_nothing_but_its_user() -> None:
    known = {name: value for name, value in asdict(TrackedMatch(user="marvin"), recurse=False).items() if value}
    assert {"user": "marvin", "player": YOU} == known


def test_a_decision_contains_a_resignation_only_where_one_is_offered() -> None:
    track = tracked(*STARTED, board(turn=-1, other_dice="6:1"))
    offered = tracked("ford wants to resign. You will win 2 points. Type 'accept' or 'reject'.", track=track)
    assert [0, 2] == [track.decision_state(Phase.ROLL).resignation, offered.decision_state(Phase.RESIGNED).resignation]


def test_a_match_watched_on_fibs_has_no_differences() -> None:
    """59 boards of a real session, each as expected from the messages before it."""
    track = TrackedMatch(user="player_cr")
    boards = 0
    for message in messages(WATCHED.read_bytes()):
        track = apply_message(track, message)
        boards += isinstance(message, m.Board)
        assert () == track.differences
    assert 59 == boards
    assert ("SomeBot_39", "player_am", 4) == (track.player, track.opponent, track.state.cube if track.state else 0)


def test_the_same_match_is_tracked_without_most_of_its_boards() -> None:
    whole = thinned = TrackedMatch(user="player_cr")
    boards = 0
    for message in messages(WATCHED.read_bytes()):
        whole = apply_message(whole, message)
        if isinstance(message, m.Board):
            boards += 1
            if boards % 20 != 1:
                continue
        thinned = apply_message(thinned, message)
        assert () == thinned.differences
    assert whole.state == thinned.state
    assert whole.turn is thinned.turn


def test_a_lost_play_shows_at_the_next_board() -> None:
    said = messages(WATCHED.read_bytes())
    for lost in (i for i, message in enumerate(said) if isinstance(message, m.Moves)):
        track, missed = TrackedMatch(user="player_cr"), 0
        for i, message in enumerate(said):
            if i != lost:
                track = apply_message(track, message)
                missed += len(track.differences)
        assert 0 < missed


def test_a_game_is_known_before_its_first_board() -> None:
    track = tracked(*STARTED)
    assert (PlayerSide.OPPONENT, (6, 1), None) == (track.turn, track.dice, track.direction)
    assert track.state is not None
    assert (5, (0, 0)) == (track.state.length, track.state.score)


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"opponent": "trillian"}, "opponent"),
        ({"length": 7}, "length"),
        ({"score": "1:0"}, "score"),
        ({"cells": AFTER_61}, "position"),
        ({"turn": 1}, "turn"),
        ({"other_dice": "6:2"}, "dice"),
        ({"cube": 2}, "cube"),
        ({"may": "0:1"}, "owner"),
    ],
)
def test_each_part_of_a_board_is_compared(wrong: dict[str, object], what: str) -> None:
    fields: dict[str, object] = {"turn": -1, "other_dice": "6:1", **wrong}
    track = tracked(*STARTED, board(**fields))  # type: ignore[arg-type]  # keywords of board
    assert what in {difference.what for difference in track.differences}
    again = tracked(board(**fields), track=track)  # type: ignore[arg-type]  # keywords of board
    assert () == again.differences, "the board was taken over"


def test_the_order_of_the_dice_on_a_board_is_ignored() -> None:
    for dice in ("6:1", "1:6"):
        assert () == tracked(*STARTED, board(turn=-1, other_dice=dice)).differences


def test_a_board_that_still_shows_an_answered_double_is_read_as_one_that_does_not() -> None:
    """There are servers that leave the flag set for the rest of the game."""
    start = tracked(*STARTED, board(turn=-1, other_dice="6:1"))
    for lines in ((), ("ford moves 17-23 19-20 .", PROMPT)):
        fields: dict[str, object] = {"cells": AFTER_61, "turn": 1} if lines else {"turn": -1, "other_dice": "6:1"}
        seen = [tracked(*lines, board(**fields, doubled=flag), track=start) for flag in (0, 1)]  # type: ignore[arg-type]  # keywords of board
        assert seen[0] == seen[1]


def test_a_board_after_our_own_play_is_recognised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """This is what makes most boards cheap: no state is made of them."""
    track = tracked(*STARTED, board(turn=-1, other_dice="6:1"), "ford moves 17-23 19-20 .", board(cells=AFTER_61))
    played = legal_plays(track.state.position, (6, 4))[0] if track.state else Play()
    track = evolve(tracked("You roll 6 and 4.", board(cells=AFTER_61, dice="6:4"), track=track), own_play=played)
    monkeypatch.setattr("fibsbot.bot.board_comparison.match_state", None)
    seen = tracked(board(cells=after(AFTER_61, played), turn=-1), track=track)
    assert (PlayerSide.OPPONENT, True, ()) == (seen.turn, seen.board_seen, seen.differences)


def test_the_prompt_to_roll_begins_a_turn_whatever_was_lost() -> None:
    theirs = tracked(*STARTED, board(turn=-1))
    assert (PlayerSide.OPPONENT, None) == (theirs.turn, theirs.dice)
    ours = tracked(*STARTED, board(dice="6:4"))
    assert (PlayerSide.PLAYER, (6, 4)) == (ours.turn, ours.dice)
    for track in (theirs, ours):
        prompted = tracked(PROMPT, track=track)
        assert (PlayerSide.PLAYER, None, True) == (prompted.turn, prompted.dice, prompted.roll_prompted)


def test_a_game_that_goes_on_without_a_beginning_is_a_difference_only_in_a_known_match() -> None:
    assert () == tracked(PROMPT).differences
    assert (Difference("game", "none", "running"),) == tracked(STARTED[0], PROMPT).differences


def test_the_direction_may_change_with_the_game_but_not_within_it() -> None:
    start = tracked(*STARTED, board(turn=-1, other_dice="6:1"))
    turned = board(turn=1, other_dice="6:1", colour=-1, direction=1)
    assert "direction" in {difference.what for difference in tracked(turned, track=start).differences}
    next_game = ("ford wins the game and gets 1 point. Sorry.", "Starting a new game with ford.")
    after = tracked(*next_game, board(score="0:1", turn=1, colour=1, direction=-1), track=start)
    assert () == after.differences


def test_a_score_that_does_not_add_up_is_a_difference() -> None:
    track = tracked(*STARTED, "ford wins the game and gets 2 points. Sorry.", "score in 5 point match: marvin-0 ford-1")
    assert (Difference("score", (0, 2), (0, 1)),) == track.differences
    assert (
        ()
        == tracked(*STARTED, "You give up. ford wins 1 point.", "score in 5 point match: ford-1 marvin-0").differences
    )


@pytest.mark.parametrize("moves", ["2-8 2-3", "2-3 3-9", "17-18 17-24"])
def test_an_impossible_play_is_a_difference_and_the_next_board_is_adopted(moves: str) -> None:
    """From an empty point, or to a point that the player holds."""
    track = tracked(*STARTED, board(turn=-1, other_dice="6:1"), f"ford moves {moves} .")
    assert ["moves"] == [difference.what for difference in track.differences]
    assert track.state is None
    track = tracked(board(cells=AFTER_61), track=track)
    assert () == track.differences
    assert track.state is not None


def test_messages_about_other_players_are_ignored() -> None:
    track = tracked(*STARTED, board(turn=-1, other_dice="6:1"))
    for line in (
        "trillian rolls 3 and 1.",
        "trillian can't move.",
        "trillian moves 17-23 19-20 .",
        "trillian wins the game and gets 1 point.",
        "trillian doubles.",
        board(player="trillian", opponent="zaphod"),
    ):
        assert track == tracked(line, track=track)


def test_bearing_off_by_itself_waits_for_the_board() -> None:
    home = "0:3:3:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-3:-3:0"
    track = tracked(*STARTED, board(turn=-1, cells=home), "ford rolls 2 and 1.", "Bearing off: 23 o 24 o")
    assert track.state is None
    track = tracked("ford moves 23-off 24-off .", board(cells=home.replace("-3:-3", "-2:-2")), track=track)
    assert () == track.differences


def test_the_only_possible_move_is_that_of_the_side_on_turn() -> None:
    track = tracked(*STARTED, board(turn=-1, other_dice="6:1"), "The only possible move is 17-23 19-20 .")
    assert () == tracked(board(cells=AFTER_61), track=track).differences


def test_the_opponents_redouble_while_watching() -> None:
    track = tracked("You're now watching trillian.", board(player="trillian", length=9999, cells=AFTER_61))
    track = tracked("trillian doubles.", "ford redoubles.", "trillian accepts the redouble.", track=track)
    assert track.state is not None
    assert (4, Owner.OPPONENT) == (track.state.cube, track.state.owner), "who beavers keeps the cube"


@pytest.mark.parametrize(("redoubles", "cube"), [(0, 2), (1, 4), (2, 8), (3, 16)])
def test_each_redouble_while_watching_doubles_the_cube(redoubles: int, cube: int) -> None:
    players = ("trillian", "ford", "trillian", "ford", "trillian")
    track = tracked("You're now watching trillian.", board(player="trillian", length=9999, cells=AFTER_61))
    track = tracked("trillian doubles.", *(f"{name} redoubles." for name in players[1 : redoubles + 1]), track=track)
    assert cube == track.offered_cube


def test_a_tracker_that_was_reset_still_counts_matches() -> None:
    track = without_match(tracked(*STARTED))
    assert (1, None, None) == (track.match, track.opponent, track.state)
    with pytest.raises(ValueError, match="known"):
        track.decision_state(Phase.ROLL)
    assert 2 == tracked("ford has joined you. Your running match was loaded.", track=track).match


def test_cells_of_the_opening_are_the_specifications() -> None:
    track = tracked(*STARTED, board(turn=-1, other_dice="6:1", cells=START_CELLS))
    assert track.state is not None
    assert Position.start() == track.state.position


# -- servers that send a board before the message that explains it ----------------------------------------------------

THROWN = (*STARTED, board(turn=-1, other_dice="6:1"))
SHOWN = board(cells=AFTER_61)


def test_a_board_before_the_line_with_its_play_is_not_a_difference() -> None:
    track = tracked(*THROWN, SHOWN)
    assert ((), PlayerSide.PLAYER) == (track.differences, track.turn)
    assert track == tracked(SHOWN, track=track), "the same board again"
    after = tracked("ford moves 17-23 19-20 .", track=track)
    assert ((), PlayerSide.PLAYER, None) == (after.differences, after.turn, after.early_board)
    assert track.state == after.state


@pytest.mark.parametrize(
    "line", ["You roll 6 and 4.", PROMPT, "ford moves 12-18 17-18 .", board(cells=AFTER_61, dice="6:4")]
)
def test_a_play_that_only_a_board_shows_is_a_difference_once_another_line_comes(line: str) -> None:
    track = tracked(*THROWN, SHOWN, line)
    assert {"position", "turn", "dice"} <= {difference.what for difference in track.differences}
    assert track.early_board is None


def test_a_game_announced_after_its_first_board_is_not_started_twice() -> None:
    won = ("ford moves 17-23 19-20 .", "ford wins the game and gets 1 point. Sorry.", *STARTED[2:])
    first = board(score="0:1", turn=-1, other_dice="6:1")
    track = tracked(*THROWN, *won, first)
    assert ((), 2, True) == (track.differences, track.game, track.running)
    late = tracked("Starting a new game with ford.", track=track)
    assert (2, track.turn, track.dice, track.state) == (late.game, late.turn, late.dice, late.state)
    again = tracked("ford moves 17-23 19-20 .", "Starting a new game with ford.", track=late)
    assert (3, None) == (again.game, again.turn), "later it is the next game"


def test_the_same_in_a_match_that_began_with_a_board_alone() -> None:
    won = ("ford moves 17-23 19-20 .", "ford wins the game and gets 1 point. Sorry.")
    first = (*STARTED[2:], board(score="0:1", turn=-1, other_dice="6:1"), "Starting a new game with ford.")
    track = tracked(board(turn=-1, other_dice="6:1"), *won, *first)  # JIBS: no line before the board
    assert ((), True, PlayerSide.OPPONENT, (6, 1)) == (track.differences, track.running, track.turn, track.dice)
    assert () == tracked("ford moves 17-23 19-20 .", board(score="0:1", cells=AFTER_61), track=track).differences


def test_a_won_match_is_not_continued_by_the_next_game() -> None:
    track = tracked(*THROWN, "ford wins the game and gets 5 points. Sorry.", "ford wins the 5 point match 5-0 .")
    track = tracked(
        "Starting a new game with ford.", *STARTED[2:], board(length=3, turn=-1, other_dice="6:1"), track=track
    )
    assert ((), 2, 1) == (track.differences, track.match, track.game)


def test_a_match_of_one_point_is_won_by_one_game() -> None:
    start = "** You are now playing a 1 point match with ford"
    track = tracked(start, *THROWN[1:3], board(length=1, turn=-1, other_dice="6:1"))
    track = tracked("ford wins the game and gets 1 point. Sorry.", "Starting a new game with ford.", track=track)
    assert (2, 1) == (track.match, track.game)


def test_the_play_that_wins_the_game_is_made_although_no_board_follows() -> None:
    cells = "0:1" + 18 * ":0" + ":-2:0:0:0:0:0"
    track = tracked(*STARTED, board(cells=cells, dice="2:1"))
    track = evolve(track, own_play=Play.of((1, 0)))
    won = tracked("You win the game and get 1 point. Congratulations!", track=track)
    assert won.state is not None
    assert (15, 13) == (won.state.position.off, won.state.position.opponent_off)
    resigned = tracked("ford gives up. You win 1 point.", track=track)
    assert resigned.state is not None
    assert 14 == resigned.state.position.off, "nothing was played"


def test_a_missing_name_is_that_of_the_opponent() -> None:
    """BaldLies, if both players join at once."""
    nameless = tuple(line.replace("ford", "") for line in STARTED[1:])
    assert tracked(*STARTED) == tracked(STARTED[0], *nameless)
    given_up = tracked(*THROWN, "You give up.  wins 1 point.")
    assert (False, (0, 1)) == (given_up.running, given_up.state.score if given_up.state else None)


# -- boards that were on their way when the play after them was said --------------------------------------------------

RESUMED = "ford has joined you. Your running match was loaded."
OLDER = board(turn=-1, other_dice="6:1")
PLAYED = "ford moves 17-23 19-20 ."


def test_the_first_board_of_a_resumed_match_may_be_older_than_the_play_before_it() -> None:
    """BaldLies: the board that we ask for waits in a queue while the opponent plays."""
    track = tracked(RESUMED, PLAYED, OLDER)
    shown = tracked(RESUMED, SHOWN)
    assert track.state is not None
    assert shown.state is not None
    assert ((), PlayerSide.PLAYER, None) == (track.differences, track.turn, track.dice)
    assert shown.state.position == track.state.position
    for line in (SHOWN, OLDER, PROMPT, SHOWN):
        track = tracked(line, track=track)
        assert ((), PlayerSide.PLAYER) == (track.differences, track.turn), line
    assert shown.state == track.state


def test_a_copy_of_the_board_before_the_last_play_shows_nothing_new() -> None:
    track = tracked(*THROWN, PLAYED, SHOWN)
    assert track == tracked(OLDER, track=track)
    assert () == tracked(OLDER, PROMPT, "You roll 6 and 4.", track=track).differences


@pytest.mark.parametrize("other", [board(turn=-1, other_dice="5:3"), board(turn=-1, other_dice="6:6"), board(turn=-1)])
def test_a_board_from_which_the_play_is_not_possible_is_taken_as_it_is(other: str) -> None:
    track = tracked(RESUMED, PLAYED, other)
    assert PlayerSide.OPPONENT is track.turn
    assert track.state == tracked(RESUMED, other).state


def test_a_board_with_another_score_or_cube_is_not_a_copy() -> None:
    track = tracked(*THROWN, PLAYED, SHOWN)
    for other in (board(turn=-1, other_dice="6:1", score="1:0"), board(turn=-1, other_dice="6:1", cube=2, may="0:1")):
        assert PlayerSide.OPPONENT is tracked(other, track=track).turn


# -- a server that contradicts itself about the points of a game ------------------------------------------------------

CUBE_AT_2 = board(cells=AFTER_61, cube=2, may="1:0")
OFFER = "You want to resign. ford will win 2 points."


@pytest.mark.parametrize(
    ("lines", "disputed"),
    [
        ((OFFER, "ford accepts and wins 2 points."), False),
        ((OFFER, "ford accepts and wins 1 point."), True),
        ((OFFER, "ford accepts and wins 1 point.", "score in 5 point match: marvin-0 ford-2"), False),
        ((OFFER, "ford accepts and wins 1 point.", "score in 5 point match: marvin-0 ford-1"), True),
        ((OFFER, "ford accepts and wins 2 points.", "score in 5 point match: marvin-2 ford-0"), True),
        (("ford wants to resign. You will win 2 points.", "You accept and win 1 point."), True),
        (("ford accepts and wins 1 point.",), False),  # the line with the offer was lost
        (("You double. Please wait for ford to accept or reject.", "ford gives up. You win 2 points."), False),
        (("You double. Please wait for ford to accept or reject.", "You give up. ford wins 2 points."), True),
        (("You double. Please wait for ford to accept or reject.", "ford gives up. You win 1 point."), True),
        (("ford gives up. You win 1 point.",), False),
        (("ford wins the game and gets 1 point. Sorry.",), False),  # the last play was lost
    ],
)
def test_points_other_than_those_announced_are_disputed(lines: tuple[str, ...], disputed: bool) -> None:  # noqa: FBT001
    track = tracked(*THROWN, PLAYED, CUBE_AT_2, *lines)
    assert disputed is track.score_disputed
    assert not tracked("Starting a new game with ford.", track=track).score_disputed


@pytest.mark.parametrize(
    ("end", "disputed"),
    [
        ("You win the game and get 2 points. Congratulations!", False),
        ("You win the game and get 4 points. Congratulations!", False),
        ("You win the game and get 1 point. Congratulations!", True),
        ("ford wins the game and gets 2 points. Sorry.", True),
    ],
)
def test_a_game_is_won_by_the_side_that_has_borne_off_for_a_multiple_of_the_cube(end: str, disputed: bool) -> None:  # noqa: FBT001
    cells = "0:1" + 18 * ":0" + ":-2:0:0:0:0:0"
    track = tracked(*STARTED, board(cells=cells, dice="2:1", cube=2, may="1:0"))
    assert disputed is tracked(end, track=evolve(track, own_play=Play.of((1, 0)))).score_disputed
