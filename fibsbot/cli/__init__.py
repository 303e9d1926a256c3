"""The command line: its commands, errors, exit statuses and output streams.

Commands are imported when they are called, so that `fibsbot --help` is quick.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import errno
import gc
import importlib
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

import click

from fibsbot.engine import EngineUnavailableError
from fibsbot.redaction import redact
from fibsbot.text import describe_error, one_line
from fibsbot.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from fibsbot.workers.pool import PoolProgress

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_CONFIG: Final = 78
"""`EX_CONFIG` of sysexits.h: a supervisor must not restart us."""
EXIT_INTERRUPTED: Final = 128 + signal.SIGINT
GC_THRESHOLD: Final = 20_000
"""New objects after which Python looks for garbage; its usual 700 take a seventh of the time until the engine plays."""

COMMANDS: Final = {
    "analyse": ("fibsbot.cli.analyse:analyse", "Analyse the errors and the luck of both players."),
    "archive": ("fibsbot.cli.archive:archive", "Keep an archive of matches, and ask it questions."),
    "bearoff": ("fibsbot.cli.bearoff:bearoff", "Show the bear-off tables, or what they say about a position."),
    "best": ("fibsbot.cli.engine:best", "Rank the plays of a roll."),
    "check-config": (
        "fibsbot.cli.configuration:check_config",
        "Validate a configuration file and summarise what it does.",
    ),
    "convert": ("fibsbot.cli.export:convert", "Convert between match formats."),
    "cube": ("fibsbot.cli.engine:cube", "Recommend a cube action."),
    "db": ("fibsbot.cli.db:db", "Maintain the match store."),
    "demo": ("fibsbot.cli.demo:demo", "Play a whole match on an embedded server and watch it."),
    "duel": ("fibsbot.cli.duel:duel", "Play two strategies against each other and estimate which is stronger."),
    "eval": ("fibsbot.cli.engine:evaluate", "Evaluate a position before the roll, at each ply."),
    "explain-invite": (
        "fibsbot.cli.configuration:explain_invite",
        "Explain whether an invitation would be accepted, with all reasons against it.",
    ),
    "export": ("fibsbot.cli.export:export", "Export matches to other formats, or errors as a deck for Anki."),
    "external": ("fibsbot.cli.strategies:external", "Run as an external player for gnubg."),
    "legal": ("fibsbot.cli.legal:legal", "List the legal plays of a position."),
    "new": ("fibsbot.cli.new:new", "Write the beginning of a package of your own."),
    "order": ("fibsbot.cli.status:order", "Control running bots."),
    "parse": ("fibsbot.cli.export:parse", "Parse what a server sent; print one JSON object per message."),
    "perft": ("fibsbot.cli.perft:perft", "Count the positions that the rules can reach."),
    "play": ("fibsbot.cli.play:play", "Connect to a server and play."),
    "practice": ("fibsbot.cli.practice:practice", "Practise your own mistakes in a browser, until you know better."),
    "report": (
        "fibsbot.cli.report:report",
        "Write an HTML report about matches: boards, score sheet, errors, luck and dice.",
    ),
    "replay": ("fibsbot.cli.replay:replay", "Show logged and captured games."),
    "rollout": ("fibsbot.cli.rollout:rollout", "Play a position out many times and estimate its equity."),
    "rules": ("fibsbot.cli.rules:rules", "Print the rules of a game, or list the games."),
    "run": ("fibsbot.cli.run:run", "Run all accounts of a configuration file until stopped."),
    "serve": ("fibsbot.cli.serve:serve", "Run the embedded server."),
    "show": ("fibsbot.cli.show:show", "Draw a position."),
    "soak": ("fibsbot.cli.demo:soak", "Play many matches, bot against bot, and report failures."),
    "stats": ("fibsbot.cli.stats:stats", "Summarise match results."),
    "status": ("fibsbot.cli.status:status", "Show what the running bots are doing."),
    "strategies": ("fibsbot.cli.strategies:strategies", "List the strategies and where they come from."),
    "table": ("fibsbot.cli.table:table", "Play against the bot in a browser or in the terminal, or on a server."),
    "train": ("fibsbot.cli.train:train", "Train networks by a recipe."),
    "ubgi": ("fibsbot.cli.strategies:ubgi", "Run as a UBGI engine on stdin and stdout."),
    "worker": ("fibsbot.cli.serve:worker", "Run a worker of a Dask scheduler until stopped."),
}
"""Each command: where it is and its one-line help, which is also its docstring's first sentence."""


