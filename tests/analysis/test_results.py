"""Intervals, expected wins and connections agree with their formulas; luck adjustment is unbiased."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Final, cast

import pytest
from attrs import astuple, evolve
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.analysis.luck import LuckAdjustedResults, luck_adjusted_result, mean_interval
from fibsbot.analysis.match_analysis import AnalysisError
from fibsbot.analysis.model import CubeErrors, MatchAnalysis, PlayerStatistics
from fibsbot.analysis.results import (
    Z_95,
    ConnectionStatistics,
    WinLossRecord,
    account_results,
    chance_before,
    wilson,
)
from fibsbot.fibs_ratings import winning_chance
from fibsbot.records.store.reader import Store
from fibsbot.records.stored_rows import Fact, FactCount, MatchOutcome, StoredConnection, StoredMatch, StoredOpponent
from fibsbot.rules.state import Seat, Stage
from fibsbot.transcript import Transcript
from tests.examples import examples
from tests.formats.simulated_matches import simulate

RATINGS: Final = st.floats(800, 2200)
NOON: Final = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)
MATCH: Final = StoredMatch(
    id=1,
    account="marvin",
    opponent="ford",
    length=4,
    started=NOON,
    seen=NOON,
    ended=NOON,
    outcome=MatchOutcome.WON,
    inferred=False,
    score=(4, 0),
    resumed=0,
    why=None,
    rating_before=1500.0,
    experience_before=1000,
    rating_after=None,
    experience_after=None,
    opponent_rating=None,
)


# -- intervals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wins", "of", "interval"),
    [
        (0, 0, (0.0, 1.0)),
        (0, 10, (0.0, 0.27753279964075056)),
        (10, 10, (0.7224672003592493, 1.0)),
        (7, 10, (0.39677815410092474, 0.8922086968585886)),
        (81, 263, (0.2552670213830516, 0.3662128640160042)),
    ],
)
def test_wilson_interval(wins: int, of: int, interval: tuple[float, float]) -> None:
    """The last two are the textbook's: 81 of 263 gives 0.2553 to 0.3662."""
    assert pytest.approx(interval, abs=1e-4) == wilson(wins, of)


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_the_interval_contains_the_share_and_ends_at_the_score_test(of: int, part: float) -> None:
    wins = round(part * of)
    low, high = wilson(wins, of)
    assert 0 <= low <= wins / of <= high <= 1
    for end in (low, high):
        if 0 < end < 1:
            assert pytest.approx(Z_95, rel=1e-6) == abs(wins / of - end) / math.sqrt(end * (1 - end) / of)


def test_the_mean_of_a_single_value_has_no_interval() -> None:
    assert mean_interval((1.0,)) is None
    mean, low, high = mean_interval((0.0, 1.0, 2.0)) or (0, 0, 0)
    assert pytest.approx((1, Z_95 / math.sqrt(3))) == (mean, high - mean)
    assert pytest.approx(mean - low) == high - mean


# -- expected wins ------------------------------------------------------------------------------------------


def test_the_rating_formula_is_that_of_the_server() -> None:
    """`help formula`: 1 / (10 ^ (D sqrt(n) / 2000) + 1) for the underdog."""
    assert 0.5 == winning_chance(1500, 1500, 7)
    assert pytest.approx(1 / (10 ** (100 * 3 / 2000) + 1)) == winning_chance(1500, 1600, 9)
    assert 1.0 == winning_chance(1e9, 0, 25)
    assert winning_chance(0, 1e9, 25) < 1e-99


@given(
    st.floats(800, 2200),
    st.floats(800, 2200),
    st.integers(1, 64),
    st.integers(0, 1000),
    st.sampled_from((MatchOutcome.WON, MatchOutcome.LOST)),
)
def test_a_rating_change_gives_the_winning_chance(
    own: float, opponent: float, length: int, experience: int, outcome: MatchOutcome
) -> None:
    chance = winning_chance(own, opponent, length)
    factor = max(1.0, 5 - experience / 100)
    gain = 4 * factor * math.sqrt(length) * ((1 - chance) if outcome is MatchOutcome.WON else -chance)
    known = evolve(MATCH, length=length, outcome=outcome, rating_before=own, opponent_rating=opponent)
    by_change = evolve(known, opponent_rating=None, experience_before=experience, rating_after=own + gain)
    assert chance == chance_before(known)
    assert pytest.approx(chance, abs=1e-6) == chance_before(by_change)


