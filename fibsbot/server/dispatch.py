"""Dispatch: parse a line from a logged-in user and call the handler of its command."""

from __future__ import annotations

from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.errors import CommandError, UnknownCommandError
from fibs_protocol.grammar import parse_command
from fibs_protocol.messages import Message, Refusal
from fibsbot.server import (
    chat,
    game_commands,
    info,
    laws,
    match_commands,
    sessions,
    texts,
    watchers,
    who,
)
from fibsbot.server.audience import send_boards
from fibsbot.server.users import User
from fibsbot.server.world import CommandHandlers, Handler, World

REPEAT: Final = "!!"
"""The line that repeats the last command (`help !!`)."""
NOT_REPEATED: Final = (c.Shout, c.Tell, c.Tellx, c.AlertCommand, c.Say, c.Kibitz, c.Whisper, c.Mail, c.Password)

HANDLERS: Final = CommandHandlers()
for _module in (chat, game_commands, info, laws, match_commands, sessions, watchers, who):
    HANDLERS.update(_module.HANDLERS)


def handle(world: World, user: User, line: str) -> None:
    """Execute one line from a user; an empty one does nothing.

    Changes are saved before the messages about them are delivered.
    """
    user.active = world.elapsed()
    text = line.strip()
    if text == REPEAT:
        text = user.last_command
    before = None if user.match is None else user.match.state
    if text:
        try:
            command = parse_line(text)
            user.last_command = "" if isinstance(command, NOT_REPEATED) else text
            _handler(world, user, command)(world, user, command)
        except CommandError as error:
            world.send(user, *refusal_messages(error.refusal))
    match = user.match
    if match is not None and not match.lines.boards_at_once and match.state is not before:
        send_boards(world, match)
    if user.table is not None:
        world.table_hooks.after_command(world, user.table)
    if user.away is not None:
        world.send(user, m.YouAreAway())
    world.save_matches()


def _handler(world: World, user: User, command: Command) -> Handler:
    """Return the handler of a command; for a user who has a seat at a table some commands have another one."""
    kind, hooks = type(command), world.table_hooks
    seated = None if user.table is None else hooks.seated_handlers.get(kind)
    return seated or HANDLERS.get(kind) or hooks.handlers[kind]


def parse_line(text: str) -> Command:
    """Parse a line; the full name of a help topic that is not a command shows that help.

    Raises:
        CommandError: with the refusal.
    """
    try:
        return parse_command(text)
    except UnknownCommandError:
        topic = text.split(None, 1)[0]
        if topic not in texts.topics() and not texts.is_game_topic(topic):
            raise
        return c.Help(topic)


def password_command(line: str) -> c.Password | None:
    """Return the command if the line changes the password, which is hashed outside the event loop."""
    if not line.lstrip().startswith("pas"):
        return None
    try:
        command = parse_command(line)
    except CommandError:
        return None
    return command if isinstance(command, c.Password) else None


MOVE_FORM: Final = m.Unknown("   A play is written as in 'move 13-7 8-7' or 'move bar/22 6/off'.")
"""FIBS does not say it."""


def refusal_messages(refusal: Refusal) -> tuple[Message, ...]:
    """Return the messages that express a refusal."""
    match refusal:
        case m.PasswordUsage():
            return refusal, m.PasswordColonNote()
        case m.MoveWords():
            return refusal, MOVE_FORM
    return (refusal,)
