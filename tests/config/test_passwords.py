"""A password comes from the place that is named, or from where it is expected; a message never shows any of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import keyring
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from fibsbot.config import ConfigProblemsError
from fibsbot.config.build import FoundPassword, find_password
from fibsbot.config.settings import AccountConfig
from tests.forked import start
from tests.hidden_passwords import forget_passwords

SECRET = "swordfish"
MARVIN = AccountConfig(name="marvin")


class Ring(KeyringBackend):
    """A keyring that knows a few passwords, or is locked."""

    priority = 1
    locked = False
    known: ClassVar[Mapping[tuple[str, str], str]] = {("fibs bots", "marvin"): SECRET, ("bad", "marvin"): "a b"}

    def get_password(self, service: str, username: str) -> str | None:
        """Return a password."""
        if self.locked:
            raise KeyringLocked(f"locked, and {SECRET} is in it")
        return self.known.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Take no password."""
        raise NotImplementedError  # what the base asks for where a keyring is read only


@pytest.fixture
def ring() -> Iterator[Ring]:
    """Have a keyring for the time of a test."""
    before, mine = keyring.get_keyring(), Ring()  # type: ignore[no-untyped-call] # the base has no types
    keyring.set_keyring(mine)
    yield mine
    keyring.set_keyring(before)


def found(account: AccountConfig, environment: Mapping[str, str] | None = None, *, alone: bool = True) -> FoundPassword:
    """Find a password."""
    return find_password(account, alone=alone, environment=environment or {})


def problem(account: AccountConfig, environment: Mapping[str, str] | None = None, *, alone: bool = True) -> str:
    """Return why no password is found."""
    with pytest.raises(ConfigProblemsError) as caught:
        found(account, environment, alone=alone)
    (it,) = caught.value.problems
    assert SECRET not in str(it)
    return str(it)


