"""Several accounts: each has its own settings, and what it does not say holds for all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fibsbot.config import Config, ConfigProblem, ConfigProblemsError, UnknownAccountError
from fibsbot.policy import Lengths
from tests.config.config_text import parse_config

KNOWN = (
    "name, password_file, password_credential, password_env, password_keyring, client,"
    " server, bot, policy, lists, seek, chat, timing, reconnect"
)
TWO = """
[policy]
lengths = ["5"]
min_rating = 1500
bots = false

[[account]]
name = "marvin"
[account.policy]
lengths = ["1-9"]
min_rating = false

[[account]]
name = "ford"
server.port = 4711
"""


def problems(text: str) -> list[str]:
    """Return what is wrong with the text of a file."""
    with pytest.raises(ConfigProblemsError) as caught:
        parse_config(text)
    return [str(it) for it in caught.value.problems]


def test_a_single_table_is_one_account() -> None:
    one = parse_config('[account]\nname = "marvin"\n[account.policy]\nbots = false')
    assert one == parse_config('[[account]]\nname = "marvin"\n[account.policy]\nbots = false')
    assert ["marvin"] == [account.name for account in one.accounts]


def test_an_accounts_own_settings_override_the_general_ones() -> None:
    config = parse_config(TWO)
    marvin, ford = config.policy_of("marvin"), config.policy_of("ford")
    assert (Lengths.parse(["1-9"]), None, False) == (marvin.lengths, marvin.min_rating, marvin.bots)
    assert (Lengths.parse(["5"]), 1500, False) == (ford.lengths, ford.min_rating, ford.bots)
    assert [4321, 4711] == [config.for_account(account).server.port for account in config.accounts]


def test_the_settings_of_one_account_are_a_complete_configuration() -> None:
    config = parse_config(TWO)
    one = config.for_account(config.account_called("marvin"))
    assert one == one.for_account(one.account_called(None))
    assert config.policy_of("marvin") == one.policy_of(None)


def test_the_only_account_needs_no_name() -> None:
    config = parse_config(TWO)
    assert Config().policy_of(None) == parse_config('account.name = "ford"').policy_of(None)
    assert Lengths.parse(["5"]) == config.policy_of(None).lengths, "with several, what holds for all"
    assert "trillian" == parse_config('account.name = "trillian"').account_called(None).name


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (TWO, "zaphod", "expected the name of an account (marvin, ford), got zaphod"),
        (TWO, None, "expected the name of an account (marvin, ford), got none"),
        ("", None, "expected the name of an account (none), got none"),
    ],
)
def test_an_unknown_account_is_reported_in_one_line(text: str, name: str | None, said: str) -> None:
    with pytest.raises(UnknownAccountError) as caught:
        parse_config(text).account_called(name)
    assert said == str(caught.value)


def test_a_problem_names_its_account() -> None:
    assert [
        "account[2].name: expected another name than that of account[1], got 'marvin'",
        "account[3].name: expected a name, because there are several accounts, got none",
        "account[2].client: expected a word without blanks of at most 20 characters, or false, got 3",
        "account[2].seek: expected a table of settings, got 7",
        "account[2].policy.lengths[2]: expected a length such as 5, 1-9 or unlimited, got 'x'",
        f"account[3].log: expected one of {KNOWN}, got an unknown setting",
        "account[3].polcy: expected policy, perhaps, got an unknown setting",
    ] == problems(
        """
        [[account]]
        name = "marvin"
        [[account]]
        name = "marvin"
        client = 3
        seek = 7
        policy.lengths = ["5", "x"]
        [[account]]
        log.level = "debug"
        polcy.bots = true
        """
    )


def test_problems_of_a_single_table_have_no_number() -> None:
    assert ["account.policy.bots: expected true or false, got 1"] == problems("[account]\npolicy.bots = 1")


@pytest.mark.parametrize("value", ["3", "[3]", '["marvin"]', "[{}, 3]"])
def test_an_invalid_account_is_refused(value: str) -> None:
    (problem,) = problems(f"account = {value}")
    assert problem.startswith("account: expected a table of settings, or several, got ")


@given(st.text("abc[]. 12", min_size=1), st.text("abc[]. 12", min_size=1))
def test_paths_are_prefixed_with_outer_paths(inner: str, outer: str) -> None:
    problem = ConfigProblem(inner, "this", "that").prefixed(outer)
    assert problem.path.startswith(outer)
    assert problem.path.endswith(inner)
