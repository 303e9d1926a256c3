"""The scribe knows which match it is that is spoken of: strays, looks, breaks, other accounts, other matches."""

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
BEGUN = (
    "** You are now playing a 3 point match with ford",
    "Starting a new game with ford.",
    "You rolled 3, ford rolled 1",
)


def hear(scribe: Transcriber, *lines: str) -> list[MatchEvent]:
    """Let the server say lines."""
    return [it for line in lines for it in scribe.hear(parse(line))]


def transcripts(scribe: Transcriber) -> list[Transcript]:
    """Return all the matches of which nothing more comes."""
    return transcripts_in(scribe.close())


def entries(happenings: Iterable[MatchEvent]) -> list[object]:
    """Return what was written."""
    return [it.step.entry for it in happenings if isinstance(it, EntryAdded)]


def test_our_own_play_is_written_when_a_board_shows_that_it_was_made() -> None:
    scribe = Transcriber("marvin")
    assert [] == entries(hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING))
    assert [] == entries(scribe.say(parse_command("move 8-5 6-5")))
    (entry,) = entries(hear(scribe, AFTER_IT))
    assert isinstance(entry, Throw)
    assert (Seat.A, (3, 1), False) == (entry.seat, entry.dice, entry.rebuilt)


def test_a_play_that_was_refused_was_not_made() -> None:
    scribe = Transcriber("marvin")
    hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING)
    scribe.say(parse_command("move 24-21 24-23"))
    hear(scribe, "** You can't move from 24 in your first move.")
    scribe.say(parse_command("move 8-5 6-5"))
    (entry,) = entries(hear(scribe, AFTER_IT))
    assert isinstance(entry, Throw)
    assert "8/5 6/5" == " ".join(map(str, entry.play.moves if entry.play else ()))


def test_a_copy_of_an_old_board_begins_no_match() -> None:
    scribe = Transcriber("marvin")
    told = hear(
        scribe, *BEGUN, "It's your turn to move.", OWN_OPENING, "** You terminated the game. The game was saved."
    )
    assert 1 == sum(isinstance(it, MatchBegan) for it in told)
    assert [] == hear(scribe, OWN_OPENING.replace("ford", "zaphod"))
    assert 1 == len(transcripts(scribe))


def test_a_board_that_was_asked_for_does_show_a_match() -> None:
    scribe = Transcriber("marvin")
    hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING, "** You terminated the game. The game was saved.")
    scribe.say(c.ShowBoard())
    hear(scribe, OWN_OPENING.replace("ford", "zaphod"), "You roll 6 and 4.")
    assert ["ford", "zaphod"] == [it.players[1].name for it in transcripts(scribe)]


def test_a_board_of_the_last_game_does_not_begin_the_next_one() -> None:
    lines = MARVIN.split(b"\r\n")
    over = next(place for place, line in enumerate(lines) if line.startswith(b"score in"))
    old = next(line for line in reversed(lines[:over]) if line.startswith(b"board:"))
    with_copy = b"\r\n".join([*lines[: over + 1], old, *lines[over + 1 :]])
    assert match_facts(transcripts_in(events_of_bytes(MARVIN))[0]) == match_facts(
        transcripts_in(events_of_bytes(with_copy))[0]
    )


def test_somebody_elses_board_is_looked_at_without_leaving_our_match() -> None:
    scribe = Transcriber("marvin")
    hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING)
    hear(scribe, OWN_OPENING.replace("You", "zaphod").replace("ford", "arthur"))
    (entry,) = entries(hear(scribe, AFTER_IT))
    assert isinstance(entry, Throw)
    (transcript,) = transcripts(scribe)
    assert ("marvin", "ford") == tuple(player.name for player in transcript.players)


def test_who_switches_to_another_match_and_back_sees_two_matches_one_with_a_gap() -> None:
    lines = TRILLIAN.split(b"\r\n")
    boards = [place for place, line in enumerate(lines) if line.startswith(b"board:")]
    away, back = boards[10], boards[17]
    other = b"board:zaphod:arthur:5:" + START.encode() + b":1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
    switched = [b"You stop watching marvin.", b"You're now watching zaphod.", other, b"zaphod moves 8-5 6-5 ."]
    again = [b"You stop watching zaphod.", b"You're now watching marvin."]
    told = events_of_bytes(b"\r\n".join([*lines[:away], *switched, *again, *lines[back:]]))
    first, second = transcripts_in(told) if len(transcripts_in(told)) == 2 else (None, None)
    assert first is not None
    assert second is not None
    by_name = {it.players[0].name: it for it in (first, second)}
    assert 1 == len(by_name["zaphod"].games[0].entries)
    assert by_name["zaphod"].games[0].whole, "the opening throw lay on the board"
    gaps = [it for game in by_name["marvin"].games for it in game.entries if isinstance(it, Gap)]
    assert 1 == len(gaps)


