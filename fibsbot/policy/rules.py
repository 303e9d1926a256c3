"""The rules: each says in its own words why a match is not played, or nothing.

What is not known of somebody is not held against them: a rule about it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeAlias

from fibsbot.policy.bots import is_bot
from fibsbot.policy.names import NameRule
from fibsbot.policy.policy import Direction, Policy, Reason, Request
from fibsbot.policy.wording import counted, duration, span

Rule: TypeAlias = Callable[[Policy, Request], str | None]
"""Returns the sentence for the other player, None for a match that is played as far as this rule goes."""


def reasons(policy: Policy, request: Request) -> tuple[Reason, ...]:
    """Return everything that speaks against a new match, the weightiest first; nothing for one that we play."""
    return _found(policy, request, RULES)


def reasons_not_to_resume(policy: Policy, request: Request) -> tuple[Reason, ...]:
    """Return everything that speaks against going on with a saved match.

    A match that was begun is finished, unless the operator will have nothing to do with the other player.
    """
    return _found(policy, request, FOR_SAVED)


def unchecked(policy: Policy, request: Request) -> tuple[str, ...]:
    """Return what this policy would look at, but is not known of the player; the fields' names."""
    wanted = {
        "rating": (policy.min_rating, policy.max_rating) != (None, None),
        "experience": (policy.min_experience, policy.max_experience) != (None, None) or policy.experience_per_point > 0,
        "client": not (policy.bots and policy.people) and not is_bot(request.name),
        "saved_games": policy.max_saved_games is not None,
    }
    theirs_only = {"client", "saved_games"} if request.direction is Direction.OURS else set()
    return tuple(
        name for name, asked in wanted.items() if asked and getattr(request, name) is None and name not in theirs_only
    )


def _found(policy: Policy, request: Request, codes: Collection[str]) -> tuple[Reason, ...]:
    said = ((code, RULES[code](policy, request)) for code in RULES if code in codes)
    return tuple(Reason(code, sentence) for code, sentence in said if sentence is not None)


# -- ourselves ------------------------------------------------------------------------------------------------------


def _finishing(_: Policy, request: Request) -> str | None:
    return "I am about to log out." if request.finishing else None


def _paused(_: Policy, request: Request) -> str | None:
    return "I am taking a break and begin no new match; please try again later." if request.paused else None


def _not_accepting(policy: Policy, request: Request) -> str | None:
    if policy.accept or request.direction is Direction.OURS:
        return None
    return "I accept no invitations at the moment."


# -- who it is ------------------------------------------------------------------------------------------------------


def _about(rules: Collection[NameRule], direction: Direction) -> tuple[NameRule, ...]:
    """Return those that are about invitations of this direction."""
    return tuple(rule for rule in rules if (rule.theirs if direction is Direction.THEIRS else rule.ours))


def _blocked(policy: Policy, request: Request) -> str | None:
    blocking = _about(policy.block, request.direction)
    return "My operator does not want me to play you, sorry." if _fits(blocking, request.name) else None


def _not_allowed(policy: Policy, request: Request) -> str | None:
    allowing = _about(policy.allow, request.direction)
    if not allowing or _fits(allowing, request.name):
        return None
    return "I only play those who are on my operator's list, sorry."


def _fits(rules: Collection[NameRule], name: str) -> bool:
    return any(rule.fits(name) for rule in rules)


def _bot(policy: Policy, request: Request) -> str | None:
    if policy.bots or request.direction is Direction.OURS or not is_bot(request.name, request.client):
        return None
    return "I play people only, no other bots."


def _person(policy: Policy, request: Request) -> str | None:
    if policy.people or request.direction is Direction.OURS or is_bot(request.name, request.client):
        return None
    return "I play other bots only."


# -- how long -------------------------------------------------------------------------------------------------------


def _unlimited(policy: Policy, request: Request) -> str | None:
    if request.length or policy.lengths.unlimited:
        return None
    return f"I don't play unlimited matches. I play matches of {policy.lengths}."


def _length(policy: Policy, request: Request) -> str | None:
    if not request.length or request.length in policy.lengths:
        return None
    return f"I play matches of {policy.lengths}."


# -- how good -------------------------------------------------------------------------------------------------------


def _rating_low(policy: Policy, request: Request) -> str | None:
    if policy.min_rating is None or request.rating is None or request.rating >= policy.min_rating:
        return None
    return _rating(policy, request.rating)


def _rating_high(policy: Policy, request: Request) -> str | None:
    if policy.max_rating is None or request.rating is None or request.rating <= policy.max_rating:
        return None
    return _rating(policy, request.rating)


def _rating(policy: Policy, rating: float) -> str:
    return f"I play ratings of {span(policy.min_rating, policy.max_rating)}; yours is {rating:.2f}."


def _experience_low(policy: Policy, request: Request) -> str | None:
    least = policy.min_experience
    if least is None or request.experience is None or request.experience >= least:
        return None
    return _experience(policy, request.experience)


def _experience_high(policy: Policy, request: Request) -> str | None:
    most = policy.max_experience
    if most is None or request.experience is None or request.experience <= most:
        return None
    return _experience(policy, request.experience)


def _experience(policy: Policy, experience: int) -> str:
    return f"I play an experience of {span(policy.min_experience, policy.max_experience)}; yours is {experience}."


def _experience_for_length(policy: Policy, request: Request) -> str | None:
    per_point, experience, length = policy.experience_per_point, request.experience, request.length
    if not per_point or experience is None or experience >= per_point * length:
        return None
    said = (
        f"For {counted(length, 'point')} I ask for an experience of {per_point * length:.10g}; yours is {experience}."
    )
    longest = policy.lengths.longest(int(experience / per_point))
    return said + (f" I would play you up to {counted(longest, 'point')}." if longest else "")


# -- what was before ------------------------------------------------------------------------------------------------


def _saved_games(policy: Policy, request: Request) -> str | None:
    most, saved = policy.max_saved_games, request.saved_games
    if most is None or saved is None or saved <= most:
        return None
    return f"You have {counted(saved, 'saved game')}, and I play those with at most {most}. Please finish some first."


def _cool_down(policy: Policy, request: Request) -> str | None:
    if request.since_last is None or request.since_last >= policy.cool_down:
        return None
    return f"We have just played. I will play you again in {duration(policy.cool_down - request.since_last)}."


def _max_per_day(policy: Policy, request: Request) -> str | None:
    if policy.max_per_day is None or request.matches_today < policy.max_per_day:
        return None
    played = counted(request.matches_today, "match")
    return f"We have played {played} in 24 hours, which is as much as I play with anybody. Please come back later."


RULES: Final[Mapping[str, Rule]] = {
    "finishing": _finishing,
    "paused": _paused,
    "not_accepting": _not_accepting,
    "blocked": _blocked,
    "not_allowed": _not_allowed,
    "bot": _bot,
    "person": _person,
    "unlimited": _unlimited,
    "length": _length,
    "rating_low": _rating_low,
    "rating_high": _rating_high,
    "experience_low": _experience_low,
    "experience_high": _experience_high,
    "experience_for_length": _experience_for_length,
    "saved_games": _saved_games,
    "cool_down": _cool_down,
    "max_per_day": _max_per_day,
}
"""Each rule by its code, the weightiest first. Codes are for logs and programs and stay as they are."""

FOR_SAVED: Final = frozenset({"finishing", "blocked", "not_allowed"})
"""Codes of the rules that hold for saved matches, too."""
