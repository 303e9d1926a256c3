"""Networks that count pips and shun blots: quick, and no two plays are worth the same, so that all lists are alike."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from fibsbot.engine.features import BAR_INPUT, INPUTS, INPUTS_PER_POINT, RAW_INPUTS, SIDE_INPUTS
from fibsbot.engine.network import Network
from tests.engine.toy_engines import write_cards

SLOPE: Final = (4.0, 2.0, 1.0, -2.0, -1.0)
"""Effect of a lead of 100 pips on the logits: wins, gammons, backgammons, gammons and backgammons lost."""
LEVEL: Final = (0.15, -1.5, -5.0, -1.5, -5.0)
"""The logits of who is on roll and as far as the opponent."""


def write_pip_networks(folder: Path) -> None:
    """Write the networks into a folder, with their cards."""
    folder.mkdir(exist_ok=True)
    _network(INPUTS, SIDE_INPUTS).save(folder / "contact.npz")
    _network(2 * RAW_INPUTS, RAW_INPUTS).save(folder / "pruner.npz")
    write_cards(folder)


def _network(inputs: int, side: int) -> Network:
    """Return a network of two hidden units: by how much the player leads, and by how much the opponent."""
    lead = np.zeros(inputs, np.float32)
    for point in range(1, 25):
        first = (point - 1) * INPUTS_PER_POINT
        lead[first : first + INPUTS_PER_POINT] = np.array((1, 2, 3, 2)) * point / -100
        lead[first] -= 0.02 + point * point / 7919
    lead[BAR_INPUT] = 2 * 25 / -100
    lead[side : side + RAW_INPUTS] = -lead[:RAW_INPUTS]
    slope = np.array(SLOPE, np.float32)
    return Network(
        (np.stack([lead, -lead], axis=1), np.stack([slope, -slope])),
        (np.zeros(2, np.float32), np.array(LEVEL, np.float32)),
    )
