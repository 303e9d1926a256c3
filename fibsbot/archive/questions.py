"""Ready questions about an archive: what people play, how well, how lucky they are. Each is answered by sections."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import frozen

from fibsbot.analysis.model import EQUITY_TOLERANCE
from fibsbot.analysis.selection import DecisionSelection
from fibsbot.archive.answers import RARE, Answer, AnswerSection, JudgedArchive
from fibsbot.archive.dataset import quoted
from fibsbot.archive.figures import Figure, file_of
from fibsbot.archive.patterns import parse_pattern
from fibsbot.archive.profile import profile
from fibsbot.drawing.plot import Series
from fibsbot.notation.position_ids import parse_position_id
from fibsbot.position import Position
from fibsbot.text import plural

MAX_PLAYS: Final = 6
"""Plays of an opening roll that are listed."""
LEAST_SHARE: Final = 0.002
"""Share of a play below which it is not listed."""
RATING_STEP: Final = 50
CHANCE_STEP: Final = 0.025


def selected_rows(selection: DecisionSelection) -> tuple[str, tuple[Any, ...]]:
    """Return the condition that a row of `judgements` is selected, to be put after another one, and its parameters."""
    text = " AND loss > ?"
    found: list[Any] = [selection.least_loss - EQUITY_TOLERANCE]
    if selection.player is not None:
        text += " AND player = ?"
        found.append(selection.player)
    if selection.since is not None:
        text += " AND match IN (SELECT match FROM matches WHERE started >= ?)"
        found.append(selection.since.astimezone(dt.UTC).replace(tzinfo=None))
    for column, values in (("kind", selection.kinds), ("class", selection.classes)):
        if values:
            text += f" AND {column} IN ({', '.join('?' * len(values))})"
            found += values
    return text, tuple(found)


@frozen
class Questions(JudgedArchive):
    """The questions that can be asked of an archive."""

    def profile(self, name: str, since: dt.datetime | None = None) -> Answer:
        """How well a player plays, and whether that changes since a day, by default since half of the matches.

        Raises QueryError for a player without matches.
        """
        return profile(self, name, since)

    # -- openings -----------------------------------------------------------------------------------------------------

    def openings(self) -> Answer:
        """What people play with each opening roll of backgammon and each reply to it, and what it costs."""
        self.need_positions("openings")
        first = self.rows(
            f"SELECT d.dice, d.action, count(*) AS n, avg(j.loss), mode(j.best) FROM decisions d "
            f"{_judged(1)} WHERE d.turn = 1 AND d.kind = 'play' AND d.position = {_START} "
            "GROUP BY ALL ORDER BY d.dice, n DESC, d.action",
            self.judge,
        )
        by_roll = {roll: list(plays) for roll, plays in itertools.groupby(first, key=lambda row: row[0])}
        usual = {roll: plays[0][1] for roll, plays in by_roll.items()}
        overview = [self._usual_play(roll, [row[1:] for row in plays]) for roll, plays in by_roll.items()]
        sections = [self._opening(roll, plays) for roll, plays in by_roll.items()]
        games = sum(row[2] for row in first)
        return Answer(
            f"Openings of {plural(games, 'game')}",
            (AnswerSection("All opening rolls", _USUAL, overview), *sections, *self._replies(usual)),
            self.judge,
        )

    @staticmethod
    def _usual_play(roll: str, plays: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return a row about a roll from its plays, the most frequent one first: play, times, mean loss, the best."""
        total = sum(row[1] for row in plays)
        known = [(row[2], row[1]) for row in plays if row[2] is not None]
        cost = sum(loss * count for loss, count in known) / sum(pair[1] for pair in known) if known else None
        action, count, loss, _ = plays[0]
        best = _most_frequent((row[3], row[1]) for row in plays)
        return _roll(roll), total, action, count / total, loss, best, cost

    def _opening(self, roll: str, plays: list[tuple[Any, ...]]) -> AnswerSection:
        total = sum(row[2] for row in plays)
        best = _most_frequent((row[4], row[2]) for row in plays)
        rows = [
            (action, count, count / total, loss, "engine's choice" if action == best else "")
            for _, action, count, loss, _ in plays[:MAX_PLAYS]
            if count / total >= LEAST_SHARE
        ]
        caption = f"{_roll(roll)}: {best or plays[0][1]}" + (", the engine's choice" if best else "")
        figure = self.pictures.board(Position.start(), roll, best or plays[0][1], caption)
        heading = f"{_roll(roll)}: {plural(total, 'time')}"
        return AnswerSection(heading, ("play", "times", "share", "mean loss", ""), rows, figure)

    def _replies(self, usual: dict[str, str]) -> Iterator[AnswerSection]:
        found = self.rows(
            "SELECT f.dice, f.action, d.dice, d.action, count(*) AS n, avg(j.loss), mode(j.best), "
            "any_value(d.position) FROM (SELECT match, game, dice, action FROM decisions "
            f"WHERE turn = 1 AND kind = 'play' AND position = {_START}) f JOIN decisions d USING (match, game) "
            f"{_judged(2)} WHERE d.turn = 2 AND d.kind = 'play' "
            "GROUP BY ALL ORDER BY f.dice, d.dice, n DESC, d.action",
            self.judge,
        )
        chosen = [row for row in found if usual.get(row[0]) == row[1]]
        for opening, of_opening in itertools.groupby(chosen, key=lambda row: row[0]):
            rows: list[tuple[Any, ...]] = []
            figures: list[Figure] = []
            for roll, of_roll in itertools.groupby(of_opening, key=lambda row: row[2]):
                plays = list(of_roll)
                row = self._usual_play(roll, [play[3:7] for play in plays])
                rows.append(row)
                shown = row[_BEST] or row[_MOST_FREQUENT]
                figures += self.pictures.board(parse_position_id(plays[0][7]), roll, shown, f"{_roll(roll)}: {shown}")
            heading = f"Replies to {_roll(opening)} {usual[opening]}"
            yield AnswerSection(heading, _USUAL, rows, tuple(figures), folded=True)

    # -- players ------------------------------------------------------------------------------------------------------

    def luck(self) -> Answer:
        """How lucky and how good players are, by name and by rating."""
        self.need_judge()
        per_match = (
            "SELECT p.match, p.player, p.rating, p.won, j.loss, j.n, j.luck - o.luck AS luck FROM players p "
            "JOIN (SELECT match, seat, sum(luck) AS luck, sum(loss) FILTER (counts) AS loss, "
            "count(*) FILTER (counts) AS n FROM judgements WHERE judge = $judge GROUP BY ALL) j USING (match, seat) "
            "JOIN (SELECT match, seat, sum(luck) AS luck FROM judgements WHERE judge = $judge GROUP BY ALL) o "
            "ON o.match = p.match AND o.seat <> p.seat"
        ).replace("$judge", quoted(self.judge))
        figures = (
            "count(*) AS matches, avg(rating) AS rating, 500 * sum(loss) / sum(n) AS pr, avg(luck) AS luck, "
            "avg(won::INTEGER) AS won"
        )
        columns = ("matches", "rating", "PR", "luck per match", "matches won")
        players = self.rows(f"SELECT player, {figures} FROM ({per_match}) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 50")
        step = RATING_STEP
        ratings = self.rows(
            f"SELECT floor(rating / {step}) * {step} AS lowest, {figures} FROM ({per_match}) "
            "WHERE rating IS NOT NULL GROUP BY 1 ORDER BY 1"
        )
        rows = [(f"{low:.0f} to {low + step - 1:.0f}", *rest) for low, *rest in ratings]
        charted = [row for row in ratings if row[1] >= RARE and row[3] is not None]
        charts = [
            *self.pictures.curves(
                "Performance rating by rating",
                [Series("PR", tuple((low + step / 2, pr) for low, _, _, pr, *_ in charted))],
                "rating",
            ),
            *self.pictures.curves(
                "Luck per match by rating",
                [Series("luck per match", tuple((low + step / 2, luck) for low, *_, luck, _ in charted))],
                "rating",
            ),
        ]
        note = "Luck is what the rolls of a player were better than average, less those of the opponent, in equity."
        return Answer(
            "Luck and rating",
            (
                AnswerSection(
                    "By rating", ("rating", "matches", "mean rating", *columns[2:]), rows, tuple(charts), note
                ),
                AnswerSection("By player", ("player", *columns), players),
            ),
            self.judge,
        )

    # -- the cube -----------------------------------------------------------------------------------------------------

    def takes(self) -> Answer:
        """From which chance on people take, and from which they should."""
        self.need_judge()
        sections = []
        for heading, where in (
            ("All takes", "true"),
            ("Unlimited matches, and both 4 points away or more", _FAR),
            ("Matches, somebody less than 4 points away", f"NOT ({_FAR})"),
        ):
            found = self.rows(
                f"SELECT floor(j.win / {CHANCE_STEP}) * {CHANCE_STEP} AS lowest, count(*) AS n, "
                "avg((j.best_action <> 'pass')::INTEGER), avg((d.action <> 'pass')::INTEGER), avg(j.loss) FROM "
                "(SELECT match, game, number, win, loss, best AS best_action FROM judgements "
                "WHERE judge = ? AND kind = 'take' AND win IS NOT NULL) j JOIN "
                "(SELECT * FROM decisions WHERE kind = 'take') d USING (match, game, number) "
                f"WHERE {where} GROUP BY 1 ORDER BY 1",
                self.judge,
            )
            if not found:
                continue
            rows = [(f"{low:.1%} to {low + CHANCE_STEP:.1%}", *rest) for low, *rest in found]
            middles = [(low + CHANCE_STEP / 2, n, right, made) for low, n, right, made, _ in found]
            charted = [point for point in middles if point[1] >= RARE]
            used, right = (_crossing([(point[0], point[place]) for point in charted]) for place in (3, 2))
            note = _take_points(used, right)
            chart = self.pictures.curves(
                "Share of doubles that are taken",
                [
                    Series("taken", tuple((100 * point[0], 100 * point[3]) for point in charted)),
                    Series("right to take", tuple((100 * point[0], 100 * point[2]) for point in charted)),
                ],
                "chance to win in percent",
            )
            columns = ("chance to win", "doubles", "right to take", "taken", "mean loss")
            sections.append(AnswerSection(heading, columns, rows, chart, note))
        return Answer("Take points", tuple(sections) or (_EMPTY,), self.judge)

    # -- single decisions ---------------------------------------------------------------------------------------------

    def blunders(self, count: int, selection: DecisionSelection | None = None) -> Answer:
        """The largest errors, of all or of those that are selected."""
        self.need_judge()
        condition, parameters = selected_rows(selection or DecisionSelection())
        worst = self.rows(
            f"SELECT match, game, number, loss, best FROM judgements WHERE judge = ? AND loss > 0{condition} "
            f"ORDER BY loss DESC, match, game, number LIMIT {count}",
            self.judge,
            *parameters,
        )
        losses = {row[:3]: row[3:] for row in worst}
        keys = ", ".join(str(match) for match in {row[0] for row in worst}) or "NULL"
        found = self.decisions(f"match IN ({keys})", "0", 1_000_000, wanted=losses.keys())
        found.sort(key=lambda row: (-losses[row["match"], row["game"], row["number"]][0], row["match"]))
        rows: list[tuple[Any, ...]] = []
        figures: list[Figure] = []
        for row in found:
            loss, best = losses[row["match"], row["game"], row["number"]]
            rows.append((*_place(row), row["dice"], row["action"], best, loss, row["position"], file_of(row)))
            figures += self.pictures.decision(row, best, f"{row['action']}, not {best}: {loss:.3f}")
        columns = ("match", "game", "turn", "player", "dice", "decision", "best", "loss", "position", "file")
        return Answer(
            f"The largest {plural(len(rows), 'error')}",
            (AnswerSection("Errors", columns, rows, tuple(figures)),),
            self.judge,
        )

    def similar(self, text: str, count: int) -> Answer:
        """Positions of backgammon like one, or that fit a pattern, with what was decided. Raises PatternError."""
        self.need_positions("similar")
        likeness = parse_pattern(text)
        sections = []
        example = likeness.position is not None
        if example:
            exact = self.rows(
                "SELECT dice, action, count(*) AS n, avg(j.loss) FROM "
                f"(SELECT * FROM decisions WHERE position = ?) d {_JUDGED} GROUP BY ALL ORDER BY n DESC, 1, 2 LIMIT 30",
                text.strip(),
                self.judge,
            )
            sections.append(AnswerSection("This position", ("dice", "decision", "times", "mean loss"), exact))
            condition = f"{likeness.condition} AND entry IS NULL AND position <> {quoted(text.strip())}"
        else:
            condition = f"{likeness.condition} AND entry IS NULL"
            ((total, matches),) = self.rows(f"SELECT count(*), count(DISTINCT match) FROM decisions WHERE {condition}")
            note = f"{plural(total, 'decision')} in {plural(matches, 'match')}"
            sections.append(AnswerSection("Positions that fit", note=note))
        rows: list[tuple[Any, ...]] = []
        figures: list[Figure] = []
        for row in self.decisions(condition, likeness.distance, count, one_per_game=not example):
            distance = (row["distance"],) if example else ()
            rows.append((*_place(row), row["dice"], row["action"], *distance, row["position"], file_of(row)))
            figures += self.pictures.decision(row, row["action"], f"{row['player']}: {row['action']}")
        columns = (
            "match",
            "game",
            "turn",
            "player",
            "dice",
            "decision",
            *(["distance"] if example else []),
            "position",
            "file",
        )
        heading = "Positions like it, the most similar first" if example else "Examples, one per game"
        sections.append(AnswerSection(heading, columns, rows, tuple(figures)))
        return Answer(f"Positions: {text.strip()}", tuple(sections), self.judge if example else "")


