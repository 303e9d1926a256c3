"""Policy: match lengths, name patterns, recognising bots, warnings, the description in English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.policy import (
    Direction,
    Lengths,
    MatchRequest,
    NamePattern,
    Policy,
    describe_policy,
    is_bot,
    reasons_to_refuse,
)
from tests.policy.policy_examples import NAMES, PATTERNS, lengths, policies

# -- lengths --------------------------------------------------------------------------------------------------------


@given(lengths())
def test_lengths_are_parsed_as_they_are_written(some: Lengths) -> None:
    assert some == Lengths.parse(some.to_words())


@given(lengths(), st.integers(0, 99))
def test_the_longest_length_up_to_a_limit_is_one_of_them(some: Lengths, limit: int) -> None:
    played = [length for length in range(1, limit + 1) if length in some]
    assert max(played, default=None) == some.longest(limit)
    assert min((length for length in range(1, 100) if length in some), default=None) == some.shortest


@pytest.mark.parametrize("word", ["0", "5-3", "100", "x", "", "1-", "-3", "unlimited "])
def test_an_invalid_length_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="expected a length such as 5, 1-9 or unlimited, got"):
        Lengths.parse([word])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["1"], "1 point"),
        (["1-9", "11", "unlimited"], "1 to 9 or 11 points or unlimited length"),
        (["unlimited"], "unlimited length"),
        ([], "no length"),
    ],
)
def test_lengths_are_described_in_english(words: list[str], said: str) -> None:
    assert said == str(Lengths.parse(words))


# -- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["ford", "GammonBot*:from", "tri?_*:to", "*"])
def test_a_name_pattern_is_parsed_as_it_is_written(word: str) -> None:
    assert word == str(NamePattern.parse(word))


@pytest.mark.parametrize("word", ["", "ford:", "ford:both", "f[ao]rd", "zaphod7", "a b", "x" * 21])
def test_an_invalid_name_pattern_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"expected a name with [*] and [?] as wildcards"):
        NamePattern.parse(word)


def test_case_matters_as_on_fibs() -> None:
    assert NamePattern("Ford").matches("Ford")
    assert not NamePattern("Ford").matches("ford")


@given(PATTERNS | st.sampled_from(["**", "*???", "???*", "*????", "???"]), NAMES)
def test_a_pattern_that_matches_all_matches_each(pattern: str, name: str) -> None:
    assert NamePattern(pattern).matches(name) or not NamePattern(pattern).matches_all
    assert not NamePattern(pattern).is_name or NamePattern(pattern).matches(name) == (pattern == name)


# -- bots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "client"),
    [
        ("GammonBot", None),
        ("GammonBot_XIV", "-"),
        ("gammonbot", None),
        ("bot_anna", None),
        ("MY_BOT", None),
        ("RepBotNG", None),
        ("Computer_player", None),
        ("wildbg", None),
        ("MonteCarlo", None),
        ("MatchDog", None),
        ("anna", "fibsbot_0.2.0"),
        ("anna", "ParlorBot"),
        ("anna", "Computer_player"),
        ("anna", "bot_1p_matches_only"),
        ("anna", "=Xyz01234567890abcde"),
    ],
)
def test_bots_are_known_by_name_or_client(name: str, client: str | None) -> None:
    assert is_bot(name, client)


@pytest.mark.parametrize(
    ("name", "client"),
    [
        ("ford", None),
        ("Botticelli", "JavaFIBS2001"),
        ("message_in_a_bottle", "3DFiBs"),
        ("abbott", "Jibs_1.2"),
        ("both_of_us", "BackFlip_(Mac)_7.0"),
        ("carlo", ""),
        ("anna", "x=y"),
    ],
)
def test_people_are_not_bots(name: str, client: str | None) -> None:
    assert not is_bot(name, client)


@given(st.text(max_size=30), st.none() | st.text(max_size=30))
def test_every_name_is_a_bot_or_a_person(name: str, client: str | None) -> None:
    assert isinstance(is_bot(name, client), bool)


# -- warnings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "warning"),
    [
        (
            Policy(min_rating=1800, max_rating=1500),
            "min_rating is above max_rating: nobody whose rating is known is played",
        ),
        (
            Policy(min_experience=9, max_experience=8),
            "min_experience is above max_experience: nobody whose experience is known is played",
        ),
        (Policy(bots=False, people=False), "bots and people are both false: every invitation is refused"),
        (Policy(lengths=Lengths(())), "lengths is empty: no match is played"),
        (
            Policy(lengths=Lengths(((5, 9),)), experience_per_point=10, max_experience=49),
            "experience_per_point is above max_experience even for the shortest match: nobody is played",
        ),
        (Policy(block=(NamePattern("*"),)), "block has *: nobody is played"),
        (Policy(block=(NamePattern("???*", to_them=False),)), "block has ???*:from: every invitation is refused"),
        (Policy(block=(NamePattern("*", from_them=False),)), "block has *:to: nobody is invited"),
        (Policy(lengths=Lengths(((1, 5), (5, 9)))), "lengths names some length more than once"),
        (
            Policy(allow=(NamePattern("ford"),), block=(NamePattern("f*"),)),
            "allow has ford, whom block has, too: block counts",
        ),
        (
            Policy(cool_down=43_200, max_per_day=2),
            "max_per_day makes no difference: cool_down lets no more matches happen in 24 hours",
        ),
    ],
)
def test_mistaken_settings_are_warned_about(policy: Policy, warning: str) -> None:
    assert (warning,) == policy.warnings()


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(min_rating=1500, max_rating=1500, min_experience=8, max_experience=8),
        Policy(lengths=Lengths(((1, 9),)), experience_per_point=10, max_experience=10),
        Policy(lengths=Lengths((), unlimited=True), experience_per_point=10, max_experience=5),
        Policy(block=(NamePattern("????*"), NamePattern("?"))),
        Policy(allow=(NamePattern("ford", to_them=False),), block=(NamePattern("ford", from_them=False),)),
        Policy(allow=(NamePattern("*"),)),
        Policy(cool_down=43_199, max_per_day=2),
    ],
)
def test_sensible_settings_cause_no_warning(policy: Policy) -> None:
    assert () == policy.warnings()


@given(policies(), NAMES, st.integers(0, 99), st.floats(0, 3000), st.integers(0, 100_000))
def test_a_policy_with_a_warning_that_nobody_is_played_refuses_everyone(
    policy: Policy, name: str, length: int, rating: float, experience: int
) -> None:
    found = [warning for warning in policy.warnings() if warning.endswith(("is played", "invitation is refused"))]
    request = MatchRequest(name, length, Direction.THEIRS, rating, experience)
    assert not found or reasons_to_refuse(policy, request)


# -- description ----------------------------------------------------------------------------------------------------


@given(policies())
def test_a_policy_is_described_in_one_line(policy: Policy) -> None:
    said = describe_policy(policy)
    assert said.isascii()
    assert said.isprintable()
    assert said.endswith(".")


def test_a_policy_is_described_in_plain_english() -> None:
    assert "I play matches of 1 to 25 points with anybody." == describe_policy(Policy())
    assert "I'm not accepting invitations at the moment." == describe_policy(Policy(accept=False))
    assert "I play matches of 1 to 25 points with people." == describe_policy(Policy(bots=False))
    assert "I play matches of 1 to 25 points with bots rated at most 1800." == describe_policy(
        Policy(people=False, max_rating=1800)
    )
    policy = Policy(
        lengths=Lengths.parse(["1-9", "unlimited"]),
        min_rating=1450,
        min_experience=50,
        experience_per_point=10,
        max_saved_games=8,
        max_per_day=3,
        cool_down=600,
        allow=(NamePattern("ford"),),
    )
    said = (
        "I only play people on my operator's list. "
        "I play matches of 1 to 9 points or unlimited length with players rated at least 1450, with at least 50 "
        "experience, with at least 10 experience per point of the match, with at most 8 saved games. With the "
        "same player: at most 3 matches in 24 hours, a break of 10 minutes after a match."
    )
    assert said == describe_policy(policy)


def test_the_description_of_a_list_speaks_of_those_on_it() -> None:
    listed = "I only play people on my operator's list. I play matches of 1 to 25 points with"
    assert f"{listed} them." == describe_policy(Policy(allow=(NamePattern("ford"),)))
    assert f"{listed} people." == describe_policy(Policy(allow=(NamePattern("ford"),), bots=False))
    outgoing = Policy(allow=(NamePattern("ford", from_them=False),))
    assert "I play matches of 1 to 25 points with anybody." == describe_policy(outgoing)


def test_the_description_names_other_games_and_laws() -> None:
    matches = "I play matches of 1 to 25 points with anybody."
    assert f"{matches} I also play plakoto." == describe_policy(Policy(games=("plakoto",)))
    policy = Policy(games=("plakoto", "tabula:free", "chouette"), laws=("1931 point", "modern reject"), cool_down=60)
    said = (
        f"{matches} With the same player: a break of 1 minute after a match. I also play plakoto, tabula:free and "
        "chouettes. I also play by laws 1931 point or modern reject."
    )
    assert said == describe_policy(policy)
    said = f"{matches} I also play all other games, and chouettes. I also play by any other laws."
    assert said == describe_policy(Policy(games=("any",), laws=("any",)))


def test_the_description_of_a_bot_that_begins_no_match_says_why() -> None:
    assert "I'm about to log out." == describe_policy(Policy(), paused=True, finishing=True)
    paused = "I'm taking a break and not starting new matches. Please try again later."
    assert paused == describe_policy(Policy(accept=False), paused=True)
