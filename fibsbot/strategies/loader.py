"""Which strategies are installed, and how one is made: the entry points of the group `fibsbot.strategies`.

A strategy is imported when it is asked for and not before, and whatever a plug-in's import or constructor does wrong
becomes a StrategyError with one line of text.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from attrs import evolve, field, frozen

from fibsbot.match import MatchState, Owner, Phase
from fibsbot.position import Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies import base
from fibsbot.strategies.base import Opponent, Strategy
from fibsbot.strategies.evaluator import Evaluator
from fibsbot.text import describe_error, one_line

ENTRY_POINT_GROUP: Final = "fibsbot.strategies"
"""The entry-point group that a plug-in registers its strategies in."""


class StrategyError(Exception):
    """A strategy is unknown or cannot be used; the text is one line and says why."""


@frozen
class InstalledStrategy:
    """Where an installed strategy comes from. Nothing is imported before `factory` or `description` is asked."""

    name: str
    """What `--strategy` calls it."""
    reference: str
    """Module and object, `package.module:Class`."""
    distribution: str
    """The installed package that brings it; empty when unknown."""
    version: str
    """The version of that package."""
    _entry_point: EntryPoint = field(repr=False, eq=False)

    def factory(self) -> Callable[..., Any]:
        """Import the strategy's class; raise StrategyError when that fails."""
        try:
            factory: object = self._entry_point.load()
        except (Exception, SystemExit) as error:
            raise StrategyError(
                f"strategy {self.name!r} ({self.place}) cannot be imported: {describe_error(error)}"
            ) from error
        if not callable(factory):
            raise StrategyError(f"strategy {self.name!r} ({self.place}) is no class, but {factory!r}")
        return factory

    def description(self) -> str:
        """Return the first line of the strategy's docstring; raise StrategyError when it cannot be imported."""
        lines = (self.factory().__doc__ or "").strip().splitlines()
        return lines[0] if lines else ""

    def is_judge(self) -> bool:
        """Whether it has the methods of a judge; raise StrategyError when it cannot be imported."""
        factory = self.factory()
        return all(hasattr(factory, name) for name in vars(Evaluator) if not name.startswith("_"))

    @property
    def place(self) -> str:
        """Reference, distribution and version in one phrase."""
        return f"{self.reference} of {self.distribution} {self.version}" if self.distribution else self.reference


def available() -> tuple[InstalledStrategy, ...]:
    """Return every installed strategy, by name."""
    points = entry_points(group=ENTRY_POINT_GROUP)
    return tuple(sorted(map(_installed, points), key=lambda origin: (origin.name, origin.distribution)))


