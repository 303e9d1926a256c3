"""`fibsbot export`, `convert` and `parse`: matches to files of other programs; what a server said, as JSON."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

import click
from attrs import define, field, frozen
from click.core import ParameterSource

from fibsbot.analysis.model import GRADE_THRESHOLDS, Grade
from fibsbot.cli import UserError
from fibsbot.cli.matches import MatchSelection, evaluator_option, journal_option, match_options, plies_option
from fibsbot.cli.options import WorkerOptions, engine_name, store_errors, worker_options
from fibsbot.cli.output import STDIO, check_free, print_lines, progress_bar, saved_stdin, write_bytes
from fibsbot.files import os_errors_as, replacing
from fibsbot.formats import EXTENSIONS, Format, FormatError, read_chunks
from fibsbot.formats.conversion import (
    OF_EVERY_GAME,
    ONE_MATCH_FORMATS,
    can_say,
    lost_details,
    reading_remarks,
    write_matches,
)
from fibsbot.records.session_log import (
    CONNECTION_END_EVENTS,
    Header,
    ProgramEvent,
    Received,
    Record,
    SessionLogError,
    is_session_log,
    read_session_log,
)
from fibsbot.replay.log_reading import CaptureError, lines_with_offsets
from fibsbot.replay.match_files import find_format, read_match_file
from fibsbot.text import plural
from fibsbot.transcript import Transcript, TranscriptError

if TYPE_CHECKING:
    from fibs_protocol.stream import MessageReader, ParsedMessage


FORMATS: Final = click.Choice([kind.value for kind in Format if kind.writable])
ANKI: Final = "anki"
"""A deck for Anki: no format of matches, but of errors in them."""
DECK_EXTENSION: Final = ".apkg"
"""How the name of its file ends."""
LEAST_LOSS: Final = GRADE_THRESHOLDS[Grade.ERROR]
"""Loss from which a decision is in a deck: that of an error, as in `practice`."""
READABLE_FORMATS: Final = click.Choice([kind.value for kind in Format if kind.readable])


@frozen
class _NamedMatch:
    """A match, and how a file of its own is called."""

    name: str
    transcript: Transcript


@click.command()
@match_options(least_loss=LEAST_LOSS)
@click.option(
    "--format",
    "kind",
    metavar="NAME",
    type=click.Choice([*FORMATS.choices, ANKI]),
    help=f"Output format: {', '.join(FORMATS.choices)} or {ANKI}.  [default: by OUT's extension]",
)
@click.option("-o", "--output", "target", metavar="OUT", help="Write to a file, or to a folder with a file per match.")
@click.option("--force", is_flag=True, help="Replace existing files.")
@evaluator_option
@plies_option
@worker_options
@journal_option
def export(  # noqa: PLR0913 - one argument per option
    selection: MatchSelection,
    *,
    kind: str | None,
    target: str | None,
    force: bool,
    evaluator: str,
    plies: int | None,
    workers: WorkerOptions,
    journal: Path | None,
) -> None:
    """Export matches to other formats, or errors as a deck for Anki.

    FILE contains matches: a session log, a capture of any client, .mat, SGF, .xg, .bgf, oldmoves, our own JSON, an
    analysis of GNU Backgammon as text, a match of JavaFIBS; `-` is the standard input. Without FILE the matches come
    from the store. mat, sgf, oldmoves, sheet and json hold whole matches, gnubg-ids, xgid, snowie and positions one
    position per decision, csv one row per match; sheet, json, positions and csv can say every game. A mat, sgf or
    oldmoves file holds one match: further ones go to OUT-2, OUT-3 and so on. Information that the format cannot hold is
    listed on stderr.

    anki writes a deck with a card for each error in any number of files or folders, which are analysed for it: those
    of the log's owner, or of `--player`. `--last`, `--since`, `--kind`, `--class`, `--worse-than` and the options of
    the analysis (`--evaluator`, `--plies`, `--journal`, `--jobs`, `--scheduler`, `--tls-...`) are for anki alone.
    """
    if kind == ANKI or (kind is None and Path(target or "").suffix.lower() == DECK_EXTENSION):
        from fibsbot.cli.export_deck import export_deck  # noqa: PLC0415 - the analysis, for this format alone

        judge = engine_name("evaluator", evaluator, plies, None)
        sys.exit(export_deck(selection, judge, workers, journal, target, force=force))
    wanted = _kind(kind, target, "--format")
    _refuse_options_of_decks(wanted)
    if selection.store is not None:
        found = _representable(wanted, _from_store(selection.store, selection.match))
        try:
            _write(found, wanted, target, force=force)
        except FormatError as error:
            raise UserError(str(error)) from None
    else:
        if len(selection.files) > 1:
            raise UserError(f"expected one FILE for {wanted.value}, got {len(selection.files)}")
        source = str(selection.files[0])
        _write(_select(_from_file(source, None, wanted), selection.match, source), wanted, target, force=force)


def _refuse_options_of_decks(wanted: Format) -> None:
    """Raise UserError for an option that only a deck has."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name not in _OF_EVERY_FORMAT:
            raise UserError(f"expected {option.opts[-1]} with --format {ANKI} alone, got --format {wanted.value}")


