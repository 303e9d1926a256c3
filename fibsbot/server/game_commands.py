"""Game commands: double, redouble, resign, accept, reject, roll, move, off, board, pip, panic.

Specification: "Game Commands", "Doubling", "Redoubling", "Resigning".
"""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import ResignLevel
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import UNLIMITED, YOU, Toggle

from fibsbot import fibs
from fibsbot.rules import game
from fibsbot.rules.errors import CubeRefusal, PlayError
from fibsbot.rules.game import Level, Resignation, Seat, Stage, refusal_to_double, refusal_to_redouble
from fibsbot.server import game_flow
from fibsbot.server.audience import MatchView, tell_viewers
from fibsbot.server.server_match import ServerMatch
from fibsbot.server.users import User
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()

REDOUBLE_NAMES: Final = ("beaver", "raccoon", "otter")
"""What the first, second and third instant redouble are called."""
RESIGN_LEVELS: Final = {
    ResignLevel.NORMAL: Level.SINGLE,
    ResignLevel.GAMMON: Level.GAMMON,
    ResignLevel.BACKGAMMON: Level.BACKGAMMON,
}


def require_match(user: User) -> tuple[ServerMatch, Seat]:
    """Return the user's table and seat; refuse if there is none."""
    if user.table is None:
        raise CommandError(m.NotPlaying())
    return user.table, user.table.seat(user.name)


def check_no_resignation(table: ServerMatch, seat: Seat) -> None:
    """Refuse anything while an offer to resign waits for its answer."""
    offer = table.state.resignation
    if offer is not None:
        name = table.names[seat.other]
        raise CommandError(m.ResignPending(name) if offer.seat is seat else m.AnswerResign(name))


# -- doubles --------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Double)
def double(world: World, user: User, command: c.Double) -> None:  # noqa: ARG001 - all handlers are called alike
    """Offer to play for twice as much."""
    table, seat = require_match(user)
    check_no_resignation(table, seat)
    if table.state.stage in (Stage.OVER, Stage.DOUBLED):
        raise CommandError(m.NotYourDouble())
    if table.state.turn is not seat:
        raise CommandError(m.DoubleNotNow(table.names[seat.other]))
    if table.state.stage is Stage.MOVE:
        raise CommandError(m.DoubleBeforeRoll())
    refusal = refusal_to_double(table.state, seat)
    if refusal is not None:
        raise CommandError(m.CrawfordForbids() if refusal is CubeRefusal.CRAWFORD else m.NotYourDouble())
    table.state = game.double(table.state, seat)
    table.note(seat, "doubles")
    world.changed(table)
    announce_double(world, table)


def announce_double(world: World, table: ServerMatch) -> None:
    """Tell about the double that waits for its answer."""
    state = table.state
    if state.answering is None:
        raise AssertionError("a double waits for somebody's answer")
    asked, more = state.answering, refusal_to_redouble(state) is None
    for seat in Seat:
        user, name = table.users[seat], table.names[seat.other]
        if seat is asked:
            offer = m.OpponentRedoubles(name, state.offered, more) if state.redoubles else m.OpponentDoubles(name, more)
            world.tell(user, offer)
        elif state.redoubles:
            world.tell(user, m.YouRedouble(state.cube), m.RedoubleWait(name, more))
        else:
            world.tell(user, m.YouDouble(name, more))
    seen = m.WatchedRedouble if state.redoubles else m.WatchedDouble
    tell_viewers(world, table, lambda view: seen(table.names[asked.other]) if view.watched else None)


@HANDLERS.on(c.Redouble, c.Beaver, c.Raccoon, c.Otter)
def redouble(world: World, user: User, command: c.Redouble | c.Beaver | c.Raccoon | c.Otter) -> None:
    """Take a double and double again at once, which only unlimited matches have."""
    table, seat = require_match(user)
    check_no_resignation(table, seat)
    if table.length != UNLIMITED:
        raise CommandError(m.RedoubleOnlyUnlimited())
    state = table.state
    if state.answering is not seat:
        raise CommandError(m.RedoubleNotAllowed())
    typed = command.kind()
    right = REDOUBLE_NAMES[state.redoubles] if state.redoubles < len(REDOUBLE_NAMES) else None
    if typed in REDOUBLE_NAMES and typed != right:
        raise CommandError(m.WrongRedouble(typed, right))
    if refusal_to_redouble(state) is not None:
        raise CommandError(m.RedoubleNotAllowed())
    table.state = game.redouble(state, seat)
    table.note(seat, "redoubles")
    world.changed(table)
    announce_double(world, table)


# -- resignations ---------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Resign)
def resign(world: World, user: User, command: c.Resign) -> None:
    """Offer to resign; either player may, whoever's turn it is."""
    table, seat = require_match(user)
    offer = table.state.resignation
    if offer is not None and offer.seat is seat:
        raise CommandError(m.AlreadyResigned())
    check_no_resignation(table, seat)
    if table.state.stage is Stage.OVER:
        raise CommandError(m.NotPlaying())
    if table.state.stage is Stage.DOUBLED:
        asked = table.state.answering is seat
        raise CommandError(m.NotYourTurn() if asked else m.DoublePending(table.names[seat.other]))
    table.state = game.resign(table.state, seat, RESIGN_LEVELS[command.level])
    world.changed(table)
    if table.state.resignation is not None:
        announce_resignation(world, table, table.state.resignation)


