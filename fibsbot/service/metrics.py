"""What Prometheus and health checks get: /metrics and /healthz.

Metrics contain the names of our own accounts, never those of other players.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from aiohttp import web
from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from fibsbot.records.store import StoreWriter
from fibsbot.service.account import AccountStatus
from fibsbot.service.supervisor import Supervisor
from fibsbot.strategies.pool import TimedAnswer
from fibsbot.web.server import WebHandler

BUCKETS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds."""
COUNTERS: Final = {
    "connections": "Connections that were made.",
    "messages": "Lines of the server, understood or not.",
    "unknown": "Lines of the server that were not understood.",
    "commands": "Commands that were sent.",
    "decisions": "Decisions, forced plays included.",
    "fallbacks": "Decisions for which the strategy had no answer.",
    "differences": "Parts of our own state that the server contradicted.",
    "refusals": "Commands that the server refused.",
    "timeouts": "Steps of the server that did not come in time.",
    "corrected": "Boards that contradicted themselves, and could be read all the same.",
    "stalls": "Times that a match was left, or the connection given up, because a match made no progress.",
    "stuck": "Matches that were given up because the server could not go on with them.",
    "games": "Games that were played.",
    "matches": "Matches that were played to their end.",
    "wins": "Matches that were won.",
    "interruptions": "Matches that broke off and were saved.",
}
"""The counters of an agent that are metrics, with their help."""


class Metrics:
    """All metrics, in a registry of their own."""

    def __init__(self, supervisor: Callable[[], Supervisor], store: StoreWriter | None) -> None:
        """Measure the accounts of a supervisor, their strategies and their store."""
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the time when each was created is of no use
        self.registry = CollectorRegistry()
        self._decision_times, self._strategy_times = (
            Histogram(name, text, ["account"], buckets=BUCKETS, registry=self.registry)
            for name, text in (
                ("fibsbot_decision_seconds", "Time from the bytes that open a decision to its command."),
                ("fibsbot_strategy_seconds", "Time that strategies worked on a decision."),
            )
        )
        self.registry.register(_Accounts(supervisor))
        self.registry.register(_Process(supervisor, store))
        ProcessCollector(registry=self.registry)

    def on_decision(self, account: str, answer: TimedAnswer, seconds: float) -> None:
        """Record how long a decision took."""
        self._decision_times.labels(account).observe(seconds)
        self._strategy_times.labels(account).observe(answer.seconds)

    def text(self) -> bytes:
        """Return the metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


class _Accounts(Collector):
    """The metrics of the accounts, collected on request."""

    def __init__(self, supervisor: Callable[[], Supervisor]) -> None:
        self._supervisor = supervisor

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        statuses = self._supervisor().statuses()
        for name, about in COUNTERS.items():
            yield _counter(name, about, [(status.account, getattr(status.counters, name)) for status in statuses])
        yield _counter(
            "reconnects", "Attempts to connect again.", [(status.account, status.reconnects) for status in statuses]
        )
        yield _counter("crashes", "Runs that crashed.", [(status.account, status.crashes) for status in statuses])
        for name, about, value in _GAUGES:
            gauge = GaugeMetricFamily(f"fibsbot_{name}", about, labels=["account"])
            for status in statuses:
                gauge.add_metric([status.account], value(status))
            yield gauge
        state = GaugeMetricFamily("fibsbot_state", "1 for the account's current state.", labels=["account", "state"])
        for status in statuses:
            state.add_metric([status.account, status.state], 1)
        yield state


_GAUGES: Final[tuple[tuple[str, str, Callable[[AccountStatus], float]], ...]] = (
    ("connected_seconds", "Since the login; 0 while not logged in.", lambda status: status.connected or 0.0),
    ("healthy", "1 unless it is stuck, or has ended with an error.", lambda status: status.healthy),
    ("playing", "1 while a match or a chouette is on.", lambda status: bool(status.agent and status.agent.playing)),
    ("paused", "1 while no new match is begun.", lambda status: bool(status.agent and status.agent.paused)),
    (
        "saved_matches",
        "Saved matches that wait to be resumed.",
        lambda status: status.agent.saved if status.agent else 0,
    ),
    ("stuck_matches", "Saved matches that were given up.", lambda status: status.agent.stuck if status.agent else 0),
)


class _Process(Collector):
    """The metrics of the strategies and the store, which the accounts share."""

    def __init__(self, supervisor: Callable[[], Supervisor], store: StoreWriter | None) -> None:
        self._supervisor = supervisor
        self._store = store

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        pool, store = self._supervisor().pool, self._store
        yield GaugeMetricFamily("fibsbot_questions_waiting", "Decisions that wait for a strategy.", pool.waiting)
        yield GaugeMetricFamily("fibsbot_strategies_hanging", "Strategies that are hanging.", pool.hanging)
        if store is not None:
            yield GaugeMetricFamily("fibsbot_store_healthy", "1 while records get into the store.", store.healthy)
            yield GaugeMetricFamily("fibsbot_store_waiting", "Records that are not in the store yet.", store.waiting)
            yield CounterMetricFamily("fibsbot_store_written", "Records that are in the store.", store.written)
            yield CounterMetricFamily("fibsbot_store_lost", "Records that will never be in the store.", store.lost)


def _counter(name: str, about: str, values: list[tuple[str, int]]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"fibsbot_{name}", about, labels=["account"])
    for account, value in values:
        family.add_metric([account], value)
    return family


METRICS_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def metrics_handler(text: Callable[[], bytes]) -> WebHandler:
    """Return a handler that responds with the metrics."""

    async def handle(_: web.Request) -> web.StreamResponse:
        return web.Response(body=text(), headers={"Content-Type": METRICS_CONTENT_TYPE})

    return handle


def health_handler(health: Callable[[], tuple[bool, Mapping[str, Any]]]) -> WebHandler:
    """Return a handler that responds with the health as JSON, and status 200 if all is well, else 503."""

    async def handle(_: web.Request) -> web.StreamResponse:
        healthy, details = health()
        return web.json_response(details, status=200 if healthy else 503)

    return handle