_OF_EVERY_FORMAT: Final = {"files", "number", "store", "config", "kind", "target", "force"}
"""The parameters of `export` that are not for decks alone."""


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--from", "given", type=READABLE_FORMATS, help="Format of IN.  [default: by its content]")
@click.option("--to", "kind", type=FORMATS, help="Format of OUT.  [default: by its extension]")
@click.option("--match", "number", metavar="N", type=click.IntRange(1), help="Convert one match of IN.")
@click.option("--force", is_flag=True, help="Replace existing files.")
def convert(  # noqa: PLR0913 - one argument per option
    source: str, target: str, given: str | None, kind: str | None, number: int | None, *, force: bool
) -> None:
    """Convert between match formats.

    IN contains matches: .mat, SGF, .xg, .bgf, oldmoves, our own JSON, an analysis of GNU Backgammon as text, a match of
    JavaFIBS, a session log, a capture of any client. Several matches are written as by `fibsbot export`. `-` is the
    standard input or output.
    """
    wanted = _kind(kind, target, "--to")
    found = _from_file(source, Format(given) if given else None, wanted)
    _write(_select(found, number, source), wanted, target, force=force)


def _kind(kind: str | None, target: str | None, option: str) -> Format:
    found = Format(kind) if kind else EXTENSIONS.get(Path(target or "").suffix.lower())
    if found is None:
        ends = ", ".join([*EXTENSIONS, DECK_EXTENSION] if option == "--format" else EXTENSIONS)
        raise UserError(f"expected {option}, or a file name that ends in one of {ends}, got {target or 'neither'}")
    return found


# -- where matches come from ------------------------------------------------------------------------------------------


def _from_file(source: str, kind: Format | None, wanted: Format) -> Iterator[_NamedMatch]:
    """Yield the matches of a file that the wanted format can say; `kind` is what the file is, if that has been said."""
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(saved_stdin()) if source == STDIO else Path(source)
        stem = "match" if source == STDIO else path.name.split(".")[0] or "match"
        try:
            kind = kind or find_format(path)
            transcripts = read_match_file(path, kind) if kind else _from_capture(path)
            yield from _representable(
                wanted, (_NamedMatch(f"{stem}-{n}", transcript) for n, transcript in enumerate(transcripts, 1))
            )
        except OSError as error:
            raise UserError(f"cannot read {source}: {error.strerror or error}") from None
        except (FormatError, CaptureError) as error:
            raise UserError(f"{source}: {error}") from None


def _representable(wanted: Format, found: Iterable[_NamedMatch]) -> Iterator[_NamedMatch]:
    """Leave out matches of games that a format cannot say, and say so; raise FormatError if it can say none."""
    unsaid: dict[str, int] = {}
    any_said = False
    for named in found:
        if can_say(wanted, named.transcript):
            any_said = True
            yield named
        else:
            game = named.transcript.rules.full_name
            unsaid[game] = unsaid.get(game, 0) + 1
    if unsaid:
        games, every = ", ".join(unsaid), ", ".join(kind.value for kind in OF_EVERY_GAME)
        if not any_said:
            raise FormatError(f"{wanted.value} cannot say games of {games}; {every} can")
        left_out = plural(sum(unsaid.values()), "match")
        click.echo(f"left out, as {wanted.value} cannot say the game: {left_out} of {games}; {every} can", err=True)


