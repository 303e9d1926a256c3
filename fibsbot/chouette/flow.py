"""The course of a chouette: casts for the order, games, members' answers, the ledger, players who are away.

Box and captain play an ordinary game (game_flow.py and game_commands.py of the server). What a table adds is announced
in lines that begin with `chouette:`. No wait is endless: a player who does not decide in time, logged in or not, drops
out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.messages import Message
from fibs_protocol.words import Departure
from fibsbot.chouette import FEWEST_PLAYERS, rules
from fibsbot.chouette.rules import BOX, TEAM, Chouette
from fibsbot.chouette.table import SERVER_LAWS, ChouetteMatch, ChouetteTable, all_tables, sides_of_state
from fibsbot.rules.errors import RuleError
from fibsbot.rules.state import Ending, Seat
from fibsbot.server import game_flow, match_commands, watchers
from fibsbot.server.accounts import Account
from fibsbot.server.audience import MatchView
from fibsbot.server.database import KEPT_DAYS
from fibsbot.server.user_settings import UserSettings
from fibsbot.server.users import ClientMode, User
from fibsbot.server.world import World
from fibsbot.text import plural

DECISION_TIME: Final = 300.0
"""Seconds for each decision, and to join the next game. They do not run while nobody of the table is logged in."""

ABANDONED_TIME: Final = KEPT_DAYS * 86400.0
"""Seconds after which a table that nobody has used is closed."""


def announce(world: World, table: ChouetteTable, *messages: Message) -> None:
    """Send messages about a table to everybody who has a seat at it."""
    world.send_all(table.users.values(), *messages)


def announce_news(world: World, table: ChouetteTable, text: str) -> None:
    """Send a sentence about a table to everybody who has a seat at it."""
    announce(world, table, m.ChouetteNews(text))


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
        world.database.save_table(table.number, table.to_json(), world.now())
    else:
        world.mark_unsaved(table.match)


# -- games ----------------------------------------------------------------------------------------------------------


def begin(world: World, table: ChouetteTable, *, dropped_captain_last: bool = False) -> None:
    """Cast dice for the order of play, and begin the first game."""
    if dropped_captain_last:
        announce_news(world, table, "a captain who drops out goes to the bottom of the rotation.")
    casting = rules.begin_casting(table.seats)
    numbers = _single_dice(world, table.key)
    while casting.tied:
        dice = {name: next(numbers) for name in casting.tied}
        casting = rules.cast(casting, dice)
        casts = ", ".join(f"{name} {die}" for name, die in dice.items())
        announce_news(world, table, f"cast for the order: {casts}.")
    _begin_game(world, table, rules.start(casting.order, laws=SERVER_LAWS, dropped_captain_last=dropped_captain_last))


def _single_dice(world: World, key: str) -> Iterator[int]:
    """Yield the dice of successive rolls, one at a time."""
    for number in itertools.count():
        yield from world.roll(key, number)


def _begin_game(world: World, table: ChouetteTable, state: Chouette) -> None:
    """Begin a game, before its opening roll."""
    last = table.match
    table.games += 1
    table.settled = False
    table.joined.clear()
    table.match = match = ChouetteMatch(table, state)
    if last is not None:
        match.colours = last.colours
    if last is not None or world.dice.coin(match.key):
        match.swap_colours()
    for user in table.users.values():
        watchers.stop_watching(world, user)
    _seat_users(world, match)
    announce(world, table, table_message(table))
    match_commands.introduce_players(world, match)
    game_flow.start_game(world, match)


def _seat_users(world: World, match: ChouetteMatch) -> None:
    """Give box and captain the match, and let the others see it."""
    table, state = match.table, match.chouette
    match.names = (state.box, state.captain)
    match.users = {
        seat: table.users.get(name) or _absent_user(world, name) for seat, name in zip(Seat, match.names, strict=True)
    }
    match.teammates = table.spectators()
    for name, user in table.users.items():
        user.match = match if name in match.names else None
    world.show_status(*table.users.values())


def _absent_user(world: World, name: str) -> User:
    """Return what stands in for a player who is not logged in, with the saved settings; no message reaches it."""
    account = world.account(name) or Account(name, "")
    settings = UserSettings.from_json(account.settings.to_json())
    return User(account, ClientMode.PLAIN, account.last_host, None, account.last_login, settings, world.elapsed())


def after_command(world: World, table: ChouetteTable) -> None:
    """Announce the result if a game has ended, and start the time for the next decision."""
    if table not in world.tables:
        return
    match = table.match
    if match is not None and match.chouette.over and not table.settled:
        _announce_result(world, match)
    if match is None and not table.users:
        table.deadline = None
    state = table.state if table.users else None
    if state is not table.timed:
        table.timed = state
        table.deadline = None if state is None else world.elapsed() + DECISION_TIME


def _announce_result(world: World, match: ChouetteMatch) -> None:
    """Announce the result of a game, the ledger and the rotation, and ask everybody to join the next game."""
    table, state = match.table, match.chouette
    table.settled = True
    world.mark_unsaved(match)
    announce(world, table, m.ChouetteResult(table.games, _result_text(state)), m.ChouetteLedger.of(state.ledger))
    if len(table.seats) < FEWEST_PLAYERS:
        close(world, table)
        return
    box, captain, *others = rules.next_order(state)
    announce_news(world, table, f"next game: {box} in the box, {captain} captain, then {', '.join(others)}.")
    world.send_all(table.spectators(), m.JoinNextGame())
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


def join_next_game(world: World, match: ChouetteMatch, user: User) -> None:
    """Let a player join the next game, which begins once everybody has joined it."""
    table = match.table
    table.joined.add(user.name)
    missing = [name for name in table.seats if name not in table.joined]
    if missing:
        world.send(user, m.WaitForJoin(missing[0]))
    else:
        _begin_next_game(world, match)


def _begin_next_game(world: World, match: ChouetteMatch) -> None:
    """Begin the next game with all who have a seat."""
    _begin_game(world, match.table, rules.next_game(match.chouette, match.table.seats))


# -- the members' answers -------------------------------------------------------------------------------------------


def answer_double(world: World, match: ChouetteMatch, user: User, *, takes: bool) -> None:
    """Answer the box's double for one member of the team."""
    before = match.chouette
    try:
        match.chouette = (rules.take if takes else rules.drop)(before, user.name)
    except RuleError as error:
        raise CommandError(m.ChouetteRefused(str(error))) from None
    passed = m.ChouettePass(user.name, before.game.cube, before.box)
    announce(world, match.table, m.ChouetteNews(f"{user.name} takes.") if takes else passed)
    _go_on(world, match, before)


