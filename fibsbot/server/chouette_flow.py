"""The course of a chouette: casts for the order, games, members' answers, the ledger, players who are away.

Box and captain play an ordinary game (game_flow.py, game_commands.py). What a table adds is announced in lines that
begin with `chouette:`. No wait is endless: a player who does not decide in time, logged in or not, drops out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Message
from fibs_protocol.words import UNLIMITED, YOU, Colour
from fibsbot.rules import chouette as rules
from fibsbot.rules.chouette import BOX, TEAM, Chouette
from fibsbot.rules.errors import RuleError
from fibsbot.rules.laws import FEWEST_PLAYERS
from fibsbot.rules.state import Ending, Seat, Stage
from fibsbot.server import game_flow, watchers
from fibsbot.server.accounts import Account
from fibsbot.server.audience import MatchView, send_to_viewers
from fibsbot.server.chouette_table import SERVER_LAWS, ChouetteMatch, ChouetteTable, seat_of
from fibsbot.server.database import KEPT_DAYS
from fibsbot.server.user_settings import UserSettings
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import World
from fibsbot.text import plural

DECISION_TIME: Final = 300.0
"""Seconds for each decision, and to join the next game. They do not run while nobody of the table is logged in."""

ABANDONED_TIME: Final = KEPT_DAYS * 86400.0
"""Seconds after which a table that nobody has used is closed."""


def announce(world: World, table: ChouetteTable, *lines: str | Message) -> None:
    """Send lines about a table to everybody who has a seat at it."""
    messages = (m.ChouetteNews(line) if isinstance(line, str) else line for line in lines)
    world.send_all(table.users.values(), *messages)


def table_message(table: ChouetteTable) -> m.ChouetteTable | m.ChouetteNews:
    """Return the line that says who sits at a table."""
    state, head = table.state, f"{table.host}'s table"
    if state is None:
        return m.ChouetteNews(f"{head}, not started: {', '.join(table.seats)}.")
    if state.over:
        return m.ChouetteNews(f"{head}, game {table.games} is over: {', '.join(table.seats)}.")
    team = ", ".join(_member_text(state, name) for name in state.team)
    new = "".join(f", {name} (next game)" for name in table.seats if name not in state.order)
    return m.ChouetteTable(table.host, table.games, state.box, f"{team}{new}.")


def _member_text(state: Chouette, name: str) -> str:
    return name + (" (captain)" if name == state.captain else "" if name in state.in_game else " (out)")


def save(world: World, table: ChouetteTable) -> None:
    """Save a table before anything that happened at it is sent."""
    if table.match is None:
        world.database.save_chouette(table.number, table.to_json(), world.now())
    else:
        world.mark_unsaved(table.match)


# -- games ----------------------------------------------------------------------------------------------------------


def begin(world: World, table: ChouetteTable, *, dropped_captain_last: bool = False) -> None:
    """Cast dice for the order of play, and begin the first game."""
    if dropped_captain_last:
        announce(world, table, "a captain who drops out goes to the bottom of the rotation.")
    casting = rules.begin_casting(table.seats)
    numbers = _single_dice(world, f"chouette:{table.number}:0")
    while casting.tied:
        dice = {name: next(numbers) for name in casting.tied}
        casting = rules.cast(casting, dice)
        announce(world, table, f"cast for the order: {', '.join(f'{name} {die}' for name, die in dice.items())}.")
    first = rules.start(casting.order, laws=SERVER_LAWS, dropped_captain_last=dropped_captain_last)
    begin_game(world, table, first)


def _single_dice(world: World, key: str) -> Iterator[int]:
    """Yield the dice of successive rolls, one at a time."""
    for roll in itertools.count():
        dice = world.dice.dice(key, roll)
        world.statistics.count(dice)
        yield from dice


def begin_game(world: World, table: ChouetteTable, state: Chouette) -> None:
    """Begin a game, before its opening roll."""
    last = table.match
    table.games += 1
    table.settled = False
    table.joined.clear()
    table.match = ChouetteMatch(table, state, (Colour.X, Colour.O) if last is None else last.colours)
    if last is not None or world.dice.coin(table.match.key):
        table.match.swap_colours()
    for user in table.users.values():
        watchers.stop_watching(world, user)
    _seat_users(world, table)
    announce(world, table, table_message(table))
    _introduce_captain(world, table)
    game_flow.start_game(world, table.match)


def _seat_users(world: World, table: ChouetteTable) -> None:
    """Give box and captain the match, and let the others see it."""
    match, state = table.match, table.state
    if match is None or state is None:
        return
    match.names = (state.box, state.captain)
    match.users = {
        seat: table.users.get(name) or _absent_user(world, name) for seat, name in zip(Seat, match.names, strict=True)
    }
    match.teammates = [table.users[name] for name in table.spectators() if name in table.users]
    for name, user in table.users.items():
        user.match = match if name in match.names else None
    world.show_status(*table.users.values())


def _absent_user(world: World, name: str) -> User:
    """Return what stands in for a player who is not logged in, with the saved settings; no message reaches it."""
    account = world.account(name) or Account(name, "")
    settings = UserSettings.from_json(account.settings.to_json())
    return User(account, ClientMode.PLAIN, account.last_host, None, account.last_login, settings, world.elapsed())


def _introduce_captain(world: World, table: ChouetteTable) -> None:
    """Give the clients of box and captain each other's name, as at the beginning of a match."""
    if table.match is not None:
        box, captain = (table.match.users[seat] for seat in Seat)
        world.send(captain, m.YouJoined(box.name, UNLIMITED))
        world.send(box, m.OpponentJoined(captain.name, UNLIMITED))


