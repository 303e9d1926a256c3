"""The table of a match between a person (seat A) and a bot (seat B): what may be done, and what an input means.

It does no input or output and knows no rule: `rules` says what is legal.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Final

from fibsbot.fast_evolve import fast_evolve
from fibsbot.match import CubeAction, MatchState
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play
from fibsbot.rules.backgammon import board_of
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import (
    accept_resignation,
    choices,
    next_game,
    reject_resignation,
    reject_roll,
    resign,
    roll_opening,
    start_match,
)
from fibsbot.rules.laws import AutomaticRaise, Laws, Level
from fibsbot.rules.partial_plays import NumberMove, PartialPlay
from fibsbot.rules.permissions import match_winner, may_reject_roll, refusal_to_double, refusal_to_redouble
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


class Action(enum.Enum):
    """What a person may do at the table."""

    ROLL = "roll"
    DOUBLE = "double"
    TAKE = "take"
    PASS = "pass"  # noqa: S105 - a cube action
    BEAVER = "beaver"
    RESIGN = "resign"
    """With the level, 1 to 3."""
    ACCEPT = "accept"
    REJECT = "reject"
    REJECT_ROLL = "reject-roll"
    NAME = "name"
    """With the number."""
    MOVE = "move"
    """With the source, by the left die or the next that can move it, or with source and target."""
    SWAP = "swap"
    """Swap the dice."""
    UNDO = "undo"
    DONE = "done"
    NEXT = "next"
    """Begin the next game."""
    AUTO_ROLL = "auto-roll"
    """Switch automatic rolls on or off."""


_CUBE_ACTIONS: Final = {
    Action.DOUBLE: CubeAction.DOUBLE,
    Action.TAKE: CubeAction.TAKE,
    Action.PASS: CubeAction.PASS,
    Action.BEAVER: CubeAction.BEAVER,
}


class TableModel:
    """A match as it is played."""

    def __init__(self, rules: Ruleset, laws: Laws, length: int, names: tuple[str, str], dice: Random) -> None:
        """Begin a match of `length` points; `names` are those of the person and of the bot."""
        self.names = names
        self.auto_roll = False
        self.last = ""
        """What was played last, in words."""
        self._dice = dice
        self._started = dt.datetime.now(dt.UTC)
        self._games: list[Game] = []
        self._begin(start_match(laws, length, rules=rules))

    def _begin(self, state: GameState) -> None:
        self._start = self.state = state
        self._entries: list[Entry] = []
        self._thrown: Numbers | None = None
        """The dice of a roll whose play is not recorded yet."""
        self._play: PartialPlay | None = None
        self._swapped = False
        self._go_on()

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def shown(self) -> GameState:
        """The game with the moves that the person has made so far, and the dice in the person's order."""
        if self._play is None:
            return self.state
        dice = self.state.dice
        return fast_evolve(
            self.state,
            board=board_of(self.state.rules, self._play.board),
            dice=dice[::-1] if dice and self._swapped else dice,
        )

    @property
    def match_over(self) -> bool:
        """Whether the match is won."""
        return match_winner(self.state) is not None

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

    # -- what may be done ---------------------------------------------------------------------------------------

    @property
    def actions(self) -> tuple[Action, ...]:
        """What the person may do now."""
        return (*self._actions_now(), Action.AUTO_ROLL)

    def _actions_now(self) -> list[Action]:
        """Return what the game lets the person do now."""
        state = self.state
        if state.stage is Stage.OVER:
            return [] if self.match_over else [Action.NEXT]
        if state.decides is not PERSON:
            return []
        if state.resignation:
            return [Action.ACCEPT, Action.REJECT]
        possible = {
            Stage.ROLL: {Action.ROLL: True, Action.DOUBLE: not refusal_to_double(state, PERSON), Action.RESIGN: True},
            Stage.DOUBLED: {Action.TAKE: True, Action.PASS: True, Action.BEAVER: not refusal_to_redouble(state)},
            Stage.NAME: {Action.NAME: True},
            Stage.MOVE: self._actions_in_play(),
        }[state.stage]
        return [action for action, allowed in possible.items() if allowed]

    def _actions_in_play(self) -> dict[Action, bool]:
        play = self._play
        if play is None:
            return {}
        return {
            Action.DONE: play.whole,
            Action.MOVE: bool(play.following),
            Action.UNDO: bool(play.moves),
            Action.SWAP: len(set(play.left)) > 1,
            Action.REJECT_ROLL: not play.moves and may_reject_roll(self.state),
            Action.RESIGN: True,
        }

    @property
    def moves(self) -> tuple[NumberMove, ...]:
        """The moves that the person may make next, those by the left die first."""
        if self._play is None:
            return ()
        return tuple(sorted(self._play.following, key=lambda made: made.number, reverse=not self._swapped))

    @property
    def names_offered(self) -> tuple[int, ...]:
        """The doubles or points that the person may name."""
        return choices(self.state) if self.state.namer is PERSON else ()

    # -- inputs -------------------------------------------------------------------------------------------------

    def act(self, action: Action, numbers: Sequence[int] = ()) -> bool:
        """Do what the person asks; return False, and change nothing, if it may not be done now."""
        if action not in self.actions:
            return False
        match action, tuple(numbers):
            case Action.RESIGN, (level,) if level in set(Level):
                self.state, self._play = resign(self.state, PERSON, Level(level)), None
            case Action.NAME, (number,) if number in self.names_offered:
                self._add(Named(seat=PERSON, number=number))
            case _, () if action in _CUBE_ACTIONS:
                self._add(Cube(seat=PERSON, action=_CUBE_ACTIONS[action]))
            case _, () if simple := self._simple_action(action):
                simple()
            case _:
                return self._change_play(action, tuple(numbers))
        return True

    def _simple_action(self, action: Action) -> Callable[[], None] | None:
        """Return what does an action that takes no number."""
        simple: dict[Action, Callable[[], None]] = {
            Action.ROLL: partial(self._roll, PERSON),
            Action.ACCEPT: partial(self._answer_resignation, accepted=True),
            Action.REJECT: partial(self._answer_resignation, accepted=False),
            Action.REJECT_ROLL: partial(self._reject_roll, PERSON),
            Action.DONE: self._done,
            Action.NEXT: self._next_game,
            Action.AUTO_ROLL: self._switch_auto_roll,
        }
        return simple.get(action)

    def _done(self) -> None:
        if self._play is not None:
            self._make(PERSON, self._play.play)

    def _next_game(self) -> None:
        self._games.append(self._game)
        self._begin(next_game(self.state))

    def _switch_auto_roll(self) -> None:
        self.auto_roll = not self.auto_roll
        if self._play is None:  # a play that has been begun stays as it is
            self._go_on()

    def _change_play(self, action: Action, numbers: tuple[int, ...]) -> bool:
        """Change the play that the person is making; nothing of it is recorded before it is done."""
        play = self._play
        if play is None:
            return False
        if action is Action.SWAP and not numbers:
            self._swapped = not self._swapped
            return True
        if action is Action.UNDO and not numbers:
            again = PartialPlay.of(self.state)
            for made in play.moves[:-1]:
                again = again.after(made)
            self._play = again
            return True
        if action is Action.MOVE and len(numbers) in {1, 2}:
            source, target = numbers[0], numbers[1] if len(numbers) == 2 else None
            fitting = (made for made in self.moves if made.move.source == source and target in {None, made.move.target})
            ways = list(fitting)
            if ways:
                self._play = play.after(ways[0])
                return True
        return False

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
            self.last = f"{self.names[seat]} rolled {'-'.join(map(str, dice))}"
            self._add(Throw(seat=seat, dice=dice))

    def _make(self, seat: Seat, play: Play) -> None:
        self.last = f"{self.names[seat]} {'-'.join(map(str, self.state.part.numbers))}: {format_play(play, self.state)}"
        made = Continuation(seat=seat, play=play)
        after = apply(self.state, made)
        self._entries.append(made if self._thrown is None else Throw(seat=seat, dice=self._thrown, play=play))
        self._thrown, self.state = None, after
        self._go_on()

    def _reject_roll(self, seat: Seat) -> None:
        self.state = reject_roll(self.state, seat)
        self._entries.append(RejectedRoll(seat=seat, dice=self._thrown or ()))
        self._thrown = None
        self._roll(seat)

    def _answer_resignation(self, *, accepted: bool) -> None:
        offer = self.state.resignation
        if offer is None:
            raise RuleError("nobody wants to resign")
        self.state = (accept_resignation if accepted else reject_resignation)(self.state, offer.seat.other)
        if accepted and self._thrown is not None:
            self._entries.append(Throw(seat=self.state.turn, dice=self._thrown))
        self._entries.append(Resign(seat=offer.seat, level=offer.level, accepted=accepted))
        self._go_on()

    def _add(self, entry: Entry) -> None:
        self.state = apply(self.state, entry)
        self._entries.append(entry)
        self._go_on()

    def _go_on(self) -> None:
        """Let happen what nobody decides."""
        state = self.state
        self._play, self._swapped = None, False
        if state.stage is Stage.OPENING:
            self._open()
        elif state.stage is Stage.CONTEST:
            self._add(Contest(totals=(sum(self._roll_dice(2)), sum(self._roll_dice(2)))))
        elif state.decides is PERSON and not state.resignation:
            if state.stage is Stage.MOVE:
                self._play = PartialPlay.of(state)
            elif state.stage is Stage.ROLL and self.auto_roll:
                self._roll(PERSON)
        elif state.stage is Stage.MOVE and not state.resignation:
            forced = MatchState.of(state, BOT)
            if forced is not None and not forced.has_choice:
                self._make(BOT, next(iter(forced.plays), Play()))

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