def _from_capture(path: Path) -> Iterator[Transcript]:
    """Return the matches of a session log or a capture."""
    from fibsbot.replay.captures import read_captures  # noqa: PLC0415 - slow to import: all that a server can say
    from fibsbot.replay.match_files import transcripts_of_capture  # noqa: PLC0415

    return transcripts_of_capture(read_captures([path]))


def _select(found: Iterator[_NamedMatch], number: int | None, source: str) -> Iterator[_NamedMatch]:
    """Yield all matches of a file, or one of them."""
    seen = 0
    for seen, named in enumerate(found, 1):
        if number in {None, seen}:
            yield named
        if number == seen:
            return
    if number is not None or not seen:
        raise UserError(
            f"{source}: expected a match{f' {number}' if number else ''}, got {plural(seen, 'match')} in all"
        )


def _from_store(place: str, number: int | None) -> Iterator[_NamedMatch]:
    """Yield all complete matches of a store, or one of them."""
    from fibsbot.records.store import Store, StoreError  # noqa: PLC0415 - SQLAlchemy is slow to import

    with store_errors(), Store.open(place) as store:
        if number is not None:
            match = store.match(number)
            if match is None:
                raise UserError(f"the store has no match {number}")
            yield _NamedMatch(f"match-{number}", store.transcript(match))
            return
        untold = 0
        for match in store.matches():
            try:
                transcript = store.transcript(match)
            except StoreError:
                untold += 1
            else:
                yield _NamedMatch(f"match-{match.id}", transcript)
        if untold:
            click.echo(f"left out: {plural(untold, 'match')} of which the store has results only", err=True)


# -- where they go ----------------------------------------------------------------------------------------------------


