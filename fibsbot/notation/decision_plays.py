"""Plays of a decision in notation, in every game."""

from __future__ import annotations

from fibsbot.match import MatchState
from fibsbot.notation import play_notation, table_plays
from fibsbot.position import Play, Position


def format_play(play: Play, state: MatchState) -> str:
    """Write a legal play of a decision, as the player sees the board. Raises PlayError for an illegal one."""
    if isinstance(state.board, Position):
        return play_notation.format_play(play, state.board)
    return table_plays.format_play(play, state.rules, state.board, state.part)
