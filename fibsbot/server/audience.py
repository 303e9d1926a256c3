"""Audience: the users who see a match, each from one side, and messages rendered as lines of text for each user."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen

from fibs_protocol import messages as m
from fibs_protocol.drawing import draw
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import write, write_telnet
from fibs_protocol.messages import Message
from fibs_protocol.table_state import TableState
from fibs_protocol.words import YOU, Toggle
from fibsbot.drawing.board_text import draw_game
from fibsbot.rules.state import Seat
from fibsbot.server.users import ServerMatch, User
from fibsbot.server.world import ClearScreen, World
from fibsbot.table_lines import game_from_state


@frozen
class MatchView:
    """One user's view of a match: a player's or a watcher's."""

    match: ServerMatch
    user: User
    seat: Seat
    """The side that it is seen from."""
    is_watcher: bool
    """Whether the user only watches."""

    def name(self, seat: Seat) -> str:
        """Return a player's name as this user reads it: YOU for themselves."""
        return YOU if seat is self.seat and not self.is_watcher else self.match.names[seat]

    def is_player(self, seat: Seat) -> bool:
        """Return whether this user is the player in a seat."""
        return seat is self.seat and not self.is_watcher

    @property
    def wants_raw_boards(self) -> bool:
        """Whether this user reads raw boards, as programs do."""
        return self.user.settings.boardstyle == 3

    @property
    def wants_board_after_roll(self) -> bool:
        """Whether this user gets a board after each roll."""
        return self.wants_raw_boards and self.user.settings[Toggle.MOREBOARDS]

    def board(self, *, requested: bool = False) -> m.Board | m.TableBoard:
        """Return the board as this user sees it."""
        return self.match.shown(self.seat, self.name(self.seat), self.match.names[self.seat.other], requested=requested)


def match_views(world: World, match: ServerMatch) -> Iterator[MatchView]:
    """Yield the views of both players, then those of the others at their table and of the watchers."""
    for seat, user in match.users.items():
        yield MatchView(match, user, seat, is_watcher=False)
    for user in match.teammates:
        yield MatchView(match, user, Seat.B, is_watcher=True)
    for seat in Seat:
        for watcher in world.watchers.get(match.names[seat], ()):
            yield MatchView(match, watcher, seat, is_watcher=True)


def watched_view(world: World, user: User, name: str) -> MatchView:
    """Return a user's view of the match of another user.

    Raises:
        CommandError: if the other one does not play.
    """
    player = world.users.get(name)
    if player is None or player.match is None:
        raise CommandError(m.UserNotPlaying(name))
    return MatchView(player.match, user, player.match.seat(name), is_watcher=True)


def send_to_viewers(world: World, match: ServerMatch, message_for: Callable[[MatchView], Message | None]) -> None:
    """Send each viewer of a match the message for their view, if there is one."""
    for view in match_views(world, match):
        message = message_for(view)
        if message is not None:
            world.send(view.user, message)


def send_boards(
    world: World, match: ServerMatch, *, rolled: bool = False, except_for: Callable[[MatchView], bool] | None = None
) -> None:
    """Send the board to all viewers who want it, except for views for which `except_for` returns True.

    After a move, these are the users with `autoboard` on; after a roll, those with `moreboards` on who read raw boards:
    a person who reads drawings would see each of them twice. Where only one board comes for several events, whoever
    reads raw boards gets it.
    """
    for view in match_views(world, match):
        wanted = view.wants_board_after_roll if rolled else view.user.settings[Toggle.AUTOBOARD]
        wanted = wanted or (view.wants_raw_boards and not match.lines.boards_at_once)
        if wanted and not (except_for and except_for(view)):
            world.send(view.user, view.board())


BELL: Final = "\x07"
CLEAR_SCREEN: Final = "\x1b[;H\x1b[2J"
RINGING: Final = (m.Says, m.Alert, m.Invitation, m.ResumeInvitation, m.GameInvitation, m.GameResumeInvitation)
"""Messages that ring the bell of a user with the toggle on."""
RENDERED_ONCE: Final = (m.WhoInfo, m.WhoEnd, m.LoggedIn, m.LoggedOut, m.Shouts)
"""Messages that go to many users at once and look the same to all clients."""


def _draw_other_game(state: TableState, own_name: str, style: int) -> list[str]:
    """Draw the board of a game other than backgammon; style 3 as style 1, for people who have not asked for lines."""
    names, style = (own_name, state.opponent), 1 if style == 3 else style
    return draw_game(game_from_state(state), Seat.A, names, style=style, own_colour=state.colour.name)


def render(user: User, message: Message) -> list[str]:
    """Return a message as lines for a user; an empty list if it is not for this kind of user.

    Raises:
        LocalProtocolError: if no line can carry a field of the message.
    """
    if isinstance(message, m.Board) and user.settings.boardstyle != 3:
        name = user.name if message.state.player == YOU else message.state.player
        return ["", *draw(message.state, style=user.settings.boardstyle, own_name=name), ""]
    if isinstance(message, m.TableBoard) and not (user.settings.boardstyle == 3 and user.settings.games):
        name = user.name if message.state.player == YOU else message.state.player
        return ["", *_draw_other_game(message.state, name, user.settings.boardstyle), ""]
    if isinstance(message, ClearScreen):
        return [CLEAR_SCREEN]
    if user.clip:
        line = write(message)
    else:
        line = write_telnet(message)
        if not line and not isinstance(message, m.Unknown | m.MotdLine):
            return []
    if isinstance(message, m.AwaitedLoggedIn):
        line += 3 * BELL
    elif isinstance(message, RINGING) and user.settings[Toggle.BELL]:
        line += BELL
    length = user.settings.linelength
    if user.clip or not length or len(line) <= length:
        return [line]
    return textwrap.wrap(line, length, drop_whitespace=False) or [""]
