"""Report of a chaos run: faults, recovery times, invariants; as tables, and as a timeline in SVG."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import statistics
from collections import Counter
from typing import Any, Final
from xml.etree import ElementTree as ET

from attrs import asdict, define, field, frozen
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from bench.chaos.bot_records import compare_store, lost_lines, lost_matches, read_logs
from bench.chaos.oracle import RefusedCommand
from bench.chaos.schedule import SPARED_PAIR, FaultKind, Incident
from bench.chaos.testbed import STORE_FILE, Testbed

MAX_EXAMPLES: Final = 30
"""Number of problems of each kind that are quoted; all are counted."""
MAX_GROWTH: Final = 0.10
"""Share by which a bot's memory may grow, in addition to GROWTH_BYTES."""
GROWTH_BYTES: Final = 6 * 2**20
WARM_UP_SHARE: Final = 0.3
"""Share of a process's life after which its memory is measured first."""
MEMORY_POINTS: Final = 50
"""Number of memory samples in the report."""
_MIB: Final = 2**20


@frozen
class KindReport:
    """One kind of fault."""

    kind: str
    planned: int
    struck: int
    recovered: int
    median: float | None
    """Seconds from the fault's end to the next accepted command or login; None without recoveries."""
    worst: float | None
    median_scaled: float | None
    """The same on the bots' clock."""
    worst_scaled: float | None


@frozen
class StruckFault:
    """One fault that struck. Times are seconds since the faults began."""

    number: int
    kind: str
    pair: int
    struck: float
    ended: float | None
    recovered: float | None


@frozen
class Invariant:
    """Something that must hold."""

    name: str
    holds: bool
    what: str
    """A sentence with the figures."""
    examples: tuple[str, ...] = ()


