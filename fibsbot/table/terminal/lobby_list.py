"""The list in the lobby: invitations first, then saved matches, then the players; what is chosen, and how it looks."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from textwrap import wrap
from typing import Final

from attrs import frozen
from rich.style import Style

from fibsbot.table.server_host import ServerHost
from fibsbot.table.server_lobby import PlayerLine, ReceivedInvitation, SavedMatchLine
from fibsbot.table.terminal.canvas import Canvas
from fibsbot.table.terminal.colours import Colours

STATES: Final = ("ready", "playing", "watching", "busy", "away")
"""What players do, in the order of the list."""
SHOWN: Final = ("", "ready", "playing")
"""Which players are shown, by what they do; empty for everybody."""
CURSOR: Final = "► "
MARGIN: Final = " " * len(CURSOR)


class Sort(enum.Enum):
    """How players of the same state are sorted."""

    RATING = "rating"
    EXPERIENCE = "experience"
    NAME = "name"


_KEYS: Final[dict[Sort, Callable[[PlayerLine], tuple[float, str]]]] = {
    Sort.RATING: lambda player: (-player.rating, player.name.lower()),
    Sort.EXPERIENCE: lambda player: (-player.experience, player.name.lower()),
    Sort.NAME: lambda player: (0, player.name.lower()),
}


@frozen
class Row:
    """A line of the list, or several that belong together."""

    about: ReceivedInvitation | SavedMatchLine | PlayerLine
    there: bool = True
    """Whether the player is logged in."""

    @property
    def name(self) -> str:
        """The player's name."""
        return self.about.name

    @property
    def key(self) -> tuple[type, str]:
        """What stays the same while the row changes."""
        return type(self.about), self.name


def invitation_in_words(invitation: ReceivedInvitation) -> str:
    """Return what somebody invites the person to, with the laws and a warning."""
    game = f" of {invitation.game}" if invitation.game else ""
    if invitation.length is None:
        what = f"to go on with your saved match{game}"
    else:
        what = f"to a {match_in_words(invitation.length)}{game}"
    laws = f" by the laws {invitation.laws}" if invitation.laws else ""
    warning = " Joining discards your saved match." if invitation.discards else ""
    return f"{invitation.name} invites you {what}{laws}.{warning}"


def match_in_words(length: int) -> str:
    """Return what kind of match has a length."""
    return f"{length}-point match" if length else "unlimited match"


def _saved_in_words(row: Row, saved: SavedMatchLine) -> str:
    game = f" of {saved.game}" if saved.game else ""
    absent = "" if row.there else " (not here)"
    return f"{saved.name}: saved {match_in_words(saved.length)}{game}, {saved.score[0]}-{saved.score[1]}{absent}"


