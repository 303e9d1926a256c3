"""`fibsbot duel --game`: two players of a tables game, with the same dice for both seatings."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from fibsbot.arena.duel import table_games
from fibsbot.arena.duel.table_games import make_player
from fibsbot.cli import EXIT_USAGE, main
from fibsbot.engine.family.game_loop import new_game_buffers
from fibsbot.engine.family.network import new_network, save_network
from fibsbot.engine.family.parameters import start_of
from fibsbot.games import load_ruleset
from fibsbot.match import MatchState
from fibsbot.position import Play
from fibsbot.rules.backgammon import board_of
from fibsbot.rules.errors import RuleError
from fibsbot.rules.game import play, reach, roll, start_match_of
from fibsbot.rules.state import Seat, Stage
from fibsbot.strategies.base import PlayAnswer
from fibsbot.strategies.loader import load
from fibsbot.strategies.random_play import RandomStrategy
from tests.strategies.answers import chosen_play

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
    assert {"mean": 0.5, "low": 0.5, "high": 0.5} == itself["share"]
    assert {"mean": 0, "low": 0, "high": 0} == itself["points"]


@pytest.mark.slow
def test_seats_are_exchanged_and_a_seed_repeats_a_duel() -> None:
    one, other = (report("--game", "hyper", *names, "-n", "60") for names in (("pips", "blots"), ("blots", "pips")))
    assert one["share"]["mean"] == pytest.approx(1 - other["share"]["mean"])
    assert one == report("--game", "hyper", "pips", "blots", "-n", "60", "--seed", "1")
    assert one["points"] != report("--game", "hyper", "pips", "blots", "-n", "60", "--seed", "2")["points"]


@pytest.mark.slow
def test_the_first_games_of_a_longer_duel_are_those_of_a_shorter_one() -> None:
    short, long = (report("--game", "hyper", "pips", "blots", "-n", number) for number in ("40", "44"))
    assert 0 <= long["wins"] - short["wins"] <= 4
    assert (40, 44) == (short["games"], long["games"])


@pytest.mark.slow
def test_the_result_is_printed_with_its_interval() -> None:
    result = run("--game", "greek", "pips", "random", "-n", "20")
    heading, share, points = result.stdout.splitlines()
    assert "greek: pips against random, 20 games, seed 1" == heading
    assert share.startswith("pips wins ")
    assert "95 % interval" in share
    assert "points per game" in points


@pytest.mark.slow
def test_the_engine_plays_a_game_by_the_rules_of_backgammon_as_it_plays_backgammon() -> None:
    assert 4 == report("--game", "nackgammon", "engine:0", "random", "-n", "4")["wins"]


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
    (("--game", "portes", "pips", "gnubg"), "expected one of random, pips, blots, engine with --game, got 'gnubg'"),
    (("--game", "porte", "pips", "blots"), "expected a game such as portes"),
    (("--game", "portes", "pips", "blots", "--length", "5"), "--length does not apply to --game"),
    (("--game", "portes", "pips", "blots", "--no-luck"), "--luck/--no-luck does not apply to --game"),
    (("--game", "portes", "pips", "blots", "-n", "5"), "expected an even number for --games"),
])  # fmt: skip
def test_what_cannot_be_played_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert EXIT_USAGE == result.exit_code
    assert said in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pips", "blots"])
def test_simple_players_against_the_engine_make_the_plays_of_the_strategies(name: str) -> None:
    rules = load_ruleset("nackgammon")
    buffers = new_game_buffers(start_of(rules), new_network(1, (1, 0, 0), 1))
    player, strategy = make_player(rules, buffers, name, 1), load(name)
    rng = random.Random(name)
    state = start_match_of(rules, 0, begins=Seat.A)
    for _ in range(40):
        state = roll(state, state.turn, (rng.randint(1, 6), rng.randint(1, 6)))
        if state.stage is not Stage.MOVE:
            continue
        following = play(state, state.turn, chosen_play(strategy, state))
        assert reach(state, board_of(rules, player(state)), len(state.part.numbers)) == following
        state = following


class CheatingStrategy(RandomStrategy):
    """Moves a checker that is not there."""

    def choose_play(self, state: MatchState, plays: Sequence[Play]) -> PlayAnswer:  # noqa: ARG002 - the interface
        """Return an illegal play."""
        return PlayAnswer(Play.of((24, 1)))


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
    results = [report("--game", "hyper", one, names[2], "-n", "40") for one in names]
    assert results[0]["points"] == results[1]["points"] != results[2]["points"]
    assert {"mean": 0, "low": 0, "high": 0} == results[2]["points"]
    assert report("--game", "hyper", names[2], names[0], "-n", "40")["points"]["mean"] == -results[0]["points"]["mean"]


@pytest.mark.slow
def test_an_illegal_play_of_a_strategy_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_games, "load", lambda *_, **__: CheatingStrategy())
    rules = load_ruleset("nackgammon")
    player = make_player(rules, new_game_buffers(start_of(rules), new_network(1, (1, 0, 0), 1)), "engine", 1)
    with pytest.raises(RuleError, match="expected a legal play"):
        player(roll(start_match_of(rules, 0, begins=Seat.A), Seat.A, (2, 1)))
