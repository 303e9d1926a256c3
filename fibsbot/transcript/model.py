"""Transcripts: players, games and their entries, all immutable, and the states before and after each entry.

The rules core refuses an entry that is illegal in its place.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import field, frozen

from fibsbot.fast_evolve import fast_evolve
from fibsbot.match import CubeAction, Dice, MatchState, Phase
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.rules.backgammon import BACKGAMMON, first_board, is_backgammon
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import Level
from fibsbot.rules.permissions import refusal_to_double
from fibsbot.rules.ruleset import Ruleset
from fibsbot.rules.state import GameState, Result, Seat, Stage
from fibsbot.text import plural

ID_LENGTH: Final = 16
"""Hexadecimal digits of a match ID."""


@frozen
class Player:
    """A player at a seat."""

    name: str
    rating: float | None = None
    """At the start of the match."""
    experience: int | None = None
    """Points played before the match."""


@frozen
class Verdict:
    """What the analysis in a file, which another program made, says of a decision."""

    by: str
    """The program and how deep it searched, as it counts: `XG 3-ply`."""
    loss: float
    """Equity lost compared with the best decision, never negative; normalised to the cube before the decision."""
    best: str = ""
    """The best decision in notation, as in `Decision.text`."""
    equity: float | None = None
    """Of the best decision, for the player who decided."""
    luck: float | None = None
    """Of the roll before a play, for the player."""


@frozen(slots=False, kw_only=True)
class Entry:
    """An event of a game, with its details."""

    at: dt.datetime | None = None
    """Time, UTC."""
    seconds: float | None = None
    """The player's thinking time, if a log has it."""
    equity: float | None = None
    """The equity that the player's strategy expected, if a log has it: points per game at the current cube."""
    rebuilt: bool = False
    """Whether it was not seen, but reconstructed as the only possible event between two boards."""
    verdict: Verdict | None = None
    """Of the play or the cube action, if the file has an analysis."""


@frozen(slots=False)
class Throw(Entry):
    """A roll and its play; in a turn of several parts, that of the first.

    The first one of a game is the opening roll, unless its winner rolls anew: then the game starts before that roll.
    """

    seat: Seat
    dice: Dice
    play: Play | None = None
    """As the player sees the board; no moves: a dance. None: rolled, and nothing more seen before the game ended."""
    undoubled: Verdict | None = field(default=None, kw_only=True)
    """Of the decision not to double before the roll, if the file has an analysis."""

    @property
    def numbers(self) -> str:
        """The dice, the highest first: `31`."""
        return "".join(map(str, sorted(self.dice, reverse=True)))


@frozen(slots=False)
class Continuation(Entry):
    """The play of a further part of a turn, or of a part that the opponent has left; some games have them."""

    seat: Seat
    play: Play


@frozen(slots=False)
class Named(Entry):
    """The double to play, or the point to open, that a player names; some games have them."""

    seat: Seat
    number: int


@frozen(slots=False)
class Contest(Entry):
    """Two dice that each player rolls for who names a point; a tie is followed by another one."""

    totals: tuple[int, int]
    """Of seat A and seat B."""


@frozen(slots=False)
class RejectedRoll(Entry):
    """A first roll that was rejected, which doubles the cube; another one follows."""

    seat: Seat
    dice: Dice


@frozen(slots=False)
class Cube(Entry):
    """A double, or the answer to one."""

    seat: Seat
    action: CubeAction
    """DOUBLE, TAKE, PASS or BEAVER (ROLL is no entry: a Throw shows it)."""


@frozen(slots=False)
class Resign(Entry):
    """An offer to resign, and the answer."""

    seat: Seat
    """The player who offered to resign."""
    level: Level
    accepted: bool


@frozen(slots=False)
class Gap(Entry):
    """A missing part of a game, of which only the state after it is known."""

    reason: str
    """The missing part and the cause, in a few words."""
    then: GameState
    """The state in which the game went on."""


@frozen
class Game:
    """A game of a match."""

    number: int
    """From 1, among the games that were seen."""
    start: GameState
    """Before the opening roll (stage OPENING); any other stage for a game first seen in its middle."""
    entries: tuple[Entry, ...] = ()
    result: Result | None = None
    """The result as reported or as the entries show; None for a game that was not seen to its end."""

    @property
    def whole(self) -> bool:
        """Whether it was seen from its opening roll, without a gap."""
        return self.has_beginning and not any(isinstance(entry, Gap) for entry in self.entries)

    @property
    def has_beginning(self) -> bool:
        """Whether it was seen from its opening roll, or from the first roll where that is not the opening roll."""
        start = self.start
        if start.stage is not Stage.ROLL or start.rules is BACKGAMMON:
            return start.stage is Stage.OPENING
        return not start.turns and start.board == first_board(start.rules)

    @property
    def scores(self) -> tuple[int, int]:
        """Points of seat A and seat B after the game, as far as they are known."""
        result = self.result
        return self.start.scores if result is None else add_points(self.start.scores, result.winner, result.points)


