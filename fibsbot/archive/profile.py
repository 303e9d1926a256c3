"""The profile of a player of an archive: how well each kind of decision is made, beside all other players."""

from __future__ import annotations

from typing import Final

from fibsbot.analysis.model import GRADE_THRESHOLDS, Grade
from fibsbot.archive.answers import PR, Answer, AnswerSection, JudgedArchive
from fibsbot.archive.reader import QueryError
from fibsbot.text import plural

_BLUNDER: Final = GRADE_THRESHOLDS[Grade.BLUNDER]
_STAGE: Final = (
    "CASE WHEN turn <= 4 THEN '1 to 4' WHEN turn <= 12 THEN '5 to 12' WHEN turn <= 30 THEN '13 to 30' "
    "ELSE '31 and later' END"
)


def profile(judged: JudgedArchive, name: str) -> Answer:
    """How well a player plays each class of positions, beside all others, and with the cube."""
    judged.need_judge()
    matches = judged.rows(
        "SELECT count(*), count(*) FILTER (won), avg(rating), count(DISTINCT opponent) FROM players WHERE player = ?",
        name,
    )[0]
    if not matches[0]:
        raise QueryError(f"the archive has no player {name!r}")
    rated = "" if matches[2] is None else f", mean rating {matches[2]:.0f}"
    ((own, everybody),) = judged.rows(
        f"SELECT (SELECT {PR} FROM judgements WHERE judge = ? AND player = ?), "
        f"(SELECT {PR} FROM judgements WHERE judge = ?)",
        judged.judge,
        name,
        judged.judge,
    )
    note = f"{plural(matches[0], 'match')}, {matches[1]:,} won{rated}, {plural(matches[3], 'opponent')}"
    if own is not None:
        note += f"; PR {own:.1f}, that of all players {everybody:.1f}"
    sections = [AnswerSection(name, note=note)]
    for heading, key, label, order in (
        ("Plays by class of position", "class", "class", "loss DESC NULLS LAST"),
        ("Decisions by kind", "kind", "kind", "loss DESC NULLS LAST"),
        ("Decisions by stage of the game", _STAGE, "turns", "first"),
    ):
        where = "judge = ?" + (" AND kind = 'play'" if label == "class" else "")
        rows = judged.rows(
            f"SELECT k, n, o.pr, a.pr, loss, blunders FROM (SELECT {key} AS k, min(turn) AS first, "
            "count(*) FILTER (counts) AS n, "
            f"sum(loss) FILTER (counts) AS loss, {PR} AS pr, count(*) FILTER (loss >= {_BLUNDER}) AS blunders "
            f"FROM judgements WHERE {where} AND player = ? GROUP BY 1) o "
            f"JOIN (SELECT {key} AS k, {PR} AS pr FROM judgements WHERE {where} GROUP BY 1) a USING (k) "
            f"ORDER BY {order}, k",
            judged.judge,
            name,
            judged.judge,
        )
        columns = (label, "decisions", "PR", "PR of all", "loss in all", f"blunders (from {_BLUNDER:g})")
        sections.append(AnswerSection(heading, columns, rows))
    return Answer(f"Profile of {name}", tuple(sections), judged.judge)
