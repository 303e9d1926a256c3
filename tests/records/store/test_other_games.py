"""Matches of games other than backgammon in the store."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fibsbot.analysis.results import account_results
from fibsbot.cli import main
from fibsbot.formats.transcript_json import iter_json, write_json
from fibsbot.games import load_ruleset
from fibsbot.records.store import Store, StoreError
from fibsbot.records.store.maintenance import check_integrity
from fibsbot.records.stored_rows import MatchOutcome
from fibsbot.rules.game import start_match_of
from fibsbot.rules.laws import Level
from fibsbot.rules.state import Ending, Result, Seat, Stage
from fibsbot.transcript import Gap, Throw
from tests.records.store.recorder import Teller, add_action

TABLE = "24:15 / 24:14 18"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "store.sqlite")


def begin(bot: Teller, game: str | None = "plakoto", length: int = 3) -> None:
    """Begin a match of a game with ford, and its first game."""
    known = {} if game is None else {"game": game}
    bot.tell("match_started", opponent="ford", length=length, resumed=False, rating=1600.0, experience=50, **known)
    bot.tell("game_started", opponent="ford", game=1)


def win(bot: Teller, points: int, score: tuple[int, int]) -> None:
    """Win a game as other games are won."""
    bot.tell("game_ended", winner="You", points=points, how="game_won_by", cube=1, score=list(score))


def test_a_match_has_the_name_of_its_game_and_backgammon_has_none(url: str) -> None:
    with Teller(url) as bot:
        for game in ("plakoto:exception", None):
            begin(bot, game)
            win(bot, 3, (3, 0))
            bot.end(length=3, score=(3, 0))
        assert ["plakoto:exception", None] == [match.game for match in bot.matches()]
        with Store.open(url) as store:
            for name, wanted in (("backgammon", [None]), ("plakoto:exception", ["plakoto:exception"]), ("tabula", [])):
                assert wanted == [match.game for match in store.matches(game=name)]


def test_a_drawn_game_has_no_winner_and_no_points_and_the_next_one_follows(url: str) -> None:
    with Teller(url) as bot:
        begin(bot, "greek")
        bot.tell("game_drawn", opponent="ford", reason="both last checkers are pinned")
        bot.tell("game_drawn", opponent="ford", reason="both last checkers are pinned")
        bot.tell("game_started", opponent="ford", game=2)
        win(bot, 3, (3, 0))
        bot.end(length=3, score=(3, 0))
        match = bot.match()
        drawn, won = bot.games()
    assert (MatchOutcome.WON, (3, 0)) == (match.outcome, match.score)
    assert (True, None, 0, "game_drawn") == (drawn.drawn, drawn.won, drawn.points, drawn.how)
    assert (False, True, 3) == (won.drawn, won.won, won.points)


def test_a_missed_win_is_not_taken_for_the_end_of_a_drawn_game(url: str) -> None:
    with Teller(url) as bot:
        begin(bot, "greek", 5)
        bot.tell("game_drawn", opponent="ford", reason="")
        bot.tell("match_resumed", opponent="ford", length=5, score=[2, 0], game="greek")
        assert [(None, 0, False), (True, 2, True)] == [(it.won, it.points, it.inferred) for it in bot.games()]


def test_a_decision_has_its_table_and_all_its_dice(url: str) -> None:
    with Teller(url) as bot:
        begin(bot, "tabula")
        bot.tell("decision", phase="move", table=TABLE, rules="tabula", dice=[6, 4, 1], answer="24/18", turn=1, offer=0)
        bot.tell("decision", phase="move", table=TABLE, rules="tabula", dice=[6, 9, "x"], answer="24/18", turn=2)
        bot.match()
        first, second = bot.decisions()
    assert (TABLE, None, (6, 4, 1)) == (first.table_text, first.xgid, first.dice)
    assert second.dice is None


def test_the_actions_that_earlier_versions_stored_are_still_read(url: str) -> None:
    with Teller(url) as bot:
        begin(bot)
        win(bot, 3, (3, 0))
        bot.end(length=3, score=(3, 0))
        match = bot.match()
        add_action(url, number=1, own=True, text="32: 24/19")
        add_action(url, number=2, own=False, text="11: 24/20")
        with Store.open(url) as store:
            actions = [(it.number, it.own, it.text) for it in store.actions(match)]
            assert () == check_integrity(store).problems
            with pytest.raises(StoreError, match=r"nothing is stored of match 1 .* except how its games ended"):
                store.transcript(match)
    assert [(1, True, "32: 24/19"), (2, False, "11: 24/20")] == actions


def test_other_games_do_not_touch_the_rating_of_backgammon(url: str) -> None:
    with Teller(url) as bot:
        bot.log_in(1500.0, 10)
        begin(bot)
        win(bot, 3, (3, 0))
        bot.end(length=3, score=(3, 0))
        bot.rate(1510.0, 13)  # as much experience as the match would have brought
        match = bot.match()
    assert (None, None, None) == (match.rating_before, match.rating_after, match.opponent_rating)
    assert match.gain is None


def test_a_rating_that_changes_while_another_game_is_on_is_not_that_match_s(url: str) -> None:
    with Teller(url) as bot:
        bot.log_in(1500.0, 10)
        begin(bot)
        bot.rate(1510.0, 13)
        assert bot.match().rating_before is None


def test_a_resumed_match_keeps_its_game(url: str) -> None:
    with Teller(url) as bot:
        bot.log_in(1500.0, 10)
        begin(bot)
        bot.restart()
        bot.log_in()
        bot.tell("match_started", opponent="ford", length=None, resumed=True)
        bot.tell("match_resumed", opponent="ford", length=3, score=[0, 0], game="plakoto")
        match = bot.match()
    assert ("plakoto", 1, MatchOutcome.PLAYING, None) == (match.game, match.resumed, match.outcome, match.rating_before)


def test_a_resumed_match_of_another_game_is_another_match(url: str) -> None:
    with Teller(url) as bot:
        begin(bot, None)
        bot.tell("match_started", opponent="ford", length=None, resumed=True)
        bot.tell("match_resumed", opponent="ford", length=3, score=[0, 0], game="plakoto")
        assert [(None, MatchOutcome.UNSEEN), ("plakoto", MatchOutcome.PLAYING)] == [
            (it.game, it.outcome) for it in bot.matches()
        ]


def test_a_game_whose_end_was_not_seen_ends_as_its_row_says(url: str) -> None:
    rules = load_ruleset("tabula")
    with Teller(url) as bot:
        begin(bot, "tabula", 5)
        bot.sheet("s1", state=start_match_of(rules, 5, begins=Seat.A))
        bot.enter("throw", 1, "s1", dice=(6, 4, 1), play=None)
        bot.tell("game_drawn", opponent="ford", reason="")
        bot.tell("game_started", opponent="ford", game=2)
        bot.sheet("s2", state=start_match_of(rules, 5, begins=Seat.B))
        win(bot, 5, (5, 0))
        bot.end(length=5, score=(5, 0))
        match = bot.match()
    with Store.open(url) as store:
        assert () == check_integrity(store).problems
        transcript = store.transcript(match)
    drawn, won = transcript.games
    first, last = drawn.entries
    assert (rules, (6, 4, 1)) == (transcript.rules, first.dice if isinstance(first, Throw) else ())
    assert isinstance(last, Gap)
    assert (True, Stage.OVER, (), None) == (last.then.drawn, last.then.stage, last.then.todo, drawn.result)
    assert Result(Seat.A, 5, Level.SINGLE, Ending.OTHER) == won.result
    (again,) = iter_json(write_json(transcript))
    assert transcript.games == again.games


def test_statistics_count_each_game_and_can_be_limited_to_one(url: str) -> None:
    with Teller(url) as bot:
        bot.log_in(1500.0, 10)
        for game in (None, "plakoto", "plakoto", "greek"):
            begin(bot, game)
            if game == "greek":
                bot.tell("game_drawn", opponent="ford", reason="")
            win(bot, 3, (3, 0))
            bot.end(length=3, score=(3, 0))
        bot.matches()
    with Store.open(url) as store:
        everything, greek = account_results(store, "marvin"), account_results(store, "marvin", game="greek")
    assert [("backgammon", 1), ("greek", 1), ("plakoto", 2)] == [(name, it.matches) for name, it in everything.games]
    assert (1, 1, 1, ()) == (everything.drawn_games, greek.drawn_games, greek.total.matches, greek.ratings)
    shown = CliRunner().invoke(main, ["stats", "--store", url])
    assert "By game" in shown.output
    assert "1 drawn game" in shown.output
    only = CliRunner().invoke(main, ["stats", "--store", url, "--game", "backgammon"])
    assert "1 match from" in only.output
    assert "By game" not in only.output
    unknown = CliRunner().invoke(main, ["stats", "--store", url, "--game", "plakotto"])
    assert (2, 1) == (unknown.exit_code, unknown.output.count("\n"))
    assert "expected a game such as plakoto" in unknown.output


def test_export_names_the_games_that_a_format_cannot_say(url: str) -> None:
    with Teller(url) as bot:
        begin(bot)
        bot.sheet("s1", state=start_match_of(load_ruleset("plakoto"), 3))
        win(bot, 3, (3, 0))
        bot.end(length=3, score=(3, 0))
        begin(bot)
        win(bot, 3, (3, 0))
        bot.end(length=3, score=(3, 0))
        bot.matches()
    done = CliRunner().invoke(main, ["export", "--store", url, "--format", "mat"])
    assert (2, 2) == (done.exit_code, done.stderr.count("\n"))
    assert "left out: 1 match of which the store has results only" in done.stderr
    assert "mat cannot say games of plakoto; json, csv, positions, sheet can" in done.stderr
    said = CliRunner().invoke(main, ["export", "--store", url, "--format", "csv"])
    assert (0, True) == (said.exit_code, said.stdout.endswith(",plakoto\n"))
