"""`fibsbot report`: analysed matches as HTML pages."""

from __future__ import annotations

import itertools
import sys
from functools import partial
from pathlib import Path
from typing import Final

import click
from attrs import evolve, field, frozen

from fibsbot.analysis.model import MatchAnalysis
from fibsbot.cli import UserError
from fibsbot.cli.matches import (
    NOTHING_CHOSEN,
    AnalysisRun,
    MatchSelection,
    checked_matches,
    evaluator_option,
    journal_option,
    match_options,
    plies_option,
)
from fibsbot.cli.options import WorkerOptions, engine_name, rollout_options, worker_options
from fibsbot.cli.output import STDIO, check_free, check_writable, write_bytes
from fibsbot.files import os_errors_as, replacing
from fibsbot.report.page import IndexEntry, index_page, match_title, report_page, report_policy
from fibsbot.report.timeline import match_timeline
from fibsbot.report.totals import MatchTotals
from fibsbot.text import plural
from fibsbot.transcript import Transcript

MAX_MATCHES: Final = 100
"""Matches on one page: a browser has to bear it."""
INDEX: Final = "index.html"


@click.command()
@match_options(required=False)
@click.option(
    "-o",
    "--output",
    "target",
    metavar="OUT",
    default="report.html",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Write one page if OUT ends in .html or is `-`, the standard output, else a folder with a page per match.",
)
@evaluator_option
@plies_option
@rollout_options
@click.option("--luck/--no-luck", default=True, help="Analyse the luck of each roll, which takes longest.")
@worker_options
@journal_option
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--serve", is_flag=True, help="Write nothing, but show the page, and a board to try plays, in a browser.")
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port to serve.  [default: 8375 if it is free]")
@click.option("--no-browser", is_flag=True, help="With --serve, only print the address.")
def report(  # noqa: PLR0913 - one argument per option
    selection: MatchSelection,
    *,
    target: Path,
    evaluator: str,
    plies: int | None,
    rollout: int | None,
    luck: bool,
    workers: WorkerOptions,
    journal: Path | None,
    force: bool,
    serve: bool,
    port: int,
    no_browser: bool,
) -> None:
    """Write an HTML report about matches: boards, score sheet, errors, luck and dice.

    FILE contains matches: a session log, a capture of any client, .mat, SGF, .xg, .bgf, oldmoves text, our own JSON;
    `-` is the standard input, a folder means all files below it. The page needs no network and no other file. The
    engine evaluates every decision of both players. The exit status is 1 if a match or a file had to be left out.

    `--player`, `--since`, `--kind`, `--class` and `--worse-than` select the errors that the page lists and asks for
    when you practise. The figures of a match remain those of all its decisions.

    With `--serve` the page is shown until Ctrl-C, at an address that works on this machine only, with a board beside it
    on which you try plays of your own and get the engine's verdict, in positions of the matches or in one that you
    paste as an ID. That needs no FILE.
    """
    if serve:
        name = engine_name("evaluator", evaluator, plies, rollout)
        serving = ServedReport(selection, name, workers, journal, luck=luck)
        sys.exit(serving.run(port, browse=not no_browser))
    if selection.is_empty:
        raise UserError(NOTHING_CHOSEN)
    to_stdout = str(target) == STDIO
    single = to_stdout or target.suffix.lower() in {".html", ".htm"}
    if not to_stdout:
        _check_free(target, single=single, force=force)
    name = engine_name("evaluator", evaluator, plies, rollout)
    with AnalysisRun.open(name, workers, journal, luck=luck) as work:
        written = (_write_page if single else _write_folder)(target, selection, work)
    click.echo(written, err=to_stdout)
    sys.exit(work.exit_status(selection))


