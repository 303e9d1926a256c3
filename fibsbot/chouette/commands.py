"""The command `chouette`, and the commands that mean something else for a user who has a seat at a table.

All other commands of a game are the same: box and captain type `roll`, `move`, `double` and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibsbot.chouette import FEWEST_PLAYERS, MOST_PLAYERS, flow
from fibsbot.chouette.rules import TEAM
from fibsbot.chouette.table import ChouetteMatch, ChouetteTable, all_tables, sides_of_state
from fibsbot.server import chat, game_commands, match_commands
from fibsbot.server.users import User
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()
SEATED_HANDLERS: Final = CommandHandlers()
"""For users who have a seat at a table, in place of the ordinary handlers."""
DROPPED_CAPTAIN_LAST: Final = "dropped_captain_last"
"""The word after `chouette start` for the option of this name (rules.py)."""


def refused(reason: str) -> CommandError:
    """Return the refusal of a command at a table."""
    return CommandError(m.ChouetteRefused(reason))


def _own_table(user: User) -> ChouetteTable:
    table = sides_of_state(user)
    if table is None:
        raise refused("you have no seat at a table; 'help chouette' explains how to get one")
    return table


# -- the command `chouette` -----------------------------------------------------------------------------------------


@HANDLERS.on(c.Chouette)
def chouette(world: World, user: User, command: c.Chouette) -> None:
    """Open, join, start or leave a table, invite to it, advise the captain, or show the table."""
    word, _, rest = (command.argument or "").partition(" ")
    if not word:
        _show(world, user)
        return
    found = [name for name in _ACTIONS if name.startswith(word)]
    if len(found) != 1:
        raise refused("expected open, invite NAME, join NAME, start, leave or say TEXT; 'help chouette' explains them")
    _ACTIONS[found[0]](world, user, rest.strip())


def _show(world: World, user: User) -> None:
    """Show the user's table with its ledger, or else all tables; ask again what the user has to decide."""
    table = sides_of_state(user)
    if table is None:
        none = m.ChouetteNews("there is no table; 'chouette open' opens one.")
        world.send(user, m.ChouetteNoSeat(), *(map(flow.table_message, all_tables(world)) if world.tables else (none,)))
        return
    world.send(user, m.ChouetteSeat(table.host), flow.table_message(table))
    match = table.match
    if match is None:
        return
    state, missing = match.chouette, [name for name in table.seats if name not in table.joined]
    names = ", ".join(missing) if state.over else state.to_act
    world.send(user, m.ChouetteLedger.of(state.ledger), m.ChouetteNews(f"waiting for {names}."))
    if state.over and user.name in missing:
        world.send(user, m.JoinNextGame())
    elif state.to_act == user.name:
        flow.ask(world, match)


def _check_idle(user: User) -> None:
    if user.busy:
        raise CommandError(m.YouArePlaying())


def _open(world: World, user: User, rest: str) -> None:  # noqa: ARG001 - all actions are called alike
    """Open a table."""
    _check_idle(user)
    table = ChouetteTable(user.name, [], world.database.add_table(world.now()))
    world.tables.append(table)
    flow.sit_down(world, table, user)
    world.send(
        user, m.ChouetteNews(f"your table is open. 'chouette join {user.name}' takes a seat, 'chouette start' begins.")
    )


def _invite(world: World, user: User, rest: str) -> None:
    """Invite somebody to take a seat; a client is asked only if it has asked for other games than backgammon."""
    table = _own_table(user)
    if table.host != user.name:
        raise refused(f"only {table.host}, who has opened the table, can invite")
    if not rest:
        raise refused("invite whom?")
    if table.full:
        raise refused(f"a table has at most {MOST_PLAYERS} players")
    guest = match_commands.find_guest(world, user, rest.split(None, 1)[0])
    if not guest.plays_games:
        raise CommandError(m.GamesNotWanted(guest.name))
    world.send(guest, m.ChouetteInvitation(user.name), m.ChouetteNews(f"type 'chouette join {user.name}' to do so."))
    world.send(user, m.ChouetteNews(f"you have invited {guest.name}."))
    if guest.away is not None:
        world.send(user, m.UserIsAway(guest.name, guest.away))


def _join(world: World, user: User, rest: str) -> None:
    """Take a seat at a table; if a game is being played, for the next one."""
    _check_idle(user)
    if not rest:
        raise refused("join whose table? 'chouette' lists them")
    name = rest.split(None, 1)[0]
    found = world.find(name)
    known = name if found is None else found.name
    table = next((table for table in all_tables(world) if known in table.seats), None)
    if table is None:
        raise refused("nobody of this name has a seat at a table; 'chouette' lists them")
    if table.full:
        raise refused(f"a table has at most {MOST_PLAYERS} players")
    flow.sit_down(world, table, user)
    flow.announce_news(world, table, f"{user.name} takes a seat: {', '.join(table.seats)}.")
    if table.match is not None:
        table.match.teammates.append(user)
        if table.match.chouette.over:
            flow.join_next_game(world, table.match, user)


