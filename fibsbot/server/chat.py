"""Chat: shout, tell, kibitz, mail, gag, away (specification: "Chat and Settings For Other Players", "Away", "Wave")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.errors import CommandError
from fibs_protocol.words import YOU, Toggle
from fibsbot.server.users import MAX_KEPT_MAIL, MAX_NAMES, User, toggle_name
from fibsbot.server.world import CommandHandlers, World

HANDLERS: Final = CommandHandlers()


def _listeners(users: Iterable[User], speaker: User) -> list[User]:
    """Return the users who hear a speaker: those who have not gagged them."""
    return [user for user in users if user is not speaker and speaker.name not in user.gagged]


@HANDLERS.on(c.Shout)
def shout(world: World, user: User, command: c.Shout) -> None:
    """Shout to all users who are not silent."""
    if user.settings[Toggle.SILENT]:
        raise CommandError(m.SilentRefusesShout())
    world.send(user, m.YouShout(command.text))
    hearers = (other for other in _listeners(world.users.values(), user) if not other.settings[Toggle.SILENT])
    world.send_all(hearers, m.Shouts(user.name, command.text))


@HANDLERS.on(c.Kibitz)
def kibitz(world: World, user: User, command: c.Kibitz) -> None:
    """Talk to players and watchers of the match that the user plays or watches.

    A gag has no effect on what the players themselves say (`help gag`).
    """
    players, watchers = _match_audience(world, user)
    world.send(user, m.YouKibitz(command.text))
    if user in players:
        hearers = [other for other in (*players, *watchers) if other is not user]
    else:
        hearers = _listeners((*players, *watchers), user)
    world.send_all(hearers, m.Kibitzes(user.name, command.text))
    world.send(user, m.Heard(len(hearers)))


@HANDLERS.on(c.Whisper)
def whisper(world: World, user: User, command: c.Whisper) -> None:
    """Talk to the watchers of the match that the user plays or watches."""
    players, watchers = _match_audience(world, user)
    world.send(user, m.YouWhisper(command.text))
    hearers = [other for other in watchers if other is not user]
    if user not in players:
        hearers = _listeners(hearers, user)
    world.send_all(hearers, m.Whispers(user.name, command.text))
    world.send(user, m.Heard(len(hearers)))


def _match_audience(world: World, user: User) -> tuple[list[User], list[User]]:
    """Return the players and watchers of the match that a user plays or watches; an idle user has watchers, too."""
    subject = user if user.board_match is not None else world.users.get(user.watching or "")
    if subject is None:
        raise CommandError(m.NotWatchingOrPlaying())
    match = subject.board_match
    players = [subject] if match is None else [*match.users.values(), *match.teammates]
    return players, world.watchers_of(*(player.name for player in players))


@HANDLERS.on(c.Say)
def say(world: World, user: User, command: c.Say) -> None:
    """Talk to the opponent, gagged or not. The echo has no name (specification: "Say")."""
    if user.opposing_user is None:
        raise CommandError(m.SayOutsideGame())
    world.send(user, m.YouSay(command.text))
    world.send(user.opposing_user, m.Says(user.name, command.text))


@HANDLERS.on(c.Tell)
def tell(world: World, user: User, command: c.Tell) -> None:
    """Talk to one user."""
    _tell(world, user, command.name, command.text, m.Says)


@HANDLERS.on(c.Tellx)
def tellx(world: World, user: User, command: c.Tellx) -> None:
    """Talk to one user without an echo."""
    _tell(world, user, command.name, command.text, m.Says, echo=False)


@HANDLERS.on(c.AlertCommand)
def alert(world: World, user: User, command: c.AlertCommand) -> None:
    """Talk to one user with a line of its own kind."""
    _tell(world, user, command.name, command.text, m.Alert)


def _tell(  # noqa: PLR0913 - who says what to whom, and how
    world: World, user: User, name: str, text: str, kind: type[m.Says | m.Alert], *, echo: bool = True
) -> None:
    other = world.named(name)
    if other is user:
        world.send(user, m.YouSayToYourself(text))
        return
    if user.name in other.gagged:
        raise CommandError(m.WontListen(other.name))
    if other.name in user.gagged:
        raise CommandError(m.YouDontListen())
    if echo:
        world.send(user, m.YouSay(f"{other.name} {text}"))
    if other.away is not None:
        world.send(user, m.UserIsAway(other.name, other.away))
    world.send(other, kind(user.name, text))


@HANDLERS.on(c.Mail)
def mail(world: World, user: User, command: c.Mail) -> None:
    """Leave a message for a user, or show those received since the login."""
    if command.name is None:
        world.send(user, *(user.mail or (m.NoMail(),)))
        return
    if not command.text:
        raise CommandError(m.MailUsage())
    other = world.users.get(command.name)
    if other is not None:
        message = m.MailReceived(user.name, int(world.now()), command.text)
        other.mail.append(message)
        del other.mail[:-MAX_KEPT_MAIL]
        world.send(other, message)
        world.send(user, m.MailDelivered(other.name))
    elif not world.database.registered(command.name):
        raise CommandError(m.MailUnknownUser(command.name))
    elif world.database.add_mail(command.name, user.name, world.now(), command.text):
        world.send(user, m.MailSaved(command.name))
    else:
        raise CommandError(m.WontListen(command.name))


@HANDLERS.on(c.Waitfor)
def waitfor(world: World, user: User, command: c.Waitfor) -> None:
    """Announce logins of some users to this one, or list the awaited names."""
    if not command.names:
        names = sorted(user.waiting_for)
        if not names:
            world.send(user, m.WaitingForNobody())
        elif len(names) == 1:
            world.send(user, m.WaitingFor(names[0]))
        else:
            world.send(user, m.WaitingForMany(len(names)), m.WaitingForNames(tuple(names)))
        return
    for name in command.names[:MAX_NAMES]:
        if name == user.name:
            world.send(user, m.WaitforSelf())
        elif name in world.users:
            world.send(user, m.WaitforPresent(name))
        elif not world.database.registered(name) or len(user.waiting_for) >= MAX_NAMES:
            world.send(user, m.WaitforUnknownUser(name))
        else:
            user.waiting_for.add(name)
            world.send(user, m.WillTellLogin(name))


@HANDLERS.on(c.Gag)
def gag(world: World, user: User, command: c.Gag) -> None:
    """Stop listening to a user, or listen again."""
    if command.name is None:
        world.send(user, m.GagList(tuple(sorted(user.gagged))))
        return
    name, _ = world.named_for_list(user, user.gagged, command.name, m.GagSelf())
    world.send(user, m.GagSet(name, value=toggle_name(user.gagged, name)))


@HANDLERS.on(c.Away)
def away(world: World, user: User, command: c.Away) -> None:
    """Set the user away, or list the users who are away. The reminder after every command follows this one, too."""
    if command.text:
        user.away = command.text
        world.show_status(user)
        return
    absent = [other for other in world.users.values() if other.away is not None]
    if not absent:
        world.send(user, m.NobodyAway())
        return
    rows = (m.AwayListed(YOU if other is user else other.name, other.away or "") for other in absent)
    world.send(user, m.AwayListStart(), *rows)


@HANDLERS.on(c.Back)
def back(world: World, user: User, command: c.Back) -> None:  # noqa: ARG001 - all handlers are called alike
    """End being away."""
    if user.away is None:
        raise CommandError(m.NotAway())
    user.away = None
    world.send(user, m.WelcomeBack())
    world.show_status(user)
