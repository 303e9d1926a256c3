"""The client of the control socket (the server is `control_server.py`): sends an order and returns the answer."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from fibsbot.bot.orders import Order
from fibsbot.files import read_json

ControlAnswer: TypeAlias = dict[str, Any]


class ControlError(Exception):
    """The socket cannot be used; the text is one line and says why."""


class UnusableSocketError(ControlError):
    """A control socket cannot be made at its path, whatever else runs."""


class InvalidOrderError(ControlError):
    """The process does not know what was asked of it, such as the name of an account."""


def send_order(
    path: Path, order: Order, account: str | None = None, arguments: Sequence[str] = (), *, timeout: float = 10.0
) -> ControlAnswer:
    """Send an order to the process that listens at this path, and return the answer.

    Raises ControlError if no process listens, if no answer comes within `timeout` seconds, and with the text of a
    refusal; InvalidOrderError where the order is the reason for it.
    """
    request: dict[str, Any] = {"order": order.value} | ({"account": account} if account else {})
    if arguments:
        request["arguments"] = list(arguments)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(timeout)
            sock.connect(os.fspath(path))
            sock.sendall(json.dumps(request).encode() + b"\n")
            with sock.makefile("rb") as file:
                answer: object = read_json(file.readline())
    except (FileNotFoundError, ConnectionRefusedError):
        raise ControlError(f"nothing runs at {path}") from None
    except TimeoutError:
        raise ControlError(f"no answer from {path} within {timeout:g} s") from None
    except OSError as error:
        raise ControlError(f"cannot use {path}: {error.strerror or error}") from None
    except ValueError:
        raise ControlError(f"no valid answer from {path}") from None
    if not isinstance(answer, dict):
        raise ControlError(f"no valid answer from {path}")
    if not answer.get("ok"):
        kind = InvalidOrderError if answer.get("invalid") else ControlError
        raise kind(str(answer.get("error", "the order was not carried out")))
    return answer
