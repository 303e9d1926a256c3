"""Makes matches and their events of the messages and commands of sessions, live or replayed.

The agent's own tracking runs beside it (session_tracker.py), so a difference reported here is one that the agent
would have found. The matches are built by the rules (match_builder.py, game_builder.py) from what was sent and
received; missing lines are rebuilt where only one thing can have happened.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import YOU, FibsMove

from fibsbot.fibs import length_from_fibs, play_from_fibs
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.replay.board_view import BoardView
from fibsbot.replay.captures import (
    CaptureEvent,
    ConnectionEnded,
    LoggedEvent,
    ReceivedMessage,
    SentCommand,
    SessionInfo,
)
from fibsbot.replay.events import DifferenceFound, MatchEvent
from fibsbot.replay.game_builder import GameBuilder
from fibsbot.replay.match_builder import MatchBuilder
from fibsbot.replay.match_files import CaptureError
from fibsbot.replay.session_tracker import SessionTracker
from fibsbot.rules.state import Ending, Seat
from fibsbot.transcript import Player

MAX_INTERRUPTED: Final = 16
"""Matches that are kept in mind because they may go on."""
MAX_RATINGS: Final = 5000
"""Users whose ratings are kept in mind."""

_MatchKey: TypeAlias = tuple[int, frozenset[str]]
"""Which account's match it is, 0 for one that is watched; and the other player, or both."""
_Time: TypeAlias = dt.datetime | None


