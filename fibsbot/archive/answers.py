"""Answers to questions about an archive, and what they are made from: its rows, as one judge has judged them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

from attrs import field, frozen

from fibsbot.archive.dataset import quoted
from fibsbot.archive.figures import Figure, Pictures
from fibsbot.archive.reader import Archive, QueryError
from fibsbot.games import load_ruleset
from fibsbot.records.stored_rows import BACKGAMMON
from fibsbot.rules.backgammon import is_backgammon

PR: Final = "500 * sum(loss) FILTER (counts) / count(*) FILTER (counts)"
"""Performance rating of judgements, in SQL."""
RARE: Final = 20
"""Decisions in a row of a table from which its figures say something; fewer are left out of charts."""


@frozen
class AnswerSection:
    """A part of an answer."""

    heading: str
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[Any, ...]] = ()
    figures: tuple[Figure, ...] = ()
    note: str = ""
    folded: bool = False
    """Whether a page shows the figures only when they are asked for."""
    not_in_text: tuple[str, ...] = ()
    """Columns that the text leaves out, because a terminal of 80 columns has no room for them."""


@frozen
class Answer:
    """The answer to a question."""

    title: str
    sections: tuple[AnswerSection, ...]
    judge: str = ""
    """Whose judgements it is based on; empty for none."""


@frozen
class JudgedArchive:
    """The matches of an archive, perhaps of one game only, as one judge has judged them."""

    archive: Archive
    judge: str = field(default="")
    pictures: Pictures = field(factory=Pictures)
    ruleset: str | None = None
    """The full name of the only game that is asked about; None: all."""

    @classmethod
    def of(
        cls, archive: Archive, plies: int | None = None, ruleset: str | None = None, *, pictures: bool = True
    ) -> Self:
        """Return questions by the judge that has judged most, or most at these plies.

        Raises QueryError if nobody has judged at these plies.
        """
        where = "" if plies is None else f"WHERE plies = {plies}"
        found = archive.rows(
            f"SELECT judge FROM judgements {where} GROUP BY judge, plies ORDER BY count(*) DESC, plies DESC LIMIT 1"
        )
        if plies is not None and not found:
            raise QueryError(f"nothing is judged at {plies}-ply; `fibsbot archive study --plies {plies}` does that")
        return cls(archive, found[0][0] if found else "", Pictures(pictures), ruleset)

    def need_judge(self) -> None:
        """Raise QueryError if nothing is judged."""
        if not self.judge:
            raise QueryError("nothing is judged yet; `fibsbot archive study` does that")

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a SELECT that begins without WITH; `parameters` are those of its `?`."""
        return self.archive.rows(f"{self._matches_asked_about()}{sql}", parameters)

    def _matches_asked_about(self) -> str:
        """Return the beginning of a question that leaves only one game in the tables."""
        if self.ruleset is None:
            return ""
        ours = f"coalesce(ruleset, '{BACKGAMMON}') = {quoted(self.ruleset)}"
        wanted = f"match IN (SELECT match FROM main.matches WHERE {ours})"
        tables = ("matches", "decisions", "players", "judgements")
        return f"WITH {', '.join(f'{table} AS (SELECT * FROM main.{table} WHERE {wanted})' for table in tables)} "

    def need_positions(self, question: str) -> None:
        """Raise QueryError for a question about positions of backgammon, if another game is asked about."""
        if self.ruleset is not None and not is_backgammon(load_ruleset(self.ruleset)):
            raise QueryError(f"{question} knows positions of backgammon only, and none of {self.ruleset}")

    def decisions(
        self, condition: str, distance: str, count: int, *, wanted: Any = None, one_per_game: bool = False
    ) -> list[dict[str, Any]]:
        """Return the decisions that fit, the most similar first, with the opponent and the file of each."""
        names = (
            *("match", "game", "number", "turn", "player", "kind", "position", "dice", "action", "length"),
            *("own_score", "opponent_score", "cube", "owner", "crawford", "post_crawford", "resignation", "seat"),
            "entry",
        )
        first = "QUALIFY row_number() OVER (PARTITION BY match, game ORDER BY number) = 1" if one_per_game else ""
        found = self.rows(
            f"SELECT {', '.join(names)}, {distance} AS distance FROM decisions WHERE {condition} {first} "
            f"ORDER BY distance, match, game, number LIMIT {count}"
        )
        rows = [dict(zip((*names, "distance"), row, strict=True)) for row in found]
        rows = [row for row in rows if wanted is None or (row["match"], row["game"], row["number"]) in wanted]
        keys = ", ".join({str(row["match"]) for row in rows}) or "NULL"
        matches = self.rows(
            f"SELECT match, player_a, player_b, source, source_number FROM matches WHERE match IN ({keys})"
        )
        known = {match: rest for match, *rest in matches}
        for row in rows:
            player_a, player_b, row["source"], row["source_number"] = known[row["match"]]
            row["opponent"] = player_b if row["seat"] == "A" else player_a
        return rows
