"""The engine: evaluates positions, plays and cube actions by networks, bear-off tables and lookahead.

Its networks are read from a folder, by default that of the bundled ones, and checked against their cards.

An engine may be used by several threads. Functions are compiled when they are first called, which takes seconds if the
cache is empty: `Engine.warm_up` does that beforehand. On the very first start two processes compile side by side; later
starts load the cached code.
"""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt
from attrs import evolve, field, frozen

from fibsbot.engine.arrays import OUTCOMES, OUTPUTS, Boards, Outcomes, boards_of, check_boards, check_possible
from fibsbot.engine.bearoff import NO_TABLES, load_tables
from fibsbot.engine.features import INPUTS
from fibsbot.engine.game_plans import ContactNetwork, load_contact, networks_of
from fibsbot.engine.hash_tables import distinct
from fibsbot.engine.jit import no_garbage_collection
from fibsbot.engine.network import Network, NetworkError
from fibsbot.engine.network_evaluator import RACE_INPUTS, RACE_OUTPUTS, ArrayEvaluator, NetworkEvaluator, RaceNetwork
from fibsbot.engine.pruner import PlayFilter, Pruner, expand, pruner_of, raw_columns
from fibsbot.engine.search import CubeAnalysis, PlayComparison, Ranking, Searcher, SearchLimits
from fibsbot.engine.search.lookahead import DecisionCubes, Lookahead, SearchFilters, argmin_of_slots
from fibsbot.files import read_toml
from fibsbot.match import MatchState, Phase
from fibsbot.position import BAR, OFF, Play, Position
from fibsbot.rules.plays import legal_plays
from fibsbot.text import one_line

# -- networks and their cards ------------------------------------------------------------------------------------------


NETWORKS_FOLDER: Final = Path(__file__).parent / "networks"
CARDS: Final = "cards.toml"
"""The file that describes the networks: a `name`, and for each network a table with the `sha256` of its file."""
CONTACT: Final = "contact.npz"
PRUNER: Final = "pruner.npz"
RACE: Final = "race.npz"
"""Optional: without it there is no card either."""
HISTORY: Final = "history.jsonl"
"""The measurements made during training, one JSON object per line."""
PRECISION: Final[npt.DTypeLike] = np.float16
"""The precision in which the weights of the contact network and the pruner are stored."""


@frozen(eq=False)
class Networks:
    """The networks of an engine."""

    name: str
    contact: ContactNetwork
    pruner: Pruner
    race: RaceNetwork | None


def load_networks(folder: Path = NETWORKS_FOLDER) -> Networks:
    """Return the networks of a folder. Raises NetworkError, with one line of text."""
    try:
        cards = read_toml((folder / CARDS).read_bytes())
    except OSError as error:
        raise NetworkError(f"expected networks with their cards in {folder}: {error.strerror or error}") from error
    except ValueError as error:
        raise NetworkError(f"{folder / CARDS}: expected TOML, found {one_line(error)}") from error
    contact = load_contact(_checked(folder, CONTACT, cards))
    for network in networks_of(contact)[:1]:
        _check_shape(folder / CONTACT, network, INPUTS)
    pruner = _network(folder, PRUNER, cards, len(raw_columns()))
    if len(pruner.weights) != 2:
        raise NetworkError(f"{folder / PRUNER}: expected one hidden layer, found the shape {pruner.shape}")
    race = None
    if Path(RACE).stem in cards:
        race = RaceNetwork(_network(folder, RACE, cards, RACE_INPUTS, RACE_OUTPUTS))
    return Networks(str(cards.get("name", contact.shape)), contact, pruner_of(pruner), race)


def _network(folder: Path, name: str, cards: dict[str, object], inputs: int, outputs: int = OUTPUTS) -> Network:
    network = Network.load(_checked(folder, name, cards), outputs)
    _check_shape(folder / name, network, inputs)
    return network


