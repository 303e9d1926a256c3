"""Hypothesis strategies for policies and match requests."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st

from fibsbot.policy import Direction, Lengths, MatchRequest, NamePattern, Policy

NAMES: Final = st.sampled_from(["ford", "arthur", "trillian", "GammonBot_X", "Computer_player", "zaphod"])
CLIENTS: Final = st.sampled_from([None, "JavaFIBS", "fibsbot_0.2", "=0123456789abcdefghi", "bot_1p_matches_only"])
RATINGS: Final = st.floats(0, 3000)
EXPERIENCES: Final = st.integers(0, 100_000)
PATTERNS: Final = st.sampled_from(["ford", "*", "*o*", "?????", "GammonBot*", "tri*", "nobody"])


def maybe(strategy: st.SearchStrategy[float]) -> st.SearchStrategy[float | None]:
    return st.none() | strategy


def maybe_whole(strategy: st.SearchStrategy[int]) -> st.SearchStrategy[int | None]:
    return st.none() | strategy


@st.composite
def spans(draw: st.DrawFn) -> tuple[int, int]:
    least = draw(st.integers(1, 99))
    return least, draw(st.integers(least, 99))


def lengths() -> st.SearchStrategy[Lengths]:
    several = st.lists(spans(), max_size=3).map(lambda found: tuple(sorted(found)))
    return st.builds(Lengths, several, st.booleans())


def name_rules() -> st.SearchStrategy[tuple[NamePattern, ...]]:
    directions = st.sampled_from([(True, True), (True, False), (False, True)])
    rule = st.builds(
        lambda pattern, about: NamePattern(pattern, from_them=about[0], to_them=about[1]), PATTERNS, directions
    )
    return st.lists(rule, max_size=2).map(tuple)


def policies() -> st.SearchStrategy[Policy]:
    return st.builds(
        Policy,
        accept=st.booleans(),
        lengths=lengths(),
        min_rating=maybe(RATINGS),
        max_rating=maybe(RATINGS),
        min_rating_difference=maybe(st.floats(-5000, 5000)),
        max_rating_difference=maybe(st.floats(-5000, 5000)),
        bot_pause=st.floats(0, 86_400),
        max_bots_per_day=maybe_whole(st.integers(1, 9)),
        min_experience=maybe_whole(EXPERIENCES),
        max_experience=maybe_whole(EXPERIENCES),
        experience_per_point=st.floats(0, 1000),
        block=name_rules(),
        allow=name_rules(),
        bots=st.booleans(),
        people=st.booleans(),
        max_saved_games=maybe_whole(st.integers(0, 20)),
        cool_down=st.floats(0, 200_000),
        max_per_day=maybe_whole(st.integers(1, 9)),
    )


def requests() -> st.SearchStrategy[MatchRequest]:
    return st.builds(
        MatchRequest,
        name=NAMES,
        length=st.integers(0, 99),
        direction=st.sampled_from(Direction),
        rating=maybe(RATINGS),
        experience=maybe_whole(EXPERIENCES),
        client=CLIENTS,
        saved_games=maybe_whole(st.integers(0, 20)),
        own_rating=maybe(RATINGS),
        since_bot=maybe(st.floats(0, 200_000)),
        since_last=maybe(st.floats(0, 200_000)),
        matches_today=st.integers(0, 9),
        bots_today=st.integers(0, 9),
        paused=st.booleans(),
        finishing=st.booleans(),
    )
