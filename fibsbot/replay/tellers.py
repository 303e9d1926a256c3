"""What is told of a file while it is replayed: a move list, JSON objects, or what a strategy would have done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import Final, Protocol

from attrs import define, field, frozen

from fibsbot.draw.markup import clean
from fibsbot.json_lines import encoder
from fibsbot.replay.deciding import Asked, Decider, Findings
from fibsbot.replay.happenings import Happening, MatchBegan
from fibsbot.replay.places import Place
from fibsbot.replay.rows import Row, Rows
from fibsbot.replay.telling import MoveList, match_in_words, names_of

_encode: Final = encoder(allow_nan=False)
WORST: Final = 10
"""Decisions in the table of those that differ most."""


class Teller(Protocol):
    """Makes text of what happens."""

    def take(self, happening: Happening) -> Iterable[str]:
        """Yield the lines that are finished once this has happened."""
        ...

    def flush(self) -> Iterable[str]:
        """Yield what is held back: nothing more happens."""
        ...


class Silence:
    """Tells nothing."""

    def take(self, happening: Happening) -> Iterable[str]:  # noqa: ARG002 - the interface
        """Yield nothing."""
        return ()

    def flush(self) -> Iterable[str]:
        """Yield nothing."""
        return ()


@define
class JsonLines:
    """Tells everything as JSON objects."""

    rows: Rows
    _names: tuple[str, str] = ("", "")

    def take(self, happening: Happening) -> Iterator[str]:
        """Yield an object a line."""
        if isinstance(happening, MatchBegan):
            self._names = _names(happening)
        for row in self.rows.of(happening, self._names):
            yield line_of(row)

    def flush(self) -> Iterable[str]:
        """Yield nothing: nothing is held back."""
        return ()


def line_of(row: Row) -> str:
    """Write an object in a line of ASCII."""
    return _encode(row)


def _names(began: MatchBegan) -> tuple[str, str]:
    first, second = began.transcript.players
    return first.name, second.name


def list_of(name: str | None) -> Teller:
    """Return what writes a move list, under the name of its file if there is one."""
    return _Titled(clean(name), MoveList()) if name is not None else MoveList()


@define
class _Titled:
    """Writes a file's name above what is told of it, as soon as anything is."""

    name: str
    teller: MoveList
    _told: bool = False

    def take(self, happening: Happening) -> Iterator[str]:
        if not self._told:
            self._told = True
            yield from ("", f"== {self.name}")
        yield from self.teller.take(happening)

    def flush(self) -> Iterator[str]:
        yield from self.teller.flush()


# -- a strategy that is asked ---------------------------------------------------------------------------------------


@frozen
class Worst:
    """A decision that the strategy would have made differently, as the table shows it."""

    gain: float
    place: Place
    file: str
    who: str
    done: str
    """With the dice, for a play."""
    answer: str
    xgid: str


def worst_of(found: Iterable[Worst]) -> list[Worst]:
    """Return those that are farthest from what was done, the farthest first."""
    return nlargest(WORST, found, key=lambda it: abs(it.gain))


@define
class AskedTeller:
    """Puts every decision to a strategy, and tells where it would have decided differently."""

    decider: Decider
    rows: Rows
    as_json: bool
    quiet: bool
    worst: list[Worst] = field(factory=list)
    _began: MatchBegan | None = None
    _titled: bool = False

    def take(self, happening: Happening) -> Iterator[str]:
        """Yield an object for each decision, or a line for each that would have been different."""
        if isinstance(happening, MatchBegan):
            self._began, self._titled = happening, False
        if self._began is not None:
            for asked in self.decider.take(happening):
                yield from self._told(self._began, asked)

    def flush(self) -> Iterable[str]:
        """Yield nothing: nothing is held back."""
        return ()

    def _told(self, began: MatchBegan, asked: Asked) -> Iterator[str]:
        row = self.rows.asked(asked, _names(began), self.decider.strategy.name)
        entry = self._entry(began, asked, row)
        if not asked.same and asked.gain is not None:
            self.worst = worst_of([*self.worst, entry])
        if self.quiet:
            return
        if self.as_json:
            yield line_of(row)
        elif not asked.same:
            if not self._titled:
                self._titled = True
                yield from ("", f"{clean(self.rows.file)}: {match_in_words(began)}")
            yield self._line(asked, entry)

    def _entry(self, began: MatchBegan, asked: Asked, row: Row) -> Worst:
        place = Place(asked.match, row["game"], row["turn"])
        who = names_of(began.transcript)[asked.decision.seat]
        dice = asked.decision.state.dice
        done = f"{max(dice)}{min(dice)}: {asked.decision.text}" if dice else asked.decision.text
        return Worst(asked.gain or 0.0, place, self.rows.file, who, done, asked.text, row["xgid"] or "")

    @staticmethod
    def _line(asked: Asked, entry: Worst) -> str:
        """Tell one decision: where, what was done, what the strategy says, and what that is worth."""
        worth = "not valued" if asked.gain is None else f"{asked.gain:+.3f}"
        worth = clean(asked.fault, 80) if asked.fault else worth
        return f"  {entry.place!s:<10} {entry.who:<12} {entry.done:<26} {entry.answer or '-':<26} {worth}"


def findings_in_words(findings: Findings, strategy: str, judge: str) -> Iterator[str]:
    """Say what asking came to."""
    same = findings.asked - findings.different - findings.failed
    yield f"{strategy} was asked {findings.asked:,} decisions: {same:,} the same, {findings.different:,} different"
    if findings.failed:
        yield f"  {findings.failed:,} had no answer"
    by = "by itself" if judge == strategy else f"by {judge}"
    yield f"  the differences are worth {findings.sum:.3f} in all, {findings.mean:.4f} a decision, {by}"
    yield f"  {strategy}'s answers are worth {findings.gained:.3f} more and {findings.lost:.3f} less"
    if findings.unvalued:
        yield f"  {findings.unvalued:,} of them {judge} has no value for"
    if findings.left_out:
        yield f"  {findings.left_out:,} matches left out: nobody to ask about"


def worst_in_words(worst: Iterable[Worst], strategy: str) -> Iterator[str]:
    """Write the table of those that differ most, each with its XGID below."""
    yield f"    gain  {'place':<10} {'player':<12} {'played':<26} {strategy}"
    for it in worst:
        yield f"  {it.gain:+.3f}  {it.place!s:<10} {it.who:<12} {it.done:<26} {it.answer}".rstrip()
        yield f"          {it.xgid}   {clean(it.file)}".rstrip()
