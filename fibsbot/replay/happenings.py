"""What a replay tells as it goes: one class a kind, in the order in which things happened."""

from __future__ import annotations

import datetime as dt
from functools import cached_property
from typing import TypeAlias

from attrs import frozen

from fibsbot.bot.track import Difference
from fibsbot.transcript import Decision, Game, Step, Transcript, decisions


@frozen
class MatchBegan:
    """A match begins, or goes on, or is first seen."""

    match: int
    """Number of the match in what is replayed, from 1."""
    transcript: Transcript
    """As far as it is known now: players, length; and, where it goes on, the games so far."""
    at: dt.datetime | None = None


@frozen
class GameBegan:
    """A game begins, or is first seen."""

    match: int
    game: Game
    """Without entries, unless it goes on after a break."""


@frozen
class Happened:
    """An entry of a game."""

    match: int
    step: Step

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """What was decided with it, in order."""
        return decisions(self.step)


@frozen
class Differed:
    """A `board:` line or a score contradicted what was known."""

    match: int
    game: int
    turn: int
    differences: tuple[Difference, ...]
    offset: int
    """Of the line, in bytes from the beginning of the capture."""
    at: dt.datetime | None = None


@frozen
class GameEnded:
    """A game is over, or nothing more is seen of it."""

    match: int
    game: Game


@frozen
class MatchEnded:
    """A match is over, or nothing more is seen of it: all that is known of it."""

    match: int
    transcript: Transcript


Happening: TypeAlias = MatchBegan | GameBegan | Happened | Differed | GameEnded | MatchEnded
