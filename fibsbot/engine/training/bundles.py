"""Bundles: the last networks of a training at half precision, with cards that describe them.

A training can resume in another folder from networks that were bundled after a checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from fibsbot.engine.engine import CARDS, CONTACT, HISTORY, PRECISION, PRUNER, RACE
from fibsbot.engine.game_plans import load_contact
from fibsbot.engine.network import Network
from fibsbot.engine.network_evaluator import RACE_OUTPUTS
from fibsbot.engine.training.recipe import Recipe, RecipeError, read_recipe
from fibsbot.engine.training.results import mean_path, network_path, pruner_path, race_path, read_history, refined_path
from fibsbot.files import read_toml

_FIGURES: Final = ("PR", "contact", "crashed", "race", "bear-off")


def pack(folder: Path, recipe: Path, target: Path, note: Callable[[str], object] = lambda _: None) -> Path:
    """Write the last networks of a training folder, their cards and the history into `target`; return the cards' path.

    `note` takes a line of the history that was left out. Raises OSError if something cannot be read or written,
    ValueError if no round has ended yet or the recipe or the history is invalid.
    """
    steps = read_recipe(recipe)
    history = read_history(folder, note)
    rounds = [row for row in history if "round" in row]
    if not rounds:
        raise ValueError(f"{folder}: expected the network of a round, found none")
    number: int = rounds[-1]["round"]
    which, path, last = _chosen(history, rounds[-1], folder)
    target.mkdir(parents=True, exist_ok=True)
    contact = load_contact(path)
    contact.save(target / CONTACT, PRECISION)
    pruner = Network.load(pruner_path(folder, number + 1))
    pruner.save(target / PRUNER, PRECISION)
    card = {
        "recipe": recipe.name,
        "rounds": number + 1,
        "shape": contact.shape,
        "student_games": max((row["student_games"] for row in history if "student_games" in row), default=0),
        "labels": sum(steps.chunks(one) * steps.chunk for one in range(number + 1))
        + sum(row.get("labels", 0) for row in history if "refined" in row),
        "hours": _hours([row for row in history if "race_round" not in row]),
    }
    refined = [row for row in history if "refined" in row]
    if refined:
        card["refinements"] = refined[-1]["refined"] + 1
    races = [row for row in history if "race_round" in row]
    # The training may have been killed between writing a pruner and its row.
    pruned = [row for row in history if row.get("pruner") == number + 1]
    name = f"contact {contact.shape}, {which}"
    if races:
        name += f"; races, round {races[-1]['race_round']}"
    lines = [
        "# The bundled networks, written by `fibsbot train --pack`.",
        f'name = "{name}"',
        "",
        *_section("contact", {"sha256": _sha256(target / CONTACT)} | card | _figures(last, _FIGURES)),
        "",
        *_section("pruner", _pruner_card(pruner, pruned, target) | {"recipe": recipe.name}),
    ]
    if races:
        lines += ["", *_section("race", _pack_race(folder, races, target) | {"recipe": recipe.name})]
    (target / HISTORY).write_text("".join(json.dumps(row) + "\n" for row in history))
    cards = target / CARDS
    cards.write_text("\n".join([*lines, ""]))
    return cards


def unpack(packed: Path, folder: Path, recipe: Recipe) -> None:
    """Copy packed networks to a new folder, for a training to resume there.

    They must have been packed after a checkpoint of the recipe, or after its rounds and races. If they are there
    already, nothing changes; an interrupted copy is repeated. Raises RecipeError if the recipe does not continue from
    there or the folder contains something else, ValueError for an invalid history, OSError if something cannot be read
    or written.
    """
    copies = _copies(packed, folder, recipe)
    begun = copies[-1][1]
    if begun.exists() and begun.read_bytes() == (packed / CONTACT).read_bytes():
        return  # the same command was repeated
    # Fewer files than these are left by an unpacking that was killed.
    laid = {HISTORY, *(to.name for _, to in copies)}
    if folder.exists() and not laid.issuperset(path.name for path in folder.iterdir()):
        raise RecipeError(f"{folder}: expected a new folder to go on in, found one with files")
    folder.mkdir(parents=True, exist_ok=True)
    rows = read_history(packed)
    with_races = any(name == RACE for name, _ in copies)
    (folder / HISTORY).write_text(
        "".join(json.dumps(row) + "\n" for row in rows if with_races or "race_round" not in row)
    )
    for name, to in copies:
        shutil.copyfile(packed / name, to)


def _copies(packed: Path, folder: Path, recipe: Recipe) -> list[tuple[str, Path]]:
    """Return which file of packed networks is copied to which path, the contact network last."""
    last, refined = _last_steps(packed)
    pruner = PRUNER, pruner_path(folder, last + 1)
    if last in [number for number, one in enumerate(recipe.expanded_rounds()) if one.checkpoint]:
        return [pruner, (CONTACT, network_path(folder, last))]
    if refined >= len(recipe.refining) or last + 1 != len(recipe.expanded_rounds()):
        raise RecipeError(f"{packed}: expected networks of a checkpoint of the recipe, found those of round {last}")
    if refined:
        contact = refined_path(folder, refined - 1)
    else:
        contact = mean_path(folder, recipe) if recipe.averaged > 1 else network_path(folder, last)
    races = [(RACE, race_path(folder, recipe))] if recipe.racing else []
    return [pruner, *races, (CONTACT, contact)]


def _last_steps(packed: Path) -> tuple[int, int]:
    """Return the number of the round after which networks were packed, and how many refinements followed."""
    try:
        card = read_toml((packed / CARDS).read_bytes())["contact"]
        return int(card["rounds"]) - 1, int(card.get("refinements", 0))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecipeError(f"{packed / CARDS}: expected cards of packed networks, found none") from error


def _chosen(history: list[dict[str, Any]], last: dict[str, Any], folder: Path) -> tuple[str, Path, dict[str, Any]]:
    """Return name, file and measurements of the network to pack: the last one that was made."""
    number = last["round"]
    for row in reversed(history):
        if "refined" in row:
            return f"refinement {row['refined']}", refined_path(folder, row["refined"]), row
        if "averaged" in row and row["averaged"][1] == number:
            first = row["averaged"][0]
            return f"rounds {first} to {number}", folder / f"mean-{first}-{number}.npz", row
    return f"round {number}", network_path(folder, number), last


def _pruner_card(pruner: Network, rows: list[dict[str, Any]], target: Path) -> dict[str, Any]:
    card: dict[str, Any] = {"sha256": _sha256(target / PRUNER), "shape": pruner.shape}
    for row in rows[-1:]:
        card |= {"labels": row.get("labels", 0), "hours": _hours([row]), **_figures(row, _FIGURES)}
    return card


def _pack_race(folder: Path, rounds: list[dict[str, Any]], target: Path) -> dict[str, Any]:
    """Write the race network, which is small enough for single precision; return its card."""
    last = rounds[-1]
    race = Network.load(folder / f"race-{last['race_round']}.npz", RACE_OUTPUTS)
    race.save(target / RACE)
    labels = sum(row.get("labels", 0) for row in rounds)
    card = {"rounds": len(rounds), "shape": race.shape, "labels": labels, "hours": _hours(rounds)}
    return {"sha256": _sha256(target / RACE)} | card | _figures(last, ("PR", "race"))


def _hours(rows: list[dict[str, Any]]) -> float:
    return round(sum(float(row.get("seconds", 0)) for row in rows) / 3600, 2)


def _figures(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, float]:
    return {name.replace("-", "_").lower(): row[name] for name in names if name in row}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _section(name: str, entries: dict[str, Any]) -> list[str]:
    return [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in entries.items())]
