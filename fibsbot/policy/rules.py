"""The rules: each says in its own words why a match is not played, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from fibsbot.policy.policy import Direction, Policy, Reason, Request

Rule: TypeAlias = Callable[[Policy, Request], Reason | None]


def reasons(policy: Policy, request: Request) -> tuple[Reason, ...]:
    """Return everything that speaks against a match, the weightiest first; nothing for one that we play."""
    found = (rule(policy, request) for rule in RULES)
    return tuple(reason for reason in found if reason is not None)


def _accepting(policy: Policy, request: Request) -> Reason | None:
    if policy.accept or request.direction is Direction.OURS:
        return None
    return Reason("not_accepting", "I don't play anybody else now.")


def _going(_: Policy, request: Request) -> Reason | None:
    return Reason("finishing", "I am about to log out.") if request.finishing else None


def _paused(_: Policy, request: Request) -> Reason | None:
    return Reason("paused", "I am taking a break and begin no new match.") if request.paused else None


def _length(policy: Policy, request: Request) -> Reason | None:
    if request.length in policy.lengths:
        return None
    if not request.length:
        return Reason("unlimited", "I don't play unlimited matches.")
    return Reason("length", f"I play matches of {policy.lengths}.")


RULES: Final[tuple[Rule, ...]] = (_going, _paused, _accepting, _length)
