"""What the commands have in common that study matches: which ones are wanted, and what a judge says of them."""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar

import click
from attrs import define, frozen

from fibsbot.analysis.match_analysis import analyse_matches, count_entries, open_evaluator
from fibsbot.analysis.model import MatchAnalysis
from fibsbot.cli import UserError
from fibsbot.cli.options import configured_store
from fibsbot.draw.markup import clean
from fibsbot.engine import MAX_PLIES
from fibsbot.formats import FormatError
from fibsbot.records.views import Match
from fibsbot.replay.match_files import CaptureError
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.transcript import Transcript

if TYPE_CHECKING:
    from fibsbot.records.store import Store

DEFAULT_LAST: Final = 20
"""Matches of a store that are shown where nothing else is asked for."""
Tick: TypeAlias = Callable[[float, float | None], None]
"""Takes how many entries have been studied, of how many if that is known."""


@frozen
class MatchSelection:
    """Which matches are wanted."""

    files: tuple[Path, ...]
    match: int | None
    store: str | None
    """Where the store is; None where only files are wanted."""
    opponent: str | None
    last: int | None

    @classmethod
    def of(  # noqa: PLR0913, PLR0917 - one argument an option
        cls,
        files: tuple[Path, ...],
        number: int | None,
        db: str | None,
        config: Path | None,
        last: int | None,
        opponent: str | None,
    ) -> Self:
        """Return what the options say; raise UserError where they say nothing or contradict each other."""
        if files and (db is not None or config):
            raise UserError("expected FILE, or a store with --db or --config, got both")
        if not files and number is None and db is None and config is None:
            raise UserError("expected FILE, or a match of the store with --match, or the store with --db or --config")
        for path in files:
            _check_readable(path)
        place = None if files else db or configured_store(config)
        return cls(files, number, place, opponent, last or (None if files else DEFAULT_LAST))


def _check_readable(path: Path) -> None:
    """Raise UserError for a file that cannot be read, before the engine gets ready."""
    try:
        path.open("rb").close()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


@frozen
class SelectedMatch:
    """A match, and what it is called."""

    name: str
    """In messages."""
    number: int
    """In file names: that of the store, or counted from 1."""
    transcript: Transcript


_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS: Final = (
    click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path)),
    click.option(
        "--match", "number", metavar="ID", type=click.IntRange(1), help="Only this match of the files or the store."
    ),
    click.option("--db", metavar="PLACE", is_flag=False, flag_value="", help="Matches of the store: a file or a URL."),
    click.option(
        "--config", metavar="FILE", type=click.Path(path_type=Path), help="File of settings that names the store."
    ),
    click.option(
        "--last",
        metavar="N",
        type=click.IntRange(1),
        help=f"The last N matches only; of a store {DEFAULT_LAST} unless told.",
    ),
    click.option("--opponent", metavar="NAME", help="Matches with this player only."),
)


