"""No password leaves the process: whatever a server or an opponent repeats, no sink has it."""

from __future__ import annotations

import html
import io
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO, cast

import pytest
import structlog
from hypothesis import example, given
from hypothesis import strategies as st

from fibs_protocol import commands as c
from fibs_protocol.messages import Message
from fibs_protocol.stream import MessageReader
from fibsbot.bot.agent import Agent
from fibsbot.bot.driver import Driver
from fibsbot.bot.events_and_actions import Action, Connected, Event, Record, Send
from fibsbot.bot.settings import AgentSettings
from fibsbot.cli import Stream
from fibsbot.client.connection import Connection
from fibsbot.log import LogFormat, LogLevel, configure_log
from fibsbot.records.session_log import utc_now
from fibsbot.records.session_log_writer import SessionLogWriter
from fibsbot.records.store import StoreWriter
from fibsbot.redaction import (
    REDACTED,
    SHORTEST,
    StreamRedactor,
    hide_password,
    password_hidden,
    redact,
    redact_record,
)
from fibsbot.service.control_server import ControlServer
from fibsbot.service.live.feed import AccountFeed, FeedPart
from fibsbot.strategies.pool import StrategyChain
from fibsbot.strategies.questions import LastResort
from tests.examples import examples
from tests.hidden_passwords import forget_passwords
from tests.records.store.recorder import Teller

PASSWORD = "Zq7-un'mis\"tak\\ab<le>&Xw9"
NAMED = "Zq7unmistakable"
"""One that may be a name on a server."""

LINES = (
    "** Unknown command: 'login fibsbot 1008 marvin {}'",
    "** Unknown command: '{}'",
    "{} says: {}",
    "{} kibitzes: I know {}!",
    "ford says: xx{}yy",
    "{} wants to play a 3 point match with you.",
    "** There's no saved match with {}.",
    "5 {} - - 0 0 1500.00 0 0 1700000000 {} {} -",
    "12 ford {}",
    "** {}",
    "** Player {} has joined you for a 3 point match.",
    "{} logs in.",
    "board:You:{}:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:1:3:1:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0",
    "{} rolls 3 and 1.",
    "{}",
)
"""What a hostile server may say; the password stands in the place of the braces."""
SPOKEN: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper": str.upper,
    "lower": str.lower,
    "repr": repr,
    "json": json.dumps,
    "within": "a{}b".format,
}


def leaks(written: str | bytes, password: str) -> list[str]:
    """Return where a password is in what was written, whatever its case and however it is escaped."""
    text = written.decode("latin-1") if isinstance(written, bytes) else written
    flat = text.lower().replace("\\", "")
    return [flat[max(0, at - 40) : at + 60] for at in [flat.find(password.lower().replace("\\", ""))] if at >= 0]


def everything_in(folder: Path) -> bytes:
    """Return what all files of a folder hold."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def show(feed: AccountFeed, message: Message, agent: Agent) -> None:
    """Have the page show a message."""
    feed.on_message(message, agent)


class Wire:
    """A connection on which what is sent is kept."""

    def __init__(self) -> None:
        """Have sent nothing."""
        self.sent = b""

    def write(self, data: bytes) -> None:
        """Send."""
        self.sent += data

    def close(self) -> None:
        """Do nothing."""


class Chatterbox:
    """An agent that also tells everybody what the server said."""

    def __init__(self, agent: Agent) -> None:
        """Be this agent, and more."""
        self.agent = agent

    def handle(self, event: Event) -> list[Action]:
        """Do what the agent does, and repeat the message to people."""
        text = repr(event)
        more: list[Action] = [Send(c.Tell("ford", text)), Send(c.Kibitz(text)), Record("refused", {"text": text})]
        return [*self.agent.handle(event), *more]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder of everything that is written."""
    return tmp_path_factory.mktemp("sinks")


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[StoreWriter]:
    """Open a store in it."""
    with Teller(str(folder / "store.sqlite")) as teller:
        yield teller.writer


