"""The table's screen in a terminal, and what keys and clicks do on it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final

from rich.style import Style
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import RichLog

from fibsbot.rules.errors import PlayError, RuleError
from fibsbot.rules.laws import Level
from fibsbot.table.hosts import TableHost
from fibsbot.table.model import Action, TableModel
from fibsbot.table.terminal import help as help_texts
from fibsbot.table.terminal import keys
from fibsbot.table.terminal.board import BoardSize, draw_board, size_for, view_of
from fibsbot.table.terminal.canvas import Canvas, plain
from fibsbot.table.terminal.colours import DARK, LIGHT, theme_of
from fibsbot.table.terminal.error_output import NoErrorOutput
from fibsbot.table.terminal.keys import Digits, KeyLabel, Prompt
from fibsbot.table.terminal.lessons import Lessons
from fibsbot.table.terminal.line_input import LineInput, is_free, key_of
from fibsbot.table.terminal.panel import NARROWEST, Aside, draw_panel
from fibsbot.table.terminal.spoken import WordLog
from fibsbot.table.terminal.widgets import BoardInputs, BoardWidget, CanvasWidget, HelpScreen, KeysWidget
from fibsbot.text import one_line

LINES_BELOW: Final = 3
"""Lines below the board: a sentence and the keys."""
DIGITS_WAIT: Final = 0.8
"""Seconds after a digit in which another one may belong to it."""
LARGEST_TEXT: Final = 200
"""Characters of a typed play."""


class TableApp(App[None]):
    """A person's table in a terminal."""

    TITLE = "fibsbot table"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    BINDINGS: ClassVar = [
        Binding("ctrl+c,ctrl+q", "leave", priority=True, show=False),
        Binding("tab", "turn('tab')", priority=True, show=False),  # the screen would take it to go to a widget
        Binding("shift+tab", "turn('shift+tab')", priority=True, show=False),
    ]
    CSS = """
    #board { width: auto; height: 1fr; }
    #panel { width: 1fr; height: 1fr; margin-left: 1; }
    #words { display: none; height: 1fr; scrollbar-size: 1 1; }
    #sentence { height: 1; }
    LineInput { padding: 0; background: $background; }
    #keys { height: 2; }
    HelpScreen { align: center middle; }
    #help { width: 78; height: auto; max-width: 100%; max-height: 100%; padding: 0 1; border: round $primary; }
    """

    def __init__(
        self, host: TableHost, *, dark: bool = True, report_file: Callable[[], Path] = lambda: Path("report.html")
    ) -> None:
        """Show a table, in colours for a dark or a light terminal; `report_file` says where a report goes."""
        super().__init__()
        self.host = host
        self.lessons = Lessons(host.learning, report_file, self.warn) if host.learning else None
        self.colours = DARK if dark else LIGHT
        self.board_size: BoardSize | None = None
        self.prompt: Prompt | None = None
        self.notice = ""
        """What went wrong, until the next key."""
        self.fault: BaseException | None = None
        """Why nobody came to the table."""
        self._starting: asyncio.Task[None] | None = None
        self._due = False
        """Whether the table will be shown."""
        self._cursor: int | None = None
        self._digits = Digits()
        self._digits_timer: Timer | None = None
        self._in_words = False
        self._word_log = WordLog()
        self._commands: dict[str, Callable[[], object]] = {
            **dict.fromkeys(("tab", "right", "down"), partial(self._turn_cursor, 1)),
            **dict.fromkeys(("shift+tab", "left", "up"), partial(self._turn_cursor, -1)),
            "enter": self._play_at_cursor,
            "o": partial(self._play_at_cursor, other=True),
            "/": self._open_typed,
            **dict.fromkeys(("h", "f1"), self._show_help),
            "l": self.change_colours,
            "w": self._change_to_words,
            "q": self.action_leave,
        }
        inputs = BoardInputs(lambda: self.board_size, self.go_to, self.click, self.drag, self.click_dice)
        self.board = BoardWidget(self._draw_board, inputs, "board")
        self.panel = CanvasWidget(self._draw_panel, "panel")
        self.sentence = CanvasWidget(self._draw_sentence, "sentence")
        self.typed = LineInput(
            self._type_play, self._close_typed, "typed", max_length=LARGEST_TEXT, placeholder="a play, such as 8/5 6/5"
        )
        self.words = RichLog(id="words", wrap=True, min_width=20)
        self.keys = KeysWidget(self._labels, lambda: self.colours, self.press, "keys")
        for name, colours in (("table-dark", DARK), ("table-light", LIGHT)):
            self.register_theme(theme_of(name, colours, dark=colours is DARK))
        self.theme = "table-dark" if dark else "table-light"

    leave_question = "Leave the match? It is kept in its file."
    help_text = help_texts.AGAINST_BOT

    @property
    def at_board(self) -> bool:
        """Whether keys are for the board: nothing is on top of it, and nothing is being typed."""
        return self.screen is self.screen_stack[0] and self.focused is None

    @property
    def model(self) -> TableModel | None:
        """The match at the table."""
        return self.host.model

    # -- what is shown ------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Put the widgets on the screen."""
        with Horizontal(id="top"):
            yield self.board
            yield self.panel
        yield self.words
        yield self.sentence
        yield self.typed
        yield self.keys

    async def on_mount(self) -> None:
        """Begin."""
        for widget in (self.words, self.board):
            widget.can_focus = False
        sys.stderr = NoErrorOutput()
        self.host.listen(self.show)
        for number in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(RuntimeError, ValueError):  # not in the main thread: whoever runs us ends us
                asyncio.get_running_loop().add_signal_handler(number, self.exit)
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        """Let the others in once the board is on the screen."""
        self._starting = asyncio.create_task(self.host.start())
        self._starting.add_done_callback(self._on_started)

    def _on_started(self, starting: asyncio.Task[None]) -> None:
        error = None if starting.cancelled() else starting.exception()
        if error is not None:
            self.fault = error
            self.exit()
        self.show()

    async def on_unmount(self) -> None:
        """End."""
        if self._starting is not None:
            self._starting.cancel()
        await self.host.close()

    def on_resize(self, event: events.Resize) -> None:
        """Choose the size of the board."""
        width, height = event.size
        self.board_size = size_for(width, height - LINES_BELOW, NARROWEST + 1)
        self.board.styles.width = self.board_size.width if self.board_size else width - NARROWEST - 1
        self.show()

    def show(self) -> None:
        """Show the table as it is now, once for all that happens at the same time."""
        if self.is_running and not self._due:
            self._due = True
            self.call_next(self._show_now)

    def _show_now(self) -> None:
        self._due = False
        if self.lessons is not None:
            self.lessons.write_report()
        for line in (*(self._word_log.new_lines(self.model) if self.model else ()), *self.new_words()):
            self.words.write(plain(line))
        for widget in (self.board, self.panel, self.sentence, self.keys):
            widget.redraw()

    @property
    def cursor(self) -> int | None:
        """The place of the checker that Enter moves: the chosen one, or the farthest that can move."""
        sources = [made.move.source for made in self.model.moves] if self.model else []
        return self._cursor if self._cursor in sources else max(sources, default=None)

    def _draw_sentence(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height, self.colours.screen)
        canvas.write(0, 0, *self._sentence())
        return canvas

    def _sentence(self) -> tuple[str, Style]:
        if self.prompt:
            return self.prompt.text, self.colours.prompt
        if self.notice:
            return self.notice, self.colours.prompt
        if self._digits.typed:
            return f"{self._digits.typed}_", self.colours.prompt
        if self.lessons is not None and self.lessons.warns:
            return self.lessons.sentence, self.colours.prompt
        return (self.model.sentence if self.model else "There is no match."), self.colours.strong

    def _draw_board(self, width: int, height: int) -> Canvas:
        if self.model is None or self.board_size is None:
            canvas = Canvas(width, height, self.colours.screen)
            if self.model is not None:
                canvas.write(0, 0, "expected a terminal of at least 80x18"[:width], self.colours.prompt)
            return canvas
        return draw_board(view_of(self.model, self.cursor), self.board_size, self.colours)

    def _draw_panel(self, width: int, height: int) -> Canvas:
        if self.model is None:
            return Canvas(width, height, self.colours.screen)
        return draw_panel(self.model, width, height, self.colours, self.aside(width, height))

    def aside(self, width: int, height: int) -> Aside:  # noqa: ARG002 - for subclasses
        """Return what the panel shows beside the match."""
        return self.lessons.aside(width, self.colours) if self.lessons else Aside()

    def _labels(self) -> list[KeyLabel]:
        return keys.labels_of(self.model, self.more_labels()) if self.model else list(keys.ALWAYS)

    def more_labels(self) -> Sequence[KeyLabel]:
        """Return the keys of what the table offers beside the match."""
        return self.lessons.labels if self.lessons else ()

    def new_words(self) -> Sequence[str]:
        """Return what is to be read out beside the match, once."""
        return self.lessons.new_words() if self.lessons else ()

    # -- keys ---------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Do what a key means."""
        if self.screen is self.screen_stack[0] and is_free(self.focused, event):
            self.press(key_of(event))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002 - textual's
        """Return whether an action is possible: Tab goes to another checker at the board alone."""
        return action != "turn" or self.at_board

    def action_turn(self, key: str) -> None:
        """Go to another checker."""
        self.press(key)

    def press(self, key: str) -> None:
        """Do what a key means, wherever it came from; printable keys are their characters."""
        self.notice = ""
        key = {" ": "space", "?": "?"}.get(key, key if len(key) > 1 else key.lower())
        if self.answer(key):
            pass
        elif key in "0123456789" and len(key) == 1:
            self._type_digit(key)
            return
        elif self._digits.typed and key in {"enter", "space"}:
            self._end_digits()
        else:
            self._digits = Digits()
            self._press_key(key)
        self.show()

    def answer(self, key: str) -> bool:
        """Answer what is asked; return whether something was."""
        prompt, self.prompt = self.prompt, None
        if prompt is not None:
            prompt.answers.get(key, lambda: None)()
        return prompt is not None

    def _press_key(self, key: str) -> None:
        model = self.model
        if key in self._commands:
            self._commands[key]()
        elif model is not None and key in keys.PREFERENCE_KEYS:
            preference = keys.PREFERENCE_KEYS[key]
            self.host.prefer(preference, wanted=preference not in model.preferences)
        elif not self._press_action(key) and model is not None and self.lessons is not None:
            self.lessons.press(key)

    def _press_action(self, key: str) -> bool:
        """Do what a key means in the match; return whether it means something now."""
        actions = self.model.actions if self.model else ()
        action = next((one for one in keys.ACTION_KEYS.get(key, ()) if one in actions), None)
        if action is not None:
            self._act_or_ask(action)
        return action is not None

    def _act_or_ask(self, action: Action) -> None:
        """Do what may be done, or ask first."""
        model = self.model
        if model is None:
            return
        if action is Action.RESIGN:
            answers = {str(level.value): partial(self.host.act, action, (level.value,)) for level in Level}
            self.prompt = Prompt(f"Resign? {keys.LEVELS} (any other key: no)", answers)
        elif action in keys.CONFIRMED:
            name = keys.label_of(action, model).capitalize()
            what = f"Double to {2 * model.state.cube}?" if action is Action.DOUBLE else f"{name}?"
            self.confirm(what, partial(self.host.act, action))
        else:
            self.host.act(action)

    def confirm(self, question: str, then: Callable[[], object]) -> None:
        """Ask, and do it if the answer is yes."""
        self.prompt = Prompt(f"{question} [y]es, [n]o", {"y": then, "enter": then})

    def action_leave(self) -> None:
        """Leave the table; asks first while a match is on."""
        if self.model is None or self.model.match_over or self.prompt is not None:
            self.exit()
        else:
            self.confirm(self.leave_question, self.exit)
            self.show()

    def warn(self, text: str) -> None:
        """Say what went wrong."""
        self.notice = one_line(text)
        self.show()

    def _show_help(self) -> None:
        self.push_screen(HelpScreen(self.help_text))

    def _change_to_words(self) -> None:
        """Show moves in words in place of the board, or the board again."""
        self._in_words = not self._in_words
        self.query_one("#top").display = not self._in_words
        self.words.display = self._in_words

    def change_colours(self) -> None:
        """Change between colours for dark and for light terminals."""
        dark = self.colours is LIGHT
        self.colours = DARK if dark else LIGHT
        self.theme = "table-dark" if dark else "table-light"

    # -- numbers ------------------------------------------------------------------------------------------------

    def _numbers(self) -> list[int]:
        """Return the numbers that may be typed: points with a checker that can move, or what may be named."""
        model = self.model
        if model is None:
            return []
        return list(model.names_offered) or sorted({made.move.source for made in model.moves})

    def _type_digit(self, digit: str) -> None:
        numbers = self._numbers()
        self._digits = self._digits.after(digit, numbers)
        if self._digits_timer:
            self._digits_timer.stop()
        if self._digits.meant(numbers) is not None or not self._digits.open(numbers):
            self._end_digits()
        else:
            self._digits_timer = self.set_timer(DIGITS_WAIT, self._end_digits)
        self.show()

    def _end_digits(self) -> None:
        """Take the digits as a whole number."""
        digits, self._digits = self._digits, Digits()
        if not digits.typed or self.model is None:
            return
        number = digits.entered(self._numbers())
        if Action.NAME in self.model.actions:
            if number is None or not self.host.act(Action.NAME, (number,)):
                offered = ", ".join(map(str, self.model.names_offered))
                self.notice = f"expected one of {offered}, got {digits.typed}"
        elif number is None:
            self.notice = f"no checker can move from {digits.typed}"
        else:
            self.play_from(number)
        self.show()

    # -- checkers -----------------------------------------------------------------------------------------------

    def play_from(self, place: int, *, other: bool = False) -> None:
        """Move the checker at a place by the left die, or by the other, or by the one that can move it."""
        moves = [made.move for made in self.model.moves if made.move.source == place] if self.model else []
        if moves:
            move = moves[-1 if other else 0]
            self.host.act(Action.MOVE, (move.source, move.target))

    def _play_at_cursor(self, *, other: bool = False) -> None:
        if self.cursor is not None:
            self.play_from(self.cursor, other=other)

    def _turn_cursor(self, step: int) -> None:
        sources = sorted({made.move.source for made in self.model.moves}, reverse=True) if self.model else []
        if sources:
            at = sources.index(self.cursor) if self.cursor in sources else -step
            self._cursor = sources[(at + step) % len(sources)]

    def go_to(self, place: int) -> None:
        """Put the cursor on a checker that can move."""
        if place != self.cursor and self.model and any(made.move.source == place for made in self.model.moves):
            self._cursor = place
            self.show()

    def click(self, place: int, right: bool) -> None:  # noqa: FBT001 - the mouse has two buttons
        """Play the checker that was clicked, or let the one at the cursor go where was clicked."""
        self.notice, self.prompt = "", None
        moves = [made.move for made in self.model.moves] if self.model else []
        if any(move.source == place for move in moves):
            self.play_from(place, other=right)
        elif self.cursor is not None:
            self.host.act(Action.MOVE, (self.cursor, place))
        self.show()

    def drag(self, source: int, target: int) -> None:
        """Move a checker from one place to another."""
        self.host.act(Action.MOVE, (source, target))

    def click_dice(self) -> None:
        """Roll; swap the dice while there is something to move; then pick them up."""
        actions = self.model.actions if self.model else ()
        order = (Action.ROLL, Action.SWAP) if Action.MOVE in actions else (Action.ROLL, Action.DONE)
        action = next((one for one in order if one in actions), None)
        if action is not None:
            self.host.act(action)

    # -- whole plays --------------------------------------------------------------------------------------------

    def _open_typed(self) -> None:
        if self.model is None or self.model.play is None:
            self.notice = "there is nothing to play now"
            return
        self.sentence.display = False
        self.typed.open()

    def _close_typed(self) -> None:
        self.sentence.display = True
        self.show()

    def _type_play(self, text: str) -> None:
        """Make the moves that were typed."""
        try:
            if text.strip():
                self.host.type_play(text)
        except (PlayError, RuleError) as error:
            self.notice = one_line(error)
