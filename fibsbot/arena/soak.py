"""Bots that play each other on an embedded server: single pairs, and long runs that count what goes wrong."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import asdict, define, field, frozen

from fibsbot.bot.agent import Agent, DifferenceError
from fibsbot.bot.events_and_actions import Record
from fibsbot.bot.runner import Observer, Runner, SessionResult
from fibsbot.bot.settings import AgentSettings, PlaySettings, RunSettings, Timings
from fibsbot.client.settings import ServerSettings
from fibsbot.match import Phase
from fibsbot.policy import Lengths, Policy
from fibsbot.rules.law_words import law_words
from fibsbot.rules.laws import Laws
from fibsbot.server.limits import SHORT_LIVED
from fibsbot.server.server import Server
from fibsbot.strategies.base import Strategy

QUICK_TIMINGS: Final = Timings(pause=0.0, invitation=0.05, retry=0.5)
"""Timings for bots among themselves: no pauses for the sake of people."""


@frozen
class Entrant:
    """One of the two bots."""

    name: str
    strategy: Strategy
    observer: Observer = field(factory=Observer)
    log_path: Path | None = None
    """Where to write the session log."""


async def play_pair(  # noqa: PLR0913 - the settings of a run
    server: Server,
    host: Entrant,
    guest: Entrant,
    *,
    matches: int,
    length: int,
    timings: Timings = QUICK_TIMINGS,
    strict: bool = False,
    game: str | None = None,
    laws: Laws | None = None,
) -> tuple[SessionResult, SessionResult]:
    """Register both, log both in, and let the host invite the guest until they have finished `matches` matches.

    `game` is that of the matches, if it is not backgammon, `laws` theirs, if they are not those of FIBS.

    Raises the errors of a Runner; the other bot is stopped then.
    """
    words = None if laws is None else law_words(laws)
    passwords = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
    for entrant, password in zip((host, guest), passwords, strict=True):
        await server.register(entrant.name, password)

    def runner(entrant: Entrant, password: str, invite: str | None) -> Runner:
        agent = AgentSettings(
            name=entrant.name,
            password=password,
            play=PlaySettings(
                invite=invite, invite_length=length, invite_game=game, invite_laws=words, matches=matches
            ),
            policy=Policy(
                lengths=Lengths(((1, max(length, 1)),)),
                games=() if game is None else (game,),
                laws=() if words is None else (words,),
            ),
            strict=strict,
            timings=timings,
        )
        settings = RunSettings(ServerSettings(server.host, server.port), agent, log_path=entrant.log_path)
        return Runner(settings, entrant.strategy, observer=entrant.observer)

    async with asyncio.TaskGroup() as group:
        first = group.create_task(runner(host, passwords[0], guest.name).run())
        second = group.create_task(runner(guest, passwords[1], None).run())
    return first.result(), second.result()


MAX_EXAMPLES: Final = 10
"""Number of problems that the report quotes; all are counted."""

MakeStrategies: TypeAlias = Callable[[int], tuple[Strategy, Strategy]]
"""Returns the two strategies of a pair, by the number of the pair."""
OnMatch: TypeAlias = Callable[[], None]


@frozen
class SoakSettings:
    """The settings of a run."""

    matches: int
    length: int
    seed: int
    pairs: int = 1
    """Pairs that play at the same time; the matches are divided among them."""
    stall: float = 60.0
    """Seconds without a play, after which a pair counts as stuck and is stopped."""
    log_dir: Path | None = None
    """Folder for session logs; None writes none."""
    game: str | None = None
    """The game, if it is not backgammon."""


@define
class SoakReport:
    """What happened. From `stuck` to `interruptions` everything should be 0."""

    matches: int
    """Number that was to be played."""
    length: int
    seed: int
    finished: int = 0
    """Matches that both bots saw end."""
    games: int = 0
    stuck: int = 0
    """Pairs that stopped playing."""
    errors: int = 0
    """Pairs that ended with an exception."""
    refusals: int = 0
    """`**` lines that refused a bot's command: illegal commands."""
    differences: int = 0
    """Parts of an agent's state that a board contradicted."""
    timeouts: int = 0
    """Replies of the server that did not come in time."""
    fallbacks: int = 0
    """Decisions that a strategy failed to make."""
    late_answers: int = 0
    interruptions: int = 0
    """Matches that were interrupted and saved."""
    decisions: int = 0
    commands: int = 0
    messages: int = 0
    boards: int = 0
    """`board:` lines, each of which was checked."""
    seconds: float = 0.0
    matches_per_minute: float = 0.0
    examples: list[str] = field(factory=list)
    """The first problems, quoted."""

    @property
    def clean(self) -> bool:
        """Whether every match was finished and nothing went wrong."""
        problems = (self.stuck, self.errors, self.refusals, self.differences, self.fallbacks, self.interruptions)
        return self.finished == self.matches and not any(problems)

    def as_dict(self) -> dict[str, Any]:
        """Return the report in JSON types."""
        return {**asdict(self), "clean": self.clean}

    def add_example(self, text: str) -> None:
        """Quote a problem, unless enough are quoted."""
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(text)

    def add(self, results: Iterable[SessionResult]) -> None:
        """Add the counters of the two bots of a pair."""
        counters = [result.counters for result in results]
        self.finished += min(c.matches for c in counters)
        self.games += min(c.games for c in counters)
        for name in (
            *("refusals", "differences", "timeouts", "fallbacks", "late_answers"),
            *("interruptions", "decisions", "commands", "messages", "boards"),
        ):
            setattr(self, name, getattr(self, name) + sum(getattr(c, name) for c in counters))


