"""Analyse, report, export and replay take every game, and values are those of the game's own network."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from fibsbot.analysis.luck import RollValues
from fibsbot.analysis.match_analysis import analyse_match
from fibsbot.analysis.model import AnalysedDecision
from fibsbot.analysis.selection import DecisionSelection
from fibsbot.cli import main
from fibsbot.formats import Format
from fibsbot.formats.conversion import OF_EVERY_GAME, read_matches
from fibsbot.formats.transcript_json import write_json
from fibsbot.games import GAMES, load_ruleset
from fibsbot.games.sides_text import parse_sides
from fibsbot.match import MatchState, Phase
from fibsbot.practice.anki_notes import note_of, tag_name
from fibsbot.practice.exercises import Exercise, exercises_of
from fibsbot.rules.backgammon import is_backgammon
from fibsbot.rules.game import start_match_of
from fibsbot.rules.general_plays import rolls
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.strategies.network_player import NetworkPlayer
from fibsbot.transcript import Continuation, Named, Transcript, count_decisions, walk
from tests.marks import is_no_quick_sample, is_no_sample, some_slow
from tests.report.parsed_page import Page
from tests.transcript.played_matches import play_match

pytestmark = pytest.mark.compiles_games

OPTIONS: Final = ("irish:binding", "acey-deucey:stakes", "portes:cube:tavla", "tabula:free")
EVERY_GAME: Final = ("backgammon", *GAMES, *OPTIONS)
BY_NETWORK: Final = [game for game in EVERY_GAME if not is_backgammon(load_ruleset(game))]
SHOWN: Final = 8
"""Entries of the beginning and of the end of a game that are analysed: a whole game would take long."""


@cache
def evaluator() -> NetworkPlayer:
    return NetworkPlayer(plies=0)


@cache
def played_states(game: str) -> list[GameState]:
    """Return the states of a game before each of its entries."""
    (played,) = play_match(game, 3, 1, most=1).games
    return [step.before for step in walk(played)]


@cache
def shortened(game: str) -> Transcript:
    """Return a match of one game of which only the beginning and the end were seen, the latter as a game of its own."""
    whole = play_match(game, 3, 1, most=1)
    (played,) = whole.games
    start = evolve(played, entries=played.entries[:SHOWN], result=None)
    end = evolve(played, number=2, start=played_states(game)[-SHOWN:][0], entries=played.entries[-SHOWN:])
    return evolve(whole, games=(start, end))


def invoke(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert 0 == done.exit_code, done.output
    return done


@pytest.fixture
def match(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file with the match of a game."""
    path = tmp_path / "match.json"
    path.write_text(write_json(shortened(request.param)), encoding="utf-8")
    return path


@pytest.mark.parametrize("match", some_slow(EVERY_GAME, is_no_quick_sample), indirect=True)
def test_every_tool_takes_a_match(match: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    game: str = request.node.callspec.params["match"]
    transcript, name = shortened(game), "engine:0"
    decided = sum(map(count_decisions, (step for it in transcript.games for step in walk(it))))

    row = json.loads(invoke("analyse", match, "--json", "--evaluator", name).stdout)
    assert 0 < sum(player["decisions"] for player in row["players"]) <= decided
    assert all(error["loss"] > 0 for error in row["errors"])

    page_file = tmp_path / "report.html"
    invoke("report", match, "-o", page_file, "--evaluator", name)
    page = Page.read(page_file.read_text(encoding="utf-8"))
    entries = page.data("m1-data")["entries"]
    assert [] == page.faults
    assert len(entries) >= sum(len(it.entries) for it in transcript.games)
    assert all(entry.get("board") for entry in entries)

    (again,) = read_matches(Format.JSON, invoke("export", match, "--format", "json").stdout)
    assert transcript.games == again.games
    lines = invoke("export", match, "--format", "positions").stdout.splitlines()
    assert decided == len(lines)
    for line in lines:
        ruleset, board, *_ = line.split("\t")
        parse_sides(board, load_ruleset(ruleset))
    assert "Game 2" in invoke("export", match, "--format", "sheet").stdout
    assert invoke("export", match, "--format", "csv").stdout.endswith(f",{game}\n")

    compared = invoke("replay", match, "--strategy", name, "--evaluator", name, "--both", "--json")
    (total,) = (it for it in map(json.loads, compared.stdout.splitlines()) if it["kind"] == "asked_total")
    assert total["asked"] > 0
    assert total["failed"] == 0


@pytest.mark.parametrize(("match", "game"), [(it, it) for it in BY_NETWORK[:2]], indirect=["match"])
@pytest.mark.parametrize("kind", [kind for kind in Format if kind.writable and kind not in OF_EVERY_GAME])
def test_a_format_that_cannot_say_a_game_says_so_in_one_line(match: Path, game: str, kind: Format) -> None:
    done = CliRunner().invoke(main, ["export", str(match), "--format", kind.value])
    assert (2, 1) == (done.exit_code, done.stderr.count("\n"))
    assert f"{kind.value} cannot say games of {game}; json, csv, positions, sheet can" in done.stderr


def test_an_evaluator_of_backgammon_says_which_game_it_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    path.write_text(write_json(shortened("plakoto")), encoding="utf-8")
    done = CliRunner().invoke(main, ["analyse", str(path), "--evaluator", "heuristic"])
    assert 1 == done.exit_code
    assert "match 1 is left out: heuristic does not know plakoto; engine does\n" in done.stderr


# -- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "length"),
    [
        pytest.param(game, length, marks=pytest.mark.slow if is_no_sample(game) or not length else [])
        for game in BY_NETWORK
        for length in ((3,) if is_no_sample(game) else (0, 3))
    ],
)
def test_own_decisions_cost_nothing(game: str, length: int) -> None:
    analysed = analyse_match(play_match(game, length, 4, evaluator(), most=1, entries=24), evaluator(), luck=False)
    decisions = [it for one in analysed.games for it in one.decisions]
    assert [] == [(it.decision.text, it.best, it.loss) for it in decisions if it.loss]


