"""`fibsbot report`: matches studied, as pages to look at in a browser."""

from __future__ import annotations

import itertools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import click
from attrs import define, evolve, frozen

from fibsbot.cli import UserError
from fibsbot.cli.progress import shown_progress
from fibsbot.cli.stores import place_by_config, store_errors
from fibsbot.draw.markup import clean
from fibsbot.formats.errors import FormatError
from fibsbot.records.store import Match, Store, StoreError
from fibsbot.replay.captures import CaptureError
from fibsbot.replay.loading import load_transcripts
from fibsbot.report.index import Listed
from fibsbot.report.page import index_page, report_page
from fibsbot.strategies.loader import StrategyError
from fibsbot.study.by_game import study_by_game
from fibsbot.study.many import opened_judge
from fibsbot.study.model import MatchStudy
from fibsbot.transcript import Transcript

LAST: Final = 20
"""Matches of a store that are shown where nothing else is asked for."""
MOST: Final = 100
"""Matches on one page: a browser has to bear it."""
FEW: Final = 20
"""Entries that are studied sooner than further processes have started."""
INDEX: Final = "index.html"
NAME: Final = 40
"""Characters of a name in a title at most."""
_Tick: TypeAlias = Callable[[int, int | None], None]
"""Takes how many games have been studied, of how many if that is known."""


@frozen
class _Asked:
    """Which matches are wanted."""

    files: tuple[Path, ...]
    match: int | None
    store: str | None
    """Where the store is; None where only files are wanted."""
    opponent: str | None
    last: int | None


@frozen
class _Found:
    """A match, and what it is called."""

    name: str
    """In messages."""
    number: int
    """In file names: that of the store, or counted from 1."""
    transcript: Transcript


@click.command()
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--match", "number", metavar="ID", type=click.IntRange(1), help="Only this match of the files or the store."
)
@click.option("--db", metavar="PLACE", is_flag=False, flag_value="", help="Matches of the store: a file or a URL.")
@click.option(
    "--config", metavar="FILE", type=click.Path(path_type=Path), help="File of settings that names the store."
)
@click.option(
    "--last", metavar="N", type=click.IntRange(1), help=f"The last N matches only; of a store {LAST} unless told."
)
@click.option("--opponent", metavar="NAME", help="Matches with this player only.")
@click.option(
    "-o",
    "--output",
    "target",
    metavar="OUT",
    default="report.html",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where to: a page if it ends in .html, else a folder with a page a match.",
)
@click.option("--engine", metavar="NAME", default="handmade", show_default=True, help="The strategy that judges.")
@click.option("--luck/--no-luck", default=True, help="Whether the luck of each throw is worked out: it takes longest.")
@click.option("--force", is_flag=True, help="Replace what is there already.")
def report(  # noqa: PLR0913, PLR0917 - one argument an option
    files: tuple[Path, ...],
    number: int | None,
    db: str | None,
    config: Path | None,
    last: int | None,
    opponent: str | None,
    target: Path,
    engine: str,
    *,
    luck: bool,
    force: bool,
) -> None:
    """Write a page about matches: boards, score sheet, errors, luck and dice.

    FILE is whatever shows a match: a session log, a capture of any client, .mat, SGF, oldmoves text, our own JSON. The
    page needs no network and no other file, and works from disk. Every decision of both players is judged by the
    engine. The exit status is 1 if a match had to be left out.
    """
    if files and (db is not None or config):
        raise UserError("expected FILE, or a store with --db or --config, got both")
    if not files and number is None and db is None and config is None:
        raise UserError("expected FILE, or a match of the store with --match, or the store with --db or --config")
    place = None if files else db or place_by_config(config)
    asked = _Asked(files, number, place, opponent, last or (None if files else LAST))
    single = target.suffix.lower() in {".html", ".htm"}
    _check_free(target, single=single, force=force)
    try:
        with opened_judge(engine):
            pass  # a wrong name is told before any work is done
        with store_errors(), shown_progress("games") as tick:
            work = _Work(engine, luck, tick)
            written = (_write_page if single else _write_folder)(target, asked, work)
    except StrategyError as error:
        raise UserError(str(error)) from None
    click.echo(written)
    sys.exit(1 if work.failed else 0)


# -- which matches --------------------------------------------------------------------------------------------------


def _found(asked: _Asked) -> Iterator[_Found]:
    """Return the matches that are wanted: those of files in their order, those of a store the latest first."""
    found = _of_files(asked) if asked.store is None else _of_store(asked, asked.store)
    if asked.files and asked.last:
        found = iter(deque(found, maxlen=asked.last))
    return found


def _of_files(asked: _Asked) -> Iterator[_Found]:
    number = 0
    for path in asked.files:
        try:
            for place, transcript in enumerate(load_transcripts(path), start=1):
                number += 1
                if _is_wanted(asked, number, transcript):
                    yield _Found(f"{path}, match {place}", number, transcript)
        except (FormatError, CaptureError) as error:
            raise UserError(f"{path}: {error}") from None
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from None


