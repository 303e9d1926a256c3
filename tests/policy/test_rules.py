"""The rules of a policy: reasons to refuse a match and their sentences."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.policy import (
    Direction,
    Lengths,
    MatchRequest,
    NamePattern,
    Policy,
    reasons_not_to_resume,
    reasons_to_refuse,
)
from fibsbot.policy.rules import RULES, RULES_FOR_SAVED_MATCHES
from tests.policy.policy_examples import EXPERIENCES, RATINGS, policies, requests

LIMITLESS = Policy(lengths=Lengths(((1, 99),), unlimited=True))
OURS = Direction.OURS


def codes(policy: Policy, request: MatchRequest) -> set[str]:
    return {reason.code for reason in reasons_to_refuse(policy, request)}


def sentence(policy: Policy, request: MatchRequest) -> str:
    """Return the only sentence."""
    (reason,) = reasons_to_refuse(policy, request)
    return reason.sentence


# -- properties of all rules ----------------------------------------------------------------------------------------


@given(requests())
def test_without_limits_everybody_is_played_unless_the_bot_pauses_or_leaves(request: MatchRequest) -> None:
    assert codes(LIMITLESS, request) <= {"paused", "finishing"}


@given(policies(), requests())
def test_reasons_come_once_each_and_in_the_order_of_the_rules(policy: Policy, request: MatchRequest) -> None:
    found = [reason.code for reason in reasons_to_refuse(policy, request)]
    assert [code for code in RULES if code in found] == found


@given(policies(), requests())
def test_every_sentence_fits_into_one_line_of_the_protocol(policy: Policy, request: MatchRequest) -> None:
    for reason in reasons_to_refuse(policy, request):
        assert reason.sentence.isascii()
        assert reason.sentence.isprintable()
        assert 0 < len(reason.sentence) <= 200
        assert reason.sentence.endswith(".")
        assert request.name not in reason.sentence, "a sentence is sent to the player it is about"


@given(policies(), requests())
def test_unknown_facts_are_no_reason_to_refuse(policy: Policy, request: MatchRequest) -> None:
    blank = evolve(request, rating=None, experience=None, saved_games=None, since_last=None, matches_today=0)
    blank = evolve(blank, own_rating=None, since_bot=None, bots_today=0)
    known = {
        "rating_low",
        "rating_high",
        "rating_below",
        "rating_above",
        "bot_pause",
        "max_bots_per_day",
        "experience_low",
        "experience_high",
        "experience_for_length",
    }
    assert codes(policy, request) - known - {"saved_games", "cool_down", "max_per_day"} == codes(policy, blank)


@given(policies(), requests())
def test_a_saved_match_is_refused_for_less_than_a_new_one(policy: Policy, request: MatchRequest) -> None:
    found = {reason.code for reason in reasons_not_to_resume(policy, request)}
    assert codes(policy, request) & RULES_FOR_SAVED_MATCHES == found


@given(policies(), requests(), st.data())
def test_lifting_a_limit_adds_no_reason(policy: Policy, request: MatchRequest, data: st.DataObject) -> None:
    lifted: dict[str, Any] = {
        **dict.fromkeys(("min_rating", "max_rating", "min_experience", "max_experience")),
        **dict.fromkeys(("max_saved_games", "max_per_day", "max_bots_per_day")),
        "experience_per_point": 0.0,
        "cool_down": 0.0,
        "block": (),
        "allow": (),
        "accept": True,
        "bots": True,
        "people": True,
        "lengths": LIMITLESS.lengths,
    }
    name = data.draw(st.sampled_from(sorted(lifted)))
    assert codes(evolve(policy, **{name: lifted[name]}), request) <= codes(policy, request)


@given(policies(), requests())
def test_paused_and_finishing_add_only_their_own_reasons(policy: Policy, request: MatchRequest) -> None:
    quiet = codes(policy, evolve(request, paused=False, finishing=False))
    assert not quiet & {"paused", "finishing"}
    assert quiet | {"paused"} == codes(policy, evolve(request, paused=True, finishing=False))
    assert quiet | {"finishing"} == codes(policy, evolve(request, paused=False, finishing=True))


# -- each rule ------------------------------------------------------------------------------------------------------


def test_a_bot_that_accepts_no_invitations_may_still_invite() -> None:
    policy = Policy(accept=False)
    assert "I'm not accepting invitations at the moment." == sentence(policy, MatchRequest("ford", 5))
    assert () == reasons_to_refuse(policy, MatchRequest("ford", 5, OURS))


@pytest.mark.parametrize("direction", Direction)
def test_lengths_apply_to_invitations_in_both_directions(direction: Direction) -> None:
    policy = Policy(lengths=Lengths.parse(["3", "5-7"]))
    played = {
        length for length in range(1, 100) if not reasons_to_refuse(policy, MatchRequest("ford", length, direction))
    }
    assert {3, 5, 6, 7} == played
    assert "I only play matches of 3 or 5 to 7 points." == sentence(policy, MatchRequest("ford", 9, direction))


def test_an_unlimited_match_does_not_count_as_long() -> None:
    said = "I don't play unlimited matches. I play matches of 1 to 25 points."
    assert said == sentence(Policy(), MatchRequest("ford", 0))
    policy = Policy(lengths=Lengths((), unlimited=True))
    assert () == reasons_to_refuse(policy, MatchRequest("ford", 0))
    assert "I only play matches of unlimited length." == sentence(policy, MatchRequest("ford", 25))


@given(RATINGS, RATINGS, RATINGS)
def test_ratings_include_both_limits(least: float, most: float, rating: float) -> None:
    policy = evolve(LIMITLESS, min_rating=least, max_rating=most)
    found = codes(policy, MatchRequest("ford", 5, rating=rating))
    assert found == {code for code, out in (("rating_low", rating < least), ("rating_high", rating > most)) if out}


@given(EXPERIENCES, EXPERIENCES, EXPERIENCES)
def test_experiences_include_both_limits(least: int, most: int, experience: int) -> None:
    policy = evolve(LIMITLESS, min_experience=least, max_experience=most)
    found = codes(policy, MatchRequest("ford", 5, experience=experience))
    low, high = experience < least, experience > most
    assert found == {code for code, out in (("experience_low", low), ("experience_high", high)) if out}


@pytest.mark.parametrize(
    ("policy", "request_", "said"),
    [
        (
            Policy(max_saved_games=8),
            {"saved_games": 12},
            "You have 12 saved games, and I only play opponents with at most 8. Please finish some first.",
        ),
        (Policy(cool_down=1200), {"since_last": 301.5}, "We've just played. I can play you again in 15 minutes."),
        (
            Policy(max_per_day=3),
            {"matches_today": 3},
            "We've played 3 matches in the last 24 hours, and that's my limit per opponent. Please come back later.",
        ),
    ],
)
def test_the_sentence_names_the_limits(policy: Policy, request_: dict[str, Any], said: str) -> None:
    assert said == sentence(policy, MatchRequest("ford", 5, **request_))


@pytest.mark.parametrize(
    ("policy", "facts", "said"),
    [
        (Policy(min_rating=1450), {"rating": 1423.456}, "rated at least 1450; your rating is 1423.46."),
        (Policy(max_rating=1500), {"rating": 1501}, "rated at most 1500; your rating is 1501.00."),
        (Policy(min_rating=1450, max_rating=1500.5), {"rating": 1501}, "rated 1450 to 1500.5; your rating is 1501.00."),
        (Policy(min_experience=50), {"experience": 3}, "with an experience of at least 50; you have 3."),
        (Policy(max_experience=50), {"experience": 51}, "with an experience of at most 50; you have 51."),
    ],
)
def test_the_sentence_about_strength_names_the_limits(policy: Policy, facts: dict[str, Any], said: str) -> None:
    assert f"I only play opponents {said}" == sentence(policy, MatchRequest("ford", 5, **facts))


@given(st.integers(1, 99), st.integers(0, 2000), st.floats(0.5, 50))
def test_a_longer_match_needs_more_experience(length: int, experience: int, per_point: float) -> None:
    policy = evolve(LIMITLESS, experience_per_point=per_point)
    refused = codes(policy, MatchRequest("ford", length, experience=experience))
    assert refused == ({"experience_for_length"} if experience < per_point * length else set())


def test_the_longest_length_for_the_experience_is_named() -> None:
    policy = Policy(lengths=Lengths.parse(["1-3", "7-25"]), experience_per_point=10)
    said = "For a match of 9 points I ask for an experience of at least 90; you have {}.{}"
    for experience, more in (
        (75, " I'd play you up to 7 points."),
        (69, " I'd play you up to 3 points."),
        (15, " I'd play you up to 1 point."),
        (9, ""),
    ):
        assert said.format(experience, more) == sentence(policy, MatchRequest("ford", 9, experience=experience))


@pytest.mark.parametrize(
    ("rule", "theirs", "ours"), [("ford", True, True), ("ford:from", True, False), ("ford:to", False, True)]
)
def test_lists_of_names_have_a_direction(rule: str, *, theirs: bool, ours: bool) -> None:
    rules = (NamePattern.parse(rule),)
    for direction, listed in ((Direction.THEIRS, theirs), (OURS, ours)):
        ford, zaphod = (MatchRequest(name, 5, direction) for name in ("ford", "zaphod"))
        assert listed == bool(reasons_to_refuse(Policy(block=rules), ford))
        assert () == reasons_to_refuse(Policy(block=rules), zaphod)
        assert () == reasons_to_refuse(Policy(allow=rules), ford)
        assert listed == bool(reasons_to_refuse(Policy(allow=rules), zaphod)), (
            "a list about one direction leaves the other free"
        )


def test_a_player_on_both_lists_is_blocked() -> None:
    both = NamePattern.parse("*o*")
    assert {"blocked"} == codes(Policy(block=(both,), allow=(both,)), MatchRequest("ford", 5))


@pytest.mark.parametrize(("name", "client"), [("GammonBot", None), ("ford", "fibsbot_0.2")])
def test_bots_and_people_are_distinguished_when_they_invite(name: str, client: str | None) -> None:
    bot, person = MatchRequest(name, 5, client=client), MatchRequest("ford", 5, client="JavaFIBS")
    assert ("I only play people, not bots.", ()) == (
        sentence(Policy(bots=False), bot),
        reasons_to_refuse(Policy(bots=False), person),
    )
    assert ("I only play other bots.", ()) == (
        sentence(Policy(people=False), person),
        reasons_to_refuse(Policy(people=False), bot),
    )
    assert () == reasons_to_refuse(Policy(bots=False, people=False), evolve(bot, direction=OURS))


@given(st.floats(0, 200_000), st.floats(0, 200_000))
def test_a_cool_down_ends_exactly_after_its_time(cool_down: float, since: float) -> None:
    found = codes(evolve(LIMITLESS, cool_down=cool_down), MatchRequest("ford", 5, since_last=since))
    assert found == ({"cool_down"} if since < cool_down else set())


@given(st.integers(1, 9), st.integers(0, 9))
def test_matches_are_refused_above_the_daily_limit(most: int, played: int) -> None:
    found = codes(evolve(LIMITLESS, max_per_day=most), MatchRequest("ford", 5, matches_today=played))
    assert found == ({"max_per_day"} if played >= most else set())


@given(st.integers(1, 9), st.integers(0, 9), st.sampled_from(Direction))
def test_bots_are_refused_above_their_limit_for_all_and_people_never(
    most: int, played: int, direction: Direction
) -> None:
    policy = evolve(LIMITLESS, max_bots_per_day=most)
    bot, person = (MatchRequest(name, 5, direction, bots_today=played) for name in ("gnubot", "ford"))
    assert codes(policy, bot) == ({"max_bots_per_day"} if played >= most else set())
    assert codes(policy, person) == set()


@pytest.mark.parametrize(
    ("policy", "warning"),
    [
        (Policy(bots=False, max_bots_per_day=3), "max_bots_per_day only matters for seek.bots, because bots is false"),
        (
            Policy(people=False, bot_pause=60),
            "bot_pause keeps time for people, whose invitations are refused, because people is false",
        ),
        (
            Policy(bot_pause=43_200, max_bots_per_day=2),
            "max_bots_per_day makes no difference: bot_pause lets no more matches happen in 24 hours",
        ),
    ],
)
def test_time_for_people_without_effect_is_a_warning(policy: Policy, warning: str) -> None:
    assert (warning,) == policy.warnings()
    assert () == Policy(bot_pause=900, max_bots_per_day=10).warnings()
