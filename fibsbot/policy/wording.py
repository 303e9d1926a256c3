"""What is said of a policy: to players who ask, and in the sentences of its rules. One line of plain ASCII each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from fibsbot.policy.policy import Policy

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def duration(seconds: float) -> str:
    """Say a time in few words, and never too short: `5 minutes`, `61 minutes`, `4 hours`."""
    whole = max(math.ceil(seconds), 1)
    unit, name = next((unit, name) for unit, name in _UNITS if whole % unit == 0 or whole >= 3 * unit)
    return counted(-(-whole // unit), name)


def counted(count: int, name: str) -> str:
    """Say how many there are: `1 match`, `2 matches`."""
    return f"{count} {name}" + ("" if count == 1 else "es" if name.endswith("ch") else "s")


def span(least: float | None, most: float | None) -> str:
    """Say between which limits a number may be: `1450 to 1900`, `at least 50`; `any` without limits."""
    if least is not None and most is not None:
        return f"{least:.10g} to {most:.10g}"
    if least is not None:
        return f"at least {least:.10g}"
    return "any" if most is None else f"at most {most:.10g}"


def describe(policy: Policy) -> str:
    """Say with whom we play, for players who ask. Who is blocked is not said."""
    if not policy.accept:
        return "I accept no invitations at the moment."
    who = {(True, True): "players", (False, True): "people", (True, False): "bots"}.get(
        (policy.bots, policy.people), "nobody"
    )
    limits = list(_limits(policy))
    who = " ".join([who, ", ".join(limits)]) if limits else {"players": "anybody"}.get(who, who)
    said = [f"I play matches of {policy.lengths} with {who}.", *_breaks(policy)]
    if any(rule.theirs for rule in policy.allow):
        said.append("Only players on my operator's list are played.")
    return " ".join(said)


def _limits(policy: Policy) -> Iterator[str]:
    if (policy.min_rating, policy.max_rating) != (None, None):
        yield f"rated {span(policy.min_rating, policy.max_rating)}"
    if (policy.min_experience, policy.max_experience) != (None, None):
        yield f"of experience {span(policy.min_experience, policy.max_experience)}"
    if policy.experience_per_point:
        yield f"of experience at least {policy.experience_per_point:.10g} for each point of the match"
    if policy.max_saved_games is not None:
        yield f"with at most {counted(policy.max_saved_games, 'saved game')}"


def _breaks(policy: Policy) -> Iterator[str]:
    parts = []
    if policy.max_per_day is not None:
        parts.append(f"at most {counted(policy.max_per_day, 'match')} in 24 hours")
    if policy.cool_down:
        parts.append(f"a break of {duration(policy.cool_down)} after a match")
    if parts:
        yield f"With the same player: {', '.join(parts)}."
