"""Build the transcript of a match from its rows; read the plays, dice and states of games in them. Seat A is ours.

A row of the kind `throw` is a roll, a play, or both: in games whose turns have several parts a play follows without a
roll. A double or point that is named, and a contest, are such rows too, in words.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import define, evolve, field, frozen

from fibsbot.games.state_json import MOST_DICE, laws_to_json, state_flaw, state_from_json
from fibsbot.match import CubeAction, Dice
from fibsbot.position import BAR, OFF, Move, Play
from fibsbot.records.store.database import StoreError
from fibsbot.records.store.schema import EntryKind
from fibsbot.records.stored_rows import CHOUETTE, StoredGame, StoredMatch
from fibsbot.rules import game as rules
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import LAWS, Level
from fibsbot.rules.state import Ending, GameState, Result, Seat, Stage
from fibsbot.transcript import (
    Contest,
    Continuation,
    Cube,
    Entry,
    Game,
    Gap,
    Named,
    Player,
    RejectedRoll,
    Resign,
    Throw,
    Transcript,
    apply,
    end_game,
    name_text,
)
from fibsbot.transcript.missing_parts import missing_parts_of
from fibsbot.transcript.reconstruction import is_same_state

_BROKEN: Final = "the match was broken off, and what happened last was not seen"
_MISSING: Final = "what happened here is not in the store"
_END: Final = "the end of the game was not seen"
_ENDINGS: Final = {"gave_up": Ending.DROPPED, "resign_accepted": Ending.RESIGNED, "game_won_by": Ending.OTHER}

TurnPart: TypeAlias = Throw | Continuation | Named | Contest
"""What rows of the kind `throw` have."""


@frozen
class StoredSheet:
    """A row of `sheets`, with its entries in order."""

    at: dt.datetime
    state: str
    entries: Sequence[Mapping[str, Any]]


@frozen
class GameRows:
    """The rows of a game: its own and its sheets, in order."""

    game: StoredGame
    sheets: Sequence[StoredSheet] = ()


@frozen
class Segment:
    """Consecutive entries, and the state of the game before them."""

    at: dt.datetime
    start: GameState
    entries: tuple[Entry, ...]
    incomplete: bool = False
    """Whether later entries of the sheet are lost."""


def build_transcript(match: StoredMatch, rows: Sequence[GameRows]) -> Transcript:
    """Return the transcript of a match. Raises StoreError if nothing of its course is stored."""
    if not any(stored.sheets for stored in rows):
        name = f"match {match.id} of {match.account} against {match.opponent}"
        raise StoreError(f"nothing is stored of {name} except how its games ended")
    if match.game == CHOUETTE:
        # The points are those of the ledger: the box has them from several players, and a sheet has those of the game.
        rows = [evolve(stored, game=evolve(stored.game, won=None)) for stored in rows]
    known = [(stored, _all_segments(stored)) for stored in rows]
    builder = _TranscriptBuilder(_beginning(known))
    for game_rows, segments in known:
        builder.add(game_rows.game, segments)
    us = Player(match.account, match.rating_before, match.experience_before)
    them = Player(match.opponent, match.opponent_rating, match.opponent_experience)
    return Transcript(
        players=(us, them),
        length=builder.games[0].start.length if builder.games else match.length or 0,
        games=tuple(builder.games),
        user=Seat.A,
        site=match.site or "",
        tags={"Event": "Game of a chouette"} if match.game == CHOUETTE else {},
        started=match.started,
        ended=match.ended or match.seen,
    )


def _beginning(known: Sequence[tuple[GameRows, Sequence[Segment]]]) -> GameState | None:
    """Return the initial state of the first game, worked out from the first game whose score is known."""
    a = b = 0
    for rows, segments in known:
        if segments:
            first = segments[0].start
            with contextlib.suppress(RuleError):
                scores = first.scores[0] - a, first.scores[1] - b
                return rules.start_match(first.laws, first.length, scores, rules=first.rules)
            return None
        if rows.game.drawn:
            continue
        if rows.game.won is None or rows.game.points is None:
            return None
        a, b = a + rows.game.points * rows.game.won, b + rows.game.points * (not rows.game.won)
    return None


@define
class _TranscriptBuilder:
    """Builds the games of a match, in order."""

    beginning: GameState | None
    """The initial state of the first game, if known."""
    games: list[Game] = field(factory=list)
    _state: GameState | None = None
    """The last known state of the last game."""

    def add(self, game: StoredGame, segments: Sequence[Segment]) -> None:
        """Add the next game, unless nothing is known about it."""
        start = self._start(game, segments)
        if start is None:
            self._state = self.beginning = None
            return
        builder = _GameBuilder(start)
        for segment in segments:
            builder.add(segment)
        builder.end(game)
        self._state = builder.state
        self.games.append(Game(game.number, start, tuple(builder.entries), builder.state.result))

    def _start(self, game: StoredGame, segments: Sequence[Segment]) -> GameState | None:
        """Return the first known state of a game."""
        if not segments:
            is_known = game.ended is None or game.drawn or (game.won is not None and game.points)
            return self._opening() if is_known else None
        return segments[0].start

    def _opening(self) -> GameState | None:
        """Return the initial state of the next game; None if it is not known."""
        if self._state is None:
            return self.beginning
        with contextlib.suppress(RuleError):
            return rules.next_game(self._state)
        return None


@define
class _GameBuilder:
    """Builds the entries of a game, in order."""

    state: GameState
    entries: list[Entry] = field(factory=list)
    _incomplete: bool = False
    """Whether entries are missing after the last one."""

    def add(self, segment: Segment) -> None:
        """Add a segment, after the entries that must have come before it, or a gap."""
        missed = self._missed(segment)
        if missed is None:
            then = evolve(segment.start, turns=max(self.state.turns, segment.start.turns))
            missed = (Gap(reason=_MISSING if self._incomplete else _BROKEN, then=then, at=segment.at),)
        self._write(missed)
        self._incomplete = segment.incomplete
        self._write(segment.entries)

    def _missed(self, segment: Segment) -> tuple[Entry, ...] | None:
        """Return the entries that must have come before a segment; None if there are several possibilities."""
        known, seen = self.state, segment.start
        if (known.rules, known.length, known.scores) != (seen.rules, seen.length, seen.scores):
            return None
        if is_same_state(self.state, segment.start):
            return ()
        entries = missing_parts_of(self.state.rules).entries(self.state, segment.start, (), segment.at)
        return None if any(isinstance(entry, Gap) for entry in entries) else entries

    def _write(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            try:
                self.state = apply(self.state, entry)
            except RuleError:  # the rows were changed from outside: the entries that follow make no sense
                self._incomplete = True
                return
            self.entries.append(entry)

    def end(self, game: StoredGame) -> None:
        """Add the end that the game's row has, if the entries do not include it."""
        if self.state.stage is Stage.OVER:
            return
        if game.drawn:
            self._write_end(game, evolve(self.state, stage=Stage.OVER, drawn=True, dice=None))
        if game.won is None or not game.points:
            return
        winner = Seat.A if game.won else Seat.B
        if game.how == "gave_up" and self.state.answering is winner.other:
            self._write([Cube(seat=winner.other, action=CubeAction.PASS, rebuilt=True, at=game.ended)])
            return
        cube = game.cube or self.state.cube
        level = Level(game.points // cube) if game.points // cube in set(Level) else Level.SINGLE
        result = Result(winner, game.points, level, _ENDINGS.get(game.how or "", Ending.BORNE_OFF))
        reason = _END if result.how is Ending.OTHER else ""
        self._write_end(game, evolve(end_game(self.state, result), cube=cube, reason=reason))

    def _write_end(self, game: StoredGame, over: GameState) -> None:
        over = evolve(over, todo=(), naming=None, namer=None)
        self._write([Gap(reason=_END, then=over, at=game.ended)])


def _all_segments(rows: GameRows) -> list[Segment]:
    """Return the readable sheets of a game as segments, in order."""
    segments = [segment for sheet in rows.sheets if (segment := _segment(sheet))]
    return segments if all(part.start.crawford for part in segments) else [_without_crawford(part) for part in segments]


def _without_crawford(segment: Segment) -> Segment:
    """Return a segment of a game that a later double showed to be played without the Crawford rule."""
    entries = tuple(
        evolve(entry, then=_no_crawford(entry.then)) if isinstance(entry, Gap) else entry for entry in segment.entries
    )
    return evolve(segment, start=_no_crawford(segment.start), entries=entries)


def _no_crawford(state: GameState) -> GameState:
    if not state.crawford:
        return state
    return evolve(state, crawford=False, laws=evolve(state.laws, crawford=False))


# -- segments -------------------------------------------------------------------------------------------------------


def _segment(sheet: StoredSheet) -> Segment | None:
    """Return a sheet as a segment, up to the first missing or wrong entry; None if its state cannot be read."""
    try:
        start = read_state(json.loads(sheet.state))
    except ValueError:
        return None
    entries = []
    for number, row in enumerate(sheet.entries, 1):
        try:
            if row["number"] != number:
                break
            entries.append(_entry(row))
        except ValueError:
            break
    return Segment(sheet.at, start, tuple(entries), incomplete=len(entries) < len(sheet.entries))


def _entry(row: Mapping[str, Any]) -> Entry:
    """Return a row as an entry. Raises ValueError if it is not valid."""
    known = {name: row[name] for name in ("at", "equity", "seconds", "rebuilt")}
    kind, seat = EntryKind(row["kind"]), Seat.A if row["own"] else Seat.B
    match kind:
        case EntryKind.THROW:
            return evolve(read_turn_part(seat, row["dice"], row["play"]), **known)
        case EntryKind.REJECT:
            return RejectedRoll(seat=seat, dice=read_dice(row["dice"]), **known)
        case EntryKind.RESIGN:
            return Resign(seat=seat, level=Level(row["level"] or 0), accepted=bool(row["accepted"]), **known)
        case EntryKind.GAP:
            return Gap(reason=row["reason"] or _MISSING, then=read_state(json.loads(row["state"] or "0")), **known)
    return Cube(seat=seat, action=CubeAction(kind.value), **known)


# -- plays and dice as JSON -----------------------------------------------------------------------------------------

DANCE: Final = "cannot move"
"""Text of the play without a move."""
_NAMED: Final = re.compile(r"name ([0-9]{1,2})")
_CONTEST: Final = re.compile(r"contest ([0-9]{1,2}) ([0-9]{1,2})")
_MOVE: Final = re.compile(r"(bar|[0-9]{1,2})/(off|[0-9]{1,2})")
_MOST_MOVES: Final = 4
_NUMBERS: Final = frozenset("123456")


def write_turn_part(part: TurnPart) -> str | None:
    """Return the text of a roll's play, or of what a player did without a roll; None: the play was not seen."""
    match part:
        case Named(number=number):
            return name_text(number)
        case Contest(totals=(a, b)):
            return f"contest {a} {b}"
    return None if part.play is None else write_play(part.play)


def read_turn_part(seat: Seat, dice: object, text: str | None) -> TurnPart:
    """Return the roll, play, name or contest of a row, given its dice and its text. Raises ValueError."""
    if dice is not None:
        return Throw(seat=seat, dice=read_dice(dice), play=None if text is None else read_play(text))
    if named := _NAMED.fullmatch(text or ""):
        return Named(seat=seat, number=int(named[1]))
    if contest := _CONTEST.fullmatch(text or ""):
        return Contest(totals=(int(contest[1]), int(contest[2])))
    return Continuation(seat=seat, play=read_play(text or ""))


def write_play(play: Play) -> str:
    """Return a play move by move, in the order in which the moves were made: `24/18 18/13`."""
    return " ".join(map(str, play.moves)) or DANCE


def read_play(text: str) -> Play:
    """Return the play that `write_play` wrote. Raises ValueError."""
    if text == DANCE:
        return Play()
    found = [_MOVE.fullmatch(word) for word in text.split()]
    if not 1 <= len(found) <= _MOST_MOVES or not all(found):
        raise ValueError(f"expected a play such as 24/18 18/13, got {text!r}")
    return Play(tuple(Move(_point(matched[1], BAR), _point(matched[2], OFF)) for matched in found if matched))


def _point(word: str, end: int) -> int:
    return end if word in {"bar", "off"} else int(word)


def read_dice(value: object) -> Dice:
    """Return two or three dice, given as digits or numbers. Raises ValueError."""
    numbers = list(map(str, value)) if isinstance(value, str | list | tuple) else []
    if not 2 <= len(numbers) <= MOST_DICE or not set(numbers) <= _NUMBERS:
        raise ValueError(f"expected two or three dice, got {value!r}")
    return tuple(map(int, numbers))


# -- states of games as JSON ----------------------------------------------------------------------------------------

_NAMED_LAWS: Final = {name: laws_to_json(laws) for name, laws in LAWS.items()}
_RESIGNATION: Final = ("seat", "level", "points")
_RESULT: Final = ("winner", "points", "level", "how")


def read_state(written: object) -> GameState:
    """Return the state that `state_to_json` wrote. Raises ValueError for anything else.

    Rows of earlier versions have only those options of laws that differ from the laws of their name, and lists for
    resignations and results.
    """
    if isinstance(written, dict):
        written = dict(written)
        if isinstance(laws := written.get("laws"), dict):
            written["laws"] = {**_NAMED_LAWS.get(str(laws.get("name")), {}), **laws}
        for name, keys in (("resignation", _RESIGNATION), ("result", _RESULT)):
            if isinstance(values := written.get(name), list):
                written[name] = dict(zip(keys, values, strict=False))
    state = state_from_json(written)
    if flaw := state_flaw(state):
        raise ValueError(flaw)
    return state
