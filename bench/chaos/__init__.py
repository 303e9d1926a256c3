"""Bots under faults: everything that a network, a server and a machine can do to them, from a seed (docs/chaos.md)."""

from bench.chaos.report import ChaosReport, draw_timeline, format_chaos_report
from bench.chaos.run import OnProgress, run_chaos
from bench.chaos.schedule import MIN_PAIRS, ChaosPlan
from bench.chaos.testbed import ChildError

__all__ = [
    "MIN_PAIRS",
    "ChaosPlan",
    "ChaosReport",
    "ChildError",
    "OnProgress",
    "draw_timeline",
    "format_chaos_report",
    "run_chaos",
]
