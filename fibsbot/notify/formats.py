"""What each kind of receiver expects: the request for a web address, the standard input of a command."""

from __future__ import annotations

import email.message
import email.utils
import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from attrs import frozen

from fibsbot.notify.notice import Notice
from fibsbot.notify.settings import COMMAND_FORMATS, NotifyEvent, NotifyFormat

DISCORD_LIMIT: Final = 2000
"""Characters of a message at Discord."""
_MARKDOWN: Final = re.compile(r"([\\`*_~|>#\[\]()-])")
_URGENT: Final = frozenset({NotifyEvent.REFUSED, NotifyEvent.REPLACED, NotifyEvent.STORAGE})


@frozen
class WebRequest:
    """A request for a web address."""

    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}
    method: str = "POST"
    suffix: str = ""
    """What follows the address."""


def web_request(notice: Notice, form: NotifyFormat) -> WebRequest:
    """Return the request that notifies a receiver of this kind."""
    return _REQUESTS[form](notice)


def standard_input(notice: Notice, form: NotifyFormat) -> bytes:
    """Return what a command reads. Raises ValueError for a format that is only for addresses."""
    if form not in COMMAND_FORMATS:
        raise ValueError(f"expected a format for commands, got {form.value}")
    return _REQUESTS[form](notice).body


def variables(notice: Notice) -> dict[str, str]:
    """Return the environment variables that a command gets besides its own."""
    return {
        "FIBSBOT_EVENT": notice.event.value,
        "FIBSBOT_ACCOUNT": notice.account or "",
        "FIBSBOT_TITLE": notice.title,
        "FIBSBOT_TEXT": notice.sentences,
        "FIBSBOT_AT": notice.at.isoformat(timespec="seconds"),
        "FIBSBOT_ID": notice.key,
    }


def _json(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _as_json(notice: Notice) -> WebRequest:
    return WebRequest(_json(notice.as_dict()))


def _as_text(notice: Notice) -> WebRequest:
    return WebRequest(f"{notice.title}\n\n{notice.sentences}\n".encode(), "text/plain; charset=utf-8")


def _as_ntfy(notice: Notice) -> WebRequest:
    """https://docs.ntfy.sh/publish/."""
    priority = "5" if notice.event in _URGENT else "4" if notice.is_alarm else "3"
    title = notice.title.encode("ascii", "replace").decode()
    headers = {"Title": title, "Priority": priority, "Tags": notice.event.value}
    return WebRequest(notice.sentences.encode(), "text/plain; charset=utf-8", headers)


def _as_discord(notice: Notice) -> WebRequest:
    """https://discord.com/developers/docs/resources/webhook#execute-webhook."""
    text = _MARKDOWN.sub(r"\\\1", f"{notice.title}: {notice.sentences}")
    content = text if len(text) <= DISCORD_LIMIT else text[: DISCORD_LIMIT - 3] + "..."
    return WebRequest(_json({"content": content, "allowed_mentions": {"parse": []}}))


def _as_matrix(notice: Notice) -> WebRequest:
    """https://spec.matrix.org/latest/client-server-api/; the server ignores a repetition of the same last part."""
    body = {"msgtype": "m.text", "body": f"{notice.title}: {notice.sentences}"}
    return WebRequest(_json(body), method="PUT", suffix=f"/{notice.key}")


def _as_mail(notice: Notice) -> WebRequest:
    message = email.message.EmailMessage()
    message["Subject"] = " ".join(notice.title.split())
    message["Date"] = email.utils.format_datetime(notice.at)
    message["Message-ID"] = f"<{notice.key}@fibsbot.invalid>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(f"{notice.sentences}\n")
    return WebRequest(bytes(message), "message/rfc822")


_REQUESTS: Final[Mapping[NotifyFormat, Callable[[Notice], WebRequest]]] = {
    NotifyFormat.JSON: _as_json,
    NotifyFormat.TEXT: _as_text,
    NotifyFormat.NTFY: _as_ntfy,
    NotifyFormat.DISCORD: _as_discord,
    NotifyFormat.MATRIX: _as_matrix,
    NotifyFormat.MAIL: _as_mail,
}
