"""`fibsbot demo --game`: the display of a whole match of a game other than backgammon."""

from __future__ import annotations

from functools import partial

from attrs import define
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU, FibsMove
from fibsbot.arena.demo import LiveDisplay, PlayerCommentator
from fibsbot.bot.agent import Agent
from fibsbot.draw.board_text import draw_game
from fibsbot.fast_evolve import fast_evolve
from fibsbot.notation.play_notation import format_play
from fibsbot.rules.errors import PlayError
from fibsbot.rules.general_plays import check_play
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.table_lines import play_of_moves
from fibsbot.text import plural


class RulesetDisplay(LiveDisplay):
    """Shows a match of a game other than backgammon."""

    def __init__(self, console: Console, player: str, opponent: str) -> None:
        """Show the match from this player's side."""
        super().__init__(console, player)
        self.opponent = opponent
        self.results: list[tuple[str, int, str, int]] = []
        """Of each game the winner, or `nobody`, the points, the reason and the number of turns."""
        self.winner: str | None = None
        """Of the match, once it is over."""
        self.score = (0, 0)
        self._game: GameState | None = None
        self._turns = 0

    def show(self, game: GameState) -> None:
        """Take the present board."""
        self._game = game
        self.refresh()

    def show_board(self, game: GameState) -> None:
        """Take a board of the server; print the first one of the match, which shows the set-up."""
        is_first = self._game is None
        self.show(game)
        if is_first:
            self.print_board()

    def show_after(self, game: GameState, *, leads: bool) -> None:
        """Show the board after a play, seen by the player who leads or by the other one; no line may follow it."""
        self.show(game if leads else fast_evolve(game, turn=game.turn.other))

    def count_turn(self) -> None:
        """Count a turn of the current game."""
        self._turns += 1

    def score_game(self, winner: str, points: int) -> None:
        """Count the points of a game."""
        own, other = self.score
        self.score = (own + points, other) if winner == self.player else (own, other + points)
        if self._game is not None:
            self.show(fast_evolve(self._game, scores=self.score))

    def end_game(self, winner: str, points: int, reason: str) -> None:
        """Note how a game has ended."""
        self.results.append((winner, points, reason, self._turns))
        self._turns = 0

    def _drawing(self) -> list[str]:
        return [] if self._game is None else draw_game(self._game, Seat.A, (self.player, self.opponent))

    def sheet(self) -> Table:
        """Return the results as a table."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
        for name in ("game", "winner", "points", "turns", "how"):
            table.add_column(name, no_wrap=name != "how", justify="right" if name in {"points", "turns"} else "left")
        for number, (winner, points, reason, turns) in enumerate(self.results, 1):
            table.add_row(str(number), winner, str(points), str(turns), reason)
        return table


@define
class RulesetCommentator(PlayerCommentator):
    """Prints what the opponent of one player does; with one for each player the whole match is printed."""

    display: RulesetDisplay
    opponent: str
    leads: bool
    """Whether the match is shown from this player's side."""
    _game: GameState | None = None
    _numbers: tuple[int, ...] = ()
    """What the opponent has to play: the last roll, or the part of a turn that came last."""

    def on_message(self, message: Message, agent: Agent) -> None:
        """Print the meaning of a message."""
        before, self._game = self._game, agent.tracked.game_state
        self.display.both_sides.handle(message, partial(self._take, message, before, self._game), leads=self.leads)

    def _take(self, message: Message, before: GameState | None, game: GameState | None) -> None:
        if isinstance(message, m.TableBoard):
            if self.leads and game is not None:
                self.display.score = game.scores
                self.display.show_board(game)
        elif self.leads:
            self._print_of_both(message)
        self._note_numbers(message)
        said = self._action(message, before)
        if said:
            self.display.print(f"{self.opponent} {said}")

    def _print_of_both(self, message: Message) -> None:
        """Print what belongs to neither player."""
        show = self.display
        match message:
            case m.GameStarts():
                show.print(f"Game {len(show.results) + 1}")
            case m.OpeningRoll(player_die=own, opponent_die=other):
                show.print(f"{show.player} rolls {own}, {show.opponent} {other}.")
            case m.GameWonBy(winner=winner, points=points, reason=reason):
                name = show.player if winner == YOU else winner
                show.score_game(name, points)
                show.end_game(name, points, reason)
                show.print(f"{name} wins {plural(points, 'point')}, having {reason}.", with_board=True)
            case m.GameDrawn(reason=reason):
                show.end_game("nobody", 0, reason)
                show.print(f"Nobody wins: {reason}.", with_board=True)
            case m.MatchWon(winner=winner):
                show.winner = show.player if winner == YOU else winner

    def _note_numbers(self, message: Message) -> None:
        match message:
            case m.OpeningRoll(player_die=own, opponent_die=other):
                self._numbers = (other, own)
            case m.Rolls(player=self.opponent, dice=numbers) | m.RollsThree(player=self.opponent, dice=numbers):
                self._numbers = numbers
            case m.NextPart(player=self.opponent, numbers=numbers):
                self._numbers = numbers

    def _action(self, message: Message, before: GameState | None) -> str | None:
        """Return what the opponent did as text, without the name."""
        if getattr(message, "player", None) != self.opponent:
            return None
        said = None
        match message:
            case m.Moves(moves=moves) if before is not None:
                self.display.count_turn()
                said, game = _played(before, moves)
                self.display.show_after(game, leads=self.leads)
            case m.CannotMove():
                self.display.count_turn()
                said = f"{'-'.join(map(str, self._numbers))} cannot move"
            case m.NumberNamed(naming=naming, number=number):
                said = f"names the {naming.value} {number}"
            case m.RestLeft():
                heir = self.display.player if self.leads else self.display.opponent
                said = f"leaves the rest of the turn to {heir}"
            case m.RollsAgain():
                said = "rolls again"
        return said


def _played(game: GameState, moves: tuple[FibsMove, ...]) -> tuple[str, GameState]:
    """Return the numbers and the play of the side on turn as text, and the game with the board after it."""
    play = play_of_moves(moves)
    if game.stage is not Stage.MOVE:
        return " ".join(map(str, play.moves)), game
    try:
        made, table = check_play(game.rules, game.sides, game.part, play)
    except PlayError:
        return " ".join(map(str, play.moves)), game
    numbers = "-".join(map(str, game.part.numbers))
    text = f"{numbers}: {format_play(made, game)}"
    return text, fast_evolve(game, board=table, stage=Stage.OVER, dice=None, todo=())
