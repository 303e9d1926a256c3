"""`--scheduler` and `worker`: what can never work is one line and its exit status, before anything is begun."""

from __future__ import annotations

import asyncio
import sys
from itertools import count, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import click
import pytest
from click.testing import CliRunner, Result

from fibsbot.cli import EXIT_CONFIG, EXIT_FAILED, EXIT_USAGE, main, options
from fibsbot.cli.options import WorkerOptions, worker_options
from fibsbot.workers.worker_launcher import WorkerSettings
from tests.workers.conftest import certificates

CERTIFICATE: Final = """\
-----BEGIN CERTIFICATE-----
MIIBcDCCARWgAwIBAgIUFtqkNWBjm6ke4CBKjs1i5sjuNK4wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBeDAgFw0yNjExMjcwMjU3MjRaGA8yMTI2MTEwMzAyNTcyNFow
DDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM9g1AxoI7s4
hb5GjhVhp4hVdMAfNn8s7c3ogJGkplv06kBcdSskAW8R8WfSYWcj0vwKcJPkJVMH
qyBRtaN/cgmjUzBRMB0GA1UdDgQWBBTVEDtrk+yIov+spZJXyv7gyiLYLjAfBgNV
HSMEGDAWgBTVEDtrk+yIov+spZJXyv7gyiLYLjAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0kAMEYCIQDyxCvVRfZMHrO1D3ybPxvHncAemF/qrk3r5C6pmNP8
5AIhAPpU8cVy1txoW89USeH40mqS2g0pkqk6XNbZz5B5jMKZ
-----END CERTIFICATE-----
"""
"""Of nobody, valid for a hundred years; its key was thrown away."""


@click.command()
@worker_options
def use_workers(workers: WorkerOptions) -> None:
    """Open the workers, as all commands with these options do."""
    with workers.open() as pool:
        click.echo(f"{type(pool).__name__} {pool.size}")


COMMANDS: Final = ((use_workers, "--scheduler"), (main, "worker"))


def refused(command: click.Command, *words: str | Path) -> Result:
    """Run a command that says on stderr, in one line, why it cannot begin."""
    result = CliRunner().invoke(command, [str(word) for word in words])
    assert 1 == len([line for line in result.stderr.splitlines() if line.startswith("Error: ")]), result.output
    return result


@pytest.mark.parametrize(("command", "word"), COMMANDS)
@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("http://127.0.0.1:80", "expected a scheduler such as tls://HOST:8786"),
        ("127.0.0.1", "expected a scheduler such as tls://HOST:8786"),
        ("tcp://192.0.2.1:8786", "expected tls:// or a loopback address"),
        ("tls://127.0.0.1:8786", "needs certificates"),
    ],
)
def test_an_address_that_can_never_be_used_is_a_usage_error(
    command: click.Command, word: str, address: str, error: str
) -> None:
    pytest.importorskip("distributed")
    result = refused(command, word, address)
    assert EXIT_USAGE == result.exit_code
    assert error in result.stderr