@pytest.mark.parametrize(
    "unknown",
    [
        evolve(MATCH, length=0, opponent_rating=1500.0),
        evolve(MATCH, length=None, opponent_rating=1500.0),
        evolve(MATCH, rating_before=None, opponent_rating=1500.0),
        MATCH,
        evolve(MATCH, rating_after=1499.0),
        evolve(MATCH, rating_after=1599.0),
        evolve(MATCH, rating_after=1501.0, experience_before=None),
        evolve(MATCH, rating_after=1501.0, outcome=MatchOutcome.UNSEEN),
    ],
)
def test_unknown_chances_are_none(unknown: StoredMatch) -> None:
    assert chance_before(unknown) is None


def test_only_finished_matches_count() -> None:
    lost = evolve(MATCH, outcome=MatchOutcome.LOST, opponent_rating=1500.0)
    score = WinLossRecord.of(
        [MATCH, lost, evolve(MATCH, outcome=MatchOutcome.SAVED), evolve(MATCH, outcome=MatchOutcome.UNSEEN)]
    )
    assert WinLossRecord(wins=1, losses=1, expected=0.5, rated=1, rated_wins=0) == score
    assert (2, 0.5) == (score.matches, score.share)
    assert WinLossRecord().share is None


def test_the_interval_of_a_record_is_that_of_its_wins() -> None:
    assert wilson(7, 10) == WinLossRecord(wins=7, losses=3).interval
    assert (0.0, 1.0) == WinLossRecord().interval


class MatchStore:
    """A store that only has matches and opponents."""

    def __init__(self, *matches: StoredMatch, opponents: tuple[StoredOpponent, ...] = ()) -> None:
        """Store matches and opponents."""
        self._matches = matches
        self._opponents = opponents

    def matches(self, **_: object) -> tuple[StoredMatch, ...]:
        """Return all matches."""
        return self._matches

    def opponents(self, **_: object) -> tuple[StoredOpponent, ...]:
        """Return all opponents."""
        return self._opponents

    def __getattr__(self, _: str) -> Callable[..., tuple[()]]:
        """Return nothing of any other kind."""
        return lambda *_, **__: ()


def test_a_match_counts_in_the_month_of_its_end() -> None:
    later = MATCH.seen + dt.timedelta(days=31)
    store = MatchStore(evolve(MATCH, seen=later), evolve(MATCH, ended=later), evolve(MATCH, seen=later, ended=None))
    found = account_results(cast("Store", store), "marvin")
    assert [("2026-01", 1), ("2026-02", 2)] == [(month, record.matches) for month, record in found.months]
    assert (NOON, later) == (found.first, found.last)


def test_a_match_is_finished_open_or_of_unknown_result() -> None:
    store = MatchStore(*(evolve(MATCH, outcome=outcome) for outcome in MatchOutcome))
    found = account_results(cast("Store", store), "marvin")
    open_ones = [outcome for outcome in MatchOutcome if outcome.open]
    assert (2, len(open_ones)) == (found.total.matches, found.open)
    assert len(MatchOutcome) == found.total.matches + found.open + found.unknown


def test_opponents_are_listed_who_broke_off_matches_since_then() -> None:
    day = dt.timedelta(days=1)

    def opponent(name: str, **last: dt.datetime) -> StoredOpponent:
        facts = {Fact(fact): FactCount(2, NOON - 9 * day, at) for fact, at in last.items()}
        return StoredOpponent("marvin", name, NOON - 9 * day, NOON, None, None, None, facts)

    store = MatchStore(
        opponents=(
            opponent("before", left=NOON - day, started=NOON + day),
            opponent("faithful", started=NOON, finished=NOON),
            opponent("then", dropped=NOON),
            opponent("twice", left=NOON - day, dropped=NOON + day),
        )
    )
    for since, names in ((NOON, ["twice", "then"]), (None, ["twice", "before", "then"]), (NOON + 2 * day, [])):
        found = account_results(cast("Store", store), "marvin", since=since).broken_matches
        assert names == [breaks.opponent for breaks in found]


