"""Games of Plakoto against the network of another project, which runs as a program of its own.

Usage: python -m bench.bench_plakoto FOLDER [--python PYTHON] [--network models/gold_v11.pth] [--games 1000]
       [--ours FILE] [--seed 1]

FOLDER is a checkout of johannesnorbertwolf/tavli, and PYTHON one that has its requirements (torch, numpy, PyYAML). Its
law is ours by default: a checker trapped on its start loses at once. In one thing it differs: there a checker is borne
off only with its exact number. The games are played by our rules, so that its table of bear-offs is not used; what
its network says of tables from which checkers are borne off is for its own law.

Its network estimates the chance to win, and every game counts the same to it; ours plays for points. Each game is
played twice with the same dice and exchanged seats. Both choose by their networks alone (0-ply).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from attrs import define

from fibsbot.arena.duel.results import Estimate
from fibsbot.engine.rulesets.evaluator import RulesetEvaluator
from fibsbot.engine.rulesets.network import load_network
from fibsbot.games import load_ruleset
from fibsbot.position import Play
from fibsbot.rules.game import play, roll, roll_opening, start_match_of
from fibsbot.rules.general_plays import outcome, resulting_boards, turn_over
from fibsbot.rules.sides import HAND, OFF, Sides
from fibsbot.rules.state import GameState, Seat, Stage

RULES: Final = load_ruleset("plakoto")
Cells: TypeAlias = list[tuple[int, int, bool]]
"""By point: the checkers on top, whose (1: of the player on roll, -1: of the other), and whether one is pinned."""
_PROGRAM: Final = """
import json, sys
import numpy, torch
from ai.checkpoint_io import load_agent_from_checkpoint
from config.config_loader import ConfigLoader
from domain.board import Board
torch.set_num_threads(1)
config = ConfigLoader("config/config.yml")
config.config["use_bearoff_db"] = False
agent, _ = load_agent_from_checkpoint(sys.argv[1], config)
for line in sys.stdin:
    found = []
    for cells in json.loads(line):
        board = Board.from_config(config)
        for point, (count, color, pinned) in enumerate(cells):
            board.set_point(point, color, count, pinned)
        board.borne_off = {-1: board.n[0], 1: board.n[25]}
        found.append(agent.board_encoder.encode_board(board, is_whites_turn=True))
    with torch.no_grad():
        values = agent.board_evaluator(torch.from_numpy(numpy.stack(found)).float()).squeeze(1)
    print(json.dumps(values.tolist()), flush=True)
"""
"""What the other program does: it writes the chances to win of the player on roll, for each line of tables."""


def cells_of(table: Sides) -> Cells:
    """Return a table as the other program has it: the player on roll goes from 1 to 24, and bears off into 25."""
    cells = []
    for point in range(HAND + 1):
        ours, theirs = HAND - point, point
        own, other = (table.own.row[ours] if ours < HAND else 0), (table.opponent.row[theirs] if theirs < HAND else 0)
        if own and other:
            above = 1 if table.opponent.pinned >> theirs & 1 else -1
            cells.append((own if above > 0 else other, above, True))
        elif own:
            cells.append((own, 1, False))
        else:
            cells.append((other, -1 if other else 0, False))
    assert cells[HAND][0] == table.own.row[OFF]
    assert cells[0][0] == table.opponent.row[OFF]
    return cells


@define
class Opponent:
    """The other program, with its network."""

    process: subprocess.Popen[str]

    def values(self, tables: list[Sides]) -> list[float]:
        """Return the chance to win of the player who is on roll on each table."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([cells_of(it) for it in tables]) + "\n")
        self.process.stdin.flush()
        found: list[float] = json.loads(self.process.stdout.readline())
        return found

    def choose(self, before: Sides, tables: list[Sides]) -> Sides:
        """Return the table after the play that leaves the player the best chance to win, by the network alone."""
        won = next((it for it in tables if outcome(RULES, before, it)), None)
        if won is not None:
            return won
        left = self.values([turn_over(it) for it in tables])
        return tables[min(range(len(tables)), key=left.__getitem__)]


def start(folder: Path, python: str, network: str) -> Opponent:
    """Start the other program."""
    command = [python, "-c", _PROGRAM, network]
    return Opponent(subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))  # noqa: S603 - the user's own words


def play_game(evaluator: RulesetEvaluator, opponent: Opponent, ours: Seat, dice: Random) -> int:
    """Play a game; return the points that our network wins in it."""
    state = start_match_of(RULES, 0)
    while state.stage is not Stage.OVER:
        if state.stage is Stage.MOVE:
            state = play(state, state.turn, _choose(evaluator, None if state.turn is ours else opponent, state))
            continue
        thrown = dice.randint(1, 6), dice.randint(1, 6)
        state = roll_opening(state, *thrown) if state.stage is Stage.OPENING else roll(state, state.turn, thrown)
    return state.scores[ours] - state.scores[ours.other]


def _choose(evaluator: RulesetEvaluator, opponent: Opponent | None, state: GameState) -> Play:
    """Return the play of the opponent, or of our network if it is ours to choose."""
    plays = resulting_boards(RULES, state.sides, state.part)
    if len(plays) < 2:
        return Play(next(iter(plays.values()), ()))
    if opponent is not None:
        return Play(plays[opponent.choose(state.sides, list(plays))])
    found = [(table, len(moves)) for table, moves in plays.items()]
    return Play(plays[found[evaluator.best_play(state.sides, state.todo, found)][0]])


def main() -> None:
    """Play the games and print who won."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a checkout of johannesnorbertwolf/tavli")
    parser.add_argument("--python", default=sys.executable, help="the Python that has its requirements")
    parser.add_argument("--network", default="models/gold_v11.pth")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--ours", type=Path, help="a network of Plakoto, by default the bundled one")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    evaluator = RulesetEvaluator(RULES, load_network(options.ours) if options.ours else None)
    opponent = start(options.folder, options.python, options.network)
    shares, points, began = [], [], time.monotonic()
    for pair in range(options.games // 2):
        won = [play_game(evaluator, opponent, seat, Random(f"{options.seed} {pair}")) for seat in Seat]
        points.append(sum(won) / 2)
        shares.append(sum(0.5 + 0.5 * ((it > 0) - (it < 0)) for it in won) / 2)
        if (pair + 1) % 50 == 0:
            print(f"{2 * pair + 2} games, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    opponent.process.terminate()
    share, mean = Estimate.of_shares(shares), Estimate.of(points)
    assert share is not None
    assert mean is not None
    print(f"{2 * len(shares)} games of Plakoto at 0-ply against {options.network}, seed {options.seed}")
    print(f"won {100 * share.mean:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f}), draws as a half")
    print(f"{mean.mean:+.3f} points per game ({mean.low:+.3f} to {mean.high:+.3f})")


if __name__ == "__main__":
    main()
