"""Find, load and check strategies: the entry points of the group `fibsbot.strategies`, and classes in files.

A strategy is imported only when it is used. Errors of a plug-in's import or constructor become a StrategyError with one
line of text. A worker process makes its strategies once (`ReusedStrategies`) and uses them for piece after piece, each
time from a fresh state.
"""

from __future__ import annotations

import difflib
import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import Distribution, EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, runtime_checkable

from attrs import evolve, field, frozen

from fibsbot.games import load_ruleset
from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies import DEFAULT_STRATEGY, FILE_SUFFIX, PORTABLE, base_name, is_file, split_name
from fibsbot.strategies.base import Evaluator, Opponent, Strategy, close_in_time
from fibsbot.strategies.child_process.engine_process import NotReadyError
from fibsbot.strategies.engine_options import EngineOptions, is_of_other_games
from fibsbot.strategies.questions import (
    InvitationQuestion,
    PlayQuestion,
    Question,
    ResignationQuestion,
    RollQuestion,
    StrategyFailedError,
    TakeQuestion,
    first_decisions,
    question_of,
)
from fibsbot.text import describe_error, one_line
from fibsbot.workers.pool import WorkerPool

if TYPE_CHECKING:
    from fibsbot.engine.engine import Networks
    from fibsbot.strategies.pool import StrategyOutcome, StrategyWorker

ENTRY_POINT_GROUP: Final = "fibsbot.strategies"
"""The entry-point group that a plug-in registers its strategies in."""


NOT_AN_EVALUATOR: Final = "strategy {!r} is not an evaluator: it cannot value positions"


class StrategyError(Exception):
    """A strategy is unknown or cannot be used; the text is one line and says why."""


@frozen
class FileEntry:
    """A class in a Python file."""

    path: str
    class_name: str

    def load(self) -> object:
        """Run the file and return its class. Raises what the file raises, and AttributeError if it lacks the class."""
        module = _module(str(Path(self.path).resolve()))
        found: object = getattr(module, self.class_name, None)
        if found is None:
            classes = [
                name for name, value in vars(module).items() if isinstance(value, type) and hasattr(value, "name")
            ]
            hint = f"; it has {', '.join(classes)}" if classes else ""
            raise AttributeError(f"{self.path} has no {self.class_name!r}{hint}")
        return found


