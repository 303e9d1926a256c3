"""Records become matches, games, decisions and facts: also after restarts, twice told, or with parts missing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from fibsbot.records.store import Store
from fibsbot.records.stored_rows import Fact, MatchOutcome, PlayerMemory
from tests.records.store.recorder import NOON, XGID, Teller


def player_memories(
    bot: Teller, account: str, since: dt.datetime, now: dt.datetime | None = None
) -> Mapping[str, PlayerMemory]:
    """Return what an account has to remember of the players whom it has met since then."""
    with Store.open(bot.url) as store:
        return store.player_memories(account, since, now)


def test_a_match_is_stored_with_its_games_and_decisions(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    bot.start(length=3)
    bot.decide(1, "8/5 6/5")
    bot.decide(2, "double", phase="roll", dice=None, equity=None, fallback="heuristic raised ValueError")
    bot.win_game(3, (3, 0))
    bot.end(length=3, score=(3, 0))
    bot.rate(1502.5, 13)
    match = bot.match()
    assert ("marvin", "ford", 3, MatchOutcome.WON, (3, 0)) == (
        match.account,
        match.opponent,
        match.length,
        match.outcome,
        match.score,
    )
    assert (1500.0, 10, 1502.5, 13, 2.5) == (
        match.rating_before,
        match.experience_before,
        match.rating_after,
        match.experience_after,
        match.gain,
    )
    assert (False, 0, None) == (match.inferred, match.resumed, match.why)
    assert [NOON + dt.timedelta(seconds=3), NOON + dt.timedelta(seconds=8)] == [match.started, match.ended]
    (game,) = bot.games()
    assert (1, True, 3, "game_won", 1, False) == (
        game.number,
        game.won,
        game.points,
        game.how,
        game.cube,
        game.inferred,
    )
    first, second = bot.decisions()
    assert ("move", 1, XGID, (3, 1), "8/5 6/5", 0.125, 0.5, None) == (
        first.phase,
        first.turn,
        first.xgid,
        first.dice,
        first.answer,
        first.equity,
        first.seconds,
        first.fallback,
    )
    assert ("double", None, "heuristic raised ValueError") == (second.answer, second.dice, second.fallback)


def test_times_are_stored_in_utc(bot: Teller) -> None:
    bot.now = dt.datetime(2026, 7, 1, 1, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    bot.start()
    started = bot.match().started
    assert dt.datetime(2026, 6, 30, 23, 30, 1, tzinfo=dt.UTC) == started
    assert dt.UTC == started.tzinfo


# -- restarts ---------------------------------------------------------------------------------------------------


def test_a_match_continues_after_a_restart_of_the_process(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    bot.start()
    bot.win_game(2, (2, 0))
    bot.tell("game_started", opponent="ford", game=2)
    bot.decide(1)
    bot.restart(after=600)
    bot.log_in(1500.0, 10)
    assert (MatchOutcome.SAVED, "not seen") == (bot.match().outcome, bot.match().why)
    bot.resume(score=(2, 0))
    bot.decide(1)
    bot.win_game(4, (6, 0))
    bot.end(score=(6, 0))
    match = bot.match()
    assert (MatchOutcome.WON, 1, (6, 0)) == (match.outcome, match.resumed, match.score)
    assert [(1, True, 2), (2, True, 4)] == [(game.number, game.won, game.points) for game in bot.games()]
    assert [0, 1] == [decision.sitting for decision in bot.decisions()]


def test_a_saved_match_is_resumed_while_others_were_played(bot: Teller) -> None:
    bot.log_in(1500.0, 10)
    bot.start("ford", 5)
    bot.save("ford", why="opponent_gone")
    bot.start("arthur", 1)
    bot.win_game(1, (1, 0))
    bot.end("arthur", 1, score=(1, 0))
    bot.rate(1501.0, 11)
    bot.resume("ford")
    bot.win_game(5, (0, 5), opponent="ford")
    bot.end("ford", 5, won=False, score=(0, 5))
    bot.rate(1497.5, 16)
    ford, arthur = bot.matches()
    assert (MatchOutcome.LOST, -3.5, 1) == (ford.outcome, ford.gain, ford.resumed)
    assert (MatchOutcome.WON, 1.0, 0) == (arthur.outcome, arthur.gain, arthur.resumed)


def test_a_match_that_began_before_the_store_is_added_when_resumed(bot: Teller) -> None:
    bot.resume("ford", 7, (3, 2))
    bot.decide(1)
    bot.win_game(4, (7, 2))
    bot.end("ford", 7, score=(7, 2))
    match = bot.match()
    assert (7, MatchOutcome.WON, (7, 2), 1) == (match.length, match.outcome, match.score, match.resumed)
    assert [(1, True, 4)] == [(game.number, game.won, game.points) for game in bot.games()]


def test_a_game_that_ended_unseen_is_inferred_from_the_score(bot: Teller) -> None:
    bot.log_in()
    bot.start(length=5)
    bot.decide(1)
    bot.restart()
    bot.log_in()
    bot.resume(score=(0, 2))
    bot.tell("game_started", opponent="ford", game=1)
    first, second = bot.games()
    assert (False, 2, True, None) == (first.won, first.points, first.inferred, first.how)
    assert (2, None) == (second.number, second.ended)
    assert (0, 2) == bot.match().score


def test_a_missed_end_of_a_game_is_inferred_from_the_end_of_the_match(bot: Teller) -> None:
    bot.start(length=3)
    bot.end(length=3, won=False, score=(0, 3))
    (game,) = bot.games()
    assert (False, 3, True) == (game.won, game.points, game.inferred)


def test_changes_of_another_process_are_taken_into_account(url: str) -> None:
    with Teller(url) as one, Teller(url) as other:
        one.start("ford", 3)
        assert one.writer.flush()
        other.now = one.now
        other.decide(1)
        other.win_game(3, (3, 0))
        assert other.writer.flush()
        one.now = other.now
        one.end("ford", 3, score=(3, 0))
        assert MatchOutcome.WON is one.match().outcome
        assert 1 == len(one.games())


# -- what comes twice -------------------------------------------------------------------------------------------


def test_a_repeated_start_is_one_match(bot: Teller) -> None:
    bot.start()
    bot.save(why="another match began")
    bot.start()
    bot.decide()
    assert (MatchOutcome.PLAYING, None, 0) == (bot.match().outcome, bot.match().why, bot.match().resumed)
    assert 1 == len(bot.games())
    assert 1 == bot.opponent().times(Fact.STARTED)


def test_repeated_ends_of_a_game_and_a_match_count_once(bot: Teller) -> None:
    bot.start(length=1)
    for _ in range(2):
        bot.win_game(1, (1, 0))
    for _ in range(2):
        bot.end(length=1, score=(1, 0))
    assert MatchOutcome.WON is bot.match().outcome
    assert 1 == len(bot.games())
    assert 1 == bot.opponent().times(Fact.FINISHED)


def test_a_rating_belongs_to_the_last_match_that_explains_it(bot: Teller) -> None:
    bot.log_in(1500.0, 3)
    for length, after in ((3, None), (1, (1501.0, 4)), (2, (1502.0, 6))):  # the first one was by laws without a rating
        bot.start(length=length)
        bot.win_game(length, (length, 0))
        bot.end(length=length, score=(length, 0))
        if after:
            bot.rate(*after)
    assert [None, 1501.0, 1502.0] == [it.rating_after for it in sorted(bot.matches(), key=lambda it: it.started)]


def test_a_repeated_rating_is_one_row(bot: Teller) -> None:
    for _ in range(2):
        bot.log_in(1500.0, 10)
        bot.restart()
    bot.rate(1501.0, 11)
    assert [(1500.0, 10), (1501.0, 11)] == [(it.rating, it.experience) for it in bot.ratings()]


def test_two_matches_with_the_same_player_in_a_row_are_two(bot: Teller) -> None:
    for _ in range(2):
        bot.start(length=1)
        bot.win_game(1, (1, 0))
        bot.end(length=1, score=(1, 0))
    assert [MatchOutcome.WON, MatchOutcome.WON] == [match.outcome for match in bot.matches()]


# -- people and connections -------------------------------------------------------------------------------------


def test_events_with_a_player_are_counted(bot: Teller) -> None:
    for _ in range(3):
        bot.tell("invited", by="ford", length=3)
    bot.tell("invitation_refused", by="ford", length=3, reason="Not now, sorry.")
    bot.tell("inviting", name="ford", length=3, why="seek")
    bot.tell("refused_by", name="ford", text="no thanks")
    bot.tell(
        "match_started", opponent="ford", length=3, resumed=False, rating=1712.5, experience=420, client="prefect_1"
    )
    bot.tell("length_swapped", opponent="ford", agreed=1, length=3)
    bot.save("ford", why="opponent_gone", how="timed out")
    bot.resume("ford", 3)
    bot.save("ford", why="opponent_gone", how="left")
    bot.tell("invitation_accepted", by="ford", length=None)
    ford = bot.opponent()
    expected = {
        Fact.INVITED: 3,
        Fact.ACCEPTED: 1,
        Fact.DECLINED: 1,
        Fact.ASKED: 1,
        Fact.REFUSED: 1,
        Fact.STARTED: 1,
        Fact.SWAPPED: 1,
        Fact.DROPPED: 1,
        Fact.LEFT: 1,
        Fact.RESUMED: 1,
    }
    assert expected == {fact: tally.times for fact, tally in ford.facts.items()}
    assert (1712.5, 420, "prefect_1") == (ford.rating, ford.experience, ford.client)
    first = NOON + dt.timedelta(seconds=1)
    assert (first, first + dt.timedelta(seconds=2)) == (ford.facts[Fact.INVITED].first, ford.facts[Fact.INVITED].last)
    assert (first, bot.now) == (ford.first_seen, ford.last_seen)


def test_a_loss_of_our_own_connection_is_not_counted_against_the_opponent(bot: Teller) -> None:
    bot.start()
    bot.save(why="connection lost")
    assert 0 == bot.opponent().times(Fact.DROPPED)


def test_accounts_have_separate_opponents(url: str) -> None:
    with Teller(url) as marvin, Teller(url, "trillian") as trillian:
        marvin.tell("invited", by="ford", length=3)
        trillian.tell("invited", by="Ford", length=3)
        assert 1 == marvin.opponent("ford").times(Fact.INVITED)
        assert 1 == trillian.opponent("Ford").times(Fact.INVITED)


def test_connections_are_stored_with_their_ends(bot: Teller) -> None:
    bot.tell("connection_lost", reason="Connection refused", state="CONNECTING")
    bot.log_in()
    bot.tell("connection_lost", reason="reset", state="LOBBY")
    bot.tell("connection_lost", reason="Connection refused", state="CONNECTING")
    bot.log_in()
    bot.restart()
    bot.log_in()
    assert bot.writer.flush()
    with Store.open(bot.url) as store:
        kept = list(store.connections("marvin"))
    told = [(it.logged_in is not None, it.lost is not None, it.reason) for it in kept]
    assert [
        (False, True, "Connection refused"),
        (True, True, "reset"),
        (False, True, "Connection refused"),
        (True, False, None),
        (True, False, None),
    ] == told


def test_player_memories_are_read_from_the_store(bot: Teller) -> None:
    bot.log_in()
    bot.start("ford", 1)
    bot.end("ford", 1, score=(1, 0))
    bot.tell("refused_by", name="arthur", text="no")
    bot.wait(3600)
    noon = bot.now
    bot.start("ford", 1)
    bot.end("ford", 1, won=False, score=(0, 1))
    bot.start("zaphod", 1)
    bot.save("zaphod", 1)
    ended = [match.ended for match in bot.matches() if match.ended]
    everything = player_memories(bot, "marvin", NOON)
    assert {"ford", "arthur", "zaphod"} == set(everything)
    assert (tuple(ended), None, None, None) == everything["ford"]
    assert ((), NOON + dt.timedelta(seconds=5), None, None) == everything["arthur"]
    (waiting,) = (match for match in bot.matches() if match.opponent == "zaphod")
    assert ((), None, waiting.seen, None) == everything["zaphod"]
    assert everything["zaphod"] == player_memories(bot, "marvin", bot.now)["zaphod"], "however old it is"
    since_noon = player_memories(bot, "marvin", noon)
    assert {"ford", "zaphod"} == set(since_noon)
    assert ((ended[1],), None, None, None) == since_noon["ford"]
    assert {} == player_memories(bot, "trillian", NOON)


def test_what_was_stored_by_a_clock_that_was_ahead_is_not_waited_for(bot: Teller) -> None:
    bot.log_in()
    bot.start("ford", 1)
    bot.end("ford", 1, score=(1, 0))
    bot.wait(3600)
    now = bot.now
    bot.wait(86_400)
    bot.start("ford", 1)
    bot.end("ford", 1, score=(1, 0))
    bot.tell("refused_by", name="arthur", text="no")
    bot.start("zaphod", 1)
    bot.save("zaphod", 1)
    first = min(match.ended for match in bot.matches() if match.ended)
    known = player_memories(bot, "marvin", NOON, now)
    assert {"ford": ((first,), None, None, None), "zaphod": ((), None, now, None)} == known


def test_a_match_that_got_stuck_is_remembered_until_a_new_one_begins(bot: Teller) -> None:
    bot.start("ford")
    bot.tell("match_stuck", opponent="ford", length=5, why="expected a board")
    bot.save("ford")
    bot.resume("ford")
    bot.save("ford")
    bot.matches()
    assert player_memories(bot, "marvin", NOON)["ford"].stuck is not None
    bot.wait(60)
    bot.start("ford")
    bot.matches()
    assert player_memories(bot, "marvin", NOON)["ford"].stuck is None


def test_missing_features_are_stored_per_server_until_they_appear(bot: Teller) -> None:
    for feature, lacking in (("rawwho", True), ("time", True), ("time", False), ("leave", True)):
        bot.tell("server_feature", server="one:4321", feature=feature, lacking=lacking)
    bot.matches()
    with Store.open(bot.url) as store:
        assert {"rawwho", "leave"} == store.missing_features("one:4321", NOON)
        assert frozenset() == store.missing_features("two:4321", NOON)
        assert frozenset() == store.missing_features("one:4321", bot.now + dt.timedelta(days=1))