def _checked(folder: Path, name: str, cards: dict[str, object]) -> Path:
    """Return the path of a network's file, which is as its card says."""
    path = folder / name
    card = cards.get(path.stem)
    expected = card.get("sha256") if isinstance(card, dict) else None
    if not isinstance(expected, str):
        raise NetworkError(f"{folder / CARDS}: expected [{path.stem}] with the sha256 of {name}, found none")
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise NetworkError(f"expected a network in {path}: {error.strerror or error}") from error
    if found != expected:
        raise NetworkError(f"{path}: expected sha256 {expected[:16]}..., found {found[:16]}...: the file is damaged")
    return path


def _check_shape(path: Path, network: Network, inputs: int) -> None:
    if len(network.weights) < 2:
        raise NetworkError(f"{path}: expected a network with a hidden layer, found the shape {network.shape}")
    if len(network.weights[0]) != inputs:
        raise NetworkError(f"{path}: expected a network of {inputs} inputs, found the shape {network.shape}")


# -- compiling ---------------------------------------------------------------------------------------------------------


_SECOND: Final = f"import gc; gc.disable(); from {__name__} import compile_lookahead; compile_lookahead(); gc.freeze()"
"""The script of the second process; see `no_garbage_collection`."""


def is_cold() -> bool:
    """Return whether no compiled code is cached yet."""
    return expand.is_missing()


