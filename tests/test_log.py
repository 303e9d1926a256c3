"""The program's own log."""

import json

import pytest
import structlog

from fibsbot.log import LogFormat, LogLevel, configure_log


def check(password: str) -> None:
    """Raise with a secret at hand."""
    raise ValueError(f"{len(password)} characters")


def fail(word: str = "horse") -> None:
    """Log an exception from a place where a secret is at hand."""
    password = f"correct {word}"
    try:
        check(password)
    except ValueError:
        structlog.get_logger().exception("it failed")


@pytest.mark.parametrize("form", LogFormat)
def test_a_traceback_shows_no_values_of_variables(form: LogFormat, capsys: pytest.CaptureFixture[str]) -> None:
    configure_log(form)
    fail()
    err = capsys.readouterr().err
    assert "ValueError: 13 characters" in err
    assert "correct horse" not in err


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_log(LogFormat.JSON, LogLevel.DEBUG)
    structlog.get_logger().debug("said", line="a\nb")
    fail()
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert ["said", "it failed"] == [line["event"] for line in lines]


def test_nothing_below_the_level_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    configure_log(level=LogLevel.WARNING)
    structlog.get_logger().info("not worth a line")
    assert not capsys.readouterr().err
