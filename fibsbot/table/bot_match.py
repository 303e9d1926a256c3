"""A match between a person (seat A) and a bot (seat B) at one table, without a server.

The person may take decisions back. Dice that were rolled come again afterwards, whatever is played then, so that
nobody gets a better roll by it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from random import Random
from typing import Final

from attrs import evolve, frozen

from fibsbot.match import CubeAction, MatchState
from fibsbot.position import Play
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import (
    accept_resignation,
    next_game,
    reject_resignation,
    reject_roll,
    resign,
    roll_opening,
    start_match,
)
from fibsbot.rules.laws import AutomaticRaise, Laws, Level
from fibsbot.rules.partial_plays import NumberMove
from fibsbot.rules.permissions import refusal_to_double
from fibsbot.rules.ruleset import Numbers, Opening, Ruleset
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.strategies.questions import (
    AcceptAnswer,
    NameAnswer,
    Question,
    RejectRollAnswer,
    RollQuestion,
    StrategyAnswer,
    question_of,
)
from fibsbot.table.model import IN_PLAY, Action, SheetEntry, TableModel
from fibsbot.transcript import (
    Contest,
    Continuation,
    Cube,
    Entry,
    Game,
    Named,
    Player,
    RejectedRoll,
    Resign,
    Throw,
    Transcript,
    apply,
)
from fibsbot.transcript.model import after_roll

PERSON: Final = Seat.A
BOT: Final = Seat.B
_CUBE_ACTIONS: Final = {
    Action.DOUBLE: CubeAction.DOUBLE,
    Action.TAKE: CubeAction.TAKE,
    Action.PASS: CubeAction.PASS,
    Action.BEAVER: CubeAction.BEAVER,
}
_CUBE_WORDS: Final = {
    CubeAction.DOUBLE: "doubles to {}",
    CubeAction.TAKE: "takes",
    CubeAction.PASS: "passes",
    CubeAction.BEAVER: "redoubles at once",
}


class RepeatableDice:
    """Dice that can be put back, after which the same numbers come again."""

    def __init__(self, random: Random) -> None:
        """Roll by `random`, which need not be repeatable itself."""
        self._random = random
        self._rolled: list[int] = []
        self.rolls = 0
        """How many numbers have been rolled; set it to an earlier count to put the dice back."""

    def roll(self) -> int:
        """Return the number of a die."""
        if self.rolls == len(self._rolled):
            self._rolled.append(self._random.randint(1, 6))
        self.rolls += 1
        return self._rolled[self.rolls - 1]


@frozen
class _Moment:
    """The game before a decision of the person."""

    state: GameState
    entries: int
    """How many it had."""
    thrown: Numbers | None
    rolls: int
    last: str
    sheet: tuple[SheetEntry, ...]
    last_play: tuple[GameState, Play] | None


class BotMatch(TableModel):
    """A match as it is played; whoever drives it answers `question` by a strategy."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a match is
        self,
        rules: Ruleset,
        laws: Laws,
        length: int,
        names: tuple[str, str],
        dice: Random,
        position: GameState | None = None,
    ) -> None:
        """Begin a match of `length` points, 0 for one without end; `names` are those of the person and of the bot.

        It begins at `position` instead if there is one, with its own game, laws and length; somebody has to decide
        there, and an offer to resign waits for its answer.
        """
        start = position or start_match(laws, length, rules=rules)
        super().__init__(names, PERSON, start)
        self._dice = RepeatableDice(dice)
        self._position = position
        self.held = False
        """Whether a decision is held back until the person has heard the tutor; nothing else may be done meanwhile."""
        self._started = dt.datetime.now(dt.UTC)
        self._games: list[Game] = []
        self._begin(start)

    def again(self, dice: Random) -> BotMatch:
        """Return a new match with the same settings, from the same position if one was set up."""
        state = self.state
        return BotMatch(state.rules, state.laws, state.length, self.names, dice, self._position)

    def _begin(self, state: GameState) -> None:
        self._start = evolve(state, resignation=None)
        self.state = state
        self._entries: list[Entry] = []
        self.sheet, self.last_play = [], None
        self._thrown: Numbers | None = state.dice if state.stage is Stage.MOVE else None
        """The dice of a roll whose play is not recorded yet."""
        self._moments: list[_Moment] = []
        self._go_on()

    @property
    def transcript(self) -> Transcript:
        """The match as far as it is played."""
        return Transcript(
            players=(Player(self.names[PERSON]), Player(self.names[BOT])),
            length=self.state.length,
            games=(*self._games, self._game),
            user=PERSON,
            site="table",
            started=self._started,
        )

    @property
    def _game(self) -> Game:
        """The current game."""
        return Game(len(self._games) + 1, self._start, tuple(self._entries), self.state.result)

    # -- the person ---------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> bool:
        """Whether the bot has to decide, or the tutor is to be heard."""
        return self.held or self.question is not None

    @property
    def waiting_sentence(self) -> str:
        """The bot decides by itself."""
        return "Think again?" if self.held else f"{self.opponent} is thinking."

    @property
    def moves(self) -> tuple[NumberMove, ...]:
        """The moves that the person may make next."""
        return () if self.held else super().moves

    def carry_out(self, action: Action, number: int = 0) -> None:
        """Do what the person has decided."""
        match action:
            case Action.ROLL:
                self._roll(PERSON)
            case Action.ACCEPT | Action.REJECT:
                self._answer_resignation(accepted=action is Action.ACCEPT)
            case Action.RESIGN:
                self.note(PERSON, f"resigns ({Level(number).name.lower()})")
                self.take_over(resign(self.state, PERSON, Level(number)))
            case Action.REJECT_ROLL:
                self._reject_roll(PERSON)
            case Action.NAME:
                self._add(Named(seat=PERSON, number=number))
            case Action.NEXT:
                self._games.append(self._game)
                self._begin(next_game(self.state))
            case _:
                self._add(Cube(seat=PERSON, action=_CUBE_ACTIONS[action]))

    def make_play(self, play: Play) -> None:
        """Make the person's play."""
        self._make(PERSON, play)

    def act(self, action: Action, numbers: Sequence[int] = ()) -> bool:
        """Do what the person asks, and remember what was before it."""
        before = self._moment
        done = super().act(action, numbers)
        if done and action not in IN_PLAY and action is not Action.NEXT:
            self._moments.append(before)
        return done

    @property
    def _moment(self) -> _Moment:
        return _Moment(
            state=self.state,
            entries=len(self._entries),
            thrown=self._thrown,
            rolls=self._dice.rolls,
            last=self.last,
            sheet=tuple(self.sheet),
            last_play=self.last_play,
        )

    @property
    def may_take_back(self) -> bool:
        """Whether the person has decided anything in this game that is not taken back."""
        return bool(self._moments)

    def take_back(self) -> bool:
        """Undo the person's last decision and all that followed; return False if there is none in this game.

        What was left to the table is no decision. Nothing is left to it at once again, either: the person decides.
        """
        if not self._moments:
            return False
        moment = self._moments.pop()
        del self._entries[moment.entries :]
        self._thrown, self._dice.rolls = moment.thrown, moment.rolls
        self.last, self.sheet, self.last_play = moment.last, list(moment.sheet), moment.last_play
        self.show_decision(moment.state)
        return True

    # -- the bot ------------------------------------------------------------------------------------------------

    @property
    def question(self) -> Question | None:
        """What the bot has to decide now; None if it is not its turn to decide."""
        decision = MatchState.of(self.state, BOT)
        if decision is None:
            return None
        if self.state.stage is Stage.ROLL and not self.state.resignation:
            useful = not decision.length or decision.away[0] > decision.cube
            return RollQuestion(decision, useful and not refusal_to_double(self.state, BOT), resign_to=0)
        return question_of(decision)

    def answer(self, answer: StrategyAnswer) -> None:
        """Take the bot's checked answer to `question`. Raises RuleError for an answer to another question."""
        match answer:
            case PlayAnswer(play=play):
                self._make(BOT, play)
            case RejectRollAnswer():
                self._reject_roll(BOT)
            case CubeAnswer(action=CubeAction.ROLL):
                self._roll(BOT)
            case CubeAnswer(action=action):
                self._add(Cube(seat=BOT, action=action))
            case NameAnswer(number=number):
                self._add(Named(seat=BOT, number=number))
            case AcceptAnswer(accepted=accepted):
                self._answer_resignation(accepted=accepted)
            case _:
                raise RuleError(f"expected an answer to what the bot was asked, got {answer!r}")

    # -- the game -----------------------------------------------------------------------------------------------

    def _roll_dice(self, count: int) -> Numbers:
        return tuple(sorted((self._dice.roll() for _ in range(count)), reverse=True))

    def _roll(self, seat: Seat) -> None:
        self._throw(seat, self._roll_dice(self.state.rules.dice))

    def _throw(self, seat: Seat, dice: Numbers) -> None:
        rolled = after_roll(self.state, Throw(seat=seat, dice=dice))
        if rolled.stage is Stage.MOVE:
            self._thrown, self.state = dice, rolled
            self._go_on()
        else:
            self.note(seat, f"rolled {'-'.join(map(str, dice))}")
            self._add(Throw(seat=seat, dice=dice))

    def _make(self, seat: Seat, play: Play) -> None:
        self.note_play(seat, play)
        made = Continuation(seat=seat, play=play)
        after = apply(self.state, made)
        self._entries.append(made if self._thrown is None else Throw(seat=seat, dice=self._thrown, play=play))
        self._thrown, self.state = None, after
        self._go_on()

    def _reject_roll(self, seat: Seat) -> None:
        self.note(seat, "rejects the roll")
        self.state = reject_roll(self.state, seat)
        self._entries.append(RejectedRoll(seat=seat, dice=self._thrown or ()))
        self._thrown = None
        self._roll(seat)

    def _answer_resignation(self, *, accepted: bool) -> None:
        offer = self.state.resignation
        if offer is None:
            raise RuleError("nobody wants to resign")
        self.note(offer.seat.other, "accepts the resignation" if accepted else "rejects the resignation")
        self.state = (accept_resignation if accepted else reject_resignation)(self.state, offer.seat.other)
        if accepted and self._thrown is not None:
            self._entries.append(Throw(seat=self.state.turn, dice=self._thrown))
        self._entries.append(Resign(seat=offer.seat, level=offer.level, accepted=accepted))
        self._go_on()

    def _add(self, entry: Entry) -> None:
        if isinstance(entry, Cube):
            self.note(entry.seat, _CUBE_WORDS[entry.action].format(2 * self.state.cube))
        elif isinstance(entry, Named):
            self.note(entry.seat, f"names {entry.number}")
        self.state = apply(self.state, entry)
        self._entries.append(entry)
        self._go_on()

    def _go_on(self) -> None:
        """Let happen what nobody decides."""
        state = self.state
        if state.stage is Stage.OPENING:
            self._open()
        elif state.stage is Stage.CONTEST:
            self._add(Contest(totals=(sum(self._roll_dice(2)), sum(self._roll_dice(2)))))
        elif state.decides is BOT and state.stage is Stage.MOVE and not state.resignation:
            forced = MatchState.of(state, BOT)
            if forced is not None and not forced.has_choice:
                self._make(BOT, next(iter(forced.plays), Play()))
            else:
                self.take_over(state)
        else:
            self.take_over(state)

    def _open(self) -> None:
        """Roll for who begins; whoever plays this roll plays it."""
        first, second = self._dice.roll(), self._dice.roll()
        if first == second and self.state.laws.automatic is AutomaticRaise.NONE:
            self._open()
        elif first == second or self.state.rules.opening is Opening.RETHROW:
            self._start = self.state = roll_opening(self.state, first, second)
            self._go_on()
        else:
            self._throw(PERSON if first > second else BOT, (max(first, second), min(first, second)))