class Transcriber:
    """Writes down the matches of a session, or of several. Nothing that is said makes it raise."""

    def __init__(self, user: str | None = None, site: str = "") -> None:
        """Know nothing but perhaps whose session it is, and on which server."""
        self._user = user or ""
        self._account = 1
        self._site = site
        self._follower = SessionTracker(self._user)
        self._draft: MatchBuilder | None = None
        self._key: _MatchKey | None = None
        self._broken_off: dict[_MatchKey, MatchBuilder] = {}
        self._matches = 0
        self._watching: str | None = None
        self._ended: m.GameWon | m.GaveUp | m.ResignAccepted | None = None
        """How a game ended of a match that is not known yet."""
        self._report: tuple[frozenset[str], int] | None = None
        """The last match that was reported to begin: who plays, and to how many points."""
        self._people: dict[str, tuple[float, int]] = {}
        self._out: list[MatchEvent] = []
        self._place: tuple[int, _Time] = (0, None)
        """Where the line is that differs, and when it came."""
        self._handlers: Mapping[type[Message], Callable[[Any, _Time], None]] = {
            m.OpponentJoined: self._on_joined,
            m.YouJoined: self._on_joined,
            m.OpponentResumed: self._on_resumed,
            m.YouResumed: self._on_resumed,
            m.YouWatch: self._on_watch,
            m.YouStopWatching: self._on_watched_gone,
            m.WatchedGone: self._on_watched_gone,
            m.MatchReportStart: self._on_report,
            m.MatchReportResume: self._on_report_of_resumed,
            m.GameStarts: self._on_game_starts,
            m.OpeningRoll: self._on_opening,
            m.CubeRaised: self._on_cube_raised,
            m.FirstMove: self._on_first_move,
            m.Board: self._on_board,
            m.Score: self._on_score,
            m.MatchWon: self._on_match_won,
            m.YouLeft: self._on_left,
            m.OpponentGone: self._on_left,
            m.YourGameSaved: self._on_left,
            m.NotPlaying: self._on_left,
            m.JoinWho: self._on_left,
            m.LoginPrompt: self._on_lost,
            m.Goodbye: self._on_lost,
            m.ConnectionTimedOut: self._on_lost,
            m.Welcome: self._on_welcome,
            m.OwnInfo: self._on_own_info,
            m.WhoInfo: self._on_who,
            **dict.fromkeys(_END_HANDLERS, self._on_end),
            **dict.fromkeys(_ENTRY_HANDLERS, self._on_deed),
        }

    # -- what happens -----------------------------------------------------------------------------------------------

    def hear(self, message: Message, at: _Time = None, offset: int = 0) -> list[MatchEvent]:
        """Take a message of the server; return what happened. `offset` is where its line begins."""
        follower = self._follower
        stray = isinstance(message, m.Board) and follower.is_stray(message)
        if follower.track.early_board is None:  # else a board before this line is what may differ
            self._place = offset, at
        differences = follower.hear(message)
        handler = self._handlers.get(type(message))
        if handler is not None and not stray:
            handler(message, at)
        elif isinstance(message, Refusal) and self._draft and self._draft.page:
            self._draft.page.refuse()
        if differences and (draft := self._draft):
            game, turn = draft.place
            draft.tell(DifferenceFound(draft.number, game, turn, differences, *self._place))
        return self._take()

    def say(self, command: Command, at: _Time = None, offset: int = 0) -> list[MatchEvent]:  # noqa: ARG002 - as `hear`
        """Take a command of the client; return what happened."""
        self._follower.say(command)
        if isinstance(command, c.Login):
            self.know(command.name)
        elif isinstance(command, c.Move):
            page = self._page()
            if page is not None and self._draft and self._draft.own:
                self._draft.quiet = page.quiet = None
                page.say(play_of_server_moves(command.moves), at)
        return self._take()

    def note(self, name: str, fields: Mapping[str, Any], at: _Time = None) -> list[MatchEvent]:  # noqa: ARG002 - as `hear`
        """Take an event of a session log, such as a decision; return what happened."""
        if name == "decision":
            page = self._page()
            if page is not None and self._draft and self._draft.own:
                page.remarks[str(fields.get("phase", ""))] = fields
        elif name == "logged_in" and isinstance(fields.get("name"), str):
            self.know(fields["name"])
        return self._take()

    def know(self, user: str, site: str = "") -> None:
        """Learn whose session it is, and on which server."""
        self._site = site or self._site
        if not user or user == self._user:
            return
        if self._user:
            self._account += 1
            self._break_off()
        elif self._draft and self._draft.own:
            self._draft.rename(user)
        self._user = user
        self._follower.know(user)

    def cut(self, at: _Time = None, reason: str = "") -> list[MatchEvent]:  # noqa: ARG002 - as `hear`
        """The connection is lost; a match may go on after that."""
        self._on_lost()
        return self._take()

    def close(self) -> list[MatchEvent]:
        """Nothing more will come; return what is left to tell of every match."""
        self._break_off()
        for draft in sorted(self._broken_off.values(), key=lambda draft: draft.number):
            self._out += draft.close()
        self._broken_off.clear()
        return self._take()

    def _take(self) -> list[MatchEvent]:
        draft, out = self._draft, self._out
        if draft is not None and draft.waits:
            out += draft.take()
        if out:
            self._out = []
        return out

    # -- which match ------------------------------------------------------------------------------------------------

    def _sit_down(self, player: str, opponent: str, *, new: bool = False) -> MatchBuilder:
        """Turn to the match of a player (YOU for our own) with another, one that goes on unless it is a new one."""
        own = player == YOU
        key = (self._account, frozenset([opponent])) if own else (0, frozenset([player, opponent]))
        draft = self._draft
        if draft is not None and key == self._key and not new and not draft.full:
            return draft
        self._break_off()
        known = self._broken_off.pop(key, None)
        if known is not None and (new or known.won or known.full):
            self._out += known.close()
            known = None
        if known is not None:
            known.go_on()
        self._draft, self._key = known or self._begin(player, opponent), key
        self._draft.quiet = Seat.A if own and not self._follower.speaks else None
        if self._draft.page is not None:
            self._draft.page.quiet = self._draft.quiet
        return self._draft

    def _begin(self, player: str, opponent: str) -> MatchBuilder:
        self._matches += 1
        names = ((self._user or YOU) if player == YOU else player, opponent)
        players = tuple(Player(name, *self._people.get(name, (None, None))) for name in names)
        return MatchBuilder(self._matches, (players[0], players[1]), own=player == YOU, site=self._site)

    def _break_off(self) -> None:
        """Turn away from the match; it is kept in mind, for it may go on."""
        draft, key = self._draft, self._key
        if draft is None or key is None:
            return
        draft.end_game()
        self._out += draft.take()
        self._draft = self._key = None
        if draft.won:
            self._out += draft.close()
            return
        self._broken_off[key] = draft
        if len(self._broken_off) > MAX_INTERRUPTED:
            oldest = next(iter(self._broken_off))
            self._out += self._broken_off.pop(oldest).close()

    def _seat(self, name: str) -> Seat | None:
        return self._draft.seat_of(name) if self._draft else None

    def _page(self) -> GameBuilder | None:
        """Return the page of the game that is on."""
        page = self._draft.running() if self._draft else None
        return None if page is None or page.over else page

    # -- the match --------------------------------------------------------------------------------------------------

    def _on_joined(self, message: m.OpponentJoined | m.YouJoined, at: _Time) -> None:
        draft = self._sit_down(YOU, message.name, new=True)
        draft.length, draft.fresh = length_from_fibs(message.length), True
        draft.see(at)

    def _on_resumed(self, message: m.OpponentResumed | m.YouResumed, at: _Time) -> None:
        self._sit_down(YOU, message.name).see(at)

    def _on_watch(self, message: m.YouWatch, _: _Time) -> None:
        self._break_off()
        self._watching = message.name

    def _on_watched_gone(self, _: m.YouStopWatching | m.WatchedGone, __: _Time) -> None:
        if self._draft and not self._draft.own:
            self._break_off()
        self._watching = None

    def _on_report(self, message: m.MatchReportStart, _: _Time) -> None:
        self._report = frozenset([message.player1, message.player2]), length_from_fibs(message.length)

    def _on_report_of_resumed(self, message: m.MatchReportResume, at: _Time) -> None:
        players = [message.player1, message.player2]
        if self._watching in players:
            players.remove(self._watching)
            self._sit_down(self._watching, players[0]).see(at)

    def _on_game_starts(self, message: m.GameStarts, at: _Time) -> None:
        """Begin a game; whose it is may not be known yet."""
        draft, watched = self._draft, self._watching
        if draft is None or draft.seat_of(message.opponent) is not Seat.B or draft.won or draft.full:
            draft = self._sit_down(watched or YOU, message.opponent)
            if watched:
                self._use_report(draft, watched, message.opponent)
        draft.see(at)
        draft.begin_game(at)

    def _use_report(self, draft: MatchBuilder, *players: str) -> None:
        """Take the length from the report that the match begins, which is told right before its first game."""
        if self._report and self._report[0] == frozenset(players) and draft.length is None:
            draft.length, draft.fresh = self._report[1], True
        self._report = None

    def _on_opening(self, message: m.OpeningRoll, at: _Time) -> None:
        draft = self._draft
        if draft is None or draft.seat_of(message.player) is not Seat.A:
            opening = draft.opening if draft else None
            draft = self._sit_down(message.player, message.opponent)
            draft.opening = draft.opening or opening
        draft.see(at)
        draft.throw_opening({Seat.A: message.player_die, Seat.B: message.opponent_die}, at)

    def _on_cube_raised(self, message: m.CubeRaised, at: _Time) -> None:
        if self._draft:
            self._draft.raise_cube(message.cube, at)

    def _on_first_move(self, message: m.FirstMove, at: _Time) -> None:
        seat = self._seat(message.player)
        if self._draft and seat is not None:
            self._draft.first_move(seat, at)

    def _on_board(self, message: m.Board, at: _Time) -> None:
        board, draft = message.state, self._draft
        own = board.player == YOU
        if draft is not None and draft.own and not own and not self._watching:
            return  # somebody else's, by `look`
        if draft is None or draft.full or not draft.is_of(board.player, board.opponent):
            draft = self._sit_down(board.player, board.opponent)
        seat = draft.seat_of(board.player)
        if seat is None:
            return
        if draft.expects(board, seat):
            draft.see(at)
            return
        sight = BoardView.of(board, seat)
        if draft.contradicts(sight):
            draft = self._sit_down(board.player, board.opponent, new=True)
            sight = BoardView.of(board, Seat.A)
        draft.see(at)
        draft.look(sight, at)

    def _on_score(self, message: m.Score, at: _Time) -> None:
        names = (message.player1, message.player2)
        if self._draft is None and self._ended is not None:
            self._sit_down_late(names, self._ended)
        draft, self._ended = self._draft, None
        if draft is None:
            return
        if draft.length is None:
            draft.length = length_from_fibs(message.length)
        opponent = draft.players[Seat.B].name
        if draft.own and not self._user and opponent in names:
            self.know(names[1 - names.index(opponent)])
        seats = [draft.seat_of(name) for name in names]
        if set(seats) == set(Seat):
            points = (message.points1, message.points2)
            draft.see(at)
            draft.score(points if seats[0] is Seat.A else points[::-1])

    def _sit_down_late(self, names: tuple[str, str], ended: m.GameWon | m.GaveUp | m.ResignAccepted) -> None:
        """Turn to the match of a game of which only the end was heard; that and the score tell who played it."""
        told = {ended.winner, getattr(ended, "loser", "")} & {*names, YOU}
        own = YOU in told or (isinstance(ended, m.GameWon) and not ended.watched)
        opponents = [name for name in names if name in told or (YOU in told and self._user in names)]
        opponents = [name for name in opponents if name != self._user]
        if own and len(opponents) != 1:
            return
        draft = self._sit_down(YOU if own else names[0], opponents[0] if own else names[1])
        if own and not self._user:
            self.know(names[1 - names.index(opponents[0])])
        winner = draft.seat_of(ended.winner)
        if winner is not None:
            draft.miss(winner, ended.points, _ENDINGS[type(ended)])

    def _on_match_won(self, message: m.MatchWon, at: _Time) -> None:
        seat = self._seat(message.winner)
        if self._draft is None or seat is None:
            return
        points = (message.winner_points, message.loser_points)
        if self._draft.length is None:
            self._draft.length = length_from_fibs(message.length)
        self._draft.see(at)
        self._draft.score(points if seat is Seat.A else points[::-1])
        self._finish()

    def _finish(self) -> None:
        """The match is over."""
        if self._draft is not None:
            self._out += self._draft.close()
        self._draft = self._key = None

    def _on_left(self, message: Message, at: _Time) -> None:
        draft = self._draft
        if draft is None or (isinstance(message, m.OpponentGone) and self._seat(message.name) is None):
            return
        if draft.own or isinstance(message, m.OpponentGone):
            draft.see(at)
            self._break_off()

    def _on_lost(self, *_: object) -> None:
        """The connection is lost, or another one begins."""
        self._break_off()
        self._watching = self._report = None
        self._follower.cut()

    def _on_welcome(self, message: m.Welcome, _: _Time) -> None:
        self.know(message.name)

    def _on_own_info(self, message: m.OwnInfo, _: _Time) -> None:
        self.know(message.name)
        self._rate(message.name, message.rating, message.experience)

    def _on_who(self, message: m.WhoInfo, _: _Time) -> None:
        self._rate(message.name, message.rating, message.experience)

    def _rate(self, name: str, rating: float, experience: int) -> None:
        if len(self._people) >= MAX_RATINGS and name not in self._people:
            self._people.pop(next(iter(self._people)))
        self._people[name] = (rating, experience)

    # -- the game ---------------------------------------------------------------------------------------------------

    def _on_end(self, message: m.GameWon | m.GaveUp | m.ResignAccepted, at: _Time) -> None:
        page = self._draft.running() if self._draft else None
        winner = self._seat(message.winner)
        self._ended = message if self._draft is None else None
        if self._draft is not None and page is None and winner is not None:
            self._draft.miss(winner, message.points, _ENDINGS[type(message)])
        if self._draft is None or page is None or winner is None:
            return
        self._draft.see(at)
        _END_HANDLERS[type(message)](page, winner, message.points, at)
        self._draft.end_game()

    def _on_deed(self, message: Message, at: _Time) -> None:
        """Take what a player did in the game that is on."""
        page = self._page()
        if page is None or self._draft is None:
            return
        name = getattr(message, "player", None)
        seat = self._seat(name) if name else page.state.turn if isinstance(message, _BY_PLAYER_ON_TURN) else Seat.A
        if seat is not None:
            self._draft.see(at)
            _ENTRY_HANDLERS[type(message)](page, seat, message, at)


