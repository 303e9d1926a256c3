"""Networks: what they say does not depend on who asks beside them; files come back as they went, or are refused."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from fibsbot.engine.arrays import OUTPUTS, boards_of
from fibsbot.engine.features import INPUTS, encode_all
from fibsbot.engine.network import ROWS, Network, NetworkError, mean_of
from tests.engine.toys import some_positions, toy_network


def logistic(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(1 / (1 + np.exp(-value)))


def test_chances_are_what_the_layers_say() -> None:
    network = toy_network(hidden=(12, 8))
    inputs = encode_all(boards_of(some_positions(20, 1)))
    first, second, last = network.weights
    above, middle, below = network.biases
    hidden = np.maximum(np.maximum(inputs.astype(float) @ first + above, 0) @ second + middle, 0)
    assert logistic(hidden @ last + below) == pytest.approx(network.chances(inputs), abs=1e-5)
    assert "260-12-8-5" == network.shape


def test_single_rows_have_the_chances_that_they_have_among_many() -> None:
    network = toy_network()
    inputs = encode_all(boards_of(some_positions(ROWS + 88, 2)))
    together = network.chances(inputs)
    assert (ROWS + 88, OUTPUTS) == together.shape
    for row in (0, 1, ROWS - 1, ROWS, ROWS + 87):
        assert together[row] == pytest.approx(network.chances(inputs[row : row + 1])[0], abs=1e-6)
    assert (0, OUTPUTS) == network.chances(inputs[:0]).shape


def test_what_is_beyond_all_doubt_is_said_without_a_warning() -> None:
    network = toy_network()
    network.biases[-1][:] = (-500, 500, -500, 500, 0)
    chances = network.chances(encode_all(boards_of(some_positions(1, 1))))[0]
    assert [0, 1, 0, 1] == pytest.approx(chances[:4].tolist(), abs=1e-30)


def test_a_new_network_holds_gammons_to_be_rare_and_follows_its_seed() -> None:
    network = Network.new((32,), seed=7)
    chances = network.chances(encode_all(boards_of(some_positions(50, 3)))).mean(axis=0)
    assert chances[0] == pytest.approx(0.5, abs=0.1)
    assert chances[1] < 0.35
    assert chances[2] < 0.05
    assert network.checksum() == Network.new((32,), seed=7).checksum()
    assert network.checksum() != Network.new((32,), seed=8).checksum()
    assert "12-32-5" == Network.new((32,), seed=7, inputs=12).shape


def test_a_narrowed_network_lacks_the_units_that_matter_least() -> None:
    network = Network.new((6, 4), seed=1)
    inputs = encode_all(boards_of(some_positions(200, 3)))
    wider = Network.new((9, 6), seed=2)
    for layer, (weights, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        rows, columns = weights.shape
        wider.weights[layer][:rows, :columns], wider.biases[layer][:columns] = weights, bias
    wider.weights[1][6:], wider.weights[2][4:] = 0, 0  # units without consequence ...
    wider.weights[0][:, 6], wider.biases[0][6], wider.weights[1][6] = 0, 2, 0.5  # ... and one that never varies
    narrowed = wider.narrowed((6, 4), inputs)
    assert network.shape == narrowed.shape
    assert wider.chances(inputs) == pytest.approx(narrowed.chances(inputs), abs=1e-6)
    assert network.shape == wider.narrowed((6, 4), inputs[:0]).shape


def test_the_mean_of_networks_has_the_means_of_their_weights() -> None:
    one, two = Network.new((7, 3), 1), Network.new((7, 3), 2)
    mean = mean_of([one, two])
    assert one.shape == mean.shape
    assert all(np.allclose(2 * c, a + b) for a, b, c in zip(one.weights, two.weights, mean.weights, strict=True))
    assert one.checksum() == mean_of([one, one]).checksum()


def test_the_checksum_is_that_of_the_weights_however_they_lie() -> None:
    weights = np.arange(2 * OUTPUTS, dtype=np.float32).reshape(2, OUTPUTS)
    network = Network((weights,), (np.zeros(OUTPUTS, np.float32),))
    assert hashlib.sha256(weights.tobytes() + bytes(4 * OUTPUTS)).hexdigest() == network.checksum()
    turned = np.asfortranarray(weights)
    assert network.checksum() == Network((turned,), network.biases).checksum()


def test_a_saved_network_is_loaded_unchanged(tmp_path: Path) -> None:
    network = toy_network()
    network.save(tmp_path / "network.npz")
    again = Network.load(tmp_path / "network.npz")
    assert network.checksum() == again.checksum()
    assert network.shape == again.shape
    assert ["network.npz"] == [path.name for path in tmp_path.iterdir()]


def test_the_same_network_makes_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "other"):
        toy_network().save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_half_precision_takes_half_the_space_and_gives_nearly_the_same_chances(tmp_path: Path) -> None:
    network = toy_network(hidden=(64,))
    network.save(tmp_path / "whole")
    network.save(tmp_path / "half", np.float16)
    half = Network.load(tmp_path / "half")
    assert (tmp_path / "half").stat().st_size < 0.55 * (tmp_path / "whole").stat().st_size
    assert all(array.dtype == np.float32 for array in (*half.weights, *half.biases))
    inputs = encode_all(boards_of(some_positions(100, 1)))
    assert network.chances(inputs) == pytest.approx(half.chances(inputs), abs=0.02)
    half.save(tmp_path / "again", np.float16)
    assert half.checksum() == Network.load(tmp_path / "again").checksum()


def arrays(**some: npt.NDArray[Any]) -> bytes:
    room = io.BytesIO()
    np.savez(room, allow_pickle=True, **some)
    return room.getvalue()


def zipped(**members: bytes) -> bytes:
    room = io.BytesIO()
    with zipfile.ZipFile(room, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return room.getvalue()


HEAD = b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999,), }"
HUGE = b"\x93NUMPY\x01\x00v\x00" + HEAD.ljust(117) + b"\n"
LAYER = np.zeros((3, OUTPUTS), np.float32)
ENDS = np.zeros(OUTPUTS, np.float32)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "expected a file of arrays"),
        (b"nonsense", "expected a file of arrays"),
        (b"PK\x03\x04nonsense", "expected a file of arrays"),
        (arrays(), "expected layers that lead to 5 outputs, found none"),
        (arrays(weights0=LAYER), "expected weights and thresholds of layers, found 'weights0'"),
        (arrays(weights0=LAYER, thresholds0=ENDS, more=ENDS), "expected weights and thresholds of layers"),
        (arrays(weights0=LAYER, thresholds1=ENDS), "expected weights and thresholds of layers"),
        (arrays(weights0=LAYER, thresholds0=ENDS[:4]), "expected layers that lead to 5 outputs, found (3, 5)"),
        (arrays(weights0=LAYER[:, :4], thresholds0=ENDS), "expected layers that lead to 5 outputs, found (3, 4)"),
        (arrays(weights0=np.ones((), np.float32), thresholds0=ENDS), "expected layers that lead to 5 outputs"),
        (arrays(weights0=LAYER.astype(int), thresholds0=ENDS), "expected finite weights"),
        (arrays(weights0=LAYER.astype(str), thresholds0=ENDS), "expected finite weights"),
        (arrays(weights0=LAYER.astype(object), thresholds0=ENDS), "expected a file of arrays"),
        (arrays(weights0=LAYER + np.float32("nan"), thresholds0=ENDS), "expected finite weights"),
        (zipped(weights0=b"text", thresholds0=b"text"), "expected layers that lead to 5 outputs"),
        (zipped(**{"weights0.npy": HUGE, "thresholds0.npy": HUGE}), "expected a file of arrays"),
    ],
    ids=range(16),
)
def test_a_foreign_file_is_refused_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "network.npz"
    path.write_bytes(content)
    with pytest.raises(NetworkError) as raised:
        Network.load(path)
    text = str(raised.value)
    assert text.startswith(f"{path}: {said}")
    assert 1 == len(text.splitlines())
    assert len(text) < 400


def test_a_file_that_unpacks_to_more_than_any_network_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fibsbot.engine.network._LARGEST", 1000)
    path = tmp_path / "network.npz"
    path.write_bytes(zipped(**{"weights0.npy": bytes(10_000)}))
    with pytest.raises(NetworkError, match="expected arrays of at most 1,000 bytes, found 10,000"):
        Network.load(path)


def test_a_damaged_file_is_refused_wherever_the_damage_is(tmp_path: Path) -> None:
    path = tmp_path / "network.npz"
    toy_network(hidden=(3,)).save(path)
    content = path.read_bytes()
    whole = Network.load(path).checksum()
    lines = set()
    rng = np.random.default_rng(1)
    for place in rng.integers(len(content), size=300):
        path.write_bytes(content[:place])
        with pytest.raises(NetworkError):
            Network.load(path)
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            found = Network.load(path)
        except NetworkError as error:
            lines.add(len(str(error).splitlines()))
        else:
            assert whole == found.checksum(), "harmless: a date, say"
    assert {1} == lines


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Network.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        Network.load(tmp_path)


def test_networks_see_as_many_inputs_as_there_are() -> None:
    assert f"{INPUTS}-12-8-5" == toy_network().shape