_PROBLEMS: Final = frozenset({"refused", "difference", "no_answer", "match_saved", "connection_lost", "fallback"})


class _ProgressObserver(Observer):
    """Remembers when a bot last made progress, and reports its problems."""

    def __init__(self, name: str, report: SoakReport, on_match: OnMatch) -> None:
        self._name = name
        self._report = report
        self._on_match = on_match
        self.progressed_at = time.monotonic()

    def on_record(self, record: Record, agent: Agent) -> None:  # noqa: ARG002 - the observer's signature
        played = record.name == "decision" and record.fields.get("phase") == Phase.MOVE.value
        if played or record.name in {"match_started", "logged_in"}:
            self.progressed_at = time.monotonic()
        if record.name == "match_ended":
            self._on_match()
        if record.name in _PROBLEMS and record.fields.get("reason") != "logged out":
            facts = ", ".join(f"{key} {value}" for key, value in record.fields.items())
            self._report.add_example(f"{self._name}: {record.name}: {facts}")


async def run(soak: SoakSettings, make_strategies: MakeStrategies, on_match: OnMatch = lambda: None) -> SoakReport:
    """Play all matches and return the report; `on_match` is called at the end of each."""
    report = SoakReport(soak.matches, soak.length, soak.seed)
    started = time.monotonic()
    async with Server(seed=soak.seed, limits=SHORT_LIVED) as server:
        matches_by_pair = [soak.matches // soak.pairs + (n < soak.matches % soak.pairs) for n in range(soak.pairs)]
        await asyncio.gather(
            *(
                _run_pair(server, soak, number, matches, make_strategies(number), report, on_match)
                for number, matches in enumerate(matches_by_pair)
                if matches
            )
        )
    report.seconds = round(time.monotonic() - started, 3)
    report.matches_per_minute = round(60 * report.finished / report.seconds, 1)
    return report


async def _run_pair(  # noqa: PLR0913, PLR0917 - the context of `run`
    server: Server,
    soak: SoakSettings,
    number: int,
    matches: int,
    strategies: tuple[Strategy, Strategy],
    report: SoakReport,
    on_match: OnMatch,
) -> None:
    names = f"bot_{number_in_letters(number)}", f"foe_{number_in_letters(number)}"
    watches = _ProgressObserver(names[0], report, on_match), _ProgressObserver(names[1], report, lambda: None)
    entrants = [
        Entrant(name, strategy, watch, soak.log_dir / f"{name}.jsonl" if soak.log_dir else None)
        for name, strategy, watch in zip(names, strategies, watches, strict=True)
    ]
    playing = asyncio.create_task(play_pair(server, *entrants, matches=matches, length=soak.length, game=soak.game))
    while not playing.done():
        await asyncio.wait({playing}, timeout=min(soak.stall / 4, 5.0))
        if not playing.done() and time.monotonic() - max(watch.progressed_at for watch in watches) > soak.stall:
            playing.cancel()
            await asyncio.wait({playing})
    try:
        report.add(playing.result())
    except asyncio.CancelledError:
        report.stuck += 1
        report.add_example(f"{names[0]} and {names[1]}: nobody has made a play for {soak.stall:g} s")
    except ExceptionGroup as group:
        report.errors += 1
        report.differences += sum(isinstance(error, DifferenceError) for error in group.exceptions)
        for error in group.exceptions:
            report.add_example(f"{names[0]} and {names[1]}: {type(error).__name__}: {error}")


def number_in_letters(number: int) -> str:
    """Return a number in letters: names on a server have no digits."""
    text = ""
    while True:
        number, digit = divmod(number, 26)
        text = chr(ord("a") + digit) + text
        if not number:
            return text
