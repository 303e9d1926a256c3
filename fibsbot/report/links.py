"""Links of report pages, `m1g2t14`, to the decisions that they name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fibsbot.analysis.model import MatchAnalysis
from fibsbot.analysis.selection import GRADED, DecisionSelection
from fibsbot.practice.exercises import Exercise, exercise_of
from fibsbot.report.timeline import match_timeline

_LINK: Final = re.compile(r"m([1-9][0-9]{0,5})(g.{1,40})")


def find_exercise(
    analyses: Sequence[MatchAnalysis], link: str, *, selection: DecisionSelection = GRADED
) -> Exercise | None:
    """Return the decision at a link of a page about some matches, as an exercise; None if nothing is chosen there.

    `selection` is that of the page.
    """
    found = _LINK.fullmatch(link)
    if found is None or int(found[1]) > len(analyses):
        return None
    analysis = analyses[int(found[1]) - 1]
    for game in match_timeline(analysis, selection=selection).games:
        for entry in game.entries:
            if entry.key == found[2]:
                analysed = entry.analysed or entry.not_doubled
                has_choices = analysed is not None and (analysed.options or analysed.alternatives)
                return exercise_of(analysis, game.game, analysed) if analysed and has_choices else None
    return None