def test_connections_are_counted_as_far_as_recorded() -> None:
    hour = dt.timedelta(hours=1)
    online = ConnectionStatistics.of(
        [
            StoredConnection("marvin", None, NOON, "login", "refused"),
            StoredConnection("marvin", NOON, NOON + hour, "game", "reset"),
            StoredConnection("marvin", NOON + 2 * hour, NOON + 5 * hour, "game", "reset"),
            StoredConnection("marvin", NOON + 6 * hour, None, None, None),
        ]
    )
    assert (3, 1, 1) == (online.connections, online.attempts, online.unseen)
    assert (4 * 3600, 3 * 3600, 5 * 3600) == (online.seconds, online.longest, online.between)
    assert {"reset": 2, "refused": 1} == online.reasons
    assert ConnectionStatistics.of([]).between == 0
    set_back = ConnectionStatistics.of([StoredConnection("marvin", NOON, NOON - hour, "game", "reset")])
    assert (0, 0) == (set_back.seconds, set_back.between), "the clock was set during the connection"


# -- luck adjustment ---------------------------------------------------------------------------------------------------


def analysed(transcript: Transcript, luck: tuple[float, float] = (0.3, 0.1)) -> MatchAnalysis:
    """Return an analysis with this luck."""
    a, b = (PlayerStatistics(decisions=2, loss=0.1, luck_in_chances=it) for it in luck)
    return MatchAnalysis(transcript, "luck", (), (a, b))


@pytest.mark.slow
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3]))
@examples(20)
def test_luck_adjusted_results_of_both_players_add_up_to_one(seed: int, length: int) -> None:
    found = analysed(simulate(seed, length))
    a, b = (luck_adjusted_result(found, seat) for seat in Seat)
    assert a is not None
    assert b is not None
    assert pytest.approx(1) == a + b
    won = found.transcript.winner is Seat.A
    assert pytest.approx(won - 0.2) == a


def test_sums_of_a_player_begin_at_zero() -> None:
    nothing = PlayerStatistics()
    assert nothing + PlayerStatistics() == nothing
    assert {0, CubeErrors()} == set(astuple(nothing, recurse=False))
    assert {0} == {value for errors in astuple(CubeErrors(), recurse=False) for value in astuple(errors)}


def test_an_incomplete_match_is_not_adjusted() -> None:
    whole = simulate(0, 3)
    first, *more = whole.games
    last = more.pop()
    assert luck_adjusted_result(analysed(whole), Seat.A) is not None
    late = evolve(first, start=evolve(first.start, stage=Stage.ROLL))
    cut = evolve(last, result=None)
    for games in ((*more, last), (first, last), (first, *more), (first, *more, cut), (late, *more, last)):
        assert luck_adjusted_result(analysed(evolve(whole, games=tuple(games))), Seat.A) is None
    assert luck_adjusted_result(analysed(simulate(7, 0)), Seat.A) is None, "an unlimited match has no end"


def test_luck_adjusted_results_are_summed_up() -> None:
    won = simulate(7, 3)
    found = LuckAdjustedResults.of(
        [analysed(won), AnalysisError("no"), analysed(simulate(7, 0)), analysed(won, (0.0, 0.5))]
    )
    assert (2, 2) == (len(found.actual), found.left_out)
    assert pytest.approx(sum(found.actual) - sum(found.adjusted)) == found.luck == pytest.approx(0.2 - 0.5)
    share = sum(found.actual) / 2
    assert (share, *wilson(round(2 * share), 2)) == found.won
    assert mean_interval(found.adjusted) == found.without_luck
    assert LuckAdjustedResults.of([]).won is LuckAdjustedResults.of([]).without_luck is None
    assert 6 == found.own.decisions, "every analysed match counts for the performance"