def _go_on(world: World, match: ChouetteMatch, before: Chouette) -> None:
    """Go on after a member's answer, or after a player has been dropped."""
    state, result = match.chouette, match.state.result
    world.mark_unsaved(match)
    if result is not None:
        given_up = "rejects" if result.how is Ending.DROPPED else "wants to resign"
        match.record_action(result.winner.other, given_up)
        game_flow.end_game(world, match)
        return
    if state.captain != before.captain:
        _pass_captaincy(world, match)
    if before.waiting and not state.waiting:
        game_flow.go_on_after_take(world, match, TEAM)
    else:
        ask(world, match)


def _pass_captaincy(world: World, match: ChouetteMatch) -> None:
    _seat_users(world, match)
    announce(world, match.table, m.ChouetteCaptain(match.chouette.captain))
    match_commands.introduce_players(world, match)
    captain = match.users[TEAM]
    captain.settings.begin_game()
    world.send(captain, MatchView(match, captain, TEAM, is_watcher=False).board())


def ask(world: World, match: ChouetteMatch) -> None:
    """Ask the player whose decision is awaited, if this player is logged in."""
    user = match.table.users.get(match.chouette.to_act or "")
    if user is not None:
        world.send(user, game_flow.question(match))


# -- coming and going -----------------------------------------------------------------------------------------------


def sit_down(world: World, table: ChouetteTable, user: User) -> None:
    """Give a user a seat."""
    table.seats.append(user.name)
    table.users[user.name] = user
    user.table = table
    user.invitation = None
    save(world, table)
    world.send(user, m.ChouetteSeat(table.host))
    world.show_status(user)


