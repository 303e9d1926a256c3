"""Talking and not listening (specification: "Chat and Settings For Other Players", "Away", "Wave")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.words import YOU, Toggle

from fibsbot.server.users import MAX_KEPT_MAIL, MAX_NAMES, User
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()


def _listeners(users: Iterable[User], speaker: User) -> list[User]:
    """Return who hears a speaker: not those who have gagged them."""
    return [user for user in users if user is not speaker and speaker.name not in user.gagged]


@HANDLERS.on(c.Shout)
def shout(world: World, user: User, command: c.Shout) -> None:
    """Talk to everybody who is not silent."""
    if user.settings[Toggle.SILENT]:
        raise CommandError(m.SilentRefusesShout())
    world.tell(user, m.YouShout(command.text))
    heard = (other for other in _listeners(world.users.values(), user) if not other.settings[Toggle.SILENT])
    world.tell_all(heard, m.Shouts(user.name, command.text))


@HANDLERS.on(c.Kibitz)
def kibitz(world: World, user: User, command: c.Kibitz) -> None:
    """Talk to players and watchers of the match that the user plays or watches.

    A gag does not help against what the players themselves say (`help gag`).
    """
    players, watchers = _round_table(world, user)
    world.tell(user, m.YouKibitz(command.text))
    if user in players:
        heard = [other for other in (*players, *watchers) if other is not user]
    else:
        heard = _listeners((*players, *watchers), user)
    world.tell_all(heard, m.Kibitzes(user.name, command.text))
    world.tell(user, m.Heard(len(heard)))


@HANDLERS.on(c.Whisper)
def whisper(world: World, user: User, command: c.Whisper) -> None:
    """Talk to the watchers of the match that the user plays or watches."""
    players, watchers = _round_table(world, user)
    world.tell(user, m.YouWhisper(command.text))
    heard = [other for other in watchers if other is not user]
    if user not in players:
        heard = _listeners(heard, user)
    world.tell_all(heard, m.Whispers(user.name, command.text))
    world.tell(user, m.Heard(len(heard)))


def _round_table(world: World, user: User) -> tuple[list[User], list[User]]:
    """Return players and watchers of the match that a user plays or watches; an idle user has watchers, too."""
    centre = user if user.table is not None else world.users.get(user.watching or "")
    if centre is None:
        raise CommandError(m.NotWatchingOrPlaying())
    players = list(centre.table.users.values()) if centre.table is not None else [centre]
    return players, world.watchers_of(*(player.name for player in players))


@HANDLERS.on(c.Say)
def say(world: World, user: User, command: c.Say) -> None:
    """Talk to the opponent, gagged or not. The echo has no name (specification: "Say")."""
    if user.opponent is None:
        raise CommandError(m.SayOutsideGame())
    world.tell(user, m.YouSay(command.text))
    world.tell(world.users[user.opponent], m.Says(user.name, command.text))


@HANDLERS.on(c.Tell, c.Tellx, c.AlertCommand)
def tell(world: World, user: User, command: c.Tell | c.Tellx | c.AlertCommand) -> None:
    """Talk to one user; `tellx` does it without an echo, `alert` with a line of its own kind."""
    other = world.find(command.name)
    if other is None:
        raise CommandError(m.NoSuchUser(command.name))
    if other is user:
        world.tell(user, m.YouSayToYourself(command.text))
        return
    if user.name in other.gagged:
        raise CommandError(m.WontListen(other.name))
    if other.name in user.gagged:
        raise CommandError(m.YouDontListen())
    if not isinstance(command, c.Tellx):
        world.tell(user, m.YouSay(f"{other.name} {command.text}"))
    if other.away is not None:
        world.tell(user, m.UserIsAway(other.name, other.away))
    kind = m.Alert if isinstance(command, c.AlertCommand) else m.Says
    world.tell(other, kind(user.name, command.text))


@HANDLERS.on(c.Mail)
def mail(world: World, user: User, command: c.Mail) -> None:
    """Leave a message for a user, or show what came since the login."""
    if command.name is None:
        world.tell(user, *(user.mail or (m.NoMail(),)))
        return
    if not command.text:
        raise CommandError(m.MailUsage())
    other = world.users.get(command.name)
    if other is not None:
        message = m.MailReceived(user.name, int(world.now()), command.text)
        other.mail.append(message)
        del other.mail[:-MAX_KEPT_MAIL]
        world.tell(other, message)
        world.tell(user, m.MailDelivered(other.name))
    elif not world.store.registered(command.name):
        raise CommandError(m.MailUnknownUser(command.name))
    elif world.store.add_mail(command.name, user.name, world.now(), command.text):
        world.tell(user, m.MailSaved(command.name))
    else:
        raise CommandError(m.WontListen(command.name))


@HANDLERS.on(c.Waitfor)
def waitfor(world: World, user: User, command: c.Waitfor) -> None:
    """Ask to be told when somebody logs in, or list whom the user waits for."""
    if not command.names:
        names = sorted(user.waiting_for)
        if not names:
            world.tell(user, m.WaitingForNobody())
        elif len(names) == 1:
            world.tell(user, m.WaitingFor(names[0]))
        else:
            world.tell(user, m.WaitingForMany(len(names)), m.WaitingForNames(tuple(names)))
        return
    for name in command.names[:MAX_NAMES]:
        if name == user.name:
            world.tell(user, m.WaitforSelf())
        elif name in world.users:
            world.tell(user, m.WaitforPresent(name))
        elif not world.store.registered(name) or len(user.waiting_for) >= MAX_NAMES:
            world.tell(user, m.WaitforUnknownUser(name))
        else:
            user.waiting_for.add(name)
            world.tell(user, m.WillTellLogin(name))


@HANDLERS.on(c.Gag)
def gag(world: World, user: User, command: c.Gag) -> None:
    """Stop listening to somebody, or listen again."""
    if command.name is None:
        world.tell(user, m.GagList(tuple(sorted(user.gagged))))
        return
    other = world.find(command.name)
    if other is user:
        raise CommandError(m.GagSelf())
    name = other.name if other is not None else command.name
    if name in user.gagged:
        user.gagged.remove(name)
        world.tell(user, m.GagSet(name, value=False))
        return
    if other is None:
        raise CommandError(m.NoSuchUser(name))
    if len(user.gagged) >= MAX_NAMES:
        raise CommandError(m.PermissionDenied())
    user.gagged.add(name)
    world.tell(user, m.GagSet(name, value=True))


@HANDLERS.on(c.Away)
def away(world: World, user: User, command: c.Away) -> None:
    """Say that one is away, or list who is. The reminder that follows every command comes with this one, too."""
    if command.text:
        user.away = command.text
        world.show_status(user)
        return
    absent = [other for other in world.users.values() if other.away is not None]
    if not absent:
        world.tell(user, m.NobodyAway())
        return
    rows = (m.AwayListed(YOU if other is user else other.name, other.away or "") for other in absent)
    world.tell(user, m.AwayListStart(), *rows)


@HANDLERS.on(c.Back)
def back(world: World, user: User, command: c.Back) -> None:  # noqa: ARG001 - all handlers are called alike
    """Be back."""
    if user.away is None:
        raise CommandError(m.NotAway())
    user.away = None
    world.tell(user, m.WelcomeBack())
    world.show_status(user)
