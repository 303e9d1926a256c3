"""The match in progress, from its start to its end or interruption, and the bot's status as operators see it."""

from __future__ import annotations

from typing import Any

from attrs import asdict, evolve, frozen
from fibs_protocol import commands as c
from fibs_protocol import messages as m
from fibs_protocol.messages import Message
from fibs_protocol.session import State
from fibs_protocol.words import YOU, Departure

from fibsbot.bot.command_queue import CommandQueue
from fibsbot.bot.context import AgentContext
from fibsbot.bot.lobby import Lobby
from fibsbot.fibs import length_from_fibs
from fibsbot.text import plural


@frozen
class CurrentMatch:
    """The match that we are in."""

    opponent: str
    length: int | None
    """Points, 0 for unlimited; None for a resumed match before its first board."""
    agreed: int | None
    """The length that we agreed to; None where anything within our limits will do."""
    swapped: bool = False
    """Whether it is another match than the one that we agreed to, which we leave."""
    unwanted: bool = False
    """Whether it was given up before, and goes on against our will."""
    final: tuple[int, int] | None = None
    """The score at which we have left it, because a board showed that it was over."""
    game_began: bool = False
    """Whether a game has begun before the first board of a resumed match; it is recorded after that."""


class Matches:
    """Starts, joins, counts and ends matches and their games."""

    def __init__(self, desk: AgentContext, outbox: CommandQueue, lobby: Lobby) -> None:
        """Be in no match."""
        self._desk = desk
        self._outbox = outbox
        self._lobby = lobby
        self.current: CurrentMatch | None = None

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
            case m.LoggedOut() if self.current and message.name == self.current.opponent and not self.final_score:
                self._outbox.say(c.ShowBoard())  # some servers say nothing else about the match
            case m.OpponentGone() | m.YourGameSaved() | m.YouLeft() | m.NotPlaying() | m.NobodyToLeave() | m.JoinWho():
                self._break_off(message.kind(), message.how if isinstance(message, m.OpponentGone) else None)

    def _start(self, opponent: str, length: int | None, *, ours: bool) -> None:
        """Begin a match; without a length, go on with a saved one. `ours`: the other has accepted our invitation."""
        if self.current is not None:
            self._break_off("another match began")
        memory, resumed = self._desk.memory, length is None
        agreed = self._lobby.agreed_length(opponent, resumed=resumed, ours=ours)
        if not resumed:
            memory.was_stuck(opponent, None)  # the server has thrown the saved match away
        self.current = CurrentMatch(opponent, length, agreed, unwanted=memory.of(opponent).stuck is not None)
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
            self._start_unannounced(board.opponent, length, begun=board.score + board.opponent_score > 0)
        if self.current and self.current.length is None:
            self.current = evolve(self.current, length=length)
            self._desk.record(
                "match_resumed", opponent=board.opponent, length=length, score=[board.score, board.opponent_score]
            )
            if self.current.game_began:
                self._record_game(self.current)
            self._check_length(length)

    def _start_unannounced(self, opponent: str, length: int, *, begun: bool) -> None:
        """Begin a match of which a board is the first sign: a new one if we have agreed to one of this length.

        JIBS tells who joins an invitation no length. `begun`: somebody has points, so that it was saved before.
        """
        for ours in (False, True):
            if not begun and self._lobby.agreed_length(opponent, resumed=False, ours=ours) == length:
                self._start(opponent, length, ours=ours)
                return
        self._start(opponent, None, ours=False)

    def _on_game_starts(self) -> None:
        if self.current and self.current.length is None:
            self.current = evolve(self.current, game_began=True)
        elif self.current:
            self._record_game(self.current)

    def _record_game(self, match: CurrentMatch) -> None:
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

    # -- the end ------------------------------------------------------------------------------------------------

    @property
    def final_score(self) -> tuple[int, int] | None:
        """The score if somebody has all points of the match, so that only the line that says so is missing.

        Where all checkers of one side are off, and no line says that the game is over, it is worth the cube at least.
        """
        state, track = self._desk.track.state, self._desk.track
        if state is None or not state.length or self.current is None:
            return None
        mine, theirs = state.score
        if track.running and state.position.over:
            won = state.position.off > state.position.opponent_off
            mine, theirs = (mine + state.cube, theirs) if won else (mine, theirs + state.cube)
        return (mine, theirs) if max(mine, theirs) >= state.length else None

    @property
    def unwanted(self) -> bool:
        """Whether we are in a match that was given up, and goes on against our will."""
        return self.current is not None and self.current.unwanted

    def conclude(self) -> bool:
        """Take a match for over although the line that says so did not come; return whether we still have to leave it.

        Where only a board says so, the server may keep the match: it is not gone on with again.
        """
        score, state, match = self.final_score, self._desk.track.state, self.current
        if score is None or state is None or match is None:
            return False
        if self._desk.track.running:
            self.current = evolve(match, final=score)
            self.note_stuck(match.opponent, match.length, "the server does not end a match that is over")
            return True
        self._desk.session.state = State.LOBBY
        self._over(state.length, score)
        return False

    def give_up(self, why: str) -> None:
        """Take the match that is on for one that this server cannot go on with."""
        if self.current is not None:
            self.note_stuck(self.current.opponent, self.current.length, why)

    def note_stuck(self, opponent: str, length: int | None, why: str) -> None:
        """Remember that this server cannot go on with our match with this player, and that we do not rejoin it."""
        if self._desk.memory.of(opponent).stuck is None:
            self._desk.memory.was_stuck(opponent, self._desk.now)
            self._desk.counters.stuck += 1
            self._desk.record("match_stuck", opponent=opponent, length=length, why=why)

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
        limit = self._desk.settings.play.matches
        if limit is not None and self._desk.counters.matches >= limit:
            self._desk.finishing = True

    def _break_off(self, why: str, how: Departure | None = None) -> None:
        """Take the match for saved. `how` is how the opponent went, if it was the opponent.

        A match that has been won is over, although the line that says so got lost.
        """
        match, state = self.current, self._desk.track.state
        if match is None:
            return
        if state and (score := match.final or self.final_score):
            self._over(state.length, score)
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


