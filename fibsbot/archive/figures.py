"""Pictures in the answers to questions about an archive: boards of decisions, and curves."""

from __future__ import annotations

import contextlib
import datetime as dt
from pathlib import PurePath
from typing import Any, Final

from attrs import frozen

from fibsbot.archive.rows import OWNERS, step_of
from fibsbot.drawing.axes import MONTHS, Scale, Tick, seconds
from fibsbot.drawing.plot import Series, curve_svg
from fibsbot.drawing.scene import ViewOptions
from fibsbot.drawing.svg import board_svg
from fibsbot.drawing.themes import Theme
from fibsbot.match import Dice, MatchState, Phase
from fibsbot.notation.play_notation import parse_play
from fibsbot.notation.position_ids import parse_position_id
from fibsbot.position import Play, Position
from fibsbot.rules.errors import RuleError
from fibsbot.transcript import decisions

BOARD_WIDTH: Final = 340
CHART_SIZES: Final = ((760, 300), (400, 240))
"""Width and height of a chart on wide and narrow screens."""
_OWNERS: Final = {word: owner for owner, word in OWNERS.items()}
_PHASES: Final = {
    "play": Phase.MOVE,
    "double": Phase.ROLL,
    "take": Phase.DOUBLED,
    "resign": Phase.ROLL,
    "accept": Phase.RESIGNED,
}
"""The phases of the kinds of decisions; a player may also resign after the roll."""


def file_of(row: dict[str, Any]) -> str:
    """Return the name of the file that a decision was read from, and the number of the match if it is not the first."""
    number = row["source_number"]
    return PurePath(row["source"]).name + (f", match {number}" if number > 1 else "")


@frozen
class Figure:
    """A picture with a caption."""

    svg: str
    caption: str
    narrow: str = ""
    """The same for a narrow screen; only charts have it, because their text is scaled with them."""


@frozen
class Pictures:
    """Draws the figures of answers; each is a tuple of one figure, or empty if nothing is drawn."""

    drawn: bool = True
    """Whether anything is drawn."""

    def decision(self, row: dict[str, Any], play: str, caption: str) -> tuple[Figure, ...]:
        """Draw the board of a decision, a row of the archive with the file and the opponent, and a play on it."""
        place = f"game {row['game']}, turn {row['turn']}, {file_of(row)}"
        names, caption = (row["player"], row["opponent"]), f"{caption} ({place})"
        shown = play if row["kind"] == "play" else ""
        if row["entry"]:
            state = next(
                decision.state for decision in decisions(step_of(row["entry"])) if decision.text == row["action"]
            )
            return self._picture(state, shown, caption, names)
        phase = _PHASES[row["kind"]]
        if row["kind"] == "resign" and row["dice"]:
            phase = Phase.MOVE
        state = MatchState(
            parse_position_id(row["position"]),
            row["length"],
            (row["own_score"], row["opponent_score"]),
            row["cube"],
            _OWNERS[row["owner"]],
            row["crawford"],
            row["post_crawford"],
            phase,
            _dice(row["dice"]) if phase is Phase.MOVE else None,
            row["resignation"] if phase is Phase.RESIGNED else 0,
        )
        return self._picture(state, shown, caption, names)

    def board(self, position: Position, roll: str, play: str, caption: str) -> tuple[Figure, ...]:
        """Draw the board alone, with a roll and a play."""
        return self._picture(MatchState(position, phase=Phase.MOVE, dice=_dice(roll)), play, caption, None)

    def _picture(self, state: MatchState, play: str, caption: str, names: tuple[str, str] | None) -> tuple[Figure, ...]:
        if not self.drawn:
            return ()
        shown: Play | None = None
        if play and state.dice is not None:
            with contextlib.suppress(RuleError):
                shown = parse_play(play, state)
        view = ViewOptions(theme=Theme.PAGE, width=BOARD_WIDTH, board_only=names is None)
        return (Figure(board_svg(state, view=view, play=shown, names=names), caption),)

    def curves(self, title: str, series: list[Series], x_label: str) -> tuple[Figure, ...]:
        """Draw a chart, unless no curve has points."""
        if not any(curve.points for curve in series):
            return ()
        return self._chart(series, title=title, x_label=x_label, zero=True)

    def months(self, title: str, series: list[Series], y_label: str = "") -> tuple[Figure, ...]:
        """Draw a chart whose points are in the middle of months, unless there are fewer than two months."""
        times = sorted({x for curve in series for x, _ in curve.points})
        if len(times) < 2:
            return ()
        labels = [Tick(time, _month(dt.datetime.fromtimestamp(time, dt.UTC))) for time in times]
        return self._chart(series, title=title, y_label=y_label, x=Scale.TIME, x_ticks=labels, zero=True)

    def _chart(self, series: list[Series], **options: Any) -> tuple[Figure, ...]:
        if not self.drawn:
            return ()
        wide, narrow = (
            curve_svg(series, theme=Theme.PAGE, width=width, height=height, **options) for width, height in CHART_SIZES
        )
        return (Figure(wide, "", narrow),)


def middle_of(month: str) -> float:
    """Return where a month such as `2026-03` is in a chart."""
    return seconds(dt.datetime.strptime(f"{month}-15", "%Y-%m-%d").replace(tzinfo=dt.UTC))


def _month(at: dt.datetime) -> str:
    return f"{MONTHS[at.month - 1]} {at.year}"


def _dice(text: str | None) -> Dice | None:
    return None if text is None else (int(text[0]), int(text[1]))
