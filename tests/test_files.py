"""What is kept of players is their owner's alone: 0600, whatever the umask."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fibsbot.files import DocumentError, at_home, make_private, private_opener, read_json, read_toml
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.records.store import Store
from fibsbot.records.store.maintenance import backup_store, export_store
from tests.records.log_clock import rotation, wait_until
from tests.records.store.recorder import Teller


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    try:
        yield
    finally:
        os.umask(before)


def open_files(folder: Path) -> dict[str, str]:
    """Return the modes of the files below a folder that others than their owner may open."""
    modes: dict[str, int] = {}
    for path in folder.rglob("*"):
        # What the compressing thread removes between the listing and this look is open to nobody.
        with contextlib.suppress(FileNotFoundError):
            modes[str(path.relative_to(folder))] = stat.S_IMODE(path.stat().st_mode)
    return {name: oct(mode) for name, mode in modes.items() if mode & 0o077}


@pytest.mark.usefixtures("_umask")
def test_a_store_and_all_files_beside_it_are_private(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Teller(str(path)) as bot:
        bot.log_in()
        assert {"store.sqlite", "store.sqlite-wal", "store.sqlite-shm"} <= {it.name for it in tmp_path.iterdir()}
        assert {} == open_files(tmp_path)
    with Store.open(path) as store:
        backup_store(path, tmp_path / "copy.sqlite")
        export_store(store, tmp_path / "rows.jsonl", as_csv=False)
        export_store(store, tmp_path / "rows", as_csv=True)
        assert {} == open_files(tmp_path)


@pytest.mark.usefixtures("_umask")
def test_a_session_log_is_private_before_and_after_it_is_compressed(tmp_path: Path) -> None:
    path = tmp_path / "marvin.jsonl"
    limits = rotation(max_bytes=2**16)
    with SessionLogWriter(path, rotation=limits) as log:
        for _ in range(100):
            log.received(b"x" * 999)
        assert {} == open_files(tmp_path)
    wait_until(lambda: any(it.suffix == ".gz" for it in tmp_path.iterdir()))
    assert {} == open_files(tmp_path)


def test_what_an_earlier_version_left_open_is_withdrawn(tmp_path: Path) -> None:
    store, log = tmp_path / "store.sqlite", tmp_path / "marvin.jsonl"
    with Teller(str(store)):
        for suffix in ("", "-wal", "-shm"):
            store.with_name(store.name + suffix).chmod(0o644)
        log.touch(0o644)
        with Teller(str(store)), SessionLogWriter(log):
            assert {} == open_files(tmp_path)


def test_a_file_that_is_no_store_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database at all, " * 99)
    path.chmod(0o644)
    with pytest.raises(Exception, match="file is not a database"):
        Teller(str(path)).__enter__()
    assert "0o644" == open_files(tmp_path)["notes.txt"]


def test_reading_changes_no_mode(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.touch(0o644)
    with open(path, opener=private_opener):
        assert {"notes.txt": "0o644"} == open_files(tmp_path)
    make_private(path)
    assert {} == open_files(tmp_path)


@pytest.mark.parametrize("read", [read_toml, read_json])
def test_what_nobody_can_read_is_one_line(read: Callable[[bytes], object]) -> None:
    digits = b"[1" + b"1" * 5000 + b"]"
    for value, why in (
        (digits, "4300 digits"),
        (b"[" * 100_000, "nested too deep"),
        (b"{", "expected|Expecting|Invalid|Unclosed"),
    ):
        data = b"value = " + value if read is read_toml else value
        with pytest.raises(DocumentError, match=why) as error:
            read(data)
        assert "\n" not in str(error.value)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert {"a": 1} == read_toml(b"\xef\xbb\xbfa = 1\r\n") == read_json(b'\xef\xbb\xbf{"a": 1}')


def test_a_home_that_does_not_exist_is_left_as_a_shell_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/marvin")
    assert Path("/home/marvin/list") == at_home("~/list")
    assert Path("~nobody-of-this-name/list") == at_home("~nobody-of-this-name/list")
