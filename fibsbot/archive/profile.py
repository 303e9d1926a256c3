"""The profile of a player of an archive: how well each kind of decision is made, whether that changes, and the luck."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from attrs import frozen

from fibsbot.analysis.model import GRADE_THRESHOLDS, Grade
from fibsbot.archive.answers import Answer, AnswerSection, JudgedArchive
from fibsbot.archive.figures import Figure, file_of
from fibsbot.archive.match_luck import luck_and_results
from fibsbot.archive.performance import (
    BLUNDER,
    CLASSES,
    CUBE_KINDS,
    NOTHING,
    SCORE_NAMES,
    SCORES,
    STAGE_NAMES,
    STAGES,
    Grouping,
    measure,
    ratings_of_all,
)
from fibsbot.archive.progress import progress
from fibsbot.archive.reader import QueryError
from fibsbot.text import plural

WORST: Final = 2
"""Errors that are shown of each kind of decision and class of position."""


@frozen
class _Part:
    """A table of the parts that a grouping makes of the decisions."""

    heading: str
    column: str
    grouping: Grouping
    order: tuple[str, ...] = ()
    """The parts in order; empty for the largest loss first."""


_PARTS: Final = (
    _Part("Decisions by kind", "kind", CUBE_KINDS),
    _Part("Plays by class of position", "class", CLASSES),
    _Part("Decisions by score", "score", SCORES, SCORE_NAMES),
    _Part("Decisions by stage of the game", "turns", STAGES, STAGE_NAMES),
)
_PLACE: Final = ("match", "game", "turn", "file")
_ERROR_COLUMNS: Final = ("kind or class", "dice", "decision", "best", "loss", "position", *_PLACE)


def profile(judged: JudgedArchive, name: str, boundary: dt.datetime | None = None) -> Answer:
    """Answer how well a player plays, and whether that changes since a day, by default since half of the matches.

    Raises QueryError for a player without matches.
    """
    judged.need_judge()
    return Answer(
        f"Profile of {name}",
        (
            _overview(judged, name),
            *progress(judged, name, boundary),
            *luck_and_results(judged, name),
            *(_table(judged, name, part) for part in _PARTS),
            _worst(judged, name),
        ),
        judged.judge,
    )


def _overview(judged: JudgedArchive, name: str) -> AnswerSection:
    ((matches, won, rating, opponents),) = judged.rows(
        "SELECT count(*), count(*) FILTER (won), avg(rating), count(DISTINCT opponent) FROM players WHERE player = ?",
        name,
    )
    if not matches:
        raise QueryError(f"the archive has no player {name!r}")
    rated = "" if rating is None else f", mean rating {rating:.0f}"
    note = f"{plural(matches, 'match')}, {won:,} won{rated}, {plural(opponents, 'opponent')}"
    own = next(iter(measure(judged, name, NOTHING).values()), None)
    if own is not None and own.pr is not None:
        margin = "" if own.margin is None else f" (margin {own.margin:.1f})"
        note += f"; PR {own.pr:.1f}{margin}, that of all players {ratings_of_all(judged, NOTHING)[None]:.1f}"
    return AnswerSection(name, note=note)


def _table(judged: JudgedArchive, name: str, part: _Part) -> AnswerSection:
    own = {key: found for (key,), found in measure(judged, name, part.grouping).items() if key is not None}
    others = ratings_of_all(judged, part.grouping)
    kept = [key for key, found in own.items() if found.decisions or found.blunders]
    keys = sorted(kept, key=part.order.index if part.order else lambda key: (-own[key].loss, key))
    rows = [
        (
            key,
            own[key].decisions,
            own[key].shown,
            own[key].margin,
            others.get(key),
            own[key].loss,
            own[key].blunders,
        )
        for key in keys
    ]
    columns = (part.column, "decisions", "PR", "margin", "PR of all", "loss in all", f"blunders (from {BLUNDER:g})")
    note = "N away: the player who is nearer to the end needs N points." if part.grouping is SCORES else ""
    return AnswerSection(part.heading, columns, rows, note=note)


# -- errors -----------------------------------------------------------------------------------------------------------


def _worst(judged: JudgedArchive, name: str) -> AnswerSection:
    """Return the worst errors of each kind of decision, of plays those in each class of position."""
    part = f"coalesce({CLASSES.key}, {CUBE_KINDS.key})"
    worst = judged.rows(
        f"SELECT match, game, number, {part} AS part, loss, best FROM judgements{CUBE_KINDS.joins} "
        f"WHERE judge = ? AND player = ? AND loss >= {GRADE_THRESHOLDS[Grade.DOUBTFUL]} "
        f"QUALIFY row_number() OVER (PARTITION BY part ORDER BY loss DESC, match, game, number) <= {WORST}",
        judged.judge,
        name,
    )
    keys = ", ".join(sorted({str(row[0]) for row in worst})) or "NULL"
    errors = {row[:3]: row[3:] for row in worst}
    found = judged.decisions(f"match IN ({keys})", "0", 1_000_000, wanted=errors.keys())
    places = {(row["match"], row["game"], row["number"]): row for row in found}
    largest: dict[str, float] = {}
    for of, loss, _ in errors.values():
        largest[of] = max(loss, largest.get(of, 0.0))
    worst.sort(key=lambda row: (-largest[row[3]], row[3], -row[4], row[:3]))
    rows: list[tuple[Any, ...]] = []
    figures: list[Figure] = []
    for *place, of, loss, best in worst:
        row = places[tuple(place)]
        action = row["action"]
        rows.append((of, row["dice"], action, best, loss, row["position"], *place[:2], row["turn"], file_of(row)))
        figures += judged.pictures.decision(row, best, f"{of}: {action}, not {best}: {loss:.3f}")
    return AnswerSection("The worst errors of each kind", _ERROR_COLUMNS, rows, tuple(figures), not_in_text=_PLACE)
