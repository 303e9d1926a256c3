"""The bundled networks: their files, and loading them with a check against their cards."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.arrays import OUTPUTS
from fibsbot.engine.features import INPUTS
from fibsbot.engine.network import Network, NetworkError
from fibsbot.engine.pruner import Pruner, pruner_of, raw_columns
from fibsbot.engine.race_network import RACE_INPUTS, RACE_OUTPUTS, RaceNetwork
from fibsbot.text import one_line

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
    contact: Network
    pruner: Pruner
    race: RaceNetwork | None


def load_networks(folder: Path = NETWORKS_FOLDER) -> Networks:
    """Return the networks of a folder. Raises NetworkError, with one line of text."""
    try:
        cards = tomllib.loads((folder / CARDS).read_text("utf-8"))
    except OSError as error:
        raise NetworkError(f"expected networks with their cards in {folder}: {error.strerror or error}") from error
    except ValueError as error:
        raise NetworkError(f"{folder / CARDS}: expected TOML, found {one_line(error)}") from error
    contact = _network(folder, CONTACT, cards, INPUTS)
    pruner = _network(folder, PRUNER, cards, len(raw_columns()))
    if len(pruner.weights) != 2:
        raise NetworkError(f"{folder / PRUNER}: expected one hidden layer, found the shape {pruner.shape}")
    race = None
    if Path(RACE).stem in cards:
        race = RaceNetwork(_network(folder, RACE, cards, RACE_INPUTS, RACE_OUTPUTS))
    return Networks(str(cards.get("name", contact.shape)), contact, pruner_of(pruner), race)


def _network(folder: Path, name: str, cards: dict[str, object], inputs: int, outputs: int = OUTPUTS) -> Network:
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
    network = Network.load(path, outputs)
    if len(network.weights) < 2:
        raise NetworkError(f"{path}: expected a network with a hidden layer, found the shape {network.shape}")
    if len(network.weights[0]) != inputs:
        raise NetworkError(f"{path}: expected a network of {inputs} inputs, found the shape {network.shape}")
    return network
