"""Studies a match: every decision of both players judged, and the luck of every throw."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
class _Found:
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
        tick = _counting(of, progress)
        games = tuple(self._game(game, tick, luck=luck) for game in transcript.games)
        return MatchStudy(transcript, self._judge.name, games, summed(game.figures for game in games))

    def _game(self, game: Game, tick: Callable[[], None], *, luck: bool) -> GameStudy:
        found = []
        for step in walk(game):
            try:
                found.append(self._entry(step, luck=luck))
            except Exception as error:
                place = f"game {step.game}, turn {step.turn}"
                what = " ".join(f"{type(error).__name__}: {error}".split())
                raise StudyError(f"{place}: {self._judge.name} cannot judge: {what}") from error
            tick()
        judged = tuple(it for one in found for it in one.judged)
        return GameStudy(game.number, judged, summed(one.figures for one in found))

    def _entry(self, step: Step, *, luck: bool) -> _Found:
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
        return _Found(tuple(judged), (figures[0], figures[1]))

    def _lucky(self, state: MatchState, luck: float) -> Figures:
        in_chances = luck * chances_in_one(self._judge, state)
        return Figures(luck=luck, luck_in_points=luck * state.cube, luck_in_chances=in_chances)


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


def _counting(of: int, progress: Progress | None) -> Callable[[], None]:
    done = iter(range(1, of + 1))

    def tick() -> None:
        if progress:
            progress(next(done), of)

    return tick
