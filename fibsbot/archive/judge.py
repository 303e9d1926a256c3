"""Judging the decisions of a match by the engine, without lookahead all of them together.

Each match is judged by itself, from a fresh state of the engine, so that its judgements do not depend on which matches
were judged before it, nor by which worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from attrs import evolve, field, frozen

from fibsbot.analysis.decision_analysis import DecisionAnalyser
from fibsbot.analysis.model import CLOSE_CUBE_DECISION, differ, loss_against
from fibsbot.analysis.position_classes import position_classes
from fibsbot.analysis.selection import DOUBLE, PLAY, TAKE
from fibsbot.archive.columns import Boards, TableData, boards_of_ids, count_rows
from fibsbot.archive.play_arrays import dice_of, play_change, play_text, successors_of_rolls
from fibsbot.archive.resignations import KINDS as RESIGNATIONS
from fibsbot.archive.resignations import OfferedResignation, ResignationJudge
from fibsbot.archive.rows import OWNERS
from fibsbot.engine import engine_details
from fibsbot.engine.arrays import BAR, ROLL_COUNT, Floats64, Outcomes, other_side, swapped
from fibsbot.engine.cube import THEIRS, CubeVerdict
from fibsbot.engine.engine import Engine
from fibsbot.engine.hash_tables import distinct
from fibsbot.engine.numerics import mean_over_rolls
from fibsbot.engine.pruner import PlayFilter
from fibsbot.engine.search import PlayComparison, SearchLimits
from fibsbot.engine.search.lookahead import OPPONENT_COLUMN, CubeLine, DecisionCubes, argmin_of_slots
from fibsbot.match import ROLLS, Dice, MatchState, Phase
from fibsbot.notation.play_notation import format_play
from fibsbot.position import Play, Position
from fibsbot.rules.laws import Level
from fibsbot.rules.plays import legal_plays
from fibsbot.strategies.engine_strategy import EngineStrategy

LUCK_FILTER: Final = PlayFilter(0.25, 5)
"""The plays of each roll that are evaluated for luck. With all of them it differs by 0.009, and takes three times as
long."""
BATCH: Final = 2048
"""Positions that are evaluated together."""
DECIMALS: Final = 5
"""Decimal places of what is stored: the network knows less, and files are smaller."""

_OWNERS: Final = {word: owner for owner, word in OWNERS.items()}
_DOUBLES_OUT: Final = np.array([high != low for high, low in ROLLS])
"""Which rolls an opening roll can be."""


class _Context(NamedTuple):
    """What the value of a position depends on besides the position: score, cube and laws, seen by the player."""

    length: int
    own_score: int
    opponent_score: int
    cube: int
    owner: str
    crawford: bool
    post_crawford: bool
    redoubles: int
    jacoby: bool
    cubeless: bool
    triple: bool
    point_game: bool

    def state(self, position: Position, phase: Phase = Phase.ROLL, dice: Dice | None = None) -> MatchState:
        return MatchState(
            position,
            self.length,
            (self.own_score, self.opponent_score),
            self.cube,
            _OWNERS[self.owner],
            self.crawford,
            self.post_crawford,
            phase,
            dice,
            jacoby=self.jacoby,
            redoubles=self.redoubles,
            cubeless=self.cubeless,
            triple=self.triple,
            point_game=self.point_game,
        )

    @property
    def swapped(self) -> _Context:
        owner = {"player": "opponent", "opponent": "player"}.get(self.owner, self.owner)
        return self._replace(own_score=self.opponent_score, opponent_score=self.own_score, owner=owner)


@frozen(eq=False)
class Judge:
    """Judges matches by an engine."""

    engine: Engine
    plies: int
    cubes: dict[_Context, DecisionCubes] = field(factory=dict, init=False)

    @property
    def name(self) -> str:
        """Version, plies and networks."""
        return judge_name(self.engine, self.plies)

    def judge(self, rows: TableData) -> TableData:
        """Return the judgements of the decisions of one match, in their order.

        `rows` has the columns of `decisions`, and those of its games that are laws.
        """
        self.engine.searcher.lookahead.forget()
        return _MatchJudgement(self, rows).table()

    def cubes_of(self, context: _Context) -> DecisionCubes:
        """Return the cubes that can occur in a context."""
        found = self.cubes.get(context)
        if found is None:
            if len(self.cubes) > 1000:
                self.cubes.clear()
            found = self.cubes[context] = self.engine.searcher.cubes(context.state(Position.start()))
        return found


def judge_name(engine: Engine, plies: int) -> str:
    """Return the name by which judgements are kept: version, plies and networks."""
    return engine_details(engine.name, f"{plies}-ply")


class _MatchJudgement:
    """The judgements of a match as they are made."""

    def __init__(self, judge: Judge, rows: TableData) -> None:
        self._judge = judge
        self._rows = rows
        self._count = count_rows(rows)
        self._boards = boards_of_ids(rows["position"])
        self._contexts = _contexts(rows)
        self._of_context: dict[_Context, list[int]] = {}
        for row, context in enumerate(self._contexts):
            self._of_context.setdefault(context, []).append(row)
        self._kinds = rows["kind"]
        self.equity, self.loss, self.luck = np.full((3, self._count), np.nan)
        self.chances = np.full((self._count, 6), np.nan)
        self.cube = np.full((self._count, 3), np.nan)
        self.resigning = np.full((self._count, 2), np.nan)
        self.counts = np.zeros(self._count, np.bool_)
        self.best: list[str | None] = rows["action"].tolist()

    def table(self) -> TableData:
        plays = np.flatnonzero(self._kinds == PLAY)
        if self._judge.plies:
            self._search_plays(plays)
        else:
            self._judge_plays(plays)
        self._judge_luck(plays)
        self._judge_cubes(np.flatnonzero((self._kinds == DOUBLE) | (self._kinds == TAKE)))
        self._judge_resignations(np.flatnonzero(np.isin(self._kinds, RESIGNATIONS) & (self._rows["stage"] != "")))
        kept = {name: self._rows[name] for name in ("match", "game", "number", "turn", "seat", "player", "kind")}
        best = np.empty(self._count, object)
        best[:] = self.best
        win, gammon, backgammon, _, lose_gammon, lose_backgammon = (_rounded(column) for column in self.chances.T)
        no_double, double_take, double_pass = (_rounded(column) for column in self.cube.T)
        settled, played_on = (_rounded(column) for column in self.resigning.T)
        return {
            **kept,
            "judge": np.full(self._count, self._judge.name, object),
            "plies": np.full(self._count, self._judge.plies, np.int8),
            "class": position_classes(self._boards, self._rows["turn"]),
            "counts": self.counts,
            "equity": _rounded(self.equity),
            "loss": _rounded(self.loss),
            "best": best,
            "luck": _rounded(self.luck),
            "win": win,
            "win_gammon": gammon,
            "win_backgammon": backgammon,
            "lose_gammon": lose_gammon,
            "lose_backgammon": lose_backgammon,
            "no_double": no_double,
            "double_take": double_take,
            "double_pass": double_pass,
            "settled": settled,
            "played_on": played_on,
        }

    # -- evaluation ---------------------------------------------------------------------------------------------------

    def _evaluate(self, boards: Boards) -> Outcomes:
        """Return the chances of the player on roll, without lookahead; equal positions are evaluated once."""
        which, number = distinct(np.ascontiguousarray(boards))
        parts = [
            self._judge.engine.evaluator.evaluate(boards[which[first : first + BATCH]])
            for first in range(0, len(which), BATCH)
        ]
        return np.concatenate(parts)[number] if parts else np.empty((0, 6), np.float32)

    def _mover_equities(
        self, boards: Boards, outcomes: Outcomes, rows: npt.NDArray[np.int64], contexts: Iterable[_Context]
    ) -> Floats64:
        """Return the equity of positions after a play for the player who made it.

        `boards` and `outcomes` are seen by the opponent, who is on roll; `rows` says whose context each has, in order.
        """
        equities = np.empty(len(boards))
        starts = np.searchsorted(rows, np.arange(rows[-1] + 2)) if len(rows) else np.zeros(1, np.int64)
        groups: dict[_Context, list[npt.NDArray[np.int64]]] = {}
        for row, context in enumerate(contexts):
            if row + 1 < len(starts):
                groups.setdefault(context, []).append(np.arange(starts[row], starts[row + 1]))
        for context, parts in groups.items():
            places = np.concatenate(parts)
            cubes = self._judge.cubes_of(context)
            lines = (CubeLine(0, OPPONENT_COLUMN[cubes.start.column]),)
            equities[places] = -cubes.values(1, lines, boards[places], outcomes[places])[:, 0]
        return equities

    # -- plays --------------------------------------------------------------------------------------------------------

    def _judge_plays(self, plays: npt.NDArray[np.int64]) -> None:
        """Judge plays without lookahead, all plays of all rolls together."""
        dice = [dice_of(text) for text in self._rows["dice"][plays]]
        after, slots = successors_of_rolls(self._boards[plays], dice)
        outcomes = self._evaluate(after)
        equities = self._mover_equities(after, outcomes, slots, [self._contexts[row] for row in plays])
        made = swapped(self._made(plays))
        is_made = (after == made[slots]).all(axis=1)
        starts = np.searchsorted(slots, np.arange(len(plays) + 1))
        for place, row in enumerate(plays):
            first, last = starts[place], starts[place + 1]
            values = equities[first:last]
            own = np.flatnonzero(is_made[first:last])
            if not len(own):
                continue  # a play that the rules forbid, from a file that was not checked
            chosen, best = own[0], int(values.argmax())
            self._note_play(
                row, values, int(chosen), best, outcomes[first + chosen], dice[place], swapped(after[first + best])
            )

    def _note_play(  # noqa: PLR0913, PLR0917 - what is known of a play
        self,
        row: int,
        values: Floats64,
        chosen: int,
        best: int,
        outcomes: Outcomes,
        dice: Dice,
        after_best: npt.NDArray[np.int8],
    ) -> None:
        self.equity[row] = values[chosen]
        self.chances[row] = other_side(outcomes)
        self.loss[row] = loss_against(values[best], values[chosen])
        self.counts[row] = len(values) > 1 and differ(values.max(), values.min())
        if self.loss[row]:
            self.best[row] = play_text(self._boards[row], dice, after_best)

    def _made(self, plays: npt.NDArray[np.int64]) -> Boards:
        """Return the positions after the plays that were made, seen by the players who made them."""
        changes = [play_change(text) for text in self._rows["action"][plays]]
        return self._boards[plays] + np.array(changes, np.int8).reshape(-1, BAR + 1)

    def _search_plays(self, plays: npt.NDArray[np.int64]) -> None:
        """Judge plays with lookahead, one after the other."""
        engine, made = self._judge.engine, self._made(plays)
        limits = SearchLimits(self._judge.plies)
        for place, row in enumerate(plays):
            position = Position(tuple(self._boards[row].tolist()))
            dice = dice_of(self._rows["dice"][row])
            every = legal_plays(position, dice) or (Play(),)
            after = tuple(made[place].tolist())
            own = next((play for play in every if position.play(play).points == after), None)
            if own is None:
                continue
            state = self._contexts[row].state(position, Phase.MOVE, dice)
            ranking = engine.rank(state, every, limits, PlayComparison(also=own))
            chosen = next(ranked for ranked in ranking.plays if ranked.play == own)
            best = ranking.best
            self.equity[row] = min(chosen.equity, best.equity)
            self.chances[row] = chosen.outcomes
            self.loss[row] = loss_against(best.equity, chosen.equity)
            worst = min(ranked.equity for ranked in ranking.plays)
            self.counts[row] = len(every) > 1 and differ(best.equity, worst)
            if self.loss[row]:
                self.best[row] = format_play(best.play, position)

    # -- luck ---------------------------------------------------------------------------------------------------------

    def _judge_luck(self, plays: npt.NDArray[np.int64]) -> None:
        """Judge how much better each roll was than the average one, without lookahead.

        The average is over the best plays that the pruner leaves, and the roll that was made is taken from the same
        ones. An opening roll is compared with the opening rolls of both players.
        """
        openings = [row for row in plays if self._is_opening(row)]
        boards = np.concatenate([self._boards[plays], self._boards[openings]])
        contexts = [self._contexts[row] for row in plays] + [self._contexts[row].swapped for row in openings]
        best = self._best_of_rolls(boards, contexts)
        means = mean_over_rolls(best)
        unequal = best[:, _DOUBLES_OUT].mean(axis=1)
        place_of = {row: len(plays) + place for place, row in enumerate(openings)}
        for place, row in enumerate(plays):
            made = best[place, _ROLL_INDEX[dice_of(self._rows["dice"][row])]]
            mean = (unequal[place] - unequal[place_of[row]]) / 2 if row in place_of else means[place]
            self.luck[row] = made - mean

    def _is_opening(self, row: int) -> bool:
        return bool(self._rows["turn"][row] == 1 and (self._boards[row] == _START).all())

    def _best_of_rolls(self, boards: Boards, contexts: list[_Context]) -> Floats64:
        """Return the equity of the best play of each roll, shape (n, 21)."""
        lookahead = self._judge.engine.searcher.lookahead
        over = np.logical_not((boards > 0).any(axis=1) & (boards < 0).any(axis=1))
        assert not over.any()  # noqa: S101 - decisions are made in games that are not over
        after, slots = lookahead.expand(np.ascontiguousarray(boards), LUCK_FILTER)
        equities = self._mover_equities(after, self._evaluate(after), slots.astype(np.int64) // ROLL_COUNT, contexts)
        best = argmin_of_slots(-equities[:, None], slots, len(boards) * ROLL_COUNT)
        return equities[best[:, 0]].reshape(-1, ROLL_COUNT)

    # -- the cube -----------------------------------------------------------------------------------------------------

    def _judge_cubes(self, rows: npt.NDArray[np.int64]) -> None:
        """Judge doubles and their answers; where beavers are allowed, one by one, as `analyse` does."""
        groups: dict[tuple[_Context, bool], list[int]] = {}
        boards = self._boards[rows]
        for place, row in enumerate(rows.tolist()):
            answers_opponent = self._answers_opponent(row)
            groups.setdefault((self._contexts[row], answers_opponent), []).append(place)
            if answers_opponent:
                boards[place] = swapped(boards[place])
        network = None if self._judge.plies else self._evaluate(boards)
        analyser = DecisionAnalyser(EngineStrategy(str(self._judge.plies), engine=self._judge.engine))
        for (context, answers_opponent), places in groups.items():
            on_roll = context.swapped if answers_opponent else context
            members = rows[places].tolist()
            found = None if network is None else network[places]
            outcomes, values = self._cube_values(on_roll, boards[places], found)
            cubes = self._judge.cubes_of(on_roll)
            state = on_roll.state(Position.start())
            for place, row in enumerate(members):
                no_double, take = values[place]
                sign = -1 if answers_opponent or self._kinds[row] == DOUBLE else 1
                verdict = CubeVerdict.of(cubes.stakes(0, 0), state.owner, no_double, take)
                self.cube[row] = no_double, take, verdict.double_pass
                self.chances[row] = other_side(outcomes[place]) if answers_opponent else outcomes[place]
                passed = -float(verdict.double_pass) if sign < 0 else -1.0
                answers: Mapping[str, float] = {"take": sign * float(take), "pass": passed}
                if context.redoubles and not context.length:
                    position = Position(tuple(boards[places[place]].tolist()))
                    answers = analyser.answers(on_roll.state(position), sign, context.redoubles)
                self._note_cube(row, context, float(no_double), answers)

    def _answers_opponent(self, row: int) -> bool:
        """Return whether a decision answers the player on roll, whose double or raccoon it is, and not a beaver."""
        if self._kinds[row] != TAKE:
            return False
        redoubles = 0
        for before in range(row - 1, -1, -1):
            if self._kinds[before] in RESIGNATIONS:
                continue
            if self._kinds[before] != TAKE or self._rows["action"][before] != "beaver":
                break
            redoubles += 1
        return redoubles % 2 == 0

    def _cube_values(self, context: _Context, boards: Boards, outcomes: Outcomes | None) -> tuple[Outcomes, Floats64]:
        """Return the outcomes of positions, unless they are known, and their values without and after a double."""
        cubes = self._judge.cubes_of(context)
        lines = (cubes.start, CubeLine(1, THEIRS))
        if outcomes is not None:
            return outcomes, cubes.no_double_values(0, lines, boards, outcomes)
        lookahead = self._judge.engine.searcher.lookahead
        found = [
            lookahead.no_double_values(cubes, 0, lines, np.ascontiguousarray(boards[row : row + 1]), self._judge.plies)
            for row in range(len(boards))
        ]
        return np.concatenate([value.outcomes for value in found]), np.concatenate([value.equities for value in found])

    def _note_cube(self, row: int, context: _Context, no_double: float, answers: Mapping[str, float]) -> None:
        """Note a cube decision; `answers` has the equity of each answer to a double for the player who gives it."""
        doubles = self._kinds[row] == DOUBLE
        worth = {"roll": no_double, "double": -max(answers.values())} if doubles else answers
        action = self._rows["action"][row]
        if action not in worth:
            return
        best = max(worth, key=lambda choice: worth[choice])
        others = max(value for choice, value in worth.items() if choice != best)
        self.equity[row] = worth[action]
        self.loss[row] = loss_against(worth[best], worth[action])
        self.best[row] = best if self.loss[row] else action
        dead = doubles and 0 < context.length - context.own_score <= context.cube
        self.counts[row] = self.loss[row] > 0 or (not dead and worth[best] - others < CLOSE_CUBE_DECISION)

    # -- resignations -------------------------------------------------------------------------------------------------

    def _judge_resignations(self, rows: npt.NDArray[np.int64]) -> None:
        """Judge offers to resign and answers to them, as far as it is known what the game waited for."""
        if not len(rows):
            return
        judge = ResignationJudge(self._judge.engine, self._judge.plies)
        for row in rows.tolist():
            level = int(self._rows["resignation"][row])
            dice = self._rows["dice"][row]
            state = self._contexts[row].state(Position(tuple(self._boards[row].tolist())))
            found = judge.judge(
                OfferedResignation(
                    self._kinds[row],
                    self._rows["action"][row],
                    Level(level),
                    self._rows["stage"][row],
                    bool(self._rows["own_move"][row]),
                    dice_of(dice) if dice else None,
                    evolve(state, resignation=level),
                )
            )
            self.equity[row], self.loss[row], self.counts[row] = found.equity, found.loss, found.counts
            self.best[row] = found.best
            if (values := found.resigning) is not None:
                self.resigning[row] = values.settled, values.played_on.equity
                if values.played_on.chances is not None:
                    self.chances[row] = values.played_on.chances


_START: Final = np.array(Position.start().points, np.int8)
_ROLL_INDEX: Final = {dice: number for number, dice in enumerate(ROLLS)}


def _rounded(values: Floats64) -> npt.NDArray[Any]:
    """Return values as they are stored; what is not known is NULL."""
    missing = np.isnan(values)
    rounded = np.round(np.where(missing, 0.0, values), DECIMALS).astype(np.float32)
    return np.ma.masked_array(rounded, missing) if missing.any() else rounded


def _contexts(rows: TableData) -> list[_Context]:
    names = ("length", "own_score", "opponent_score", "cube", "owner", "crawford", "post_crawford", "redoubles")
    laws = ("jacoby", "cubeless", "triple", "point_game")
    return list(map(_Context, *(rows[name].tolist() for name in (*names, *laws))))
