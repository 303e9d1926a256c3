"""Matches for bench_archive.py: many are played at once, by our engine without lookahead and with errors.

Usage: match_generator.py MATCHES FOLDER [SEED [FIRST]]

Twenty players differ by how much chance is in their choices. Positions of all matches that are being played are
evaluated together, of each roll the best plays that the pruner finds. The matches are to 1, 3, 5, 7 and 9 points, over
three years; FOLDER gets tar files with a thousand `.mat` each. Each file depends only on SEED and its number, so that
the work can be divided by files, from number FIRST on, and repeated; files that exist are not made again.
"""

from __future__ import annotations

import datetime as dt
import io
import sys
import tarfile
import time
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from attrs import define, evolve, field

from fibsbot.engine.arrays import (
    AS_INT,
    WIN,
    Boards,
    Floats32,
    Floats64,
    Int32s,
    IntVector32,
    Vector32,
    cubeless_equity,
    other_side,
)
from fibsbot.engine.engine import Engine
from fibsbot.engine.generator import MAX_PLAYS, Scratch, generate, plays_and_scratch, swap
from fibsbot.engine.jit import compiled
from fibsbot.engine.pruner import Pruner, pruner_equity
from fibsbot.files import replacing
from fibsbot.formats.mat import write_mat
from fibsbot.match import CubeAction
from fibsbot.position import Play, Position
from fibsbot.rules import game as rules
from fibsbot.rules.laws import FIBS
from fibsbot.rules.permissions import match_winner
from fibsbot.rules.plays import Cells, legal_plays, play_between
from fibsbot.rules.state import GameState, Seat, Stage
from fibsbot.transcript import Cube, Entry, Game, Player, Throw, Transcript

LENGTHS: Final = (1, 3, 5, 7, 9)
TABLES: Final = 200
"""Matches that are played at the same time."""
PACKED: Final = 1000
"""Matches of a tar file."""
PLAYERS: Final = tuple(f"player_{number:02}" for number in range(20))
NOISE: Final = 0.008
"""Standard deviation of the error of a play's equity, times the number of the player."""
MARGIN: Final = 0.3
"""How much worse than the best play another one may be by the pruner."""
MOST: Final = 5
"""Plays that are evaluated, at most."""
DOUBLE_FROM: Final = 0.70
TAKE_FROM: Final = 0.24
FIRST_DAY: Final = dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC)


def rating(number: int) -> float:
    """Return the rating of a player."""
    return 1950.0 - 25 * number


class Buffers(NamedTuple):
    """Working memory of `best_plays`."""

    plays: Boards
    scratch: Scratch
    values: Vector32


@compiled
def best_plays(  # noqa: PLR0913, PLR0917 - compiled
    pruner: Pruner, buffers: Buffers, boards: Boards, dice: Boards, found: Boards, owners: IntVector32
) -> int:
    """Write the best plays of each board, seen by the opponent, and the number of the board; return how many."""
    plays, values = buffers.plays, buffers.values
    count = 0
    for row in range(len(boards)):
        of = generate(boards[row], AS_INT + dice[row, 0], AS_INT + dice[row, 1], plays, buffers.scratch)
        first = count
        if of == 0:
            swap(boards[row], found[count])
            owners[count] = row
            count += 1
        least = np.float32(0)
        for play in range(of):
            swap(plays[play], found[first])
            values[play] = pruner_equity(pruner, found[first])
            least = values[play] if play == 0 else min(least, values[play])
        while of and count - first < MOST:
            best = 0
            for play in range(1, of):
                if values[play] < values[best]:
                    best = play
            if values[best] > least + np.float32(MARGIN):
                break
            swap(plays[best], found[count])
            owners[count] = row
            values[best] = np.float32(1000)
            count += 1
    return count


