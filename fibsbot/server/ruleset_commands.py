"""Commands of players in a match of a game other than backgammon, in place of the ordinary handlers.

Doubles, resignations and their answers are those of game_commands.py.
"""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Refusal
from fibsbot.rules import game
from fibsbot.rules.errors import PlayError, RuleError
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.server import game_commands, ruleset_flow
from fibsbot.server.game_commands import check_no_resignation
from fibsbot.server.ruleset_match import RulesetMatch
from fibsbot.server.users import User
from fibsbot.server.world import CommandHandlers, World
from fibsbot.table_lines import play_of_moves

HANDLERS: Final = CommandHandlers()
"""For players of a RulesetMatch."""


def state_of(user: User) -> GameState | None:
    """Return the game that a user plays, if it is not backgammon."""
    return user.match.state if isinstance(user.match, RulesetMatch) else None


def after_command(world: World, user: User, before: GameState | None) -> None:
    """Send the board if a command has changed the game; `before` is what `state_of` returned before it."""
    match = user.match
    if isinstance(match, RulesetMatch) and match.state is not before:
        ruleset_flow.send_tables(world, match)


def _match_of(user: User) -> tuple[RulesetMatch, Seat]:
    match = user.match
    if not isinstance(match, RulesetMatch):
        raise CommandError(m.NotPlaying())
    return match, match.seat(user.name)


def _check_turn(match: RulesetMatch, seat: Seat, refusal: Refusal) -> None:
    """Refuse if it is not this player's turn to roll, play or double."""
    check_no_resignation(match, seat)
    state = match.state
    if state.stage is Stage.NAME and state.namer is seat:
        raise CommandError(m.NameFirst(game.choices(state)))
    game_commands.check_turn(match, seat, refusal)


@HANDLERS.on(c.Roll)
def roll(world: World, user: User, command: c.Roll) -> None:  # noqa: ARG001 - all handlers are called alike
    """Roll the dice."""
    match, seat = _match_of(user)
    _check_turn(match, seat, m.NotYourRoll())
    if match.state.stage is Stage.MOVE:
        raise CommandError(m.AlreadyRolled())
    ruleset_flow.roll(world, match)
    ruleset_flow.continue_game(world, match)


@HANDLERS.on(c.Move)
def move(world: World, user: User, command: c.Move) -> None:
    """Play a part of a turn."""
    match, seat = _match_of(user)
    _check_turn(match, seat, m.NotYourMove())
    if match.state.stage is not Stage.MOVE:
        raise CommandError(m.RollFirst())
    try:
        ruleset_flow.make_play(world, match, play_of_moves(command.moves))
    except PlayError as error:
        raise CommandError(m.IllegalPlay(str(error))) from None
    ruleset_flow.continue_game(world, match)


@HANDLERS.on(c.Off)
def off(world: World, user: User, command: c.Off) -> None:  # noqa: ARG001 - as above
    """Bear off a checker with every number of the part."""
    match, seat = _match_of(user)
    _check_turn(match, seat, m.NotYourTurn())
    if match.state.stage is not Stage.MOVE:
        raise CommandError(m.RollFirst())
    play = ruleset_flow.greedy_play(match.state)
    if play is None:
        raise CommandError(m.OffNotPossible())
    ruleset_flow.bear_off(world, match, play)
    ruleset_flow.continue_game(world, match)


@HANDLERS.on(c.Name)
def name(world: World, user: User, command: c.Name) -> None:
    """Name the double to play, or the point to open."""
    match, seat = _match_of(user)
    check_no_resignation(match, seat)
    if match.state.stage is not Stage.NAME or match.state.namer is not seat:
        raise CommandError(m.NothingToName())
    number = int(command.name) if command.name.isascii() and command.name.isdecimal() else 0
    try:
        ruleset_flow.name(world, match, seat, number)
    except RuleError:
        raise CommandError(m.CantName(game.choices(match.state))) from None
    ruleset_flow.continue_game(world, match)


@HANDLERS.on(c.Double)
def double(world: World, user: User, command: c.Double) -> None:
    """Offer a double, unless something has to be named first."""
    match, seat = _match_of(user)
    if match.state.stage is Stage.NAME:
        _check_turn(match, seat, m.NotYourDouble())
    game_commands.double(world, user, command)


@HANDLERS.on(c.Rethrow)
def rethrow(world: World, user: User, command: c.Rethrow) -> None:  # noqa: ARG001 - as above
    """Refuse: these games have no such law."""
    raise CommandError(m.CantRethrow())
