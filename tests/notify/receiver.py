"""A receiver of notices on this machine that answers as a test says: rightly, wrongly, or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from attrs import define, field

ANSWERS: Final = {
    "good": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "endless": b"HTTP/1.1 200 OK\r\n\r\n",
    "busy": b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "later": b"HTTP/1.1 429 Later\r\nRetry-After: 0.01\r\nContent-Length: 0\r\n\r\n",
    "refuses": b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n",
    "elsewhere": b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
    "garbage": b"220 this is mail, not HTTP\r\n",
    "closes": b"",
    "silent": None,
}
"""What it answers to a request, by name."""


@define
class Receiver:
    """Takes requests and answers them."""

    answer: Callable[[int], str] = lambda _: "good"
    """Returns the name of the answer to the request of this number, from 0."""
    port: int = 0
    heads: list[str] = field(factory=list)
    """The request line and headers of each request."""
    bodies: list[bytes] = field(factory=list)
    gate: asyncio.Event = field(factory=asyncio.Event)
    """Nothing is answered before it is set."""

    @property
    def url(self) -> str:
        """Its address, with something secret in it."""
        return f"http://127.0.0.1:{self.port}/a-very-secret-path"

    def notices(self) -> list[dict[str, Any]]:
        """Return the JSON of each request that was answered well."""
        return [json.loads(body) for number, body in enumerate(self.bodies) if self.answer(number) == "good"]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request after the other."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = next(
                    int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length")
                )
                body = await reader.readexactly(length)
                number = len(self.heads)
                self.heads.append(head)
                self.bodies.append(body)
                await self.gate.wait()
                kind = self.answer(number)
                answer = ANSWERS[kind]
                if answer is None:
                    await asyncio.Event().wait()
                writer.write(answer or b"")
                while kind == "endless":
                    writer.write(b"x" * 65_536)
                    await writer.drain()
                if kind in {"closes", "garbage", "busy"}:
                    break


@contextlib.asynccontextmanager
async def receiving(answer: str | Callable[[int], str] = "good", *, closed: bool = False) -> AsyncIterator[Receiver]:
    """Run a receiver; `closed`: it answers nothing until its gate is opened."""
    receiver = Receiver(answer if callable(answer) else lambda _: answer)
    if not closed:
        receiver.gate.set()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            tasks.add(task)
        try:
            await receiver.serve(reader, writer)
        finally:
            with contextlib.suppress(OSError):
                writer.close()
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