def _is_wanted(asked: _Asked, number: int, transcript: Transcript) -> bool:
    names = {player.name for player in transcript.players}
    return asked.match in {None, number} and asked.opponent in {None, *names}


def _of_store(asked: _Asked, place: str) -> Iterator[_Found]:
    with Store.open(place) as store:
        for match in _matches(asked, store):
            try:
                transcript = store.transcript(match)
            except StoreError as error:
                if asked.match is not None:
                    raise
                click.echo(f"match {match.id} is left out: {error}", err=True)
                continue
            yield _Found(f"match {match.id}", match.id, transcript)


def _matches(asked: _Asked, store: Store) -> Iterable[Match]:
    if asked.match is None:
        return reversed(deque(store.matches(opponent=asked.opponent), maxlen=asked.last))
    match = store.match(asked.match)
    if match is None:
        raise UserError(f"the store has no match {asked.match}")
    return [match]


# -- studying and writing -------------------------------------------------------------------------------------------


@define
class _Work:
    """Studies what was found, and remembers what could not be studied."""

    engine: str
    luck: bool
    tick: _Tick
    failed: int = 0

    def studies(
        self, found: Iterable[_Found], games: int | None = None, cores: int | None = None
    ) -> Iterator[tuple[_Found, MatchStudy]]:
        """Yield each match with its study, one that cannot be studied is told on stderr.

        `games` is how many they have, if that is known, `cores` how many are used, all by default.
        """
        waiting: deque[_Found] = deque()

        def transcripts() -> Iterator[Transcript]:
            for it in found:
                waiting.append(it)
                yield it.transcript

        done = itertools.count(1)
        every = study_by_game(
            transcripts(), self.engine, luck=self.luck, cores=cores, tick=lambda: self.tick(next(done), games)
        )
        for studied in every:
            it = waiting.popleft()
            if isinstance(studied, MatchStudy):
                yield it, studied
            else:
                self.failed += 1
                click.echo(f"{it.name} is left out: {clean(str(studied), 300)}", err=True)


def _write_page(target: Path, asked: _Asked, work: _Work) -> str:
    found = list(itertools.islice(_found(asked), MOST + 1))
    if len(found) > MOST:
        raise UserError(
            f"expected {MOST} matches at most on a page, got more: use --last N, or -o FOLDER for a page each"
        )
    games = sum(max(1, len(it.transcript.games)) for it in found)
    entries = sum(len(game.entries) for it in found for game in it.transcript.games)
    studies = [study for _, study in work.studies(found, games, cores=1 if entries < FEW else None)]
    _check_any(len(studies))
    _write(target, report_page(studies, title=_title([it.transcript for it in studies])))
    return f"{target}: {_counted(len(studies))}, {target.stat().st_size // 1000} kB"


def _write_folder(target: Path, asked: _Asked, work: _Work) -> str:
    """Write page by page, so that only a few matches are in memory however many there are."""
    listed = []
    for it, study in work.studies(_found(asked)):
        target.mkdir(parents=True, exist_ok=True)
        name = f"match-{it.number}.html"
        _write(target / name, report_page([study], title=_title([study.transcript])))
        listed.append(_line(study, name))
    _check_any(len(listed))
    _write(target / INDEX, index_page(listed, title=_counted(len(listed))))
    return f"{target / INDEX}: {_counted(len(listed))}"


def _line(study: MatchStudy, href: str) -> Listed:
    """Note what the index tells of a match; of its games that is only how the last one ended."""
    last = tuple(evolve(game, entries=()) for game in study.transcript.games[-1:])
    return Listed(href, evolve(study.transcript, games=last), study.figures)


def _title(transcripts: list[Transcript]) -> str:
    if len(transcripts) != 1:
        return _counted(len(transcripts))
    a, b = transcripts[0].players
    return f"{clean(a.name, NAME)} \N{EN DASH} {clean(b.name, NAME)}"


def _counted(count: int) -> str:
    return f"{count} match{'' if count == 1 else 'es'}"


def _check_any(count: int) -> None:
    if not count:
        raise UserError("expected a match at least, found none that can be studied")


def _check_free(target: Path, *, single: bool, force: bool) -> None:
    """Refuse to replace anything, before work is done in vain."""
    place = target if single else target / INDEX
    if place.exists() and not force:
        raise UserError(f"{place} is there already; --force replaces it")
    if single and target.is_dir():
        raise UserError(f"expected a file to write, got the folder {target}")
    if not single and target.exists() and not target.is_dir():
        raise UserError(f"expected a file that ends in .html, or a folder, got {target}")
    if single and not target.parent.is_dir():
        raise UserError(f"there is no folder {target.parent} to write {target.name} into")


def _write(target: Path, page: str) -> None:
    """Write a page, which appears under its name once it is whole."""
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_text(page, "utf-8")
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(f"cannot write {target}: {error.strerror}") from None
