"""The table in a browser: from the command to the first board, and from a click to the frame that shows what it did.

Usage: python -m bench.bench_table [--runs N] [--clicks N]

The start is `fibsbot table` in a process of its own and Chromium that is running already; of several runs the least
counts, in seconds of the processor (those of the command alone, its end included) and of the clock. Clicks play a
checker and undo it by turns; the time goes from the event in the page to the frame after the new state is drawn, which
the engine has no part in, and of the processor what the server takes of it. Requests that do nothing show how much of
it is the machine's. The exit status is 1 if a figure is above its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Final

from playwright.async_api import Browser
from rich.console import Console
from rich.table import Table

from fibsbot.games import load_ruleset
from fibsbot.strategies.loader import load
from fibsbot.table.bot_match import BotMatch
from fibsbot.table.hosts import BotHost
from fibsbot.table.model import Action
from fibsbot.table.page_server import PageServer
from tests.browser import chromium

START: Final = 1.5
"""Seconds from the command to the first board."""
FRAME: Final = 50.0
"""Milliseconds from a click to its frame, of 99 in 100."""
BOARD: Final = "#board svg"
EMPTY: Final = """async (requests) => {
  const times = [];
  for (let index = 0; index < requests; index++) {
    const started = performance.now();
    await (await fetch("prefer", { method: "POST", body: "{}" })).text();
    await new Promise((resolve) => requestAnimationFrame(resolve));
    times.push(performance.now() - started);
  }
  return times;
}"""
CLICKS: Final = """async (clicks) => {
  const next = () => new Promise((resolve) => {
    const seen = new MutationObserver(() => { seen.disconnect(); requestAnimationFrame(() => resolve()); });
    seen.observe(document.documentElement, { attributes: true, attributeFilter: ["data-version"] });
  });
  const times = [];
  for (let index = 0; index < clicks; index++) {
    const pressed = document.querySelector(index % 2 ? '[data-action="undo"]' : "#places .source");
    const started = performance.now();
    const shown = next();
    pressed.click();
    await shown;
    times.push(performance.now() - started);
  }
  return times;
}"""


async def start(browser: Browser, output: Path) -> tuple[float, float]:
    """Run the command and open its page; return seconds of the clock and of the command's processor."""
    tab = await browser.new_page()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = ("-m", "fibsbot", "table", "--no-browser", "--output", str(output))
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    address = (await process.stdout.readline()).decode().strip()
    await tab.goto(address)
    await tab.wait_for_selector(BOARD)
    took = time.perf_counter() - began
    process.send_signal(signal.SIGINT)
    await process.wait()
    await tab.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def click(browser: Browser, clicks: int) -> tuple[list[float], list[float], float]:
    """Play a checker and undo it by turns; return the milliseconds of each, and of requests that do nothing.

    The last are the milliseconds of the processor that the server takes for a click.
    """
    rules = load_ruleset("backgammon")
    seeds = (BotMatch(rules, rules.laws, 3, ("you", "bot"), Random(seed)) for seed in range(100))
    match = next(made for made in seeds if Action.MOVE in made.actions)
    host, server = BotHost(match, load("pips")), PageServer(0)
    page = server.add(host)
    await server.start()
    try:
        tab = await browser.new_page(viewport={"width": 1366, "height": 768})
        await tab.goto(server.address(page))
        await tab.wait_for_selector(BOARD)
        await tab.evaluate(CLICKS, 20)
        before = time.process_time()
        times = await tab.evaluate(CLICKS, clicks)
        processor = 1000 * (time.process_time() - before) / clicks
        return times, await tab.evaluate(EMPTY, clicks), processor
    finally:
        await host.close()
        await server.close()


async def measure(runs: int, clicks: int) -> bool:
    """Measure and print; return whether every figure is within its limit."""
    async with chromium() as browser:
        with tempfile.TemporaryDirectory() as folder:
            starts = [await start(browser, Path(folder)) for _ in range(runs)]
        times, empty, of_server = await click(browser, clicks)
    clock, processor = (min(column) for column in zip(*starts, strict=True))
    percentile, floor = (statistics.quantiles(one, n=100)[98] for one in (times, empty))
    table = Table(title="The table in Chromium", title_justify="left")
    for name in ("", "measured", "limit"):
        table.add_column(name, justify="right" if name else "left")
    table.add_row("command to first board, clock", f"{clock:.2f} s", "")
    table.add_row("command to first board, processor", f"{processor:.2f} s", f"{START} s")
    table.add_row(f"click to frame, median of {clicks}", f"{statistics.median(times):.0f} ms", "")
    table.add_row("click to frame, 99 in 100", f"{percentile:.0f} ms", f"{FRAME:.0f} ms")
    table.add_row("processor of the server per click", f"{of_server:.1f} ms", "")
    table.add_row("empty request to frame, median", f"{statistics.median(empty):.0f} ms", "")
    table.add_row("empty request to frame, 99 in 100", f"{floor:.0f} ms", "")
    Console().print(table)
    return processor <= START and percentile <= FRAME


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description="How fast the table is in a browser.")
    parser.add_argument("--runs", type=int, default=5, help="starts, of which the fastest counts")
    parser.add_argument("--clicks", type=int, default=300, help="clicks that are timed")
    options = parser.parse_args()
    if not asyncio.run(measure(options.runs, options.clicks)):
        sys.exit("above its limit")


if __name__ == "__main__":
    main()
