"""Writers, which turn the events of a replay into output: a list of moves, JSON objects, or differing decisions.

docs/replay.md describes the JSON objects.
"""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import Any, Final, Protocol, TypeAlias

from attrs import define, field, frozen

from fibsbot.bot.decisions import xgid_of
from fibsbot.draw.markup import clean
from fibsbot.json_lines import json_encoder
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation import NotationError, format_gnubg_id
from fibsbot.replay.comparison import ComparedDecision, ComparisonTotals, StrategyComparison
from fibsbot.replay.event_text import MoveList, match_text, shown_names
from fibsbot.replay.events import (
    DifferenceFound,
    EntryAdded,
    GameBegan,
    GameEnded,
    MatchBegan,
    MatchEnded,
    MatchEvent,
    Place,
)
from fibsbot.rules.game import decision as decision_of
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Decision, Entry, Gap, Step, Throw, Transcript

Row: TypeAlias = dict[str, Any]

LONGEST_JSON_TEXT: Final = 1000
"""Characters of a text from a file; more would be no name and no reason."""


@frozen
class JsonRows:
    """Makes the objects of one file."""

    file: str
    """The file's name, which stands in each object."""

    def of(self, happening: MatchEvent, names: tuple[str, str]) -> Iterator[Row]:
        """Yield the objects for something that happened between these players."""
        match happening:
            case MatchBegan(match=match, transcript=transcript):
                yield self._row("match", match) | _match_facts(transcript, happening.at)
            case GameBegan(match=match, game=game):
                start = game.start
                row = {"game": game.number, "turn": start.turns + 1, "scores": start.scores, "crawford": start.crawford}
                yield self._row("game", match) | row | {"begun": start.stage is Stage.OPENING}
            case EntryAdded():
                yield from self._happened(happening, names)
            case DifferenceFound(match=match):
                place = {"game": happening.game, "turn": happening.turn}
                for it in happening.differences:
                    row = {"what": it.what, "ours": _json_value(it.ours), "theirs": _json_value(it.theirs)}
                    where = {"offset": happening.offset, "time": _time(happening.at)}
                    yield self._row("difference", match) | place | row | where
            case GameEnded(match=match, game=game):
                result = game.result
                row = {"game": game.number, "whole": game.whole}
                row |= dict.fromkeys(("winner", "points", "level", "how"))
                if result:
                    counted = {"points": result.points, "level": int(result.level), "how": result.how.value}
                    row |= {"winner": _clipped(names[result.winner]), **counted}
                yield self._row("game_end", match) | row
            case MatchEnded(match=match, transcript=transcript):
                winner = transcript.winner
                row = {"winner": None if winner is None else _clipped(names[winner]), "scores": transcript.scores}
                ids = {"match_id": _clipped(transcript.match_id), "time": _time(transcript.ended)}
                yield self._row("match_end", match) | row | ids

    def decision(self, match: int, decision: Decision, names: tuple[str, str]) -> Row:
        """Return the object for a decision."""
        step, state, answer = decision.step, decision.state, decision.text
        entry, playing = step.entry, state.phase is Phase.MOVE
        rolled = decision.answer is CubeAction.ROLL  # what an entry knows beyond that is about the play
        return self._row("decision", match) | {
            "game": step.game,
            "turn": step.turn,
            "who": _clipped(names[decision.seat]),
            "seat": decision.seat.name,
            **_position_ids(state),
            "dice": state.dice,
            "resignation": state.resignation or None,
            "phase": state.phase.value,
            "play": answer if playing else None,
            "action": None if playing else answer,
            "forced": decision.forced,
            "equity": None if rolled else entry.equity,
            "seconds": None if rolled else entry.seconds,
            "time": _time(entry.at),
            "rebuilt": entry.rebuilt,
        }

    def asked(self, asked: ComparedDecision, names: tuple[str, str], strategy: str) -> Row:
        """Return the object for a decision that was put to a strategy."""
        played, answer = (None, None) if asked.values is None else map(_rounded, asked.values)
        return (
            self.decision(asked.match, asked.decision, names)
            | {"kind": "asked", "strategy": strategy, "answer": asked.text or None, "same": asked.same}
            | {
                "played_value": played,
                "answer_value": answer,
                "gain": _rounded(asked.gain),
                "fault": asked.fault or None,
            }
        )

    def _happened(self, happening: EntryAdded, names: tuple[str, str]) -> Iterator[Row]:
        match, step = happening.match, happening.step
        entry = step.entry
        for decision in happening.decisions:
            yield self.decision(match, decision, names)
        if isinstance(entry, Throw) and entry.play is None:
            row = {"who": _clipped(names[entry.seat]), "seat": entry.seat.name, "dice": entry.dice}
            yield self._row("throw", match) | self._place(step) | row | _entry_facts(entry)
        elif isinstance(entry, Gap):
            then = entry.then
            gap: Row = {
                "reason": _clipped(entry.reason),
                "then_turn": then.turns + 1,
                **_position_ids(_decision_state(then)),
            }
            yield self._row("gap", match) | self._place(step) | gap | {"time": _time(entry.at)}

    def _row(self, kind: str, match: int) -> Row:
        return {"kind": kind, "file": self.file, "match": match}

    @staticmethod
    def _place(step: Step) -> Row:
        return {"game": step.game, "turn": step.turn}