@pytest.mark.parametrize(("command", "word"), COMMANDS)
def test_certificates_that_cannot_be_used_are_a_usage_error(command: click.Command, word: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    ca = cert = tmp_path / "cert.pem"
    cert.write_text(CERTIFICATE)
    address = "tls://127.0.0.1:8786"
    result = refused(command, word, address, "--tls-ca-file", ca, "--tls-cert", cert)
    assert EXIT_USAGE == result.exit_code
    assert f"cannot use the certificates for {address}: --tls-key is missing, and {cert} has no key" in result.stderr
    nowhere = tmp_path / "nowhere.pem"
    for files in ((nowhere, cert), (ca, nowhere)):
        result = refused(command, word, address, "--tls-ca-file", files[0], "--tls-cert", files[1])
        assert EXIT_USAGE == result.exit_code
        assert "key" not in result.stderr
    (tmp_path / "key.pem").write_text("no key")
    result = refused(command, word, address, "--tls-ca-file", ca, "--tls-cert", cert, "--tls-key", tmp_path / "key.pem")
    assert EXIT_USAGE == result.exit_code
    assert f"cannot use the certificates for {address}: " in result.stderr


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("--memory-limit", "many", "expected --memory-limit such as 2GB, 0 for none or auto, got 'many'"),
        *(
            ("--memory-limit", limit, f"expected --memory-limit such as 2GB, 0 for none or auto, got {limit!r}")
            for limit in ("-1", "-0.5", "")
        ),
        ("--local-directory", "/proc/x", "cannot write /proc/x: "),
    ],
)
def test_a_worker_that_can_never_start_is_not_tried(
    option: str, value: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    started: list[WorkerSettings] = []
    monkeypatch.setattr("fibsbot.cli.serve.keep_running", lambda settings, _: started.append(settings))
    words = ("worker", "tcp://127.0.0.1:1")
    result = refused(main, *words, option, value)
    assert EXIT_USAGE == result.exit_code
    assert f"Error: {error}" in result.stderr
    for limit in ("auto", "0", "0.5", "2GB"):
        assert not CliRunner().invoke(main, [*words, "--memory-limit", limit]).exit_code
    assert ["auto", "0", "0.5", "2GB"] == [it.memory for it in started]


def test_a_worker_with_tls_looks_for_its_scheduler_with_its_certificates(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    started: list[WorkerSettings] = []
    monkeypatch.setattr("fibsbot.cli.serve.keep_running", lambda settings, _: started.append(settings))
    files = certificates(tmp_path / "certificates")
    assert not CliRunner().invoke(main, ["worker", "tls://127.0.0.1:1", *files]).exit_code
    assert started[0].context
    assert started[0].context.get_ca_certs()


@pytest.mark.parametrize(("command", "word"), COMMANDS)
def test_without_the_extra_the_status_is_that_of_all_extras(
    command: click.Command, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "fibsbot.workers.cluster", raising=False)
    monkeypatch.setitem(sys.modules, "dask", None)
    result = refused(command, word, "tcp://127.0.0.1:8786")
    assert EXIT_CONFIG == result.exit_code
    assert "pip install 'fibsbot[cluster]'" in result.stderr


@pytest.mark.parametrize(
    ("causes", "reason"),
    [
        ((OSError("timed out after 10 s"), TimeoutError(), asyncio.CancelledError()), "no answer within 10 s"),
        ((TimeoutError(),), "no answer within 10 s"),
        ((OSError("timed out"), OSError("in a connector"), ConnectionRefusedError("refused")), "refused"),
        ((OSError("timed out"), OSError("refused"), asyncio.CancelledError()), "refused"),
        ((ValueError("an address of another kind"),), "an address of another kind"),
    ],
)
def test_why_no_scheduler_is_reached_is_said_if_anything_is_known(
    causes: tuple[BaseException, ...], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = pytest.importorskip("fibsbot.workers.cluster")

    def fail(*_: object, **__: object) -> None:
        for error, cause in pairwise(causes):
            error.__cause__ = cause
        raise causes[0]

    monkeypatch.setattr(cluster, "Client", fail)
    result = refused(use_workers, "--scheduler", "localhost:8786")
    assert EXIT_FAILED == result.exit_code
    assert f"Error: cannot reach the scheduler tcp://localhost:8786: {reason}\n" == result.stderr


def test_a_wait_for_workers_is_reported_once_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = pytest.importorskip("fibsbot.workers.cluster")
    clock = count(100.0, 4.0)
    monkeypatch.setattr(cluster, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(cluster.DaskPool, "is_connected", True)
    pool = cluster.DaskPool("tcp://127.0.0.1:1", None, 600.0, 1.0, options._report_wait)
    session = cluster._DaskSession(pool, len, b"")
    said = []
    for _ in range(6):
        session._check_patience()
        said.append(capsys.readouterr().err)
    assert ["", "", "", "waiting for a worker at tcp://127.0.0.1:1\n", "", ""] == said


def test_jobs_beat_the_variable_and_contradict_a_scheduler() -> None:
    variable = {"DASK_SCHEDULER_ADDRESS": "tcp://127.0.0.1:1"}
    result = CliRunner(env=variable).invoke(use_workers, ["-j", "3"])
    assert "LocalPool 3\n" == result.stdout
    result = refused(use_workers, "-j", "3", "--scheduler", "tcp://127.0.0.1:1")
    assert EXIT_USAGE == result.exit_code
    assert "Error: expected --scheduler or --jobs, got both\n" == result.stderr


def test_a_store_without_its_extra_has_the_same_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fibsbot.records.store.database.importlib.util.find_spec", lambda _: None)
    result = refused(main, "db", "check", "--store", "postgresql://db.example/bots")
    assert EXIT_CONFIG == result.exit_code
    assert "pip install 'fibsbot[postgresql]'" in result.stderr
