"""What each message about a running game adds to the game that is built, and whom it is about."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU, FibsMove
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.rules.state import Ending, Seat

Time: TypeAlias = dt.datetime | None
GameEnd: TypeAlias = m.GameWon | m.GameWonBy | m.GaveUp | m.ResignAccepted
"""The messages that end a game that somebody has won."""


def _on_play(game: GameBuilder, seat: Seat, message: m.Moves | m.OnlyMove, at: Time) -> None:
    game.play(seat, game.codec.read_moves(message.moves), at)


def _on_double(game: GameBuilder, seat: Seat, message: Message, at: Time) -> None:
    game.double(seat, at)
    _note_choice(game, message)


def _on_beaver(game: GameBuilder, seat: Seat, message: Message, at: Time) -> None:
    game.answer(seat, CubeAction.BEAVER, at)
    _note_choice(game, message)


def _note_choice(game: GameBuilder, message: Message) -> None:
    """Note that the player who is to answer may redouble at once, if the message says so."""
    if getattr(message, "may_redouble", False):
        game.allow_redouble()


def _on_take(game: GameBuilder, seat: Seat, _: Message, at: Time) -> None:
    game.answer(seat, CubeAction.TAKE, at)


def _on_bears_off(game: GameBuilder, _: Seat, message: m.BearsOff, at: Time) -> None:
    game.note_sent_play(game.codec.read_moves(FibsMove(point or None, None) for point in message.points), at)


def _on_named(game: GameBuilder, seat: Seat, message: m.NumberNamed, at: Time) -> None:
    game.name(seat, message.number, at)


def _on_contest(game: GameBuilder, seat: Seat, message: m.ContestRolls, at: Time) -> None:
    own, theirs = sum(message.dice), sum(message.opponent_dice)
    game.roll_contest((own, theirs) if seat is Seat.A else (theirs, own), at)


_BY_PLAYER_ON_TURN: Final = (m.OnlyMove, m.BearsOff)
ENTRY_HANDLERS: Final[Mapping[type[Message], Callable[[GameBuilder, Seat, Any, Time], None]]] = {
    **dict.fromkeys((m.Rolls, m.RollsThree), lambda game, seat, message, at: game.roll(seat, message.dice, at)),
    m.Moves: _on_play,
    m.OnlyMove: _on_play,
    m.BearsOff: _on_bears_off,
    m.CannotMove: lambda game, seat, _, at: game.play(seat, Play(), at),
    **dict.fromkeys((m.YouDouble, m.OpponentDoubles, m.WatchedDouble), _on_double),
    **dict.fromkeys((m.YouRedouble, m.OpponentRedoubles, m.WatchedRedouble), _on_beaver),
    m.RedoubleWait: lambda game, _, message, __: _note_choice(game, message),
    **dict.fromkeys((m.DoubleAccepted, m.RedoubleAccepted), _on_take),
    m.RollRejected: lambda game, seat, _, at: game.reject_roll(seat, at),
    m.ResignOffer: lambda game, seat, message, _: game.offer(seat, message.points),
    m.ResignRejected: lambda game, _, __, at: game.reject(at),
    m.NumberNamed: _on_named,
    m.ContestRolls: _on_contest,
}
"""The messages about a running game, and how each is added to it."""
END_HANDLERS: Final[Mapping[type[Message], Callable[[GameBuilder, Seat, int, Time], None]]] = {
    **dict.fromkeys((m.GameWon, m.GameWonBy), GameBuilder.won),
    m.GaveUp: GameBuilder.passed,
    m.ResignAccepted: GameBuilder.resigned,
}
ENDINGS: Final[Mapping[type[Message], Ending]] = {
    **dict.fromkeys((m.GameWon, m.GameWonBy), Ending.BORNE_OFF),
    m.GaveUp: Ending.DROPPED,
    m.ResignAccepted: Ending.RESIGNED,
}


def acting_seat(message: Message, game: GameBuilder, seat_of: Callable[[str], Seat | None]) -> Seat | None:
    """Return the player whom one of the ENTRY_HANDLERS' messages is about; None if the name is not a player's."""
    if name := getattr(message, "player", None):
        return seat_of(name)
    return game.state.turn if isinstance(message, _BY_PLAYER_ON_TURN) else Seat.A


def players_of_end(names: tuple[str, str], end: GameEnd, user: str) -> tuple[str, str] | None:
    """Return who plays the match of which only the end of a game and the score were seen; None if that is unclear.

    The user, whose name is empty while it is unknown, is YOU.
    """
    mentioned = {end.winner, getattr(end, "loser", "")} & {*names, YOU}
    if YOU not in mentioned and not (isinstance(end, m.GameWon) and not end.watched):
        return names
    opponents = [name for name in names if name in mentioned or (YOU in mentioned and user in names)]
    opponents = [name for name in opponents if name != user]
    return (YOU, opponents[0]) if len(opponents) == 1 else None
