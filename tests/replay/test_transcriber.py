"""The transcriber assigns messages to matches: stray boards, `look`, interruptions, accounts, watched matches."""

from __future__ import annotations

from collections.abc import Iterable

from fibs_protocol import commands as c
from fibs_protocol.grammar import parse, parse_command
from fibs_protocol.stream import MessageReader
from fibsbot.replay.captures import ReceivedMessage
from fibsbot.replay.events import DifferenceFound, EntryAdded, MatchBegan, MatchEvent
from fibsbot.replay.transcriber import Transcriber
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Gap, Throw, Transcript
from tests.replay.transcript_helpers import differences_in, events_of_bytes, match_facts, transcripts_in, unpacked

TRILLIAN = unpacked("three_points_trillian.txt")
MARVIN = unpacked("three_points_marvin.txt")
START = "0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
OWN_OPENING = f"board:You:ford:3:{START}:1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
AFTER = "board:You:ford:3:0:0:0:-2:0:0:0:2:4:0:2:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
AFTER_IT = f"{AFTER}:-1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
STARTED = (
    "** You are now playing a 3 point match with ford",
    "Starting a new game with ford.",
    "You rolled 3, ford rolled 1",
)


def receive(transcriber: Transcriber, *lines: str) -> list[MatchEvent]:
    """Pass lines of the server and return the events."""
    return [it for line in lines for it in transcriber.receive(parse(line))]


def transcripts(transcriber: Transcriber) -> list[Transcript]:
    """Finish all matches and return them."""
    return transcripts_in(transcriber.close())


def entries(events: Iterable[MatchEvent]) -> list[object]:
    """Return the entries that were added."""
    return [it.step.entry for it in events if isinstance(it, EntryAdded)]


def test_the_users_play_is_added_when_a_board_confirms_it() -> None:
    transcriber = Transcriber("marvin")
    assert [] == entries(receive(transcriber, *STARTED, "It's your turn to move.", OWN_OPENING))
    assert [] == entries(transcriber.send(parse_command("move 8-5 6-5")))
    (entry,) = entries(receive(transcriber, AFTER_IT))
    assert isinstance(entry, Throw)
    assert (Seat.A, (3, 1), False) == (entry.seat, entry.dice, entry.rebuilt)


def test_a_refused_play_is_not_added() -> None:
    transcriber = Transcriber("marvin")
    receive(transcriber, *STARTED, "It's your turn to move.", OWN_OPENING)
    transcriber.send(parse_command("move 24-21 24-23"))
    receive(transcriber, "** You can't move from 24 in your first move.")
    transcriber.send(parse_command("move 8-5 6-5"))
    (entry,) = entries(receive(transcriber, AFTER_IT))
    assert isinstance(entry, Throw)
    assert "8/5 6/5" == " ".join(map(str, entry.play.moves if entry.play else ()))


def test_a_copy_of_an_old_board_starts_no_match() -> None:
    transcriber = Transcriber("marvin")
    events = receive(
        transcriber, *STARTED, "It's your turn to move.", OWN_OPENING, "** You terminated the game. The game was saved."
    )
    assert 1 == sum(isinstance(it, MatchBegan) for it in events)
    assert [] == receive(transcriber, OWN_OPENING.replace("ford", "zaphod"))
    assert 1 == len(transcripts(transcriber))


def test_a_requested_board_starts_a_match() -> None:
    transcriber = Transcriber("marvin")
    receive(
        transcriber, *STARTED, "It's your turn to move.", OWN_OPENING, "** You terminated the game. The game was saved."
    )
    transcriber.send(c.ShowBoard())
    receive(transcriber, OWN_OPENING.replace("ford", "zaphod"), "You roll 6 and 4.")
    assert ["ford", "zaphod"] == [it.players[1].name for it in transcripts(transcriber)]