@contextlib.contextmanager
def compiled_by_two() -> Iterator[None]:
    """Let a second process compile the functions of the lookahead meanwhile; if it fails, they are compiled later."""
    with contextlib.ExitStack() as held:
        held.enter_context(no_garbage_collection())
        with contextlib.suppress(OSError):
            held.enter_context(
                subprocess.Popen(  # noqa: S603 - ourselves
                    [sys.executable, "-c", _SECOND],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        yield


class _NullEvaluator:
    """Evaluates all positions alike and needs no compiled functions."""

    name = "nobody"

    def evaluate(self, boards: Boards) -> Outcomes:
        """Return zeros, shape (n, 6)."""
        return np.zeros((len(boards), OUTCOMES), np.float32)


def compile_lookahead() -> None:
    """Compile the functions that a lookahead needs, in the second process."""
    boards = boards_of([Position.start()])
    pruner = pruner_of(Network.new((8,), 1, len(raw_columns())))
    lookahead = Lookahead(_NullEvaluator(), pruner, SearchFilters(), 64)
    lookahead.expand(boards, PlayFilter())
    lookahead.evaluate(boards)
    cubes = DecisionCubes.of(MatchState(Position.start(), length=7), NO_TABLES)
    cubes.values(0, (cubes.start,), boards, np.zeros((1, OUTCOMES), np.float32))


# -- the engine --------------------------------------------------------------------------------------------------------

DEFAULT_LIMITS: Final = SearchLimits()
_OPENING: Final = MatchState(Position.start(), length=7)


@frozen(eq=False, repr=False)
class Engine:
    """Evaluates positions, ranks plays and analyses cube decisions."""

    evaluator: ArrayEvaluator
    pruner: Pruner
    _of_thread: threading.local = field(factory=threading.local, init=False, repr=False)

    @classmethod
    def load(cls, folder: Path = NETWORKS_FOLDER, *, tables: bool = True, compute: bool = True) -> Self:
        """Return an engine with the networks of a folder, by default the bundled ones.

        Args:
            folder: The folder of the networks.
            tables: Whether to use bear-off tables.
            compute: Whether to compute missing tables, which takes a few seconds, once.

        Raises:
            NetworkError: Networks are missing or damaged; one line.
        """
        return cls.of(load_networks(folder), tables=tables, compute=compute)

    @classmethod
    def of(cls, networks: Networks, *, tables: bool = True, compute: bool = True) -> Self:
        """Return an engine with these networks; for the arguments see `load`."""
        cold = is_cold()
        with compiled_by_two() if cold else contextlib.nullcontext():
            known = load_tables(compute=compute) if tables else None
            name = networks.name if known else f"{networks.name}, no bear-off tables"
            columns = known.columns if known else NO_TABLES
            evaluator = NetworkEvaluator(name, networks.contact, columns, networks.race)
            engine = cls(evaluator, networks.pruner)
            if cold:
                boards = boards_of([_OPENING.position])
                evaluator.evaluate(boards)
                distinct(boards)
                argmin_of_slots(np.zeros((1, 1)), np.zeros(1, np.int32), 1)
        return engine

    @property
    def name(self) -> str:
        """The name of the networks."""
        return self.evaluator.name

    def evaluate(self, positions: Iterable[Position] | Boards) -> Outcomes:
        """Return the outcomes for the player on roll without lookahead, shape (n, 6); see `engine.arrays`.

        Positions may be given as boards, shape (n, 26) and int8. Raises ValueError for other arrays and for impossible
        positions, TypeError for a position alone.
        """
        if isinstance(positions, Position):
            raise TypeError("expected several positions, got a single one: evaluate([position])")
        boards = check_boards(positions) if isinstance(positions, np.ndarray) else boards_of(positions)
        check_possible(boards)
        return self.evaluator.evaluate(boards)

    def rank(
        self,
        state: MatchState,
        plays: Sequence[Play] | None = None,
        limits: SearchLimits = DEFAULT_LIMITS,
        compared: PlayComparison | None = None,
    ) -> Ranking:
        """Return the plays of a roll, by default all legal ones, the best first; the state is in phase MOVE.

        `compared` selects the plays that are searched as deep as the best one; without it, inferior plays are not.
        Raises ValueError if the state is impossible or has no dice, if there is no play to rank, or if one cannot be
        made by any numbers.
        """
        check_state(state)
        if plays is not None:
            for play in plays:
                check_can_be_made(state.position, play)
        elif state.dice is None:
            raise ValueError("expected a state with dice, got none")
        else:
            plays = legal_plays(state.position, state.dice) or (Play(),)
        return self.searcher.rank(state, plays, limits, compared)

    def analyse_cube(self, state: MatchState, limits: SearchLimits = DEFAULT_LIMITS) -> CubeAnalysis:
        """Return the equity of the position before the roll and the cube decision; the state is in phase ROLL.

        Raises ValueError if the state is impossible, or if the dice have been rolled.
        """
        check_state(state)
        if state.phase is Phase.MOVE:
            raise ValueError(f"expected a state before the roll, got one with the dice {state.dice}")
        return self.searcher.analyse_cube(state, limits)

    def equities_by_roll(self, state: MatchState) -> list[float]:
        """Return the equity of each roll with its best play, without lookahead, in the order of `match.ROLLS`.

        The dice of the state are ignored. Raises ValueError if the state is impossible.
        """
        check_state(state)
        return self.searcher.equities_by_roll(state)

    def __repr__(self) -> str:
        """Return the name of the networks, which are far too long to be shown."""
        return f"<Engine {self.name}>"

    def warm_up(self) -> None:
        """Compile or load the functions that decisions need."""
        self.analyse_cube(_OPENING, SearchLimits(plies=1))
        self.rank(evolve(_OPENING, phase=Phase.MOVE, dice=(3, 1)), limits=SearchLimits(plies=1))

    def forget(self) -> None:
        """Forget, in this thread, the positions that were evaluated: the next decision evaluates all of its own.

        Equities do not depend on what is known; the effort that is counted does, and so does the depth within a time.
        """
        self.searcher.lookahead.forget()

    @property
    def searcher(self) -> Searcher:
        """The searcher of this thread."""
        searcher: Searcher | None = getattr(self._of_thread, "searcher", None)
        if searcher is None:
            searcher = self._of_thread.searcher = Searcher(self.evaluator, self.pruner)
        return searcher


def check_state(state: MatchState) -> None:
    """Raise ValueError for an impossible state: compiled functions use the cells of a position as indices."""
    state.position.check()
    if state.cube < 1 or state.length < 0:
        raise ValueError(f"expected a cube from 1 and a length from 0, got {state.cube} and {state.length}")


def check_can_be_made(position: Position, play: Play) -> None:
    """Raise ValueError for a play whose moves cannot be made one after the other, by whatever numbers."""
    cells = list(position.points)
    for move in play.moves:
        known = OFF <= move.target < move.source <= BAR
        if not known or cells[move.source] < 1 or (move.target != OFF and cells[move.target] < -1):
            raise ValueError(f"expected plays that can be made, got {' '.join(map(str, play.moves))}")
        move.make(cells)