def test_a_match_can_be_watched_from_one_side_and_then_from_the_other() -> None:
    """The seats stay: it is the same match."""
    marvin, ford = TRILLIAN.split(b"\r\n"), unpacked("three_points_arthur.txt").split(b"\r\n")
    moves = [place for place, line in enumerate(marvin) if b" moves " in line]
    line = marvin[moves[9]]
    other = ford.index(line)
    told = events_of_bytes(b"\r\n".join([*marvin[: moves[9]], b"You're now watching ford.", *ford[other:]]))
    (whole,) = transcripts_in(events_of_bytes(TRILLIAN))
    (switched,) = transcripts_in(told)
    assert match_facts(whole) == match_facts(switched)


def test_accounts_in_one_log_have_matches_of_their_own() -> None:
    both = MARVIN[: len(MARVIN) // 2] + b"\r\nlogin: \r\n" + unpacked("three_points_ford_typed.txt")
    users = [it.players[0].name for it in transcripts_in(events_of_bytes(both))]
    assert ["ford", "marvin"] == sorted(users)


def test_a_new_match_with_the_same_opponent_ends_the_one_that_was_saved() -> None:
    scribe = Transcriber("marvin")
    hear(
        scribe, *BEGUN, "It's your turn to move.", OWN_OPENING, "** Player ford has left the game. The game was saved."
    )
    told = hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING)
    assert 1 == len(transcripts_in(told))
    assert 1 == len(transcripts(scribe))


def test_a_match_that_went_on_elsewhere_has_a_gap() -> None:
    scribe = Transcriber("marvin")
    hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING)
    scribe.cut()
    later = "board:You:ford:3:0:0:0:-2:0:0:0:2:5:0:3:0:0:0:-3:3:0:0:0:-3:0:-7:0:0:0:0:2:0"
    hear(scribe, f"{later}:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0")
    (transcript,) = transcripts(scribe)
    (gap,) = transcript.games[0].entries
    assert isinstance(gap, Gap)
    assert "missing" in gap.reason
    assert "\n" not in gap.reason


def test_another_score_is_another_game_and_a_lower_one_another_match() -> None:
    scribe = Transcriber("marvin")
    hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING, AFTER_IT)
    later = AFTER_IT.replace(":3:0:0:", ":3:1:0:", 1)
    told = hear(scribe, later, "ford rolls 6 and 5.", "ford moves 1-7 7-12 .", AFTER_IT, "ford rolls 6 and 5.")
    games = [[game.start.scores for game in it.games] for it in [*transcripts_in(told), *transcripts(scribe)]]
    assert [[(0, 0), (1, 0)], [(0, 0)]] == games


def test_a_game_that_gave_way_to_the_next_before_its_end_was_seen_has_a_gap() -> None:
    scribe = Transcriber("marvin")
    hear(scribe, *BEGUN, "It's your turn to move.", OWN_OPENING, AFTER_IT)
    told = hear(scribe, AFTER_IT.replace(":3:0:0:", ":3:1:0:", 1))
    assert ["the end of the game is missing"] == [it.reason for it in entries(told) if isinstance(it, Gap)]
    hear(scribe, "ford rolls 6 and 5.", "ford moves 1-7 7-12 .")
    (transcript,) = transcripts(scribe)
    first, last = transcript.games
    assert (None, False) == (first.result, first.whole)
    assert not any(isinstance(it, Gap) for it in last.entries), "where a capture ends is no gap"


def test_our_name_is_learned_from_the_score_when_nothing_else_told_it() -> None:
    lines = MARVIN.split(b"\r\n")
    begun = next(place for place, line in enumerate(lines) if line.startswith(b"Starting a new game"))
    (transcript,) = transcripts_in(events_of_bytes(b"\r\n".join(lines[begun:])))
    assert ("marvin", "ford") == tuple(player.name for player in transcript.players)


def test_a_game_first_seen_in_the_middle_begins_there() -> None:
    scribe = Transcriber("marvin")
    hear(scribe, AFTER_IT, "ford rolls 6 and 5.", "ford moves 1-7 7-12 .")
    (transcript,) = transcripts(scribe)
    (game,) = transcript.games
    assert (Stage.ROLL, 1, False) == (game.start.stage, len(game.entries), game.whole)


def test_a_difference_tells_where_it_is() -> None:
    lines = MARVIN.split(b"\r\n")
    place = next(place for place, line in enumerate(lines) if line.startswith(b"ford moves"))
    lines[place] = lines[place].replace(b"ford moves", b"ford moved")
    data = b"\r\n".join(lines)
    told = events_of_bytes(data)
    differed = differences_in(told)[0]
    assert data[differed.offset :].startswith(b"board:")
    assert 1 == differed.match == differed.game
    assert {"position", "turn", "dice"} >= {it.what for it in differed.differences}
    rebuilt = [it for it in entries(told) if isinstance(it, Throw) and it.rebuilt]
    assert 1 == len(rebuilt)


def test_nothing_differs_in_what_is_not_a_match() -> None:
    scribe = Transcriber()
    reader = MessageReader()
    reader.receive_data(MARVIN[:400])
    while (received := reader.next_message()) is not None:
        told = scribe.hear(ReceivedMessage(None, received.message).message)
        assert not any(isinstance(it, DifferenceFound) for it in told)
    assert [] == scribe.close()