def credentials(folder: Path, **files: str) -> dict[str, str]:
    """Write credentials as systemd does, and return the environment of the service."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {"CREDENTIALS_DIRECTORY": str(folder)}


@pytest.mark.usefixtures("ring")
def test_each_source_provides_its_password(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(f"{SECRET}\r\nnot this\n")
    environment = credentials(tmp_path / "credentials", bots=f"{SECRET}\n") | {"HERS": SECRET}
    places = {
        "a file": evolve(MARVIN, password_file=file),
        "a systemd credential": evolve(MARVIN, password_credential="bots"),
        "an environment variable": evolve(MARVIN, password_env="HERS"),
        "the keyring": evolve(MARVIN, password_keyring="fibs bots"),
    }
    assert {place: FoundPassword(SECRET, place) for place in places} == {
        place: found(account, environment) for place, account in places.items()
    }


@pytest.mark.usefixtures("ring")
def test_the_first_named_source_is_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in_file")
    environment = credentials(tmp_path / "credentials", bots="in_credential") | {"HERS": "in_variable"}
    account = AccountConfig(
        name="marvin",
        password_file=tmp_path / "file",
        password_credential="bots",
        password_env="HERS",
        password_keyring="fibs bots",
    )
    seen = []
    for name in ("password_file", "password_credential", "password_env", "password_keyring"):
        seen.append(found(account, environment | {"FIBSBOT_PASSWORD": "unnamed"}).text)
        nothing: dict[str, Any] = {name: None}
        account = evolve(account, **nothing)
    assert ["in_file", "in_credential", "in_variable", SECRET] == seen
    assert "unnamed" == found(account, {"FIBSBOT_PASSWORD": "unnamed"}).text


def test_a_named_but_empty_source_has_no_fallback(tmp_path: Path) -> None:
    environment = {"FIBSBOT_PASSWORD": SECRET}
    assert "got No such file or directory" in problem(evolve(MARVIN, password_file=tmp_path / "none"), environment)
    assert "account.password_env: expected the name of a variable that is set, got one that is not" == problem(
        evolve(MARVIN, password_env="HERS"), environment
    )


def test_credentials_take_precedence_over_the_variable(tmp_path: Path) -> None:
    both = credentials(tmp_path / "both", marvin="his", password="any")
    general = credentials(tmp_path / "general", password="any")
    variable = {"FIBSBOT_PASSWORD": "variable"}
    assert ["his", "any", "variable"] == [found(MARVIN, it | variable).text for it in (both, general, {})]


def test_with_several_accounts_each_uses_only_its_own_sources(tmp_path: Path) -> None:
    general = credentials(tmp_path / "general", password="any") | {"FIBSBOT_PASSWORD": SECRET}
    own = credentials(tmp_path / "own", marvin="his")
    assert "his" == found(MARVIN, own, alone=False).text
    places = "password_file, password_credential, password_env, password_keyring"
    assert f"account: expected a password from one of {places}, got none" == problem(MARVIN, general, alone=False)
    assert "or from the variable FIBSBOT_PASSWORD, got none" in problem(MARVIN)


@pytest.mark.parametrize(
    ("content", "got"),
    [("", "nothing"), ("\nswordfish", "nothing"), ("sword fish\n", "something else"), ("swördfish", "something else")],
)
def test_a_password_is_printable_and_has_no_blanks(content: str, got: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text(content, encoding="utf-8")
    expected = (
        "account.password_file: expected a password without blanks, printable ASCII, in the first line of the file"
    )
    assert f"{expected}, got {got}" == problem(evolve(MARVIN, password_file=file))


def test_a_byte_order_mark_is_no_part_of_the_password(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xef\xbb\xbf" + SECRET.encode() + b"\r\n")
    assert SECRET == found(evolve(MARVIN, password_file=file)).text


def test_a_password_file_may_be_any_readable_file(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, SECRET.encode())
    os.close(writing)
    assert SECRET == found(evolve(MARVIN, password_file=Path(f"/dev/fd/{reading}"))).text
    os.close(reading)
    assert "got something else" in problem(evolve(MARVIN, password_file=Path("/dev/zero")))
    assert "got Is a directory" in problem(evolve(MARVIN, password_file=tmp_path))


def test_missing_credentials_are_reported(tmp_path: Path) -> None:
    account = evolve(MARVIN, password_credential="bots")
    assert "got no such variable" in problem(account)
    assert "got No such file or directory" in problem(account, credentials(tmp_path / "empty"))


@pytest.mark.usefixtures("ring")
def test_a_keyring_without_the_password_is_reported() -> None:
    expected = "account.password_keyring: expected a keyring with a password for 'marvin' under this service, got none"
    assert expected == problem(evolve(MARVIN, password_keyring="other"))
    assert "printable ASCII, in the keyring, got something else" in problem(evolve(MARVIN, password_keyring="bad"))


def test_an_error_of_a_keyring_is_reported_without_its_text(ring: Ring) -> None:
    ring.locked = True
    expected = "account.password_keyring: expected a keyring that answers, got KeyringLocked"
    assert expected == problem(evolve(MARVIN, password_keyring="fibs bots"))


def test_a_missing_keyring_package_is_reported_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    said = problem(evolve(MARVIN, password_keyring="fibs bots"))
    assert "account.password_keyring: expected the package keyring (pip install 'fibsbot[keyring]'), got none" in said


@pytest.mark.slow
def test_keyring_is_imported_only_if_it_is_used() -> None:
    """Nor is it by what the process has imported that this one is forked from."""
    imported = (
        start("tests.config.imported_modules", "fibsbot.cli.play_session", "fibsbot.cli.configuration").finish().stdout
    )
    assert "fibsbot.config.build" in imported.splitlines()
    assert "keyring" not in imported.splitlines()


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1))
def test_a_found_password_is_not_in_its_repr(text: str) -> None:
    secret = found(MARVIN, {"FIBSBOT_PASSWORD": text})
    assert text == secret.text
    assert "FoundPassword(source='an environment variable')" == repr(secret)
    forget_passwords()  # to hide all of the examples at once takes a hundred times as long
