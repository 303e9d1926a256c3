"""The entries of one game that is being built, each checked against the rules before it is added.

game_builder.py adds what the lines report.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from attrs import frozen

from fibs_protocol.words import FibsMove
from fibsbot.bot.tracked_match import Difference
from fibsbot.fast_evolve import fast_evolve
from fibsbot.fibs_numbering import play_of_server_moves
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.replay.logged_decisions import with_logged_details
from fibsbot.rules import game as rules
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import Level
from fibsbot.rules.state import GameState, Resignation, Result, Seat, Stage
from fibsbot.table_lines import play_of_moves
from fibsbot.transcript import Contest, Continuation, Cube, Entry, Game, Named, Step, Throw, after_roll, apply
from fibsbot.transcript.missing_parts import missing_parts_of
from fibsbot.transcript.reconstruction import PlayWithoutRoll, ReportedEvent

MAX_SET_ASIDE: Final = 8
"""Events that are set aside while the state of the game is unknown; more of them become a gap in any case."""
MISSING_END: Final = "the end of the game is missing"


@frozen
class LineCodec:
    """What a kind of lines says of a game, and how."""

    read_moves: Callable[[Iterable[FibsMove]], Play]
    whole: bool
    """Whether a line shows the whole state, so that the rules find what contradicts it.

    Where it does not, the agent's tracking does (session_tracker.py)."""


BOARD_LINES: Final = LineCodec(play_of_server_moves, whole=False)
"""Backgammon: `board:` lines and drawn boards, points in the numbering of the server."""
STATE_LINES: Final = LineCodec(play_of_moves, whole=True)
"""Any other game: `table:` lines, points in the numbering of the player."""


@frozen
class SentPlay:
    """A play that was sent or announced. It counts once something shows that it was made."""

    play: Play
    at: dt.datetime | None


@frozen
class PendingResignation:
    """An offer to resign that has not been answered."""

    seat: Seat
    level: Level | None
    """None if the points offered fit no level."""
    points: int


