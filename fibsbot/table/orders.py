"""What a person can ask for outside of a game, as faces send it: names and JSON objects in, commands out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from fibs_protocol import commands as c
from fibs_protocol.commands import Command
from fibs_protocol.words import Toggle
from fibsbot.fibs_numbering import length_to_fibs
from fibsbot.policy import full_game_name, is_game, is_player_name, names_laws
from fibsbot.table.server_lobby import ServerLobby

LONGEST_LENGTH: Final = 999
"""Points of a match."""
LONGEST_TEXT: Final = 240
"""Characters of a line of chat."""


class OrderError(ValueError):
    """An order that makes no sense; the text is one line."""


Asked: TypeAlias = Mapping[str, Any]
Order: TypeAlias = Callable[[Asked, ServerLobby], tuple[Command, ...]]


def _name(asked: Asked) -> str:
    name = asked.get("name")
    if not isinstance(name, str) or not is_player_name(name):
        raise OrderError("expected the name of a player")
    return name


def _text(asked: Asked) -> str:
    text = asked.get("text")
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_TEXT:
        raise OrderError(f"expected a text of at most {LONGEST_TEXT} characters")
    return text


def _invite(asked: Asked, lobby: ServerLobby) -> tuple[Command, ...]:
    """Invite to a new match, or without a length to resume a saved one; who invites has to be ready."""
    name, length, game, laws = _name(asked), asked.get("length"), asked.get("game"), asked.get("laws")
    if length is not None and (type(length) is not int or not 0 <= length <= LONGEST_LENGTH):
        raise OrderError(f"expected a length from 1 to {LONGEST_LENGTH}, 0 for an unlimited match, or none")
    points = None if length is None else length_to_fibs(length)
    if game and game != "backgammon":
        if not isinstance(game, str) or not is_game(game) or points is None:
            raise OrderError("expected the name of a game, such as plakoto, and a length")
        invite: Command = c.InviteToGame(name, points, full_game_name(game))
    elif laws:
        if not isinstance(laws, str) or not names_laws(laws) or points is None:
            raise OrderError("expected the words of laws, such as 1931 point, and a length")
        invite = c.InviteByLaws(name, points, laws)
    else:
        invite = c.Invite(name, points)
    return (*_readiness(lobby), invite)


def _readiness(lobby: ServerLobby) -> tuple[Command, ...]:
    return (c.ToggleCommand(Toggle.READY),) if lobby.ready is False else ()


def _join(asked: Asked, lobby: ServerLobby) -> tuple[Command, ...]:
    name = _name(asked)
    lobby.invitations.pop(name, None)
    return (*_readiness(lobby), c.Join(name))


def _decline(asked: Asked, lobby: ServerLobby) -> tuple[Command, ...]:
    """Forget an invitation; the protocol has no command for that, so the other is told."""
    name = _name(asked)
    if lobby.invitations.pop(name, None) is None:
        raise OrderError("expected the name of a player who has invited you")
    return (c.Tell(name, "No, thank you, not now."),)


def _tell(asked: Asked, _: ServerLobby) -> tuple[Command, ...]:
    return (c.Tell(_name(asked), _text(asked)),)


def _chat(kind: Callable[[str], Command]) -> Order:
    return lambda asked, _: (kind(_text(asked)),)


def _named(kind: Callable[[str], Command]) -> Order:
    return lambda asked, _: (kind(_name(asked)),)


def _plain(*commands: Command) -> Order:
    return lambda _asked, _lobby: commands


ORDERS: Final[Mapping[str, Order]] = {
    "invite": _invite,
    "join": _join,
    "decline": _decline,
    "tell": _tell,
    "say": _chat(c.Say),
    "kibitz": _chat(c.Kibitz),
    "whisper": _chat(c.Whisper),
    "shout": _chat(c.Shout),
    "watch": _named(c.Watch),
    "unwatch": _plain(c.Unwatch()),
    "gag": _named(c.Gag),
    "blind": _named(c.Blind),
    "ready": _plain(c.ToggleCommand(Toggle.READY)),
    "away": _chat(c.Away),
    "back": _plain(c.Back()),
    "leave": _plain(c.Leave()),
}
"""By address, what a person may ask for in the lobby; each raises OrderError for what makes no sense."""