@pytest.mark.parametrize("game", some_slow(BY_NETWORK, is_no_quick_sample))
def test_losses_are_never_negative_and_the_best_is_listed(game: str) -> None:
    analysed = analyse_match(shortened(game), evaluator())
    decisions = [it for one in analysed.games for it in one.decisions]
    assert all(it.loss >= 0 for it in decisions)
    assert all(it.options[0].value.equity >= it.options[-1].value.equity for it in decisions if it.options)
    assert all(it.luck is not None for it in decisions if _is_roll(it))


@pytest.mark.parametrize("game", some_slow(BY_NETWORK, is_no_quick_sample))
def test_decisions_are_exercises_that_survive_json(game: str) -> None:
    found = list(exercises_of(analyse_match(shortened(game), evaluator(), luck=False), selection=DecisionSelection()))
    assert found == [Exercise.from_json(json.loads(json.dumps(one.to_json()))) for one in found]
    assert found
    for game_number in (1, 2):  # which may be the same game, where it is short
        ids = [one.id for one in found if one.game == game_number]
        assert len(ids) == len(set(ids))
    for one in {one.kind: one for one in found}.values():
        note = note_of(one)
        assert one.state.rules.title == note.deck[0]
        assert f"fibsbot::game::{tag_name(one.state.rules.full_name)}" in note.tags


def _is_roll(analysed: AnalysedDecision) -> bool:
    decision = analysed.decision
    started = decision.step.before.stage in {Stage.OPENING, Stage.ROLL}
    return started and decision.state.phase is Phase.MOVE and not isinstance(decision.step.entry, Continuation)


@pytest.mark.parametrize("game", some_slow(BY_NETWORK, is_no_quick_sample))
def test_luck_is_0_on_average(game: str) -> None:
    luck = RollValues(evaluator())
    states = played_states(game)
    sampled = random.Random(game).sample(states, len(states))
    state = next(seen for seen in map(_before_roll, sampled) if seen is not None)
    mean = sum(ways * luck.luck(evolve(state, dice=dice), opening=False) for dice, ways in rolls(state.rules.dice))
    assert pytest.approx(0.0, abs=1e-9) == mean


@pytest.mark.parametrize("game", BY_NETWORK)
def test_a_match_is_even_before_it_and_decided_after_it(game: str) -> None:
    state = MatchState.of(start_match_of(load_ruleset(game), 5, begins=Seat.A), Seat.A)
    assert state is not None
    won, lost = (evaluator().match_chance(state, points) for points in (1, -1))
    assert pytest.approx(1.0) == won + lost
    assert (1.0, 0.0) == (evaluator().match_chance(state, 5), evaluator().match_chance(state, -5))
    ahead = [evaluator().match_chance(state, points) for points in range(-5, 6)]
    assert sorted(ahead) == ahead


@pytest.mark.slow
def test_names_are_decisions_that_count() -> None:
    match = play_match("acey-deucey", 0, 3, most=1, entries=200)
    named = [it for it in analyse_match(match, evaluator(), luck=False).games[0].decisions if _is_name(it)]
    assert {True} == {it.counts for it in named if len(it.decision.state.names) > 1 and it.loss > 0}
    assert not any(it.counts for it in named if len(it.decision.state.names) == 1)
    assert len({it.best for it in named}) > 1


def _is_name(analysed: AnalysedDecision) -> bool:
    return isinstance(analysed.decision.answer, Named)


def test_looking_ahead_gives_other_values_and_own_decisions_cost_nothing() -> None:
    ahead = NetworkPlayer(plies=1)
    match = play_match("hyper", 3, 2, ahead, most=1, entries=16)
    analysed = analyse_match(match, ahead, luck=False)
    assert 0.0 == sum(figures.loss for figures in analysed.figures)
    plays = [it for it in analysed.games[0].decisions if it.options]
    assert {1} == {option.value.plies for it in plays for option in it.options}
    at_once = analyse_match(match, evaluator(), luck=False)
    assert [it.equity for it in plays] != [it.equity for it in at_once.games[0].decisions if it.options]


def _before_roll(game: GameState) -> MatchState | None:
    return MatchState.of(game, game.turn) if game.stage is Stage.ROLL else None
