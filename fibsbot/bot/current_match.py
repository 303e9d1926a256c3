"""The match in progress, from its start to its end or interruption, and the bot's status as operators see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any, Final, Protocol

from attrs import asdict, define, evolve, field, frozen

from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibs_protocol.words import YOU, Departure
from fibsbot.bot.command_queue import CommandQueue
from fibsbot.bot.context import AgentContext, on
from fibsbot.bot.players import Players
from fibsbot.bot.tracked_match import TrackedMatch
from fibsbot.fibs_numbering import length_from_fibs
from fibsbot.text import plural

MAX_SITUATIONS: Final = 2_000
"""Situations of a match that are remembered to notice progress."""


@frozen
class CurrentMatch:
    """The match that we are in."""

    opponent: str
    length: int | None
    """Points, 0 for unlimited; None for a resumed match before its first board."""
    agreed: int | None
    """The length that we agreed to; None if any length within our limits is accepted."""
    game: str | None
    """The game, if it is not backgammon."""
    unwanted: bool
    """Whether it was given up before, and was resumed against our will."""
    wrong_length: bool = False
    """Whether it has another length than the one that we agreed to, so that we leave it."""
    final: tuple[int, int] | None = None
    """The score at which we have left it, because a board showed that it was over."""
    game_began: bool = False
    """Whether a game has begun before the first board of a resumed match; it is recorded after that."""


@define
class MatchProgress:
    """How our matches get on, over all connections: a match is resumed, and what was tried for it counts."""

    steps_taken: dict[str, int] = field(factory=dict)
    """How many steps of the ladder (recovery.py) were taken with each opponent since the match made progress."""
    reconnects_for_unseen: Counter[str] = field(factory=Counter)
    """By opponent, new connections for a match that only our own `5` line speaks of, until it goes on."""
    resign_from: int = 1
    """The least level that we may still offer to resign in the game: it goes on in a match that is resumed."""
    _opponent: str | None = None
    """The opponent of the last situations."""
    _situations: set[Hashable] = field(factory=set)
    """Situations of the match with that opponent."""

    def note(self, opponent: str, tracked: TrackedMatch) -> None:
        """Note the situation of a match; what was tried is forgotten when a match makes progress again."""
        state = tracked.state
        if state is None:
            return
        situation = tracked.game, state.score, state.board, state.cube, tracked.turn
        if opponent != self._opponent:
            self._opponent, self._situations = opponent, set()
        elif situation in self._situations:
            return
        elif self._situations:
            self.steps_taken.pop(opponent, None)
            self.reconnects_for_unseen.pop(opponent, None)
        if len(self._situations) >= MAX_SITUATIONS:
            self._situations.clear()
        self._situations.add(situation)


class MatchLobby(Protocol):
    """What the current match asks of the lobby, and what it reports to it."""

    @property
    def players(self) -> Players | None:
        """The users of the server."""

    def agreed_length(self, name: str, *, resumed: bool, ours: bool) -> int | None:
        """Return the length that we have agreed to play with somebody; None if it is not known."""

    def agreed_game(self, name: str, *, ours: bool) -> str | None:
        """Return the game that we have agreed to play; None for backgammon."""

    def note_laws(self, words: str) -> None:
        """Note the laws of the last invitation."""

    def match_started(self, opponent: str) -> None:
        """Note that a match has begun."""

    def match_ended(self, opponent: str) -> None:
        """Note that a match was played to its end."""

    def match_saved(
        self, opponent: str, length: int | None, *, wrong_length: bool, unwanted: bool, how: Departure | None
    ) -> None:
        """Note that a match was interrupted."""


@define
class Matches:
    """Starts, joins, counts and ends matches and their games."""

    _context: AgentContext
    _queue: CommandQueue
    _lobby: MatchLobby
    progress: MatchProgress
    current: CurrentMatch | None = None

    @on(m.OpponentJoined, m.YouJoined)
    def _on_joined(self, message: m.OpponentJoined | m.YouJoined) -> None:
        self._start(message.name, length_from_fibs(message.length), ours=isinstance(message, m.OpponentJoined))

    @on(m.OpponentJoinedGame, m.YouJoinedGame)
    def _on_joined_game(self, message: m.OpponentJoinedGame | m.YouJoinedGame) -> None:
        ours = isinstance(message, m.OpponentJoinedGame)
        agreed = self._lobby.agreed_game(message.name, ours=ours)
        self._start(message.name, length_from_fibs(message.length), ours=ours, game=message.game)
        if self.current and agreed != message.game:
            self.current = evolve(self.current, wrong_length=True)
            self._context.record("game_swapped", opponent=message.name, agreed=agreed, game=message.game)
            self._queue.send(c.Leave())

    @on(m.OpponentResumed, m.YouResumed)
    def _on_resumed(self, message: m.OpponentResumed | m.YouResumed) -> None:
        self._start(message.name, None, ours=isinstance(message, m.OpponentResumed))
        self._queue.send(c.ShowBoard())

    @on(m.LoggedOut)
    def _on_logged_out(self, message: m.LoggedOut) -> None:
        if self.current and message.name == self.current.opponent and not self._context.tracked.final_score:
            self._queue.send(c.ShowBoard())  # some servers say nothing else about the match

    @on(m.OpponentGone, m.YourGameSaved, m.YouLeft, m.NobodyToLeave, m.JoinWho)
    def _on_interrupted(self, message: Message) -> None:
        self.break_off(message.kind(), message.how if isinstance(message, m.OpponentGone) else None)

    def _start(self, opponent: str, length: int | None, *, ours: bool, game: str | None = None) -> None:
        """Start a match, or resume a saved one (no length). `ours`: the opponent has accepted our invitation."""
        if self.current is not None:
            self.break_off("another match began")
        memory, resumed = self._context.memory, length is None
        agreed = self._lobby.agreed_length(opponent, resumed=resumed, ours=ours)
        if not resumed:
            memory.note_stuck(opponent, None)  # the server has deleted the saved match
        unwanted = memory.history_of(opponent).stuck is not None
        self.current = CurrentMatch(opponent, length, agreed, game, unwanted=unwanted)
        self._lobby.match_started(opponent)
        info = self._lobby.players.users.get(opponent) if self._lobby.players else None
        self._context.record(
            "match_started",
            opponent=opponent,
            length=length,
            resumed=length is None,
            rating=info.rating if info else None,
            experience=info.experience if info else None,
            client=info.client if info else None,
            **({} if game is None else {"game": game}),
        )
        if length is not None:
            self._check_length(length)

    @on(m.MatchLaws)
    def _on_match_laws(self, message: m.MatchLaws) -> None:
        """Leave a new match by laws that we do not play by: it was swapped, or they are the server's."""
        if self._context.session.state is State.LOBBY:
            self._lobby.note_laws(message.words)
        match = self.current
        if match is None or match.length is None or self._context.settings.plays_by(message.words):
            return
        self.current = evolve(match, wrong_length=True)
        self._context.record("laws_swapped", opponent=match.opponent, laws=message.words)
        self._queue.send(c.Leave())

    @on(m.Board)
    def _on_board(self, message: m.Board) -> None:
        board = message.state
        if board.player != YOU or (self.current and self.current.length is not None):
            return
        length = length_from_fibs(board.length)
        if self.current is None:
            if self._context.session.state in (State.LOBBY, State.WATCHING):
                return
            self._start_unannounced(board.opponent, length, begun=board.score + board.opponent_score > 0)
        if self.current and self.current.length is None:
            self.current = evolve(self.current, length=length)
            self._context.record(
                "match_resumed", opponent=board.opponent, length=length, score=[board.score, board.opponent_score]
            )
            if self.current.game_began:
                self._record_game(self.current)
            self._check_length(length)

    @on(m.TableBoard)
    def _on_table(self, message: m.TableBoard) -> None:
        """Take what the first `table:` line says of a resumed match."""
        line, match = message.state, self.current
        if line.player != YOU or match is None or match.length is not None:
            return
        length = length_from_fibs(line.length)
        self.current = match = evolve(match, length=length, game=line.game)
        score = [line.score, line.opponent_score]
        self._context.record("match_resumed", opponent=match.opponent, length=length, score=score, game=line.game)
        if match.game_began:
            self._record_game(match)
        self._check_length(length)

    def _start_unannounced(self, opponent: str, length: int, *, begun: bool) -> None:
        """Start a match whose first sign is a board: a new one if we have agreed to one of this length.

        JIBS does not tell the player who joins an invitation its length. `begun`: somebody has points already, as in a
        saved match.
        """
        for ours in (False, True):
            if not begun and self._lobby.agreed_length(opponent, resumed=False, ours=ours) == length:
                self._start(opponent, length, ours=ours)
                return
        self._start(opponent, None, ours=False)

    @on(m.GameStarts)
    def _on_game_starts(self, _: m.GameStarts) -> None:
        if self.current and self.current.length is None:
            self.current = evolve(self.current, game_began=True)
        elif self.current:
            self._record_game(self.current)

    def _record_game(self, match: CurrentMatch) -> None:
        self._context.record("game_started", opponent=match.opponent, game=self._context.tracked.game)

    def _check_length(self, length: int) -> None:
        """Leave a match of another length than the one agreed to: the invitation was swapped (pitfall 15)."""
        match = self.current
        if match is None:
            return
        fits = match.agreed == length or (match.agreed is None and length in self._context.settings.policy.lengths)
        if not fits:
            self.current = evolve(match, wrong_length=True)
            self._context.record("length_swapped", opponent=match.opponent, agreed=match.agreed, length=length)
            self._queue.send(c.Leave())

    @on(m.GameWon, m.GaveUp, m.ResignAccepted, m.GameWonBy)
    def _on_game_won(self, message: m.GameWon | m.GaveUp | m.ResignAccepted | m.GameWonBy) -> None:
        if self.current is None:
            return
        self._context.counters.games += 1
        state = self._context.tracked.state
        self._context.record(
            "game_ended",
            winner=message.winner,
            points=message.points,
            how=message.kind(),
            cube=state.cube if state else None,
            score=list(state.score) if state else None,
        )

    @on(m.GameDrawn)
    def _on_game_drawn(self, message: m.GameDrawn) -> None:
        if self.current is not None:
            self._context.counters.games += 1
            self._context.record("game_drawn", opponent=self.current.opponent, reason=message.reason)

    # -- the end ------------------------------------------------------------------------------------------------

    def conclude(self) -> bool:
        """End a match that is over although no line has said so; return whether we still have to leave it.

        Where only a board says so, the server may keep the match, which must not be resumed.
        """
        tracked, match = self._context.tracked, self.current
        score, state = tracked.final_score, tracked.state
        if score is None or state is None or match is None:
            return False
        if tracked.running:
            self.current = evolve(match, final=score)
            self.note_stuck(match.opponent, match.length, "the server does not end a match that is over")
            return True
        self._context.session.state = State.LOBBY
        self._over(state.length, score)
        return False

    def give_up(self, why: str) -> None:
        """Mark the current match as one that this server cannot continue."""
        if self.current is not None:
            self.note_stuck(self.current.opponent, self.current.length, why)

    def note_stuck(self, opponent: str, length: int | None, why: str) -> None:
        """Remember that this server cannot continue our match with this player, and that we do not rejoin it."""
        if self._context.memory.history_of(opponent).stuck is None:
            self._context.memory.note_stuck(opponent, self._context.now)
            self._context.counters.stuck += 1
            self._context.record("match_stuck", opponent=opponent, length=length, why=why)

    @on(m.MatchWon)
    def _on_match_won(self, message: m.MatchWon) -> None:
        points = message.winner_points, message.loser_points
        self._over(length_from_fibs(message.length), points if message.winner == YOU else points[::-1])

    def _over(self, length: int, score: tuple[int, int]) -> None:
        if self.current is None:
            return
        won = score[0] > score[1]
        self._context.counters.matches += 1
        self._context.counters.wins += won
        match = self.current
        game = {} if match.game is None else {"game": match.game}
        self._context.record("match_ended", opponent=match.opponent, length=length, won=won, score=list(score), **game)
        self._lobby.match_ended(self.current.opponent)
        self._end()
        limit = self._context.settings.play.matches
        if limit is not None and self._context.counters.matches >= limit:
            self._context.finishing = True

    def break_off(self, why: str, how: Departure | None = None) -> None:
        """Count the match as saved; `how` is how the opponent left, if the opponent did.

        A match that somebody has won is over, even if the line that says so was lost.
        """
        match, tracked = self.current, self._context.tracked
        if match is None:
            return
        if tracked.state and (score := match.final or tracked.final_score):
            self._over(tracked.state.length, score)
            return
        self._context.counters.interruptions += 1
        self._context.record(
            "match_saved", opponent=match.opponent, length=match.length, why=why, how=how.value if how else None
        )
        wrong_length, unwanted = match.wrong_length, match.unwanted
        self._lobby.match_saved(match.opponent, match.length, wrong_length=wrong_length, unwanted=unwanted, how=how)
        self._end()

    def _end(self) -> None:
        """Forget the match, and drop commands that were only about it."""
        self._queue.drop(c.Join, c.ShowBoard)
        self.current = None


