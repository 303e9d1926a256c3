"""The rules of a policy: each returns the reason for refusing a match, or None; and the policy in English.

All text is one line of plain ASCII. An unknown fact about a player is not held against them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, TypeAlias

from fibsbot.policy.policy import Direction, MatchRequest, NamePattern, Policy, RefusalReason, is_bot
from fibsbot.text import format_duration, plural


def format_range(least: float | None, most: float | None) -> str:
    """Say between which limits a number may be: `1450 to 1900`, `at least 50`; `any` without limits."""
    if least is not None and most is not None:
        return f"{least:.10g} to {most:.10g}"
    if least is not None:
        return f"at least {least:.10g}"
    return "any" if most is None else f"at most {most:.10g}"


def describe_policy(policy: Policy) -> str:
    """Say with whom we play, for players who ask. Who is blocked is not said."""
    if not policy.accept:
        return "I accept no invitations at the moment."
    who = {(True, True): "players", (False, True): "people", (True, False): "bots"}.get(
        (policy.bots, policy.people), "nobody"
    )
    limits = list(_limits(policy))
    who = " ".join([who, ", ".join(limits)]) if limits else {"players": "anybody"}.get(who, who)
    said = [f"I play matches of {policy.lengths} with {who}.", *_pauses(policy)]
    if any(rule.theirs for rule in policy.allow):
        said.append("Only players on my operator's list are played.")
    return " ".join(said)


def _limits(policy: Policy) -> Iterator[str]:
    if (policy.min_rating, policy.max_rating) != (None, None):
        yield f"rated {format_range(policy.min_rating, policy.max_rating)}"
    if (policy.min_experience, policy.max_experience) != (None, None):
        yield f"of experience {format_range(policy.min_experience, policy.max_experience)}"
    if policy.experience_per_point:
        yield f"of experience at least {policy.experience_per_point:.10g} for each point of the match"
    if policy.max_saved_games is not None:
        yield f"with at most {plural(policy.max_saved_games, 'saved game')}"


def _pauses(policy: Policy) -> Iterator[str]:
    parts = []
    if policy.max_per_day is not None:
        parts.append(f"at most {plural(policy.max_per_day, 'match')} in 24 hours")
    if policy.cool_down:
        parts.append(f"a break of {format_duration(policy.cool_down)} after a match")
    if parts:
        yield f"With the same player: {', '.join(parts)}."


Rule: TypeAlias = Callable[[Policy, MatchRequest], str | None]
"""Returns the sentence for the other player, None for a match that is played as far as this rule goes."""


def reasons_to_refuse(policy: Policy, request: MatchRequest) -> tuple[RefusalReason, ...]:
    """Return everything that speaks against a new match, the weightiest first; nothing for one that we play."""
    return _apply(policy, request, RULES)


def reasons_not_to_resume(policy: Policy, request: MatchRequest) -> tuple[RefusalReason, ...]:
    """Return everything that speaks against going on with a saved match.

    A match that was begun is finished, unless the operator will have nothing to do with the other player.
    """
    return _apply(policy, request, RULES_FOR_SAVED_MATCHES)


def unknown_facts(policy: Policy, request: MatchRequest) -> tuple[str, ...]:
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


def _apply(policy: Policy, request: MatchRequest, codes: Collection[str]) -> tuple[RefusalReason, ...]:
    said = ((code, RULES[code](policy, request)) for code in RULES if code in codes)
    return tuple(RefusalReason(code, sentence) for code, sentence in said if sentence is not None)


# -- ourselves ------------------------------------------------------------------------------------------------------


def _finishing(_: Policy, request: MatchRequest) -> str | None:
    return "I am about to log out." if request.finishing else None


def _paused(_: Policy, request: MatchRequest) -> str | None:
    return "I am taking a break and begin no new match; please try again later." if request.paused else None


def _not_accepting(policy: Policy, request: MatchRequest) -> str | None:
    if policy.accept or request.direction is Direction.OURS:
        return None
    return "I accept no invitations at the moment."


# -- who it is ------------------------------------------------------------------------------------------------------


def _about(rules: Collection[NamePattern], direction: Direction) -> tuple[NamePattern, ...]:
    """Return those that are about invitations of this direction."""
    return tuple(rule for rule in rules if (rule.theirs if direction is Direction.THEIRS else rule.ours))


def _blocked(policy: Policy, request: MatchRequest) -> str | None:
    blocking = _about(policy.block, request.direction)
    return "My operator does not want me to play you, sorry." if _fits(blocking, request.name) else None


def _not_allowed(policy: Policy, request: MatchRequest) -> str | None:
    allowing = _about(policy.allow, request.direction)
    if not allowing or _fits(allowing, request.name):
        return None
    return "I only play those who are on my operator's list, sorry."


def _fits(rules: Collection[NamePattern], name: str) -> bool:
    return any(rule.fits(name) for rule in rules)


def _bot(policy: Policy, request: MatchRequest) -> str | None:
    if policy.bots or request.direction is Direction.OURS or not is_bot(request.name, request.client):
        return None
    return "I play people only, no other bots."


def _person(policy: Policy, request: MatchRequest) -> str | None:
    if policy.people or request.direction is Direction.OURS or is_bot(request.name, request.client):
        return None
    return "I play other bots only."


# -- how long -------------------------------------------------------------------------------------------------------


def _unlimited(policy: Policy, request: MatchRequest) -> str | None:
    if request.length or policy.lengths.unlimited:
        return None
    return f"I don't play unlimited matches. I play matches of {policy.lengths}."


def _length(policy: Policy, request: MatchRequest) -> str | None:
    if not request.length or request.length in policy.lengths:
        return None
    return f"I play matches of {policy.lengths}."


# -- how good -------------------------------------------------------------------------------------------------------


def _rating_low(policy: Policy, request: MatchRequest) -> str | None:
    if policy.min_rating is None or request.rating is None or request.rating >= policy.min_rating:
        return None
    return _rating(policy, request.rating)


def _rating_high(policy: Policy, request: MatchRequest) -> str | None:
    if policy.max_rating is None or request.rating is None or request.rating <= policy.max_rating:
        return None
    return _rating(policy, request.rating)


def _rating(policy: Policy, rating: float) -> str:
    return f"I play ratings of {format_range(policy.min_rating, policy.max_rating)}; yours is {rating:.2f}."


def _experience_low(policy: Policy, request: MatchRequest) -> str | None:
    least = policy.min_experience
    if least is None or request.experience is None or request.experience >= least:
        return None
    return _experience(policy, request.experience)


def _experience_high(policy: Policy, request: MatchRequest) -> str | None:
    most = policy.max_experience
    if most is None or request.experience is None or request.experience <= most:
        return None
    return _experience(policy, request.experience)


def _experience(policy: Policy, experience: int) -> str:
    return (
        f"I play an experience of {format_range(policy.min_experience, policy.max_experience)}; yours is {experience}."
    )


def _experience_for_length(policy: Policy, request: MatchRequest) -> str | None:
    per_point, experience, length = policy.experience_per_point, request.experience, request.length
    if not per_point or experience is None or experience >= per_point * length:
        return None
    said = f"For {plural(length, 'point')} I ask for an experience of {per_point * length:.10g}; yours is {experience}."
    longest = policy.lengths.longest(int(experience / per_point))
    return said + (f" I would play you up to {plural(longest, 'point')}." if longest else "")


# -- what was before ------------------------------------------------------------------------------------------------


def _saved_games(policy: Policy, request: MatchRequest) -> str | None:
    most, saved = policy.max_saved_games, request.saved_games
    if most is None or saved is None or saved <= most:
        return None
    return f"You have {plural(saved, 'saved game')}, and I play those with at most {most}. Please finish some first."


def _cool_down(policy: Policy, request: MatchRequest) -> str | None:
    if request.since_last is None or request.since_last >= policy.cool_down:
        return None
    return f"We have just played. I will play you again in {format_duration(policy.cool_down - request.since_last)}."


def _max_per_day(policy: Policy, request: MatchRequest) -> str | None:
    if policy.max_per_day is None or request.matches_today < policy.max_per_day:
        return None
    played = plural(request.matches_today, "match")
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

RULES_FOR_SAVED_MATCHES: Final = frozenset({"finishing", "blocked", "not_allowed"})
"""Codes of the rules that hold for saved matches, too."""
