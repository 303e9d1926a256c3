"""A store on either database: SQLite files, and a PostgreSQL server of the tests' own."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
from attrs import frozen

from fibsbot.records.store.database import database_url, open_engine
from fibsbot.records.store.schema import prepare
from tests.patience import SOON
from tests.records.store.recorder import Teller

OF_DEBIAN: Final = {float(path.parts[-3]): path for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")}
"""The servers by version. They are not on the PATH; where only the client is installed, its folder has no initdb."""
INITDB: Final = OF_DEBIAN[max(OF_DEBIAN)] if OF_DEBIAN else shutil.which("initdb")
USER: Final = "postgres"
"""PostgreSQL refuses to run as root; then it runs as this user."""
UNSAFE: Final = "-c fsync=off -c full_page_writes=off -c autovacuum=off -c unix_socket_directories="
"""Quick, and reachable only over TCP on 127.0.0.1. Servers are killed here, but no machine loses its power."""
SHARED: Final = "shared"
"""The database whose tables most tests use, one after the other."""
EMPTY: Final = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend';
DELETE FROM accounts; DELETE FROM writers; DELETE FROM server_features; DELETE FROM sharing_processes;
DELETE FROM practice_cards;
SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'
"""
"""Ends what killed processes may have left, deletes all rows, most of them as those of an account, and lets the IDs
begin with 1: a tenth of the work of making a database and its tables."""


@frozen
class Postgres:
    """A running server."""

    folder: Path
    port: int

    def control(self, *arguments: str) -> None:
        """Run pg_ctl."""
        _run("pg_ctl", "-D", str(self.folder / "data"), "-w", *arguments)

    def start(self) -> None:
        """Start the server."""
        options = f"-h 127.0.0.1 -p {self.port} {UNSAFE}"
        self.control("-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server at once; whoever is connected sees it go."""
        self.control("-m", "immediate", "stop")

    def url(self, database: str) -> str:
        """Return where a database is."""
        return f"postgresql://fibsbot@127.0.0.1:{self.port}/{database}"

    def make(self, database: str) -> str:
        """Make an empty database; return its URL."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database} TEMPLATE template0".encode())
        return self.url(database)

    def empty(self) -> str:
        """Return the URL of the shared database, with the tables of a store and no rows."""
        with psycopg.connect(self.url(SHARED), autocommit=True, options="-c lock_timeout=60s") as connection:
            connection.execute(EMPTY.encode())
        return self.url(SHARED)


def _run(program: str, *arguments: str) -> None:
    as_user = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
    assert INITDB is not None
    command = [*as_user, str(Path(INITDB).with_name(program)), *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=SOON, cwd="/")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run a server in a folder of its own. Pytest's own folders are closed to the user it runs as."""
    if INITDB is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    if os.geteuid() == 0 and shutil.which("runuser") is None:
        pytest.skip("PostgreSQL does not run as root, and there is no runuser")
    folder = Path(tempfile.mkdtemp(prefix="fibsbot-postgres-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        _run("initdb", "-D", str(folder / "data"), "-U", "fibsbot", "-A", "trust", "-E", "UTF8", "-N", "--no-locale")
        server = Postgres(folder, _free_port())
        server.start()
        with open_engine(database_url(server.make(SHARED)), writing=True).connect() as connection:
            prepare(connection)
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder)


_numbers = itertools.count(1)


EITHER: Final = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
"""The parameters of a fixture that is given once for each database."""


def new_store(request: pytest.FixtureRequest, folder: Path) -> str:
    """Say where a store may be made, and nothing is, on the database that a fixture is for."""
    if request.param == "sqlite":
        return str(folder / "store.sqlite")
    server: Postgres = request.getfixturevalue("postgres")
    return server.make(f"store_{next(_numbers)}")


@pytest.fixture(params=EITHER)
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Say where a store without rows is or may be made, on one database after the other."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # with the records that killed processes left
    server: Postgres = request.getfixturevalue("postgres")
    return server.empty()


@pytest.fixture(params=EITHER)
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Say where a store may be made, and nothing is, on one database after the other."""
    return new_store(request, tmp_path)


@pytest.fixture
def bot(url: str) -> Iterator[Teller]:
    """Tell an empty store, as a bot does, what happens."""
    with Teller(url) as teller:
        yield teller
