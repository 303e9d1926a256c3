"""The timeline of a match: every entry of its games that a reader can stop at, with its analysis."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from attrs import field, frozen

from fibsbot.analysis.model import AnalysedDecision, GameAnalysis, MatchAnalysis, PlayerStatistics
from fibsbot.match import CubeAction, MatchState
from fibsbot.notation import NotationError, Xgid, format_gnubg_id
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import Cube, Game, Gap, Resign, Step, Throw, decisions, walk


class Grade(enum.Enum):
    """How bad a decision is, with the sign that stands for it."""

    DOUBTFUL = "?!"
    ERROR = "?"
    BLUNDER = "??"


GRADE_THRESHOLDS: Final = {Grade.BLUNDER: 0.08, Grade.ERROR: 0.04, Grade.DOUBTFUL: 0.02}
"""The loss from which on a decision has a grade, the worst first; normalised equity."""
LUCK_THRESHOLD: Final = 0.3
"""From how much luck on, good or bad, a throw is marked; normalised equity."""
RESIGNATION_LEVELS: Final = {Level.SINGLE: "a single game", Level.GAMMON: "a gammon", Level.BACKGAMMON: "a backgammon"}
"""What somebody resigns."""


def grade(loss: float) -> Grade | None:
    """Return how bad a loss is; None for one that does not matter."""
    # A hair's breadth is allowed for: 0.3 - 0.26 is less than 0.04 to a computer.
    return next((it for it, least in GRADE_THRESHOLDS.items() if loss > least - 1e-9), None)


class EntryKind(enum.Enum):
    """What a stop is about; the value is the letter that follows the turn in its link."""

    THROW = ""
    NO_DOUBLE = "n"
    """A throw before which there should have been a double."""
    DOUBLE = "d"
    ANSWER = "a"
    RESIGNATION = "r"
    SETTLEMENT = "s"
    """The answer to it."""
    GAP = "x"


@frozen
class TimelineEntry:
    """A place in a match to stop at."""

    key: str
    """What links call it after the match, `g2t14`: game and turn, and a letter for all but throws (see Kind)."""
    kind: EntryKind
    step: Step
    seat: Seat | None
    """Who did something; None in a gap."""
    words: str
    """What was done, in a few words; of a throw the play."""
    state: MatchState | None
    """The position in which it was done; None where there is none to show."""
    viewer: Seat
    """Who sees the position so."""
    judged: AnalysedDecision | None = None
    """What was decided here, and what a judge says of it."""
    rolled: AnalysedDecision | None = None
    """Of a throw: the decision not to double before it, where that is no stop of its own."""

    @property
    def loss(self) -> float:
        """What the decision cost, normalised equity."""
        return self.judged.loss if self.judged else 0.0

    @property
    def grade(self) -> Grade | None:
        """How bad the decision was."""
        return grade(self.loss)

    @property
    def luck(self) -> float | None:
        """Of the throw; None where there is none, or it was not worked out."""
        return self.judged.luck if self.judged and self.kind is EntryKind.THROW else None

    @property
    def throw(self) -> Throw | None:
        """The throw that the stop is about, if it is about one."""
        entry = self.step.entry
        return entry if isinstance(entry, Throw) and self.kind is EntryKind.THROW else None

    @property
    def best_play(self) -> Play | None:
        """The best play, where another one was made."""
        throw = self.throw
        if throw is None or self.judged is None or not self.judged.options:
            return None
        best = self.judged.options[0]
        return best.play if self.loss > 0 and best.text != self.words else None

    @property
    def best(self) -> str:
        """The best decision, as a part of a sentence; empty where it was made or is not known."""
        best = self.judged.best if self.judged and self.loss else ""
        return _GERUNDS.get(best, best)

    @property
    def ids(self) -> dict[str, str]:
        """The position as other programs read it, XGID and GNUbg ID, as far as these can say it."""
        return _ids(self.state) if self.state else {}


_GERUNDS: Final = {
    "roll": "not doubling",
    "double": "doubling",
    "take": "taking",
    "pass": "passing",
    "beaver": "a beaver",
    "accept": "accepting",
    "reject": "rejecting",
    "play on": "playing on",
}
"""What can be best, apart from plays, as a part of a sentence."""


@frozen
class GameTimeline:
    """A game with its stops."""

    number: int
    """Of the game in its match, as everywhere else; counted anew from 1 where two games have the same."""
    game: Game
    stops: tuple[TimelineEntry, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]


@frozen
class MatchTimeline:
    """A match with its games and their stops."""

    study: MatchAnalysis
    anchor: str
    """What links call the match, `m1`."""
    games: tuple[GameTimeline, ...]
    stops: tuple[TimelineEntry, ...] = field(init=False)
    """Of all games, in their order."""

    @stops.default
    def _all_stops(self) -> tuple[TimelineEntry, ...]:
        return tuple(stop for game in self.games for stop in game.stops)

    def link(self, stop: TimelineEntry) -> str:
        """Return what links call a stop of this match, `m1g2t14`."""
        return f"{self.anchor}{stop.key}"


def match_timeline(study: MatchAnalysis, number: int = 1) -> MatchTimeline:
    """Find the stops of a match; `number` is its place on the page, from 1.

    Raises TranscriptError for a transcript that cannot have happened.
    """
    numbers = [game.number for game in study.transcript.games]
    if len(set(numbers)) < len(numbers):
        numbers = list(range(1, len(numbers) + 1))
    games = zip(numbers, study.transcript.games, study.games, strict=True)
    sheets = tuple(_game_timeline(*it) for it in games)
    return MatchTimeline(study, f"m{number}", sheets)


def _game_timeline(number: int, game: Game, study: GameAnalysis) -> GameTimeline:
    by_entry: dict[int, list[AnalysedDecision]] = {}
    for judged in study.judged:
        by_entry.setdefault(judged.decision.step.index, []).append(judged)
    seen: Counter[tuple[int, EntryKind]] = Counter()

    def key(step: Step, kind: EntryKind) -> str:
        """Name a stop; several of a kind in a turn, as after a beaver, are counted."""
        seen[step.turn, kind] += 1
        again = seen[step.turn, kind]
        return f"g{number}t{step.turn}{kind.value}" + (f".{again}" if again > 1 else "")

    stops = [stop for step in walk(game) for stop in _entries(step, by_entry.get(step.index, []), key)]
    return GameTimeline(number, game, tuple(stops), study.figures)


_KeyFunction = Callable[[Step, EntryKind], str]


def _entries(step: Step, judged: list[AnalysedDecision], key: _KeyFunction) -> Iterator[TimelineEntry]:
    match step.entry:
        case Throw():
            yield from _roll_entries(step, step.entry, judged, key)
        case Cube(seat=seat, action=action):
            kind = EntryKind.DOUBLE if action is CubeAction.DOUBLE else EntryKind.ANSWER
            words = _CUBE_WORDS[action].format(2 * (step.before.offered or step.before.cube))
            state = rules.decision(step.before, seat)
            yield TimelineEntry(key(step, kind), kind, step, seat, words, state, seat, *judged[:1])
        case Resign() as entry:
            yield from _resignation_entries(step, entry, judged, key)
        case Gap(reason=reason, then=then):
            yield TimelineEntry(key(step, EntryKind.GAP), EntryKind.GAP, step, None, reason, *_waiting(then))


_CUBE_WORDS: Final = {
    CubeAction.DOUBLE: "doubles to {}",
    CubeAction.TAKE: "takes",
    CubeAction.PASS: "drops",
    CubeAction.BEAVER: "beavers to {}",
}


def _resignation_entries(
    step: Step, resign: Resign, judged: list[AnalysedDecision], key: _KeyFunction
) -> Iterator[TimelineEntry]:
    """The offer and its answer; both are shown with the position as it was played in."""
    state, viewer = _waiting(step.before)
    said = {
        EntryKind.RESIGNATION: (resign.seat, f"resigns {RESIGNATION_LEVELS[resign.level]}"),
        EntryKind.SETTLEMENT: (resign.seat.other, "accepts" if resign.accepted else "rejects"),
    }
    for kind, (seat, words) in said.items():
        its = [it for it in judged if it.decision.seat is seat]
        yield TimelineEntry(key(step, kind), kind, step, seat, words, state, viewer, *its[:1])


def _roll_entries(
    step: Step, throw: Throw, judged: list[AnalysedDecision], key: _KeyFunction
) -> Iterator[TimelineEntry]:
    rolled = next((it for it in judged if it.decision.answer is CubeAction.ROLL), None)
    played = next((it for it in judged if isinstance(it.decision.answer, Play)), None)
    if rolled and grade(rolled.loss):
        kind = EntryKind.NO_DOUBLE
        yield TimelineEntry(
            key(step, kind), kind, step, throw.seat, "does not double", rolled.decision.state, throw.seat, rolled
        )
        rolled = None
    if throw.play is None:
        state, words = rules.decision(step.after, throw.seat), "not played"
    else:
        made = played.decision if played else decisions(step)[-1]
        state, words = made.state, made.text
    yield TimelineEntry(
        key(step, EntryKind.THROW), EntryKind.THROW, step, throw.seat, words, state, throw.seat, played, rolled
    )


def _waiting(game: GameState) -> tuple[MatchState | None, Seat]:
    """Return the position as the one sees it who has to do something, and who that is."""
    seat = game.turn if game.answering is None else game.answering
    return rules.decision(game, seat), seat


def _ids(state: MatchState) -> dict[str, str]:
    writers: dict[str, Callable[[MatchState], str]] = {
        "XGID": lambda state: str(Xgid.of(state)),
        "GNUbg ID": format_gnubg_id,
    }
    ids = {}
    for name, write in writers.items():
        try:
            ids[name] = write(state)
        except NotationError:
            continue  # a resignation in an XGID, or a cube that an ID cannot hold
    return ids
