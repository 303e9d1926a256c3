"""The equities and times of the user's decisions, as a session log has them, put into the entries of a transcript."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from fibsbot.match import CubeAction
from fibsbot.rules.state import Seat
from fibsbot.transcript import Cube, Entry, Resign, Throw


def with_logged_details(entry: Entry, logs: dict[str, Mapping[str, Any]]) -> Entry:
    """Return an entry of the user with the equity and the time that the log has for it; the log record is used up."""
    match entry:
        case Throw(seat=Seat.A, dice=dice):
            logs.pop("roll", None)
            log = logs.pop("move", {})
            logged = log.get("dice") or ()
            fits = logged == list(dice) or sorted(map(str, logged)) == sorted(map(str, dice))
        case Cube(seat=Seat.A, action=action):
            log = logs.pop("roll" if action is CubeAction.DOUBLE else "doubled", {})
            fits = log.get("answer") == action.value
        case Resign(seat=seat, level=level):
            log = logs.pop("roll" if seat is Seat.A else "resigned", {})
            fits = seat is Seat.B or log.get("answer") == f"resign {level.value}"
        case _:
            return entry
    if not fits:
        return entry
    equity, seconds = _finite_number(log.get("equity")), _finite_number(log.get("seconds"))
    return evolve(entry, equity=equity, seconds=entry.seconds if seconds is None else seconds)


def _finite_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
