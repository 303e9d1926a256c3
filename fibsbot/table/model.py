"""A person's side of a match: what is shown, what may be done now, and what an input means, in every game.

It does no input or output and knows no rule: `rules` says what is legal. A face (a page, a terminal) shows it and
passes inputs on; a match against the bot (`bot_match.py`) or on a server carries out what is decided.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from fibsbot.fast_evolve import fast_evolve
from fibsbot.notation.play_notation import format_play, parse_play
from fibsbot.position import Play
from fibsbot.rules.backgammon import board_of
from fibsbot.rules.errors import RollFirstError
from fibsbot.rules.game import choices
from fibsbot.rules.game_plays import greedy_play, most_moves, only_play
from fibsbot.rules.laws import Level
from fibsbot.rules.partial_plays import NumberMove, PartialPlay
from fibsbot.rules.permissions import (
    is_cube_dead,
    match_winner,
    may_reject_roll,
    refusal_to_double,
    refusal_to_redouble,
)
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.text import plural, predicate


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
    """With the source, by the left die or the next that can move it, or with source and target, see `ways`."""
    SWAP = "swap"
    """Swap the dice."""
    UNDO = "undo"
    """Take the last move of the play back."""
    DONE = "done"
    """Pick up the dice: only now is the play made."""
    NEXT = "next"
    """Begin the next game."""


class Preference(enum.Enum):
    """What a person may leave to the table; switched by `TableModel.prefer`."""

    ROLL = "roll"
    """Roll where no double may be offered, or none could win more."""
    FORCED = "forced"
    """Make a play that is the only legal one, and end a turn without any."""
    GREEDY = "greedy"
    """Bear off with every number where that is possible."""


IN_PLAY: Final = frozenset({Action.MOVE, Action.SWAP, Action.UNDO})
"""The actions that change the play being made, and nothing else: nobody hears of them."""


@frozen
class SheetEntry:
    """A line of the score sheet of the current game."""

    seat: Seat
    """Who did it."""
    text: str
    """What was done: a play in the usual notation, or words."""
    dice: str = ""
    """The numbers that were played, such as `3-1`; empty for what is no play."""


class TableModel(ABC):
    """A match as the person at `seat` sees and plays it; subclasses carry out what is decided."""

    def __init__(self, names: tuple[str, str], seat: Seat, state: GameState) -> None:
        """Sit down at a match; `names` are those of seats A and B."""
        self.names = names
        self.seat = seat
        self.state = state
        self.preferences: set[Preference] = set()
        self.last = ""
        """What was done last, in words."""
        self.sheet: list[SheetEntry] = []
        """What was done in the current game."""
        self.last_play: tuple[GameState, Play] | None = None
        """The last play of the current game, and the game in which it was made."""
        self.play: PartialPlay | None = None
        """The play that the person is making; None while there is none to make."""
        self._swapped = False

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def opponent(self) -> str:
        """The name of the person's opponent."""
        return self.names[self.seat.other]

    @property
    def shown(self) -> GameState:
        """The game with the moves that the person has made so far, and the dice in the person's order."""
        if self.play is None:
            return self.state
        dice = self.state.dice
        return fast_evolve(
            self.state,
            board=board_of(self.state.rules, self.play.board),
            dice=dice[::-1] if dice and self._swapped else dice,
        )

    @property
    def dice_played(self) -> tuple[int, ...]:
        """Which of the dice that are shown have been played, from 0; a double is played twice with each die."""
        dice = self.shown.dice or ()
        if self.play is None or not self.play.moves:
            return ()
        if len(set(dice)) == 1:
            left = -(-len(self.play.left) * len(dice) // len(self.play.part.numbers))
            return tuple(range(left, len(dice)))
        left_over, played = list(self.play.left), []
        for index, die in enumerate(dice):
            if die in left_over:
                left_over.remove(die)
            else:
                played.append(index)
        return () if left_over else tuple(played)

    @property
    def match_over(self) -> bool:
        """Whether the match is won."""
        return match_winner(self.state) is not None

    @property
    @abstractmethod
    def waiting(self) -> bool:
        """Whether somebody else has to do something: the bot, the opponent, the server."""

    @property
    def sentence(self) -> str:
        """Whose turn it is and what is to be decided, or how it ended."""
        state = self.state
        if state.stage is Stage.OVER:
            won = "nobody won"
            if state.result:
                won = f"{self.names[state.result.winner]} won {plural(state.result.points, 'point')}"
            over = "The match is over" if self.match_over else "The game is over"
            return f"{over}: {won}; the score is {state.scores[0]}-{state.scores[1]}."
        return self.waiting_sentence if self.waiting else self._what_to_decide()

    @property
    def waiting_sentence(self) -> str:
        """Whom the table waits for."""
        return f"Waiting for {self.opponent}."

    def _what_to_decide(self) -> str:
        state = self.state
        if state.resignation:
            return f"{self.opponent} offers to resign {state.resignation.level.words}."
        if state.stage is Stage.DOUBLED:
            return f"{self.opponent} {'redoubles' if state.redoubles else 'doubles'} to {state.offered}."
        if state.stage is Stage.NAME and state.naming:
            return f"Name {state.naming.value}."
        if state.stage is not Stage.MOVE:
            return "Your turn."
        if self.moves:
            return "Your move."
        return "Done?" if Action.UNDO in self.actions else "You cannot move."

    # -- what may be done ---------------------------------------------------------------------------------------

    @property
    def actions(self) -> tuple[Action, ...]:
        """What the person may do now."""
        state = self.state
        if state.stage is Stage.OVER:
            return () if self.match_over else (Action.NEXT,)
        if self.waiting or state.decides is not self.seat:
            return ()
        if state.resignation:
            return Action.ACCEPT, Action.REJECT
        possible = {
            Stage.ROLL: {
                Action.ROLL: True,
                Action.DOUBLE: not refusal_to_double(state, self.seat) and not is_cube_dead(state, self.seat),
                Action.RESIGN: True,
            },
            Stage.DOUBLED: {Action.TAKE: True, Action.PASS: True, Action.BEAVER: not refusal_to_redouble(state)},
            Stage.NAME: {Action.NAME: True},
            Stage.MOVE: self._actions_in_play(),
        }[state.stage]
        return tuple(action for action, allowed in possible.items() if allowed)

    def _actions_in_play(self) -> dict[Action, bool]:
        play = self.play
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
        return () if self.play is None else self._by_left_die(self.play)

    def _by_left_die(self, play: PartialPlay) -> tuple[NumberMove, ...]:
        return tuple(sorted(play.following, key=lambda made: made.number, reverse=not self._swapped))

    @property
    def ways(self) -> Mapping[tuple[int, int], tuple[NumberMove, ...]]:
        """By source and target, the fewest moves by which one checker gets there, those by the left die first."""
        found: dict[tuple[int, int], tuple[NumberMove, ...]] = {}
        if self.play is None:
            return found
        begun: list[tuple[int, tuple[NumberMove, ...], PartialPlay]] = []
        begun += [(made.move.source, (made,), self.play.after(made)) for made in self.moves]
        while begun:
            longer: list[tuple[int, tuple[NumberMove, ...], PartialPlay]] = []
            for source, way, play in begun:
                at = way[-1].move.target
                if found.setdefault((source, at), way) is way and not play.ended:
                    following = (made for made in self._by_left_die(play) if made.move.source == at)
                    longer += [(source, (*way, made), play.after(made)) for made in following]
            begun = longer
        return found

    @property
    def names_offered(self) -> tuple[int, ...]:
        """The doubles or points that the person may name."""
        return choices(self.state) if self.state.namer is self.seat else ()

    def note(self, seat: Seat, text: str, dice: str = "") -> None:
        """Note in the score sheet what a player has done."""
        self.sheet.append(SheetEntry(seat, text, dice))
        name = self.names[seat]
        self.last = f"{name} {dice}: {text}" if dice else f"{name} {predicate(name, text)}"

    def note_play(self, seat: Seat, play: Play) -> None:
        """Note the play that a player makes now. Raises RuleError if it does not belong to the game that is shown."""
        part = self.state.part
        numbers = part.numbers if part.ordered else tuple(sorted(part.numbers, reverse=True))
        if len(set(numbers)) == 1:
            numbers = numbers[: self.state.rules.dice]  # each die of a double is played twice
        self.note(seat, format_play(play, self.state), "-".join(map(str, numbers)))
        self.last_play = self.state, play

    # -- inputs -------------------------------------------------------------------------------------------------

    def act(self, action: Action, numbers: Sequence[int] = ()) -> bool:
        """Do what the person asks; return False, and change nothing, if it may not be done now."""
        if action not in self.actions:
            return False
        if action in IN_PLAY:
            return self._change_play(action, tuple(numbers))
        match action, tuple(numbers):
            case Action.DONE, () if self.play is not None:
                self.make_play(self.play.play)
            case Action.RESIGN, (level,) if level in set(Level):
                self.carry_out(action, level)
            case Action.NAME, (number,) if number in self.names_offered:
                self.carry_out(action, number)
            case (Action.RESIGN | Action.NAME, _) | (_, (_, *_)):
                return False
            case _:
                self.carry_out(action)
        return True

    @abstractmethod
    def carry_out(self, action: Action, number: int = 0) -> None:
        """Do what the person has decided and may do: anything but DONE and those of `IN_PLAY`."""

    @abstractmethod
    def make_play(self, play: Play) -> None:
        """Make the person's play, which is legal."""

    def prefer(self, preference: Preference, *, wanted: bool) -> None:
        """Leave something to the table, or take it back; a play that has been begun stays as it is."""
        if wanted:
            self.preferences.add(preference)
        else:
            self.preferences.discard(preference)
        if self.play is None or not self.play.moves:
            self._decide_by_preference()

    def type_play(self, text: str) -> None:
        """Make the moves of a whole play as people write it, `8/5 6/5`; it may still be undone until it is done.

        Raises:
            PlayError: the text is no play, or not a legal one; nothing has changed.
            RollFirstError: there is nothing to play.
        """
        if self.play is None:
            raise RollFirstError("there is nothing to play now")
        self.play = PartialPlay.of(self.state).after_all(parse_play(text, self.state))

    def _change_play(self, action: Action, numbers: tuple[int, ...]) -> bool:
        """Change the play that the person is making; nothing of it is recorded before it is done."""
        play = self.play
        if play is None:
            return False
        if action is Action.SWAP and not numbers:
            self._swapped = not self._swapped
            return True
        if action is Action.UNDO and not numbers:
            again = PartialPlay.of(self.state)
            for made in play.moves[:-1]:
                again = again.after(made)
            self.play = again
            return True
        if action is not Action.MOVE:
            return False
        way: tuple[NumberMove, ...] = ()
        match numbers:
            case (source,):
                way = tuple(made for made in self.moves if made.move.source == source)[:1]
            case (source, target):
                way = self.ways.get((source, target), ())
        for made in way:
            play = play.after(made)
        self.play = play
        return bool(way)

    # -- what follows -------------------------------------------------------------------------------------------

    def take_over(self, state: GameState) -> None:
        """Show a new state of the match, in which a play that was being made is forgotten."""
        self.show_decision(state)
        self._decide_by_preference()

    def show_decision(self, state: GameState) -> None:
        """Do the same, but leave nothing to the table that a person may decide."""
        self.state = state
        self.play, self._swapped = None, False
        if state.decides is self.seat and state.stage is Stage.MOVE and not state.resignation:
            self.play = PartialPlay.of(state)

    def _decide_by_preference(self) -> None:
        """Do what the person leaves to the table."""
        state = self.state
        if self.waiting or state.decides is not self.seat or state.resignation:
            return
        if state.stage is Stage.ROLL:
            if Preference.ROLL in self.preferences and Action.DOUBLE not in self.actions:
                self.carry_out(Action.ROLL)
        elif state.stage is Stage.MOVE and not may_reject_roll(state):
            play = self._forced_play() if Preference.FORCED in self.preferences else None
            if play is None and Preference.GREEDY in self.preferences:
                play = greedy_play(state)
            if play is not None:
                self.make_play(play)

    def _forced_play(self) -> Play | None:
        """Return the only legal play, the empty one if no checker can move; None if there is a choice."""
        return only_play(self.state) if most_moves(self.state) else Play()