def after_command(world: World, table: ChouetteTable) -> None:
    """Announce the result if a game has ended, and start the time for the next decision."""
    if table not in world.tables:
        return
    if table.state is not None and table.state.over and not table.settled:
        _announce_result(world, table, table.state)
    if table.state is None and not table.users:
        table.deadline = None
    state = table.state if table.users else None
    if state is not table.timed:
        table.timed = state
        table.deadline = None if state is None else world.elapsed() + DECISION_TIME


def _announce_result(world: World, table: ChouetteTable, state: Chouette) -> None:
    """Announce the result of a game, the ledger and the rotation, and ask everybody to join the next game."""
    table.settled = True
    world.mark_unsaved(state_match(table))
    result = m.ChouetteResult(table.games, _result_text(state))
    announce(world, table, result, m.ChouetteLedger.of(state.ledger))
    if len(table.seats) < FEWEST_PLAYERS:
        close(world, table)
        return
    box, captain, *others = rules.next_order(state)
    announce(world, table, f"next game: {box} in the box, {captain} captain, then {', '.join(others)}.")
    world.send_all((table.users[name] for name in table.spectators() if name in table.users), m.JoinNextGame())
    table.joined = {name for name in table.users if name not in state.order}


def _result_text(state: Chouette) -> str:
    result = state.game.result
    if not state.in_game or result is None:
        return f"nobody is left in the team, and {state.box} wins."
    names, points = ", ".join(state.in_game), plural(result.points, "point")
    if result.winner is BOX:
        return f"{state.box} wins {points} from {names}."
    if len(state.in_game) == 1:
        return f"{names} wins {points} from {state.box}."
    return f"{names} win {points} each from {state.box}."


def state_match(table: ChouetteTable) -> ChouetteMatch:
    """Return the match of a table at which a game has begun."""
    if table.match is None:
        raise AssertionError("a table has a match from its first game on")
    return table.match


def join_next_game(world: World, table: ChouetteTable, user: User) -> None:
    """Let a player join the next game, which begins once everybody has joined it."""
    table.joined.add(user.name)
    missing = [name for name in table.seats if name not in table.joined]
    if missing:
        world.send(user, m.WaitForJoin(missing[0]))
    else:
        _begin_next_game(world, table)


def _begin_next_game(world: World, table: ChouetteTable) -> None:
    """Begin the next game with all who have a seat."""
    if table.state is not None:
        begin_game(world, table, rules.next_game(table.state, table.seats))


# -- the members' answers -------------------------------------------------------------------------------------------


def answer_double(world: World, table: ChouetteTable, user: User, *, takes: bool) -> None:
    """Answer the box's double for one member of the team."""
    before = table.state
    if before is None:
        raise CommandError(m.NotPlaying())
    try:
        table.state = (rules.take if takes else rules.drop)(before, user.name)
    except RuleError as error:
        raise CommandError(m.ChouetteRefused(str(error))) from None
    if takes:
        announce(world, table, f"{user.name} takes.")
    else:
        announce(world, table, m.ChouettePass(user.name, before.game.cube, before.box))
    _go_on(world, table, before)


def _go_on(world: World, table: ChouetteTable, before: Chouette) -> None:
    """Go on after a member's answer, or after a player has been dropped."""
    match, state = state_match(table), table.state
    if state is None:
        return
    world.mark_unsaved(match)
    if state.game.result is not None:
        given_up = "rejects" if state.game.result.how is Ending.DROPPED else "wants to resign"
        match.record_action(state.game.result.winner.other, given_up)
        game_flow.end_game(world, match)
        return
    if state.captain != before.captain:
        _pass_captaincy(world, table, state)
    if before.waiting and not state.waiting:
        match.record_action(TEAM, "accepts")

        def message_for(view: MatchView) -> Message:
            return m.DoubleAccepted(view.name(TEAM), None if view.is_watcher else state.game.cube)

        send_to_viewers(world, match, message_for)
        game_flow.continue_game(world, match)
    else:
        ask(world, table)


def _pass_captaincy(world: World, table: ChouetteTable, state: Chouette) -> None:
    _seat_users(world, table)
    announce(world, table, m.ChouetteCaptain(state.captain))
    _introduce_captain(world, table)
    captain = state_match(table).users[TEAM]
    captain.settings.begin_game()
    world.send(captain, MatchView(state_match(table), captain, TEAM, is_watcher=False).board())