@frozen
class BotStatus:
    """One bot at one moment. Times of the run itself are added by whoever runs it."""

    account: str
    state: str
    """State of the connection, as protocol/fibs_protocol/session.py calls it."""
    opponent: str | None
    length: int | None
    """Points, 0 for unlimited; None while no match is on, or its length is not known."""
    score: tuple[int, int] | None
    """Ours first."""
    paused: bool
    finishing: bool
    saved: int
    """Saved matches that wait to be resumed."""
    stuck: int
    """How many of them were given up, because the server could not go on with them."""
    invitations: int
    """Invitations that wait for our answer."""
    counters: dict[str, int]

    @property
    def sentence(self) -> str:
        """Say it as people do: `playing ford, 3-2 of 5`."""
        if self.opponent is None:
            said = "waiting for a match" if self.state == "LOBBY" else self.state.lower().replace("_", " ")
        else:
            score = f", {self.score[0]}-{self.score[1]}" if self.score else ""
            length = {None: "", 0: " unlimited"}.get(self.length, f" of {self.length}")
            said = f"playing {self.opponent}{score}{length}"
        said += f", {plural(self.stuck, 'saved match')} stuck" if self.stuck else ""
        return said + (", then leaving" if self.finishing else ", paused" if self.paused else "")

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON can write it."""
        return {**asdict(self), "sentence": self.sentence}


def bot_status(desk: AgentContext, matches: Matches, lobby: Lobby) -> BotStatus:
    """Look at an agent's parts."""
    match, state = matches.current, desk.track.state
    return BotStatus(
        account=desk.settings.name,
        state=desk.session.state.name,
        opponent=match.opponent if match else None,
        length=match.length if match else None,
        score=state.score if match and state else None,
        paused=desk.paused,
        finishing=desk.finishing,
        saved=len(lobby.saved),
        stuck=sum(desk.memory.of(name).stuck is not None for name in lobby.saved),
        invitations=lobby.waiting,
        counters=desk.counters.as_dict(),
    )
