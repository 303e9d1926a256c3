"""What is set up beside the bot in `config/compose.yaml`: alerts and dashboard use metrics that the program has."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from fibsbot.records.store import StoreWriter
from fibsbot.service.metrics import Metrics
from tests.service.accounts import plan, supervisor

CONFIG: Final = Path(__file__).parents[2] / "config"
MONITORING: Final = CONFIG / "monitoring"
SUFFIXES: Final = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}
OF_PROMETHEUS: Final = {"up"}
"""What Prometheus adds by itself."""
METRIC: Final = re.compile(r"\b(up|(?:fibsbot|process)_\w+)(?![\w(])")


def load(path: Path) -> Any:
    """Return what a file in YAML says."""
    return yaml.safe_load(path.read_text("utf-8"))


def metrics(folder: Path) -> set[str]:
    """Return the names that a program with an account and a store serves."""
    text = Metrics(lambda: supervisor(plan(4321, "marvin")), StoreWriter(str(folder / "store.db"))).text().decode()
    families = list(text_string_to_metric_families(text))
    return {family.name + suffix for family in families for suffix in SUFFIXES[family.type]}


def panels() -> list[dict[str, Any]]:
    """Return the panels of the dashboard."""
    found: list[dict[str, Any]] = json.loads((MONITORING / "dashboard.json").read_text("utf-8"))["panels"]
    return found


def expressions() -> Iterator[str]:
    """Yield what alerts and panels ask Prometheus."""
    for group in load(MONITORING / "alerts.yml")["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in panels():
        yield from (target["expr"] for target in panel["targets"])
    yield "fibsbot_healthy"  # the list of accounts


def test_alerts_and_dashboard_use_metrics_that_exist(tmp_path: Path) -> None:
    asked = {name for text in expressions() for name in METRIC.findall(text)}
    assert asked <= metrics(tmp_path) | OF_PROMETHEUS
    assert len(asked) > 20, "the pattern finds them"


def test_every_alert_of_the_handbook_is_set_up() -> None:
    table = (CONFIG.parent / "docs/how-to/running.md").read_text("utf-8").partition("Metrics worth an alert:")[2]
    rows = [line for line in table.partition("\n\n`")[0].splitlines() if line.startswith("| `")]
    told = {name for row in rows for name in METRIC.findall(row.split("|")[1])}
    asked = {name for text in expressions() for name in METRIC.findall(text)}
    assert told
    assert told <= asked


def test_panels_do_not_overlap_and_have_a_title() -> None:
    places = [panel["gridPos"] for panel in panels()]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert all(x < 24 for x, _ in cells)
    assert len(places) == len({panel["title"] for panel in panels()})


def test_compose_mounts_files_that_exist_and_publishes_to_this_machine_only() -> None:
    services = load(CONFIG / "compose.yaml")["services"]
    mounted = [volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])]
    files = [name for name in mounted if name.startswith("./")]
    assert files
    assert [] == [name for name in files if not (CONFIG / name).is_file()]
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert [] == [port for port in ports if not port.startswith("127.0.0.1:")]
    (job,) = load(MONITORING / "prometheus.yml")["scrape_configs"]
    assert [["127.0.0.1:9464"]] == [static["targets"] for static in job["static_configs"]], (
        "the program answers to no other name"
    )
    assert services["bot"]["network_mode"] == services["prometheus"]["network_mode"] == "service:network"


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool")
def test_prometheus_accepts_its_settings() -> None:
    words = ["promtool", "check", "config", "--lint-fatal", str(MONITORING / "prometheus.yml")]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert 0 == found.returncode, found.stdout + found.stderr
