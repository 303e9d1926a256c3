"""Timeline of a match: the entries of its games that a reader can step through, with their analyses."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Final

from attrs import evolve, field, frozen

from fibsbot.analysis.model import AnalysedDecision, GameAnalysis, Grade, MatchAnalysis, PlayerStatistics, grade
from fibsbot.analysis.selection import GRADED, DecisionSelection
from fibsbot.games.sides_text import format_sides
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.notation import NotationError, Xgid, format_gnubg_id
from fibsbot.position import Play
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import GameState, Seat
from fibsbot.transcript import (
    Contest,
    Continuation,
    Cube,
    Game,
    Gap,
    Named,
    RejectedRoll,
    Resign,
    Step,
    Throw,
    decisions,
    walk,
)


class TimelineKind(enum.Enum):
    """Kind of a timeline entry; the value is the letter after the turn in its link."""

    THROW = ""
    """A roll and its play; the names of kinds are values in the JSON of `analyse`."""
    NO_DOUBLE = "n"
    """A roll before which the player should have doubled, if that is an error with a grade or one that is listed."""
    DOUBLE = "d"
    ANSWER = "a"
    RESIGNATION = "r"
    SETTLEMENT = "s"
    """The answer to a resignation."""
    REJECTION = "j"
    """A first roll that was rejected."""
    CONTINUATION = "c"
    """The play of a further part of a turn, or of a part that the opponent has left."""
    NAME = "m"
    """A double or a point that a player names."""
    CONTEST = "o"
    """Rolls of both players for who names a point."""
    GAP = "x"


@frozen
class TimelineEntry:
    """A step of the timeline."""

    key: str
    """Name in links, after that of the match, `g2t14`: game and turn, and the letter of the kind."""
    kind: TimelineKind
    step: Step
    seat: Seat | None
    """The player; None in a gap."""
    words: str
    """The action in a few words; for a roll the play."""
    state: MatchState | None
    """The position before it; None if there is none to show."""
    viewer: Seat
    """The player from whose side the position is seen."""
    analysed: AnalysedDecision | None = None
    """The decision, with its analysis."""
    not_doubled: AnalysedDecision | None = None
    """Of a roll: the decision not to double before it, unless that is an entry of its own."""
    listed: bool = field(default=False, kw_only=True)
    """Whether it is one of the errors that are listed."""

    @property
    def loss(self) -> float:
        """Loss of the decision, normalised equity."""
        return self.analysed.loss if self.analysed else 0.0

    @property
    def grade(self) -> Grade | None:
        """Grade of the decision."""
        return grade(self.loss)

    @property
    def luck(self) -> float | None:
        """Luck of the roll; None if there is no roll, or luck was not computed."""
        return self.analysed.luck if self.analysed and self.kind is TimelineKind.THROW else None

    @property
    def roll(self) -> Throw | None:
        """The roll, if the entry is one."""
        entry = self.step.entry
        return entry if isinstance(entry, Throw) and self.kind is TimelineKind.THROW else None

    @property
    def numbers(self) -> str:
        """The dice of a roll, or the numbers of a further part of a turn, `2222`; empty for what is no play."""
        if self.kind is TimelineKind.CONTINUATION and self.state is not None:
            return "".join(map(str, self.state.part.numbers))
        return self.roll.numbers if self.roll else ""

    @property
    def made(self) -> Play | None:
        """The play that was made, if the entry is a play."""
        entry = self.step.entry
        is_play = self.kind in {TimelineKind.THROW, TimelineKind.CONTINUATION}
        return entry.play if is_play and isinstance(entry, Throw | Continuation) else None

    @property
    def best_play(self) -> Play | None:
        """The best play, if another one was made."""
        if self.made is None or self.analysed is None or not self.analysed.options:
            return None
        best = self.analysed.options[0]
        return best.play if self.loss > 0 and best.text != self.words else None

    @property
    def best(self) -> str:
        """The best decision, as part of a sentence; empty if it was made or is unknown."""
        best = self.analysed.best if self.analysed and self.loss else ""
        return _GERUNDS.get(best, best)

    @property
    def ids(self) -> dict[str, str]:
        """XGID and GNUbg ID of the position, as far as they can express it; in other games the board as text."""
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
"""Texts of the best decisions other than plays, as part of a sentence."""


@frozen
class GameTimeline:
    """Timeline of a game."""

    number: int
    """Number of the game in its match; games are renumbered from 1 if two have the same."""
    game: Game
    entries: tuple[TimelineEntry, ...]
    figures: tuple[PlayerStatistics, PlayerStatistics]


@frozen
class MatchTimeline:
    """Timeline of a match."""

    analysis: MatchAnalysis
    anchor: str
    """Name of the match in links, `m1`."""
    games: tuple[GameTimeline, ...]
    selection: DecisionSelection = GRADED
    """Which errors are listed."""
    entries: tuple[TimelineEntry, ...] = field(init=False)
    """Entries of all games, in order."""

    @entries.default
    def _all_entries(self) -> tuple[TimelineEntry, ...]:
        return tuple(entry for game in self.games for entry in game.entries)

    @property
    def errors(self) -> list[TimelineEntry]:
        """The errors that are listed, in order."""
        return [entry for entry in self.entries if entry.listed]

    def link(self, entry: TimelineEntry) -> str:
        """Return the name of an entry in links, `m1g2t14`."""
        return f"{self.anchor}{entry.key}"


def match_timeline(analysis: MatchAnalysis, number: int = 1, *, selection: DecisionSelection = GRADED) -> MatchTimeline:
    """Return the timeline of a match; `number` is its place on the page, from 1, and `selection` says what is listed.

    Raises TranscriptError for an illegal transcript.
    """
    of_all = (analysed for game in analysis.games for analysed in game.decisions)
    listed = {id(analysed) for analysed in selection.of_match(analysis.transcript, of_all) if analysed.loss}
    numbers = [game.number for game in analysis.transcript.games]
    if len(set(numbers)) < len(numbers):
        numbers = list(range(1, len(numbers) + 1))
    games = zip(numbers, analysis.transcript.games, analysis.games, strict=True)
    timelines = tuple(_game_timeline(*game, listed) for game in games)
    return MatchTimeline(analysis, f"m{number}", timelines, selection)


def _game_timeline(number: int, game: Game, analysis: GameAnalysis, listed: Collection[int]) -> GameTimeline:
    """Return the timeline of a game; `listed` has the identities of the decisions that are listed as errors."""
    by_entry: dict[int, list[AnalysedDecision]] = {}
    for analysed in analysis.decisions:
        by_entry.setdefault(analysed.decision.step.index, []).append(analysed)
    seen: Counter[tuple[int, TimelineKind]] = Counter()

    def key(step: Step, kind: TimelineKind) -> str:
        """Return the key of an entry; further ones of the same kind in a turn, as after a beaver, are numbered."""
        seen[step.turn, kind] += 1
        again = seen[step.turn, kind]
        return f"g{number}t{step.turn}{kind.value}" + (f".{again}" if again > 1 else "")

    def marked(entry: TimelineEntry) -> TimelineEntry:
        return evolve(entry, listed=True) if entry.analysed and id(entry.analysed) in listed else entry

    entries = [
        marked(entry) for step in walk(game) for entry in _entries(step, by_entry.get(step.index, []), listed, key)
    ]
    return GameTimeline(number, game, tuple(entries), analysis.figures)


_KeyFunction = Callable[[Step, TimelineKind], str]


def _entries(
    step: Step, analysed: list[AnalysedDecision], listed: Collection[int], key: _KeyFunction
) -> Iterator[TimelineEntry]:
    match step.entry:
        case Throw():
            yield from _roll_entries(step, step.entry, analysed, listed, key)
        case RejectedRoll(seat=seat, dice=dice):
            words = f"rejects {max(dice)}{min(dice)}, the cube shows {step.after.cube}"
            state, viewer = _state_to_act(step.before)
            yield TimelineEntry(
                key(step, TimelineKind.REJECTION), TimelineKind.REJECTION, step, seat, words, state, viewer
            )
        case Continuation(seat=seat) | Named(seat=seat):
            is_play = isinstance(step.entry, Continuation)
            kind = TimelineKind.CONTINUATION if is_play else TimelineKind.NAME
            made = analysed[0].decision if analysed else decisions(step)[0]
            words = made.text if is_play else made.text.replace("name", "names")
            yield TimelineEntry(key(step, kind), kind, step, seat, words, made.state, seat, *analysed[:1])
        case Contest(totals=(a, b)):
            seat, kind = Seat.A if a >= b else Seat.B, TimelineKind.CONTEST
            words = f"rolls {max(a, b)} against {min(a, b)} for who opens a point"
            yield TimelineEntry(key(step, kind), kind, step, seat, words, *_state_to_act(step.after))
        case Cube(seat=seat, action=action):
            kind = TimelineKind.DOUBLE if action is CubeAction.DOUBLE else TimelineKind.ANSWER
            words = _CUBE_WORDS[action].format(2 * (step.before.offered or step.before.cube))
            state = MatchState.of(step.before, seat)
            yield TimelineEntry(key(step, kind), kind, step, seat, words, state, seat, *analysed[:1])
        case Resign() as entry:
            yield from _resignation_entries(step, entry, analysed, key)
        case Gap(reason=reason, then=then):
            yield TimelineEntry(key(step, TimelineKind.GAP), TimelineKind.GAP, step, None, reason, *_state_to_act(then))


_CUBE_WORDS: Final = {
    CubeAction.DOUBLE: "doubles to {}",
    CubeAction.TAKE: "takes",
    CubeAction.PASS: "drops",
    CubeAction.BEAVER: "beavers to {}",
}


def _resignation_entries(
    step: Step, resign: Resign, analysed: list[AnalysedDecision], key: _KeyFunction
) -> Iterator[TimelineEntry]:
    """Yield the offer and the answer; both show the position in which they were made."""
    state, viewer = _state_to_act(step.before)
    texts = {
        TimelineKind.RESIGNATION: (resign.seat, f"resigns {resign.level.words}"),
        TimelineKind.SETTLEMENT: (resign.seat.other, "accepts" if resign.accepted else "rejects"),
    }
    for kind, (seat, words) in texts.items():
        own = [decision for decision in analysed if decision.decision.seat is seat]
        yield TimelineEntry(key(step, kind), kind, step, seat, words, state, viewer, *own[:1])


def _roll_entries(
    step: Step, roll: Throw, analysed: list[AnalysedDecision], listed: Collection[int], key: _KeyFunction
) -> Iterator[TimelineEntry]:
    not_doubled = next((decision for decision in analysed if decision.decision.answer is CubeAction.ROLL), None)
    played = next((decision for decision in analysed if isinstance(decision.decision.answer, Play)), None)
    if not_doubled and (grade(not_doubled.loss) or id(not_doubled) in listed):
        kind = TimelineKind.NO_DOUBLE
        yield TimelineEntry(
            key(step, kind),
            kind,
            step,
            roll.seat,
            "does not double",
            not_doubled.decision.state,
            roll.seat,
            not_doubled,
        )
        not_doubled = None
    if roll.play is None:
        state = MatchState.of(step.after, roll.seat)
        words = "not played" if state and state.phase is Phase.MOVE else "nothing to play"
        if state and state.phase is Phase.NAME:
            words = "may name a double"
        state = state or MatchState.of(step.before, roll.seat)
    else:
        made = played.decision if played else decisions(step)[-1]
        state, words = made.state, made.text
    yield TimelineEntry(
        key(step, TimelineKind.THROW), TimelineKind.THROW, step, roll.seat, words, state, roll.seat, played, not_doubled
    )


def _state_to_act(game: GameState) -> tuple[MatchState | None, Seat]:
    """Return the position as seen by the player who has to act, and that player."""
    seat = next((player for player in (game.answering, game.namer) if player is not None), game.turn)
    return MatchState.of(game, seat), seat


def _ids(state: MatchState) -> dict[str, str]:
    if isinstance(state.board, Sides):
        return {"Board": format_sides(state.board)}
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
