"""Matches for bench_archive.py: many are played at once, by our engine without lookahead and with errors.

Usage: match_generator.py MATCHES FOLDER [SEED [FIRST]]

Twenty players differ by how much chance is in their choices. Positions of all matches that are being played are
evaluated together. The matches are to 1, 3, 5, 7 and 9 points, over three years; FOLDER gets tar files with a thousand
`.mat` each. Each file depends only on SEED and its number, so that the work can be divided by files, from number FIRST
on, and repeated; files that exist are not made again.
"""

from __future__ import annotations

import datetime as dt
import io
import sys
import tarfile
import time
from pathlib import Path
from typing import Final

import numpy as np
from attrs import define, evolve, field

from fibsbot.engine.arrays import WIN, Boards, Floats64, boards_of, cubeless_equity, other_side, swapped
from fibsbot.engine.engine import Engine
from fibsbot.engine.generator import generate, plays_and_scratch
from fibsbot.files import replacing
from fibsbot.formats.mat import write_mat
from fibsbot.match import CubeAction
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS
from fibsbot.rules.plays import legal_plays, play_between
from fibsbot.rules.state import GameState, Stage
from fibsbot.transcript import Cube, Entry, Game, Player, Throw, Transcript

LENGTHS: Final = (1, 3, 5, 7, 9)
TABLES: Final = 200
"""Matches that are played at the same time."""
PACKED: Final = 1000
"""Matches of a tar file."""
PLAYERS: Final = tuple(f"player_{number:02}" for number in range(20))
NOISE: Final = 0.008
"""Standard deviation of the error of a play's equity, times the number of the player."""
DOUBLE_FROM: Final = 0.70
TAKE_FROM: Final = 0.24
FIRST_DAY: Final = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)


def rating(number: int) -> float:
    """Return the rating of a player."""
    return 1950.0 - 25 * number


