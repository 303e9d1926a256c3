"""Which decisions of analysed matches are asked for: whose, since when, of which kind, where, and how bad.

The same selection serves every command that lists errors or makes exercises of them. `archive/questions.py` has its
translation into SQL.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Final

from attrs import frozen

from fibsbot.analysis.model import EQUITY_TOLERANCE, GRADE_THRESHOLDS, AnalysedDecision, Grade
from fibsbot.drawing.markup import clean
from fibsbot.formats.sgf_properties import DATE_TAG
from fibsbot.match import CubeAction
from fibsbot.position import Play
from fibsbot.rules.laws import Level
from fibsbot.text import plural
from fibsbot.transcript import Decision, Named, Transcript

PLAY: Final = "play"
DOUBLE: Final = "double"
"""Whether to double or to roll."""
TAKE: Final = "take"
"""The answer to a double: take, pass or beaver."""
RESIGN: Final = "resign"
"""Whether to resign, and how much."""
ACCEPT: Final = "accept"
"""Whether to accept a resignation."""
NAME: Final = "name"
"""Which double or point to name, in games with such a law."""
KINDS: Final = (PLAY, DOUBLE, TAKE, RESIGN, ACCEPT, NAME)
"""Kinds of decisions, as options and the archive name them."""
CUBE_KINDS: Final = {
    CubeAction.ROLL: DOUBLE,
    CubeAction.DOUBLE: DOUBLE,
    CubeAction.TAKE: TAKE,
    CubeAction.PASS: TAKE,
    CubeAction.BEAVER: TAKE,
}
"""Kinds of decisions about the cube."""


def decision_kind(decision: Decision) -> str:
    """Return the kind of a decision."""
    match decision.answer:
        case Play():
            return PLAY
        case CubeAction() as action:
            return CUBE_KINDS[action]
        case Named():
            return NAME
        case Level():
            return RESIGN
    return ACCEPT


def match_start(transcript: Transcript) -> dt.datetime | None:
    """Return when a match began, UTC: midnight where a file has the day only, None where it does not say."""
    if transcript.started:
        return transcript.started.astimezone(dt.UTC)
    text = transcript.tags.get(DATE_TAG, "")[:10].replace("/", "-").replace(".", "-")
    try:
        day = dt.date.fromisoformat(text)
    except ValueError:
        return None
    return dt.datetime.combine(day, dt.time(), dt.UTC)


@frozen
class DecisionSelection:
    """Which decisions are selected; the default is all."""

    player: str | None = None
    """Name of the player who decided; None for both players."""
    since: dt.datetime | None = None
    """Beginning of the earliest match, UTC; matches without a date are then left out."""
    kinds: tuple[str, ...] = ()
    """Some of KINDS; empty for all."""
    classes: tuple[str, ...] = ()
    """Classes of positions, as in `position_classes.CLASSES`; empty for all."""
    least_loss: float = 0.0
    """Normalised equity; up to EQUITY_TOLERANCE less will do."""

    def has(
        self, *, player: str, started: dt.datetime | None, kind: str, loss: float, position_class: str | None = None
    ) -> bool:
        """Return whether a decision is selected, by what is known of it; without a class, in any class.

        Args:
            player: who decided.
            started: when the match began, UTC; None if that is unknown.
            kind: one of KINDS.
            loss: equity lost against the best decision; normalised.
            position_class: class of the position.
        """
        return (
            self.player in {None, player}
            and self.has_date(started)
            and (not self.kinds or kind in self.kinds)
            and loss > self.least_loss - EQUITY_TOLERANCE
            and (not self.classes or position_class is None or position_class in self.classes)
        )

    def has_date(self, started: dt.datetime | None) -> bool:
        """Return whether a match that began then may have selected decisions."""
        return self.since is None or (started is not None and started >= self.since)

    def has_player(self, *names: str) -> bool:
        """Return whether a match of these players may have selected decisions."""
        return self.player is None or self.player in names

    def of_match(self, transcript: Transcript, decisions: Iterable[AnalysedDecision]) -> list[AnalysedDecision]:
        """Return the decisions of a match that are selected, in their order."""
        started = match_start(transcript)
        found = [
            analysed
            for analysed in decisions
            if self.has(
                player=transcript.players[analysed.decision.seat].name,
                started=started,
                kind=decision_kind(analysed.decision),
                loss=analysed.loss,
            )
        ]
        if not self.classes:
            return found
        from fibsbot.analysis.position_classes import classes_of  # noqa: PLC0415 - loads the engine's arrays

        classes = classes_of(analysed.decision for analysed in found)
        return [analysed for analysed, name in zip(found, classes, strict=True) if name in self.classes]

    @property
    def words(self) -> str:
        """What is selected, in words: `of anna, since 2026-10-01, double, race, from 0.05`; empty for everything."""
        parts = [
            f"of {self.player}" if self.player is not None else "",
            f"since {self.since:%Y-%m-%d}" if self.since else "",
            " or ".join(self.kinds),
            " or ".join(self.classes),
            f"from {self.least_loss:g}" if self.least_loss else "",
        ]
        return ", ".join(part for part in parts if part)

    def summary(self, errors: int, loss: float) -> str:
        """Return in words what is selected, how many errors that are, and what they lost in all."""
        lost = f", {loss:.3f} in all" if errors else ""
        return f"{plural(errors, 'error')} selected ({clean(self.words, 200) or 'all'}){lost}"


GRADED: Final = DecisionSelection(least_loss=GRADE_THRESHOLDS[Grade.DOUBTFUL])
"""The decisions that have a grade, of both players: what reports list unless something else is asked for."""
