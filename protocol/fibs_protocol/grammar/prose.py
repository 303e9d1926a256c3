"""The sentences that users without a client get in place of the numbered lines (help texts "who" and "tell").

All other lines are the same as for a client. Few of these wordings are documented; where none is known,
ours resembles the others.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Final

from fibs_protocol import messages as m
from fibs_protocol.grammar.messages import write


def write_telnet(message: m.Message, *, number: int | None = None) -> str:
    """Return a message as a line for a plain telnet program, without its end.

    Args:
        message: the message to write. A board is written as for a client; `drawing.draw` draws it for people.
        number: the first column of a row of the list of users, counted from 1.

    Returns:
        The line, or an empty text for a message that such users do not get: the beginning and end of blocks, their own
        settings.

    Raises:
        LocalProtocolError: as `write` does.
    """
    line = write(message)  # raises LocalProtocolError
    if isinstance(message, m.WhoInfo):
        return _who_row(message, number)
    say = _SPOKEN.get(type(message))
    return line if say is None else say(message)


def _nothing(_: m.Message) -> str:
    return ""


def _with_name(wording: str) -> Callable[[Any], str]:
    return lambda message: wording.format(name=message.name, text=message.text)


def _with_text(wording: str) -> Callable[[Any], str]:
    return lambda message: wording.format(text=message.text)


def _text(message: Any) -> str:
    text: str = message.text
    return text


def _time(seconds: int) -> str:
    """Write a time in UTC for people; times outside of the calendar remain seconds."""
    try:
        return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%d %H:%M UTC}"
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _welcome(message: m.Welcome) -> str:
    return f"Welcome {message.name}. Your last login was on {_time(message.last_login)} from {message.last_host}."


def _mail(message: m.MailReceived) -> str:
    return f"{message.name} left a message on {_time(message.time)}: {message.text}"


def _delivered(message: m.MailDelivered) -> str:
    return f"Your message has been delivered to {message.name}."


def _saved(message: m.MailSaved) -> str:
    return f"Your message has been saved for {message.name}."


def _who_row(user: m.WhoInfo, number: int | None) -> str:
    """Return a row of the list of users, in the columns of WhoHeader."""
    state = "P" if user.opponent else "R" if user.ready else "-"
    status = state + ("W" if user.watching else " ") + ("A" if user.away else " ")
    clock = _time(user.login)[-9:-4]
    idle = f"{user.idle // 60}:{user.idle % 60:02d}"
    count = "" if number is None else number
    return (
        f"{count:>2}  {status}{user.name:<15} {user.rating:>7.2f} {user.experience:>4} {clock:>5} {idle:>5} {user.host}"
    )


_SPOKEN: Final[dict[type[m.Message], Callable[[Any], str]]] = {
    m.Welcome: _welcome,
    m.OwnInfo: _nothing,
    m.MotdStart: _nothing,
    m.MotdEnd: _nothing,
    m.WhoEnd: _nothing,
    m.LoggedIn: _text,
    m.LoggedOut: _text,
    m.MailReceived: _mail,
    m.MailDelivered: _delivered,
    m.MailSaved: _saved,
    m.Says: _with_name("{name} says: {text}"),
    m.Shouts: _with_name("{name} shouts: {text}"),
    m.Whispers: _with_name("{name} whispers: {text}"),
    m.Kibitzes: _with_name("{name} kibitzes: {text}"),
    m.YouSay: _with_text("You say: {text}"),
    m.YouShout: _with_text("You shout: {text}"),
    m.YouWhisper: _with_text("You whisper: {text}"),
    m.YouKibitz: _with_text("You kibitz: {text}"),
    m.Alert: _with_name("*** {name}: {text}"),
}
