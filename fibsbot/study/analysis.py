"""Studies a match: every decision of both players judged, and the luck of every throw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeAlias

from attrs import evolve, frozen

from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules import game as rules
from fibsbot.strategies.judge import Judge
from fibsbot.study.examining import Examiner
from fibsbot.study.model import Figures, GameStudy, Judged, MatchStudy, summed
from fibsbot.study.throwing import Throws, is_opening
from fibsbot.study.units import chances_in_one
from fibsbot.transcript import Game, Step, Throw, Transcript, TranscriptError, decisions, walk

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many entries of how many have been studied."""


class StudyError(ValueError):
    """A match cannot be studied; the text is one line and says where and why."""


def study(transcript: Transcript, judge: Judge, *, luck: bool = True, progress: Progress | None = None) -> MatchStudy:
    """Judge every decision of a match and, unless told not to, work out the luck of every throw, which takes longer.

    Nothing is judged across a gap. The same transcript and judge give the same study. Raises TranscriptError where
    something illegal stands in the transcript, StudyError where the judge fails.
    """
    return Desk(judge).study(transcript, luck=luck, progress=progress)


@frozen
class Found:
    """What one entry shows: about decisions, and about a throw, whose play may be unknown."""

    judged: tuple[Judged, ...]
    figures: tuple[Figures, Figures]


class Desk:
    """Studies one match after the other, and remembers what it has asked the judge."""

    def __init__(self, judge: Judge, luck_judge: Judge | None = None) -> None:
        """Ask this judge; about luck another one, if one is given.

        Luck asks for 21 times as much as decisions do, and is no less fair if a quicker judge tells it.
        """
        self._judge = judge
        self._examiner = Examiner(judge)
        self._throws = Throws(luck_judge) if luck_judge else self._examiner.throws

    def study(self, transcript: Transcript, *, luck: bool = True, progress: Progress | None = None) -> MatchStudy:
        """Study a match; see the function of this name."""
        of = sum(len(game.entries) for game in transcript.games)
        found = []
        for done, step in enumerate((step for game in transcript.games for step in walk(game)), start=1):
            found.append(self.entry(step, luck=luck))
            if progress:
                progress(done, of)
        return match_study(transcript, self.judge, found, self.details)

    @property
    def judge(self) -> str:
        """Name of the strategy that judges."""
        return self._judge.name

    @property
    def details(self) -> str:
        """Version, networks and plies of the strategy that judges; empty where it does not say them."""
        return str(getattr(self._judge, "details", ""))

    def entry(self, step: Step, *, luck: bool) -> Found:
        """Judge the decisions of one entry, and its throw; raise StudyError where the judge fails."""
        try:
            return self._entry(step, luck=luck)
        except Exception as error:
            place = f"game {step.game}, turn {step.turn}"
            what = " ".join(f"{type(error).__name__}: {error}".split())
            raise StudyError(f"{place}: {self.judge} cannot judge: {what}") from error

    def _entry(self, step: Step, *, luck: bool) -> Found:
        judged = [self._examiner.examine(decision) for decision in decisions(step)]
        figures = [Figures(), Figures()]
        for one in judged:
            seat = one.decision.seat
            figures[seat] += _figures(one)
        if luck and isinstance(step.entry, Throw):
            state = _thrown(step, step.entry, judged)
            lucky = self._throws.luck(state, opening=is_opening(step.before))
            judged = [evolve(it, luck=lucky) if isinstance(it.decision.answer, Play) else it for it in judged]
            seat = step.entry.seat
            figures[seat] += self._lucky(state, lucky)
        return Found(tuple(judged), (figures[0], figures[1]))

    def _lucky(self, state: MatchState, luck: float) -> Figures:
        in_chances = luck * chances_in_one(self._judge, state)
        return Figures(luck=luck, luck_in_points=luck * state.cube, luck_in_chances=in_chances)


def match_study(transcript: Transcript, judge: str, found: Sequence[Found], details: str = "") -> MatchStudy:
    """Return the study of a match of what all its entries show, in their order; `judge` is who judged."""
    left = iter(found)
    games = tuple(_game_study(game, list(islice(left, len(game.entries)))) for game in transcript.games)
    return MatchStudy(transcript, judge, games, summed(game.figures for game in games), details)


def _game_study(game: Game, found: list[Found]) -> GameStudy:
    return GameStudy(game.number, tuple(it for one in found for it in one.judged), summed(it.figures for it in found))


def _thrown(step: Step, throw: Throw, judged: Iterable[Judged]) -> MatchState:
    """Return the state with the throw on the board, also of one that was not seen to be played."""
    played = (it.decision.state for it in judged if isinstance(it.decision.answer, Play))
    state = next(played, None) or rules.decision(step.after, throw.seat)
    if state is None:
        raise TranscriptError(f"expected a throw that is to be played, got {throw}")
    return state


def _figures(judged: Judged) -> Figures:
    """Return what one decision adds to the figures of who made it, luck left out."""
    if not judged.counts:
        return Figures()
    match judged.decision.answer:
        case Play():
            return Figures(decisions=1, loss=judged.loss, play_loss=judged.loss)
        case _ if judged.cube is not None:
            return Figures(decisions=1, loss=judged.loss, cube_loss=judged.loss)
    return Figures(decisions=1, loss=judged.loss)
