"""Any single line of a match may be lost, in either direction: the match is finished all the same, and in order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import parse, parse_command

from fibsbot.bot.interface import End
from fibsbot.bot.settings import Timings
from fibsbot.match import MatchState
from fibsbot.strategies.base import CubeAction, CubeAnswer
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.simulation import Fault, Passing, Simulation, doubling, losing, stalling, unharmed

QUESTIONS: Final = ("board", "rawwho", "invite", "join ", "leave")
"""What can be too late without being wrong: it asks, or comes when the other has just gone."""
IDLE_WORDS: Final = {"motd_start", "motd_line", "motd_end", "unknown"}
"""Lines that nobody waits for."""
RECOVERY: Final = 420.0
"""Seconds that a lost line may cost: five looks at the board, a minute each, and a new connection."""


class Lively(RandomStrategy):
    """Doubles and resigns all the time."""

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Double."""
        return CubeAnswer(CubeAction.DOUBLE if self._happens(0.25) else CubeAction.ROLL)

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - as above
        """Resign."""
        return int(self._happens(0.06))

    def accept_resignation(self, state: MatchState) -> bool:  # noqa: ARG002 - as above
        """Mostly play on."""
        return self._happens(0.25)


@contextmanager
def match(seed: int, fault: Fault = unharmed, length: int = 3, timings: Timings | None = None) -> Iterator[Simulation]:
    """Let two bots play a match, and wait for both to be through with it."""
    bottle = Simulation(seed, fault=fault)
    timings = timings or Timings()
    bottle.add("marvin", Lively(seed), invite="ford", length=length, timings=timings)
    bottle.add("ford", Lively(seed + 1), timings=timings)
    bottle.run(4 * 3600)
    try:
        yield bottle
    finally:
        bottle.close()


def kind_of(line: Passing) -> str:
    """Return what kind of line it is."""
    if line.down:
        return parse(line.text).kind()
    try:
        return parse_command(line.text).kind()
    except CommandError:
        return line.text


def lines_of(seed: int, length: int = 3) -> tuple[list[Passing], float]:
    """Play a match without any fault; return a line of each kind and direction, and how long it took."""
    passed: dict[tuple[bool, str], list[Passing]] = {}

    def note(line: Passing) -> list[tuple[float, str]]:
        passed.setdefault((line.down, kind_of(line)), []).append(line)
        return unharmed(line)

    with match(seed, note, length) as bottle:
        check(bottle, 4 * 3600)
    rng = random.Random(seed)
    return [rng.choice(lines) for (_, kind), lines in passed.items() if kind not in IDLE_WORDS], bottle.now


def check(bottle: Simulation, seconds: float) -> None:
    """Make sure that both have finished the match, in time and without a wrong command."""
    check_server(bottle)
    for bot in bottle.bots.values():
        assert (End.FINISHED, 1) == (bot.end, bot.agent.counters.matches), bot.reasons
        assert 1 == len(bot.named("match_ended"))
    assert bottle.now <= seconds
    final = [bot.named("match_ended")[0]["score"] for bot in bottle.bots.values()]
    assert final[0] == final[1][::-1]


def check_server(bottle: Simulation) -> None:
    """Make sure that the match is over, and that nobody has said anything wrong."""
    saved = bottle.world.database.match("marvin", "ford")
    assert saved is not None
    assert saved.over
    assert [] == [refusal for refusal in bottle.refusals if not refusal[1].startswith(QUESTIONS)]


@pytest.mark.slow
def test_whatever_line_is_lost_the_match_is_finished() -> None:
    chosen, usual = lines_of(29)
    assert 40 < len(chosen), "few kinds of lines were tried"
    for line in chosen:
        with match(29, losing(line.bot, line.number, down=line.down)) as bottle:
            check(bottle, usual + RECOVERY)


@pytest.mark.slow
def test_whatever_line_comes_twice_nothing_is_answered_twice() -> None:
    chosen, usual = lines_of(8, length=1)
    for line in chosen:
        if line.down and kind_of(line) != "login_prompt":  # a second prompt says that the password is wrong
            with match(8, doubling(line.bot, line.number, down=True), length=1) as bottle:
                check(bottle, usual + 60)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [10, 40, 400])
def test_whatever_line_is_late_nothing_is_answered_twice(seconds: float) -> None:
    """Who has no connection at the very end never hears how the match ended; the server knows."""
    chosen, usual = lines_of(8, length=1)
    for line in random.Random(seconds).sample(chosen, 8):
        with match(8, stalling(line.bot, line.number, seconds, down=line.down), length=1) as bottle:
            check_server(bottle)
            assert any(bot.end for bot in bottle.bots.values())
            assert seconds >= 400 or bottle.now <= usual + seconds + RECOVERY


def test_an_offer_to_resign_that_is_lost_is_made_up_for_by_a_new_connection() -> None:
    with match(3, losing("ford", 56, down=True)) as bottle:
        marvin, ford = bottle.bots["marvin"], bottle.bots["ford"]
        assert "marvin and we wait for each other" in ford.reasons
        assert ["resumed"] == ["resumed" for started in marvin.named("match_started") if started["resumed"]]
        check(bottle, 4 * 3600)