def match_options(command: _Command) -> _Command:
    """Add the arguments and options of which `MatchSelection.of` makes what is wanted."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


plies_option: Final = click.option(
    "--plies",
    metavar="N",
    type=click.IntRange(0, MAX_PLIES),
    help=f"Rolls that the engine looks ahead, 0 to {MAX_PLIES}.",
)


def evaluator_name(strategy: str, plies: int | None) -> str:
    """Return the full name of the strategy that judges; raise UserError for plies of another one than the engine."""
    if plies is None:
        return strategy
    if strategy != DEFAULT_STRATEGY:
        raise UserError(f"expected --plies with the strategy {DEFAULT_STRATEGY}, got it with {strategy!r}")
    return f"{DEFAULT_STRATEGY}:{plies}"


# -- which matches --------------------------------------------------------------------------------------------------


def selected_matches(asked: MatchSelection) -> Iterator[SelectedMatch]:
    """Return the matches that are wanted: those of files in their order, those of a store the latest first."""
    found = _of_files(asked) if asked.store is None else _of_store(asked, asked.store)
    if asked.files and asked.last:
        found = iter(deque(found, maxlen=asked.last))
    return found


def checked_matches(asked: MatchSelection, judge: str) -> Iterator[SelectedMatch]:
    """Return the matches that are wanted, after a look whether there are any, and then whether the judge can judge.

    The judge gets ready for that, which takes seconds: whatever is quickly seen to be wrong comes first.
    """
    found = selected_matches(asked)
    if asked.store is None:
        first = list(itertools.islice(found, 1))
        some = bool(first)
    else:
        first, some = [], _has_any(asked, asked.store)
    if some:
        with open_evaluator(judge):
            pass
    return itertools.chain(first, found)


def _of_files(asked: MatchSelection) -> Iterator[SelectedMatch]:
    from fibsbot.replay.match_files import load_transcripts  # noqa: PLC0415 - slow to import: all that a server can say

    number = 0
    for path in asked.files:
        try:
            for place, transcript in enumerate(load_transcripts(path), start=1):
                number += 1
                if _is_wanted(asked, number, transcript):
                    yield SelectedMatch(f"{path}, match {place}", number, transcript)
        except (FormatError, CaptureError) as error:
            raise UserError(f"{path}: {error}") from None
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from None


def _is_wanted(asked: MatchSelection, number: int, transcript: Transcript) -> bool:
    names = {player.name for player in transcript.players}
    return asked.match in {None, number} and asked.opponent in {None, *names}


def _of_store(asked: MatchSelection, place: str) -> Iterator[SelectedMatch]:
    from fibsbot.records.store import Store, StoreError  # noqa: PLC0415 - SQLAlchemy is slow to import

    with Store.open(place) as store:
        for match in _matches(asked, store):
            try:
                transcript = store.transcript(match)
            except StoreError as error:
                if asked.match is not None:
                    raise
                click.echo(f"match {match.id} is left out: {error}", err=True)
                continue
            yield SelectedMatch(f"match {match.id}", match.id, transcript)


def _has_any(asked: MatchSelection, place: str) -> bool:
    """Whether there is any match in a store of those that are wanted."""
    from fibsbot.records.store import Store  # noqa: PLC0415 - SQLAlchemy is slow to import

    with Store.open(place) as store:
        return any(True for _ in _matches(asked, store))


def _matches(asked: MatchSelection, store: Store) -> Iterable[Match]:
    if asked.match is None:
        return reversed(deque(store.matches(opponent=asked.opponent), maxlen=asked.last))
    match = store.match(asked.match)
    if match is None:
        raise UserError(f"the store has no match {asked.match}")
    return [match]


# -- studying -------------------------------------------------------------------------------------------------------


@define
class AnalysisRun:
    """Studies what was found, and remembers what could not be studied."""

    engine: str
    luck: bool
    tick: Tick
    failed: int = 0

    def studies(self, found: Iterable[SelectedMatch]) -> Iterator[tuple[SelectedMatch, MatchAnalysis]]:
        """Yield each match with its study; one that cannot be studied is reported on stderr.

        Of a list it is known how much there is to do: then it shows how far it is.
        """
        waiting: deque[SelectedMatch] = deque()
        of = sum(count_entries(it.transcript) for it in found) if isinstance(found, list) else None
        done = 0

        def transcripts() -> Iterator[Transcript]:
            for it in found:
                waiting.append(it)
                yield it.transcript

        def tick(studied: int, _: int) -> None:
            nonlocal done
            done += studied
            self.tick(done, of)

        self.tick(0, of)
        with contextlib.closing(analyse_matches(transcripts(), self.engine, luck=self.luck, tick=tick)) as every:
            for studied in every:
                it = waiting.popleft()
                if isinstance(studied, MatchAnalysis):
                    yield it, studied
                else:
                    self.failed += 1
                    click.echo(f"{it.name} is left out: {clean(str(studied), 300)}", err=True)
