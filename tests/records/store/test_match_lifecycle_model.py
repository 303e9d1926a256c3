"""Whole evenings from a model of a server, told with losses, repetitions and restarts: the rows never contradict."""

from __future__ import annotations

import datetime as dt
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from attrs import define, field
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fibsbot.records.store import Store, StoreWriter
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.records.stored_rows import MatchOutcome
from tests.examples import examples
from tests.records.store.recorder import NOON, XGID, writing

Told: TypeAlias = tuple[str, dict[str, Any]]
FAULTS: Final = ("lost", "twice", "restart")
_accounts = itertools.count()


@define
class Match:
    """A match as the server has it."""

    length: int
    score: list[int] = field(factory=lambda: [0, 0])
    between: bool = False
    """Whether no game is on."""


@define
class Evening:
    """Plays matches by chance, and yields what a bot would put into the store."""

    chance: random.Random
    rating: float = 1500.0
    experience: int = 100
    saved: dict[str, Match] = field(factory=dict)
    ended: list[tuple[str, bool]] = field(factory=list)
    """Opponents and whether we won, in their order."""

    def tell(self, steps: int) -> Iterator[Told]:
        """Yield what happens."""
        yield from self.log_in()
        for _ in range(steps):
            opponent = self.chance.choice(("ford", "arthur"))
            yield from self.sit_down(opponent)

    def log_in(self) -> Iterator[Told]:
        """Log in; the server tells our rating and our saved matches."""
        yield "logged_in", {"name": "x"}
        yield self.rated()
        yield "saved_matches", {"opponents": list(self.saved)}

    def rated(self) -> Told:
        """Tell our rating."""
        return "rating", {"rating": self.rating, "experience": self.experience}

    def sit_down(self, opponent: str) -> Iterator[Told]:
        """Begin a match or go on with one, and play."""
        match = self.saved.pop(opponent, None)
        if match is not None and self.chance.random() < 0.8:
            yield "match_started", {"opponent": opponent, "length": None, "resumed": True}
            yield "match_resumed", {"opponent": opponent, "length": match.length, "score": list(match.score)}
        else:
            match = Match(self.chance.choice((1, 3, 5)))
            yield "match_started", {"opponent": opponent, "length": match.length, "resumed": False}
            match.between = True
        yield from self.play(opponent, match)

    def play(self, opponent: str, match: Match) -> Iterator[Told]:
        """Play until the match is over or breaks off."""
        for turn in itertools.count(1):
            if self.chance.random() < 0.1:
                self.saved[opponent] = match
                yield "match_saved", {"opponent": opponent, "length": match.length, "why": "opponent_gone"}
                return
            if match.between:
                match.between = False
                yield "game_started", {"opponent": opponent, "game": 1}
            yield "decision", {"phase": "move", "turn": turn, "xgid": XGID, "dice": (3, 1), "answer": "8/5 6/5"}
            if self.chance.random() < 0.3:
                yield from self.end_game(opponent, match)
                if max(match.score) >= match.length:
                    yield from self.end_match(opponent, match)
                    return

    def end_game(self, opponent: str, match: Match) -> Iterator[Told]:
        """End a game by chance; the score is not always known."""
        won, points = self.chance.random() < 0.5, self.chance.choice((1, 1, 2, 3))
        match.score[not won] += points
        match.between = True
        known = self.chance.random() < 0.9
        fields = {"winner": "You" if won else opponent, "points": points, "how": "game_won"}
        yield "game_ended", {**fields, "score": list(match.score) if known else None}

    def end_match(self, opponent: str, match: Match) -> Iterator[Told]:
        """End the match; the new rating comes before or after."""
        won = match.score[0] > match.score[1]
        self.rating += 2.0 if won else -2.0
        self.experience += match.length
        self.ended.append((opponent, won))
        fields = {"opponent": opponent, "length": match.length, "won": won, "score": list(match.score)}
        yield from self.chance.sample([("match_ended", fields), self.rated()], 2)


def faulty(told: Iterator[Told], evening: Evening, faults: float) -> Iterator[Told]:
    """Lose some of what is told, say some twice, and let the process die now and then."""
    for name, fields in told:
        fault = evening.chance.choice(FAULTS) if evening.chance.random() < faults else ""
        if fault == "restart":
            yield from evening.log_in()
        if fault != "lost":
            yield name, fields
        if fault == "twice":
            yield name, fields


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, StoreWriter]]:
    path = tmp_path_factory.mktemp("model") / "store.sqlite"
    with writing(path) as writer:
        yield path, writer


def put(writer: StoreWriter, told: Iterator[Told]) -> str:
    """Put what is told into the store, a second each, for a new account."""
    account = f"bot{next(_accounts)}"
    for number, (name, fields) in enumerate(told):
        writer.put(account, name, fields, NOON + dt.timedelta(seconds=number))
    assert writer.flush()
    return account


@pytest.mark.slow
@settings(examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chance=st.randoms(use_true_random=False), steps=st.integers(1, 8))
def test_without_faults_every_match_has_its_end(
    store: tuple[Path, StoreWriter], chance: random.Random, steps: int
) -> None:
    path, writer = store
    evening = Evening(chance)
    account = put(writer, evening.tell(steps))
    with Store.open(path) as opened:
        assert [] == [problem for problem in check_integrity(opened).problems if f"{account} " in problem]
        matches = list(opened.matches(account=account))
    finished = sorted((it for it in matches if it.finished), key=lambda it: (it.ended, it.id))
    assert evening.ended == [(it.opponent, bool(it.won)) for it in finished]
    assert [2.0 if won else -2.0 for _, won in evening.ended] == [it.gain for it in finished]
    saved = {it.opponent: (it.length, it.score) for it in matches if it.outcome is MatchOutcome.SAVED}
    assert {name: (it.length, (it.score[0], it.score[1])) for name, it in evening.saved.items()} == saved


@pytest.mark.slow
@settings(examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chance=st.randoms(use_true_random=False), steps=st.integers(1, 8), faults=st.floats(0.02, 0.4))
def test_lost_or_repeated_records_never_lead_to_contradictory_rows(
    store: tuple[Path, StoreWriter], chance: random.Random, steps: int, faults: float
) -> None:
    path, writer = store
    evening = Evening(chance)
    account = put(writer, faulty(evening.tell(steps), evening, faults))
    with Store.open(path) as opened:
        # A decision told twice is one made twice, which the check is there to find; it does not name the account.
        assert [] == [problem for problem in check_integrity(opened).problems if f"{account} " in problem]
