"""`Board`: a game at a moment, of any ruleset, with everything that a decision depends on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from attrs import field, frozen

from fibs_protocol.board import BoardState
from fibs_protocol.playing import DecisionKind, OpenDecision
from fibsbot.games import UnknownGameError, load_ruleset
from fibsbot.games.sides_text import format_sides
from fibsbot.games.state_json import state_from_json, state_to_json
from fibsbot.library.hints import BOARD_HINTS, missing
from fibsbot.match import MatchState, Phase
from fibsbot.notation import NotationError, Xgid, format_gnubg_id, format_play, parse_play, parse_state
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game_plays import legal_plays
from fibsbot.rules.laws import LAWS, Laws, Level
from fibsbot.rules.permissions import match_winner, refusal_to_double, refusal_to_redouble
from fibsbot.rules.state import GameState, Seat, Stage

_FIRST, _SECOND = Seat
_PHASES_OF_DECISIONS: Final = {
    DecisionKind.ROLL: Phase.ROLL,
    DecisionKind.MOVE: Phase.MOVE,
    DecisionKind.DOUBLE: Phase.DOUBLED,
    DecisionKind.RESIGNATION: Phase.RESIGNED,
}
SHORT_NAMES: Final = ("first", "second")
"""The names of the players of a board that nobody has named."""


def _state(value: Any) -> GameState:
    """Check the value of the field `state`."""
    if isinstance(value, GameState):
        return value
    raise TypeError(
        f"expected a GameState, got {type(value).__name__}; a new board is Board(), another Board.from_id()"
    )


@frozen(init=False, repr=False, str=False)
class Board:
    """A game at a moment. Actions return a new board; points are numbered by the player who has to decide.

    The two players are 0, who is on roll first, and 1. A board is equal to another of the same game, checkers, dice,
    cube, score and laws; it can be hashed, pickled, and written as JSON.
    """

    state: GameState = field(converter=_state)
    """All of it, for the functions of `fibsbot.rules`."""

    def __init__(
        self,
        game: str = "backgammon",
        *,
        length: int = 0,
        score: tuple[int, int] = (0, 0),
        laws: Laws | str | None = None,
        post_crawford: bool = False,
    ) -> None:
        """Set the checkers up for a game, with player 0 to roll.

        Args:
            game: A name as `fibsbot rules` lists them.
            length: Points of the match; 0 is an unlimited one.
            score: Points of players 0 and 1 so far.
            laws: Laws, or the name of a set: `modern`, `fibs`, `1970`, `1931`; by default those of the game.
            post_crawford: Whether the Crawford game has been played.

        Raises:
            UnknownGameError: There is no such game.
            RuleError: The score has won the match, or there are no such laws.
        """
        if game.startswith("XGID="):
            raise UnknownGameError(f"expected the name of a game, got {game!r}; the board of an ID is Board.from_id()")
        ruleset = load_ruleset(game)
        if isinstance(laws, str):
            if laws not in LAWS:
                raise RuleError(f"expected laws, one of {', '.join(LAWS)}, got {laws!r}")
            laws = LAWS[laws]
        self.__attrs_init__(
            rules.start_match(
                laws or ruleset.laws, length, score, rules=ruleset, begins=_FIRST, post_crawford=post_crawford
            )
        )

    # -- other ways to make one ---------------------------------------------------------------------------------

    @classmethod
    def of(cls, state: GameState | MatchState | Position) -> Self:
        """Return the board of a state of the rules core; the player of a `MatchState` or a `Position` is 0."""
        board = cls.__new__(cls)
        decision = MatchState(state) if isinstance(state, Position) else state
        board.__attrs_init__(decision.game() if isinstance(decision, MatchState) else decision)
        return board

    @classmethod
    def from_id(cls, text: str) -> Self:
        """Return the board of an XGID, a GNUbg ID (`PositionID:MatchID`) or a Position ID.

        Player 0 has to decide. Raises NotationError, which says what was expected.
        """
        if not isinstance(text, str):
            raise TypeError(f"expected an ID as text, got {text!r}")
        return cls.of(parse_state(text))

    @classmethod
    def from_fibs(cls, decision: OpenDecision | BoardState) -> Self:
        """Return the board of a decision on a server of FIBS' protocol, or of a `board:` line; player 0 is ours.

        Of a line that shows neither dice nor a double it is the player's roll. Raises RuleError for a line after the
        end of a game.
        """
        from fibsbot.fibs_numbering import match_state  # noqa: PLC0415 - a program may have no connection

        board = decision if isinstance(decision, BoardState) else decision.board
        if isinstance(decision, BoardState):
            shown = Phase.MOVE if board.dice != (0, 0) else Phase.ROLL
            phase, points = Phase.DOUBLED if board.double_pending else shown, 0
        else:
            phase, points = _PHASES_OF_DECISIONS[decision.kind], decision.points
        if board.turn is None:
            raise RuleError("expected a board of a game that is on, got one after its end")
        return cls.of(match_state(board, phase=phase, resignation=min(points // board.cube, 3)))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the board that `to_json` has written. Raises ValueError, with one line of text."""
        return cls.of(state_from_json(json.loads(text)))

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.state.rules.name

    @property
    def player(self) -> Literal[0, 1] | None:
        """The player who has to decide; None once the game is over."""
        decides = self.state.decides
        return None if decides is None else decides.value

    @property
    def decision(self) -> MatchState:
        """What this player has to decide. Raises RuleError once the game is over."""
        decision = MatchState.of(self.state, self.state.decides)
        if decision is None:
            raise RuleError("expected a game in which somebody has to decide, got one that is over")
        return decision

    @property
    def dice(self) -> tuple[int, ...] | None:
        """The roll to be played; None before it."""
        return self.state.dice if self.state.stage is Stage.MOVE else None

    @property
    def score(self) -> tuple[int, int]:
        """Points of players 0 and 1, those of this game included once it is over."""
        return self.state.scores

    @property
    def length(self) -> int:
        """Points of the match; 0 is an unlimited one."""
        return self.state.length

    @property
    def cube(self) -> int:
        """What the game is played for."""
        return self.state.cube

    @property
    def pips(self) -> tuple[int, int]:
        """What the player who decides still has to move, and what the opponent."""
        sides = self.state.sides_for(self.seat)
        return sides.own.pips, sides.opponent.pips

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.state.stage is Stage.OVER

    @property
    def is_match_over(self) -> bool:
        """Whether the match is won."""
        return match_winner(self.state) is not None

    @property
    def winner(self) -> Literal[0, 1] | None:
        """Who has won this game; None while it goes on, or if it is drawn."""
        result = self.state.result
        return result.winner.value if result else None

    @property
    def plays(self) -> tuple[Play, ...]:
        """The legal plays of the roll, one for each board that they lead to; the empty play if no checker can move.

        Raises RuleError before the roll.
        """
        if self.state.stage is not Stage.MOVE:
            raise RuleError(f"expected a board with dice, as after roll(3, 1), got one at {self.state.stage.value!r}")
        return legal_plays(self.state) or (Play(),)

    @property
    def id(self) -> str:
        """The XGID; in games that have none, and for a resignation, the checkers, and what is to be decided."""
        if self.player is not None and is_backgammon(self.state.rules):
            try:
                return str(Xgid.of(self.decision))
            except NotationError:
                pass
        dice = "".join(map(str, self.dice or ())) or self.state.stage.value
        return f"{format_sides(self.state.sides_for(self.seat))} {dice}"

    @property
    def gnubg_id(self) -> str:
        """GNU Backgammon's `PositionID:MatchID`. Raises NotationError where there is none."""
        return format_gnubg_id(self.decision)

    def text_of(self, play: Play) -> str:
        """Return a play as people write it here: with hits, `24/18*`, and moves of one checker joined, `24/13`."""
        return format_play(play, self.decision)

    # -- actions ------------------------------------------------------------------------------------------------

    def roll(self, *dice: int) -> Self:
        """Return the board after the player on roll has thrown these dice. Raises RuleError."""
        return self.of(rules.roll(self.state, self.seat, tuple(dice)))

    def play(self, play: Play | str) -> Self:
        """Return the board after a play, an object or text such as `8/5 6/5`. Raises RuleError if it is illegal."""
        made = parse_play(play, self.decision) if isinstance(play, str) else _check_play_type(play)
        return self.of(rules.play(self.state, self.seat, made))

    def double(self) -> Self:
        """Return the board after a double is offered. Raises RuleError if it may not be."""
        return self.of(rules.double(self.state, self.seat))

    def take(self) -> Self:
        """Return the board after the double is taken."""
        return self.of(rules.take(self.state, self.seat))

    def drop(self) -> Self:
        """Return the board after the double is refused, which ends the game."""
        return self.of(rules.drop(self.state, self.seat))

    def beaver(self) -> Self:
        """Return the board after the double is taken and redoubled at once; the answer to a beaver is a raccoon."""
        return self.of(rules.redouble(self.state, self.seat))

    def resign(self, level: int = 1) -> Self:
        """Return the board after an offer to resign a single game (1), a gammon (2) or a backgammon (3)."""
        return self.of(rules.resign(self.state, self.seat, Level(level)))

    def accept(self) -> Self:
        """Return the board after the opponent's offer to resign is accepted."""
        return self.of(rules.accept_resignation(self.state, self.seat))

    def reject(self) -> Self:
        """Return the board after the opponent's offer to resign is rejected."""
        return self.of(rules.reject_resignation(self.state, self.seat))

    def name(self, number: int) -> Self:
        """Return the board after a double or a point is named, in games in which one is."""
        return self.of(rules.name(self.state, self.seat, number))

    def next_game(self, *, begins: Literal[0, 1] = 0) -> Self:
        """Return the next game of the match, set up. Raises RuleError while this one goes on, or if the match is won.

        `begins` is the player who rolls first, unless the winner does in this game.
        """
        begun = rules.next_game(self.state)
        if begun.stage is Stage.OPENING:
            begun = rules.start_match(
                begun.laws,
                begun.length,
                begun.scores,
                rules=begun.rules,
                begins=Seat(begins),
                post_crawford=begun.post_crawford,
            )
        return self.of(begun)

    @property
    def may_double(self) -> bool:
        """Whether the player may double now."""
        return self.state.stage is Stage.ROLL and not refusal_to_double(self.state, self.seat)

    @property
    def may_beaver(self) -> bool:
        """Whether the player may redouble at once."""
        return self.state.stage is Stage.DOUBLED and not refusal_to_redouble(self.state)

    @property
    def seat(self) -> Seat:
        """The player who decides; whoever played last once the game is over."""
        decides = self.state.decides
        return self.state.turn if decides is None else decides

    # -- how it is shown ----------------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Draw the board, seen by the player who decides."""
        from fibsbot.drawing.board_text import draw_game  # noqa: PLC0415 - a program may never draw

        return "\n".join(draw_game(self.state, self.seat, SHORT_NAMES))

    def __repr__(self) -> str:
        """Return one line, with the ID."""
        return f"<Board {self.game} {self.id}>"

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        from fibsbot.drawing.svg import game_svg  # noqa: PLC0415 - as above

        return game_svg(self.state, self.seat, names=SHORT_NAMES)

    def to_json(self) -> str:
        """Return the board as JSON."""
        return json.dumps(state_to_json(self.state))

    if not TYPE_CHECKING:  # type checkers shall report names that are not there

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError, with a hint for a name that other libraries have."""
            if name in BOARD_HINTS:
                raise missing(self, "'Board' object", name, BOARD_HINTS[name])
            return object.__getattribute__(self, name)  # the error of Python, or of a property


def check_board(value: object) -> Board:
    """Return a board; raise TypeError for another object."""
    if not isinstance(value, Board):
        raise TypeError(f"expected a Board, as Board() and Board.from_id() return it, got {value!r}")
    return value


def plays_of(board: Board, plays: Iterable[Play | str]) -> tuple[Play, ...]:
    """Return plays that may be given as text. Raises RuleError for one that is illegal here."""
    if isinstance(plays, str):
        raise TypeError(
            f"expected a list of plays, got the text {plays!r}; an evaluator is named: evaluator='engine:0'"
        )
    decision = board.decision
    return tuple(
        parse_play(play, decision) if isinstance(play, str) else decision.check_play(_check_play_type(play))
        for play in plays
    )


def _check_play_type(play: object) -> Play:
    """Return a play; raise TypeError for another object."""
    if not isinstance(play, Play):
        hint = ", of which .play is one" if isinstance(getattr(play, "play", None), Play) else ""
        raise TypeError(f"expected a Play, or its text such as '8/5 6/5', got {play!r}{hint}")
    return play