def play_of_server_moves(moves: Iterable[FibsMove]) -> Play:
    """Return the server's moves as a play; which way the player goes shows in the moves themselves."""
    moves = tuple(moves)
    return play_from_fibs(moves, next((_direction(move) for move in moves), -1))


def _direction(move: FibsMove) -> int:
    if move.source is None:
        return -1 if (move.target or 0) > 12 else 1
    if move.target is None:
        return -1 if move.source <= 12 else 1
    return -1 if move.target < move.source else 1


_BY_PLAYER_ON_TURN: Final = (m.OnlyMove, m.BearsOff)
_ENTRY_HANDLERS: Final[Mapping[type[Message], Callable[[GameBuilder, Seat, Any, _Time], None]]] = {
    m.Rolls: lambda page, seat, it, at: page.throw(seat, it.dice, at),
    m.Moves: lambda page, seat, it, at: page.play(seat, play_of_server_moves(it.moves), at),
    m.OnlyMove: lambda page, seat, it, at: page.play(seat, play_of_server_moves(it.moves), at),
    m.BearsOff: lambda page, _, it, at: page.say(
        play_of_server_moves(FibsMove(point, None) for point in it.points), at
    ),
    m.CannotMove: lambda page, seat, _, at: page.play(seat, Play(), at),
    m.YouDouble: lambda page, seat, _, at: page.double(seat, at),
    m.OpponentDoubles: lambda page, seat, _, at: page.double(seat, at),
    m.WatchedDouble: lambda page, seat, _, at: page.double(seat, at),
    m.YouRedouble: lambda page, seat, _, at: page.answer(seat, CubeAction.BEAVER, at),
    m.OpponentRedoubles: lambda page, seat, _, at: page.answer(seat, CubeAction.BEAVER, at),
    m.WatchedRedouble: lambda page, seat, _, at: page.answer(seat, CubeAction.BEAVER, at),
    m.DoubleAccepted: lambda page, seat, _, at: page.answer(seat, CubeAction.TAKE, at),
    m.RedoubleAccepted: lambda page, seat, _, at: page.answer(seat, CubeAction.TAKE, at),
    m.ResignOffer: lambda page, seat, it, _: page.offer(seat, it.points),
    m.ResignRejected: lambda page, _, __, at: page.reject(at),
}
"""What a player does, by what is said about it."""
_END_HANDLERS: Final[Mapping[type[Message], Callable[[GameBuilder, Seat, int, _Time], None]]] = {
    m.GameWon: GameBuilder.won,
    m.GaveUp: GameBuilder.passed,
    m.ResignAccepted: GameBuilder.resigned,
}

_ENDINGS: Final[Mapping[type[Message], Ending]] = {
    m.GameWon: Ending.BORNE_OFF,
    m.GaveUp: Ending.DROPPED,
    m.ResignAccepted: Ending.RESIGNED,
}


def events_of_capture(spoken: Iterable[CaptureEvent]) -> Iterator[MatchEvent]:
    """Yield what happened in a capture. Raises CaptureError of the reading, after what happened up to there."""
    scribe = Transcriber()
    try:
        for it in spoken:
            yield from _handle_event(scribe, it)
    except CaptureError:
        yield from scribe.close()
        raise
    yield from scribe.close()


def _handle_event(scribe: Transcriber, it: CaptureEvent) -> list[MatchEvent]:
    match it:
        case ReceivedMessage():
            return scribe.hear(it.message, it.at, it.offset)
        case SentCommand():
            return scribe.say(it.command, it.at, it.offset)
        case LoggedEvent():
            return scribe.note(it.name, it.fields, it.at)
        case ConnectionEnded():
            return scribe.cut(it.at, it.reason)
        case SessionInfo():
            scribe.know(it.user, it.site)
            return []
