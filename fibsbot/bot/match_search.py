"""The search for a match that we may be in without knowing it (docs/reference/protocol.md, pitfalls 5 and 12).

Only lines of a match itself lead into it, so that a copy of an old board does not. Other signs of a match, such as our
own `5` line, make us request the board.
"""

from __future__ import annotations

from typing import Final

from attrs import define

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibs_protocol.words import YOU
from fibsbot.bot.command_queue import CommandQueue
from fibsbot.bot.context import AgentContext, Feature, on
from fibsbot.bot.current_match import Matches
from fibsbot.bot.timeouts import Awaited, Timeouts

MAX_RECONNECTS_FOR_UNSEEN: Final = 2
"""New connections for a match that only our own `5` line mentions; then that line is ignored."""


@define
class MatchSearch:
    """Finds out, in the lobby, whether the server thinks that we play."""

    _context: AgentContext
    _queue: CommandQueue
    _timeouts: Timeouts
    _matches: Matches
    _own_line_opponent: str | None = None
    """Our opponent according to our own `5` line."""
    _opponent_line: str | None = None
    """The player whose `5` line names us as opponent; servers do not always agree with themselves."""
    _board_asked_last: bool = False
    """Whether the board was asked for last, and not who we play with."""

    @property
    def is_on(self) -> bool:
        """Whether we may be in a match: then nobody is invited or joined."""
        return self._timeouts.is_waiting_for(Awaited.MATCH) or (
            self.board_requested and self._context.session.state is State.LOBBY
        )

    @property
    def board_requested(self) -> bool:
        """Whether a board would be the answer to our question, and not a copy of an old one."""
        in_flight = self._queue.in_flight
        return in_flight is not None and isinstance(in_flight.command, c.ShowBoard)

    # -- signs of a match ---------------------------------------------------------------------------------------

    @on(m.TableBoard, m.GameStarts, m.OpeningRoll, m.FirstMove)
    def _on_sign_of_match(self, message: Message) -> None:
        """Find out whether we are in a match that we do not know of; the table of another player is no sign."""
        if self._context.session.state is State.LOBBY and (
            not isinstance(message, m.TableBoard) or message.state.player == YOU
        ):
            self.start()

    @on(m.NotPlaying)
    def _on_not_playing(self, message: m.NotPlaying) -> None:
        self._matches.break_off(message.kind())
        if self._listed_opponent and self._context.session.state is State.LOBBY:
            self.start()

    @on(m.YouArePlaying, m.TwoGamesAtOnce)
    def _on_playing(self, _: Message) -> None:
        if self._context.session.state is State.LOBBY:
            self._queue.send(c.ShowBoard())

    @on(m.WhoInfo)
    def _on_who(self, info: m.WhoInfo) -> None:
        us, before = self._context.settings.name, self._listed_opponent
        if info.name == us:
            self._own_line_opponent = info.opponent
        elif info.opponent == us:
            self._opponent_line = info.name
        elif info.name == self._opponent_line:
            self._opponent_line = None
        if us in (info.name, info.opponent) or self._listed_opponent != before:
            self._on_listed_opponent()

    @property
    def _listed_opponent(self) -> str | None:
        """Our opponent, according to `5` lines."""
        return self._own_line_opponent or self._opponent_line

    def _on_listed_opponent(self) -> None:
        """Go by what `5` lines say of a match of ours."""
        if self._listed_opponent is None:
            self._timeouts.stop(Awaited.MATCH)
        elif (
            self._context.session.state is State.LOBBY
            and self._matches.progress.reconnects_for_unseen[self._listed_opponent] <= MAX_RECONNECTS_FOR_UNSEEN
        ):
            self.start()

    # -- asking -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Find out whether we are in a match."""
        if not self._timeouts.is_waiting_for(Awaited.MATCH):
            self._board_asked_last = False
            self._timeouts.start(Awaited.MATCH)

    def go_on(self, *, last: bool) -> None:
        """Ask for the board of a match that we seem to be in, and who we play with."""
        name = self._listed_opponent
        if last and name:
            self._matches.progress.reconnects_for_unseen[name] += 1
            if self._matches.progress.reconnects_for_unseen[name] <= MAX_RECONNECTS_FOR_UNSEEN:
                self._context.disconnect(f"the server says that we play with {name}, and shows no board")
            else:
                self._matches.note_stuck(name, None, "the server says that we play, and shows no board")
        elif last:
            return
        elif name and (not self._board_asked_last or self._context.lacks(Feature.RAWWHO)):
            self._board_asked_last = True
            self._queue.send(c.ShowBoard())
        elif not self._context.lacks(Feature.RAWWHO):
            self._board_asked_last = False
            self._queue.send(c.Rawwho(self._context.settings.name))
        else:
            self._timeouts.stop(Awaited.MATCH)
