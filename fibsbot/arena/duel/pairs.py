"""One pair of a duel: the same dice twice, the seats swapped in between, and the luck that was in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from attrs import evolve, frozen

from fibsbot.arena.duel.dice import GameDice
from fibsbot.arena.duel.plan import DuelError, Plan
from fibsbot.arena.duel.playing import Course, Games, play_match
from fibsbot.arena.duel.tally import Pair, Performance
from fibsbot.bot.questions import Answer, Question
from fibsbot.formats.mat import write_mat
from fibsbot.rules.state import Seat
from fibsbot.strategies.judge import Judge
from fibsbot.study.analysis import Desk, StudyError
from fibsbot.study.model import Figures, MatchStudy
from fibsbot.transcript import Player, Transcript


class Answers(Protocol):
    """Whoever answers for a strategy; see `asking.Asker`."""

    def ask(self, question: Question) -> Answer:
        """Return an answer that is a possible one."""
        ...

    def collect(self) -> Performance:
        """Return what was counted since the last time."""
        ...


@frozen
class _Leg:
    """One of the two games or matches of a pair, seen by A."""

    result: float
    luck: float | None
    games: int
    figures: tuple[Figures, Figures]
    """Of A and of B."""
    unjudged: str = ""


class Room:
    """Where two strategies play pair after pair."""

    def __init__(
        self, plan: Plan, players: tuple[Answers, Answers], judge: Judge | None = None, mats: Path | None = None
    ) -> None:
        """Have A and B play; every game or match is written into the folder `mats`, if there is one."""
        self._plan = plan
        self._players = players
        self._desk = Desk(judge) if judge else None
        self._mats = mats

    def play(self, number: int) -> Pair:
        """Play a pair. Raises DuelError where a file cannot be written."""
        for player in self._players:
            player.collect()
        legs = tuple(self._leg(number, seat) for seat in Seat)
        luck = [it.luck for it in legs if it.luck is not None]
        return Pair(
            number,
            (legs[0].result, legs[1].result),
            (luck[0], luck[1]) if len(luck) == len(legs) else None,
            sum(it.games for it in legs),
            (self._performance(0, legs), self._performance(1, legs)),
            next((it.unjudged for it in legs if it.unjudged), ""),
        )

    def _leg(self, number: int, seat: Seat) -> _Leg:
        """Play with A at this seat."""
        plan = self._plan
        course = play_match(plan.laws, plan.length, partial(GameDice, plan.seed, number))
        games = answered(course, [self._players[it ^ seat].ask for it in Seat])
        names = [Player(plan.labels[it ^ seat]) for it in Seat]
        leg = f"{number + 1:06}{'ab'[seat]}"
        transcript = Transcript((names[0], names[1]), plan.length, games, given_id=f"duel-{plan.seed}-{leg}")
        if self._mats:
            _write(self._mats / f"{leg}.mat", transcript)
        try:
            study = self._desk.study(transcript) if self._desk else None
        except StudyError as error:
            return evolve(_seen(plan, transcript, seat), unjudged=str(error))
        return _seen(plan, transcript, seat, study)

    def _performance(self, place: int, legs: Sequence[_Leg]) -> Performance:
        figures = [it.figures[place] for it in legs]
        return evolve(
            self._players[place].collect(),
            judged=sum(it.decisions for it in figures),
            loss=sum(it.loss for it in figures),
        )


def answered(course: Course, ask: Sequence[Callable[[Question], Answer]]) -> Games:
    """Play a course to its end; `ask` has what answers for seat A and for seat B."""
    try:
        asked = next(course)
        while True:
            asked = course.send(ask[asked.seat](asked.question))
    except StopIteration as end:
        games: Games = end.value
        return games


def _seen(plan: Plan, transcript: Transcript, seat: Seat, study: MatchStudy | None = None) -> _Leg:
    """Sum up what A, at this seat, got."""
    games = transcript.games
    points = {it: transcript.scores[it] for it in Seat}
    result = float(points[seat] - points[seat.other])
    if plan.length:
        result = float(transcript.winner is seat)
    if study is None:
        return _Leg(result, None, len(games), (Figures(), Figures()))
    own, theirs = study.figures_of(seat), study.figures_of(seat.other)
    luck = own.luck_in_points - theirs.luck_in_points
    if plan.length:
        luck = own.luck_in_chances - theirs.luck_in_chances
    return _Leg(result, luck, len(games), (own, theirs))


def _write(path: Path, transcript: Transcript) -> None:
    """Write a file, or replace it, as a whole."""
    unfinished = path.with_suffix(f".{os.getpid()}.part")
    try:
        unfinished.write_text(write_mat(transcript), "utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise DuelError(f"cannot write {path}: {error.strerror}") from None