@define
class Table:
    """A match that is being played."""

    number: int
    players: tuple[int, int]
    state: GameState
    """The state at the beginning of the game, with the present cube; the board and the turn are below."""
    cells: Cells = field(init=False)
    """The board as the player on turn sees it."""
    seat: Seat = field(init=False)
    turns: int = field(init=False)
    games: list[Game] = field(factory=list)
    start: GameState = field(init=False)
    entries: list[Entry] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        """Begin the first game."""
        self.begin(self.state)

    def begin(self, state: GameState) -> None:
        """Begin a game."""
        self.state = self.start = state
        self.cells, self.seat, self.turns = state.position.points, Seat.A, 0
        self.entries = []

    @property
    def noise(self) -> float:
        """How much chance is in the choices of the player on turn."""
        return NOISE * self.players[self.seat]

    @property
    def may_double(self) -> bool:
        """Whether the player on turn may double, and has something to win by it."""
        state = self.state
        away = state.length - state.scores[self.seat]
        return bool(self.turns) and not state.crawford and state.owner is not self.seat.other and away > state.cube

    def current(self, dice: tuple[int, int] | None = None) -> GameState:
        """Return the state of the game, before or after a roll."""
        stage = Stage.MOVE if dice else Stage.ROLL
        position = Position(self.cells)
        return evolve(self.state, board=position, turn=self.seat, turns=self.turns, stage=stage, dice=dice)

    def throw(self, dice: tuple[int, int], after: Cells) -> None:
        """Make the play that leads to a position."""
        steps = play_between(self.cells, dice, after)
        if steps:
            play = Play.of(*steps)
        elif after == self.cells:
            play = Play()
        else:
            position = Position(self.cells)
            play = next(it for it in legal_plays(position, dice) if position.play(it).points == after)
        self.entries.append(Throw(seat=self.seat, dice=dice, play=play))
        if max(after) <= 0:
            self.state = rules.play(self.current(dice), self.seat, play)
            self.finish()
        else:
            self.cells, self.seat, self.turns = tuple(-n for n in after[::-1]), self.seat.other, self.turns + 1

    def double(self, *, takes: bool) -> None:
        """Double, and answer."""
        seat = self.seat
        doubled = rules.double(self.current(), seat)
        action, answer = (CubeAction.TAKE, rules.take) if takes else (CubeAction.PASS, rules.drop)
        self.entries += (Cube(seat=seat, action=CubeAction.DOUBLE), Cube(seat=seat.other, action=action))
        self.state = answer(doubled, seat.other)
        if not takes:
            self.finish()

    def finish(self) -> None:
        """Keep the game, and begin the next one."""
        self.games.append(Game(len(self.games) + 1, self.start, tuple(self.entries), self.state.result))
        if match_winner(self.state) is None:
            self.begin(rules.next_game(self.state))

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
        self.buffers = Buffers(*plays_and_scratch(), np.empty(MAX_PLAYS, np.float32))

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
            self.turn_cubes([it for it in tables if it.may_double])
            self.make_plays([it for it in tables if not it.over])
            done += [it.transcript() for it in tables if it.over]
            tables = [it for it in tables if not it.over]
        return done

    def turn_cubes(self, tables: list[Table]) -> None:
        """Let the players on turn double, and their opponents answer."""
        if not tables:
            return
        chances = self.engine.evaluate(_boards(tables))[:, WIN].tolist()
        errors = self.random.normal(size=(len(tables), 2)).tolist()
        for table, chance, (error, answer_error) in zip(tables, chances, errors, strict=True):
            if DOUBLE_FROM <= chance + table.noise * error < 0.97:
                answer_noise = NOISE * table.players[table.seat.other]
                table.double(takes=1 - chance + answer_noise * answer_error > TAKE_FROM)

    def make_plays(self, tables: list[Table]) -> None:
        """Roll for all players on turn, and make their plays."""
        dice = self.random.integers(1, 7, size=(len(tables), 2))
        unequal = (dice[:, 0] + self.random.integers(5, size=len(tables))) % 6 + 1
        for row, table in enumerate(tables):
            if not table.turns:
                dice[row, 1] = unequal[row]
                table.seat = Seat.A if dice[row, 0] > dice[row, 1] else Seat.B
                if table.seat is Seat.B:
                    dice[row] = dice[row, ::-1]
        boards = _boards(tables)
        ordered = np.sort(dice, axis=1)[:, ::-1].astype(np.int8)
        after, owners = np.empty((MOST * len(tables), 26), np.int8), np.empty(MOST * len(tables), np.int32)
        count = best_plays(self.engine.pruner, self.buffers, boards, np.ascontiguousarray(ordered), after, owners)
        after, owners = after[:count], owners[:count]
        outcomes = other_side(self.engine.evaluate(after))
        noise = np.array([table.noise for table in tables])[owners]
        values = cubeless_equity(outcomes) + noise * self.random.normal(size=count)
        chosen = -after[_best(owners, values, len(tables)), ::-1]
        for table, roll, cells in zip(tables, dice.tolist(), chosen.tolist(), strict=True):
            table.throw((roll[0], roll[1]), tuple(cells))


def _boards(tables: list[Table]) -> Boards:
    return np.array([it.cells for it in tables], np.int8)


def _best(owners: Int32s, values: Floats64 | Floats32, count: int) -> Int32s:
    """Return the row with the highest value of each owner."""
    order = np.lexsort((-values, owners))
    return order[np.searchsorted(owners[order], np.arange(count))].astype(np.int32)


def generate_files(count: int, folder: Path, seed: int = 1, first: int = 0) -> list[Path]:
    """Write matches into tar files, numbered from `first` on; leave out the files that exist. Return all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    engine: Engine | None = None
    targets = [folder / f"{seed}-{first + number:04}.tar.gz" for number in range(-(-count // PACKED))]
    for number, target in enumerate(targets, first):
        if target.exists():
            continue
        engine = engine or Engine.load()
        matches = Generator(engine, seed, number).play(min(PACKED, count - PACKED * (number - first)))
        with replacing(target) as part, tarfile.open(part, "w:gz", compresslevel=3) as packed:
            for place, match in enumerate(matches):
                content = write_mat(match).encode()
                member = tarfile.TarInfo(f"{place:03}.mat")
                member.size = len(content)
                packed.addfile(member, io.BytesIO(content))
        print(f"{target.name}: {len(matches)} matches, {time.process_time():.0f} s in all", flush=True)
    return targets


if __name__ == "__main__":
    generate_files(int(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
