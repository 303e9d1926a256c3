"""Makes matches and their events of the messages and commands of sessions, live or replayed.

The agent's own tracking runs beside it (session_tracker.py), so a difference reported here is one that the agent
would have found. The matches are built by the rules (match_builder.py, game_builder.py) from what was sent and
received; missing lines are reconstructed where only one thing can have happened.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.commands import Command
from fibs_protocol.messages import Message, Refusal
from fibs_protocol.words import YOU
from fibsbot.bot.tracked_match import Difference
from fibsbot.extensions import extension
from fibsbot.fibs_numbering import length_from_fibs
from fibsbot.games import UnknownGameError, load_ruleset
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
from fibsbot.replay.game_messages import (
    END_HANDLERS,
    ENDINGS,
    ENTRY_HANDLERS,
    GameEnd,
    Time,
    acting_seat,
    players_of_end,
)
from fibsbot.replay.log_reading import CaptureError
from fibsbot.replay.match_builder import MatchBuilder
from fibsbot.replay.seated_games import SeatedGames
from fibsbot.replay.session_matches import SessionMatches, match_key
from fibsbot.replay.session_tracker import REGULAR_MESSAGES, RegularTurns, SessionTracker
from fibsbot.replay.state_view import StateView
from fibsbot.rules.backgammon import BACKGAMMON
from fibsbot.rules.law_words import LawWordsError, parse_law_words
from fibsbot.rules.laws import Laws
from fibsbot.rules.state import Seat
from fibsbot.transcript import Player

_Joined: TypeAlias = m.OpponentJoined | m.YouJoined | m.OpponentJoinedGame | m.YouJoinedGame
MAX_RATINGS: Final = 5000
"""Users whose ratings are kept."""


class Transcriber:
    """Builds the matches of one or more sessions. No message makes it raise."""

    def __init__(self, user: str | None = None, site: str = "") -> None:
        """Start without matches; the user and the server may become known later."""
        self._user = user or ""
        self._account_number = 1
        self._site = site
        self._tracker = SessionTracker(self._user)
        self._matches = SessionMatches()
        self._match_count = 0
        self._watched: str | None = None
        self._watched_laws: Laws | None = None
        """The laws of the match that is watched."""
        self._unknown_game_end: GameEnd | None = None
        """The end of a game whose match is not known yet."""
        self._match_report: tuple[frozenset[str], int] | None = None
        """Players and length of the match whose start was reported last."""
        self._ratings: dict[str, tuple[float, int]] = {}
        self._events: list[MatchEvent] = []
        self._seated: SeatedGames = extension("replay")(self._events.append, self._next_number)
        self._line_position: tuple[int, Time] = (0, None)
        """Offset and time of the line that a difference is reported for."""
        self._handlers: Mapping[type[Message], Callable[[Any, Time], object]] = {
            m.OpponentJoined: self._join,
            m.YouJoined: self._join,
            m.OpponentJoinedGame: self._on_joined_game,
            m.YouJoinedGame: self._on_joined_game,
            m.OpponentResumed: self._on_resumed,
            m.YouResumed: self._on_resumed,
            m.YouWatch: self._on_watch,
            m.YouStopWatching: self._on_watching_ended,
            m.WatchedGone: self._on_watching_ended,
            m.MatchReportStart: self._on_start_report,
            m.MatchReportResume: self._on_resume_report,
            m.GameStarts: self._on_game_starts,
            m.OpeningRoll: self._on_opening_roll,
            m.CubeRaised: self._on_cube_raised,
            m.MatchLaws: self._on_match_laws,
            m.FirstMove: self._on_first_move,
            m.Board: self._on_board,
            m.TableBoard: self._on_line,
            m.GameDrawn: self._on_drawn,
            m.Score: self._on_score,
            m.MatchWon: self._on_match_won,
            m.YouLeft: self._on_left,
            m.OpponentGone: self._on_left,
            m.YourGameSaved: self._on_left,
            m.NotPlaying: self._on_left,
            m.JoinWho: self._on_left,
            m.LoginPrompt: self._on_disconnect,
            m.Goodbye: self._on_disconnect,
            m.ConnectionTimedOut: self._on_disconnect,
            m.Welcome: self._on_welcome,
            m.OwnInfo: self._on_own_info,
            m.WhoInfo: self._on_who_info,
            **dict.fromkeys(END_HANDLERS, self._on_game_end),
            **dict.fromkeys(ENTRY_HANDLERS, self._on_game_message),
        }

    # -- input --------------------------------------------------------------------------------------------------------

    def receive(self, message: Message, at: Time = None, offset: int = 0) -> list[MatchEvent]:
        """Process a message of the server and return the new events. `offset` is the start of its line."""
        if (self._seated.seated or type(message) is m.ChouetteSeat) and self._is_of_chouette(message, at, offset):
            return self._pop_events()
        tracker = self._tracker
        regular = tracker.regular
        if regular is not None and type(message) in REGULAR_MESSAGES:
            if self._receive_regular(regular, message, at):
                return self._pop_events() if self._events else []
            self._line_position = offset, at
            differences = tracker.receive(message)
        else:
            if tracker.match.early_board is None:  # else it is the board before this line that may differ
                self._line_position = offset, at
            differences = tracker.receive(message)
            if differences is None:
                return []
            handler = self._handlers.get(type(message))
            if handler is not None:
                handler(message, at)
            elif isinstance(message, Refusal) and (match := self._matches.current) and match.game:
                match.game.drop_sent_play()
        if differences or type(message) is m.Board:
            self._compare_tracking(message, differences or ())
        return self._pop_events() if self._events else []

    def _compare_tracking(self, message: Message, differences: tuple[Difference, ...]) -> None:
        """Report how the agent's tracking of backgammon differs; while it does not, it may wait."""
        match = self._matches.current
        if match is None or match.codec.whole:
            return
        if differences:
            self._events.append(DifferenceFound(match.number, *match.place, differences, *self._line_position))
        elif match.own and match.game and isinstance(message, m.Board):
            self._tracker.begin_regular_turns(message.state, match.game)

    def _receive_regular(self, regular: RegularTurns, message: Message, at: Time) -> bool:
        """Build the game on by a message; return whether it belongs to a regular turn, so that tracking can wait."""
        match, game = self._matches.current, regular.game
        if isinstance(message, m.Board):
            board = message.state
            if match and match.game is game and regular.goes_on(board) and match.matches_board(board, Seat.A, at):
                match.touch(at)
                return regular.take_board(message)
            self._on_board(message, at)
            return False
        entries = len(game.entries)
        if not isinstance(message, m.RollOrDouble):
            self._on_game_message(message, at)
        return regular.take(message, entries)

    def _is_of_chouette(self, message: Message, at: Time, offset: int) -> bool:
        """Process a message of a chouette; return whether it was one."""
        if not self._seated.seated:
            self._matches.interrupt()
        return self._seated.receive(message, at, offset, self._user, self._site)

    def send(self, command: Command, at: Time = None) -> list[MatchEvent]:
        """Process a command of the client and return the new events."""
        self._tracker.send(command)
        self._seated.send(command, at)
        if isinstance(command, c.Login):
            self.set_user(command.name)
        elif isinstance(command, c.Move):
            match, game = self._matches.current, self._running_game()
            if game is not None and match and match.own:
                match.silent_seat = None
                if not game.codec.whole:
                    game.silent_seat = None
                game.note_sent_play(game.codec.read_moves(command.moves), at)
        return self._pop_events()

    def log_event(self, name: str, fields: Mapping[str, Any]) -> list[MatchEvent]:
        """Process an event of a session log, such as a decision, and return the new events."""
        if name == "decision":
            match, game = self._matches.current, self._running_game()
            if game is not None and match and match.own:
                game.decision_logs[str(fields.get("phase", ""))] = fields
        elif name == "chouette_decision":
            self._seated.log_decision(fields)
        elif name == "logged_in" and isinstance(fields.get("name"), str):
            self.set_user(fields["name"])
        return self._pop_events()

    def set_user(self, user: str, site: str = "") -> None:
        """Set whose session it is, and on which server."""
        self._site = site or self._site
        if not user or user == self._user:
            return
        if self._user:
            self._account_number += 1
            self._seated.close()
            self._matches.interrupt()
        elif (match := self._matches.current) and match.own:
            match.rename(user)
        self._user = user
        self._tracker.set_user(user)

    def disconnect(self) -> list[MatchEvent]:
        """Process the end of the connection and return the new events; the match may be resumed later."""
        self._seated.interrupt()
        self._on_disconnect()
        return self._pop_events()

    def close(self) -> list[MatchEvent]:
        """Finish every match, as nothing more will come, and return the new events."""
        self._seated.close()
        self._matches.close()
        return self._pop_events()

    def _pop_events(self) -> list[MatchEvent]:
        if not self._events:
            return []
        events = self._events.copy()
        self._events.clear()  # the builders append to this very list
        return events

    # -- the current match --------------------------------------------------------------------------------------------

    def _select_match(self, player: str, opponent: str, *, new: bool = False) -> MatchBuilder:
        """Make the match of two players current, one that is resumed unless it is `new`; the user is YOU."""
        own = player == YOU
        key = match_key(self._account_number, player, opponent)
        before = self._matches.current
        match = self._matches.select(key, lambda: self._new_match(player, opponent), new=new)
        if match is before:
            return match
        if not own:
            match.laws = match.laws or self._watched_laws
        match.silent_seat = Seat.A if own and not self._tracker.sees_own_moves else None
        if match.game is not None and not match.codec.whole:
            match.game.silent_seat = match.silent_seat
        return match

    def _next_number(self) -> int:
        self._match_count += 1
        return self._match_count

    def _new_match(self, player: str, opponent: str) -> MatchBuilder:
        names = ((self._user or YOU) if player == YOU else player, opponent)
        players = (self._player(names[0]), self._player(names[1]))
        return MatchBuilder(
            self._next_number,
            players,
            self._events.append,
            own=player == YOU,
            site=self._site,
            line_place=lambda: self._line_position,
        )

    def _player(self, name: str) -> Player:
        return Player(name, *self._ratings.get(name, (None, None)))

    def _seat(self, name: str) -> Seat | None:
        match = self._matches.current
        return match.seat_of(name) if match else None

    def _running_game(self) -> GameBuilder | None:
        match = self._matches.current
        game = match.current_game() if match else None
        return None if game is None or game.over else game

    # -- messages about a match ---------------------------------------------------------------------------------------

    def _join(self, message: _Joined, at: Time) -> MatchBuilder:
        match = self._select_match(YOU, message.name, new=True)
        match.length, match.is_new = length_from_fibs(message.length), True
        match.touch(at)
        return match

    def _on_joined_game(self, message: m.OpponentJoinedGame | m.YouJoinedGame, at: Time) -> None:
        match = self._join(message, at)
        try:
            ruleset = load_ruleset(message.game)
        except UnknownGameError as error:
            self._differ(match, "game", error)
            match.length, match.is_new = None, False  # nothing of it can be followed
        else:
            match.ruleset = ruleset

    def _differ(self, match: MatchBuilder, what: str, error: ValueError) -> None:
        difference = Difference(what, None, str(error))
        self._events.append(DifferenceFound(match.number, *match.place, (difference,), *self._line_position))

    def _on_resumed(self, message: m.OpponentResumed | m.YouResumed, at: Time) -> None:
        self._select_match(YOU, message.name).touch(at)

    def _on_watch(self, message: m.YouWatch, _: Time) -> None:
        self._matches.interrupt()
        self._watched, self._watched_laws = message.name, None

    def _on_watching_ended(self, _: m.YouStopWatching | m.WatchedGone, __: Time) -> None:
        if (match := self._matches.current) and not match.own:
            self._matches.interrupt()
        self._watched = None

    def _on_start_report(self, message: m.MatchReportStart, _: Time) -> None:
        self._match_report = frozenset([message.player1, message.player2]), length_from_fibs(message.length)

    def _on_resume_report(self, message: m.MatchReportResume, at: Time) -> None:
        players = [message.player1, message.player2]
        if self._watched in players:
            players.remove(self._watched)
            self._select_match(self._watched, players[0]).touch(at)

    def _on_game_starts(self, message: m.GameStarts, at: Time) -> None:
        """Start a game, whose match may not be known yet."""
        match, watched = self._matches.current, self._watched
        if match is None or match.seat_of(message.opponent) is not Seat.B or match.is_won or match.is_full:
            match = self._select_match(watched or YOU, message.opponent)
            if watched:
                self._use_match_report(match, watched, message.opponent)
        match.touch(at)
        match.begin_game(at)

    def _use_match_report(self, match: MatchBuilder, *players: str) -> None:
        """Take the length from the report of the match's start, which comes right before its first game."""
        if self._match_report and self._match_report[0] == frozenset(players) and match.length is None:
            match.length, match.is_new = self._match_report[1], True
        self._match_report = None

    def _on_opening_roll(self, message: m.OpeningRoll, at: Time) -> None:
        match = self._matches.current
        if match is None or match.seat_of(message.player) is not Seat.A:
            opening = match.opening if match else None
            match = self._select_match(message.player, message.opponent)
            match.opening = match.opening or opening
        match.touch(at)
        match.roll_opening({Seat.A: message.player_die, Seat.B: message.opponent_die}, at)

    def _on_cube_raised(self, message: m.CubeRaised, at: Time) -> None:
        if match := self._matches.current:
            match.raise_cube(message.cube, at)

    def _on_match_laws(self, message: m.MatchLaws, _: Time) -> None:
        """Note the laws of the current match; with an invitation there is none yet."""
        with contextlib.suppress(LawWordsError):
            laws = parse_law_words(message.words)
            if self._watched:
                self._watched_laws = laws
            elif (match := self._matches.current) and match.own:
                match.laws = laws

    def _on_first_move(self, message: m.FirstMove, at: Time) -> None:
        match, seat = self._matches.current, self._seat(message.player)
        if match and seat is not None:
            match.first_move(seat, at)

    def _on_board(self, message: m.Board, at: Time) -> None:
        board, match = message.state, self._matches.current
        if match is not None and match.own and board.player != YOU and not self._watched:
            return  # of another match: the answer to `look`
        if match is None or match.is_full or not match.is_of(board.player, board.opponent):
            match = self._select_match(board.player, board.opponent)
        seat = match.seat_of(board.player)
        if seat is None:
            return
        if match.matches_board(board, seat, at):
            match.touch(at)
            return
        view = BoardView.from_board(board, seat)
        if match.codec.whole or match.contradicts(view):
            match = self._select_match(board.player, board.opponent, new=True)
            view = BoardView.from_board(board, Seat.A)
        match.ruleset = BACKGAMMON
        match.touch(at)
        match.apply_board(view, at)

    def _on_line(self, message: m.TableBoard, at: Time) -> None:
        """Take the line of a game other than backgammon, which shows its whole state."""
        line, match = message.state, self._matches.current
        if line.player not in {YOU, self._watched}:
            return  # of another match: the answer to `look`
        if match is None or match.is_full or not match.is_of(line.player, line.opponent):
            match = self._select_match(line.player, line.opponent)
        try:
            view = StateView.from_line(line)
        except ValueError as error:
            self._differ(match, "table", error)
            if match.game is not None:
                match.game.lose_track()
            return
        known = match.ruleset if match.game is None else match.rules
        other_game = known not in {None, view.shown.rules}
        if other_game or match.seat_of(line.player) is not Seat.A or match.contradicts(view):
            match = self._select_match(line.player, line.opponent, new=True)
        match.ruleset = view.shown.rules
        match.touch(at)
        match.apply_line(view, at)

    def _on_score(self, message: m.Score, at: Time) -> None:
        names = (message.player1, message.player2)
        if self._matches.current is None and self._unknown_game_end is not None:
            self._select_match_of_end(names, self._unknown_game_end)
        match, self._unknown_game_end = self._matches.current, None
        if match is None:
            return
        if match.length is None:
            match.length = length_from_fibs(message.length)
        opponent = match.players[Seat.B].name
        if match.own and not self._user and opponent in names:
            self.set_user(names[1 - names.index(opponent)])
        seats = [match.seat_of(name) for name in names]
        if set(seats) == set(Seat):
            points = (message.points1, message.points2)
            match.touch(at)
            match.apply_score(points if seats[0] is Seat.A else points[::-1])

    def _select_match_of_end(self, names: tuple[str, str], end: GameEnd) -> None:
        """Make current the match of a game of which only the end was seen."""
        players = players_of_end(names, end, self._user)
        if players is None:
            return
        match = self._select_match(*players)
        if match.own and not self._user:
            self.set_user(names[1 - names.index(players[1])])
        winner = match.seat_of(end.winner)
        if winner is not None:
            match.note_unseen_game(winner, end.points, ENDINGS[type(end)])

    def _on_match_won(self, message: m.MatchWon, at: Time) -> None:
        match, seat = self._matches.current, self._seat(message.winner)
        if match is None or seat is None:
            return
        points = (message.winner_points, message.loser_points)
        if match.length is None:
            match.length = length_from_fibs(message.length)
        match.touch(at)
        match.apply_score(points if seat is Seat.A else points[::-1])
        self._matches.close_current()

    def _on_left(self, message: Message, at: Time) -> None:
        match = self._matches.current
        if match is None or (isinstance(message, m.OpponentGone) and self._seat(message.name) is None):
            return
        if match.own or isinstance(message, m.OpponentGone):
            match.touch(at)
            self._matches.interrupt()

    # -- messages about the session -----------------------------------------------------------------------------------

    def _on_disconnect(self, *_: object) -> None:
        self._matches.interrupt()
        self._watched = self._match_report = None
        self._tracker.disconnect()

    def _on_welcome(self, message: m.Welcome, _: Time) -> None:
        self.set_user(message.name)

    def _on_own_info(self, message: m.OwnInfo, at: Time) -> None:
        self.set_user(message.name)
        self._on_who_info(message, at)

    def _on_who_info(self, message: m.WhoInfo | m.OwnInfo, _: Time) -> None:
        if len(self._ratings) >= MAX_RATINGS and message.name not in self._ratings:
            self._ratings.pop(next(iter(self._ratings)))
        self._ratings[message.name] = (message.rating, message.experience)

    # -- messages about a game ----------------------------------------------------------------------------------------

    def _on_game_end(self, message: GameEnd, at: Time) -> None:
        match, winner = self._matches.current, self._seat(message.winner)
        game = match.current_game() if match else None
        self._unknown_game_end = message if match is None else None
        if match is None or winner is None:
            return
        if game is None:
            match.note_unseen_game(winner, message.points, ENDINGS[type(message)])
            return
        match.touch(at)
        END_HANDLERS[type(message)](game, winner, message.points, at)
        match.end_game()

    def _on_drawn(self, message: m.GameDrawn, at: Time) -> None:
        if (match := self._matches.current) and (game := match.current_game()):
            match.touch(at)
            game.draw(message.reason, at)
            match.end_game()

    def _on_game_message(self, message: Message, at: Time) -> None:
        match, game = self._matches.current, self._running_game()
        if game is None or match is None:
            return
        seat = acting_seat(message, game, match.seat_of)
        if seat is not None:
            match.touch(at)
            ENTRY_HANDLERS[type(message)](game, seat, message, at)


def events_of_capture(capture: Iterable[CaptureEvent]) -> Iterator[MatchEvent]:
    """Yield the match events of a capture. Raises CaptureError from reading it, after the events before that place."""
    transcriber = Transcriber()
    try:
        for event in capture:
            if isinstance(event, ReceivedMessage):  # nearly all
                yield from transcriber.receive(event.message, event.at, event.offset)
                continue
            match event:
                case SentCommand():
                    yield from transcriber.send(event.command, event.at)
                case LoggedEvent():
                    yield from transcriber.log_event(event.name, event.fields)
                case ConnectionEnded():
                    yield from transcriber.disconnect()
                case SessionInfo():
                    transcriber.set_user(event.user, event.site)
    except CaptureError:
        yield from transcriber.close()
        raise
    yield from transcriber.close()
