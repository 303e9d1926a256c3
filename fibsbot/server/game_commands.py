"""Game commands: double, redouble, resign, accept, reject, roll, move, off, name, board, pip, panic.

Specification: "Game Commands", "Doubling", "Redoubling", "Resigning".
"""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Refusal
from fibs_protocol.words import UNLIMITED, YOU, Toggle
from fibsbot.rules import game
from fibsbot.rules.errors import CubeRefusal, PlayError, RuleError
from fibsbot.rules.game_plays import greedy_play
from fibsbot.rules.laws import REDOUBLE_NAMES, Level
from fibsbot.rules.permissions import refusal_to_double, refusal_to_redouble
from fibsbot.rules.state import Resignation, Seat, Stage
from fibsbot.server import game_flow
from fibsbot.server.audience import MatchView, send_to_viewers, watched_view
from fibsbot.server.users import ServerMatch, User
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()

"""The names of the first, second and third instant redouble."""


def require_match(user: User) -> tuple[ServerMatch, Seat]:
    """Return the user's match and seat; refuse if there is none."""
    if user.match is None:
        raise CommandError(m.NotPlaying() if user.table is None else user.table.not_acting)
    return user.match, user.match.seat(user.name)


def check_no_resignation(match: ServerMatch, seat: Seat) -> None:
    """Refuse everything while an offer to resign waits for its answer."""
    offer = match.state.resignation
    if offer is not None:
        name = match.names[seat.other]
        raise CommandError(m.ResignPending(name) if offer.seat is seat else m.AnswerResign(name))


# -- doubles --------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Double)
def double(world: World, user: User, command: c.Double) -> None:  # noqa: ARG001 - all handlers are called alike
    """Offer a double."""
    match, seat = require_match(user)
    check_no_resignation(match, seat)
    if match.state.stage is Stage.NAME:
        check_turn(match, seat, m.NotYourDouble())
    if match.state.stage in (Stage.OVER, Stage.DOUBLED):
        raise CommandError(m.NotYourDouble())
    if match.state.turn is not seat:
        raise CommandError(m.DoubleNotNow(match.names[seat.other]))
    if match.state.stage is Stage.MOVE:
        raise CommandError(m.DoubleBeforeRoll())
    refusal = refusal_to_double(match.state, seat)
    if refusal is not None:
        raise CommandError(m.CrawfordForbids() if refusal is CubeRefusal.CRAWFORD else m.NotYourDouble())
    match.state = game.double(match.state, seat)
    match.record_action(seat, "doubles")
    world.mark_unsaved(match)
    announce_double(world, match)


def announce_double(world: World, match: ServerMatch) -> None:
    """Announce the double that waits for its answer."""
    state = match.state
    if state.answering is None:
        raise AssertionError("a double waits for an answer")
    answering, more = state.answering, refusal_to_redouble(state) is None
    for seat in Seat:
        user, name = match.users[seat], match.names[seat.other]
        if seat is answering:
            world.send(user, game_flow.question(match))
        elif state.redoubles:
            world.send(user, m.YouRedouble(state.cube), m.RedoubleWait(name, more))
        else:
            world.send(user, m.YouDouble(name, more))
    seen = m.WatchedRedouble if state.redoubles else m.WatchedDouble
    send_to_viewers(world, match, lambda view: seen(match.names[answering.other]) if view.is_watcher else None)


@HANDLERS.on(c.Redouble, c.Beaver, c.Raccoon, c.Otter)
def redouble(world: World, user: User, command: c.Redouble | c.Beaver | c.Raccoon | c.Otter) -> None:
    """Take a double and redouble at once, which is only possible in unlimited matches."""
    match, seat = require_match(user)
    check_no_resignation(match, seat)
    if match.length != UNLIMITED:
        raise CommandError(m.RedoubleOnlyUnlimited())
    state = match.state
    if state.answering is not seat:
        raise CommandError(m.RedoubleNotAllowed())
    typed = command.kind()
    right = REDOUBLE_NAMES[state.redoubles] if state.redoubles < len(REDOUBLE_NAMES) else None
    if typed in REDOUBLE_NAMES and typed != right:
        raise CommandError(m.WrongRedouble(typed, right))
    if refusal_to_redouble(state) is not None:
        raise CommandError(m.RedoubleNotAllowed())
    match.state = game.redouble(state, seat)
    match.record_action(seat, "redoubles")
    world.mark_unsaved(match)
    announce_double(world, match)


