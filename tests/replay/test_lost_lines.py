"""Any single line may be missing: something is rebuilt, or there is a gap, or nothing has changed; no play is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fibs_protocol.grammar import parse
from fibsbot.replay.captures import read_parts
from fibsbot.replay.transcriber import events_of_capture
from fibsbot.transcript import Gap, Transcript
from tests.examples import examples
from tests.replay.transcript_helpers import (
    CAPTURES,
    entry_facts,
    events_of_bytes,
    position_of_seat_a,
    steps_of,
    transcripts_in,
    unpacked,
)

pytestmark = pytest.mark.slow

IDLE = {
    "who_info",
    "who_end",
    "motd_line",
    "motd_start",
    "motd_end",
    "unknown",
    "logged_in",
    "logged_out",
    "server_time",
}
"""Lines that tell nothing of a game."""
FULL = ("three_points_marvin.txt", "unlimited_arthur.txt", "interrupted_ford_typed.txt")
EARLY = 0.35
"""The share of a session that is read where an early line is lost."""
SHOWN = 80
"""Lines, some ten turns, within which it shows what a lost one leads to."""
SWAPS = ((b"1", b"2"), (b"-1", b"1"), (b"You", b"ford"), (b"marvin", b"ford"), (b":0", b":1"))
"""What an enemy writes for what."""


def without(lines: list[bytes], place: int) -> bytes:
    """Return a capture that lacks one line."""
    return b"\n".join(lines[:place] + lines[place + 1 :])


def told(data: bytes) -> list[Transcript]:
    """Return the matches of a capture."""
    return transcripts_in(events_of_capture(read_parts([[data]])))


def steps(transcripts: list[Transcript]) -> Iterator[tuple[tuple[object, ...], bool, bool]]:
    """Yield what happened and where it led, whether it was rebuilt, whether it is a gap."""
    for game, step in steps_of(transcripts):
        what = (game.start.scores, entry_facts(step.entry), position_of_seat_a(step).points)
        yield what, step.entry.rebuilt, isinstance(step.entry, Gap)


def check(truth: list[Transcript], expected: list[tuple[object, ...]], got: list[Transcript]) -> str:
    """Hold a match with a line missing against the whole and its steps; return what became of it."""
    place, outcome = 0, Counter[str]()
    for what, rebuilt, gap in steps(got):
        if gap:
            outcome["gap"] += 1
            continue
        assert what in expected[place:], "an entry that did not happen there"
        later = expected.index(what, place)
        assert later == place or outcome["gap"], "something is missing without a gap"
        place = later + 1
        outcome["rebuilt"] += rebuilt
    assert place == len(expected) or outcome["gap"]
    results = [[(game.start.scores, game.result) for game in one.games] for one in (truth[0], got[0])]
    assert len(got) == len(truth)
    if not outcome["gap"]:
        assert results[0] == results[1]
    return "gap" if outcome["gap"] else "rebuilt" if outcome["rebuilt"] else "unchanged"


def outcomes(name: str, *, first: int, every: int) -> Counter[tuple[str, str]]:
    """Lose one line after the other, the first of each kind and some later ones; count what became of each kind.

    What a line early in the session leads to shows long before the end; nothing after `EARLY` is read for it.
    """
    lines = unpacked(name).replace(b"\r\n", b"\n").split(b"\n")
    sessions = []
    for part in (lines[: int(len(lines) * EARLY)], lines):
        truth = told(b"\n".join(part))
        sessions.append((part, truth, [what for what, _, _ in steps(truth)]))
    beginning, whole = sessions
    tally: Counter[tuple[str, str]] = Counter()
    seen: Counter[str] = Counter()
    for place, line in enumerate(lines):
        kind = parse(line.decode("ascii", "replace")).kind()
        seen[kind] += 1
        if line.strip() and kind not in IDLE and (seen[kind] <= first or not seen[kind] % every):
            part, truth, expected = beginning if place + SHOWN < len(beginning[0]) else whole
            tally[kind, check(truth, expected, told(without(part, place)))] += 1
    return tally


@pytest.mark.parametrize("name", FULL)
def test_one_lost_line_makes_no_play_wrong(name: str) -> None:
    tally = outcomes(name, first=1, every=40)
    assert sum(count for (_, outcome), count in tally.items() if outcome == "rebuilt")
    assert not tally["board", "gap"]
    assert not tally["moves", "gap"]


def test_one_lost_line_of_each_kind_is_reconstructed() -> None:
    tally = outcomes("three_points_trillian.txt", first=2, every=40)
    kinds = {kind: outcome for kind, outcome in tally if outcome != "unchanged"}
    rebuilt = {"moves", "watched_double", "double_accepted", "gave_up", "resign_offer", "resign_accepted"}
    assert rebuilt == {kind for kind, outcome in kinds.items() if outcome == "rebuilt"}
    assert set() == {kind for kind, outcome in kinds.items() if outcome == "gap"}


@given(data=st.data())
@settings(examples(15), deadline=None)
def test_several_lost_lines_make_no_game_illegal(data: st.DataObject) -> None:
    lines = unpacked("three_points_marvin.txt").split(b"\r\n")
    begin = data.draw(st.integers(0, len(lines) - 120))
    lost = data.draw(st.sets(st.integers(begin, begin + 119), max_size=25))
    kept = [line for place, line in enumerate(lines[begin : begin + 120], begin) if place not in lost]
    list(steps(told(b"\r\n".join([b"You roll 6 and 4.", *kept]))))


@given(data=st.data())
@settings(examples(10), deadline=None)
def test_hostile_lines_make_no_game_illegal(data: st.DataObject) -> None:
    """Lines in any order, twice, with other numbers in them, between those of another session."""
    name = data.draw(st.sampled_from([path.stem for path in CAPTURES if path.name.endswith(".txt.gz")]))
    pool = unpacked(name).replace(b"\r\n", b"\n").split(b"\n")[60:260]
    drawn = data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=60))
    swap = data.draw(st.sampled_from(SWAPS))
    mixed = [line.replace(*swap) if place % 5 == 0 else line for place, line in enumerate(drawn)]
    at = data.draw(st.integers(0, len(pool)))
    spliced = [b"You roll 6 and 4.", *pool[:at], *mixed, *pool[at:]]
    list(steps(transcripts_in(events_of_bytes(b"\r\n".join(spliced)))))