def totals_row(findings: ComparisonTotals, strategy: str, judge: str) -> Row:
    """Return the object for what asking came to."""
    return {
        "kind": "asked_total",
        "strategy": strategy,
        "judge": judge,
        "matches": findings.matches,
        "left_out": findings.left_out,
        "asked": findings.asked,
        "different": findings.different,
        "failed": findings.failed,
        "unvalued": findings.unvalued,
        "gained": _rounded(findings.gained),
        "lost": _rounded(findings.lost),
        "sum": _rounded(findings.sum),
        "mean": _rounded(findings.mean),
    }


def _match_facts(transcript: Transcript, at: dt.datetime | None) -> Row:
    return {
        "players": [
            {"name": _clipped(player.name), "rating": player.rating, "experience": player.experience}
            for player in transcript.players
        ],
        "length": transcript.length,
        "user": None if transcript.user is None else _clipped(transcript.players[transcript.user].name),
        "site": _clipped(transcript.site),
        "time": _time(transcript.started or at),
    }


def _position_ids(state: MatchState | None) -> Row:
    if state is None:
        return {"xgid": None, "gnubg_id": None}
    try:
        gnubg_id = format_gnubg_id(state)
    except NotationError:
        gnubg_id = None
    return {"xgid": xgid_of(state), "gnubg_id": gnubg_id}


def _decision_state(state: GameState) -> MatchState | None:
    """Return a state as whoever has to decide in it sees it; None where nobody has."""
    seen = (decision_of(state, seat) for seat in Seat)
    return next((it for it in seen if it is not None), None)


def _entry_facts(entry: Entry) -> Row:
    return {"time": _time(entry.at), "rebuilt": entry.rebuilt}


def _time(at: dt.datetime | None) -> str | None:
    return at.isoformat() if at else None


def _rounded(value: float | None) -> float | None:
    """Return a value with the digits that mean something; NaN and the like are none."""
    return round(value, 6) if value is not None and math.isfinite(value) else None


def _clipped(text: str) -> str:
    return text[:LONGEST_JSON_TEXT]


def _json_value(value: object) -> object:
    """Return what JSON can hold of a part of the state."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, tuple | list):
        return [_json_value(it) for it in value[:100]]
    return _clipped(str(value))


_encode: Final = json_encoder(allow_nan=False)
MAX_WORST_DECISIONS: Final = 10
"""Decisions in the table of those that differ most."""


class EventWriter(Protocol):
    """Makes text of what happens."""

    def take(self, happening: MatchEvent) -> Iterable[str]:
        """Yield the lines that are finished once this has happened."""
        ...

    def flush(self) -> Iterable[str]:
        """Yield what is held back: nothing more happens."""
        ...


class NullWriter:
    """Tells nothing."""

    def take(self, happening: MatchEvent) -> Iterable[str]:  # noqa: ARG002 - the interface
        """Yield nothing."""
        return ()

    def flush(self) -> Iterable[str]:
        """Yield nothing."""
        return ()


@define
class JsonWriter:
    """Tells everything as JSON objects."""

    rows: JsonRows
    _names: tuple[str, str] = ("", "")

    def take(self, happening: MatchEvent) -> Iterator[str]:
        """Yield an object a line."""
        if isinstance(happening, MatchBegan):
            self._names = _player_names(happening)
        for row in self.rows.of(happening, self._names):
            yield json_line(row)

    def flush(self) -> Iterable[str]:
        """Yield nothing: nothing is held back."""
        return ()


def json_line(row: Row) -> str:
    """Write an object in a line of ASCII."""
    return _encode(row)


def _player_names(began: MatchBegan) -> tuple[str, str]:
    first, second = began.transcript.players
    return first.name, second.name


def move_list_writer(name: str | None) -> EventWriter:
    """Return what writes a move list, under the name of its file if there is one."""
    return _TitledMoveList(clean(name), MoveList()) if name is not None else MoveList()


@define
class _TitledMoveList:
    """Writes a file's name above what is told of it, as soon as anything is."""

    name: str
    teller: MoveList
    _told: bool = False

    def take(self, happening: MatchEvent) -> Iterator[str]:
        if not self._told:
            self._told = True
            yield from ("", f"== {self.name}")
        yield from self.teller.take(happening)

    def flush(self) -> Iterator[str]:
        yield from self.teller.flush()


