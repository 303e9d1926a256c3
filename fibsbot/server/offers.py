"""Offers and answers: doubles, redoubles, resignations (specification: "Doubling", "Redoubling", "Resigning")."""

from __future__ import annotations

from typing import Final

from fibsbot.rules import game
from fibsbot.rules.cube import refusal_to_double, refusal_to_redouble
from fibsbot.rules.errors import CubeRefusal
from fibsbot.rules.game import Level, Resignation, Seat, Stage
from fibsbot.server import turns
from fibsbot.server.handlers import Handlers
from fibsbot.server.table import Table
from fibsbot.server.users import User
from fibsbot.server.views import View, announce
from fibsbot.server.world import World
from protocol import commands as c
from protocol import messages as m
from protocol.commands import ResignLevel
from protocol.errors import CommandError
from protocol.messages import Message
from protocol.words import UNLIMITED

HANDLERS: Final = Handlers()

ANIMALS: Final = ("beaver", "raccoon", "otter")
"""What the first, second and third instant redouble are called."""
LEVELS: Final = {
    ResignLevel.NORMAL: Level.SINGLE,
    ResignLevel.GAMMON: Level.GAMMON,
    ResignLevel.BACKGAMMON: Level.BACKGAMMON,
}


def playing(user: User) -> tuple[Table, Seat]:
    """Return the user's table and seat; refuse if there is none."""
    if user.table is None:
        raise CommandError(m.NotPlaying())
    return user.table, user.table.seat(user.name)


def check_no_resignation(table: Table, seat: Seat) -> None:
    """Refuse anything while an offer to resign waits for its answer."""
    offer = table.state.resignation
    if offer is not None:
        name = table.names[seat.other]
        raise CommandError(m.ResignPending(name) if offer.seat is seat else m.AnswerResign(name))


# -- doubles --------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Double)
def double(world: World, user: User, command: c.Double) -> None:  # noqa: ARG001 - all handlers are called alike
    """Offer to play for twice as much."""
    table, seat = playing(user)
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
    tell_offer(world, table)


def tell_offer(world: World, table: Table) -> None:
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
    announce(world, table, lambda view: seen(table.names[asked.other]) if view.watched else None)


@HANDLERS.on(c.Redouble, c.Beaver, c.Raccoon, c.Otter)
def redouble(world: World, user: User, command: c.Redouble | c.Beaver | c.Raccoon | c.Otter) -> None:
    """Take a double and double again at once, which only unlimited matches have."""
    table, seat = playing(user)
    check_no_resignation(table, seat)
    if table.length != UNLIMITED:
        raise CommandError(m.RedoubleOnlyUnlimited())
    state = table.state
    if state.answering is not seat:
        raise CommandError(m.RedoubleNotAllowed())
    typed = command.kind()
    right = ANIMALS[state.redoubles] if state.redoubles < len(ANIMALS) else None
    if typed in ANIMALS and typed != right:
        raise CommandError(m.WrongRedouble(typed, right))
    if refusal_to_redouble(state) is not None:
        raise CommandError(m.RedoubleNotAllowed())
    table.state = game.redouble(state, seat)
    table.note(seat, "redoubles")
    world.changed(table)
    tell_offer(world, table)


# -- resignations ---------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Resign)
def resign(world: World, user: User, command: c.Resign) -> None:
    """Offer to resign; either player may, whoever's turn it is."""
    table, seat = playing(user)
    offer = table.state.resignation
    if offer is not None and offer.seat is seat:
        raise CommandError(m.AlreadyResigned())
    check_no_resignation(table, seat)
    if table.state.stage is Stage.OVER:
        raise CommandError(m.NotPlaying())
    if table.state.stage is Stage.DOUBLED:
        asked = table.state.answering is seat
        raise CommandError(m.NotYourTurn() if asked else m.DoublePending(table.names[seat.other]))
    table.state = game.resign(table.state, seat, LEVELS[command.level])
    world.changed(table)
    if table.state.resignation is not None:
        tell_resignation(world, table, table.state.resignation)


def tell_resignation(world: World, table: Table, offer: Resignation) -> None:
    """Tell about an offer to resign that waits for its answer."""
    seat, points = offer.seat, offer.points
    announce(world, table, lambda view: m.ResignOffer(view.name(seat), view.name(seat.other), points))


# -- answers --------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Accept)
def accept(world: World, user: User, command: c.Accept) -> None:  # noqa: ARG001 - all handlers are called alike
    """Accept what the opponent has offered."""
    table, seat = playing(user)
    state = table.state
    if state.resignation is not None and state.resignation.seat is seat.other:
        table.note(seat.other, "wants to resign")
        table.state = game.accept_resignation(state, seat)
        turns.end_game(world, table)
        return
    check_no_resignation(table, seat)
    if state.answering is not seat:
        raise CommandError(m.NothingToAnswer(table.names[seat.other]))
    table.state = game.take(state, seat)
    table.note(seat, "accepts")
    again, cube = bool(state.redoubles), table.state.cube

    def say(view: View) -> Message:
        said = m.RedoubleAccepted if again else m.DoubleAccepted
        return said(view.name(seat), None if view.watched else cube)

    announce(world, table, say)
    turns.go_on(world, table)


@HANDLERS.on(c.Reject)
def reject(world: World, user: User, command: c.Reject) -> None:  # noqa: ARG001 - as above
    """Refuse a double, which loses the game, or an offer to resign, after which it goes on."""
    if user.table is None:
        raise CommandError(m.NothingToGiveUp())
    table, seat = playing(user)
    state = table.state
    if state.resignation is not None and state.resignation.seat is seat.other:
        table.state = game.reject_resignation(state, seat)
        world.changed(table)
        announce(world, table, lambda view: m.ResignRejected(view.name(seat)))
        return
    check_no_resignation(table, seat)
    if state.answering is not seat:
        raise CommandError(m.NothingToAnswer(table.names[seat.other]))
    table.note(seat, "rejects")
    table.state = game.drop(state, seat)
    turns.end_game(world, table)
