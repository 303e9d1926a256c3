"""What only a table against the bot has: hints, the tutor, steps back, reports; their keys, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from rich.style import Style

from fibsbot.analysis.model import ValuedChoice
from fibsbot.files import replacing
from fibsbot.strategies.base import Chances
from fibsbot.table.hints import Hint
from fibsbot.table.learning import Learning, Lesson
from fibsbot.table.terminal.colours import Colours
from fibsbot.table.terminal.keys import TUTOR_KEY, KeyLabel
from fibsbot.table.terminal.panel import Aside, Line

if TYPE_CHECKING:
    from fibsbot.table.match_report import MatchReport

LESSON_KEYS: Final[Mapping[str, Lesson]] = {
    "?": Lesson.HINT,
    "backspace": Lesson.TAKE_BACK,
    "r": Lesson.REPORT,
    "n": Lesson.AGAIN,
}
"""Keys that no action of the match has at the same time."""
WARNING_KEYS: Final[Mapping[str, Lesson]] = {
    "t": Lesson.THINK_AGAIN,
    "s": Lesson.SHOW,
    "p": Lesson.PLAY_IT,
}
"""Keys while the tutor warns."""
_ALSO_THINK_AGAIN: Final = frozenset({"escape", "backspace", "u"})
_LABELS: Final = {
    Lesson.HINT: "hint",
    Lesson.TAKE_BACK: "take back",
    Lesson.REPORT: "report",
    Lesson.AGAIN: "new match",
    Lesson.THINK_AGAIN: "think again",
    Lesson.SHOW: "show me",
    Lesson.PLAY_IT: "play it",
}
_WIDE: Final = 30
"""Columns from which on an equity and its chances have decimals."""

_WIDEST: Final = 36
"""Columns that a choice takes at most: an equity is not far from its play."""


class Lessons:
    """The lessons of a table, by keys."""

    def __init__(self, learning: Learning, report_file: Callable[[], Path], say: Callable[[str], object]) -> None:
        """Ask `learning`; reports are written to the file that `report_file` returns, of which `say` speaks."""
        self._learning = learning
        self.report_file = report_file
        self._say = say
        self._written: MatchReport | None = None
        """The report that is written already."""
        self._spoken = ""

    # -- keys ---------------------------------------------------------------------------------------------------

    @property
    def warns(self) -> bool:
        """Whether the tutor warns, and nothing but its question may be answered."""
        return self._learning.warning is not None

    @property
    def labels(self) -> list[KeyLabel]:
        """What may be asked now, with its keys."""
        keys = WARNING_KEYS if self.warns else LESSON_KEYS
        there = self._learning.lessons
        labels = [KeyLabel(key, self._label(lesson)) for key, lesson in keys.items() if lesson in there]
        return labels if self.warns else [*labels, KeyLabel(TUTOR_KEY, "tutor")]

    def _label(self, lesson: Lesson) -> str:
        return "hide hint" if lesson is Lesson.HINT and self._learning.hint else _LABELS[lesson]

    def press(self, key: str) -> None:
        """Do what a key means that means nothing to the match."""
        if self.warns:
            lesson = Lesson.THINK_AGAIN if key in _ALSO_THINK_AGAIN else WARNING_KEYS.get(key)
        elif key == TUTOR_KEY:
            self._learning.switch_tutor(wanted=not self._learning.tutor)
            return
        else:
            lesson = LESSON_KEYS.get(key)
        if lesson is not None:
            self._learning.ask(lesson)

    # -- what is shown ------------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """What the tutor says; empty if it says nothing."""
        warning = self._learning.warning
        if warning is None:
            return ""
        return f"Best is {warning.judgement.best}." if warning.shown else warning.judgement.sentence

    def aside(self, width: int, colours: Colours) -> Aside:
        """Return what the panel shows: the hint, a block of lines for each choice, and what is being done."""
        hint = self._learning.hint
        return Aside(hint_lines(hint, width, colours) if hint else (), self._notes())

    def _notes(self) -> list[str]:
        learning, report = self._learning, self._learning.report
        notes = ["tutor on"] if learning.tutor else []
        if learning.fault or learning.thinking:
            notes.append(learning.fault or f"{learning.thinking} …")
        elif report is not None and not report.fault and report.page is None:
            notes.append(f"report: {report.done}/{report.of} turns")
        return notes

    def new_words(self) -> list[str]:
        """Return what is to be read out, once."""
        hint = self._learning.hint
        words = [self.sentence] if self.sentence else hint_in_words(hint) if hint else []
        spoken, self._spoken = self._spoken, "\n".join(words)
        return words if spoken != self._spoken else []

    def write_report(self) -> None:
        """Write the report as soon as it is made, and say where it is."""
        report = self._learning.report
        if report is None or report is self._written or not (report.fault or report.page):
            return
        self._written = report
        file = self.report_file()
        if report.page is None:
            self._say(f"there is no report: {report.fault}")
            return
        try:
            with replacing(file) as part:
                part.write_text(report.page, encoding="utf-8")
        except OSError as error:
            self._say(f"cannot write the report to {file}: {error.strerror or error}")
        else:
            self._say(f"The report is in {file}.")


# -- hints ----------------------------------------------------------------------------------------------------------


def hint_lines(hint: Hint, width: int, colours: Colours) -> list[list[Line]]:
    """Return a hint in lines, the choices in blocks that belong together."""
    width = min(width, _WIDEST)
    digits = 1 if width >= _WIDE else 0
    columns = 5 if digits else 4
    depth = "hint" if hint.plies is None else f"{hint.plies}-ply"
    heading = f"{depth:7}" + "".join(f"{name:>{columns}}" for name in ("W", "G", "LG"))
    with_chances = any(choice.chances for choice in hint.choices)
    blocks = [[(f"{heading} %" if with_chances else depth, colours.faint)]]
    for number, choice in enumerate(hint.choices):
        style = colours.screen if number else colours.strong
        blocks.append(_choice_lines(choice, width, style, colours.faint, digits))
    if hint.chances:
        blocks.append([(line, colours.faint) for line in wrap(chances_in_words(hint.chances), width)])
    return blocks


def _choice_lines(choice: ValuedChoice, width: int, style: Style, faint: Style, digits: int) -> list[Line]:
    equity = signed(choice.equity)
    lines = wrap(choice.text, width, subsequent_indent=" ")
    if len(lines[-1]) + 1 + len(equity) > width:
        lines.append("")
    lines[-1] = lines[-1].ljust(width - len(equity)) + equity
    loss = signed(-choice.loss) if choice.loss else "best"
    columns = 5 if digits else 4
    shares = "".join(f"{100 * share:>{columns}.{digits}f}" for share in _shown(choice.chances))
    return [*((line, style) for line in lines), (f"{loss:>6} {shares}".rstrip(), faint)]


def hint_in_words(hint: Hint) -> list[str]:
    """Return a hint in sentences, the best choice first."""
    words = []
    for number, choice in enumerate(hint.choices, 1):
        loss = f", costs {choice.loss:.3f}" if choice.loss else ""
        chances = f", {chances_in_words(choice.chances)}" if choice.chances else ""
        words.append(f"Hint {number}: {choice.text}, equity {signed(choice.equity)}{loss}{chances}.")
    return words


def chances_in_words(chances: Chances) -> str:
    """Return the chances to win, to win a gammon and to lose one."""
    win, gammon, lost = (f"{100 * share:.1f}" for share in _shown(chances))
    return f"wins {win}, gammons {gammon}, lost {lost} %"


def signed(value: float) -> str:
    """Return a value with its sign and three decimals."""
    return f"{'−' if value < 0 else '+'}{abs(value):.3f}"  # noqa: RUF001 - as wide as a plus


def _shown(chances: Chances | None) -> Sequence[float]:
    return () if chances is None else (chances[0], chances[1], chances[4])