@pytest.mark.parametrize("password", [PASSWORD, NAMED])
@examples(20)
@given(
    said=st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(sorted(SPOKEN))), min_size=1, max_size=8),
    size=st.integers(1, 60),
)
@example(said=[(line, "plain") for line in LINES], size=4096)
@example(said=[(line, "within") for line in LINES], size=3)
async def test_a_server_that_repeats_the_password_gets_it_into_nothing(
    folder: Path, store: StoreWriter, password: str, said: list[tuple[str, str]], size: int
) -> None:
    stream = "".join(line.replace("{}", SPOKEN[how](password)) + "\r\n" for line, how in said).encode()
    error = io.StringIO()
    with password_hidden(password, "marvin"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", error)
        configure_log(LogFormat.JSON, LogLevel.DEBUG)
        agent, feed, wire = Agent(AgentSettings("marvin", password)), AccountFeed("marvin"), Wire()
        records: list[Record] = []
        with SessionLogWriter(folder / "marvin.jsonl", user="marvin") as log:
            driver = Driver(Chatterbox(agent), StrategyChain([LastResort()], 1.0), itertools.count().__next__, log)
            driver.on_record = records.append
            driver.on_message = lambda message: show(feed, message, agent)
            driver._connection = cast("Connection", wire)
            driver.dispatch(Connected(0.0))
            reader = MessageReader()
            for start in range(0, len(stream), size):
                driver._receive(reader, stream[start : start + size])
            driver._clear()
        for record in records:
            store.put("marvin", record.name, record.fields, utc_now())
        assert store.flush()
        crash = ValueError(f"crashed on {stream!r}")
        structlog.get_logger().error("crash", exc_info=crash, said=stream, words=[str(stream)], also={"x": (stream,)})
        print(stream.decode(), file=cast("TextIO", Stream(error, ends=False)))
        status = {"sentence": stream.decode(), "agent": agent.status.as_dict()}
        answer = ControlServer(folder / "control", lambda *_: {"status": status}).answer(b'{"order": "status"}')
        pages = json.dumps([*map(feed.part, FeedPart), answer])
        login = f"login {agent.settings.client} 1008 marvin {password}\r\n".encode()
        files = everything_in(folder)
        assert [] == leaks(wire.sent.replace(login, b""), password)
        assert [] == leaks(error.getvalue(), password)
        assert [] == leaks(pages, password)
        assert [] == leaks(files, password)
        assert REDACTED in files.decode("latin-1")


# -- what is hidden and what is not ---------------------------------------------------------------------------------


@examples(15)
@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=SHORTEST), st.data())
def test_a_password_is_hidden_whatever_it_is_made_of_and_however_it_is_written(
    password: str, data: st.DataObject
) -> None:
    write = data.draw(st.sampled_from([*SPOKEN.values(), html.escape, lambda it: json.dumps(repr(it))]))
    with password_hidden(password, "marvin"):
        assert password.lower() not in redact(f"before {write(password)} after").lower().replace(REDACTED, " ")


@examples(15)
@given(st.binary(max_size=60), st.data())
def test_a_stream_is_redacted_in_the_same_way_whatever_its_chunks(other: bytes, data: st.DataObject) -> None:
    between = data.draw(st.sampled_from([b"", b"\x00", b"\x07\x00", b"\xff\xf9", b"\xff\xfd\x01"]))
    spoken = between.join(bytes([code]) for code in NAMED.encode())
    text = other + spoken + b"!" + other
    cuts = sorted(data.draw(st.sets(st.integers(1, len(text) - 1)))) if not between.startswith(b"\xff") else []
    with password_hidden(NAMED):
        stream = StreamRedactor()
        pieces = [stream.take(text[start:end]) for start, end in itertools.pairwise([0, *cuts, len(text)])]
        pieces.append(stream.flush())
    assert (other + REDACTED.encode() + b"!" + other).decode("latin-1") == "".join(pieces)


def test_a_stream_holds_no_more_back_than_its_bound() -> None:
    with password_hidden(NAMED):
        stream = StreamRedactor()
        written = sum(len(stream.take(b"Z" + b"\x00" * 4000)) for _ in range(10))
        assert 40_010 - 4096 <= written + 1


@pytest.mark.parametrize("password", ["a", "5", "off"])
def test_a_short_password_is_hidden_where_a_login_repeats_it_and_nowhere_else(password: str) -> None:
    board = "board:You:ford:5:0:0:a:off 5 a"
    with password_hidden(password, "marvin"):
        assert board == redact(board)
        assert f"'login fibsbot 1008 marvin {REDACTED}'" == redact(f"'login fibsbot 1008 marvin {password}'")
        assert f"marvin {password}rest" == redact(f"marvin {password}rest")


def test_the_name_of_the_account_stays_readable_when_the_password_is_part_of_it() -> None:
    with password_hidden("marvin", "marvin_bot"):
        assert "marvin_bot" == redact("marvin_bot")
        assert f"{REDACTED}x" == redact("marvinx")


def test_what_the_program_chooses_itself_is_no_password() -> None:
    with password_hidden("double", "marvin"):
        record = {"command": "double", "phase": "double", "text": "You double", "cube": 2}
        assert {**record, "text": f"You {REDACTED}"} == redact_record(record)


def test_nothing_is_changed_that_has_no_password_in_it() -> None:
    values: list[Any] = [{"a": [1, (2.5, None)]}, {"x"}, utc_now(), ValueError("x"), b"bytes"]
    hide_password(NAMED)
    assert all(redact_record(it) == it for it in values)
    forget_passwords()
    assert NAMED == redact(NAMED)