# -- a strategy that is asked ---------------------------------------------------------------------------------------


@frozen
class WorstDecision:
    """A decision that the strategy would have made differently, as the table shows it."""

    gain: float
    place: Place
    file: str
    who: str
    done: str
    """With the dice, for a play."""
    answer: str
    xgid: str


def most_different(found: Iterable[WorstDecision]) -> list[WorstDecision]:
    """Return those that are farthest from what was done, the farthest first."""
    return nlargest(MAX_WORST_DECISIONS, found, key=lambda it: abs(it.gain))


@define
class ComparisonWriter:
    """Puts every decision to a strategy, and tells where it would have decided differently."""

    decider: StrategyComparison
    rows: JsonRows
    as_json: bool
    quiet: bool
    worst: list[WorstDecision] = field(factory=list)
    _began: MatchBegan | None = None
    _titled: bool = False

    def take(self, happening: MatchEvent) -> Iterator[str]:
        """Yield an object for each decision, or a line for each that would have been different."""
        if isinstance(happening, MatchBegan):
            self._began, self._titled = happening, False
        if self._began is not None:
            for asked in self.decider.take(happening):
                yield from self._told(self._began, asked)

    def flush(self) -> Iterable[str]:
        """Yield nothing: nothing is held back."""
        return ()

    def _told(self, began: MatchBegan, asked: ComparedDecision) -> Iterator[str]:
        row = self.rows.asked(asked, _player_names(began), self.decider.strategy.name)
        entry = self._entry(began, asked, row)
        if not asked.same and asked.gain is not None:
            self.worst = most_different([*self.worst, entry])
        if self.quiet:
            return
        if self.as_json:
            yield json_line(row)
        elif not asked.same:
            if not self._titled:
                self._titled = True
                yield from ("", f"{clean(self.rows.file)}: {match_text(began)}")
            yield self._line(asked, entry)

    def _entry(self, began: MatchBegan, asked: ComparedDecision, row: Row) -> WorstDecision:
        place = Place(asked.match, row["game"], row["turn"])
        who = shown_names(began.transcript)[asked.decision.seat]
        dice = asked.decision.state.dice
        done = f"{max(dice)}{min(dice)}: {asked.decision.text}" if dice else asked.decision.text
        return WorstDecision(asked.gain or 0.0, place, self.rows.file, who, done, asked.text, row["xgid"] or "")

    @staticmethod
    def _line(asked: ComparedDecision, entry: WorstDecision) -> str:
        """Tell one decision: where, what was done, what the strategy says, and what that is worth."""
        worth = "not valued" if asked.gain is None else f"{asked.gain:+.3f}"
        worth = clean(asked.fault, 80) if asked.fault else worth
        return f"  {entry.place!s:<10} {entry.who:<12} {entry.done:<26} {entry.answer or '-':<26} {worth}"


def totals_text(findings: ComparisonTotals, strategy: str, judge: str) -> Iterator[str]:
    """Say what asking came to."""
    same = findings.asked - findings.different - findings.failed
    yield f"{strategy} was asked {findings.asked:,} decisions: {same:,} the same, {findings.different:,} different"
    if findings.failed:
        yield f"  {findings.failed:,} had no answer"
    by = "by itself" if judge == strategy else f"by {judge}"
    yield f"  the differences are worth {findings.sum:.3f} in all, {findings.mean:.4f} a decision, {by}"
    yield f"  {strategy}'s answers are worth {findings.gained:.3f} more and {findings.lost:.3f} less"
    if findings.unvalued:
        yield f"  {findings.unvalued:,} of them {judge} has no value for"
    if findings.left_out:
        yield f"  {findings.left_out:,} matches left out: nobody to ask about"


def worst_decisions_text(worst: Iterable[WorstDecision], strategy: str) -> Iterator[str]:
    """Write the table of those that differ most, each with its XGID below."""
    yield f"    gain  {'place':<10} {'player':<12} {'played':<26} {strategy}"
    for it in worst:
        yield f"  {it.gain:+.3f}  {it.place!s:<10} {it.who:<12} {it.done:<26} {it.answer}".rstrip()
        yield f"          {it.xgid}   {clean(it.file)}".rstrip()
