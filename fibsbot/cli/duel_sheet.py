"""What `fibsbot duel` tells people: the result, how sure it is, and what each strategy did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fibsbot.arena.duel.tally import Tally
from fibsbot.study.results import NORMAL


def running(tally: Tally) -> str:
    """Return in a few words what A has got so far, with or without luck, whichever is surer."""
    known = [it for it in (tally.adjusted, tally.result) if it]
    if not known:
        return ""
    estimate = min(known, key=lambda it: it.error)
    half = NORMAL * estimate.error
    if tally.plan.length:
        return f"{tally.plan.labels[0]} {100 * estimate.mean:.1f} % ± {100 * half:.1f}"
    return f"{tally.plan.labels[0]} {estimate.mean:+.3f} ± {half:.3f}"


def told(report: dict[str, Any]) -> str:
    """Return a report in words; it is the one that `Tally.report` makes."""
    return "\n".join(_lines(report))


def _lines(report: dict[str, Any]) -> Iterator[str]:
    first, second = (it["name"] for it in report["performances"])
    yield f"{first} against {second}: {_what(report)}, the same dice twice, seed {report['seed']}"
    if not report["finished"]:
        yield f"Interrupted after {report['pairs']} of {report['wanted']} pairs."
    yield ""
    if report["result"] is None:
        yield "Fewer than two pairs: too few for a result."
    else:
        yield f"{first} {_gained(report, report['result'])}"
    if report["adjusted"]:
        yield f"without luck: {_gained(report, report['adjusted'])}"
    if report["gain"]:
        yield _worth(report["gain"])
    if report["unjudged"]:
        yield f"In {report['unjudged']} pairs the judge failed; their luck could not be taken out."
    yield ""
    yield from _table(_rows(report))
    if report["judge"]:
        yield f"PR as {report['judge']} judges, looking at {_decisions(report)} decisions that count."
    if report["examples"]:
        yield from ("", "Not everything went well:", *report["examples"])


def _worth(gain: float) -> str:
    text = f"Taking the luck out is worth {gain:.2g} times as many pairs"
    return f"{text}." if gain >= 1 else f"{text}: it makes the result less sure here."


def _what(report: dict[str, Any]) -> str:
    if report["length"]:
        cube = "" if report["cube"] else " without a cube"
        return f"{2 * report['pairs']} matches to {report['length']} ({report['games']} games){cube}"
    options = [name for name in ("jacoby", "beavers") if report[name]]
    return f"{report['games']} money games with{'' if report['cube'] else 'out'} a cube{_listed(options)}"


def _listed(options: Sequence[str]) -> str:
    return f" ({', '.join(options)})" if options else ""


def _gained(report: dict[str, Any], estimate: dict[str, Any]) -> str:
    mean, low, high = (estimate[name] for name in ("mean", "low", "high"))
    if not report["length"]:
        return f"{mean:+.4f} points a game, standard error {estimate['error']:.4f}, 95 %: {low:+.4f} to {high:+.4f}"
    text = f"{100 * mean:.2f} % of matches, standard error {100 * estimate['error']:.2f}, "
    text += f"95 %: {100 * low:.2f} to {100 * high:.2f} %"
    if estimate["rating_mean"] is None:
        return text
    ends = [_points(estimate[f"rating_{name}"]) for name in ("low", "high")]
    return f"{text}; {estimate['rating_mean']:+.0f} FIBS rating points ({ends[0]} to {ends[1]})"


def _points(difference: float | None) -> str:
    return "no limit" if difference is None else f"{difference:+.0f}"


def _rows(report: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    yield "", "plays", "median", "p99", "others", "median", "p99", "faults", "PR"
    for it in report["performances"]:
        pr = "-" if it["pr"] is None else f"{it['pr']:.2f}"
        yield it["name"], *_times(it["plays"]), *_times(it["others"]), f"{it['faults']:,}", pr


def _times(times: dict[str, Any]) -> tuple[str, ...]:
    return f"{times['count']:,}", _time(times["median"]), _time(times["p99"])


def _table(rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    cells = list(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for name, *figures in cells:
        texts = [f"{text:>{width}}" for text, width in zip(figures, widths[1:], strict=True)]
        yield "  ".join((f"{name:{widths[0]}}", *texts))


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.0f} us"


def _decisions(report: dict[str, Any]) -> str:
    return f"{sum(it['judged'] for it in report['performances']):,}"
