"""What happens as JSON objects, one a line; docs/replay.md says what stands in them."""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from attrs import frozen

from fibsbot.bot.decisions import xgid_of
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation import NotationError, format_gnubg_id
from fibsbot.replay.deciding import Asked, Findings
from fibsbot.replay.happenings import (
    Differed,
    GameBegan,
    GameEnded,
    Happened,
    Happening,
    MatchBegan,
    MatchEnded,
)
from fibsbot.rules.game import decision as decision_of
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Decision, Entry, Gap, Step, Throw, Transcript

Row: TypeAlias = dict[str, Any]

LONGEST: Final = 1000
"""Characters of a text from a file; more would be no name and no reason."""


@frozen
class Rows:
    """Makes the objects of one file."""

    file: str
    """The file's name, which stands in each object."""

    def of(self, happening: Happening, names: tuple[str, str]) -> Iterator[Row]:
        """Yield the objects for something that happened between these players."""
        match happening:
            case MatchBegan(match=match, transcript=transcript):
                yield self._row("match", match) | _match(transcript, happening.at)
            case GameBegan(match=match, game=game):
                start = game.start
                row = {"game": game.number, "turn": start.turns + 1, "scores": start.scores, "crawford": start.crawford}
                yield self._row("game", match) | row | {"begun": start.stage is Stage.OPENING}
            case Happened():
                yield from self._happened(happening, names)
            case Differed(match=match):
                place = {"game": happening.game, "turn": happening.turn}
                for it in happening.differences:
                    row = {"what": it.what, "ours": _plain(it.ours), "theirs": _plain(it.theirs)}
                    where = {"offset": happening.offset, "time": _time(happening.at)}
                    yield self._row("difference", match) | place | row | where
            case GameEnded(match=match, game=game):
                result = game.result
                row = {"game": game.number, "whole": game.whole}
                row |= dict.fromkeys(("winner", "points", "level", "how"))
                if result:
                    counted = {"points": result.points, "level": int(result.level), "how": result.how.value}
                    row |= {"winner": _short(names[result.winner]), **counted}
                yield self._row("game_end", match) | row
            case MatchEnded(match=match, transcript=transcript):
                winner = transcript.winner
                row = {"winner": None if winner is None else _short(names[winner]), "scores": transcript.scores}
                ids = {"match_id": _short(transcript.match_id), "time": _time(transcript.ended)}
                yield self._row("match_end", match) | row | ids

    def decision(self, match: int, decision: Decision, names: tuple[str, str]) -> Row:
        """Return the object for a decision."""
        step, state, answer = decision.step, decision.state, decision.text
        entry, playing = step.entry, state.phase is Phase.MOVE
        rolled = decision.answer is CubeAction.ROLL  # what an entry knows beyond that is about the play
        return self._row("decision", match) | {
            "game": step.game,
            "turn": step.turn,
            "who": _short(names[decision.seat]),
            "seat": decision.seat.name,
            **_ids(state),
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

    def asked(self, asked: Asked, names: tuple[str, str], strategy: str) -> Row:
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

    def _happened(self, happening: Happened, names: tuple[str, str]) -> Iterator[Row]:
        match, step = happening.match, happening.step
        entry = step.entry
        for decision in happening.decisions:
            yield self.decision(match, decision, names)
        if isinstance(entry, Throw) and entry.play is None:
            row = {"who": _short(names[entry.seat]), "seat": entry.seat.name, "dice": entry.dice}
            yield self._row("throw", match) | self._place(step) | row | _known(entry)
        elif isinstance(entry, Gap):
            then = entry.then
            gap: Row = {"reason": _short(entry.reason), "then_turn": then.turns + 1, **_ids(_seen(then))}
            yield self._row("gap", match) | self._place(step) | gap | {"time": _time(entry.at)}

    def _row(self, kind: str, match: int) -> Row:
        return {"kind": kind, "file": self.file, "match": match}

    @staticmethod
    def _place(step: Step) -> Row:
        return {"game": step.game, "turn": step.turn}


def findings_row(findings: Findings, strategy: str, judge: str) -> Row:
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


def _match(transcript: Transcript, at: dt.datetime | None) -> Row:
    return {
        "players": [
            {"name": _short(player.name), "rating": player.rating, "experience": player.experience}
            for player in transcript.players
        ],
        "length": transcript.length,
        "user": None if transcript.user is None else _short(transcript.players[transcript.user].name),
        "site": _short(transcript.site),
        "time": _time(transcript.started or at),
    }


def _ids(state: MatchState | None) -> Row:
    if state is None:
        return {"xgid": None, "gnubg_id": None}
    try:
        gnubg_id = format_gnubg_id(state)
    except NotationError:
        gnubg_id = None
    return {"xgid": xgid_of(state), "gnubg_id": gnubg_id}


def _seen(state: GameState) -> MatchState | None:
    """Return a state as whoever has to decide in it sees it; None where nobody has."""
    seen = (decision_of(state, seat) for seat in Seat)
    return next((it for it in seen if it is not None), None)


def _known(entry: Entry) -> Row:
    return {"time": _time(entry.at), "rebuilt": entry.rebuilt}


def _time(at: dt.datetime | None) -> str | None:
    return at.isoformat() if at else None


def _rounded(value: float | None) -> float | None:
    """Return a value with the digits that mean something; NaN and the like are none."""
    return round(value, 6) if value is not None and math.isfinite(value) else None


def _short(text: str) -> str:
    return text[:LONGEST]


def _plain(value: object) -> object:
    """Return what JSON can hold of a part of the state."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, tuple | list):
        return [_plain(it) for it in value[:100]]
    return _short(str(value))