@define
class ChaosReport:
    """The report of a run."""

    minutes: float
    seed: int
    pairs: int
    length: int
    speed: float
    seconds: float
    """Duration of the run, with the time after the faults."""
    faults: int
    """Number of faults that struck."""
    kinds: int
    """Number of their kinds."""
    by_kind: list[KindReport]
    matches: int
    """Number of matches started, by the server's database."""
    matches_finished: int
    games: int
    decisions: int
    """Game commands of the bots that the server accepted."""
    commands: int
    logins: int
    bot_starts: int
    crossed: dict[str, int]
    """Game commands that were refused because of a line that the bot could not know yet, by the text of the refusal."""
    refused: dict[str, int]
    """Other refused commands, by the text of the refusal."""
    refusal_examples: list[str]
    """The first of both, with the lines that the bot could not know."""
    verdicts: list[Invariant]
    memory: list[tuple[float, float]] = field(factory=list)
    """Memory of the bot that is never ended: seconds since the faults began, MiB."""
    struck: list[StruckFault] = field(factory=list)
    """Every fault that struck, in the order in which their time came."""

    @property
    def clean(self) -> bool:
        """Whether all invariants hold."""
        return all(verdict.holds for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """Return the report in JSON types."""
        return {**asdict(self), "clean": self.clean}


def make_report(testbed: Testbed, memory: dict[str, list[tuple[int, float, int]]], seconds: float) -> ChaosReport:
    """Evaluate everything that a run has left behind, after its end."""
    plan, incidents = testbed.plan, testbed.recoveries.incidents
    oracles = [oracle for pair in testbed.pairs for oracle in (pair.bot, pair.opponent)]
    bots = [pair.bot for pair in testbed.pairs]
    database = _database(testbed)
    harmless = [refusal for oracle in oracles for refusal in oracle.refusals if not refusal.illegal]
    harmless.sort(key=lambda refusal: not refusal.game)
    return ChaosReport(
        minutes=plan.minutes,
        seed=plan.seed,
        pairs=plan.pairs,
        length=plan.length,
        speed=plan.speed,
        seconds=round(seconds, 1),
        faults=sum(incident.struck is not None for incident in incidents),
        kinds=len({incident.fault.kind for incident in incidents if incident.struck is not None}),
        by_kind=[_kind_report(kind, incidents, plan.speed) for kind in FaultKind],
        matches=sum(serial for serial, _ in database.values()),
        matches_finished=sum(serial - (not over) for serial, over in database.values()),
        games=sum(len(match.games) for bot in bots for match in bot.matches),
        decisions=sum(len(bot.answers) for bot in bots),
        commands=sum(bot.commands for bot in bots),
        logins=sum(bot.logins for bot in bots),
        bot_starts=sum(pair.child.starts for pair in testbed.pairs),
        crossed=_by_words(testbed, [refusal for refusal in harmless if refusal.game]),
        refused=_by_words(testbed, [refusal for refusal in harmless if not refusal.game]),
        refusal_examples=[str(refusal) for refusal in harmless][:MAX_EXAMPLES],
        verdicts=[
            _finished(testbed, database),
            _legal(testbed),
            _once(testbed),
            _logged(testbed),
            *_stored(testbed),
            _logs(testbed),
            _memory_flat(testbed, memory),
            _kept_running(testbed),
        ],
        memory=_memory_samples(testbed, memory),
        struck=[_struck(incident, round(incident.struck, 3)) for incident in incidents if incident.struck is not None],
    )


def _memory_samples(testbed: Testbed, memory: dict[str, list[tuple[int, float, int]]]) -> list[tuple[float, float]]:
    """Return memory samples of the bot that is never ended."""
    seen = memory.get(testbed.pairs[SPARED_PAIR].child.name, [])
    return [(round(at, 1), round(size / _MIB, 2)) for _, at, size in seen[:: max(len(seen) // MEMORY_POINTS, 1)]]


def _by_words(testbed: Testbed, refusals: list[RefusedCommand]) -> dict[str, int]:
    """Count refusals by their text, whatever name is in it."""
    names = re.compile("|".join(oracle.account for pair in testbed.pairs for oracle in (pair.bot, pair.opponent)))
    return dict(Counter(names.sub("X", refusal.text) for refusal in refusals).most_common())


def _struck(incident: Incident, struck: float) -> StruckFault:
    fault = incident.fault
    return StruckFault(
        fault.number, fault.kind.value, fault.pair, struck, _rounded(incident.ended), _rounded(incident.recovered)
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _kind_report(kind: FaultKind, incidents: list[Incident], speed: float) -> KindReport:
    mine = [incident for incident in incidents if incident.fault.kind is kind]
    times = [incident.seconds for incident in mine if incident.seconds is not None]
    median, worst = (statistics.median(times), max(times)) if times else (None, None)
    return KindReport(
        kind.value,
        planned=len(mine),
        struck=sum(incident.struck is not None for incident in mine),
        recovered=len(times),
        median=_rounded(median),
        worst=_rounded(worst),
        median_scaled=None if median is None else round(median * speed, 1),
        worst_scaled=None if worst is None else round(worst * speed, 1),
    )


def _database(testbed: Testbed) -> dict[tuple[str, str], tuple[int, bool]]:
    """Return the number of matches of each pair, and whether the last is over, from the server's database."""
    with contextlib.closing(sqlite3.connect(testbed.database)) as db:
        rows = db.execute("SELECT low, high, serial, over FROM matches").fetchall()
    return {(low, high): (serial, bool(over)) for low, high, serial, over in rows}


# -- invariants -----------------------------------------------------------------------------------------------------


def _finished(testbed: Testbed, database: dict[tuple[str, str], tuple[int, bool]]) -> Invariant:
    wrong = []
    for pair in testbed.pairs:
        serial, over = database.get((pair.bot.account, pair.opponent.account), (0, True))
        if not over:
            wrong.append(f"{pair.bot.account} and {pair.opponent.account}: the last match is not over")
        ended = max(sum(match.score is not None for match in oracle.matches) for oracle in (pair.bot, pair.opponent))
        if ended != serial:
            wrong.append(f"{pair.bot.account} and {pair.opponent.account}: {serial} matches begun, {ended} seen to end")
        if not serial:
            wrong.append(f"{pair.bot.account} and {pair.opponent.account}: no match at all")
    count = sum(serial for serial, _ in database.values())
    return _invariant("finished", wrong, f"{count} matches were begun, all of them are finished")


def _legal(testbed: Testbed) -> Invariant:
    refused = [refusal for pair in testbed.pairs for oracle in (pair.bot, pair.opponent) for refusal in oracle.refusals]
    wrong = [str(refusal) for refusal in refused if refusal.illegal]
    crossed = sum(refusal.game for refusal in refused) - len(wrong)
    return _invariant("legal", wrong, f"no command was illegal ({crossed} crossed what made them so)")


def _once(testbed: Testbed) -> Invariant:
    wrong = [text for pair in testbed.pairs for oracle in (pair.bot, pair.opponent) for text in oracle.answered_twice]
    return _invariant("once", wrong, "no decision was answered twice")


def _logged(testbed: Testbed) -> Invariant:
    wrong: list[str] = []
    for pair in testbed.pairs:
        logs = read_logs(pair.folder / "logs")
        wrong += logs.unreadable + lost_lines(pair.bot, logs) + lost_matches(pair.bot, logs)
    return _invariant("session logs", wrong, f"each of {_taken(testbed)} commands taken is in the session logs")


def _stored(testbed: Testbed) -> list[Invariant]:
    """Check the bots' stores. A process that is killed may lose the decision that it was writing."""
    all_of_them = [(pair, compare_store(pair.bot, pair.folder / STORE_FILE)) for pair in testbed.pairs]
    kills = Counter(
        it.fault.pair for it in testbed.recoveries.incidents if it.struck and it.fault.kind is FaultKind.BOT_KILL
    )
    matches = [text for _, it in all_of_them for text in it.matches]
    games = [text for _, it in all_of_them for text in it.games]
    too_many = [text for pair, it in all_of_them for text in it.decisions[kills[pair.number] :]]
    unseen, inferred = (sum(getattr(it, name) for _, it in all_of_them) for name in ("unseen", "inferred"))
    lost = sum(len(it.decisions) for _, it in all_of_them)
    return [
        _invariant(
            "matches",
            matches,
            f"each match is stored once, with its end ({inferred} ends worked out, {unseen} not known to the bot)",
        ),
        _invariant("games", games, "each game is stored once, with its end where the bot saw it"),
        _invariant(
            "decisions",
            too_many,
            f"each of {_taken(testbed)} commands taken is stored as a decision, but at most one for each SIGKILL"
            f" ({lost} for {kills.total()})",
        ),
    ]


def _taken(testbed: Testbed) -> int:
    return sum(len(pair.bot.answers) for pair in testbed.pairs)


def _logs(testbed: Testbed) -> Invariant:
    wrong = [text for pair in testbed.pairs for text in pair.child.troubles] + testbed.server.troubles
    return _invariant("no exception", wrong, "no error and no exception in any log")


def _memory_flat(testbed: Testbed, memory: dict[str, list[tuple[int, float, int]]]) -> Invariant:
    """Compare the memory of the bot that is never ended, once warm and at the end."""
    name = testbed.pairs[SPARED_PAIR].child.name
    sizes = [size for life, _, size in memory.get(name, []) if life == 1]
    if len(sizes) < 10:
        return Invariant("memory", holds=False, what=f"the memory of {name} was not seen often enough")
    tenth = max(len(sizes) // 10, 1)
    begin = int(len(sizes) * WARM_UP_SHARE)
    warm, late = (statistics.median(part) for part in (sizes[begin : begin + tenth], sizes[-tenth:]))
    what = f"{name} had {warm / _MIB:.1f} MiB once warm and {late / _MIB:.1f} MiB in the end"
    return Invariant("memory", holds=late <= warm * (1 + MAX_GROWTH) + GROWTH_BYTES, what=what)


def _kept_running(testbed: Testbed) -> Invariant:
    wrong = [text for pair in testbed.pairs for text in pair.child.exits] + testbed.server.exits
    for pair in testbed.pairs:
        task = pair.playing
        if task is not None and task.done() and not task.cancelled() and task.exception():
            wrong.append(f"{pair.opponent.account}: {task.exception()!r}")
    return _invariant("stayed", wrong, "no bot gave up")


def _invariant(name: str, wrong: list[str], what: str) -> Invariant:
    return Invariant(
        name, not wrong, f"{len(wrong)} times not so: {what}" if wrong else what, tuple(wrong[:MAX_EXAMPLES])
    )


# -- text and SVG ----------------------------------------------------------------------------------------------------


def format_chaos_report(report: ChaosReport) -> Group:
    """Return a report as tables and sentences."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("fault", no_wrap=True)
    for name in ("struck", "recovered", "median\ns", "worst\ns", "median\nscaled", "worst\nscaled"):
        table.add_column(name, justify="right", no_wrap=True)
    for kind in report.by_kind:
        times = (_seconds(kind.median), _seconds(kind.worst), _seconds(kind.median_scaled), _seconds(kind.worst_scaled))
        table.add_row(kind.kind, str(kind.struck), str(kind.recovered), *times)
    facts = (
        f"{report.faults} faults of {report.kinds} kinds struck {report.pairs} pairs in {report.minutes:g} minutes.",
        (
            f"{report.matches_finished} of {report.matches} matches finished, {report.games} games, {report.decisions}"
            f" decisions, {report.logins} logins, {report.bot_starts} starts of bots."
        ),
        *(f"{count} x crossed: {text}" for text, count in report.crossed.items()),
        *(f"{count} x in the lobby: {text}" for text, count in report.refused.items()),
    )
    verdicts = [
        Text.assemble((" holds " if v.holds else " FAILS ", "green" if v.holds else "bold red"), f" {v.name}: {v.what}")
        for v in report.verdicts
    ]
    examples = [Text(f"        {text}") for v in report.verdicts for text in v.examples]
    return Group(table, *map(Text, facts), Text(""), *verdicts, *examples)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


LEFT: Final = 60
ROW: Final = 44
WIDTH: Final = 1200
LEGEND: Final = 18
COLUMNS: Final = 4
TICKS: Final = 10


def draw_timeline(report: ChaosReport) -> str:
    """Return the timeline as SVG."""
    kinds = [kind.value for kind in FaultKind]
    rows = -(-len(kinds) // COLUMNS)
    bottom = report.pairs * ROW + 30
    height = bottom + 20 + rows * LEGEND + 10
    seconds = 60 * report.minutes
    frame = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {LEFT + WIDTH + 20} {height}"}
    root = ET.Element("svg", {**frame, "font-family": "sans-serif", "font-size": "12"})
    _add(root, "desc", f"{report.faults} faults of {report.kinds} kinds, and how long it took to recover from each")
    _add(root, "rect", width="100%", height="100%", fill="white")
    for pair in range(report.pairs):
        ground = str((pair + 1) * ROW)
        _add(root, "text", f"pair {pair + 1}", x="4", y=ground)
        _add(root, "line", x1=str(LEFT), x2=str(LEFT + WIDTH), y1=ground, y2=ground, stroke="#ccc")
    for tick in range(TICKS + 1):
        x = f"{LEFT + WIDTH * tick / TICKS:.1f}"
        _add(root, "line", x1=x, x2=x, y1="10", y2=str(bottom - 16), stroke="#eee")
        _add(root, "text", f"{seconds * tick / TICKS:.0f} s", x=x, y=str(bottom), **{"text-anchor": "middle"})
    for fault in report.struck:
        _draw_fault(root, fault, WIDTH / seconds, _colour(kinds.index(fault.kind), len(kinds)))
    for number, name in enumerate(kinds):
        column, row = divmod(number, rows)
        left, y = LEFT + column * WIDTH // COLUMNS, bottom + 20 + row * LEGEND
        _add(root, "circle", cx=str(left), cy=str(y), r="5", fill=_colour(number, len(kinds)))
        _add(root, "text", name, x=str(left + 10), y=str(y + 4))
    return ET.tostring(root, encoding="unicode")


def _draw_fault(root: ET.Element, fault: StruckFault, scale: float, colour: str) -> None:
    """Draw a dot where the fault struck, a thin line while it lasted, and a thick one until the recovery."""
    x, y = LEFT + fault.struck * scale, (fault.pair + 1) * ROW - 4 - 6 * (fault.number % 5)
    for begin, end, width in ((fault.struck, fault.ended, 2), (fault.ended, fault.recovered, 5)):
        if begin is not None and end is not None:
            x1, x2 = LEFT + begin * scale, LEFT + end * scale
            ends = {"x1": f"{x1:.1f}", "x2": f"{max(x2, x1 + 1):.1f}", "y1": str(y), "y2": str(y)}
            _add(root, "line", stroke=colour, **ends, **{"stroke-width": str(width)})
    circle = _add(root, "circle", cx=f"{x:.1f}", cy=str(y), r="4", fill=colour)
    _add(circle, "title", f"{fault.kind} at {fault.struck:.1f} s")


def _colour(number: int, count: int) -> str:
    return f"hsl({360 * number // count}, 70%, {45 + 15 * (number % 2)}%)"


def _add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, attributes)
    element.text = text or None
    return element