class GameEntries:
    """The entries of a game that is being built, and the state after them."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a game is, and who hears of it
        self,
        number: int,
        start: GameState,
        on_step: Callable[[Step], None],
        silent_seat: Seat | None = None,
        codec: LineCodec = BOARD_LINES,
        on_differences: Callable[[tuple[Difference, ...]], None] = lambda _: None,
    ) -> None:
        """Start in the state that was seen first; `on_step` is called with each entry before it is added.

        `on_differences` is called with what contradicts the game, if the lines show whole states.
        """
        self.number = number
        self.codec = codec
        self._differ = on_differences
        self._missing = missing_parts_of(start.rules)
        self.start = start
        self.settled_state = start
        """The game after the entries so far."""
        self.entries: list[Entry] = []
        self.rolled: Throw | None = None
        """The roll on the board whose play is not known yet."""
        self.sent_play: SentPlay | None = None
        self.silent_seat = silent_seat
        """The player whose plays only boards show: the user, in a capture without the user's own commands."""
        self.resumed = False
        """Whether the match was resumed and nothing has happened since; the server repeats a pending double then."""
        self.decision_logs: dict[str, Mapping[str, Any]] = {}
        """The log's records of the user's latest decisions, by phase."""
        self._on_step = on_step
        self._resignation: PendingResignation | None = None
        self._set_aside: list[ReportedEvent] | None = None
        """The events since the state became unknown; None while it is known."""
        self._reported_result: Result | None = None
        self._before: GameState | None = None
        """The game before the last entry."""
        self._state: GameState | None = start

    # -- the state ----------------------------------------------------------------------------------------------------

    @property
    def state(self) -> GameState:
        """The game with the dice on the board."""
        if self._state is None:
            self._state = self.settled_state if self.rolled is None else after_roll(self.settled_state, self.rolled)
        return self._state

    @property
    def shown_state(self) -> GameState:
        """The game with the dice on the board and the offer to resign, as a line shows it."""
        offer, state = self._resignation, self.state
        if offer is None:
            return state
        return fast_evolve(state, resignation=Resignation(offer.seat, offer.level or Level.SINGLE, offer.points))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self._reported_result is not None or self.settled_state.stage is Stage.OVER

    @property
    def is_known(self) -> bool:
        """Whether the game is running and its state is known."""
        return self._set_aside is None and self._reported_result is None and self.settled_state.stage is not Stage.OVER

    @property
    def result(self) -> Result | None:
        """How the game ended, as the server reported it or else as the entries show."""
        return self._reported_result or self.settled_state.result

    @property
    def transcript(self) -> Game:
        """The game as far as it is known."""
        return Game(self.number, self.start, tuple(self.entries), self.result)

    # -- plays that were sent -----------------------------------------------------------------------------------------

    def note_sent_play(self, play: Play, at: dt.datetime | None) -> None:
        """Note a play that was sent or announced."""
        self.sent_play = SentPlay(play, at)

    def drop_sent_play(self) -> None:
        """Forget the play that was sent, because the server refused it."""
        self.sent_play = None

    def _sent_entry(self) -> Throw | Continuation | None:
        """Return the roll on the board together with the play that was sent."""
        sent, rolled = self.sent_play, self.rolled
        if sent is None:
            return None
        if rolled is not None:
            return self._with_play(rolled, sent.play, sent.at)
        state = self.settled_state
        return Continuation(seat=state.turn, play=sent.play, at=sent.at) if state.stage is Stage.MOVE else None

    def _with_play(self, rolled: Throw, play: Play, at: dt.datetime | None) -> Throw:
        """Return a roll with its play, the moves in the usual order, and the seconds between the two."""
        seconds = (at - rolled.at).total_seconds() if at and rolled.at and at > rolled.at else None
        return Throw(
            seat=rolled.seat, dice=rolled.dice, play=self._missing.in_order(play), at=at or rolled.at, seconds=seconds
        )

    # -- laws ---------------------------------------------------------------------------------------------------------

    def allow_redouble(self) -> None:
        """Note that the double that waits may be redoubled at once, which no drawn board shows."""
        state = self.settled_state
        if state.answering is not None and not state.length and state.redoubles >= state.laws.redoubles:
            self._change_laws(redoubles=state.redoubles + 1)

    def _change_laws(self, **changes: Any) -> None:
        self.start, self.settled_state = (
            fast_evolve(state, laws=fast_evolve(state.laws, **changes)) for state in (self.start, self.settled_state)
        )
        self._state = None

    # -- adding entries -----------------------------------------------------------------------------------------------

    def _put_dice_on_board(self, entry: Throw) -> bool:
        """Note a roll whose play is to come; return False if the rules forbid it."""
        try:
            state = self._state = after_roll(self.settled_state, entry)
        except RuleError:
            return False
        self.rolled = entry
        if state.stage is not Stage.MOVE or state.turn is not entry.seat:
            self._try_entry(entry)  # there is nothing to play
        return True

    def _try_sent_play(self) -> bool:
        entry = self._sent_entry()
        return entry is not None and self._try_entry(entry)

    def _try_entry(self, entry: Entry) -> bool:
        """Add an entry; return False if the rules forbid it."""
        rolled = self.rolled
        if isinstance(entry, Cube) and entry.action is CubeAction.BEAVER:
            self.allow_redouble()
        try:
            if rolled is not None and isinstance(entry, Throw) and entry.dice == rolled.dice:  # they are on the board
                after = self.state if entry.play is None else rules.play(self.state, entry.seat, entry.play)
            else:
                after = apply(self.settled_state, entry)
        except RuleError:
            return False
        self._append(entry, after)
        return True

    def _append(self, entry: Entry, after: GameState) -> None:
        """Add an entry that the rules allow, and the state after it."""
        if self.decision_logs:
            entry = with_logged_details(entry, self.decision_logs)
        rolled = self.rolled
        on_board = isinstance(entry, Throw) and rolled is not None and entry.dice == rolled.dice
        state = self._state if on_board else None
        self._on_step(Step(self.number, len(self.entries), self.settled_state, entry, after, state))
        self.entries.append(entry)
        self._before = self.settled_state
        self.settled_state = self._state = after
        self.rolled = self.sent_play = None
        self.resumed = False

    # -- what does not fit --------------------------------------------------------------------------------------------

    def _defer(self, event: ReportedEvent) -> None:
        """Set an event aside until a board shows the game again."""
        if self._set_aside is None and self.codec.whole and not self.resumed:
            self._report(event)
        aside = self.lose_track()
        if len(aside) <= MAX_SET_ASIDE:
            aside.append(event)

    def lose_track(self) -> list[ReportedEvent]:
        """Note that the state is not known any more, and return the events since it became unknown."""
        if self._set_aside is None:
            self._set_aside = [self.rolled] if self.rolled else []
            self.rolled = self._state = None
        return self._set_aside

    def _report(self, event: ReportedEvent) -> None:
        """Report the law that an event breaks, if it does; a pass comes with the end of the game, which counts."""
        if isinstance(event, Cube) and event.action is CubeAction.PASS:
            return
        if isinstance(event, PlayWithoutRoll):
            entry: Entry = Continuation(seat=event.seat, play=event.play)
        else:
            entry = event
        try:
            apply(self.state, entry)
        except RuleError as error:
            self._differ((Difference(*_told(event, str(error))),))


def _told(event: ReportedEvent, law: str) -> tuple[str, str, object]:
    """Return what an event is, the law that forbids it, and what was reported."""
    match event:
        case Throw(play=None, dice=dice):
            return "roll", law, dice
        case Throw() | Continuation() | PlayWithoutRoll():
            return "play", law, " ".join(map(str, event.play.moves if event.play else ())) or "no move"
        case Named(number=number):
            return "name", law, number
        case Contest(totals=totals):
            return "contest", law, totals
        case Cube(action=action):
            return action.value, law, f"{action.value}s"