# -- resignations ---------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Resign)
def resign(world: World, user: User, command: c.Resign) -> None:
    """Offer to resign; either player may, at any time."""
    match, seat = require_match(user)
    offer = match.state.resignation
    if offer is not None and offer.seat is seat:
        raise CommandError(m.AlreadyResigned())
    check_no_resignation(match, seat)
    if match.state.stage is Stage.OVER:
        raise CommandError(m.NotPlaying())
    if match.state.stage is Stage.DOUBLED:
        answering = match.state.answering is seat
        raise CommandError(m.NotYourTurn() if answering else m.DoublePending(match.names[seat.other]))
    match.state = game.resign(match.state, seat, Level(command.level.multiplier))
    world.mark_unsaved(match)
    if match.state.resignation is not None:
        announce_resignation(world, match, match.state.resignation)


def announce_resignation(world: World, match: ServerMatch, offer: Resignation) -> None:
    """Announce the offer to resign that waits for its answer."""
    seat, points = offer.seat, offer.points
    send_to_viewers(world, match, lambda view: m.ResignOffer(view.name(seat), view.name(seat.other), points))


# -- answers --------------------------------------------------------------------------------------------------------


@HANDLERS.on(c.Accept)
def accept(world: World, user: User, command: c.Accept) -> None:  # noqa: ARG001 - all handlers are called alike
    """Accept what the opponent has offered."""
    match, seat = require_match(user)
    state = match.state
    if state.resignation is not None and state.resignation.seat is seat.other:
        match.record_action(seat.other, "wants to resign")
        match.state = game.accept_resignation(state, seat)
        game_flow.end_game(world, match)
        return
    _check_answers(match, seat)
    match.state = game.take(state, seat)
    game_flow.go_on_after_take(world, match, seat, redoubled=bool(state.redoubles))


@HANDLERS.on(c.Reject)
def reject(world: World, user: User, command: c.Reject) -> None:  # noqa: ARG001 - as above
    """Refuse a double, which loses the game, or an offer to resign, after which it goes on."""
    if user.match is None:
        raise CommandError(m.NothingToGiveUp())
    match, seat = require_match(user)
    state = match.state
    if state.resignation is not None and state.resignation.seat is seat.other:
        match.state = game.reject_resignation(state, seat)
        world.mark_unsaved(match)
        send_to_viewers(world, match, lambda view: m.ResignRejected(view.name(seat)))
        return
    _check_answers(match, seat)
    match.record_action(seat, "rejects")
    match.state = game.drop(state, seat)
    game_flow.end_game(world, match)


def _check_answers(match: ServerMatch, seat: Seat) -> None:
    """Refuse if no double waits for this player's answer."""
    check_no_resignation(match, seat)
    if match.state.answering is not seat:
        raise CommandError(m.NothingToAnswer(match.names[seat.other]))


def check_turn(match: ServerMatch, seat: Seat, refusal: Refusal) -> None:
    """Refuse if it is not this player's turn to roll, play or double."""
    check_no_resignation(match, seat)
    state = match.state
    if state.stage is Stage.NAME and state.namer is seat:
        raise CommandError(m.NameFirst(game.choices(state)))
    if state.stage is Stage.DOUBLED and state.answering is seat.other:
        raise CommandError(m.DoublePending(match.names[seat.other]))
    if state.stage not in (Stage.ROLL, Stage.MOVE) or state.turn is not seat:
        raise CommandError(refusal)


@HANDLERS.on(c.Roll)
def roll(world: World, user: User, command: c.Roll) -> None:  # noqa: ARG001 - all handlers are called alike
    """Roll the dice."""
    match, seat = require_match(user)
    check_turn(match, seat, m.NotYourRoll())
    if match.state.stage is Stage.MOVE:
        raise CommandError(m.AlreadyRolled())
    game_flow.roll(world, match)
    game_flow.continue_game(world, match)