def _start(world: World, user: User, rest: str) -> None:
    """Begin the first game, perhaps with the option of the rules."""
    table = _own_table(user)
    if table.state is not None:
        raise refused("the chouette has begun already")
    if table.host != user.name:
        raise refused(f"only {table.host}, who has opened the table, can start the first game")
    if len(table.seats) < FEWEST_PLAYERS:
        raise refused(f"expected {FEWEST_PLAYERS} to {MOST_PLAYERS} players, got {len(table.seats)}")
    away = [name for name in table.seats if name not in table.users]
    if away:
        raise refused(
            f"{', '.join(away)} {'is' if len(away) == 1 else 'are'} not back yet; who stays away loses the seat"
        )
    if rest and rest != DROPPED_CAPTAIN_LAST:
        raise refused(f"expected {DROPPED_CAPTAIN_LAST} or nothing after start")
    flow.begin(world, table, dropped_captain_last=bool(rest))


def _leave(world: World, user: User, rest: str) -> None:  # noqa: ARG001 - as above
    """Leave the table, with nothing at stake."""
    table = _own_table(user)
    if table.is_in_game(user.name):
        raise refused("you have points at stake; leave after this game")
    flow.leave(world, table, user.name)


def _say(world: World, user: User, rest: str) -> None:
    """Advise the team: members who are still in hear it, the box does not."""
    table = _own_table(user)
    state = table.state
    if not rest:
        raise refused("say what?")
    if state is None or not table.playing:
        raise refused("no game is being played")
    if not state.may_advise(user.name):
        raise refused("only members of the team who are still in the game may advise")
    hearers = [table.users[name] for name in state.in_game if name in table.users]
    heard = m.ChouetteNews(f"{user.name} advises: {rest}")
    world.send_all((one for one in hearers if one is user or user.name not in one.gagged), heard)


_ACTIONS: Final[dict[str, Callable[[World, User, str], None]]] = {
    "open": _open,
    "invite": _invite,
    "join": _join,
    "start": _start,
    "leave": _leave,
    "say": _say,
}


# -- other commands at a table --------------------------------------------------------------------------------------


def _member_match(user: User) -> ChouetteMatch | None:
    """Return the match if the box's double waits for an answer of the user's or of another member of the team."""
    match = _own_table(user).match
    asked = match is not None and match.state.answering is TEAM and user.name in match.chouette.team
    return match if asked else None


@SEATED_HANDLERS.on(c.Accept)
def accept(world: World, user: User, command: c.Accept) -> None:
    """Take the box's double as one of the team, or else accept whatever box and captain are offered."""
    match = _member_match(user)
    if match is None:
        game_commands.accept(world, user, command)
    else:
        flow.answer_double(world, match, user, takes=True)


@SEATED_HANDLERS.on(c.Reject)
def reject(world: World, user: User, command: c.Reject) -> None:
    """Pass the box's double as one of the team, or else refuse whatever box and captain are offered."""
    match = _member_match(user)
    if match is None:
        game_commands.reject(world, user, command)
    else:
        flow.answer_double(world, match, user, takes=False)


@SEATED_HANDLERS.on(c.Join)
def join(world: World, user: User, command: c.Join) -> None:  # noqa: ARG001 - all handlers are called alike
    """Join the next game."""
    table = _own_table(user)
    if table.match is None:
        raise refused(f"{table.host} starts the first game with 'chouette start'")
    if table.playing:
        raise CommandError(m.TwoGamesAtOnce())
    flow.join_next_game(world, table.match, user)


@SEATED_HANDLERS.on(c.Leave)
def leave(world: World, user: User, command: c.Leave) -> None:  # noqa: ARG001 - as above
    """Leave the table."""
    _leave(world, user, "")


@SEATED_HANDLERS.on(c.Say)
def say(world: World, user: User, command: c.Say) -> None:
    """Talk to the other side as box or captain, to the team as one of its members."""
    if user.match is None:
        _say(world, user, command.text)
    else:
        chat.say(world, user, command)


def _check_may_advise(user: User) -> None:
    """Refuse advice about a game that the speaker has dropped out of."""
    table = _own_table(user)
    state = table.state
    if state is not None and table.playing and user.name in state.team and not state.may_advise(user.name):
        raise refused("you have dropped out of the game and may not give advice any more")


@SEATED_HANDLERS.on(c.Kibitz)
def kibitz(world: World, user: User, command: c.Kibitz) -> None:
    """Talk to everybody at the board."""
    _check_may_advise(user)
    chat.kibitz(world, user, command)


@SEATED_HANDLERS.on(c.Whisper)
def whisper(world: World, user: User, command: c.Whisper) -> None:
    """Talk to the others who see the board."""
    _check_may_advise(user)
    chat.whisper(world, user, command)