def add_points(scores: tuple[int, int], winner: Seat, points: int) -> tuple[int, int]:
    """Return the scores after the winner of a game has got its points."""
    a, b = scores
    return (a + points, b) if winner is Seat.A else (a, b + points)


def end_game(state: GameState, result: Result) -> GameState:
    """Return the end of a game of which only the result is known."""
    scores = add_points(state.scores, result.winner, result.points)
    over = fast_evolve(state, stage=Stage.OVER, scores=scores, result=result, dice=None, resignation=None)
    return fast_evolve(over, offered=0, answering=None, redoubles=0)


@frozen
class Transcript:
    """A match, as far as it was seen."""

    players: tuple[Player, Player]
    """Those of seat A and seat B."""
    length: int
    """Points; 0 is unlimited."""
    games: tuple[Game, ...] = ()
    user: Seat | None = None
    """The owner of the log; None for a match that was watched, or if a file does not say."""
    site: str = ""
    """Name or address of the server."""
    started: dt.datetime | None = None
    ended: dt.datetime | None = None
    """Time at which it was won or last seen."""
    given_id: str = ""
    """The match ID in a file."""
    tags: Mapping[str, str] = field(factory=dict, hash=False)
    """The other headers of a file."""
    remarks: tuple[str, ...] = field(default=(), eq=False)
    """How the reader of a file took what the file leaves unclear, a line each; no part of the match."""

    def __str__(self) -> str:
        """Return players, length, number of games and score in a line; `repr` has everything."""
        length = f"{self.length} point match" if self.length else "unlimited match"
        names = " - ".join(player.name for player in self.players)
        return f"{names}, {length}, {plural(len(self.games), 'game')}, {self.scores[0]}-{self.scores[1]}"

    @property
    def rules(self) -> Ruleset:
        """The game that is played."""
        return self.games[0].start.rules if self.games else BACKGAMMON

    @property
    def is_backgammon(self) -> bool:
        """Whether its plays are those of backgammon, perhaps from another set-up or with another count."""
        return is_backgammon(self.rules)

    @property
    def scores(self) -> tuple[int, int]:
        """Points of seat A and seat B at the end, as far as they are known."""
        return self.games[-1].scores if self.games else (0, 0)

    @property
    def winner(self) -> Seat | None:
        """The winner of the match; None for an unfinished or unlimited one."""
        return next((seat for seat in Seat if self.length and self.scores[seat] >= self.length), None)

    @property
    def match_id(self) -> str:
        """The ID of the match: the given one, or a hash that is always the same for the same match."""
        if self.given_id:
            return self.given_id
        names = sorted(player.name for player in self.players)
        known = [self.site, *names, str(self.length)]
        if self.started:
            known.append(self.started.astimezone(dt.UTC).isoformat(timespec="seconds"))
        else:
            throws = [entry.dice for game in self.games[:1] for entry in game.entries if isinstance(entry, Throw)]
            known.append(repr(throws))
        return hashlib.sha256("\0".join(known).encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


Answer: TypeAlias = Play | CubeAction | Level | bool | Named
"""A play; roll, double, take, pass or beaver; the level of a resignation; whether to accept one; a name."""


class TranscriptError(ValueError):
    """An entry is illegal in its place; the text is one line with the place and the reason."""


_CUBE_RULES: Final[Mapping[CubeAction, Callable[[GameState, Seat], GameState]]] = {
    CubeAction.DOUBLE: rules.double,
    CubeAction.TAKE: rules.take,
    CubeAction.PASS: rules.drop,
    CubeAction.BEAVER: rules.redouble,
}


@frozen(slots=False)
class Step:
    """An entry of a game, with the game before and after it."""

    game: int
    """Number of the game."""
    index: int
    """Index of the entry in the game, from 0."""
    before: GameState
    entry: Entry
    after: GameState
    rolled: GameState | None = field(default=None, eq=False, repr=False)
    """The game with the dice on the board, before the play, if it is known already."""

    @property
    def turn(self) -> int:
        """Number of the turn within the game, from 1; a double belongs to the turn of the player who doubles."""
        return self.before.turns + 1


@frozen(slots=False)
class Decision:
    """A decision of a player."""

    step: Step
    seat: Seat
    """The player who decided."""
    state: MatchState
    """As the deciding player sees it."""
    answer: Answer

    @property
    def forced(self) -> bool:
        """Whether there was no choice: a dance, or the only play or name. A resignation is never forced."""
        state = self.state
        if isinstance(self.answer, Named):
            return len(state.names) < 2
        return state.phase is Phase.MOVE and isinstance(self.answer, Play) and not state.has_choice

    @property
    def stored(self) -> Verdict | None:
        """What the analysis in the file says of it; None without one."""
        entry = self.step.entry
        return entry.undoubled if isinstance(entry, Throw) and self.answer is CubeAction.ROLL else entry.verdict

    @property
    def text(self) -> str:
        """The answer in the usual notation."""
        match self.answer:
            case Play():
                return format_play(self.answer, self.state)
            case Named():
                return name_text(self.answer.number)
            case CubeAction():
                return self.answer.value
            case Level():
                return f"resign {self.answer.value}"
        return "accept" if self.answer else "reject"


def name_text(number: int) -> str:
    """Return a named double or point in words."""
    return f"name {number}"


def walk(game: Game) -> Iterator[Step]:
    """Yield every entry of a game with the states around it. Raises TranscriptError at the first that is not legal."""
    state = game.start
    for index, entry in enumerate(game.entries):
        try:
            after = apply(state, entry)
        except RuleError as error:
            raise TranscriptError(f"game {game.number}, turn {state.turns + 1}: {error}") from error
        yield Step(game.number, index, state, entry, after)
        state = after


def apply(state: GameState, entry: Entry) -> GameState:
    """Return the game after an entry. Raises RuleError if the rules forbid it."""
    match entry:
        case Throw():
            rolled = after_roll(state, entry)
            after = rolled if entry.play is None else rules.play(rolled, entry.seat, entry.play)
        case Continuation():
            after = rules.play(state, entry.seat, entry.play)
        case Named():
            after = rules.name(state, entry.seat, entry.number)
        case Contest(totals=(a, b)):
            after = rules.roll_contest(state, a, b)
        case RejectedRoll(seat=seat, dice=dice):
            after = rules.reject_roll(after_roll(state, Throw(seat=seat, dice=dice)), seat)
        case Cube(action=CubeAction() as action) if action in _CUBE_RULES:
            after = _CUBE_RULES[action](state, entry.seat)
        case Resign():
            offered = rules.resign(state, entry.seat, entry.level)
            answer = rules.accept_resignation if entry.accepted else rules.reject_resignation
            after = answer(offered, entry.seat.other)
        case Gap():
            after = entry.then
        case _:
            raise TypeError(f"expected an entry of a game, got {entry!r}")
    return after


def after_roll(state: GameState, entry: Throw) -> GameState:
    """Return the game after a roll, before its play. Raises RuleError if the rules forbid it."""
    if state.stage is Stage.MOVE and entry.seat is state.turn and state.dice is not None:
        if sorted(state.dice) != sorted(entry.dice):  # a game first seen with the dice on the board
            raise RuleError(f"expected the dice {state.dice}, which lie on the board, got {entry.dice}")
        return state
    if state.stage is Stage.OPENING and entry.dice[0] != entry.dice[1]:
        high, low = max(entry.dice), min(entry.dice)
        rolled = rules.roll_opening(state, *((high, low) if entry.seat is Seat.A else (low, high)))
        return fast_evolve(rolled, dice=entry.dice)
    return rules.roll(state, entry.seat, entry.dice)


def decisions(step: Step) -> tuple[Decision, ...]:
    """Return the decisions of an entry, in order; before a roll there is the one not to double, if that was allowed.

    Whether to reject a first roll is not among them: no evaluator judges it.
    """
    before, entry = step.before, step.entry
    match entry:
        case Throw(seat=seat):
            return (*_roll_decision(step, seat), *_play_decision(step, entry))
        case Named(seat=seat):
            return _decision(step, before, seat, entry)
        case RejectedRoll(seat=seat):
            return _roll_decision(step, seat)
        case Cube(seat=seat, action=answer) | Continuation(seat=seat, play=answer):
            return _decision(step, before, seat, answer)
        case Resign(seat=seat):
            offered = rules.resign(before, seat, entry.level)
            offer = _decision(step, before, seat, entry.level)
            return (*offer, *_decision(step, offered, seat.other, entry.accepted))
    return ()


def count_decisions(step: Step) -> int:
    """Return the number of decisions of an entry, which is quicker than listing them."""
    before, entry = step.before, step.entry
    if not isinstance(entry, Throw) or before.resignation:
        return len(decisions(step))
    rolled = before.stage is Stage.ROLL and not refusal_to_double(before, entry.seat)
    return rolled + (entry.play is not None)


def _roll_decision(step: Step, seat: Seat) -> tuple[Decision, ...]:
    before = step.before
    if before.stage is not Stage.ROLL or refusal_to_double(before, seat):
        return ()
    return _decision(step, before, seat, CubeAction.ROLL)


def _play_decision(step: Step, entry: Throw) -> tuple[Decision, ...]:
    if entry.play is None:
        return ()
    found = _decision(step, step.rolled or after_roll(step.before, entry), entry.seat, entry.play)
    return tuple(map(_kept, found))


def _kept(decision: Decision) -> Decision:
    """Return a decision about a play, of a roll that was not rejected."""
    if not decision.state.may_reject:
        return decision
    return fast_evolve(decision, state=fast_evolve(decision.state, may_reject=False))


def _decision(step: Step, before: GameState, seat: Seat, answer: Answer) -> tuple[Decision, ...]:
    state = MatchState.of(before, seat)
    return () if state is None else (Decision(step, seat, state, answer),)
