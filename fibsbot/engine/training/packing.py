"""Packing networks that come along: at half precision, with a card that says what each is and how it came about."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from fibsbot.engine.network import Network
from fibsbot.engine.packaged import CARDS, CONTACT, PRUNER, RACE
from fibsbot.engine.race import RACE_OUTPUTS

_FIGURES: Final = ("PR", "contact", "crashed", "race", "bear-off")


def pack(folder: Path, recipe: Path, target: Path) -> Path:
    """Write the last network of a workshop's folder, with its pruner and their cards, into `target`; return the cards.

    Raises OSError where something cannot be read or written, ValueError where no round has ended yet.
    """
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    rounds = [row for row in history if "round" in row]
    if not rounds:
        raise ValueError(f"{folder}: expected the network of a round, found none")
    number: int = rounds[-1]["round"]
    which, path, last = _chosen(history, rounds[-1], folder)
    target.mkdir(parents=True, exist_ok=True)
    contact = Network.load(path)
    contact.save(target / CONTACT, np.float16)
    pruner = Network.load(folder / f"pruner-{number + 1}.npz")
    pruner.save(target / PRUNER, np.float16)
    card = {
        "recipe": recipe.name,
        "rounds": number + 1,
        "shape": contact.shape,
        "student_games": max((row["student_games"] for row in history if "student_games" in row), default=0),
        "labels": _labels(folder, number),
        "hours": round(sum(row["labelling_s"] + row["fitting_s"] for row in rounds) / 3600, 2),
    }
    figures = {name.replace("-", "_").lower(): last[name] for name in _FIGURES if name in last}
    races = [row for row in history if "race_round" in row]
    name = f"contact {contact.shape}, {which}"
    if races:
        name += f"; races, round {races[-1]['race_round']}"
    lines = [
        "# What the networks are that come along. `fibsbot train --pack` writes this file.",
        f'name = "{name}"',
        "",
        *_table("contact", {"sha256": _sha256(target / CONTACT)} | card | figures),
        "",
        *_table("pruner", {"sha256": _sha256(target / PRUNER), "recipe": recipe.name, "shape": pruner.shape}),
    ]
    if races:
        lines += ["", *_table("race", _pack_race(folder, races, target) | {"recipe": recipe.name})]
    cards = target / CARDS
    cards.write_text("\n".join([*lines, ""]))
    return cards


def _chosen(history: list[dict[str, Any]], last: dict[str, Any], folder: Path) -> tuple[str, Path, dict[str, Any]]:
    """Return which network it is, its file and its figures: the mean of the last rounds, or the last round's."""
    number = last["round"]
    for row in reversed(history):
        if "averaged" in row and row["averaged"][1] == number:
            first = row["averaged"][0]
            return f"rounds {first} to {number}", folder / f"mean-{first}-{number}.npz", row
    return f"round {number}", folder / f"network-{number}.npz", last


def _pack_race(folder: Path, rounds: list[dict[str, Any]], target: Path) -> dict[str, Any]:
    """Write the network for races, which is small enough for single precision; return its card."""
    last = rounds[-1]
    race = Network.load(folder / f"race-{last['race_round']}.npz", RACE_OUTPUTS)
    race.save(target / RACE)
    figures = {name.lower(): last[name] for name in ("PR", "race") if name in last}
    labels = sum(row["labels"] for row in rounds)
    card = {"rounds": len(rounds), "shape": race.shape, "labels": labels}
    return {"sha256": _sha256(target / RACE)} | card | figures


def _labels(folder: Path, last: int) -> int:
    total = 0
    for number in range(last + 1):
        for path in (folder / f"labels-{number}").glob("*.npz"):
            with np.load(path, allow_pickle=False) as file:
                total += len(file["boards"])
    return total


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _table(name: str, entries: dict[str, Any]) -> list[str]:
    return [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in entries.items())]