@define
class _Writer:
    """What is being written, and what could not be said."""

    kind: Format
    force: bool
    count: Callable[[int, int | None], None]
    unsaid: dict[str, None] = field(factory=dict)
    remarks: list[str] = field(factory=list)
    """What could not be read of the matches."""
    written: list[str] = field(factory=list)
    """The files that were written, each with what is in it."""
    done: int = 0

    def pieces(self, found: Iterable[_NamedMatch]) -> Iterator[str]:
        """Yield the text of these matches."""
        try:
            yield from write_matches(self.kind, self._noted(found))
        except TranscriptError as error:
            raise UserError(f"match {self.done}: {error}") from None

    def _noted(self, found: Iterable[_NamedMatch]) -> Iterator[Transcript]:
        for named in found:
            self.done += 1
            self.count(self.done, None)
            self.unsaid |= dict.fromkeys(lost_details(self.kind, named.transcript))
            self.remarks += (f"{named.name}, {remark}" for remark in reading_remarks(named.transcript))
            yield named.transcript

    def file(self, path: Path, found: Iterable[_NamedMatch]) -> None:
        """Write a file, which appears under its name once it is whole."""
        check_free(path, force=self.force)
        before = self.done
        with os_errors_as(UserError, f"cannot write {path}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as part, part.open("x", encoding="utf-8", newline="") as file:
                file.writelines(self.pieces(found))
        self.written.append(f"{path}: {plural(self.done - before, 'match')}")


def _write(found: Iterator[_NamedMatch], kind: Format, target: str | None, *, force: bool) -> None:
    with progress_bar("matches") as count:
        writing = _Writer(kind, force, count)
        first = list(islice(found, 1))
        if not first:
            raise UserError("there is no match to write")
        try:
            _write_to(chain(first, found), writing, target)
        finally:
            print_lines(writing.written)
    print_lines(writing.remarks, err=True)
    if writing.unsaid:
        click.echo(f"left out, as {kind.value} cannot say it: {', '.join(writing.unsaid)}", err=True)


def _write_to(found: Iterator[_NamedMatch], writing: _Writer, target: str | None) -> None:
    """Write matches to the standard output, into a folder, or into one or more files."""
    alone = writing.kind in ONE_MATCH_FORMATS
    if target is None or target == STDIO:
        matches = list(islice(found, 2)) if alone else []
        if len(matches) > 1:
            kind = writing.kind.value
            raise UserError(f"there are several matches: expected --match N, or a file or folder to write {kind} to")
        for piece in writing.pieces(chain(matches, found)):
            write_bytes(piece.encode())
        return
    path = Path(target)
    if path.is_dir() or target.endswith(os.sep):
        for named in found:
            writing.file(path / f"{named.name}{writing.kind.extension}", [named])
    elif alone:
        for number, named in enumerate(found, 1):
            writing.file(path if number == 1 else path.with_stem(f"{path.stem}-{number}"), [named])
    else:
        writing.file(path, found)


# -- parse -------------------------------------------------------------------------------------------------------------


_FEWEST: Final = 64
"""Bytes by which it shows what a file is."""
_BLOCK: Final = 1000
"""Messages that are printed at once."""


@click.command()
@click.argument("file")
@click.option("--unknown", is_flag=True, help="Print only what was not understood.")
def parse(*, file: str, unknown: bool) -> None:
    """Parse what a server sent; print one JSON object per message.

    FILE is a capture of the bytes, with CRLF or LF at the lines' ends, or a session log that `fibsbot play` wrote; `-`
    is the standard input. Either may be compressed by gzip. Each object has the message's kind, its fields, the line,
    and the line's offset in bytes.
    """
    from fibs_protocol.messages import RefusedBoard, Unknown  # noqa: PLC0415 - slow to import: all that a server can say
    from fibsbot.json_lines import write_message  # noqa: PLC0415 - likewise

    output = _Output()
    try:
        with click.open_file(file, "rb") as source:
            for received in _messages(output.written_before(read_chunks(cast("IO[bytes]", _UnbufferedReader(source))))):
                if not unknown or isinstance(received.message, Unknown | RefusedBoard):
                    output.add(write_message(received))
        output.write()
    except (OSError, FormatError, SessionLogError) as error:
        output.write()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UserError(f"cannot read {file}: {reason}") from None


class _UnbufferedReader:
    """A file whose reads return what has arrived, so that input from a pipe is printed although more may follow."""

    def __init__(self, file: IO[bytes]) -> None:
        self._read = getattr(file, "read1", file.read)
        self._begun = False

    def read(self, count: int) -> bytes:
        """Return some bytes, at first enough to detect a compressed file; none at the end."""
        data: bytes = self._read(count)
        while not self._begun and 0 < len(data) < _FEWEST and (more := self._read(count)):
            data += more
        self._begun = True
        return data


class _Output:
    """Lines that are printed in blocks."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        """Print a line with the next block."""
        self._lines.append(line)
        if len(self._lines) >= _BLOCK:
            self.write()

    def written_before(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a file; before each next one, which may be long in coming, print what there is."""
        for piece in pieces:
            yield piece
            self.write()

    def write(self) -> None:
        """Print the lines that wait."""
        if self._lines:
            lines, self._lines = self._lines, []
            sys.stdout.write("".join(lines))
            sys.stdout.flush()


def _messages(pieces: Iterator[bytes]) -> Iterator[ParsedMessage]:
    start = b""
    for piece in pieces:
        start += piece
        if b"\n" in start or len(start) >= _FEWEST:
            break
    whole = itertools.chain([start], pieces)
    return _logged(line for _, line in lines_with_offsets(whole)) if is_session_log(start) else _captured(whole)


def _captured(pieces: Iterator[bytes]) -> Iterator[ParsedMessage]:
    from fibs_protocol.stream import MessageReader  # noqa: PLC0415 - see `parse`

    reader = MessageReader()
    for piece in pieces:
        if piece:
            yield from _read(reader, piece)
    yield from _read(reader, b"")


def _logged(lines: Iterator[bytes]) -> Iterator[ParsedMessage]:
    """Read what was received; a header that continues nothing and a lost connection begin another one."""
    from fibs_protocol.stream import MessageReader  # noqa: PLC0415 - see `parse`

    reader = MessageReader()
    for record in read_session_log(lines):
        if isinstance(record, Received) and record.data:
            yield from _read(reader, record.data)
        elif _begins(record):
            yield from _read(reader, b"")
            reader = MessageReader(banner=True)
    yield from _read(reader, b"")


def _begins(record: Record) -> bool:
    """Whether what is received from here on comes from another connection."""
    match record:
        case Header(fields=fields):
            return not fields.get("continues")
        case ProgramEvent(name=name):
            return name in CONNECTION_END_EVENTS
    return False


def _read(reader: MessageReader, data: bytes) -> Iterator[ParsedMessage]:
    reader.receive_data(data)
    while received := reader.next_message():
        yield received