@cache
def _module(path: str) -> ModuleType:
    """Return the module of a file, which is run once. Raises what the file raises."""
    spec = spec_from_file_location(f"fibsbot file {path}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # as data classes and pickles expect
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


@frozen
class InstalledStrategy:
    """An installed strategy, and the package that it comes from. It is imported only by the methods."""

    name: str
    """Its name for `--strategy`."""
    reference: str
    """Module and object, `package.module:Class`."""
    distribution: str
    """The installed package that contains it; empty if unknown."""
    version: str
    """The version of that package."""
    _entry_point: EntryPoint | FileEntry = field(repr=False, eq=False)

    def factory(self) -> Callable[..., Any]:
        """Import and return the strategy's class. Raises StrategyError if that fails."""
        try:
            factory: object = self._entry_point.load()
        except (Exception, SystemExit) as error:
            raise StrategyError(
                f"strategy {self.name!r} ({self.source}) cannot be imported: {describe_error(error)}"
            ) from error
        if not callable(factory):
            raise StrategyError(f"strategy {self.name!r} ({self.source}) is no class, but {factory!r}")
        return factory

    def description(self) -> str:
        """Return the first line of the strategy's docstring. Raises StrategyError if it cannot be imported."""
        lines = (self.factory().__doc__ or "").strip().splitlines()
        return lines[0] if lines else ""

    def is_evaluator(self) -> bool:
        """Whether it has the methods of an evaluator. Raises StrategyError if it cannot be imported."""
        factory = self.factory()
        return all(hasattr(factory, name) for name in vars(Evaluator) if not name.startswith("_"))

    @property
    def source(self) -> str:
        """Reference, package and version, for an error message."""
        if isinstance(self._entry_point, FileEntry):
            return "a class in a file"
        return f"{self.reference} of {self.distribution} {self.version}" if self.distribution else self.reference


def available() -> tuple[InstalledStrategy, ...]:
    """Return all installed strategies, sorted by name."""
    packages: dict[Distribution | None, tuple[str, str]] = {None: ("", "")}  # their metadata takes long to read
    installed = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        package = point.dist
        if package is not None and package not in packages:
            packages[package] = package.name, package.version
        installed.append(InstalledStrategy(point.name, point.value, *packages[package], entry_point=point))
    return tuple(sorted(installed, key=lambda strategy: (strategy.name, strategy.distribution)))


def find(name: str) -> InstalledStrategy:
    """Return the strategy of that name, an installed one or FILE.py:CLASS, without importing it.

    Raises StrategyError if no strategy or more than one has the name, or there is no such file.
    """
    plain = base_name(name)
    if is_file(name) or plain.endswith(FILE_SUFFIX):
        return _in_file(plain)
    installed = available()
    matching = [strategy for strategy in installed if strategy.name == plain]
    if not matching:
        names = list(dict.fromkeys(strategy.name for strategy in installed))
        near = difflib.get_close_matches(plain, names, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise StrategyError(f"no strategy is called {name!r}; {hint}installed are: {', '.join(names)}")
    if len(matching) > 1:
        sources = " and ".join(strategy.source for strategy in matching)
        raise StrategyError(f"more than one strategy is called {name!r}: {sources}")
    return matching[0]


def _in_file(name: str) -> InstalledStrategy:
    """Return the strategy FILE.py:CLASS. Raises StrategyError if there is no such file, or CLASS is no name."""
    path, _, class_name = name.rpartition(":") if is_file(name) else (name, "", "")
    if not class_name.isidentifier():
        raise StrategyError(f"expected a strategy in a file as FILE{FILE_SUFFIX}:CLASS, got {name!r}")
    if not Path(path).is_file():
        raise StrategyError(f"strategy {name!r}: there is no file {path}")
    return InstalledStrategy(name, name, "", "", entry_point=FileEntry(path, class_name))


def load(name: str, **options: Any) -> Strategy:
    """Make the strategy of that name. Its constructor gets the text after a colon in the name, and the options.

    Raises StrategyError if no strategy or more than one has the name, or if it cannot be made.
    """
    installed = find(name)
    _, argument = split_name(name)
    factory = installed.factory()
    try:
        strategy: object = factory(*([] if argument is None else [argument]), **options)
    except ValueError as error:
        if argument is None:
            raise StrategyError(
                f"strategy {name!r} ({installed.source}) cannot be made: {describe_error(error)}"
            ) from error
        raise StrategyError(f"strategy {name!r}: {one_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise StrategyError(
            f"strategy {name!r} ({installed.source}) cannot be made: {describe_error(error)}"
        ) from error
    if not isinstance(strategy, Strategy):
        missing = ", ".join(sorted(interface_names() - set(dir(strategy))))
        raise StrategyError(f"strategy {name!r} ({installed.source}) is no Strategy: it lacks {missing}")
    own_name: object = strategy.name
    if not isinstance(own_name, str):
        raise StrategyError(
            f"strategy {name!r} ({installed.source}) is no Strategy: expected text as its name, got {own_name!r}"
        )
    return strategy


def check_portable(names: Iterable[str], pool: WorkerPool) -> None:
    """Raise StrategyError if a strategy needs this machine, and workers are on others."""
    for name in names:
        if not pool.is_local and base_name(name) not in PORTABLE:
            raise StrategyError(
                f"strategy {name!r} works on this machine only, without --scheduler: "
                "it is another program or a plug-in, which workers may have in another version"
            )


CHECK_DEADLINE: Final = 120.0
"""Seconds for an answer before the first connection: the very first start compiles what the engine needs."""


def check(strategy: Strategy, games: Iterable[str] = (), deadline: float = CHECK_DEADLINE) -> tuple[str, ...]:
    """Ask every kind of question about known positions; return what is wrong with the answers, one line each.

    It raises nothing. A strategy that gives no answer within `deadline` seconds is asked no more.

    Args:
        strategy: the strategy to ask.
        games: other games that it is to play, of which it is asked the first decisions.
        deadline: seconds for an answer.
    """
    return tuple(_faults(strategy, games, deadline))


def first_fault(strategy: Strategy, games: Iterable[str] = ()) -> str | None:
    """Return the first fault that `check` finds, for the time before the first connection; None if there is none."""
    return next(_faults(strategy, games, CHECK_DEADLINE), None)


def _faults(strategy: Strategy, games: Iterable[str], deadline: float) -> Iterator[str]:
    from fibsbot.strategies.pool import StrategyWorker  # noqa: PLC0415 - slow to import

    of_games = (
        (f"{game}, {state.phase.value}", question_of(state))
        for game in games
        for state in first_decisions(load_ruleset(game))
    )
    worker = StrategyWorker("check", instance=strategy)
    try:
        for name, question in itertools.chain(_questions(), of_games):
            outcome, _ = ask_in_time(worker, question, deadline)
            if outcome is None:
                yield f"{name}: gave no answer within {deadline:g} s"
                return
            if isinstance(outcome, StrategyFailedError):
                yield f"{name}: {outcome}"
    finally:
        worker.close()


def ask_in_time(worker: StrategyWorker, question: Question, deadline: float) -> tuple[StrategyOutcome | None, float]:
    """Return the outcome of a question and its seconds, None if there is none in time.

    An engine that is starting is asked again.
    """
    outcomes: SimpleQueue[tuple[StrategyOutcome, float]] = SimpleQueue()
    until = time.monotonic() + deadline
    while True:
        worker.ask(question, lambda *answered: outcomes.put(answered))
        try:
            outcome, seconds = outcomes.get(timeout=max(until - time.monotonic(), 0.0))
        except Empty:
            return None, deadline
        if not (isinstance(outcome, StrategyFailedError) and isinstance(outcome.__cause__, NotReadyError)):
            return outcome, seconds


_RACE: Final = Position((0, 2, 2, 3, 3, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, -2, -3, -3, -3, -2, 0))
_BLITZED: Final = Position((-1, 0, 0, 2, 2, 2, 3, 0, 2, 0, 0, -1, -3, 3, 0, 0, 0, -2, 0, -4, -2, -2, 0, 0, 0, 1))
_STATES: Final = {
    "the opening": MatchState(Position.start(), length=5),
    "a race at 2-away, 5-away": MatchState(_RACE, length=7, score=(5, 2), cube=2, owner=Owner.PLAYER),
    "a money game with both on the bar": MatchState(_BLITZED, jacoby=True, redoubles=3),
    "a race after the Crawford game": MatchState(_RACE.swapped(), length=3, score=(0, 2), post_crawford=True),
}
_DICE: Final = ((3, 1), (6, 6))


def _questions() -> Iterator[tuple[str, Question]]:
    """Yield questions of all kinds with their names: the method that is asked, and the position."""
    for name, state in _STATES.items():
        for dice in _DICE:
            plays = legal_plays(state.position, dice)
            if len(plays) > 1:
                moving = evolve(state, phase=Phase.MOVE, dice=dice)
                yield f"choose_play, {name}, {dice[0]}-{dice[1]}", PlayQuestion(moving, plays)
        yield f"offer_double, {name}", RollQuestion(state, may_double=True, resign_to=0)
        doubled = evolve(state, phase=Phase.DOUBLED, owner=Owner(-state.owner.value))
        yield f"answer_double, {name}", TakeQuestion(doubled)
        yield f"resign, {name}", RollQuestion(state, may_double=False)
        for level in (1, 2, 3):
            resigned = evolve(state, phase=Phase.RESIGNED, resignation=level)
            yield f"accept_resignation of {level}, {name}", ResignationQuestion(resigned)
    for opponent in (Opponent("ford"), Opponent("trillian", rating=1623.45, experience=2396, client="fibsbot")):
        yield f"accept_invitation from {opponent.name}", InvitationQuestion(opponent, 5)


def interface_names() -> set[str]:
    """Return the names that a strategy must have."""
    return {name for name in (*vars(Strategy), *Strategy.__annotations__) if not name.startswith("_")}


# -- strategies of workers ------------------------------------------------------------------------------------------


@runtime_checkable
class Forgetful(Protocol):
    """A strategy that remembers what it has computed, which may change last digits of what it computes later."""

    def forget(self) -> None:
        """Return to the state of a new strategy."""
        ...


@runtime_checkable
class Seeded(Protocol):
    """A strategy that decides by chance."""

    def reseed(self, seed: str) -> None:
        """Begin other random numbers: with the same seed, the same questions in the same order get the same answers."""
        ...


class ReusedStrategies:
    """Strategies by name. Pickled, as part of what pieces share, it has made none of them.

    Networks of a folder of this machine travel with it: the worker may be another machine.
    """

    def __init__(self, networks: Mapping[str, Networks] | None = None) -> None:
        """Begin without strategies; `networks` are those of the engine by the name of the strategy."""
        self._networks = dict(networks or {})
        self._made: dict[str, Strategy] = {}

    @classmethod
    def of(cls, *names: str) -> Self:
        """Prepare strategies that workers will make. Raises StrategyError where networks cannot be read."""
        return cls({name: networks for name in names if (networks := _networks_of(name)) is not None})

    def __reduce__(self) -> tuple[type[ReusedStrategies], tuple[Mapping[str, Networks]]]:
        return ReusedStrategies, (self._networks,)

    def fresh(self, name: str) -> Strategy:
        """Return a strategy that answers as a new one does; raise StrategyError if it cannot be made."""
        strategy = self._made.get(name)
        if strategy is None:
            strategy = self._made[name] = self.new(name)
        elif isinstance(strategy, Forgetful):
            strategy.forget()
        return strategy

    def new(self, name: str, **options: Any) -> Strategy:
        """Make a strategy, which the caller closes; raise StrategyError if that fails."""
        return load(name, **self._options(name), **options)

    def fresh_evaluator(self, name: str) -> Evaluator:
        """Return the same for a strategy that is an evaluator; raise StrategyError if it is none."""
        strategy = self.fresh(name)
        if not isinstance(strategy, Evaluator):
            raise StrategyError(NOT_AN_EVALUATOR.format(name))
        return strategy

    def close(self) -> None:
        """Close all of them."""
        while self._made:
            close_in_time(self._made.popitem()[1])

    def _options(self, name: str) -> Mapping[str, Any]:
        if name not in self._networks:
            return {}
        from fibsbot.engine.engine import Engine  # noqa: PLC0415 - only if the engine is used

        return {"engine": Engine.of(self._networks[name])}


def _networks_of(name: str) -> Networks | None:
    """Return the networks that a strategy reads from a folder; None if it does not."""
    if base_name(name) != DEFAULT_STRATEGY or "networks" not in name:
        return None
    try:
        folder = EngineOptions.parse(name.partition(":")[2]).networks
    except ValueError:
        return None  # the error of making it is more helpful
    if folder is None or is_of_other_games(folder):
        return None
    from fibsbot.engine.engine import load_networks  # noqa: PLC0415 - only if the engine is used
    from fibsbot.engine.network import NetworkError  # noqa: PLC0415 - as above

    try:
        return load_networks(folder)
    except NetworkError as error:
        raise StrategyError(f"strategy {name!r}: {one_line(error)}") from None
