"""Views: who sees a match from where, and what each of them is called in what is said about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import frozen

from fibsbot.rules.game import Seat
from fibsbot.server.table import Table
from fibsbot.server.users import User
from fibsbot.server.world import World
from protocol import messages as m
from protocol.messages import Message
from protocol.words import YOU, Toggle


@frozen
class View:
    """One user who sees a match: a player, or somebody who watches one."""

    table: Table
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


def views(world: World, table: Table) -> Iterator[View]:
    """Yield both players and then everybody who watches one of them."""
    for seat, user in table.users.items():
        yield View(table, user, seat, watched=False)
    for seat in Seat:
        for watcher in world.watchers.get(table.names[seat], ()):
            yield View(table, watcher, seat, watched=True)


def announce(world: World, table: Table, say: Callable[[View], Message | None]) -> None:
    """Tell everybody who sees a match what happened, each in the right words; None tells nothing."""
    for view in views(world, table):
        message = say(view)
        if message is not None:
            world.tell(view.user, message)


def show_boards(
    world: World, table: Table, *, rolled: bool = False, unless: Callable[[View], bool] | None = None
) -> None:
    """Send the board to everybody who wants it, except for those views for which `unless` holds.

    After a move those do who have `autoboard` on, after a roll those who have `moreboards` on and read raw boards: a
    person who looks at drawings would see each of them twice.
    """
    for view in views(world, table):
        wanted = view.sees_rolls if rolled else view.user.settings[Toggle.AUTOBOARD]
        if wanted and not (unless and unless(view)):
            world.tell(view.user, view.board())