@HANDLERS.on(c.Move, c.EmptyMove)
def move(world: World, user: User, command: c.Move | c.EmptyMove) -> None:
    """Make a play, in a turn of several parts that of a part."""
    match, seat = require_match(user)
    check_turn(match, seat, m.NotYourMove())
    if match.state.stage is not Stage.MOVE:
        raise CommandError(m.RollFirst())
    lines, colour = match.lines, match.colours[seat]
    moves = command.moves if isinstance(command, c.Move) else ()
    try:
        game_flow.make_play(world, match, lines.play(moves, colour))
    except PlayError as error:
        raise CommandError(lines.refusal(match.state, moves, colour, error)) from None
    game_flow.continue_game(world, match)


@HANDLERS.on(c.Off)
def off(world: World, user: User, command: c.Off) -> None:  # noqa: ARG001 - as above
    """Bear off a checker with every number."""
    match, seat = require_match(user)
    check_turn(match, seat, m.NotYourTurn())
    if match.state.stage is not Stage.MOVE:
        raise CommandError(m.RollFirst())
    play = greedy_play(match.state)
    if play is None:
        raise CommandError(m.OffNotPossible())
    game_flow.bear_off(world, match, play)
    game_flow.continue_game(world, match)


@HANDLERS.on(c.Name)
def name(world: World, user: User, command: c.Name) -> None:
    """Name the double to play, or the point to open; elsewhere refuse a second name of the user."""
    match = user.match
    if match is None or match.game is None:
        raise CommandError(m.NameFixed())
    seat = match.seat(user.name)
    check_no_resignation(match, seat)
    if match.state.stage is not Stage.NAME or match.state.namer is not seat:
        raise CommandError(m.NothingToName())
    number = int(command.name) if command.name.isascii() and command.name.isdecimal() else 0
    try:
        game_flow.name(world, match, seat, number)
    except RuleError:
        raise CommandError(m.CantName(game.choices(match.state))) from None
    game_flow.continue_game(world, match)


@HANDLERS.on(c.ShowBoard)
def board(world: World, user: User, command: c.ShowBoard) -> None:  # noqa: ARG001 - as above
    """Show the board of the match that the user plays or watches."""
    if user.match is not None:
        view = MatchView(user.match, user, user.match.seat(user.name), is_watcher=False)
    elif user.board_match is not None:
        view = MatchView(user.board_match, user, Seat.B, is_watcher=True)
    elif user.watching is not None:
        view = watched_view(world, user, user.watching)
    else:
        raise CommandError(m.NotPlaying())
    world.send(user, view.board(requested=True))


@HANDLERS.on(c.Pip)
def pip(world: World, user: User, command: c.Pip) -> None:  # noqa: ARG001 - as above
    """Show both pip counts; to a player only if both players allow it."""
    if user.match is not None:
        match, seat = user.match, user.match.seat(user.name)
        if not match.users[seat.other].settings[Toggle.ALLOWPIP]:
            raise CommandError(m.PipNotAllowed(match.names[seat.other]))
        if not user.settings[Toggle.ALLOWPIP]:
            raise CommandError(m.AllowpipFirst())
        own = YOU
    else:
        player = world.users.get(user.watching or "")
        if user.board_match is not None:
            match, seat, own = user.board_match, Seat.B, user.board_match.names[Seat.B]
        elif player is not None and player.match is not None:
            match, seat, own = player.match, player.match.seat(player.name), player.name
        else:
            raise CommandError(m.NotWatchingOrPlaying())
    pips, opponent_pips = match.pips(seat)
    world.send(user, m.PipCounts(own, pips, match.names[seat.other], opponent_pips))


@HANDLERS.on(c.Panic)
def panic(world: World, user: User, command: c.Panic) -> None:  # noqa: ARG001 - as above
    """Save a copy of the game for debugging."""
    match, _ = require_match(user)
    world.database.save_panic(match.to_json(), world.now())
    world.send(user, m.PanicSaved())
