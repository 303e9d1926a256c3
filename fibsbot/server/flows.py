"""The course of a game of any kind: each function hands a match on to the flow of its game."""

from __future__ import annotations

from typing import Any

from fibsbot.rules import game
from fibsbot.rules import game as games
from fibsbot.server import game_flow, ruleset_flow
from fibsbot.server.pair_match import PairMatch
from fibsbot.server.ruleset_match import RulesetMatch
from fibsbot.server.server_match import ServerMatch
from fibsbot.server.world import World


def start_game(world: World, match: PairMatch[Any], *, resumed: bool = False) -> None:
    """Start a game; `resumed` means that a resumed match goes on with it."""
    if isinstance(match, ServerMatch):
        game_flow.start_game(world, match, resumed=resumed)
    elif isinstance(match, RulesetMatch):
        ruleset_flow.start_game(world, match)


def start_next_game(world: World, match: PairMatch[Any], *, resumed: bool = False) -> None:
    """Start the next game of a match."""
    if isinstance(match, ServerMatch):
        match.state = game.next_game(match.state)
    elif isinstance(match, RulesetMatch):
        match.state = games.next_game(match.state)
    match.swap_colours()
    start_game(world, match, resumed=resumed)


def continue_game(world: World, match: PairMatch[Any], *, skip_board: bool = False) -> None:
    """Continue the game until a player has to decide; `skip_board` is as in game_flow."""
    if isinstance(match, ServerMatch):
        game_flow.continue_game(world, match, skip_board=skip_board)
    elif isinstance(match, RulesetMatch):
        ruleset_flow.continue_game(world, match)


def end_game(world: World, match: PairMatch[Any]) -> None:
    """Announce the result of a finished game, and ask to join the next one or end the match."""
    if isinstance(match, ServerMatch):
        game_flow.end_game(world, match)
    elif isinstance(match, RulesetMatch):
        ruleset_flow.end_game(world, match)
