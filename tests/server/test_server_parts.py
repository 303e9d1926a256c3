"""Unit tests of the server's parts: ratings, dice, passwords, settings, the database, telnet options."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from fibs_protocol.errors import CommandError
from fibs_protocol.words import Setting, Toggle
from fibsbot.server.accounts import Account, Passwords, RatedPlayer, RatingCalculation, is_reserved, is_valid_name
from fibsbot.server.connection import MAX_ANSWERS, TelnetInput, as_ascii
from fibsbot.server.database import KEPT_DAYS, MAX_PANICS, Database, DatabaseError, SavedMatchRow
from fibsbot.server.dice import DiceTest, SeededDice, SystemDice
from fibsbot.server.user_settings import UserSettings

NOW = 1_795_176_000.0

# -- ratings --------------------------------------------------------------------------------------------------------


def test_the_known_answer_of_the_rating_formula() -> None:
    calculation = RatingCalculation(RatedPlayer("myself", 1655.634835, 2761), RatedPlayer("someplayer", 1500.0, 187), 3)
    assert (155.634835, 0.423029, 0.423029, 2.930831, 9.173502) == tuple(
        round(value, 6)
        for value in (
            calculation.difference,
            calculation.upset,
            calculation.probability,
            calculation.gain,
            calculation.loss,
        )
    )


standings = st.builds(RatedPlayer, st.just("x"), st.floats(0, 4000), st.integers(0, 10_000))


@given(standings, standings, st.integers(1, 999))
def test_the_winner_gains_and_more_if_the_win_was_unlikely(
    winner: RatedPlayer, loser: RatedPlayer, length: int
) -> None:
    calculation = RatingCalculation(winner, loser, length)
    reverse = RatingCalculation(loser, winner, length)
    assert calculation.gain > 0
    assert calculation.loss > 0
    assert math.isclose(calculation.probability + reverse.probability, 1)
    if winner.rating < loser.rating:
        assert calculation.probability >= 0.5
    if winner.factor == loser.factor:
        assert math.isclose(calculation.gain, calculation.loss)


@pytest.mark.parametrize(("experience", "factor"), [(0, 5.0), (100, 4.0), (187, 3.13), (400, 1.0), (5000, 1.0)])
def test_newcomers_ratings_move_up_to_five_times_as_fast(experience: int, factor: float) -> None:
    assert math.isclose(factor, RatedPlayer("x", 1500.0, experience).factor)


# -- dice -----------------------------------------------------------------------------------------------------------


def test_seeded_dice_depend_on_seed_match_and_roll_only() -> None:
    first, second = SeededDice(1), SeededDice(1)
    rolls = [first.dice("a:b:1", roll) for roll in range(50)]
    assert rolls == [second.dice("a:b:1", roll) for roll in reversed(range(50))][::-1]
    assert rolls != [first.dice("a:b:2", roll) for roll in range(50)]
    assert rolls != [SeededDice(2).dice("a:b:1", roll) for roll in range(50)]
    assert {False, True} == {first.coin(f"a:b:{match}") for match in range(20)}


@pytest.mark.parametrize("dice", [SeededDice(3), SystemDice()])
def test_all_36_rolls_are_about_equally_frequent(dice: SeededDice | SystemDice) -> None:
    counts = Counter(dice.dice("a:b:1", roll) for roll in range(7200))
    assert 36 == len(counts)
    assert all(120 < count < 290 for count in counts.values())  # 200 expected, more than five deviations either way
    assert isinstance(dice.coin("a:b:1"), bool)


def test_dicetest_counts_every_roll_and_every_run() -> None:
    statistics = DiceTest()
    for dice in [(1, 1), (1, 2), (2, 6), (6, 6)]:
        statistics.count(dice)
    lines = list(statistics.lines())
    assert "*** Rolled 4 times with 2 dice" == lines[0]
    assert lines[1].startswith("1-1      1  1-2      1  1-3      0")
    runs = {line[0]: line for line in lines if line[1:2] == ":"}
    assert [0, 0, 1] == [int(n) for n in runs["1"].split()[1:4]]
    assert [0, 1, 0] == [int(n) for n in runs["2"].split()[1:4]]
    assert runs["S"].endswith("S:8")


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=40))
def test_dicetest_can_be_shown_at_any_time(rolls: list[tuple[int, int]]) -> None:
    statistics = DiceTest()
    for dice in rolls:
        statistics.count(dice)
    assert f"*** Rolled {len(rolls)} times with 2 dice" == next(iter(statistics.lines()))
    assert all(len(line) < 120 for line in statistics.lines())


# -- accounts -------------------------------------------------------------------------------------------------------


async def test_passwords_are_salted_and_can_be_verified() -> None:
    passwords = Passwords(2**4)
    stored = [await passwords.hash("a secret") for _ in range(2)]
    assert stored[0] != stored[1]
    assert "a secret" not in stored[0]
    assert await passwords.verify("a secret", stored[0])
    assert not await passwords.verify("another", stored[0])
    assert not await passwords.verify("a secret", None)
    passwords.close()


async def test_a_hash_of_another_cost_is_still_valid() -> None:
    cheap, dear = Passwords(2**4), Passwords(2**6)
    assert await dear.verify("a secret", await cheap.hash("a secret"))
    cheap.close()
    dear.close()


def test_a_password_hash_is_in_no_representation() -> None:
    assert "2$salt$key" not in repr(Account("alice", "2$salt$key"))


@pytest.mark.parametrize(
    ("name", "valid"), [("marvin", True), ("a_B", True), ("", False), ("a b", False), ("a1", False), ("x" * 21, False)]
)
def test_names_have_letters_and_underscores_only(name: str, *, valid: bool) -> None:
    assert valid == is_valid_name(name)


@pytest.mark.parametrize("name", ["guest", "You", "YOU", "none"])
def test_some_names_are_reserved(name: str) -> None:
    assert is_reserved(name)


# -- settings -------------------------------------------------------------------------------------------------------


@given(st.sets(st.sampled_from(Toggle)), st.none() | st.integers(0, 99), st.sampled_from(["login", "rrating"]))
def test_settings_survive_json_except_those_that_games_reset(
    on: set[Toggle], redoubles: int | None, order: str
) -> None:
    settings = UserSettings(on=set(on), redoubles=redoubles, sortwho=order)
    again = UserSettings.from_json(settings.to_json())
    settings.begin_game()
    assert settings == again


@given(st.sampled_from(Setting), st.text(max_size=10))
def test_every_value_of_a_setting_is_accepted_or_refused(setting: Setting, value: str) -> None:
    settings = UserSettings()
    before = settings.text(setting)
    try:
        assert settings.change(setting, value) == settings.text(setting)
    except CommandError:
        assert before == settings.text(setting)


# -- the database ---------------------------------------------------------------------------------------------------


def test_accounts_are_read_back_from_a_file(tmp_path: Path) -> None:
    account = Account("alice", "hash", 1512.5, 7, "a@b", 1, 2, "127.0.0.1")
    account.settings[Toggle.REPORT] = True
    store = Database(tmp_path / "x.db", NOW)
    store.save_accounts(account)
    store.close()
    again = Database(tmp_path / "x.db", NOW)
    assert account == again.account("alice")
    assert None is again.account("Alice")
    assert 1 == again.count_users()
    again.close()


def test_only_one_match_of_a_pair_is_kept() -> None:
    store = Database(None, NOW)
    for serial in (1, 2):
        store.save_match(SavedMatchRow(("alice", "bob"), serial, over=False, state=f"{serial}"), NOW)
    assert SavedMatchRow(("alice", "bob"), 2, over=False, state="2") == store.match("bob", "alice")
    assert ["alice"] == [match.opponent("bob") for match in store.matches("bob")]
    assert (1, 0) == (store.count_matches("alice"), store.count_matches("carol"))
    store.close()


def test_finished_matches_are_forgotten_after_some_days(tmp_path: Path) -> None:
    store = Database(tmp_path / "x.db", NOW)
    store.save_match(SavedMatchRow(("a", "b"), 1, over=True, state="{}"), NOW)
    store.save_match(SavedMatchRow(("a", "c"), 1, over=False, state="{}"), NOW)
    store.close()
    later = Database(tmp_path / "x.db", NOW + (KEPT_DAYS + 1) * 86400)
    assert None is later.match("a", "b")
    assert later.match("a", "c")
    later.close()


def test_a_match_and_its_ratings_are_saved_together_or_not_at_all() -> None:
    store = Database(None, NOW)
    store.save_accounts(Account("alice", "hash"))
    winner = Account("alice", "hash", rating=1600.0, experience=5)
    broken = SavedMatchRow(("alice", "bob"), 1, over=True, state=None)  # type: ignore[arg-type] # which the table refuses
    with pytest.raises(sqlite3.IntegrityError):
        store.save_match(broken, NOW, winner)
    unchanged = store.account("alice")
    assert unchanged is not None
    assert 1500.0 == unchanged.rating
    store.save_match(evolve(broken, state="{}"), NOW, winner)
    assert winner == store.account("alice")
    store.close()


def test_panics_are_bounded() -> None:
    store = Database(None, NOW)
    for number in range(MAX_PANICS + 5):
        store.save_panic(str(number), NOW)
    assert (MAX_PANICS,) == store._db.execute("SELECT count(*) FROM panics").fetchone()
    store.close()


@pytest.mark.parametrize(
    ("statement", "reason"),
    [("PRAGMA user_version = 99", "version 99"), ("CREATE TABLE other (x)", "another program")],
)
def test_databases_of_other_programs_and_newer_versions_are_refused(
    tmp_path: Path, statement: str, reason: str
) -> None:
    db = sqlite3.connect(tmp_path / "x.db")
    db.execute(statement)
    db.close()
    with pytest.raises(DatabaseError, match=reason):
        Database(tmp_path / "x.db", NOW)


# -- telnet ---------------------------------------------------------------------------------------------------------


def test_telnet_options_are_refused_and_refusals_are_not_answered() -> None:
    feed = TelnetInput(100)
    feed.feed(b"po\xff\xfd\x03r\xff\xfb\x1ft\xff\xfe\x01\xff\xfc\x05\r\n")
    assert b"\xff\xfc\x03\xff\xfe\x1f" == bytes(feed.answers)
    assert ["port"] == list(feed.lines)


def test_our_own_echo_option_is_not_answered_again() -> None:
    feed = TelnetInput(100)
    feed.feed(b"\xff\xfd\x01")
    assert b"" == bytes(feed.answers)


def test_answers_to_options_are_bounded() -> None:
    feed = TelnetInput(100)
    feed.feed(b"\xff\xfd\x03" * 1000)
    assert 3 * MAX_ANSWERS == len(feed.answers)


def test_subnegotiations_of_any_length_are_ignored() -> None:
    feed = TelnetInput(100)
    feed.feed(b"a\xff\xfa\x18" + b"x" * 10_000 + b"\xff\xff\r\n\xff\xf0b\r\n")
    assert ["ab"] == list(feed.lines)
    assert len(feed._command) <= 2


def test_backspace_corrects_a_line() -> None:
    feed = TelnetInput(100)
    feed.feed(b"\x08rx\x08oll\x7f\x7fll\ta\x1bb\x07\r\n")
    assert ["roll ab"] == list(feed.lines)


def test_bytes_beyond_ascii_become_question_marks() -> None:
    feed = TelnetInput(100)
    feed.feed("gr\u00fc\u00df \xff".encode("latin-1") + b"\xff\r\n")
    assert ["gr?? ?"] == [as_ascii(line) for line in feed.lines]
