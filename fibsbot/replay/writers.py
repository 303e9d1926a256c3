"""Writers, which turn the events of a replay into output: a list of moves, JSON objects, or differing decisions.

docs/how-to/replay.md describes the JSON objects.
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
from fibsbot.drawing.markup import clean
from fibsbot.games.sides_text import format_sides
from fibsbot.json_lines import json_encoder
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation import NotationError, format_gnubg_id
from fibsbot.position import Position
from fibsbot.replay import events
from fibsbot.replay.comparison import ComparedDecision, ComparisonTotals, StrategyComparison
from fibsbot.replay.event_text import MoveList, match_text, shown_names
from fibsbot.replay.places import Place
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.text import plural
from fibsbot.transcript import Decision, Entry, Gap, Step, Throw

Row: TypeAlias = dict[str, Any]

LONGEST_JSON_TEXT: Final = 1000
"""Characters of a text from a file; more would be no name and no reason."""


@frozen
class JsonRows:
    """Makes the JSON objects of one file."""

    file: str
    """The file's name, which is part of each object."""

    def rows_for(self, event: events.MatchEvent, names: tuple[str, str]) -> Iterator[Row]:
        """Yield the objects for an event between these players."""
        match event:
            case events.MatchBegan(match=match):
                yield self._row("match", match) | _match_facts(event)
            case events.GameBegan(match=match, game=game):
                start = game.start
                row = {"game": game.number, "turn": start.turns + 1, "scores": start.scores, "crawford": start.crawford}
                yield self._row("game", match) | row | {"begun": game.has_beginning}
            case events.EntryAdded():
                yield from self._entry_rows(event, names)
            case events.DifferenceFound(match=match):
                place = {"game": event.game, "turn": event.turn}
                for difference in event.differences:
                    row = {
                        "what": difference.what,
                        "ours": _json_value(difference.ours),
                        "theirs": _json_value(difference.theirs),
                    }
                    where = {"offset": event.offset, "time": _time(event.at)}
                    yield self._row("difference", match) | place | row | where
            case events.GameEnded(match=match, game=game):
                result = game.result
                row = {"game": game.number, "whole": game.whole}
                row |= dict.fromkeys(("winner", "points", "level", "how"))
                if result:
                    counted = {"points": result.points, "level": int(result.level), "how": result.how.value}
                    row |= {"winner": _clipped(names[result.winner]), **counted}
                if event.end.rules is not BACKGAMMON:
                    reason = _clipped(event.end.reason) or None
                    row |= {"drawn": event.end.drawn, "reason": reason, "scores": game.scores}
                yield self._row("game_end", match) | row
            case events.MatchEnded(match=match, transcript=transcript):
                winner = transcript.winner
                row = {"winner": None if winner is None else _clipped(names[winner]), "scores": transcript.scores}
                ids = {"match_id": _clipped(transcript.match_id), "time": _time(transcript.ended)}
                yield self._row("match_end", match) | row | ids

    def decision_row(self, match: int, decision: Decision, names: tuple[str, str]) -> Row:
        """Return the object for a decision."""
        step, state, answer = decision.step, decision.state, decision.text
        entry, playing = step.entry, state.phase is Phase.MOVE
        rolled = decision.answer is CubeAction.ROLL  # the entry's details are about the play
        return {
            "kind": "decision",
            "file": self.file,
            "match": match,
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

    def compared_row(self, compared: ComparedDecision, names: tuple[str, str], strategy: str) -> Row:
        """Return the object for a compared decision."""
        played, answer = (None, None) if compared.values is None else map(_rounded, compared.values)
        return (
            self.decision_row(compared.match, compared.decision, names)
            | {"kind": "asked", "strategy": strategy, "answer": compared.text or None, "same": compared.same}
            | {
                "played_value": played,
                "answer_value": answer,
                "gain": _rounded(compared.gain),
                "fault": compared.fault or None,
            }
        )

    def _entry_rows(self, event: events.EntryAdded, names: tuple[str, str]) -> Iterator[Row]:
        match, step = event.match, event.step
        entry = step.entry
        for decision in event.decisions:
            yield self.decision_row(match, decision, names)
        if isinstance(entry, Throw) and entry.play is None:
            row = {"who": _clipped(names[entry.seat]), "seat": entry.seat.name, "dice": entry.dice}
            yield self._row("throw", match) | self._place(step) | row | _entry_facts(entry)
        elif isinstance(entry, Gap):
            then = entry.then
            gap: Row = {
                "reason": _clipped(entry.reason),
                "then_turn": then.turns + 1,
                **_position_ids(MatchState.of(then, then.decides)),
            }
            yield self._row("gap", match) | self._place(step) | gap | {"time": _time(entry.at)}

    def _row(self, kind: str, match: int) -> Row:
        return {"kind": kind, "file": self.file, "match": match}

    @staticmethod
    def _place(step: Step) -> Row:
        return {"game": step.game, "turn": step.turn}


def totals_row(totals: ComparisonTotals, strategy: str, evaluator: str) -> Row:
    """Return the object for the totals of a comparison."""
    return {
        "kind": "asked_total",
        "strategy": strategy,
        "evaluator": evaluator,
        "matches": totals.matches,
        "left_out": totals.left_out,
        "asked": totals.compared,
        "different": totals.different,
        "failed": totals.failed,
        "unvalued": totals.unvalued,
        "gained": _rounded(totals.gained),
        "lost": _rounded(totals.lost),
        "sum": _rounded(totals.sum),
        "mean": _rounded(totals.mean),
    }


def _match_facts(began: events.MatchBegan) -> Row:
    transcript, chouette = began.transcript, began.chouette
    user = None if transcript.user is None else transcript.players[transcript.user].name
    facts = {
        "players": [
            {"name": _clipped(player.name), "rating": player.rating, "experience": player.experience}
            for player in transcript.players
        ],
        "length": transcript.length,
        "user": user and _clipped(user),
        "site": _clipped(transcript.site),
        "time": _time(transcript.started or began.at),
    }
    if began.rules is not BACKGAMMON:
        facts["ruleset"] = began.rules.full_name
    if chouette is None:
        return facts
    played = {"host": _clipped(chouette.host), "game": chouette.number}
    return facts | {"user": _clipped(chouette.user), "chouette": played}


def _position_ids(state: MatchState | None) -> Row:
    """Return the position in the notations of backgammon, and in other games as `fibsbot show --game` takes it."""
    if state is None:
        return {"xgid": None, "gnubg_id": None}
    if not isinstance(state.board, Position):
        return {"xgid": None, "gnubg_id": None, "position": format_sides(state.sides)}
    try:
        gnubg_id = format_gnubg_id(state)
    except NotationError:
        gnubg_id = None
    return {"xgid": xgid_of(state), "gnubg_id": gnubg_id}


def _entry_facts(entry: Entry) -> Row:
    return {"time": _time(entry.at), "rebuilt": entry.rebuilt}


def _time(at: dt.datetime | None) -> str | None:
    return at.isoformat() if at else None


def _rounded(value: float | None) -> float | None:
    """Return a value rounded to six digits; None for NaN and infinities."""
    return round(value, 6) if value is not None and math.isfinite(value) else None


def _clipped(text: str) -> str:
    return text[:LONGEST_JSON_TEXT]


def _json_value(value: object) -> object:
    """Return a part of the state as a JSON value."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, tuple | list):
        return [_json_value(item) for item in value[:100]]
    return _clipped(str(value))


_encode: Final = json_encoder(allow_nan=False)
MAX_WORST_DECISIONS: Final = 10
"""Decisions in the table of the largest differences."""


class EventWriter(Protocol):
    """Turns events into lines of output."""

    def lines_for(self, event: events.MatchEvent) -> Iterable[str]:
        """Yield the lines that an event completes."""
        ...

    def flush(self) -> Iterable[str]:
        """Yield the unfinished lines, after the last event."""
        ...


@define
class JsonWriter:
    """Writes every event as JSON objects."""

    rows: JsonRows
    _names: tuple[str, str] = ("", "")

    def lines_for(self, event: events.MatchEvent) -> Iterator[str]:
        """Yield an object per line."""
        if isinstance(event, events.MatchBegan):
            self._names = _player_names(event)
        for row in self.rows.rows_for(event, self._names):
            yield json_line(row)

    def flush(self) -> Iterable[str]:
        """Yield nothing, as no line is left unfinished."""
        return ()


def json_line(row: Row) -> str:
    """Return an object as a line of ASCII."""
    return _encode(row)


def _player_names(began: events.MatchBegan) -> tuple[str, str]:
    first, second = began.transcript.players
    return first.name, second.name


def move_list_writer(name: str | None) -> EventWriter:
    """Return a writer of move lists, with the file's name as a heading if one is given."""
    return _TitledMoveList(clean(name), MoveList()) if name is not None else MoveList()


@define
class _TitledMoveList:
    """Writes a file's name before its first line."""

    name: str
    writer: MoveList
    _started: bool = False

    def lines_for(self, event: events.MatchEvent) -> Iterator[str]:
        if not self._started:
            self._started = True
            yield from ("", f"== {self.name}")
        yield from self.writer.lines_for(event)

    def flush(self) -> Iterator[str]:
        yield from self.writer.flush()


# -- comparisons with a strategy ------------------------------------------------------------------------------------


@frozen
class WorstDecision:
    """A row of the table of decisions that differ from the strategy's."""

    gain: float
    place: Place
    file: str
    who: str
    done: str
    """With the dice, for a play."""
    answer: str
    xgid: str


def most_different(found: Iterable[WorstDecision]) -> list[WorstDecision]:
    """Return the decisions with the largest differences, the largest first."""
    return nlargest(MAX_WORST_DECISIONS, found, key=lambda decision: abs(decision.gain))


@define
class ComparisonWriter:
    """Compares every decision with a strategy's answer, and writes those that differ."""

    comparison: StrategyComparison
    rows: JsonRows
    as_json: bool
    quiet: bool
    worst: list[WorstDecision] = field(factory=list)
    _began: events.MatchBegan | None = None
    _heading_written: bool = False

    def lines_for(self, event: events.MatchEvent) -> Iterator[str]:
        """Yield an object per decision, or a line per decision that differs."""
        if isinstance(event, events.MatchBegan):
            self._began, self._heading_written = event, False
        if self._began is not None:
            for compared in self.comparison.compare(event):
                yield from self._lines(self._began, compared)

    def flush(self) -> Iterable[str]:
        """Yield nothing, as no line is left unfinished."""
        return ()

    def _lines(self, began: events.MatchBegan, compared: ComparedDecision) -> Iterator[str]:
        row = self.rows.compared_row(compared, _player_names(began), self.comparison.strategy.name)
        entry = self._entry(began, compared, row)
        if not compared.same and compared.gain is not None:
            self.worst = most_different([*self.worst, entry])
        if self.quiet:
            return
        if self.as_json:
            yield json_line(row)
        elif not compared.same:
            if not self._heading_written:
                self._heading_written = True
                yield from ("", f"{clean(self.rows.file)}: {match_text(began)}")
            yield self._line(compared, entry)

    def _entry(self, began: events.MatchBegan, compared: ComparedDecision, row: Row) -> WorstDecision:
        place = Place(compared.match, row["game"], row["turn"])
        who = shown_names(began.transcript)[compared.decision.seat]
        dice = compared.decision.state.dice
        shown = "".join(map(str, sorted(dice, reverse=True))) if dice else ""
        done = f"{shown}: {compared.decision.text}" if dice else compared.decision.text
        return WorstDecision(compared.gain or 0.0, place, self.rows.file, who, done, compared.text, row["xgid"] or "")

    @staticmethod
    def _line(compared: ComparedDecision, entry: WorstDecision) -> str:
        """Return a decision as a line: place, player, decision, the strategy's answer, and its gain."""
        worth = "not valued" if compared.gain is None else f"{compared.gain:+.3f}"
        worth = clean(compared.fault, 80) if compared.fault else worth
        return f"  {entry.place!s:<10} {entry.who:<12} {entry.done:<26} {entry.answer or '-':<26} {worth}"


def totals_text(totals: ComparisonTotals, strategy: str, evaluator: str) -> Iterator[str]:
    """Yield the totals as text."""
    same = totals.compared - totals.different - totals.failed
    yield f"{strategy} was asked for {totals.compared:,} decisions: {same:,} the same, {totals.different:,} different"
    if totals.failed:
        yield f"  {totals.failed:,} had no answer"
    by = "by itself" if evaluator == strategy else f"by {evaluator}"
    yield f"  the differences are worth {totals.sum:.3f} in all, {totals.mean:.4f} a decision, {by}"
    yield f"  {strategy}'s answers are worth {totals.gained:.3f} more and {totals.lost:.3f} less"
    if totals.unvalued:
        yield f"  {totals.unvalued:,} of them {evaluator} has no value for"
    if totals.left_out:
        yield f"  {plural(totals.left_out, 'match')} left out, without a selected player"
    if totals.unplayed:
        yield f"  {plural(totals.unplayed, 'match')} left out, of games that {strategy} does not play"


def worst_decisions_text(worst: Iterable[WorstDecision], strategy: str) -> Iterator[str]:
    """Yield the table of the largest differences, each row with its XGID below."""
    yield f"    gain  {'place':<10} {'player':<12} {'played':<26} {strategy}"
    for decision in worst:
        yield (
            f"  {decision.gain:+.3f}  {decision.place!s:<10} {decision.who:<12} {decision.done:<26} {decision.answer}"
        ).rstrip()
        yield f"          {decision.xgid}   {clean(decision.file)}".rstrip()