@define
class Table:
    """A match that is being played."""

    number: int
    players: tuple[int, int]
    state: GameState
    games: list[Game] = field(factory=list)
    start: GameState = field(init=False)
    entries: list[Entry] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Begin the first game."""
        self.start = self.state

    @property
    def noise(self) -> float:
        """How much chance is in the choices of the player on turn."""
        return NOISE * self.players[self.state.turn]

    def add(self, entry: Entry, state: GameState) -> None:
        """Note what a player did."""
        self.entries.append(entry)
        self.state = state
        if state.stage is Stage.OVER:
            self.games.append(Game(len(self.games) + 1, self.start, tuple(self.entries), state.result))
            self.entries = []
            if rules.match_winner(state) is None:
                self.state = self.start = rules.next_game(state)

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return self.state.stage is Stage.OVER

    def transcript(self) -> Transcript:
        """Return the match."""
        a, b = (Player(PLAYERS[number], rating(number), 1000) for number in self.players)
        started = FIRST_DAY + dt.timedelta(hours=self.number % 26_000, seconds=self.number % 3600)
        return Transcript((a, b), self.start.length, tuple(self.games), site="127.0.0.1", started=started)


class Generator:
    """Plays matches."""

    def __init__(self, engine: Engine, *seed: int) -> None:
        """The matches depend on the seed, which may have several numbers."""
        self.engine = engine
        self.random = np.random.default_rng(seed)
        self.buffers = plays_and_scratch()

    def play(self, count: int) -> list[Transcript]:
        """Play matches."""
        tables: list[Table] = []
        done: list[Transcript] = []
        begun = 0
        while begun < count or tables:
            while begun < count and len(tables) < TABLES:
                a, b = self.random.choice(len(PLAYERS), 2, replace=False).tolist()
                length = int(self.random.choice(LENGTHS))
                tables.append(Table(int(self.random.integers(10**9)), (a, b), rules.start_match(FIBS, length)))
                begun += 1
            self.turn_cubes([it for it in tables if it.state.stage is Stage.ROLL])
            self.make_plays([it for it in tables if not it.over])
            done += [it.transcript() for it in tables if it.over]
            tables = [it for it in tables if not it.over]
        return done

    def turn_cubes(self, tables: list[Table]) -> None:
        """Let the players on turn double, and their opponents answer."""
        tables = [it for it in tables if not rules.refusal_to_double(it.state, it.state.turn)]
        if not tables:
            return
        chances = self.engine.evaluate(boards_of(it.state.position for it in tables))[:, WIN]
        for table, chance, luck in zip(
            tables, chances.tolist(), self.random.normal(size=(len(tables), 2)), strict=True
        ):
            state = table.state
            away = state.length - state.scores[state.turn]
            if not DOUBLE_FROM <= chance + table.noise * luck[0] < 0.97 or away <= state.cube:
                continue
            seat = state.turn
            table.add(Cube(seat=seat, action=CubeAction.DOUBLE), rules.double(state, seat))
            takes = 1 - chance + NOISE * table.players[seat.other] * luck[1] > TAKE_FROM
            action, answer = (CubeAction.TAKE, rules.take) if takes else (CubeAction.PASS, rules.drop)
            table.add(Cube(seat=seat.other, action=action), answer(table.state, seat.other))

    def make_plays(self, tables: list[Table]) -> None:
        """Roll for all players on turn, and make their plays."""
        plays, scratch = self.buffers
        after, owners, dice = [], [], []
        for number, table in enumerate(tables):
            if table.state.stage is Stage.OPENING:
                one, other = self.random.choice(6, 2, replace=False).tolist()
                table.state = rules.roll_opening(table.state, one + 1, other + 1)
            roll = table.state.dice or tuple((self.random.integers(6, size=2) + 1).tolist())
            high, low = max(roll), min(roll)
            board = boards_of([table.state.position])[0]
            count = generate(board, high, low, plays, scratch)
            after.append(plays[:count].copy() if count else board[None])
            owners += [number] * max(count, 1)
            dice.append((roll[0], roll[1]))
        boards = np.concatenate(after)
        outcomes = other_side(self.engine.evaluate(swapped(boards)))
        noise = np.array([table.noise for table in tables])[owners]
        values = cubeless_equity(outcomes) + noise * self.random.normal(size=len(boards))
        for table, roll, best in zip(tables, dice, _best(boards, np.array(owners), values, len(tables)), strict=True):
            self._make(table, roll, best)

    @staticmethod
    def _make(table: Table, dice: tuple[int, int], after: tuple[int, ...]) -> None:
        state = table.state
        seat, position = state.turn, state.position
        rolled = state if state.dice else evolve(state, stage=Stage.MOVE, dice=dice)
        play = Play()
        if after != position.points:
            steps = play_between(position.points, dice, after)
            every = [Play.of(*steps)] if steps else legal_plays(position, dice)
            play = next(it for it in every if position.play(it).points == after)
        moved = Position(after)
        if max(after) <= 0:
            table.add(Throw(seat=seat, dice=dice, play=play), rules.play(rolled, seat, play))
            return
        following = evolve(
            rolled, position=moved.swapped(), turn=seat.other, stage=Stage.ROLL, dice=None, turns=state.turns + 1
        )
        table.add(Throw(seat=seat, dice=dice, play=play), following)


def _best(boards: Boards, owners: Floats64, values: Floats64, count: int) -> list[tuple[int, ...]]:
    """Return the position of the highest value of each owner."""
    order = np.lexsort((-values, owners))
    first = np.searchsorted(owners[order], np.arange(count))
    return [tuple(board) for board in boards[order[first]].tolist()]


def generate_files(count: int, folder: Path, seed: int = 1, first: int = 0) -> None:
    """Write matches into tar files, numbered from `first` on; leave out the files that exist."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = Engine.load()
    for number in range(first, first + -(-count // PACKED)):
        target = folder / f"{seed}-{number:04}.tar.gz"
        if target.exists():
            continue
        matches = Generator(engine, seed, number).play(min(PACKED, count - PACKED * (number - first)))
        with replacing(target) as part, tarfile.open(part, "w:gz") as packed:
            for place, match in enumerate(matches):
                content = write_mat(match).encode()
                member = tarfile.TarInfo(f"{place:03}.mat")
                member.size = len(content)
                packed.addfile(member, io.BytesIO(content))
        print(f"{target.name}: {len(matches)} matches, {time.process_time():.0f} s in all", flush=True)


if __name__ == "__main__":
    generate_files(int(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
