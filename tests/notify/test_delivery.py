"""One attempt to deliver ends in time, whatever the receiver does, and its error shows no secret."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import aiohttp
import pytest

from fibsbot.notify.delivery import DeliveryError, deliver
from fibsbot.notify.settings import Hook, NotifyFormat
from fibsbot.redaction import password_hidden
from tests.notify.notices import hook, notice
from tests.notify.receiver import receiving
from tests.patience import SOON
from tests.service.accounts import until


async def attempt(to: Hook) -> str:
    """Deliver a notice; return how it was taken, or why not."""
    async with aiohttp.ClientSession() as session, asyncio.timeout(SOON):
        try:
            return await deliver(notice(), to, session)
        except DeliveryError as error:
            return f"{error}{', for good' if error.is_refusal else ''}"


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        ("good", "status 200"),
        ("endless", "status 200"),
        ("busy", "status 503"),
        ("later", "status 429"),
        ("refuses", "status 400, for good"),
        ("elsewhere", "status 302: the receiver is elsewhere, and a redirection is not followed"),
        ("garbage", "the answer is no HTTP"),
        ("closes", "the connection was closed before the answer"),
        ("silent", "not done within 0.2 s"),
    ],
)
async def test_an_attempt_ends_however_the_receiver_answers(answer: str, how: str) -> None:
    async with receiving(answer) as receiver:
        assert how == await attempt(hook(receiver.url, timeout=0.2 if answer == "silent" else SOON))
        assert 1 == len(receiver.heads)


async def test_a_receiver_that_does_not_listen_is_an_error_without_its_address() -> None:
    async with receiving() as receiver:
        pass
    assert "cannot connect: Connection refused" == await attempt(hook(receiver.url))


async def test_each_format_is_what_its_receiver_expects() -> None:
    async with receiving() as receiver:
        for form in (NotifyFormat.JSON, NotifyFormat.NTFY, NotifyFormat.DISCORD, NotifyFormat.MATRIX):
            assert "status 200" == await attempt(hook(receiver.url, format=form, token="sesame"))
    as_json, ntfy, discord, matrix = receiver.bodies
    found = json.loads(as_json)
    assert ("stuck", "marvin", "Notice 1.", {"number": 1}) == tuple(
        found[name] for name in ("event", "account", "text", "data")
    )
    assert b"Notice 1." == ntfy
    assert {"Title: marvin: a match is stuck", "Priority: 4", "Tags: stuck"} <= set(receiver.heads[1].splitlines())
    assert r"marvin: a match is stuck: Notice 1." == json.loads(discord)["content"]
    assert {"parse": []} == json.loads(discord)["allowed_mentions"]
    assert receiver.heads[3].startswith("PUT /a-very-secret-path/key1 HTTP/1.1\r\n"), "a repetition has the same path"
    assert {"msgtype": "m.text", "body": "marvin: a match is stuck: Notice 1."} == json.loads(matrix)
    assert all("Authorization: Bearer sesame" in head.splitlines() for head in receiver.heads)


# -- commands -------------------------------------------------------------------------------------------------------


def python(code: str, *arguments: str) -> tuple[str, ...]:
    """Return a command that runs this code."""
    return (sys.executable, "-c", code, *arguments)


async def test_a_command_gets_the_notice_on_standard_input_and_in_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import os, sys; open(sys.argv[1], 'w').write(sys.stdin.read() + repr(dict(os.environ)))"
    monkeypatch.setenv("BOTS_PASSWORD", "swordfish")
    with password_hidden("swordfish"):
        assert "status 0" == await attempt(hook(command=python(code, str(tmp_path / "out"))))
    body, _, variables = (tmp_path / "out").read_text().partition("\n")
    assert "Notice 1." == json.loads(body)["text"]
    assert "'FIBSBOT_EVENT': 'stuck'" in variables
    assert "'FIBSBOT_TEXT': 'Notice 1.'" in variables
    assert "swordfish" not in variables


async def test_a_command_for_mail_gets_a_message_without_recipients(tmp_path: Path) -> None:
    code = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    assert "status 0" == await attempt(hook(command=python(code, str(tmp_path / "out")), format=NotifyFormat.MAIL))
    head, _, body = (tmp_path / "out").read_text().partition("\n\n")
    assert "Subject: marvin: a match is stuck" in head.splitlines()
    assert "Auto-Submitted: auto-generated" in head.splitlines()
    assert "To:" not in head
    assert "Notice 1.\n" == body


async def test_a_command_that_fails_says_why() -> None:
    how = await attempt(hook(command=python("import sys; sys.exit('x' * 70_000 + ' no such recipient')")))
    assert how.startswith(f"{sys.executable} ended with status 1: xxx")
    assert how.endswith("xx no such recipient")
    assert len(how) < 500
    assert (await attempt(hook(command=("/no/such/command",)))).startswith("cannot run /no/such/command: No such file")


async def test_a_command_that_hangs_is_killed_with_all_that_it_has_started(tmp_path: Path) -> None:
    code = "echo $$ >> $0; sleep 1000 & echo $! >> $0; wait"
    assert "not done within 0.5 s" == await attempt(
        hook(command=("/bin/sh", "-c", code, str(tmp_path / "out")), timeout=0.5)
    )
    shell, child = map(int, (tmp_path / "out").read_text().split())
    await until(lambda: not any(is_running(number) for number in (shell, child)))


def is_running(number: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_command_whose_child_lives_on_does_not_hold_up_the_notices() -> None:
    code = "sleep 2 & echo $! >&2; exit 3"
    how = await attempt(hook(command=("/bin/sh", "-c", code)))
    assert how.startswith("/bin/sh ended with status 3")
