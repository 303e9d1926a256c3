"""Options that select matches of files or the store, and the analysis of these; shared by several commands."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import itertools
import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, cast

import click
from attrs import define, field, frozen

from fibsbot.analysis.match_analysis import analyse_matches, count_entries, open_evaluator
from fibsbot.analysis.model import MatchAnalysis
from fibsbot.analysis.selection import GRADED, DecisionSelection, match_start
from fibsbot.cli import ProgressDisplay, UserError
from fibsbot.cli.options import FILE, WorkerOptions, configured_store, decision_options, store_errors
from fibsbot.cli.output import STDIO, print_lines, progress_bar, saved_stdin
from fibsbot.drawing.markup import clean
from fibsbot.engine import MAX_PLIES
from fibsbot.files import os_errors_as
from fibsbot.formats import FormatError
from fibsbot.records.stored_rows import StoredMatch
from fibsbot.replay.log_reading import CaptureError
from fibsbot.replay.match_files import (
    ReplaySource,
    find_sources,
    load_transcripts,
    transcripts_of_capture,
)
from fibsbot.strategies import DEFAULT_STRATEGY
from fibsbot.strategies.loader import StrategyError
from fibsbot.text import join_words, plural
from fibsbot.transcript import Transcript
from fibsbot.workers.journal import Journal, JournalError
from fibsbot.workers.pool import WorkerPool

if TYPE_CHECKING:
    from fibsbot.records.store import Store

NOTHING_CHOSEN: Final = "expected FILE, or a match of the store with --match, or the store with --store or --config"
DEFAULT_LAST: Final = 20
"""Number of matches of a store that are selected by default."""
MAX_NAMES: Final = 6
"""Players of other matches that are named where there is none of a player; one more if both of a match are new."""


@frozen
class MatchSelection:
    """The matches that the options of a command select."""

    files: tuple[Path, ...]
    match: int | None
    store: str | None
    """Location of the store; None if the matches are in files."""
    decisions: DecisionSelection
    """Which of their decisions; matches that cannot have any are not selected."""
    last: int | None
    skipped: list[str] = field(factory=list)
    """Which files could not be read, and why, as far as they have been tried."""
    undated: list[str] = field(factory=list)
    """Which matches were left out because they have no date, as far as they have been tried."""
    other_players: set[str] = field(factory=set)
    """Some players of matches without the player who is asked for."""

    @classmethod
    def of(  # noqa: PLR0913 - one argument per option
        cls,
        *,
        files: tuple[Path, ...],
        number: int | None,
        store: str | None,
        config: Path | None,
        last: int | None,
        decisions: DecisionSelection,
        required: bool = True,
    ) -> Self:
        """Return the selection; raise UserError if the options contradict each other, or select nothing if required."""
        if files and (store is not None or config):
            raise UserError("expected FILE, or a store with --store or --config, got both")
        if not files and number is None and store is None and config is None:
            if not required:
                return cls((), None, None, decisions, last)
            raise UserError(NOTHING_CHOSEN)
        if len(files) == 1:
            _check_readable(files[0])
        location = None if files else store or configured_store(config)
        return cls(files, number, location, decisions, last or (None if files else DEFAULT_LAST))

    @property
    def is_empty(self) -> bool:
        """Whether no matches are asked for, as far as that is allowed."""
        return not self.files and self.store is None

    def none_found(self) -> UserError:
        """Return the error for a selection without a match that can be analysed."""
        if self.skipped:
            more = f", and {plural(len(self.skipped) - 1, 'more file')}" if len(self.skipped) > 1 else ""
            return UserError(f"{self.skipped[0]}{more}")
        wanted = []
        if self.match is not None:
            wanted.append(f"--match {self.match}")
        if self.decisions.player is not None:
            wanted.append(f"--player {self.decisions.player}")
        if self.decisions.since is not None:
            wanted.append(f"--since {self.decisions.since:%Y-%m-%d}")
        of = f" for {' and '.join(wanted)}" if wanted else ""
        reasons = [self.without_date] if self.undated else []
        if self.other_players:
            names = sorted(clean(name, 40) for name in self.other_players)
            reasons.append(f"there are matches of {join_words(names)}")
        why = "".join(f"; {reason}" for reason in reasons)
        return UserError(f"expected at least one match{of}, found none that can be analysed{why}")

    @property
    def without_date(self) -> str:
        """How many matches were left out because they have no date, in words."""
        return f"{plural(len(self.undated), 'match')} without a date, such as {clean(self.undated[0], 100)}"

    def has_match(self, name: str, names: Collection[str], started: dt.datetime | None) -> bool:
        """Return whether a match may have decisions that are selected; if not, note what may be a mistake.

        Args:
            name: what the match is called.
            names: those of its players.
            started: when it began, UTC; None if that is unknown.
        """
        if not self.decisions.has_player(*names):
            if len(self.other_players) < MAX_NAMES:
                self.other_players.update(names)
            return False
        if started is None and self.decisions.since is not None:
            self.undated.append(name)
        return self.decisions.has_date(started)


def _check_readable(path: Path) -> None:
    """Raise UserError for a file that cannot be read, before the engine gets ready."""
    if str(path) == STDIO or path.is_dir():
        return
    with os_errors_as(UserError, f"cannot read {path}"):
        path.open("rb").close()


@frozen
class SelectedMatch:
    """A match, and what it is called."""

    name: str
    """In messages."""
    number: int
    """In file names: that of the store, or counted from 1."""
    transcript: Transcript

    @property
    def short_name(self) -> str:
        """The name without the folder."""
        return self.name.rpartition(os.sep)[2]


_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS: Final = (
    click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path)),
    click.option(
        "--match", "number", metavar="ID", type=click.IntRange(1), help="Select one match of the files or the store."
    ),
    click.option(
        "--store", metavar="PLACE", is_flag=False, flag_value="", help="Read matches from this store, a file or a URL."
    ),
    click.option(
        "--config", metavar="FILE", type=click.Path(path_type=Path), help="Configuration file that names the store."
    ),
    click.option(
        "--last",
        metavar="N",
        type=click.IntRange(1),
        help=f"Select the last N matches.  [default: all of files, {DEFAULT_LAST} of a store]",
    ),
)
_PARAMETERS: Final = ("files", "number", "store", "config", "last", "decisions")
"""The names of their parameters, as `MatchSelection.of` takes them."""


def match_options(*, least_loss: float = GRADED.least_loss, required: bool = True) -> Callable[[_Command], _Command]:
    """Return a decorator that adds the options which select matches and decisions in them.

    The command gets one MatchSelection in their place.

    Args:
        least_loss: least loss of the decisions unless an option says another one.
        required: whether the command needs matches; if not, the selection may be empty.
    """

    def decorate(command: _Command) -> _Command:
        @functools.wraps(command)
        def run(**options: Any) -> None:
            chosen = {name: options.pop(name) for name in _PARAMETERS}
            command(MatchSelection.of(**chosen, required=required), **options)

        decorated: Any = decision_options(least_loss)(run)
        for option in reversed(_OPTIONS):
            decorated = option(decorated)
        return cast("_Command", decorated)

    return decorate


evaluator_option: Final = click.option(
    "--evaluator",
    metavar="NAME",
    default=DEFAULT_STRATEGY,
    show_default=True,
    help="Strategy that evaluates positions; `fibsbot strategies` lists them.",
)
journal_option: Final = click.option(
    "--journal",
    metavar="FILE",
    type=FILE,
    help="Keep finished work in this file; the same command goes on with it after an interruption.",
)
plies_option: Final = click.option(
    "--plies",
    metavar="N",
    type=click.IntRange(0, MAX_PLIES),
    help=f"Plies that the engine looks ahead, 0 to {MAX_PLIES}.",
)


# -- which matches --------------------------------------------------------------------------------------------------


def selected_matches(selection: MatchSelection) -> Iterator[SelectedMatch]:
    """Return the selected matches: those of files in their order, those of a store from the latest."""
    found = _of_files(selection) if selection.store is None else _of_store(selection, selection.store)
    if selection.files and selection.last:
        found = iter(deque(found, maxlen=selection.last))
    return found


def checked_matches(selection: MatchSelection, judge: str) -> Iterator[SelectedMatch]:
    """Return the selected matches, after checking that there are any, and then that the judge can evaluate.

    Loading the judge takes seconds: mistakes that are found quickly are reported before.
    """
    found = selected_matches(selection)
    if selection.store is None:
        first = list(itertools.islice(found, 1))
        some = bool(first)
    else:
        first, some = [], _has_any(selection, selection.store)
    if some:
        with open_evaluator(judge):
            pass
    return itertools.chain(first, found)


def _of_files(selection: MatchSelection) -> Iterator[SelectedMatch]:
    number = 0
    for path in selection.files:
        for source in find_sources([path]) if path.is_dir() else [ReplaySource((path,))]:
            name = source.name
            try:
                for place, transcript in enumerate(_transcripts_in(source), start=1):
                    number += 1
                    match = SelectedMatch(f"{name}, match {place}", number, transcript)
                    if _is_wanted(selection, match):
                        yield match
            except (FormatError, CaptureError) as error:
                selection.skipped.append(f"{name}: {error}")
            except OSError as error:
                selection.skipped.append(f"cannot read {name}: {error.strerror}")


def _transcripts_in(source: ReplaySource) -> Iterator[Transcript]:
    """Yield the matches in a file, or in the parts of a log."""
    first = source.paths[0]
    if len(source.paths) == 1:
        with saved_stdin() if str(first) == STDIO else contextlib.nullcontext(first) as file:
            yield from load_transcripts(file)
        return
    from fibsbot.replay.captures import read_captures  # noqa: PLC0415 - slow to import: all that a server can say

    yield from transcripts_of_capture(read_captures(source.paths))


def _is_wanted(selection: MatchSelection, match: SelectedMatch) -> bool:
    names = [player.name for player in match.transcript.players]
    in_files = selection.match in {None, match.number}
    return in_files and selection.has_match(match.name, names, match_start(match.transcript))


def _of_store(selection: MatchSelection, place: str) -> Iterator[SelectedMatch]:
    from fibsbot.records.store import Store, StoreError  # noqa: PLC0415 - SQLAlchemy is slow to import

    with Store.open(place) as store:
        for match in _matches(selection, store):
            try:
                transcript = store.transcript(match)
            except StoreError as error:
                if selection.match is not None:
                    raise
                click.echo(f"match {match.id} is left out: {error}", err=True)
                continue
            yield SelectedMatch(f"match {match.id}", match.id, transcript)


def _has_any(selection: MatchSelection, place: str) -> bool:
    """Whether there is any match in a store of those that are wanted."""
    from fibsbot.records.store import Store  # noqa: PLC0415 - SQLAlchemy is slow to import

    with Store.open(place) as store:
        return any(True for _ in _matches(selection, store))


def _matches(selection: MatchSelection, store: Store) -> Iterable[StoredMatch]:
    if selection.match is None:
        found: Iterable[StoredMatch] = store.matches(since=selection.decisions.since)
    else:
        match = store.match(selection.match)
        if match is None:
            raise UserError(f"the store has no match {selection.match}")
        found = [match]
    wanted = (
        match
        for match in found
        if selection.has_match(f"match {match.id}", (match.account, match.opponent), match.started)
    )
    return reversed(deque(wanted, maxlen=selection.last))


@contextlib.contextmanager
def _open_journal(path: Path | None) -> Iterator[Journal | None]:
    """Open a journal for results of this version of the program, if there is a path; raise UserError."""
    if path is None:
        yield None
        return
    from fibsbot.workers.fingerprint import fingerprint_digest  # noqa: PLC0415 - reads the whole program

    try:
        with Journal(path, fingerprint_digest()) as journal:
            yield journal
    except JournalError as error:
        raise UserError(str(error)) from None


# -- analysing ------------------------------------------------------------------------------------------------------


@define
class AnalysisRun:
    """Analyses selected matches, and counts those that cannot be analysed."""

    evaluator: str
    luck: bool
    progress: ProgressDisplay
    pool: WorkerPool | None = None
    journal: Journal | None = None
    failed: int = 0

    @classmethod
    @contextlib.contextmanager
    def open(
        cls,
        evaluator: str,
        workers: WorkerOptions,
        journal: Path | None,
        *,
        luck: bool,
        display: ProgressDisplay | None = None,
    ) -> Iterator[Self]:
        """Start the workers, open the journal and show the progress. Raises UserError if nothing can be analysed.

        The progress is shown by `display`, or in the terminal.
        """
        try:
            with (
                store_errors(),
                progress_bar("decisions") if display is None else contextlib.nullcontext(display) as progress,
                workers.open_if_chosen() as pool,
                _open_journal(journal) as kept,
            ):
                yield cls(evaluator, luck, progress, pool, kept)
        except StrategyError as error:
            raise UserError(str(error)) from None

    def exit_status(self, selection: MatchSelection) -> int:
        """List the files that were skipped, and return the exit status: 1 if anything was left out."""
        print_lines([f"skipped: {clean(reason, 300)}" for reason in selection.skipped], err=True)
        if selection.undated:
            click.echo(f"left out by --since: {selection.without_date}", err=True)
        return 1 if self.failed or selection.skipped else 0

    def analyses_of_all(self, found: Sequence[SelectedMatch]) -> Iterator[tuple[SelectedMatch, MatchAnalysis]]:
        """Yield what `analyses` does, with a progress bar that knows the total."""
        return self.analyses(found, of=sum(count_entries(match.transcript) for match in found))

    def analyses(
        self, found: Iterable[SelectedMatch], *, of: int | None = None
    ) -> Iterator[tuple[SelectedMatch, MatchAnalysis]]:
        """Yield each match with its analysis; one that cannot be analysed is reported on stderr.

        `of` is the number of entries in all matches, for the progress bar, if it is known.
        """
        waiting: deque[SelectedMatch] = deque()
        done = 0

        def transcripts() -> Iterator[Transcript]:
            for match in found:
                waiting.append(match)
                yield match.transcript

        def tick(analysed: int, _: int) -> None:
            nonlocal done
            done += analysed
            self.progress(done, of)

        self.progress(0, of)
        with contextlib.closing(
            analyse_matches(
                transcripts(),
                self.evaluator,
                luck=self.luck,
                pool=self.pool,
                journal=self.journal,
                tick=tick,
                on_progress=self.progress.follow,
            )
        ) as every:
            for result in every:
                match = waiting.popleft()
                if isinstance(result, MatchAnalysis):
                    yield match, result
                else:
                    self.failed += 1
                    click.echo(f"{match.name} is left out: {clean(str(result), 300)}", err=True)