@frozen
class ServedReport:
    """A report that is shown in a browser, with a board."""

    selection: MatchSelection
    evaluator: str
    workers: WorkerOptions
    journal: Path | None
    luck: bool = field(kw_only=True)

    def run(self, port: int, *, browse: bool) -> int:
        """Analyse, and serve the page until a signal; return the exit status."""
        from fibsbot.cli.page_session import serve_page  # noqa: PLC0415 - aiohttp, which a file does without
        from fibsbot.report.links import find_exercise  # noqa: PLC0415 - as above
        from fibsbot.table.hosts import Document  # noqa: PLC0415
        from fibsbot.table.study_host import REPORT, StudyHost  # noqa: PLC0415

        analyses: list[MatchAnalysis] = []
        status = 0
        if not self.selection.is_empty:
            with AnalysisRun.open(self.evaluator, self.workers, self.journal, luck=self.luck) as work:
                analyses = _analyses_of_page(self.selection, work)
            status = work.exit_status(self.selection)
        document = None
        if analyses:
            selected = self.selection.decisions
            page = report_page(analyses, title=_title_of(analyses), board="./?entry=", selection=selected)
            document = Document(page, f"{report_policy()}; frame-ancestors 'none'")
        find = partial(find_exercise, analyses, selection=self.selection.decisions)
        serve_page(
            lambda: StudyHost(self.evaluator, document, find),
            port,
            "",
            browse=browse,
            path=REPORT if document else "",
        )
        return status


def _analyses_of_page(selection: MatchSelection, work: AnalysisRun) -> list[MatchAnalysis]:
    """Return the analyses for a single page. Raises UserError if there are none, or too many."""
    found = list(itertools.islice(checked_matches(selection, work.evaluator), MAX_MATCHES + 1))
    if len(found) > MAX_MATCHES:
        raise UserError(
            f"expected {MAX_MATCHES} matches at most on a page, got more: use --last N, or -o FOLDER for one page each"
        )
    analyses = [analysis for _, analysis in work.analyses_of_all(found)]
    if not analyses:
        raise selection.none_found()
    return analyses


def _title_of(analyses: list[MatchAnalysis]) -> str:
    return _title([analysis.transcript for analysis in analyses])


def _write_page(target: Path, selection: MatchSelection, work: AnalysisRun) -> str:
    analyses = _analyses_of_page(selection, work)
    page = report_page(analyses, title=_title_of(analyses), selection=selection.decisions).encode()
    if str(target) == STDIO:
        write_bytes(page)
    else:
        _write(target, page)
    return f"{target}: {plural(len(analyses), 'match')}, {len(page) // 1000} kB"


def _write_folder(target: Path, selection: MatchSelection, work: AnalysisRun) -> str:
    """Write page by page, so that only a few matches are in memory however many there are."""
    listed, totals = [], MatchTotals(selection.decisions)
    for match, analysis in work.analyses(checked_matches(selection, work.evaluator)):
        _make_folder(target)
        name = f"match-{match.number}.html"
        page = report_page([analysis], title=_title([analysis.transcript]), selection=selection.decisions)
        _write(target / name, page.encode())
        listed.append(_line(analysis, name))
        totals.add(match_timeline(analysis, selection=selection.decisions), page=name)
    if not listed:
        raise selection.none_found()
    overview = totals if len(listed) > 1 else None
    _write(target / INDEX, index_page(listed, title=plural(len(listed), "match"), totals=overview).encode())
    return f"{target / INDEX}: {plural(len(listed), 'match')}"


def _line(analysis: MatchAnalysis, href: str) -> IndexEntry:
    """Keep the index row of a match, with only the end of its last game."""
    last = tuple(evolve(game, entries=()) for game in analysis.transcript.games[-1:])
    return evolve(IndexEntry.of(analysis, href), transcript=evolve(analysis.transcript, games=last))


def _title(transcripts: list[Transcript]) -> str:
    if len(transcripts) != 1:
        return plural(len(transcripts), "match")
    return match_title(transcripts[0])


def _check_free(target: Path, *, single: bool, force: bool) -> None:
    """Refuse to replace anything, or to write where that is impossible, before work is done in vain."""
    check_free(target if single else target / INDEX, force=force)
    if single and target.is_dir():
        raise UserError(f"expected a file to write, got the folder {target}")
    if not single and target.exists() and not target.is_dir():
        raise UserError(f"expected a file that ends in .html, or a folder, got {target}")
    check_writable(target, parents=not single)


def _make_folder(target: Path) -> None:
    with os_errors_as(UserError, f"cannot make the folder {target}"):
        target.mkdir(parents=True, exist_ok=True)


def _write(target: Path, page: bytes) -> None:
    with os_errors_as(UserError, f"cannot write {target}"), replacing(target) as part:
        part.write_bytes(page)
