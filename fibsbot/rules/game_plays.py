"""The legal plays of a game of any ruleset, and those that a player may leave to the program."""

from __future__ import annotations

from fibsbot.position import OFF, Play
from fibsbot.rules import general_plays, plays
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.state import GameState


def legal_plays(state: GameState) -> tuple[Play, ...]:
    """Return the legal plays of a roll of backgammon, or of a part of a turn, one for each board they lead to."""
    if state.rules is BACKGAMMON:
        return plays.legal_plays(state.position, state.dice or (0, 0))
    return general_plays.legal_plays(state.rules, state.sides, state.part)


def most_moves(state: GameState) -> int:
    """Return how many checkers the player who has rolled can move."""
    if state.rules is BACKGAMMON:
        return plays.most_moves(state.position.points, state.dice or (0, 0))
    return max(map(len, legal_plays(state)), default=0)


def greedy_play(state: GameState) -> Play | None:
    """Return the play that bears off a checker with every number; None if there is none.

    If fewer checkers are left than numbers, bearing all of them off is enough.
    """
    numbers, own = len(state.part.numbers), state.sides.own
    for play in legal_plays(state):
        borne_off = bool(play.moves) and all(move.target == OFF for move in play.moves)
        if borne_off and (len(play) == numbers or own.row[OFF] + len(play) == own.checkers):
            return play
    return None


def only_play(state: GameState) -> Play | None:
    """Return the play if all legal plays lead to the same board, else None."""
    found = legal_plays(state)
    return found[0] if len(found) == 1 else None