def leave(world: World, table: ChouetteTable, name: str) -> None:
    """Take a player's seat away: before the first game, between games, or after dropping out of one."""
    announce(world, table, m.ChouetteLeft(name))
    _remove_seat(world, table, name)
    match = table.match
    between_games = match is not None and match.chouette.over
    if not table.seats or (between_games and len(table.seats) < FEWEST_PLAYERS):
        close(world, table)
        return
    if match is not None and between_games and table.joined >= set(table.seats):
        _begin_next_game(world, match)
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
        announce_news(world, table, "fewer than three players are left, and the table is closed.")
        announce(world, table, m.ChouetteLedger.of(table.state.ledger))
    world.database.delete_table(table.number)
    for name in list(table.seats):
        _remove_seat(world, table, name)
    world.tables.remove(table)


def go_away(world: World, user: User, how: Departure) -> None:
    """Note that a player's connection has ended.

    The seat is kept once a game has begun, if the server stops, or if the player has logged in anew.
    """
    table = sides_of_state(user)
    if table is None:
        return
    if table.match is None and not world.closing and how is not Departure.RECONNECTED:
        leave(world, table, user.name)
        return
    del table.users[user.name]
    table.joined.discard(user.name)
    user.table = user.match = None
    if table.match is not None:
        _seat_users(world, table.match)
    announce_news(world, table, f"{user.name} is away.")
    after_command(world, table)


def come_back(world: World, user: User) -> None:
    """Give a user who logs in their seat back, with the board and the decision that is awaited."""
    table = next((table for table in all_tables(world) if user.name in table.seats), None)
    if table is None:
        return
    user.table = table
    table.users[user.name] = user
    world.send(user, m.ChouetteSeat(table.host))  # first of all: what follows looks like a match of two players
    announce_news(world, table, f"{user.name} is back.")
    if table.match is None:
        world.send(user, table_message(table))
        world.show_status(user)
        if len(table.users) == 1:
            table.deadline = world.elapsed() + DECISION_TIME
        return
    _show_game(world, table.match, user)
    after_command(world, table)


def _show_game(world: World, match: ChouetteMatch, user: User) -> None:
    """Show the game to a user who has come back, and ask again what the user has to decide."""
    _seat_users(world, match)
    state = match.chouette
    world.send(user, table_message(match.table), m.ChouetteLedger.of(state.ledger))
    acts = user.name in match.names
    seat = match.seat(user.name) if acts else TEAM
    if acts:
        world.send(user, m.YouResumed(match.names[seat.other]))
    if state.over:
        world.send(user, m.JoinNextGame())
        return
    world.send(user, MatchView(match, user, seat, is_watcher=not acts).board())
    if state.to_act == user.name:
        ask(world, match)


def drop_late_players(world: World) -> None:
    """Drop every player who has not decided in time, and go on without those who have not joined the next game."""
    now = world.elapsed()
    for table in all_tables(world):
        if table.deadline is None:
            table.deadline = now + ABANDONED_TIME
        if table.deadline <= now:
            _go_on_without_late_players(world, table)
            after_command(world, table)
    world.save_matches()


def _go_on_without_late_players(world: World, table: ChouetteTable) -> None:
    match = table.match
    if not table.users:
        close(world, table)
    elif match is None:
        table.deadline = None
        for name in [name for name in table.seats if name not in table.users]:
            announce_news(world, table, f"{name} has not come back.")
            leave(world, table, name)
    elif match.chouette.over:
        _begin_without_absent_players(world, match)
    elif match.chouette.to_act is not None:
        before, name = match.chouette, match.chouette.to_act
        match.chouette = rules.withdraw(before, name)
        announce(world, table, m.ChouetteDropout(name, before.game.cube))
        _go_on(world, match, before)


def _begin_without_absent_players(world: World, match: ChouetteMatch) -> None:
    """Begin the next game with the players who have joined it; close the table if they are too few."""
    table = match.table
    for name in [name for name in table.seats if name not in table.joined]:
        announce_news(world, table, f"{name} has not joined.")
        announce(world, table, m.ChouetteLeft(name))
        _remove_seat(world, table, name)
    if len(table.seats) < FEWEST_PLAYERS:
        close(world, table)
    else:
        _begin_next_game(world, match)
