"""Any single line of a match may be lost in either direction: the match is still finished correctly."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from fibs_protocol.errors import CommandError
from fibs_protocol.grammar import parse, parse_command
from fibsbot.bot.events_and_actions import End
from fibsbot.bot.settings import Timings
from fibsbot.match import MatchState
from fibsbot.strategies.base import CubeAction, CubeAnswer
from fibsbot.strategies.random_play import RandomStrategy
from tests.bot.simulation import Fault, LateAnswers, Passing, Simulation, doubling, losing, stalling, unharmed

QUESTIONS: Final = ("board", "rawwho", "invite", "join ", "leave")
"""Commands that may be refused without being wrong: they ask, or cross the opponent's departure."""
GAME_KINDS: Final = {"roll", "move", "double", "redouble", "accept", "reject", "resign", "join"}
"""Commands that carry out a decision in a match, or join its next game."""
IDLE_WORDS: Final = {"motd_start", "motd_line", "motd_end", "unknown"}
"""Lines that the bots do not wait for."""
RECOVERY: Final = 420.0
"""Maximum delay by a lost line in seconds: five requests of the board, a minute each, and a new connection."""


class DoublingStrategy(RandomStrategy):
    """Doubles and resigns often."""

    def offer_double(self, state: MatchState) -> CubeAnswer:  # noqa: ARG002 - the interface
        """Double."""
        return CubeAnswer(CubeAction.DOUBLE if self._happens(0.25) else CubeAction.ROLL)

    def resign(self, state: MatchState) -> int:  # noqa: ARG002 - as above
        """Resign."""
        return int(self._happens(0.06))

    def accept_resignation(self, state: MatchState) -> bool:  # noqa: ARG002 - as above
        """Usually reject."""
        return self._happens(0.25)


@contextmanager
def match(seed: int, fault: Fault = unharmed, length: int = 3, timings: Timings | None = None) -> Iterator[Simulation]:
    """Play a match between two bots until both have ended."""
    simulation = Simulation(seed, fault=fault)
    timings = timings or Timings()
    simulation.add("marvin", DoublingStrategy(seed), invite="ford", length=length, timings=timings)
    simulation.add("ford", DoublingStrategy(seed + 1), timings=timings)
    simulation.run(4 * 3600)
    try:
        yield simulation
    finally:
        simulation.close()


def kind_of(line: Passing) -> str:
    """Return the kind of a line."""
    if line.down:
        return parse(line.text).kind()
    try:
        return parse_command(line.text).kind()
    except CommandError:
        return line.text


@functools.cache
def lines_of(seed: int, length: int = 3) -> tuple[list[Passing], float]:
    """Play a match without faults; return a line of each kind and direction, and the duration."""
    passed: dict[tuple[bool, str], list[Passing]] = {}

    def note(line: Passing) -> list[tuple[float, str]]:
        passed.setdefault((line.down, kind_of(line)), []).append(line)
        return unharmed(line)

    with match(seed, note, length) as simulation:
        check(simulation, 4 * 3600)
    rng = random.Random(seed)
    return [rng.choice(lines) for (_, kind), lines in passed.items() if kind not in IDLE_WORDS], simulation.now


def shares(parts: int) -> list[object]:
    """Return the parts into which lines are divided as parameters; all but the first are thorough."""
    return [pytest.param(part, marks=[pytest.mark.thorough] if part else []) for part in range(parts)]


def check(simulation: Simulation, seconds: float) -> None:
    """Check that both have finished the match in time and without a wrong command."""
    check_server(simulation)
    for bot in simulation.bots.values():
        assert (End.FINISHED, 1) == (bot.end, bot.agent.counters.matches), bot.reasons
        assert 1 == len(bot.named("match_ended"))
    assert simulation.now <= seconds
    final = [bot.named("match_ended")[0]["score"] for bot in simulation.bots.values()]
    assert final[0] == final[1][::-1]


def check_server(simulation: Simulation) -> None:
    """Check that the match is over, and that there were no wrong commands."""
    saved = simulation.world.database.match("marvin", "ford")
    assert saved is not None
    assert saved.over
    assert [] == [refusal for refusal in simulation.refusals if not refusal[1].startswith(QUESTIONS)]
    assert [] == simulation.repeated


@pytest.mark.slow
@pytest.mark.parametrize("share", shares(3))
def test_a_match_is_finished_whichever_line_is_lost(share: int) -> None:
    chosen, usual = lines_of(24)
    assert 40 < len(chosen), "few kinds of lines were tried"
    for line in chosen[share::3]:
        with match(24, losing(line.bot, line.number, down=line.down)) as simulation:
            check(simulation, usual + RECOVERY)


@pytest.mark.slow
def test_nothing_is_answered_twice_whichever_line_is_duplicated() -> None:
    chosen, usual = lines_of(114, length=1)
    for line in chosen:
        if line.down and kind_of(line) != "login_prompt":  # a second prompt says that the password is wrong
            with match(114, doubling(line.bot, line.number, down=True), length=1) as simulation:
                check(simulation, usual + 60)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [10, 40, 400])
def test_nothing_is_answered_twice_whichever_line_is_late(seconds: float) -> None:
    """A bot without a connection at the end does not learn the result; the server has it."""
    chosen, usual = lines_of(114, length=1)
    for line in random.Random(seconds).sample(chosen, 8):
        with match(114, stalling(line.bot, line.number, seconds, down=line.down), length=1) as simulation:
            check_server(simulation)
            assert any(bot.end for bot in simulation.bots.values())
            assert seconds >= 400 or simulation.now <= usual + seconds + RECOVERY


@pytest.mark.slow
@pytest.mark.parametrize("share", shares(3))
def test_nothing_is_answered_twice_if_the_answer_is_two_watchdogs_late_and_an_old_board_comes_before_it(
    share: int,
) -> None:
    """The watchdog asks for the board after 8 s; what comes at 9 s is older than the command."""
    chosen, _ = lines_of(24)
    commands = [line for line in chosen if not line.down and kind_of(line) in GAME_KINDS]
    assert {"roll", "move", "double", "accept", "reject", "resign", "join"} <= {kind_of(line) for line in commands}
    for line in commands[share::3]:
        for seconds in (18.0, 21.0, 24.5):
            with match(24, LateAnswers(line.bot, line.number, 9.0, seconds)) as simulation:
                check_server(simulation)


@pytest.mark.slow
def test_a_new_connection_recovers_a_lost_offer_to_resign() -> None:
    with match(3, losing("ford", 55, down=True)) as simulation:
        marvin, ford = simulation.bots["marvin"], simulation.bots["ford"]
        assert "marvin and we wait for each other" in ford.reasons
        assert ["resumed"] == ["resumed" for started in marvin.named("match_started") if started["resumed"]]
        check(simulation, 4 * 3600)
