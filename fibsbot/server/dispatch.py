"""A line from a user who is logged in becomes a command, and the command changes the world."""

from __future__ import annotations

from typing import Final

from fibsbot.server import chat, going, info, lists, matches, offers, options, play, texts, watching
from fibsbot.server.handlers import Handlers
from fibsbot.server.users import User
from fibsbot.server.world import World
from protocol import commands as c
from protocol import messages as m
from protocol.commands import Command
from protocol.errors import CommandError, UnknownCommandError
from protocol.grammar import parse_command
from protocol.messages import Message, Refusal

REPEAT: Final = "!!"
"""Repeats the last command (`help !!`)."""
NOT_REPEATED: Final = (c.Shout, c.Tell, c.Tellx, c.AlertCommand, c.Say, c.Kibitz, c.Whisper, c.Mail, c.Password)

HANDLERS: Final = Handlers()
for _module in (chat, going, info, lists, matches, offers, options, play, watching):
    HANDLERS.update(_module.HANDLERS)


def handle(world: World, user: User, line: str) -> None:
    """Carry out one line of a user; an empty one does nothing.

    What has changed is in the database before anybody hears of it.
    """
    user.active = world.now()
    text = line.strip()
    if text == REPEAT:
        text = user.last_command
    if text:
        try:
            command = read(text)
            user.last_command = "" if isinstance(command, NOT_REPEATED) else text
            carry_out(world, user, command)
        except CommandError as error:
            world.tell(user, *refused(error.refusal))
    if user.away is not None:
        world.tell(user, m.YouAreAway())
    world.save()


def read(text: str) -> Command:
    """Read a line; the complete name of a help topic that is no command asks for that help.

    Raises:
        CommandError: with the refusal.
    """
    try:
        return parse_command(text)
    except UnknownCommandError:
        topic = text.split(None, 1)[0]
        if topic not in texts.topics():
            raise
        return c.Help(topic)


def password_command(line: str) -> c.Password | None:
    """Return the command if the line changes the password: that one takes time, and is carried out elsewhere."""
    if not line.lstrip().startswith("pas"):
        return None
    try:
        command = parse_command(line)
    except CommandError:
        return None
    return command if isinstance(command, c.Password) else None


def carry_out(world: World, user: User, command: Command) -> None:
    """Carry out one command.

    Raises:
        CommandError: if it is refused; then nothing has changed.
    """
    handler = HANDLERS.get(type(command))
    if handler is None:
        raise CommandError(m.UnknownCommand(command.kind()))
    handler(world, user, command)


def refused(refusal: Refusal) -> tuple[Message, ...]:
    """Return the lines that tell a refusal."""
    return (refusal, m.PasswordColonNote()) if isinstance(refusal, m.PasswordUsage) else (refusal,)