def test_a_copy_of_the_last_games_board_does_not_start_the_next_game() -> None:
    lines = MARVIN.split(b"\r\n")
    over = next(place for place, line in enumerate(lines) if line.startswith(b"score in"))
    old = next(line for line in reversed(lines[:over]) if line.startswith(b"board:"))
    with_copy = b"\r\n".join([*lines[: over + 1], old, *lines[over + 1 :]])
    assert match_facts(transcripts_in(events_of_bytes(MARVIN))[0]) == match_facts(
        transcripts_in(events_of_bytes(with_copy))[0]
    )


def test_looking_at_another_match_does_not_leave_the_users_match() -> None:
    transcriber = Transcriber("marvin")
    receive(transcriber, *STARTED, "It's your turn to move.", OWN_OPENING)
    receive(transcriber, OWN_OPENING.replace("You", "zaphod").replace("ford", "arthur"))
    (entry,) = entries(receive(transcriber, AFTER_IT))
    assert isinstance(entry, Throw)
    (transcript,) = transcripts(transcriber)
    assert ("marvin", "ford") == tuple(player.name for player in transcript.players)


def test_watching_another_match_in_between_leaves_a_gap_in_the_first() -> None:
    lines = TRILLIAN.split(b"\r\n")
    boards = [place for place, line in enumerate(lines) if line.startswith(b"board:")]
    away, back = boards[10], boards[17]
    other = b"board:zaphod:arthur:5:" + START.encode() + b":1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
    switched = [b"You stop watching marvin.", b"You're now watching zaphod.", other, b"zaphod moves 8-5 6-5 ."]
    again = [b"You stop watching zaphod.", b"You're now watching marvin."]
    events = events_of_bytes(b"\r\n".join([*lines[:away], *switched, *again, *lines[back:]]))
    first, second = transcripts_in(events) if len(transcripts_in(events)) == 2 else (None, None)
    assert first is not None
    assert second is not None
    by_name = {it.players[0].name: it for it in (first, second)}
    assert 1 == len(by_name["zaphod"].games[0].entries)
    assert by_name["zaphod"].games[0].whole, "the opening roll was on the board"
    gaps = [it for game in by_name["marvin"].games for it in game.entries if isinstance(it, Gap)]
    assert 1 == len(gaps)


def test_a_match_can_be_watched_from_one_side_and_then_from_the_other() -> None:
    """The seats stay: it is the same match."""
    marvin, ford = TRILLIAN.split(b"\r\n"), unpacked("three_points_arthur.txt").split(b"\r\n")
    moves = [place for place, line in enumerate(marvin) if b" moves " in line]
    line = marvin[moves[9]]
    other = ford.index(line)
    events = events_of_bytes(b"\r\n".join([*marvin[: moves[9]], b"You're now watching ford.", *ford[other:]]))
    (whole,) = transcripts_in(events_of_bytes(TRILLIAN))
    (switched,) = transcripts_in(events)
    assert match_facts(whole) == match_facts(switched)