def ask(world: World, table: ChouetteTable) -> None:
    """Ask the player whose decision is awaited, if this player is logged in."""
    match, state = table.match, table.state
    user = None if state is None else table.users.get(state.to_act or "")
    if match is None or state is None or user is None:
        return
    game = state.game
    if game.resignation is not None:
        world.send(user, m.ResignOffer(match.names[game.resignation.seat], YOU, game.resignation.points))
    elif game.answering is not None:
        world.send(user, m.OpponentDoubles(match.names[game.answering.other], may_redouble=False))
    elif game.stage is Stage.MOVE:
        world.send(user, m.MovePrompt(match.can_move[game.turn]))
    else:
        world.send(user, m.RollOrDouble())


# -- coming and going -----------------------------------------------------------------------------------------------


def leave(world: World, table: ChouetteTable, name: str) -> None:
    """Take a player's seat away: before the first game, between games, or after dropping out of one."""
    announce(world, table, m.ChouetteLeft(name))
    _remove_seat(world, table, name)
    between_games = table.state is not None and table.state.over
    if not table.seats or (between_games and len(table.seats) < FEWEST_PLAYERS):
        close(world, table)
        return
    if between_games and table.joined >= set(table.seats):
        _begin_next_game(world, table)
    save(world, table)
    after_command(world, table)


def _remove_seat(world: World, table: ChouetteTable, name: str) -> None:
    table.seats.remove(name)
    table.joined.discard(name)
    user = table.users.pop(name, None)
    if user is not None:
        user.table = user.match = None
        if table.match is not None and user in table.match.teammates:
            table.match.teammates.remove(user)
        world.send(user, m.ChouetteNoSeat())
        world.show_status(user)
    if table.host == name and table.seats:
        table.host = table.seats[0]


def close(world: World, table: ChouetteTable) -> None:
    """Close a table: fewer than three players are left."""
    if table.state is not None:
        closed = "fewer than three players are left, and the table is closed."
        announce(world, table, closed, m.ChouetteLedger.of(table.state.ledger))
    world.database.delete_chouette(table.number)
    for name in list(table.seats):
        _remove_seat(world, table, name)
    world.tables.remove(table)


def go_away(world: World, user: User, *, coming_back: bool) -> None:
    """Note that a player's connection has ended.

    The seat is kept once a game has begun, if the server stops, or if the player has logged in anew (`coming_back`).
    """
    table = user.table
    if table is None:
        return
    if table.state is None and not (world.closing or coming_back):
        leave(world, table, user.name)
        return
    del table.users[user.name]
    table.joined.discard(user.name)
    user.table = user.match = None
    _seat_users(world, table)
    announce(world, table, f"{user.name} is away.")
    after_command(world, table)


def come_back(world: World, user: User) -> None:
    """Give a user who logs in their seat back, with the board and the decision that is awaited."""
    table = next((table for table in world.tables if user.name in table.seats), None)
    if table is None:
        return
    user.table = table
    table.users[user.name] = user
    world.send(user, m.ChouetteSeat(table.host))  # first of all: what follows looks like a match of two players
    announce(world, table, f"{user.name} is back.")
    if table.state is None:
        world.send(user, table_message(table))
        world.show_status(user)
        if len(table.users) == 1:
            table.deadline = world.elapsed() + DECISION_TIME
        return
    _seat_users(world, table)
    match, state = state_match(table), table.state
    world.send(user, table_message(table), m.ChouetteLedger.of(state.ledger))
    seat = seat_of(state, user.name)
    if seat is not None:
        world.send(user, m.YouResumed(match.names[seat.other]))
    if state.over:
        world.send(user, m.JoinNextGame())
    else:
        world.send(user, MatchView(match, user, TEAM if seat is None else seat, is_watcher=seat is None).board())
        if state.to_act == user.name:
            ask(world, table)
    after_command(world, table)


def drop_late_players(world: World) -> None:
    """Drop every player who has not decided in time, and go on without those who have not joined the next game."""
    now = world.elapsed()
    for table in list(world.tables):
        state = table.state
        if table.deadline is None:
            table.deadline = now + ABANDONED_TIME
        if table.deadline > now:
            continue
        if not table.users:
            close(world, table)
        elif state is None:
            table.deadline = None
            for name in [name for name in table.seats if name not in table.users]:
                announce(world, table, f"{name} has not come back.")
                leave(world, table, name)
        elif state.over:
            _go_on_without(world, table)
        elif state.to_act is not None:
            name = state.to_act
            table.state = rules.withdraw(state, name)
            announce(world, table, m.ChouetteDropout(name, state.game.cube))
            _go_on(world, table, state)
        after_command(world, table)
    world.save_matches()


def _go_on_without(world: World, table: ChouetteTable) -> None:
    """Begin the next game with the players who have joined it; close the table if they are too few."""
    for name in [name for name in table.seats if name not in table.joined]:
        announce(world, table, f"{name} has not joined.", m.ChouetteLeft(name))
        _remove_seat(world, table, name)
    if len(table.seats) < FEWEST_PLAYERS:
        close(world, table)
    else:
        _begin_next_game(world, table)
