"""Game commands: roll, move, off, board, pip, panic (specification: "Game Commands")."""

from __future__ import annotations

from typing import Final

from fibsbot import fibs
from fibsbot.rules.errors import PlayError
from fibsbot.rules.game import Seat, Stage
from fibsbot.server import moves, turns
from fibsbot.server.handlers import Handlers
from fibsbot.server.offers import check_no_resignation, playing
from fibsbot.server.table import Table
from fibsbot.server.users import User
from fibsbot.server.views import View
from fibsbot.server.world import World
from protocol import commands as c
from protocol import messages as m
from protocol.errors import CommandError
from protocol.messages import Refusal
from protocol.words import YOU, Toggle

HANDLERS: Final = Handlers()


def _check_turn(table: Table, seat: Seat, refusal: Refusal) -> None:
    """Refuse when somebody else has to act first."""
    check_no_resignation(table, seat)
    state = table.state
    if state.stage is Stage.DOUBLED and state.answering is seat.other:
        raise CommandError(m.DoublePending(table.names[seat.other]))
    if state.stage in (Stage.OVER, Stage.DOUBLED) or state.turn is not seat:
        raise CommandError(refusal)


@HANDLERS.on(c.Roll)
def roll(world: World, user: User, command: c.Roll) -> None:  # noqa: ARG001 - all handlers are called alike
    """Roll the dice."""
    table, seat = playing(user)
    _check_turn(table, seat, m.NotYourRoll())
    if table.state.stage is Stage.MOVE:
        raise CommandError(m.AlreadyRolled())
    turns.go_on(world, table, asked=turns.roll(world, table))


@HANDLERS.on(c.Move)
def move(world: World, user: User, command: c.Move) -> None:
    """Make a play."""
    table, seat = playing(user)
    _check_turn(table, seat, m.NotYourMove())
    if table.state.dice is None:
        raise CommandError(m.RollFirst())
    direction = table.direction(seat)
    try:
        turns.make_play(world, table, fibs.play_from_fibs(command.moves, direction))
    except PlayError:
        state = table.state
        dice = state.dice or (0, 0)
        raise CommandError(moves.refusal(state.position, dice, command.moves, direction)) from None
    turns.go_on(world, table)


@HANDLERS.on(c.Off)
def off(world: World, user: User, command: c.Off) -> None:  # noqa: ARG001 - as above
    """Bear off a checker with every number."""
    table, seat = playing(user)
    _check_turn(table, seat, m.NotYourTurn())
    if table.state.dice is None:
        raise CommandError(m.RollFirst())
    play = moves.greedy_play(table.state.position, table.state.dice)
    if play is None:
        raise CommandError(m.OffNotPossible())
    turns.bear_off(world, table, play)
    turns.go_on(world, table)


@HANDLERS.on(c.ShowBoard)
def board(world: World, user: User, command: c.ShowBoard) -> None:  # noqa: ARG001 - as above
    """Show the board of the match that the user plays or watches."""
    if user.table is not None:
        view = View(user.table, user, user.table.seat(user.name), watched=False)
    elif user.watching is not None:
        view = watched_view(world, user, user.watching)
    else:
        raise CommandError(m.NotPlaying())
    world.tell(user, view.board(requested=True))


def watched_view(world: World, user: User, name: str) -> View:
    """Return the match of somebody else as a user sees it who watches them."""
    player = world.users.get(name)
    if player is None or player.table is None:
        raise CommandError(m.UserNotPlaying(name))
    return View(player.table, user, player.table.seat(name), watched=True)


@HANDLERS.on(c.Pip)
def pip(world: World, user: User, command: c.Pip) -> None:  # noqa: ARG001 - as above
    """Tell both players' pip counts; a player is told only if both allow it."""
    if user.table is not None:
        table, seat = user.table, user.table.seat(user.name)
        if not table.users[seat.other].settings[Toggle.ALLOWPIP]:
            raise CommandError(m.PipNotAllowed(table.names[seat.other]))
        if not user.settings[Toggle.ALLOWPIP]:
            raise CommandError(m.AllowpipFirst())
        own = YOU
    else:
        player = world.users.get(user.watching or "")
        if player is None or player.table is None:
            raise CommandError(m.NotWatchingOrPlaying())
        table, seat, own = player.table, player.table.seat(player.name), player.name
    position = table.state.position_for(seat)
    world.tell(user, m.PipCounts(own, position.pips, table.names[seat.other], position.opponent_pips))


@HANDLERS.on(c.Panic)
def panic(world: World, user: User, command: c.Panic) -> None:  # noqa: ARG001 - as above
    """Keep a copy of the game for whoever looks for a bug in it."""
    table, _ = playing(user)
    world.store.save_panic(table.to_json(), world.now())
    world.tell(user, m.PanicSaved())
