"""Engines to test with, that know nothing but are there at once, and folders of networks."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fibsbot.engine.bearoff import NO_TABLES, TableArrays
from fibsbot.engine.engine import Engine
from fibsbot.engine.network_evaluator import NetworkEvaluator
from tests.engine.toys import Recounted, toy_network, toy_pruner, toy_pruner_network


def toy_engine(columns: TableArrays = NO_TABLES) -> Engine:
    """Return an engine with a small random network."""
    return Engine(NetworkEvaluator("toy", toy_network(), columns), toy_pruner())


def pip_engine() -> Engine:
    """Return an engine that counts pips: what it says depends on no network and no batch."""
    return Engine(Recounted(), toy_pruner())


def write_networks(folder: Path) -> None:
    """Write networks that know nothing into a folder, with their cards."""
    toy_network().save(folder / "contact.npz")
    toy_pruner_network().save(folder / "pruner.npz")
    write_cards(folder)


def write_cards(folder: Path) -> None:
    """Write cards for the networks that are in a folder."""
    cards = ['name = "toys"']
    for name in ("contact", "pruner"):
        digest = hashlib.sha256((folder / f"{name}.npz").read_bytes()).hexdigest()
        cards.append(f'[{name}]\nsha256 = "{digest}"')
    (folder / "cards.toml").write_text("\n".join(cards), "utf-8")
