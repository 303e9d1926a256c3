"""From the start of a match to its end, or to where it breaks off."""

from __future__ import annotations

from attrs import evolve, frozen

from fibsbot.bot.desk import Desk
from fibsbot.bot.lobby import Lobby
from fibsbot.bot.outbox import Answered, Outbox
from fibsbot.fibs import length_from_fibs
from protocol import commands as c
from protocol import messages as m
from protocol.messages import Message
from protocol.session import State
from protocol.words import YOU, Departure


@frozen
class Match:
    """The match that we are in."""

    opponent: str
    length: int | None
    """Points, 0 for unlimited; None for a resumed match before its first board."""
    agreed: int | None
    """The length that we agreed to; None where anything within our limits will do."""
    swapped: bool = False
    """Whether it is another match than the one that we agreed to, which we leave."""
    game_began: bool = False
    """Whether a game has begun before the first board of a resumed match; it is recorded after that."""


class Matches:
    """Starts, joins, counts and ends matches and their games."""

    def __init__(self, desk: Desk, outbox: Outbox, lobby: Lobby) -> None:
        """Be in no match."""
        self._desk = desk
        self._outbox = outbox
        self._lobby = lobby
        self.current: Match | None = None

    def disconnected(self) -> None:
        """Take the match for saved: the server does that when a connection breaks."""
        self._break_off("connection lost")

    def on_message(self, message: Message) -> None:
        """Follow a match."""
        match message:
            case m.OpponentJoined() | m.YouJoined():
                ours = isinstance(message, m.OpponentJoined)
                self._start(message.name, length_from_fibs(message.length), ours=ours)
            case m.OpponentResumed() | m.YouResumed():
                self._start(message.name, None, ours=isinstance(message, m.OpponentResumed))
                self._outbox.say(c.ShowBoard())
            case m.Board() if message.state.player == YOU:
                self._on_board(message)
            case m.GameStarts():
                self._on_game_starts()
            case m.GameWon() | m.GaveUp() | m.ResignAccepted():
                self._on_game_won(message)
            case m.JoinNextGame():
                self._outbox.say(c.Join())
            case m.MatchWon():
                self._on_match_won(message)
            case m.LoggedOut() if self.current and message.name == self.current.opponent and not self._decided:
                self._outbox.say(c.ShowBoard())  # some servers say nothing else about the match
            case m.OpponentGone() | m.YourGameSaved() | m.YouLeft() | m.NotPlaying() | m.JoinWho():
                self._break_off(message.kind(), message.how if isinstance(message, m.OpponentGone) else None)

    def _start(self, opponent: str, length: int | None, *, ours: bool) -> None:
        """Begin a match; without a length, go on with a saved one. `ours`: the other has accepted our invitation."""
        if self.current is not None:
            self._break_off("another match began")
        agreed = self._lobby.agreed_length(opponent, resumed=length is None, ours=ours)
        self.current = Match(opponent, length, agreed)
        self._lobby.match_started(opponent)
        info = self._lobby.who.get(opponent)
        self._desk.record(
            "match_started",
            opponent=opponent,
            length=length,
            resumed=length is None,
            rating=info.rating if info else None,
            experience=info.experience if info else None,
            client=info.client if info else None,
        )
        if length is not None:
            self._check_length(length)

    def _on_board(self, message: m.Board) -> None:
        board = message.state
        length = length_from_fibs(board.length)
        if self.current is None:
            if self._desk.session.state in (State.LOBBY, State.WATCHING):
                return
            self._start(board.opponent, None, ours=False)
        if self.current and self.current.length is None:
            self.current = evolve(self.current, length=length)
            self._desk.record(
                "match_resumed", opponent=board.opponent, length=length, score=[board.score, board.opponent_score]
            )
            if self.current.game_began:
                self._record_game(self.current)
            self._check_length(length)

    def _on_game_starts(self) -> None:
        if self.current and self.current.length is None:
            self.current = evolve(self.current, game_began=True)
        elif self.current:
            self._record_game(self.current)

    def _record_game(self, match: Match) -> None:
        self._desk.record("game_started", opponent=match.opponent, game=self._desk.track.game)

    def _check_length(self, length: int) -> None:
        """Leave a match of another length than we agreed to: somebody swapped the invitation (pitfall 15)."""
        match = self.current
        if match is None:
            return
        fits = match.agreed == length or (match.agreed is None and length in self._desk.settings.policy.lengths)
        if not fits:
            self.current = evolve(match, swapped=True)
            self._desk.record("length_swapped", opponent=match.opponent, agreed=match.agreed, length=length)
            self._outbox.say(c.Leave())

    def _on_game_won(self, message: m.GameWon | m.GaveUp | m.ResignAccepted) -> None:
        if self.current is None:
            return
        self._desk.counters.games += 1
        track = self._desk.track
        self._desk.record(
            "game_ended",
            winner=message.winner,
            points=message.points,
            how=message.kind(),
            cube=track.state.cube if track.state else None,
            score=list(track.state.score) if track.state else None,
        )
        if self._decided:
            self._desk.wake("over", self._desk.settings.timings.watchdog)

    @property
    def _decided(self) -> bool:
        """Whether somebody has all points of the match, so that only the line that says so is missing."""
        state = self._desk.track.state
        return state is not None and not self._desk.track.running and 0 < state.length <= max(state.score)

    def on_time(self) -> None:
        """Take a match for over although the line that says so did not come: whatever we asked would be refused."""
        state = self._desk.track.state
        if state and self._decided and self._desk.session.state is State.BETWEEN_GAMES:
            self._desk.session.state = State.LOBBY
            self._over(state.length, state.score)

    def _on_match_won(self, message: m.MatchWon) -> None:
        points = message.winner_points, message.loser_points
        self._over(length_from_fibs(message.length), points if message.winner == YOU else points[::-1])

    def _over(self, length: int, score: tuple[int, int]) -> None:
        if self.current is None:
            return
        won = score[0] > score[1]
        self._desk.counters.matches += 1
        self._desk.counters.wins += won
        self._desk.record("match_ended", opponent=self.current.opponent, length=length, won=won, score=list(score))
        self._lobby.match_ended(self.current.opponent)
        self._end()
        limit = self._desk.settings.matches
        if limit is not None and self._desk.counters.matches >= limit:
            self._desk.finishing = True

    def _break_off(self, why: str, how: Departure | None = None) -> None:
        """Take the match for saved. `how` is how the opponent went, if it was the opponent.

        A match that has been won is over, although the line that says so got lost.
        """
        match, state = self.current, self._desk.track.state
        if match is None:
            return
        if state and self._decided:
            self._over(state.length, state.score)
            return
        self._desk.counters.interruptions += 1
        self._desk.record(
            "match_saved", opponent=match.opponent, length=match.length, why=why, how=how.value if how else None
        )
        self._lobby.match_saved(match.opponent, match.length, swapped=match.swapped, how=how)
        self._end()

    def _end(self) -> None:
        """Take back what was only about this match."""
        self._outbox.drop(c.Join, c.ShowBoard)
        self.current = None

    def on_overdue(self, answered: Answered) -> None:
        """Say again what the server did not hear; but a `join` not before a board has shown that it was lost."""
        if isinstance(answered.errand.command, c.Leave):
            self._outbox.say(c.Leave())
