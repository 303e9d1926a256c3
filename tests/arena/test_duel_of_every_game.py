"""`fibsbot duel --game`: duels in every game, with the same dice for both seatings; the quick ones are compiled."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from fibsbot.arena.duel.games import DuelPlan, GameDice, Games, play_match, play_out
from fibsbot.arena.duel.pairs import play_pairs
from fibsbot.cli import EXIT_USAGE, main
from fibsbot.engine.rulesets.network import new_network, save_network
from fibsbot.match import MatchState
from fibsbot.rules.state import Stage
from fibsbot.strategies.base import Strategy
from fibsbot.strategies.loader import load
from fibsbot.strategies.questions import ask_strategy
from fibsbot.strategies.random_play import RandomStrategy
from fibsbot.transcript import Continuation, Entry, Named, Throw, walk
from fibsbot.workers.pool import InProcessPool
from tests.marks import is_no_sample, some_slow

pytestmark = pytest.mark.compiles_games


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["duel", *arguments])


def report(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert 0 == result.exit_code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.slow
def test_a_player_without_chance_draws_with_itself() -> None:
    itself = report("--game", "portes", "blots", "blots", "-n", "50")
    assert {"mean": 0.5, "error": 0, "low": 0.5, "high": 0.5} == itself["share"]
    assert {"mean": 0, "error": 0, "low": 0, "high": 0} == itself["result"]


@pytest.mark.slow
def test_seats_are_exchanged_and_a_seed_repeats_a_duel() -> None:
    common = ("--game", "hyper", "--no-cube", "-n", "60")
    one, other = (report(*common, *names) for names in (("pips", "blots"), ("blots", "pips")))
    assert one["share"]["mean"] == pytest.approx(1 - other["share"]["mean"])
    again = report(*common, "pips", "blots", "--seed", "1")
    assert {**one, "seconds": 0} == {**again, "seconds": 0}
    assert one["result"] != report(*common, "pips", "blots", "--seed", "2")["result"]


@pytest.mark.slow
def test_a_duel_of_compiled_games_is_continued_from_its_file(tmp_path: Path) -> None:
    common = ("--game", "greek", "pips", "blots", "-n")
    report(*common, "8", "-o", str(tmp_path / "parts"))
    parts, whole = (report(*common, "60", "-o", str(tmp_path / name)) for name in ("parts", "whole"))
    assert (tmp_path / "parts").read_text() == (tmp_path / "whole").read_text()
    assert (60, whole["result"]) == (parts["games"], parts["result"])


def test_any_pairs_may_be_missing() -> None:
    plan = DuelPlan(("pips", "random"), game="ticktack", cube=False)
    assert plan.is_compiled
    every = {it.number: it for it in play_pairs(plan, range(50), InProcessPool())}
    some = {it.number: it for it in play_pairs(plan, [1, 2, 9, *range(11, 49)], InProcessPool())}
    assert list(range(50)) == sorted(every)
    assert [1, 2, 9, *range(11, 49)] == sorted(some)
    assert some.items() <= every.items()


@pytest.mark.slow
def test_the_result_is_printed_with_its_interval() -> None:
    result = run("--game", "greek", "pips", "random", "-n", "20")
    heading, _, points, share = result.stdout.splitlines()
    assert "pips against random: 20 money games without a cube (greek), the same dice twice, seed 1" == heading
    assert " points a game, standard error " in points
    assert share.startswith("pips wins ")
    assert " % of games, standard error " in share


def test_only_single_games_without_a_cube_are_compiled() -> None:
    plan = DuelPlan(("engine:0", "pips"), game="plakoto")
    assert plan.is_compiled
    assert evolve(plan, game="hyper", cube=False).is_compiled
    others = (
        evolve(plan, length=3),
        evolve(plan, evaluator="engine:0"),
        evolve(plan, game=""),
        evolve(plan, game="hyper"),
        evolve(plan, game="portes:cube"),
        evolve(plan, game="nackgammon", cube=False),
        evolve(plan, strategies=("heuristic", "pips")),
    )
    assert not any(it.is_compiled for it in others)


def games_of(plan: DuelPlan, number: int, *players: Strategy) -> Games:
    """Play a game or match of a duel, of a pair of this number."""
    match = play_match(plan.laws, plan.length, partial(GameDice, plan.seed, number), plan.rules)
    return play_out(match, [partial(ask_strategy, player) for player in players])


@pytest.mark.parametrize(
    "game",
    some_slow(
        [
            "acey-deucey",
            "nackgammon",
            "plakoto",
            "portes:cube",
            "russian1",
            "swedish:winner-begins",
            "tabula",
            "ticktack",
        ],
        is_no_sample,
    ),
)
def test_games_of_every_kind_are_played_by_their_rules(game: str) -> None:
    """Random players double, resign and name by chance; the rules check every entry again.

    With this seed no other game has a stage or a kind of entry besides theirs; tests/games has the rules of each.
    """
    plan = DuelPlan(("random", "random"), game=game)
    (played,) = games_of(plan, 3, RandomStrategy(1), RandomStrategy(2))
    *_, last = walk(played)
    assert Stage.OVER is last.after.stage
    assert played.result == last.after.result
    assert plan.rules is last.after.rules
    assert played.has_beginning
    rolls = [entry.dice for entry in played.entries if isinstance(entry, Throw)]
    assert {plan.rules.dice} == {len(dice) for dice in rolls}


@pytest.mark.slow
@pytest.mark.parametrize(("game", "kinds"), [("acey-deucey", {Named, Continuation}), ("russian1", {Continuation})])
def test_turns_of_several_parts_are_entries(game: str, kinds: set[type[Entry]]) -> None:
    plan = DuelPlan(("pips", "blots"), 1, game=game)
    games = games_of(plan, 0, *map(load, plan.strategies))
    assert kinds == {type(entry) for game in games for entry in game.entries} - {Throw}


@pytest.mark.slow
def test_a_strategy_is_asked_for_a_name_only_where_it_has_a_choice() -> None:
    asked: list[MatchState] = []

    class Curious(RandomStrategy):
        def choose_name(self, state: MatchState) -> int:
            asked.append(state)
            return super().choose_name(state)

    plan, player = DuelPlan(("x", "y"), 1, game="acey-deucey"), Curious(1)
    for number in range(2):
        games_of(plan, number, player, player)
    assert asked
    assert all(len(state.names) > 1 for state in asked)


@pytest.mark.slow
def test_matches_have_luck_and_errors_by_the_network_of_the_game() -> None:
    told = report("--game", "ticktack", "engine:0", "random", "-n", "4", "-j", "1", "--length", "2")
    assert ("share of matches", "engine:0", 0) == (told["unit"], told["evaluator"], told["unjudged"])
    assert told["adjusted"]["error"] > 0
    assert 0 == told["performances"][0]["pr"] < told["performances"][1]["pr"]


@pytest.mark.slow
def test_the_engine_plays_a_game_by_the_rules_of_backgammon_as_it_plays_backgammon() -> None:
    told = report("--game", "nackgammon", "engine:0", "random", "-n", "4", "--no-cube", "--no-luck", "-j", "1")
    assert 1 == told["share"]["mean"]


@pytest.mark.slow
def test_where_only_the_set_up_differs_strategies_for_backgammon_play(tmp_path: Path) -> None:
    told = report("--game", "nackgammon", "heuristic", "heuristic", "-n", "2", "-j", "1", "--no-luck")
    assert ("nackgammon", 0) == (told["game"], told["result"] or 0)
    result = run("--game", "longgammon", "heuristic", "heuristic", "-n", "2", "--mat", str(tmp_path))
    assert "--mat does not apply to --game" in result.stderr
    text = run("--game", "longgammon", "heuristic", "engine:0", "-n", "2", "-j", "1", "--no-luck", "--no-cube").stdout
    assert text.startswith("heuristic against engine:0: 2 money games without a cube (longgammon)")
    text = run("--game", "nackgammon", "random", "heuristic", "-n", "2", "-j", "1", "--no-luck", "--length", "1").stdout
    assert text.startswith("random against heuristic: 2 matches to 1 ")


@pytest.mark.parametrize(("arguments", "said"), [
    (("--game", "plakoto", "pips", "engine:x"), "expected plies from 0 to 4"),
    (("--game", "fevga", "pips", "heuristic"), "expected a strategy that plays fevga, such as engine, pips, blots or"),
    (("--game", "porte", "pips", "blots"), "expected a game such as portes"),
    (("--game", "portes", "pips", "blots", "--laws", "1931"), "--laws does not apply to --game"),
    (("--game", "portes", "pips", "blots", "--jacoby"), "--jacoby and --beavers belong to money games with a cube"),
    (("--game", "portes", "pips", "blots", "-n", "5"), "expected an even number for --games"),
])  # fmt: skip
def test_what_cannot_be_played_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert EXIT_USAGE == result.exit_code
    assert said in result.stderr


@pytest.mark.slow
def test_networks_of_folders_play_each_other_whatever_their_widths(tmp_path: Path) -> None:
    narrow, other = (new_network(units, (1, 1, 0), seed) for units, seed in ((6, 1), (15, 2)))
    more = (0, 9)
    wide = narrow._replace(
        input_weights=np.pad(narrow.input_weights, ((0, 0), more)),
        hidden_bias=np.pad(narrow.hidden_bias, more),
        output_weights=np.pad(narrow.output_weights, ((0, 0), more)),
    )
    names = []
    for name, network in (("narrow", narrow), ("wide", wide), ("other", other)):
        (tmp_path / name).mkdir()
        save_network(network, tmp_path / name / "hyper.npz")
        names.append(f"engine:0,networks={tmp_path / name}")
    results = [report("--game", "hyper", "--no-cube", one, names[2], "-n", "40") for one in names]
    assert results[0]["result"] == results[1]["result"] != results[2]["result"]
    assert {"mean": 0, "error": 0, "low": 0, "high": 0} == results[2]["result"]
    swapped = report("--game", "hyper", "--no-cube", names[2], names[0], "-n", "40")
    assert swapped["result"]["mean"] == -results[0]["result"]["mean"]
