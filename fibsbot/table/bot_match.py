"""A match between a person (seat A) and a bot (seat B) at one table, without a server."""

from __future__ import annotations

import datetime as dt
from random import Random
from typing import Final

from fibsbot.match import CubeAction, MatchState
from fibsbot.notation.play_notation import format_play
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
from fibsbot.table.model import Action, TableModel
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


class BotMatch(TableModel):
    """A match as it is played; whoever drives it answers `question` by a strategy."""

    def __init__(self, rules: Ruleset, laws: Laws, length: int, names: tuple[str, str], dice: Random) -> None:
        """Begin a match of `length` points, 0 for one without end; `names` are those of the person and of the bot."""
        start = start_match(laws, length, rules=rules)
        super().__init__(names, PERSON, start)
        self._dice = dice
        self._started = dt.datetime.now(dt.UTC)
        self._games: list[Game] = []
        self._begin(start)

    def _begin(self, state: GameState) -> None:
        self._start = self.state = state
        self._entries: list[Entry] = []
        self.sheet, self.last_play = [], None
        self._thrown: Numbers | None = None
        """The dice of a roll whose play is not recorded yet."""
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
        """Whether the bot has to decide."""
        return self.question is not None

    @property
    def waiting_sentence(self) -> str:
        """The bot decides by itself."""
        return f"{self.opponent} is thinking."

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
        return tuple(sorted((self._dice.randint(1, 6) for _ in range(count)), reverse=True))

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
        self.note(seat, format_play(play, self.state), "-".join(map(str, self.state.part.numbers)))
        self.last_play = self.state, play
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
        first, second = self._dice.randint(1, 6), self._dice.randint(1, 6)
        if first == second and self.state.laws.automatic is AutomaticRaise.NONE:
            self._open()
        elif first == second or self.state.rules.opening is Opening.RETHROW:
            self._start = self.state = roll_opening(self.state, first, second)
            self._go_on()
        else:
            self._throw(PERSON if first > second else BOT, (max(first, second), min(first, second)))
