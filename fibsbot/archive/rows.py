"""Transcripts as rows of the archive's tables, and the digest by which the same match is recognised."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Final, NamedTuple, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.analysis.selection import match_start
from fibsbot.archive.schema import NO_YEAR
from fibsbot.archive.tracking import Checkers, TrackedDecision, TrackedEvent, board_mark, track
from fibsbot.formats.transcript_json import iter_json, write_json
from fibsbot.match import Owner
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import Seat
from fibsbot.transcript import Game, Player, Step, Transcript, walk

Row: TypeAlias = tuple[object, ...]
OWNERS: Final = {Owner.CENTRED: "centred", Owner.PLAYER: "player", Owner.OPPONENT: "opponent"}
"""The owner of the cube as the table has it."""

_MAGIC: Final = b"fibsbot match 1\0"
"""The beginning of a canonical transcript; its number changes with the rules of `match_digest`."""
_SEATS: Final = ("A", "B")


class DecisionRow(NamedTuple):
    """A decision without its position, whose columns are computed for many at once."""

    match: int
    game: int
    number: int
    turn: int
    seat: str
    player: str
    kind: str
    dice: str | None
    action: str
    length: int
    own_score: int
    opponent_score: int
    cube: int
    owner: str
    crawford: bool
    post_crawford: bool
    redoubles: int
    resignation: int
    seconds: float | None
    rebuilt: bool
    stage: str | None
    own_move: bool | None
    decided: dt.datetime | None
    entry: str | None


@define
class MatchRows:
    """The rows of one match."""

    key: int
    digest: str
    year: int
    match: Row
    games: list[Row] = field(factory=list)
    players: list[Row] = field(factory=list)
    decisions: list[DecisionRow] = field(factory=list)
    positions: list[Checkers] = field(factory=list)
    """The position of each decision, as the player who decided sees it."""


@frozen
class MatchPlace:
    """Where a match was read from."""

    source: str
    number: int
    format: str


def match_rows(transcript: Transcript, place: MatchPlace) -> MatchRows:
    """Return the rows of a match. Raises TranscriptError for one that breaks the rules."""
    tracked = [(game, list(track(game))) for game in transcript.games]
    tracked = [(game, events) for game, events in tracked if events or game.result is not None]
    digest = match_digest(transcript, tracked)
    key = int.from_bytes(digest[:8], "big", signed=True)
    started = _naive(match_start(transcript))
    rows = MatchRows(key, digest.hex(), started.year if started else NO_YEAR, ())
    names = [player.name for player in transcript.players]
    for game, events in tracked:
        rows.games.append(_game_row(key, game, events))
        decisions = (decision for event in events for decision in event.decisions)
        for number, decision in enumerate(decisions, 1):
            rows.decisions.append(_decision_row(key, game, number, decision, names))
            rows.positions.append(decision.cells)
    a, b = transcript.players
    scores = tracked[-1][0].scores if tracked else (0, 0)
    winner = next((seat for seat in Seat if transcript.length and scores[seat] >= transcript.length), None)
    won = None if winner is None else _SEATS[winner]
    rows.match = (
        key,
        rows.digest,
        started,
        _naive(transcript.ended),
        transcript.site or None,
        transcript.length,
        a.name,
        b.name,
        a.rating,
        b.rating,
        a.experience,
        b.experience,
        *scores,
        won,
        len(tracked),
        len(rows.decisions),
        _is_whole(transcript, tracked),
        place.source,
        place.number,
        place.format,
        transcript.rules.full_name,
    )
    rows.players = [
        (
            key,
            _SEATS[seat],
            own.name,
            other.name,
            own.rating,
            other.rating,
            own.experience,
            transcript.length,
            scores[seat],
            None if winner is None else winner is seat,
        )
        for seat, own, other in ((Seat.A, a, b), (Seat.B, b, a))
    ]
    return rows


Tracked: TypeAlias = list[tuple[Game, list[TrackedEvent]]]


def match_digest(transcript: Transcript, tracked: Tracked) -> bytes:
    """Return the SHA-256 of the canonical transcript: the same for one match, whatever file it was read from.

    It has the names without case and punctuation, the player whose name comes first as the first one; the length; and
    of each game the score and start, the dice with the position after each play, the cube actions, and the result.
    Times, ratings, the order of a play's moves, resignations that were refused and rolls without a play are left out:
    not every format has them.
    """
    names = [_plain(player.name) for player in transcript.players]
    orders = [False, True] if names[0] == names[1] else [names[0] > names[1]]
    return min(_digest(transcript, tracked, names, swapped=swapped) for swapped in orders)


def _digest(transcript: Transcript, tracked: Tracked, names: list[str], *, swapped: bool) -> bytes:
    order = (1, 0) if swapped else (0, 1)
    found = hashlib.sha256(_MAGIC)
    found.update("\0".join(names[::-1] if swapped else names).encode("utf-8", "surrogatepass"))
    found.update(b"\0%d" % transcript.length)
    if tracked and isinstance(tracked[0][0].start.board, Sides):
        found.update(transcript.rules.full_name.encode())
    for game, events in tracked:
        scores = game.start.scores[::-1] if swapped else game.start.scores
        found.update(b"G%d-%d" % scores)
        if not game.whole:
            found.update(board_mark(game.start, Seat(order[0])))
        for event in events:
            if event.canonical:
                found.update(b"%d" % order[event.seat])
                found.update(event.canonical)
        if game.result is not None:
            found.update(b"R%d%d" % (order[game.result.winner], game.result.points))
    return found.digest()


def _plain(name: str) -> str:
    """Return a name as programs change it least: they replace blanks, and some know only one case."""
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name


def _naive(time: dt.datetime | None) -> dt.datetime | None:
    """Return a time in UTC without its zone, as Parquet has it."""
    return time and time.astimezone(dt.UTC).replace(tzinfo=None)


def _is_whole(transcript: Transcript, tracked: Tracked) -> bool:
    """Return whether all games were seen from their first roll to their end, and the match to its end."""
    scores = (0, 0)
    for game, _ in tracked:
        if not game.whole or game.result is None or game.start.scores != scores:
            return False
        scores = game.scores
    return bool(tracked) and (not transcript.length or max(scores) >= transcript.length)


def _game_row(key: int, game: Game, events: list[TrackedEvent]) -> Row:
    start, result = game.start, game.result
    laws = start.laws
    return (
        key,
        game.number,
        *start.scores,
        start.crawford,
        None if result is None else _SEATS[result.winner],
        None if result is None else result.points,
        None if result is None else int(result.level),
        None if result is None else result.how.value,
        events[-1].turns if events else 0,
        game.whole,
        laws.name,
        laws.jacoby and not start.length,
        0 if start.length else laws.redoubles,
        laws.cube,
        laws.triple,
        laws.point_game,
    )


def _decision_row(key: int, game: Game, number: int, decision: TrackedDecision, names: list[str]) -> DecisionRow:
    start, seat, entry = game.start, decision.seat, decision.entry
    dice = decision.dice
    return DecisionRow(
        key,
        game.number,
        number,
        decision.turn,
        _SEATS[seat],
        names[seat],
        decision.kind,
        None if dice is None else "".join(map(str, sorted(dice, reverse=True))),
        decision.action,
        start.length,
        start.scores[seat],
        start.scores[seat.other],
        decision.cube,
        OWNERS[decision.owner],
        start.crawford,
        start.post_crawford,
        decision.redoubles,
        decision.resignation,
        entry.seconds,
        entry.rebuilt,
        decision.stage,
        decision.own_move,
        _naive(entry.at),
        None if decision.step is None else _written(decision.step),
    )


_NOBODY: Final = (Player(""), Player(""))


def _written(step: Step) -> str:
    """Return an entry and the game before it, as the JSON of a match."""
    entry = evolve(step.entry, at=None, seconds=None, equity=None)
    game = Game(step.game, step.before, (entry,))
    return write_json(Transcript(_NOBODY, step.before.length, (game,))).rstrip()


def step_of(text: str) -> Step:
    """Return the entry that a row has, with the games before and after it."""
    (match,) = iter_json(text)
    (step,) = walk(match.games[0])
    return step
