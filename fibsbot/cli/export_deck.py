"""`fibsbot export --format anki`: errors in matches as a deck of Anki."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Final

import click

from fibsbot.cli import EXIT_FAILED, UserError
from fibsbot.cli.matches import AnalysisRun, MatchSelection, SelectedMatch, checked_matches
from fibsbot.cli.options import WorkerOptions, store_errors
from fibsbot.cli.output import STDIO, check_free, check_writable, print_lines, progress_bar, write_bytes
from fibsbot.drawing.markup import clean
from fibsbot.files import os_errors_as, replacing
from fibsbot.practice.anki import write_deck
from fibsbot.practice.exercises import NAME_LENGTH, Exercise, exercises_of, own_seats
from fibsbot.text import join_words, plural


def export_deck(  # noqa: PLR0913 - what the options say
    selection: MatchSelection,
    evaluator: str,
    workers: WorkerOptions,
    journal: Path | None,
    target: str | None,
    *,
    force: bool,
) -> int:
    """Analyse matches and write a deck of the errors in them; return the exit status: 1 if any match was left out.

    Raises UserError for a target that cannot be written, before the analysis, and where there is nothing to write.
    """
    path = _deck_file(target, force=force)
    player = selection.decisions.player
    with store_errors():
        found = list(checked_matches(selection, evaluator))
    ours = [match for match in found if own_seats(match.transcript, player)]
    if found and not ours:
        raise UserError(f"expected --player NAME: {_whose(found)}")
    exercises: list[Exercise] = []
    with AnalysisRun.open(evaluator, workers, journal, luck=False) as work:
        for match, analysis in work.analyses_of_all(ours):
            seats = own_seats(analysis.transcript, player)
            exercises += exercises_of(analysis, seats, selection=selection.decisions, source=match.short_name)
    if len(ours) == work.failed:
        raise selection.none_found()
    if not exercises:
        words = clean(selection.decisions.words, 200)
        raise UserError(f"expected an error to write, found none in {plural(len(ours), 'match')} ({words})")
    count = _write(exercises, path)
    if path is not None:
        click.echo(f"{path}: {plural(count, 'card')} from {plural(len(ours) - work.failed, 'match')}")
    unclear = [match.short_name for match in found if not own_seats(match.transcript, player)]
    print_lines([f"{name} does not say whose it is: --player NAME does" for name in unclear], err=True)
    return work.exit_status(selection) or (EXIT_FAILED if unclear else 0)


def _deck_file(target: str | None, *, force: bool) -> Path | None:
    """Return the file of the deck; None for the standard output."""
    if target is None:
        raise UserError("expected -o FILE for a deck of Anki, or -o - for the standard output")
    if target == STDIO:
        return None
    path = Path(target)
    if path.is_dir() or target.endswith(os.sep):
        raise UserError(f"expected a file for the deck of Anki, got the folder {target}")
    check_free(path, force=force)
    check_writable(path.parent, parents=True)
    return path


def _whose(found: list[SelectedMatch]) -> str:
    """Return who played, for a person who has to choose."""
    names = list(dict.fromkeys(clean(one.name, NAME_LENGTH) for match in found for one in match.transcript.players))
    if len(names) > _NAMES:
        names[_NAMES:] = [plural(len(names) - _NAMES, "other")]
    return f"the matches do not say whose they are, and were played by {join_words(names)}"


_NAMES: Final = 6
"""Players that are named."""


def _write(exercises: list[Exercise], path: Path | None) -> int:
    """Write a deck; return how many cards it has."""
    with progress_bar("cards") as count:
        if path is None:
            content = io.BytesIO()
            written = write_deck(content, exercises, count)
            write_bytes(content.getvalue())
            return written
        with os_errors_as(UserError, f"cannot write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as part, part.open("xb") as file:
                return write_deck(file, exercises, count)