def test_the_matches_of_two_accounts_in_one_log_are_kept_apart() -> None:
    both = MARVIN[: len(MARVIN) // 2] + b"\r\nlogin: \r\n" + unpacked("three_points_ford_typed.txt")
    users = [it.players[0].name for it in transcripts_in(events_of_bytes(both))]
    assert ["ford", "marvin"] == sorted(users)


def test_a_new_match_with_the_same_opponent_ends_the_one_that_was_saved() -> None:
    transcriber = Transcriber("marvin")
    receive(
        transcriber,
        *STARTED,
        "It's your turn to move.",
        OWN_OPENING,
        "** Player ford has left the game. The game was saved.",
    )
    events = receive(transcriber, *STARTED, "It's your turn to move.", OWN_OPENING)
    assert 1 == len(transcripts_in(events))
    assert 1 == len(transcripts(transcriber))


def test_a_match_continued_in_another_session_has_a_gap() -> None:
    transcriber = Transcriber("marvin")
    receive(transcriber, *STARTED, "It's your turn to move.", OWN_OPENING)
    transcriber.disconnect()
    later = "board:You:ford:3:0:0:0:-2:0:0:0:2:5:0:3:0:0:0:-3:3:0:0:0:-3:0:-7:0:0:0:0:2:0"
    receive(transcriber, f"{later}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0")
    (transcript,) = transcripts(transcriber)
    (gap,) = transcript.games[0].entries
    assert isinstance(gap, Gap)
    assert "missing" in gap.reason
    assert "\n" not in gap.reason


def test_a_higher_score_starts_a_game_and_a_lower_one_a_match() -> None:
    transcriber = Transcriber("marvin")
    receive(transcriber, *STARTED, "It's your turn to move.", OWN_OPENING, AFTER_IT)
    later = AFTER_IT.replace(":3:0:0:", ":3:1:0:", 1)
    events = receive(
        transcriber, later, "ford rolls 6 and 5.", "ford moves 1-7 7-12 .", AFTER_IT, "ford rolls 6 and 5."
    )
    games = [[game.start.scores for game in it.games] for it in [*transcripts_in(events), *transcripts(transcriber)]]
    assert [[(0, 0), (1, 0)], [(0, 0)]] == games


def test_a_game_whose_end_was_not_seen_has_a_gap_there() -> None:
    transcriber = Transcriber("marvin")
    receive(transcriber, *STARTED, "It's your turn to move.", OWN_OPENING, AFTER_IT)
    events = receive(transcriber, AFTER_IT.replace(":3:0:0:", ":3:1:0:", 1))
    assert ["the end of the game is missing"] == [it.reason for it in entries(events) if isinstance(it, Gap)]
    receive(transcriber, "ford rolls 6 and 5.", "ford moves 1-7 7-12 .")
    (transcript,) = transcripts(transcriber)
    first, last = transcript.games
    assert (None, False) == (first.result, first.whole)
    assert not any(isinstance(it, Gap) for it in last.entries), "where a capture ends is no gap"


def test_the_score_reveals_the_users_name_if_nothing_else_does() -> None:
    lines = MARVIN.split(b"\r\n")
    begun = next(place for place, line in enumerate(lines) if line.startswith(b"Starting a new game"))
    (transcript,) = transcripts_in(events_of_bytes(b"\r\n".join(lines[begun:])))
    assert ("marvin", "ford") == tuple(player.name for player in transcript.players)


def test_a_game_first_seen_in_the_middle_starts_there() -> None:
    transcriber = Transcriber("marvin")
    receive(transcriber, AFTER_IT, "ford rolls 6 and 5.", "ford moves 1-7 7-12 .")
    (transcript,) = transcripts(transcriber)
    (game,) = transcript.games
    assert (Stage.ROLL, 1, False) == (game.start.stage, len(game.entries), game.whole)


def test_a_difference_has_the_place_of_its_line() -> None:
    lines = MARVIN.split(b"\r\n")
    place = next(place for place, line in enumerate(lines) if line.startswith(b"ford moves"))
    lines[place] = lines[place].replace(b"ford moves", b"ford moved")
    data = b"\r\n".join(lines)
    events = events_of_bytes(data)
    differed = differences_in(events)[0]
    assert data[differed.offset :].startswith(b"board:")
    assert 1 == differed.match == differed.game
    assert {"position", "turn", "dice"} >= {it.what for it in differed.differences}
    rebuilt = [it for it in entries(events) if isinstance(it, Throw) and it.rebuilt]
    assert 1 == len(rebuilt)


def test_messages_outside_a_match_cause_no_differences() -> None:
    transcriber = Transcriber()
    reader = MessageReader()
    reader.receive_data(MARVIN[:400])
    while (received := reader.next_message()) is not None:
        events = transcriber.receive(ReceivedMessage(None, received.message).message)
        assert not any(isinstance(it, DifferenceFound) for it in events)
    assert [] == transcriber.close()
