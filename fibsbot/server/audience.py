"""Who sees a match and from which side, and how a message looks to each user as lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen
from fibs_protocol import messages as m
from fibs_protocol.drawing import draw
from fibs_protocol.grammar import write, write_telnet
from fibs_protocol.messages import Message
from fibs_protocol.words import YOU, Toggle

from fibsbot.rules.game import Seat
from fibsbot.server.server_match import ServerMatch
from fibsbot.server.users import User
from fibsbot.server.world import ClearScreen, World


@frozen
class MatchView:
    """One user who sees a match: a player, or somebody who watches one."""

    table: ServerMatch
    user: User
    seat: Seat
    """Whose side it is seen from."""
    watched: bool
    """Whether the user only watches."""

    def name(self, seat: Seat) -> str:
        """Return how this user is told about a player: YOU for themselves."""
        return YOU if seat is self.seat and not self.watched else self.table.names[seat]

    def plays(self, seat: Seat) -> bool:
        """Whether this user is the player on a seat."""
        return seat is self.seat and not self.watched

    @property
    def reads_raw(self) -> bool:
        """Whether this user reads raw boards, as programs do."""
        return self.user.settings.boardstyle == 3

    @property
    def sees_rolls(self) -> bool:
        """Whether this user gets a board after each roll."""
        return self.reads_raw and self.user.settings[Toggle.MOREBOARDS]

    def board(self, *, requested: bool = False) -> m.Board:
        """Return the board as this user sees it."""
        state = self.table.board(
            self.seat, self.name(self.seat), self.table.names[self.seat.other], requested=requested
        )
        return m.Board(state)


def match_views(world: World, table: ServerMatch) -> Iterator[MatchView]:
    """Yield both players and then everybody who watches one of them."""
    for seat, user in table.users.items():
        yield MatchView(table, user, seat, watched=False)
    for seat in Seat:
        for watcher in world.watchers.get(table.names[seat], ()):
            yield MatchView(table, watcher, seat, watched=True)


def tell_viewers(world: World, table: ServerMatch, say: Callable[[MatchView], Message | None]) -> None:
    """Tell everybody who sees a match what happened, each in the right words; None tells nothing."""
    for view in match_views(world, table):
        message = say(view)
        if message is not None:
            world.tell(view.user, message)


def send_boards(
    world: World, table: ServerMatch, *, rolled: bool = False, unless: Callable[[MatchView], bool] | None = None
) -> None:
    """Send the board to everybody who wants it, except for those views for which `unless` holds.

    After a move those do who have `autoboard` on, after a roll those who have `moreboards` on and read raw boards: a
    person who looks at drawings would see each of them twice.
    """
    for view in match_views(world, table):
        wanted = view.sees_rolls if rolled else view.user.settings[Toggle.AUTOBOARD]
        if wanted and not (unless and unless(view)):
            world.tell(view.user, view.board())


BELL: Final = "\x07"
CLEAR_SCREEN: Final = "\x1b[;H\x1b[2J"
RINGING: Final = (m.Says, m.Alert, m.Invitation, m.ResumeInvitation)
"""What rings the bell of a user who has the toggle on."""
RENDERED_ONCE: Final = (m.WhoInfo, m.WhoEnd, m.LoggedIn, m.LoggedOut, m.Shouts)
"""What many users are told at once, and what looks the same to all of them who use a client."""


def render(user: User, message: Message) -> list[str]:
    """Return the lines that tell a user something; none if it is not for this kind of user.

    Raises:
        LocalProtocolError: if no line can carry a field of the message.
    """
    if isinstance(message, m.Board) and user.settings.boardstyle != 3:
        name = user.name if message.state.player == YOU else message.state.player
        return ["", *draw(message.state, style=user.settings.boardstyle, own_name=name), ""]
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