_START: Final = "'4HPwATDgc/ABMA'"
_USUAL: Final = ("roll", "times", "most frequent", "share", "its loss", "engine's choice", "mean loss")
_MOST_FREQUENT: Final = _USUAL.index("most frequent")
_BEST: Final = _USUAL.index("engine's choice")
_EMPTY: Final = AnswerSection("Nothing", note="The archive has no such decision.")
_FAR: Final = "d.length = 0 OR (d.length - d.own_score >= 4 AND d.length - d.opponent_score >= 4)"
_JUDGED: Final = (
    "LEFT JOIN (SELECT match, game, number, loss, best FROM judgements WHERE judge = ?) j USING (match, game, number)"
)
"""The join of decisions `d` with their judgements `j`, if there are any."""


def _judged(turn: int) -> str:
    """Return the same join for decisions of a turn."""
    return _JUDGED.replace("judge = ?", f"judge = ? AND turn = {turn}")


def _most_frequent(votes: Iterator[tuple[str | None, int]] | Any) -> str:
    """Return the text with most votes; empty without any."""
    counts: dict[str, int] = {}
    for text, count in votes:
        if text is not None:
            counts[text] = counts.get(text, 0) + count
    return max(counts, key=lambda candidate: counts[candidate], default="")


def _crossing(points: Sequence[tuple[float, float]]) -> float | None:
    """Return where a share rises through one half; None if it never does."""
    for (x, y), (next_x, next_y) in itertools.pairwise(points):
        if y < 0.5 <= next_y:
            return x + (0.5 - y) / (next_y - y) * (next_x - x)
    return None


def _take_points(used: float | None, right: float | None) -> str:
    """Return in words from which chance on half of the doubles are taken, and from which on that is right."""
    facts = (("half of the doubles are taken", used), ("taking is right", right))
    known = [
        f"{fact} from a chance of {chance:.1%} on"
        for fact, chance in facts
        if chance is not None and not math.isnan(chance)
    ]
    text = "; ".join(known) or "too few takes to tell the take point"
    return f"{text[0].upper()}{text[1:]}."


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["match"], row["game"], row["turn"], row["player"]


def _roll(text: str) -> str:
    return f"{text[0]}-{text[1]}"