class UserError(click.ClickException):
    """Something that the user can put right: one line on stderr, exit status 2."""

    exit_code = EXIT_USAGE


class RunError(click.ClickException):
    """A run that failed for a reason outside this program: exit status 1."""


class ConfigError(UserError):
    """A configuration that cannot be used, or an extra that is not installed: a line for each problem, status 78."""

    exit_code = EXIT_CONFIG


class LazyGroup(click.Group):
    """A group whose commands are imported on their first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Name the commands without importing them."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; suggest similar ones where there is none of this name."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.exceptions.NoSuchCommand(name, possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands without importing them, and options."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - needed by nothing else

        commands = [
            CompletionItem(name, help=text)
            for name, (_, text) in sorted(COMMANDS.items())
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in sorted(COMMANDS.items())])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(__version__, prog_name="fibsbot")
def main() -> None:
    """Play backgammon on FIBS and servers that speak its protocol, unattended."""


def run_command_line() -> int:
    """Run the command that `sys.argv` names; return the exit status.

    A user's mistake is one line on stderr; mistakes in a configuration file are one line each.
    """
    gc.set_threshold(GC_THRESHOLD)
    status = _status()
    gc.freeze()  # else Python looks for garbage in all that is left before it ends: a sixth of a second with the engine
    return status


def _status() -> int:
    """Run the command; return the exit status, even if its output cannot be written to the end."""
    out = replace_streams()
    try:
        status = _run()
        if not sys.stdout.closed:  # a command that serves a program closes it when that program has gone
            sys.stdout.flush()
    except BaseException:
        if out.lost is None:
            raise
        status = EXIT_READER_GONE  # whatever follows from it is of no interest to anybody
    if out.lost is not None and not isinstance(out.lost, BrokenPipeError):
        click.echo(f"fibsbot: cannot write the output: {out.lost.strerror or describe_error(out.lost)}", err=True)
        status = EXIT_FAILED
    return status


def _run() -> int:
    """Run the command; return the exit status."""
    try:
        status: int = main(prog_name="fibsbot", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        status = error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        name = context.command_path if context else "fibsbot"
        text = _with_typed_name(error, sys.argv[1:]).format_message()
        for line in text.splitlines() if isinstance(error, ConfigError) else [text]:
            click.echo(f"{name}: {one_line(line)}", err=True)
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        status = EXIT_INTERRUPTED
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        missing = memory_shortage(error)
        if missing is None and not isinstance(error, EngineUnavailableError):
            raise
        click.echo(f"fibsbot: {missing or one_line(error)}", err=True)
        status = EXIT_FAILED if missing else EXIT_CONFIG
    return status


def _with_typed_name(error: click.ClickException, words: list[str]) -> click.ClickException:
    """Return an error that names an option by the one of its names that was used, and a word with one dash as a whole.

    Click names all of an option's names, and only the first letter of `-server`.
    """
    if isinstance(error, click.NoSuchOption) and not error.option_name.startswith("--"):
        typed = next(
            (argument for argument in words if argument.startswith(error.option_name) and len(argument) > 2), None
        )
        if typed is not None:
            word = typed.partition("=")[0]
            options = [name for parameter in (error.ctx.command.params if error.ctx else ()) for name in parameter.opts]
            # Without its prefix an XGID usually begins with a dash: nobody has a checker on the bar.
            near = [f"XGID={word}"] if word.count(":") > 1 else difflib.get_close_matches(f"-{word}", options)
            return click.NoSuchOption(word, possibilities=near, ctx=error.ctx)
    elif isinstance(error, click.BadParameter) and isinstance(error.param, click.Option) and not error.param_hint:
        names = [*error.param.opts, *error.param.secondary_opts]
        used = [name for name in names if any(word == name or word.startswith(f"{name}=") for word in words)]
        if used and len(names) > 1:
            error.param_hint = f"'{used[0]}'"
    if isinstance(error, click.BadParameter) and (found := _NO_NUMBER.fullmatch(error.message)):
        text = f"{found[1]} is not a {'whole ' if found[2] == 'integer' else ''}number."
        return click.BadParameter(text, ctx=error.ctx, param=error.param, param_hint=error.param_hint)
    return error


_NO_NUMBER: Final = re.compile(r"(.*) is not a valid (integer|float)(?: range)?\.", re.DOTALL)
"""What Click says of a text that is no number: it names the type of the option, as in "integer range"."""


EXIT_READER_GONE: Final = 141
"""What a shell says of a program that SIGPIPE has ended."""


class OutputLostError(BaseException):
    """Standard output cannot be written: its reader has closed it, or its disk is full.

    Not an Exception, so that it is not taken for a failed connection.
    """


class Stream:
    """A file for people, without passwords; in everything else it is the file.

    When its reader goes away, as `head` does, or its disk is full, what is written from then on is lost.
    """

    def __init__(self, file: TextIO, *, ends: bool) -> None:
        """Write to this file; `ends`: raise OutputLostError when that fails."""
        self._file = file
        self._ends = ends
        self.lost: OSError | None = None
        """Why what is written is lost; None while it is not."""

    def write(self, text: str) -> int:
        """Write a text; return how many characters it has."""
        self._try(lambda: self._file.write(redact(text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what waits in the buffer."""
        self._try(self._file.flush)

    def write_bytes(self, content: bytes) -> None:
        """Write bytes as they are, whatever the encoding of the file."""
        self.flush()
        self._try(lambda: self._file.buffer.write(content))

    def __getattr__(self, name: str) -> Any:
        """Return what the file has under this name."""
        return getattr(self._file, name)

    def _try(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)
            self.lost = error
            if self._ends:
                raise OutputLostError from None


