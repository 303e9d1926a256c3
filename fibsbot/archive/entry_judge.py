"""Judging the decisions of games whose boards are not those of backgammon: entry by entry, as `analyse` does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from fibsbot.analysis.match_analysis import MatchAnalyser
from fibsbot.analysis.model import AnalysedDecision
from fibsbot.archive.columns import TableData, column_of, count_rows
from fibsbot.archive.judge import DECIMALS, Judge
from fibsbot.archive.rows import step_of
from fibsbot.archive.schema import JUDGEMENTS
from fibsbot.strategies.engine_strategy import EngineStrategy

KEPT: Final = ("match", "game", "number", "turn", "seat", "player", "kind")


@frozen(eq=False)
class EntryJudge:
    """Judges matches by the networks of their games."""

    name: str
    plies: int
    _evaluators: tuple[EngineStrategy, EngineStrategy]
    """Of decisions and, without lookahead, of luck."""

    @classmethod
    def of(cls, judge: Judge) -> EntryJudge:
        """Return the judge that looks ahead as far as one of backgammon, under the same name."""
        evaluators = (EngineStrategy(str(plies), engine=judge.engine) for plies in (judge.plies, 0))
        return cls(judge.name, judge.plies, tuple(evaluators))  # type: ignore[arg-type]

    def judge(self, rows: TableData) -> TableData:
        """Return the judgements of the decisions of one match, in their order; `rows` has those of `decisions`."""
        for evaluator in self._evaluators:
            evaluator.forget()
        analyser = MatchAnalyser(*self._evaluators)
        found: list[AnalysedDecision | None] = []
        for text, same in itertools.groupby(rows["entry"].tolist()):
            analysed = analyser.analyse_entry(step_of(text), luck=True).decisions
            found += _for_rows(analysed, len(list(same)))
        values = [self._values(decision) for decision in found]
        kept = {name: rows[name] for name in KEPT}
        judged = [column for column in JUDGEMENTS.columns if column.name not in KEPT]
        columns = {column.name: column_of(column, [row.get(column.name) for row in values]) for column in judged}
        assert count_rows(kept) == len(values)  # noqa: S101 - each row has the decision of its entry
        return {**kept, **columns}

    def _values(self, analysed: AnalysedDecision | None) -> dict[str, Any]:
        """Return the columns of a judgement; those that are not known are left out."""
        known: dict[str, Any] = {"judge": self.name, "plies": self.plies, "counts": False}
        if analysed is None or analysed.equity is None:
            return known
        known |= {"counts": analysed.counts, "equity": analysed.equity, "loss": analysed.loss, "best": analysed.best}
        known["luck"] = analysed.luck
        if (cube := analysed.cube) is not None:
            known |= {"no_double": cube.no_double, "double_take": cube.double_take, "double_pass": cube.double_pass}
        if (values := analysed.resigning) is not None:
            known |= {"settled": values.settled, "played_on": values.played_on.equity}
        return {name: round(value, DECIMALS) if isinstance(value, float) else value for name, value in known.items()}


def _for_rows(analysed: Sequence[AnalysedDecision], count: int) -> Sequence[AnalysedDecision | None]:
    """Return the analyses of the rows of one entry, or of several that are the same."""
    return [*analysed] * (count // len(analysed)) if analysed and count % len(analysed) == 0 else [None] * count
