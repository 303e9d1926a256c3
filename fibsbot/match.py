"""MatchState: everything a decision depends on besides the players' names, seen by the player who decides.

And what can be decided besides plays: CubeAction. It is made from a game of any ruleset, by `MatchState.of`.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from fibsbot.fast_evolve import fast_evolve
from fibsbot.position import Play, Position
from fibsbot.rules import general_plays
from fibsbot.rules.backgammon import BACKGAMMON, Board, sides_of
from fibsbot.rules.dice import PIPS_PER_ROLL, ROLL_WAYS, ROLLS, Dice
from fibsbot.rules.errors import RollFirstError
from fibsbot.rules.game import choices
from fibsbot.rules.laws import MODERN, Laws, Level
from fibsbot.rules.permissions import may_reject_roll, redoubles_left
from fibsbot.rules.plays import check_play, has_choice, legal_plays, resulting_positions
from fibsbot.rules.ruleset import Part, Ruleset, Turn
from fibsbot.rules.sides import Sides
from fibsbot.rules.state import GameState, Naming, Owner, Resignation, Seat, Stage

__all__ = [
    "LONGEST_MATCH",
    "PIPS_PER_ROLL",
    "ROLLS",
    "ROLL_WAYS",
    "CubeAction",
    "Dice",
    "MatchState",
    "Owner",
    "Phase",
]

LONGEST_MATCH: Final = 99
"""Length of the longest match on FIBS."""


class Phase(enum.Enum):
    """What the player has to decide."""

    ROLL = "roll"
    """Double or roll: on turn, before the roll."""
    MOVE = "move"
    """Which play: after the roll."""
    DOUBLED = "doubled"
    """Take, pass or beaver: the opponent has doubled. The cube still shows the old value."""
    RESIGNED = "resigned"
    """Accept or reject: the opponent wants to resign."""
    NAME = "name"
    """Games with such a law only: which double to play, or which point to open."""


_PHASES: Final = {
    Stage.ROLL: Phase.ROLL,
    Stage.MOVE: Phase.MOVE,
    Stage.DOUBLED: Phase.DOUBLED,
    Stage.NAME: Phase.NAME,
}


_STAGES: Final = {phase: stage for stage, phase in _PHASES.items()}


class CubeAction(enum.Enum):
    """Actions with the cube."""

    ROLL = "roll"
    DOUBLE = "double"
    TAKE = "take"
    PASS = "pass"  # noqa: S105 - a cube action
    BEAVER = "beaver"
    """Take and redouble at once; a raccoon or otter when it answers a beaver or raccoon."""


@frozen(slots=False)
class MatchState:
    """A decision in a match, seen by the player who has to make it ("the player")."""

    board: Board
    """The checkers: a `Position` in backgammon and games that are like it, else `Sides`, the player's own first."""
    length: int = 0
    """Match length in points; 0 is unlimited (money)."""
    score: tuple[int, int] = (0, 0)
    """Points of the player and of the opponent."""
    cube: int = 1
    """The value that the game is played for now."""
    owner: Owner = Owner.CENTRED
    crawford: bool = False
    """Whether this is the Crawford game."""
    post_crawford: bool = False
    """Whether the Crawford game has been played."""
    phase: Phase = Phase.ROLL
    dice: Dice | None = None
    """The player's dice in phase MOVE."""
    resignation: int = 0
    """In phase RESIGNED, what the opponent offers: 1 single, 2 gammon, 3 backgammon."""
    resignation_points: int = 0
    """In phase RESIGNED, the points that the opponent offers, as far as they are known."""
    jacoby: bool = False
    """Whether gammons count only after a double (unlimited matches)."""
    redoubles: int = 0
    """How many instant redoubles (beaver, raccoon, otter) are still allowed in this exchange (unlimited matches)."""
    redoubled: bool | None = None
    """In phase DOUBLED, whether the opponent has redoubled the player's own double at once (beaver, raccoon), so that
    the player is on roll; None if that is not known."""
    cubeless: bool = False
    """Whether the match is played without a cube; nobody is asked to double then."""
    gammon: bool = True
    """Whether a gammon counts twice; otherwise every game that is won counts once."""
    triple: bool = True
    """Whether a backgammon counts three times; otherwise it counts as a gammon."""
    point_game: bool = False
    """Whether the winner scores for each checker that the loser has left instead (law 21 of 1931)."""
    may_reject: bool = False
    """In phase MOVE, whether the player may reject the roll, which doubles the centred cube, and roll again."""
    cube_limit: int | None = None
    """The highest value of the cube; None is no limit that matters."""
    rules: Ruleset = BACKGAMMON
    """The game that is played."""
    todo: Turn = ()
    """In phases MOVE and NAME, what is left of a turn that may have several parts; in MOVE a part comes first.

    Empty in backgammon, whose turns are the dice."""
    throws: int = 0
    """How often the player has rolled in this turn, in games in which a roll may follow another."""
    passed: bool = False
    """Whether `todo` was left by the opponent; the player's own roll follows."""
    naming: Naming | None = None
    """In phase NAME, what has to be named."""
    names: tuple[int, ...] = ()
    """In phase NAME, what may be named."""
    on_turn: bool = True
    """Whether it is the player's turn, and not the opponent's, who may wait for what is named, or resign."""

    @classmethod
    def of(cls, game: GameState, seat: Seat | None) -> MatchState | None:
        """Return the decision of a player; None if there is nothing to decide for this player.

        In every stage but OPENING, CONTEST and OVER exactly one of the two players has to decide: `game.decides`.
        """
        if seat is None or game.decides is not seat:
            return None
        phase = Phase.RESIGNED if game.resignation else _PHASES[game.stage]
        return cls(
            board=game.board if seat is game.turn else game.board.swapped(),
            length=game.length,
            score=(game.scores[seat], game.scores[seat.other]),
            cube=game.cube,
            owner=game.owner_for(seat),
            crawford=game.crawford,
            post_crawford=game.post_crawford,
            phase=phase,
            dice=game.dice if phase is Phase.MOVE else None,
            resignation=game.resignation.level if game.resignation else 0,
            resignation_points=game.resignation.points if game.resignation else 0,
            jacoby=game.laws.jacoby and not game.length,
            redoubles=redoubles_left(game),
            redoubled=game.turn is seat if phase is Phase.DOUBLED else None,
            cubeless=not game.laws.cube,
            gammon=game.laws.gammon,
            triple=game.laws.triple,
            point_game=game.laws.point_game,
            may_reject=phase is Phase.MOVE and may_reject_roll(game),
            rules=game.rules,
            todo=game.todo,
            throws=game.throws if seat is game.turn else 0,
            passed=game.passed,
            naming=game.naming if phase is Phase.NAME else None,
            names=choices(game) if phase is Phase.NAME else (),
            on_turn=seat is game.turn,
        )

    def game(self, seat: Seat = Seat.A) -> GameState:
        """Return a game in which the player at `seat` has this decision: what `of` takes, as far as it is known.

        The laws are those of the fields above; what they leave open is as in a modern match, or as the game has it.
        """
        doubled, resigned = self.phase is Phase.DOUBLED, self.phase is Phase.RESIGNED
        on_turn = bool(self.redoubled) if doubled else self.on_turn
        beavers = int(doubled and on_turn)
        stage = Stage.ROLL if resigned else _STAGES[self.phase]
        resignation = None
        if resigned:
            resignation = Resignation(seat.other, Level(self.resignation or 1), self.resignation_points)
        return GameState(
            laws=self._laws(beavers),
            length=self.length,
            scores=self.score if seat is Seat.A else self.score[::-1],
            crawford=self.crawford,
            post_crawford=self.post_crawford,
            board=self.board if on_turn else self.board.swapped(),
            turn=seat if on_turn else seat.other,
            stage=stage,
            dice=self.dice,
            cube=self.cube,
            owner={Owner.CENTRED: None, Owner.PLAYER: seat, Owner.OPPONENT: seat.other}[self.owner],
            offered=2 * self.cube if doubled else 0,
            answering=seat if doubled else None,
            redoubles=beavers,
            turns=0 if self.may_reject else 2,
            resignation=resignation,
            rules=self.rules,
            todo=self.todo,
            naming=self.naming,
            namer=seat if self.phase is Phase.NAME else None,
            passed=self.passed,
            throws=self.throws,
        )

    def _laws(self, beavers: int) -> Laws:
        """Return the laws by which this decision is made, after so many redoubles of this exchange."""
        laws = self.rules.laws if self.rules is not BACKGAMMON else MODERN
        return fast_evolve(
            laws,
            reject_first_throw=self.may_reject,
            cube=not self.cubeless,
            cube_limit=self.cube_limit,
            jacoby=self.jacoby if not self.length else laws.jacoby,
            redoubles=laws.redoubles if self.length else self.redoubles + beavers,
            gammon=self.gammon,
            triple=self.triple,
            point_game=self.point_game,
        )

    @property
    def position(self) -> Position:
        """The board of backgammon. Raises TypeError in games that are not backgammon."""
        board = self.board
        if isinstance(board, Position):
            return board
        raise TypeError(f"expected a game of backgammon, got one of {self.rules.name}")

    @property
    def sides(self) -> Sides:
        """The board as two sides, the player's own first."""
        return sides_of(self.board)

    @property
    def part(self) -> Part:
        """In games other than backgammon, the numbers to be played in phase MOVE. Raises RollFirstError in others."""
        if self.phase is Phase.MOVE and self.todo and isinstance(self.todo[0], Part):
            return self.todo[0]
        raise RollFirstError("the dice have to be rolled first")

    @property
    def plays(self) -> tuple[Play, ...]:
        """The legal plays, one for each distinct board that they lead to; none if no checker can move; phase MOVE."""
        board = self.board
        if isinstance(board, Position):
            return legal_plays(board, self.dice or (0, 0))
        return general_plays.legal_plays(self.rules, board, self.part)

    @property
    def boards(self) -> tuple[Board, ...]:
        """The boards that `plays` lead to, in their order, still with the player's own side first; phase MOVE."""
        board = self.board
        if isinstance(board, Position):
            return tuple(map(Position, resulting_positions(board.points, self.dice or (0, 0))))
        return tuple(general_plays.resulting_boards(self.rules, board, self.part))

    @property
    def has_choice(self) -> bool:
        """Whether there are at least two plays, which is quicker than listing them; phase MOVE."""
        board = self.board
        if isinstance(board, Position):
            return has_choice(board.points, self.dice or (0, 0))
        return len(general_plays.resulting_boards(self.rules, board, self.part)) > 1

    def check_play(self, play: Play) -> Play:
        """Return a play with its moves in an order in which they can be made; phase MOVE. Raises PlayError."""
        board = self.board
        if isinstance(board, Position):
            return check_play(board, self.dice or (0, 0), play)
        return general_plays.check_play(self.rules, board, self.part, play)[0]

    def board_after(self, play: Play) -> Board:
        """Return the board after a legal play, still with the player's own side first."""
        board = self.board
        if isinstance(board, Position):
            return board.play(play)
        return general_plays.check_play(self.rules, board, self.part, play)[1]

    def boards_after(self, plays: Sequence[Play]) -> list[Board]:
        """Return the boards after plays of `plays`, which is faster than one after the other."""
        board = self.board
        if isinstance(board, Position):
            return [board.play(play) for play in plays]
        results = general_plays.resulting_boards(self.rules, board, self.part)
        known: dict[Play, Board] = {Play(steps): after for after, steps in results.items()}
        return [known[play] if play in known else self.board_after(play) for play in plays]

    @property
    def away(self) -> tuple[int, int]:
        """What player and opponent still need; (0, 0) in an unlimited match."""
        if not self.length:
            return (0, 0)
        return (self.length - self.score[0], self.length - self.score[1])

    @property
    def may_double(self) -> bool:
        """Whether the player may double before the roll, as far as cube, score and the Crawford rule say."""
        dead = bool(self.length) and self.score[0] + self.cube >= self.length
        return self.owner is not Owner.OPPONENT and self.cube_turns and not dead

    @property
    def cube_turns(self) -> bool:
        """Whether the cube can be turned at all: not in the Crawford game, nor without a cube, nor at its limit."""
        return not (self.crawford or self.cubeless or (self.cube_limit and 2 * self.cube > self.cube_limit))

    def swapped(self) -> MatchState:
        """Return the same match seen by the other player; phase, dice and offers are left as they are."""
        return fast_evolve(self, board=self.board.swapped(), score=self.score[::-1], owner=Owner(-self.owner.value))
