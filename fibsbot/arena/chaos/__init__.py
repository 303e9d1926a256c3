"""Bots under faults: everything that a network, a server and a machine can do to them, from a seed (docs/chaos.md)."""

from fibsbot.arena.chaos.children import ChildError
from fibsbot.arena.chaos.plot import drawn
from fibsbot.arena.chaos.report import Report, told
from fibsbot.arena.chaos.run import OnTick, run
from fibsbot.arena.chaos.schedule import LEAST_PAIRS, Plan

__all__ = ["LEAST_PAIRS", "ChildError", "OnTick", "Plan", "Report", "drawn", "run", "told"]
