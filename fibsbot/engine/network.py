"""Networks of several layers by numpy's matrix products: the form in which they are trained and stored.

To evaluate positions, the engine converts them by `engine.quantized`.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Self
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt
from attrs import frozen

from fibsbot.engine.arrays import OUTPUTS, Floats32, Matrix32
from fibsbot.engine.features import INPUTS, Inputs
from fibsbot.engine.jit import compiled
from fibsbot.engine.numerics import logistic32
from fibsbot.files import replacing
from fibsbot.text import one_line

ROWS: Final = 512
"""Positions that go through the layers together: their activations fit into the processor's cache."""


_LARGEST: Final = 1 << 31
"""The limit for the size of all arrays of a file in bytes: far more than any network needs."""
_PRECISIONS: Final = (np.float32, np.float16)


class NetworkError(ValueError):
    """A file that is no network, or not one of the expected shape; the text is one line."""


@frozen(eq=False)
class Network:
    """Weights and biases of each layer. Hidden units are rectified, outputs logistic where they are chances."""

    weights: tuple[Floats32, ...]
    """Shape (from, to) each; the first from the inputs, the last to the outputs."""
    biases: tuple[Floats32, ...]
    """Shape (to,) each."""

    @classmethod
    def new(cls, hidden: tuple[int, ...], seed: int, inputs: int = INPUTS, outputs: int = OUTPUTS) -> Self:
        """Return a network with random weights (He 2015); with OUTPUTS, the biases make gammons rare."""
        rng = np.random.default_rng(seed)
        sizes = (inputs, *hidden, outputs)
        weights = [
            (rng.standard_normal((above, below)) * np.sqrt(2 / above)).astype(np.float32)
            for above, below in pairwise(sizes)
        ]
        weights[0] *= 0.5
        weights[-1] *= 0.1
        biases = [np.zeros(size, np.float32) for size in sizes[1:]]
        if outputs == OUTPUTS:
            biases[-1][:] = (0, -1.2, -4, -1.2, -4)
        return cls(tuple(weights), tuple(biases))

    @property
    def shape(self) -> str:
        """The number of units of each layer, such as `260-512-5`."""
        return "-".join(map(str, (self.weights[0].shape[0], *(len(bias) for bias in self.biases))))

    def chances(self, inputs: Inputs) -> Floats32:
        """Return the five chances of each row of inputs, shape (n, OUTPUTS); see `arrays.OUTPUTS`."""
        chances = np.empty((len(inputs), OUTPUTS), np.float32)
        for first in range(0, len(inputs), ROWS):
            chances[first : first + ROWS] = self.activations(inputs[first : first + ROWS])[-1]
        return chances

    def activations(self, inputs: Inputs) -> list[Floats32]:
        """Return the activations of each layer, the inputs first and the chances last."""
        layers = self.sums(inputs)
        logistic(layers[-1])
        return layers

    def sums(self, inputs: Floats32) -> list[Floats32]:
        """Return the activations of each layer, the inputs first and the sums of the outputs last."""
        layers = [inputs]
        for weights, bias in zip(self.weights, self.biases, strict=True):
            layer = layers[-1] @ weights
            layer += bias
            layers.append(layer)
            if len(layers) <= len(self.weights):
                np.maximum(layer, 0, out=layer)
        return layers

    def copy(self) -> Self:
        """Return a network of its own arrays, which a fit may change."""
        return type(self)(tuple(map(np.copy, self.weights)), tuple(map(np.copy, self.biases)))

    def narrowed(self, hidden: Sequence[int], inputs: Inputs) -> Self:
        """Return a network with fewer hidden units: of each layer those that matter most for these inputs.

        A unit matters by how much its activation varies and by its weights. The mean of what a unit that is left out
        contributes goes to the biases. To be as good as before, the network has to be fitted again.
        """
        weights, biases = [*self.weights], [*self.biases]
        layer = inputs
        for number, size in enumerate(hidden):
            layer = np.maximum(layer @ weights[number] + biases[number], 0)
            spread = layer.std(axis=0) if len(layer) else np.float32(1)
            matters = spread * np.linalg.norm(weights[number + 1], axis=1)
            kept = np.zeros(len(matters), np.bool_)
            kept[np.argsort(-matters, kind="stable")[:size]] = True
            if len(layer):
                left_out = layer[:, ~kept].mean(axis=0) @ weights[number + 1][~kept]
                biases[number + 1] = biases[number + 1] + left_out
            weights[number], biases[number] = weights[number][:, kept], biases[number][kept]
            weights[number + 1] = weights[number + 1][kept]
            layer = layer[:, kept]
        return type(self)(tuple(map(np.ascontiguousarray, weights)), tuple(biases))

    def checksum(self) -> str:
        """Return the SHA-256 of all weights, as hexadecimal digits."""
        digest = hashlib.sha256()
        for array in (*self.weights, *self.biases):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def rounded(self, precision: npt.DTypeLike) -> Self:
        """Return the network as it is after it was stored at this precision."""

        def round_all(arrays: tuple[Floats32, ...]) -> tuple[Floats32, ...]:
            return tuple(array.astype(precision).astype(np.float32) for array in arrays)

        return type(self)(round_all(self.weights), round_all(self.biases))

    def save(self, path: Path, precision: npt.DTypeLike = np.float32) -> None:
        """Write the network to a file atomically; half precision makes it half as large."""
        save_arrays(path, **{name: array.astype(precision) for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Floats32]:
        """Return the weights and biases by their names in a file."""
        arrays = {f"weights{layer}": array for layer, array in enumerate(self.weights)}
        return arrays | {f"thresholds{layer}": array for layer, array in enumerate(self.biases)}

    @classmethod
    def load(cls, path: Path, outputs: int = OUTPUTS) -> Self:
        """Read a network; raise NetworkError if it is no network with these outputs, OSError if it cannot be read."""
        return cls.of_arrays(path, load_arrays(path), outputs)

    @classmethod
    def of_arrays(cls, path: Path, arrays: dict[str, npt.NDArray[Any]], outputs: int) -> Self:
        """Return the network of the arrays of a file; raise NetworkError if they are none with these outputs."""
        layers = range(len(arrays) // 2)
        if set(arrays) != {f"{what}{layer}" for what in ("weights", "thresholds") for layer in layers}:
            names = ", ".join(map(repr, sorted(arrays)))
            raise NetworkError(f"{path}: expected weights and thresholds of layers, found {names:.200}")
        weights = [arrays[f"weights{layer}"] for layer in layers]
        biases = [arrays[f"thresholds{layer}"] for layer in layers]
        sizes = [*(array.shape[:1] for array in weights[:1]), *(array.shape for array in biases)]
        if sizes[-1:] != [(outputs,)] or [array.shape for array in weights] != [a + b for a, b in pairwise(sizes)]:
            shapes = ", ".join(str(array.shape) for array in weights) or "none"
            raise NetworkError(f"{path}: expected layers that lead to {outputs} outputs, found {shapes}")
        if all(array.dtype in _PRECISIONS for array in arrays.values()):
            found = cls(*(tuple(array.astype(np.float32) for array in part) for part in (weights, biases)))
            if all(np.isfinite(array).all() for array in found.arrays().values()):
                return found
        raise NetworkError(f"{path}: expected finite weights in single or half precision, found others")


def logistic(sums: Floats32) -> Floats32:
    """Apply the logistic function to the sums of outputs, shape (n, outputs), in place, and return them."""
    _write_logistic(sums)
    return sums


@compiled
def _write_logistic(sums: Matrix32) -> None:
    for row in range(len(sums)):
        for output in range(sums.shape[1]):
            sums[row, output] = logistic32(sums[row, output])


def mean_of(networks: Sequence[Network]) -> Network:
    """Return the network whose weights are the means of those of networks of the same shape (Izmailov et al. 2018).

    If the networks come from one continued training it is better than each of them: it has less of their noise.
    """

    def mean(arrays: Iterable[Floats32]) -> Floats32:
        return np.asarray(np.mean([*arrays], axis=0, dtype=np.float32))

    weights = zip(*(network.weights for network in networks), strict=True)
    biases = zip(*(network.biases for network in networks), strict=True)
    return Network(tuple(map(mean, weights)), tuple(map(mean, biases)))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as part:
        part.write_bytes(content)


def save_arrays(path: Path, **arrays: npt.ArrayLike) -> None:
    """Write arrays as an `.npz` file, atomically."""
    room = io.BytesIO()
    np.savez(room, allow_pickle=False, **arrays)
    write_whole(path, room.getvalue())


def load_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of an `.npz` file; raise NetworkError if it is invalid, OSError if it cannot be read."""
    try:
        with ZipFile(path) as file:
            size = sum(member.file_size for member in file.infolist())
        if size <= _LARGEST:
            with np.load(path, allow_pickle=False) as arrays:
                return {name: np.asarray(arrays[name]) for name in arrays.files}
    except (BadZipFile, ValueError, EOFError, MemoryError, OverflowError, RuntimeError, zlib.error) as error:
        raise NetworkError(f"{path}: expected a file of arrays, found {one_line(error)}") from error
    raise NetworkError(f"{path}: expected arrays of at most {_LARGEST:,} bytes, found {size:,}")
