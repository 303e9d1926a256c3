"""The rules of a policy, each returning the reason to refuse a match or None, and the policy described in English.

All text is one line of plain ASCII. An unknown fact about a player is no reason to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from fibsbot.policy.policy import (
    ANY_GAME,
    ANY_LAWS,
    CHOUETTE,
    Direction,
    MatchRequest,
    NamePattern,
    Policy,
    RefusalReason,
    is_bot,
)
from fibsbot.text import format_duration, join_words, plural


def format_range(least: float | None, most: float | None) -> str:
    """Return a range in words: `1450 to 1900`, `at least 50`; `any` without limits."""
    if least is not None and most is not None:
        return f"{least:.10g} to {most:.10g}"
    if least is not None:
        return f"at least {least:.10g}"
    return "any" if most is None else f"at most {most:.10g}"


def format_difference(least: float | None, most: float | None) -> str:
    """Return a range of ratings relative to our own in words: `between 200 below and 300 above mine`."""
    low, high = (_relative(difference) for difference in (least, most))
    if least is not None and most is not None:
        return f"between {low} and {high} mine"
    return f"no lower than {low} mine" if most is None else f"no higher than {high} mine"


def _relative(difference: float | None) -> str:
    return f"{abs(difference or 0):.10g} {'below' if (difference or 0) < 0 else 'above'}"


_FINISHING: Final = "I'm about to log out."
_PAUSED: Final = "I'm taking a break and not starting new matches. Please try again later."
_NOT_ACCEPTING: Final = "I'm not accepting invitations at the moment."


def describe_policy(policy: Policy, *, paused: bool = False, finishing: bool = False) -> str:
    """Return the policy in English, for players who ask, the most important first. Blocked players are not named."""
    for condition, sentence in ((finishing, _FINISHING), (paused, _PAUSED), (not policy.accept, _NOT_ACCEPTING)):
        if condition:
            return sentence
    who = {(True, True): "players", (False, True): "people", (True, False): "bots"}.get(
        (policy.bots, policy.people), "nobody"
    )
    listed = ["I only play people on my operator's list."] if _about(policy.allow, Direction.THEIRS) else []
    limits = list(_limits(policy))
    if limits:
        who += f" {', '.join(limits)}"
    elif who == "players":
        who = "them" if listed else "anybody"
    matches = f"I play matches of {policy.lengths} with {who}."
    return " ".join([*listed, matches, *_pauses(policy), *_besides(policy)])


def _limits(policy: Policy) -> Iterator[str]:
    if (policy.min_rating, policy.max_rating) != (None, None):
        yield f"rated {format_range(policy.min_rating, policy.max_rating)}"
    if (policy.min_rating_difference, policy.max_rating_difference) != (None, None):
        yield f"rated {format_difference(policy.min_rating_difference, policy.max_rating_difference)}"
    if (policy.min_experience, policy.max_experience) != (None, None):
        yield f"with {format_range(policy.min_experience, policy.max_experience)} experience"
    if policy.experience_per_point:
        yield f"with at least {policy.experience_per_point:.10g} experience per point of the match"
    if policy.max_saved_games is not None:
        yield f"with at most {plural(policy.max_saved_games, 'saved game')}"


def _besides(policy: Policy) -> Iterator[str]:
    """Yield what is played besides backgammon by the laws of FIBS."""
    if ANY_GAME in policy.games:
        yield "I also play all other games, and chouettes."
    elif policy.games:
        yield f"I also play {_names(policy.games)}."
    if ANY_LAWS in policy.laws:
        yield "I also play by any other laws."
    elif policy.laws:
        yield f"I also play by laws {join_words(policy.laws, 'or')}."


def _names(games: Sequence[str]) -> str:
    """Return the names of games as a list in English."""
    return join_words([f"{CHOUETTE}s" if game == CHOUETTE else game for game in games])


def _pauses(policy: Policy) -> Iterator[str]:
    parts = []
    if policy.max_per_day is not None:
        parts.append(f"at most {plural(policy.max_per_day, 'match')} in 24 hours")
    if policy.cool_down:
        parts.append(f"a break of {format_duration(policy.cool_down)} after a match")
    if parts:
        yield f"With the same player: {', '.join(parts)}."
    if policy.max_bots_per_day is not None and policy.bots:
        yield f"With bots: at most {plural(policy.max_bots_per_day, 'match')} in 24 hours."


Rule: TypeAlias = Callable[[Policy, MatchRequest], str | None]
"""Returns the sentence for the other player, or None if the rule does not refuse the match."""


def reasons_to_refuse(policy: Policy, request: MatchRequest) -> tuple[RefusalReason, ...]:
    """Return all reasons against a new match, the most important first; none if it may be played."""
    return _apply(policy, request, RULES)


def reasons_not_to_resume(policy: Policy, request: MatchRequest) -> tuple[RefusalReason, ...]:
    """Return all reasons against resuming a saved match.

    A match that has begun is finished, unless the operator excludes the other player.
    """
    return _apply(policy, request, RULES_FOR_SAVED_MATCHES)


def unknown_facts(policy: Policy, request: MatchRequest) -> tuple[str, ...]:
    """Return the names of the fields that this policy depends on, but that are unknown for this player."""
    wanted = {
        "rating": any(limit is not None for limit in _rating_limits(policy)),
        "own_rating": (policy.min_rating_difference, policy.max_rating_difference) != (None, None),
        "experience": (policy.min_experience, policy.max_experience) != (None, None) or policy.experience_per_point > 0,
        "client": _depends_on_bots(policy) and not is_bot(request.name),
        "saved_games": policy.max_saved_games is not None,
    }
    theirs_only = {"client", "saved_games"} if request.direction is Direction.OURS else set()
    return tuple(
        name for name, needed in wanted.items() if needed and getattr(request, name) is None and name not in theirs_only
    )


def _depends_on_bots(policy: Policy) -> bool:
    """Whether it matters to this policy which players are bots."""
    return policy.bot_pause > 0 or policy.max_bots_per_day is not None or not (policy.bots and policy.people)


def _rating_limits(policy: Policy) -> tuple[float | None, ...]:
    return policy.min_rating, policy.max_rating, policy.min_rating_difference, policy.max_rating_difference


def _apply(policy: Policy, request: MatchRequest, codes: Collection[str]) -> tuple[RefusalReason, ...]:
    sentences = ((code, RULES[code](policy, request)) for code in RULES if code in codes)
    return tuple(RefusalReason(code, sentence) for code, sentence in sentences if sentence is not None)


# -- the bot -------------------------------------------------------------------------------------------------------


def _finishing(_: Policy, request: MatchRequest) -> str | None:
    return _FINISHING if request.finishing else None


def _paused(_: Policy, request: MatchRequest) -> str | None:
    return _PAUSED if request.paused else None


def _not_accepting(policy: Policy, request: MatchRequest) -> str | None:
    if policy.accept or request.direction is Direction.OURS:
        return None
    return _NOT_ACCEPTING


# -- the player ----------------------------------------------------------------------------------------------------


def _about(rules: Collection[NamePattern], direction: Direction) -> tuple[NamePattern, ...]:
    """Return the patterns that apply to invitations in this direction."""
    return tuple(rule for rule in rules if (rule.from_them if direction is Direction.THEIRS else rule.to_them))


def _blocked(policy: Policy, request: MatchRequest) -> str | None:
    blocking = _about(policy.block, request.direction)
    if not request.on_block_list and not _fits(blocking, request.name):
        return None
    return "My operator doesn't want me to play you, sorry."


def _not_allowed(policy: Policy, request: MatchRequest) -> str | None:
    allowing = _about(policy.allow, request.direction)
    if request.on_allow_list or (not allowing and request.on_allow_list is None) or _fits(allowing, request.name):
        return None
    return "I only play people on my operator's list, sorry."


def _fits(rules: Collection[NamePattern], name: str) -> bool:
    return any(rule.matches(name) for rule in rules)


def _bot(policy: Policy, request: MatchRequest) -> str | None:
    if policy.bots or request.direction is Direction.OURS or not is_bot(request.name, request.client):
        return None
    return "I only play people, not bots."


def _person(policy: Policy, request: MatchRequest) -> str | None:
    if policy.people or request.direction is Direction.OURS or is_bot(request.name, request.client):
        return None
    return "I only play other bots."


# -- length --------------------------------------------------------------------------------------------------------


def _unlimited(policy: Policy, request: MatchRequest) -> str | None:
    if request.length or policy.lengths.unlimited or request.game == CHOUETTE:
        return None
    return f"I don't play unlimited matches. I play matches of {policy.lengths}."


def _length(policy: Policy, request: MatchRequest) -> str | None:
    if not request.length or request.length in policy.lengths:
        return None
    return f"I only play matches of {policy.lengths}."


def _laws(policy: Policy, request: MatchRequest) -> str | None:
    if not request.laws or request.direction is Direction.OURS or policy.plays_by(request.laws):
        return None
    others = f", or by laws {join_words(policy.laws, 'or')}" if policy.laws else ""
    return f"I only play by the laws of FIBS{others}."


def _game(policy: Policy, request: MatchRequest) -> str | None:
    if request.game is None or request.direction is Direction.OURS or policy.plays(request.game):
        return None
    return f"I only play {_names(('backgammon', *policy.games))}."


# -- strength ------------------------------------------------------------------------------------------------------


def _less(a: float | None, b: float | None) -> bool:
    """Return whether both are known, and one is less than the other."""
    return a is not None and b is not None and a < b


def _rating(policy: Policy, request: MatchRequest) -> str:
    limits = format_range(policy.min_rating, policy.max_rating)
    return f"I only play opponents rated {limits}; your rating is {request.rating or 0:.2f}."


def _difference(policy: Policy, request: MatchRequest) -> str:
    limits = format_difference(policy.min_rating_difference, policy.max_rating_difference)
    own, theirs = request.own_rating or 0, request.rating or 0
    return f"I only play opponents rated {limits}: I have {own:.2f}, you have {theirs:.2f}."


def _difference_of(request: MatchRequest) -> float | None:
    """Return by how much the other player is rated above us, if that is known."""
    known = request.rating is not None and request.own_rating is not None
    return round((request.rating or 0) - (request.own_rating or 0), 2) if known else None


def _bot_pause(policy: Policy, request: MatchRequest) -> str | None:
    since = request.since_bot
    if since is None or since >= policy.bot_pause or not is_bot(request.name, request.client):
        return None
    wait = format_duration(policy.bot_pause - since)
    return f"I've just played a bot and am free for people now. I can play another bot in {wait}."


def _max_bots_per_day(policy: Policy, request: MatchRequest) -> str | None:
    most, played = policy.max_bots_per_day, request.bots_today
    if most is None or played < most or not is_bot(request.name, request.client):
        return None
    matches = plural(played, "match")
    return f"I've played {matches} with bots in the last 24 hours; the rest of my time is for people."


def _experience(policy: Policy, request: MatchRequest) -> str:
    limits = format_range(policy.min_experience, policy.max_experience)
    return f"I only play opponents with an experience of {limits}; you have {request.experience}."


def _experience_for_length(policy: Policy, request: MatchRequest) -> str | None:
    per_point, experience, length = policy.experience_per_point, request.experience, request.length
    if not per_point or experience is None or experience >= per_point * length:
        return None
    points, least = plural(length, "point"), f"{per_point * length:.10g}"
    sentence = f"For a match of {points} I ask for an experience of at least {least}; you have {experience}."
    longest = policy.lengths.longest(int(experience / per_point))
    return sentence + (f" I'd play you up to {plural(longest, 'point')}." if longest else "")


# -- earlier matches -----------------------------------------------------------------------------------------------


def _saved_games(policy: Policy, request: MatchRequest) -> str | None:
    most, saved = policy.max_saved_games, request.saved_games
    if most is None or saved is None or saved <= most:
        return None
    games = plural(saved, "saved game")
    return f"You have {games}, and I only play opponents with at most {most}. Please finish some first."


def _cool_down(policy: Policy, request: MatchRequest) -> str | None:
    if request.since_last is None or request.since_last >= policy.cool_down:
        return None
    return f"We've just played. I can play you again in {format_duration(policy.cool_down - request.since_last)}."


def _max_per_day(policy: Policy, request: MatchRequest) -> str | None:
    if policy.max_per_day is None or request.matches_today < policy.max_per_day:
        return None
    played = plural(request.matches_today, "match")
    return f"We've played {played} in the last 24 hours, and that's my limit per opponent. Please come back later."


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
    "laws": _laws,
    "game": _game,
    "rating_low": lambda policy, invitation: (
        _rating(policy, invitation) if _less(invitation.rating, policy.min_rating) else None
    ),
    "rating_high": lambda policy, invitation: (
        _rating(policy, invitation) if _less(policy.max_rating, invitation.rating) else None
    ),
    "rating_below": lambda policy, invitation: (
        _difference(policy, invitation) if _less(_difference_of(invitation), policy.min_rating_difference) else None
    ),
    "rating_above": lambda policy, invitation: (
        _difference(policy, invitation) if _less(policy.max_rating_difference, _difference_of(invitation)) else None
    ),
    "experience_low": lambda policy, invitation: (
        _experience(policy, invitation) if _less(invitation.experience, policy.min_experience) else None
    ),
    "experience_high": lambda policy, invitation: (
        _experience(policy, invitation) if _less(policy.max_experience, invitation.experience) else None
    ),
    "experience_for_length": _experience_for_length,
    "saved_games": _saved_games,
    "bot_pause": _bot_pause,
    "max_bots_per_day": _max_bots_per_day,
    "cool_down": _cool_down,
    "max_per_day": _max_per_day,
}
"""Each rule by its code, the most important first. Codes are stable: logs and programs use them."""

RULES_FOR_SAVED_MATCHES: Final = frozenset({"finishing", "blocked", "not_allowed"})
"""Codes of the rules that apply to saved matches, too."""