def replace_streams() -> Stream:
    """Put both output streams of this process behind a Stream; return standard output.

    A stream that was closed before we began is a device that is empty and takes everything, so that what we open later
    is not taken for it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for good
    replace_unencodable(sys.stdout)
    out = Stream(sys.stdout, ends=True)
    sys.stdout = cast("TextIO", out)
    sys.stderr = cast("TextIO", Stream(sys.stderr, ends=False))
    return out


HANDLER: Final = "fibsbot.plain"
"""The name of the error handler that writes something else for characters that an encoding lacks."""

_SIMILAR: Final = {"●": "O", "○": "X", "─": "-", "\N{EN DASH}": "-", "│": "|", "┤": "|", "└": "+", "±": "~", "…": "."}
"""Signs that we write ourselves, each with one of the same width, so that columns stay aligned; in drawings O and X are
the colours of the checkers."""
_BRAILLE: Final = range(0x2800, 0x2900)
"""Dots of curves; the first has none."""


def replace_unencodable(file: TextIO) -> None:
    """Let a stream write a similar sign, or a question mark, for a character that its encoding lacks."""
    if getattr(file, "errors", None) in {"strict", "surrogateescape"} and hasattr(file, "reconfigure"):
        with contextlib.suppress(OSError):  # it asks where it is in a file; what it was opened on may be gone
            file.reconfigure(errors=HANDLER)


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what is written for the first character that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    replacement: str | bytes = _SIMILAR.get(character, "?")
    if 0xDC80 <= ord(character) <= 0xDCFF:  # a byte of a file's name that is no text: it is written as it is
        replacement = bytes([ord(character) - 0xDC00])
    elif ord(character) in _BRAILLE:
        replacement = " " if ord(character) == _BRAILLE[0] else "*"
    return replacement, error.start + 1


codecs.register_error(HANDLER, _replace)


MAX_ERROR: Final = 200
"""Characters of an error that are shown; some libraries add pages."""
_REFUSED: Final = ("can't start new thread", "failed to map segment", "cannot allocate memory", "failed to allocate")
"""What threads, the dynamic linker and OpenBLAS say when they get no memory."""


def memory_shortage(error: BaseException) -> str | None:
    """Return what memory or threads were missing for, as a sentence; None if the error is about something else."""
    if not any(_is_shortage(one) for one in _chain(error)):
        return None
    limit = _limit()
    least = "" if limit is None else f", got at most {limit // 1024} KiB (`ulimit -v`)"
    return f"expected enough memory and threads for this command{least}: {describe_error(error)[:MAX_ERROR]}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it came from."""
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if not isinstance(error, OSError | ImportError | RuntimeError):
        return False
    text = str(error).lower()
    # llvmlite says of a library that could not be mapped only that it could not be loaded.
    unloadable = "could not find/load shared object file" in text and _limit() is not None
    return unloadable or any(words in text for words in _REFUSED)


def _limit() -> int | None:
    """Return how many bytes this process may map; None if there is no limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


class ProgressDisplay:
    """What shows the progress of work; this one shows nothing."""

    def __call__(self, done: float, of: float | None) -> None:
        """Show how much is done, and of how much if that is known."""

    def follow(self, progress: PoolProgress) -> None:
        """Show how many workers there are if there are several or none."""