def find(name: str) -> InstalledStrategy:
    """Return where the strategy of that name comes from, without importing it.

    Raises StrategyError when no strategy or more than one has the name.
    """
    installed = available()
    plain = name.partition(":")[0]
    matching = [origin for origin in installed if origin.name == plain]
    if not matching:
        names = list(dict.fromkeys(origin.name for origin in installed))
        near = difflib.get_close_matches(plain, names, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise StrategyError(f"no strategy is called {name!r}; {hint}installed are: {', '.join(names)}")
    if len(matching) > 1:
        places = " and ".join(origin.place for origin in matching)
        raise StrategyError(f"more than one strategy is called {name!r}: {places}")
    return matching[0]


def load(name: str, **options: Any) -> Strategy:
    """Make the strategy of that name; the options go to its constructor, after what follows a colon in the name.

    Raises StrategyError when no strategy or more than one has the name, or when it cannot be made.
    """
    origin = find(name)
    _, colon, argument = name.partition(":")
    factory = origin.factory()
    try:
        strategy: object = factory(*([argument] if colon else []), **options)
    except ValueError as error:
        if not colon:
            raise StrategyError(
                f"strategy {name!r} ({origin.place}) cannot be made: {describe_error(error)}"
            ) from error
        raise StrategyError(f"strategy {name!r}: {one_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise StrategyError(f"strategy {name!r} ({origin.place}) cannot be made: {describe_error(error)}") from error
    if not isinstance(strategy, Strategy):
        missing = ", ".join(sorted(_interface_names() - set(dir(strategy))))
        raise StrategyError(f"strategy {name!r} ({origin.place}) is no Strategy: it lacks {missing}")
    return strategy


def check(strategy: Strategy) -> tuple[str, ...]:
    """Ask every kind of question about known positions and return what is wrong with the answers, a line each.

    Meant for the moment before the first connection. Nothing is raised, but a strategy that never answers never lets
    this return: the caller sets the deadline.
    """
    faults = []
    for question, ask in _questions(strategy):
        try:
            fault = ask()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            fault = f"raised {describe_error(error)}"
        if fault:
            faults.append(f"{question}: {fault}")
    return tuple(faults)


_RACE: Final = Position((0, 2, 2, 3, 3, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, -2, -3, -3, -3, -2, 0))
_BLITZED: Final = Position((-1, 0, 0, 2, 2, 2, 3, 0, 2, 0, 0, -1, -3, 3, 0, 0, 0, -2, 0, -4, -2, -2, 0, 0, 0, 1))
_STATES: Final = {
    "the opening": MatchState(Position.start(), length=5),
    "a race at 2-away, 5-away": MatchState(_RACE, length=7, score=(5, 2), cube=2, owner=Owner.PLAYER),
    "a money game with both on the bar": MatchState(_BLITZED, jacoby=True, redoubles=3),
    "a race after the Crawford game": MatchState(_RACE.swapped(), length=3, score=(0, 2), post_crawford=True),
}
_DICE: Final = ((3, 1), (6, 6))


def _questions(strategy: Strategy) -> Iterator[tuple[str, Callable[[], str | None]]]:
    """Yield a name for each question, and a function that asks it and returns what is wrong with the answer."""
    for name, state in _STATES.items():
        for dice in _DICE:
            moving = evolve(state, phase=Phase.MOVE, dice=dice)
            plays = legal_plays(state.position, dice)
            if len(plays) > 1:
                yield f"choose_play, {name}, {dice[0]}-{dice[1]}", partial(_ask_play, strategy, moving, plays)
        yield f"offer_double, {name}", partial(_ask_offer, strategy, state)
        doubled = evolve(state, phase=Phase.DOUBLED, owner=Owner(-state.owner.value))
        yield f"answer_double, {name}", partial(_ask_response, strategy, doubled)
        yield f"resign, {name}", partial(_ask_resignation, strategy, state)
        for level in (1, 2, 3):
            resigned = evolve(state, phase=Phase.RESIGNED, resignation=level)
            yield f"accept_resignation of {level}, {name}", partial(_ask_acceptance, strategy, resigned)
    for opponent in (Opponent("ford"), Opponent("trillian", rating=1623.45, experience=2396, client="fibsbot")):
        yield f"accept_invitation from {opponent.name}", partial(_ask_invitation, strategy, opponent)


def _ask_play(strategy: Strategy, state: MatchState, plays: tuple[Play, ...]) -> str | None:
    return base.play_fault(plays, strategy.choose_play(state, plays))


def _ask_offer(strategy: Strategy, state: MatchState) -> str | None:
    return base.offer_fault(strategy.offer_double(state))


def _ask_response(strategy: Strategy, state: MatchState) -> str | None:
    return base.response_fault(state, strategy.answer_double(state))


def _ask_resignation(strategy: Strategy, state: MatchState) -> str | None:
    return base.resignation_fault(strategy.resign(state))


def _ask_acceptance(strategy: Strategy, state: MatchState) -> str | None:
    return base.acceptance_fault(strategy.accept_resignation(state))


def _ask_invitation(strategy: Strategy, opponent: Opponent) -> str | None:
    return base.invitation_fault(strategy.accept_invitation(opponent, 5))


def _installed(point: EntryPoint) -> InstalledStrategy:
    distribution = point.dist
    return InstalledStrategy(
        name=point.name,
        reference=point.value,
        distribution=distribution.name if distribution else "",
        version=distribution.version if distribution else "",
        entry_point=point,
    )


def _interface_names() -> set[str]:
    return {name for name in (*vars(Strategy), *Strategy.__annotations__) if not name.startswith("_")}