class LobbyList:
    """What is in the list, in which order, and which row is chosen."""

    def __init__(self, host: ServerHost) -> None:
        """Show the lobby of a table."""
        self._host = host
        self.sort = Sort.RATING
        self.shown = ""
        """What the players do who are shown; empty for everybody."""
        self.search = ""
        self._chosen: tuple[type, str] | None = None
        self._at = 0
        """Where the chosen row was."""
        self._top = 0
        """The first line that is shown."""
        self._rows_shown: list[int | None] = []
        """The row of each line on the screen."""

    # -- rows ---------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[Row]:
        """The rows from above."""
        lobby, playing = self._host.session.lobby, self._host.session.playing
        players = {line.name: line for line in lobby.player_lines}
        rows = [Row(invitation, invitation.name in players) for invitation in lobby.invitations.values()]
        if not playing:
            saved = [Row(line, line.name in players) for line in lobby.saved.values()]
            rows += sorted(saved, key=lambda row: not row.there)
        return [*rows, *map(Row, self._sorted(players.values()))]

    def _sorted(self, players: Iterable[PlayerLine]) -> list[PlayerLine]:
        user, wanted = self._host.session.lobby.user, self.search.lower()
        found = [
            line
            for line in players
            if line.name != user and wanted in line.name.lower() and self.shown in {"", line.state}
        ]
        return sorted(found, key=lambda line: (STATES.index(line.state), *_KEYS[self.sort](line)))

    @property
    def chosen(self) -> Row | None:
        """The row at the cursor: the chosen one, or if it has gone, the one in its place."""
        rows = self.rows
        at = self._find(rows)
        return None if at is None else rows[at]

    def _find(self, rows: list[Row]) -> int | None:
        if not rows:
            return None
        keys = [row.key for row in rows]
        self._at = keys.index(self._chosen) if self._chosen in keys else min(self._at, len(rows) - 1)
        return self._at

    # -- inputs -------------------------------------------------------------------------------------------------

    def go(self, step: int) -> None:
        """Choose a row further down, or further up by a negative number of rows."""
        rows = self.rows
        at = self._find(rows)
        if at is not None:
            self._choose(rows, min(max(at + step, 0), len(rows) - 1))

    def click(self, y: int) -> bool:
        """Choose the row on a line of the screen; return whether it was chosen already."""
        at = self._rows_shown[y] if y < len(self._rows_shown) else None
        rows = self.rows
        if at is None or at >= len(rows):
            return False
        before = self._find(rows)
        self._choose(rows, at)
        return at == before

    def _choose(self, rows: list[Row], at: int) -> None:
        self._at, self._chosen = at, rows[at].key

    def change_sort(self) -> None:
        """Sort by something else."""
        sorts = list(Sort)
        self.sort = sorts[(sorts.index(self.sort) + 1) % len(sorts)]

    def change_shown(self) -> None:
        """Show other players."""
        self.shown = SHOWN[(SHOWN.index(self.shown) + 1) % len(SHOWN)]

    # -- what is shown ------------------------------------------------------------------------------------------

    def draw(self, width: int, height: int, colours: Colours) -> Canvas:
        """Draw the part of the list around the chosen row, below a line of headings."""
        canvas = Canvas(width, height, colours.screen)
        self._rows_shown = [None]
        canvas.write(0, 0, MARGIN + _columns("player", "rating", "exp.", self._doing()), colours.faint)
        rows = self.rows
        at = self._find(rows)
        if at is None:
            canvas.write(len(MARGIN), 1, "Nobody else." if self._host.online else "", colours.faint)
            return canvas
        texts = [self._text(row, width - len(MARGIN)) for row in rows if not isinstance(row.about, PlayerLine)]
        lines = [(index, part) for index, text in enumerate(texts) for part in range(len(text))]
        lines += [(index, 0) for index in range(len(texts), len(rows))]
        last = max(number for number, (index, _) in enumerate(lines) if index == at)
        first = last - (len(texts[at]) - 1 if at < len(texts) else 0)
        room = height - 1
        self._top = max(min(self._top, first, len(lines) - room), last - room + 1, 0)
        for y, (index, part) in enumerate(lines[self._top : self._top + room], 1):
            row = rows[index]
            text = texts[index] if index < len(texts) else self._text(row, width)
            style = self._style(row, colours)
            if index == at:
                canvas.fill(0, y, width, 1, colours.chosen)
                style += colours.chosen
            canvas.write(0, y, (CURSOR if index == at and part == 0 else MARGIN) + text[part], style)
            self._rows_shown.append(index)
        return canvas

    def _doing(self) -> str:
        """Return which players are shown, and how they are sorted."""
        search = f" with {self.search}" if self.search else ""
        return f"{self.shown or 'everybody'}{search}, by {self.sort.value}"

    def _text(self, row: Row, width: int) -> list[str]:
        match row.about:
            case ReceivedInvitation() as invitation:
                return wrap(invitation_in_words(invitation), max(width, 20), subsequent_indent="  ")
            case SavedMatchLine() as saved:
                return wrap(_saved_in_words(row, saved), max(width, 20), subsequent_indent="  ")
            case PlayerLine() as player:
                return [_columns(player.name, f"{player.rating:.0f}", f"{player.experience}", self._state(player))]

    def _state(self, player: PlayerLine) -> str:
        lobby = self._host.session.lobby
        link = " with" if player.state == "playing" else ""
        words = [f"{player.state}{link} {player.other}" if player.other else player.state]
        words += [word for word, names in (("gagged", lobby.gagged), ("blind", lobby.blinded)) if player.name in names]
        return ", ".join(words)

    @staticmethod
    def _style(row: Row, colours: Colours) -> Style:
        match row.about:
            case ReceivedInvitation():
                return colours.prompt
            case SavedMatchLine():
                return colours.strong if row.there else colours.faint
            case PlayerLine(state="ready"):
                return colours.screen
        return colours.faint


def _columns(name: str, rating: str, experience: str, doing: str) -> str:
    return f"{name[:20]:<20} {rating:>6} {experience:>7}  {doing}"