@frozen
class BotStatus:
    """A snapshot of one bot. The times of the run are added by its owner."""

    account: str
    state: str
    """State of the connection, as protocol/fibs_protocol/session.py calls it."""
    opponent: str | None
    length: int | None
    """Points, 0 for unlimited; None while no match is on, or its length is not known."""
    score: tuple[int, int] | None
    """Ours first."""
    game: str | None
    """The game, if it is not backgammon; None also while no match is on."""
    chouette: str | None
    """The player whose invitation to a chouette we have taken, while we have a seat at it."""
    paused: bool
    finishing: bool
    saved: int
    """Saved matches that can be resumed."""
    stuck: int
    """How many of them were given up, because the server could not continue them."""
    given_up: tuple[str, ...]
    """Players with whom no match is started any more, because each one had to be left at once."""
    invitations: int
    """Invitations that wait for our answer."""
    ordered: tuple[str, ...]
    """Players whom an operator wants to be invited, and who were not yet."""
    blocked: tuple[str, ...]
    """Players whom orders have blocked."""
    counters: dict[str, int]

    @property
    def playing(self) -> bool:
        """Whether a match is on, or we have a seat at a chouette."""
        return self.opponent is not None or self.chouette is not None

    @property
    def sentence(self) -> str:
        """The status in words: `playing ford, 3-2 of 5`."""
        if self.chouette is not None:
            said = f"playing a chouette with {self.chouette}"
        elif self.opponent is None:
            said = "waiting for a match" if self.state == "LOBBY" else self.state.lower().replace("_", " ")
        else:
            score = f", {self.score[0]}-{self.score[1]}" if self.score else ""
            length = {None: "", 0: " unlimited"}.get(self.length, f" of {self.length}")
            game = "" if self.game is None else f" at {self.game}"
            said = f"playing {self.opponent}{game}{score}{length}"
        said += f", {plural(self.stuck, 'saved match')} stuck" if self.stuck else ""
        said += f", no more matches with {', '.join(self.given_up)}" if self.given_up else ""
        return said + (", then leaving" if self.finishing else ", paused" if self.paused else "")

    def as_dict(self) -> dict[str, Any]:
        """Return the status as a JSON object."""
        return {**asdict(self), "sentence": self.sentence}
