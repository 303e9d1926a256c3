"""Matches of any game, played by the rules alone, for tests of what is made from transcripts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Protocol

from attrs import define, field

from fibsbot.games import load_ruleset
from fibsbot.match import CubeAction, MatchState, Phase
from fibsbot.position import Play
from fibsbot.rules.game import choices, next_game, roll_opening, start_match_of
from fibsbot.rules.permissions import match_winner, refusal_to_double
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.base import CubeAnswer, PlayAnswer
from fibsbot.transcript import Contest, Continuation, Cube, Entry, Game, Named, Player, Throw, Transcript, apply

MOST_ENTRIES: Final = 2000
"""A longer game is given up."""


class MatchPlayer(Protocol):
    """What a match needs of a strategy."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer: ...  # noqa: D102
    def choose_name(self, state: MatchState) -> int: ...  # noqa: D102
    def offer_double(self, state: MatchState) -> CubeAnswer: ...  # noqa: D102
    def answer_double(self, state: MatchState) -> CubeAnswer: ...  # noqa: D102


class RacingPlayer:
    """Plays for the race and at random: quick, and games end soon."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Choose any of the plays with the most checkers borne off."""
        most = max(sum(move.target == 0 for move in play.moves) for play in plays)
        return PlayAnswer(
            self._random.choice([play for play in plays if sum(move.target == 0 for move in play.moves) == most])
        )

    def choose_name(self, state: MatchState) -> int:
        """Choose any."""
        return self._random.choice(state.names)

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002
        """Double now and then."""
        return CubeAnswer(CubeAction.DOUBLE if self._random.random() < 0.1 else CubeAction.ROLL)

    def answer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002
        """Take most doubles."""
        return CubeAnswer(CubeAction.TAKE if self._random.random() < 0.8 else CubeAction.PASS)


def play_match(
    game: str,
    length: int,
    seed: int,
    player: MatchPlayer | None = None,
    *,
    most: int = 3,
    entries: int = MOST_ENTRIES,
) -> Transcript:
    """Return a match of a game, which ends after `most` games if nobody has won it; one player has both seats.

    It breaks off after this number of entries of a game. Without a player, it is played once.
    """
    return (
        _played(game, length, seed, most, entries)
        if player is None
        else _play(game, length, seed, player, most, entries)
    )


@lru_cache(64)
def _played(game: str, length: int, seed: int, most: int, entries: int) -> Transcript:
    return _play(game, length, seed, RacingPlayer(seed), most, entries)


def _play(  # noqa: PLR0917 - all that makes a match
    game: str, length: int, seed: int, player: MatchPlayer, most: int, entries: int
) -> Transcript:
    rng, state = random.Random(seed), start_match_of(load_ruleset(game), length)
    games: list[Game] = []
    while len(games) < most:
        record = _Record(state, player, rng)
        end = record.play(entries)
        games.append(Game(len(games) + 1, record.start, tuple(record.entries), end.result))
        if end.stage is not Stage.OVER or match_winner(end) is not None:
            break
        state = next_game(end)
    return Transcript((Player("alice"), Player("bob")), length, tuple(games), user=Seat.A)


@define
class _Record:
    """A game that is being played."""

    start: GameState
    player: MatchPlayer
    random: random.Random
    entries: list[Entry] = field(factory=list)

    def play(self, most: int) -> GameState:
        """Play to the end, or until there are so many entries; return the state then."""
        state = self.start
        while state.stage is not Stage.OVER and len(self.entries) < most:
            if state.stage is Stage.OPENING:
                state = self._open(state)
                continue
            entry = self._next_entry(state)
            state = apply(state, entry)
            self.entries.append(entry)
        return state

    def _dice(self, count: int) -> tuple[int, ...]:
        return tuple(self.random.randint(1, 6) for _ in range(count))

    def _open(self, state: GameState) -> GameState:
        """Roll for who begins; the roll is an entry only if the winner plays it."""
        one, other = self._dice(2)
        opened = roll_opening(state, one, other)
        if opened.stage is Stage.MOVE:
            entry = self._throw(opened, opened.turn, (max(one, other), min(one, other)))
            self.entries.append(entry)
            return apply(state, entry)
        self.start = opened
        return opened

    def _next_entry(self, state: GameState) -> Entry:
        if state.stage is Stage.CONTEST:
            one, other = self.random.sample(range(2, 13), 2)
            return Contest(totals=(one, other))
        seat = state.decides
        assert seat is not None
        decision = MatchState.of(state, seat)
        assert decision is not None
        match decision.phase:
            case Phase.NAME:
                assert decision.names == choices(state)
                return Named(seat=seat, number=self.player.choose_name(decision))
            case Phase.DOUBLED:
                return Cube(seat=seat, action=self.player.answer_double(decision).action)
            case Phase.MOVE:
                return Continuation(seat=seat, play=self._play(decision))
        doubles = not refusal_to_double(state, seat)
        if doubles and self.player.offer_double(decision).action is CubeAction.DOUBLE:
            return Cube(seat=seat, action=CubeAction.DOUBLE)
        dice = tuple(sorted(self._dice(state.rules.dice), reverse=True))
        return self._throw(apply(state, Throw(seat=seat, dice=dice)), seat, dice)

    def _throw(self, rolled: GameState, seat: Seat, dice: tuple[int, ...]) -> Throw:
        decision = MatchState.of(rolled, seat) if rolled.stage is Stage.MOVE and rolled.turn is seat else None
        return Throw(seat=seat, dice=dice, play=None if decision is None else self._play(decision))

    def _play(self, decision: MatchState) -> Play:
        plays = decision.plays
        if len(plays) > 1:
            return self.player.choose_play(decision, plays).play
        return plays[0] if plays else Play()