def announce_resignation(world: World, table: ServerMatch, offer: Resignation) -> None:
    """Tell about an offer to resign that waits for its answer."""
    seat, points = offer.seat, offer.points
    tell_viewers(world, table, lambda view: m.ResignOffer(view.name(seat), view.name(seat.other), points))


# -- answers --------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Accept)
def accept(world: World, user: User, command: c.Accept) -> None:  # noqa: ARG001 - all handlers are called alike
    """Accept what the opponent has offered."""
    table, seat = require_match(user)
    state = table.state
    if state.resignation is not None and state.resignation.seat is seat.other:
        table.note(seat.other, "wants to resign")
        table.state = game.accept_resignation(state, seat)
        game_flow.end_game(world, table)
        return
    check_no_resignation(table, seat)
    if state.answering is not seat:
        raise CommandError(m.NothingToAnswer(table.names[seat.other]))
    table.state = game.take(state, seat)
    table.note(seat, "accepts")
    again, cube = bool(state.redoubles), table.state.cube

    def say(view: MatchView) -> Message:
        said = m.RedoubleAccepted if again else m.DoubleAccepted
        return said(view.name(seat), None if view.watched else cube)

    tell_viewers(world, table, say)
    game_flow.continue_game(world, table)


@HANDLERS.on(c.Reject)
def reject(world: World, user: User, command: c.Reject) -> None:  # noqa: ARG001 - as above
    """Refuse a double, which loses the game, or an offer to resign, after which it goes on."""
    if user.table is None:
        raise CommandError(m.NothingToGiveUp())
    table, seat = require_match(user)
    state = table.state
    if state.resignation is not None and state.resignation.seat is seat.other:
        table.state = game.reject_resignation(state, seat)
        world.changed(table)
        tell_viewers(world, table, lambda view: m.ResignRejected(view.name(seat)))
        return
    check_no_resignation(table, seat)
    if state.answering is not seat:
        raise CommandError(m.NothingToAnswer(table.names[seat.other]))
    table.note(seat, "rejects")
    table.state = game.drop(state, seat)
    game_flow.end_game(world, table)


def _check_turn(table: ServerMatch, seat: Seat, refusal: Refusal) -> None:
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
    table, seat = require_match(user)
    _check_turn(table, seat, m.NotYourRoll())
    if table.state.stage is Stage.MOVE:
        raise CommandError(m.AlreadyRolled())
    game_flow.continue_game(world, table, asked=game_flow.roll(world, table))


@HANDLERS.on(c.Move)
def move(world: World, user: User, command: c.Move) -> None:
    """Make a play."""
    table, seat = require_match(user)
    _check_turn(table, seat, m.NotYourMove())
    if table.state.dice is None:
        raise CommandError(m.RollFirst())
    direction = table.direction(seat)
    try:
        game_flow.make_play(world, table, fibs.play_from_fibs(command.moves, direction))
    except PlayError:
        state = table.state
        dice = state.dice or (0, 0)
        raise CommandError(game_flow.refusal_of_move(state.position, dice, command.moves, direction)) from None
    game_flow.continue_game(world, table)


@HANDLERS.on(c.Off)
def off(world: World, user: User, command: c.Off) -> None:  # noqa: ARG001 - as above
    """Bear off a checker with every number."""
    table, seat = require_match(user)
    _check_turn(table, seat, m.NotYourTurn())
    if table.state.dice is None:
        raise CommandError(m.RollFirst())
    play = game_flow.greedy_play(table.state.position, table.state.dice)
    if play is None:
        raise CommandError(m.OffNotPossible())
    game_flow.make_bear_off(world, table, play)
    game_flow.continue_game(world, table)


@HANDLERS.on(c.ShowBoard)
def board(world: World, user: User, command: c.ShowBoard) -> None:  # noqa: ARG001 - as above
    """Show the board of the match that the user plays or watches."""
    if user.table is not None:
        view = MatchView(user.table, user, user.table.seat(user.name), watched=False)
    elif user.watching is not None:
        view = watched_view(world, user, user.watching)
    else:
        raise CommandError(m.NotPlaying())
    world.tell(user, view.board(requested=True))


def watched_view(world: World, user: User, name: str) -> MatchView:
    """Return the match of somebody else as a user sees it who watches them."""
    player = world.users.get(name)
    if player is None or player.table is None:
        raise CommandError(m.UserNotPlaying(name))
    return MatchView(player.table, user, player.table.seat(name), watched=True)


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
    table, _ = require_match(user)
    world.store.save_panic(table.to_json(), world.now())
    world.tell(user, m.PanicSaved())
