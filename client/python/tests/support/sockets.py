"""A client's sockets that tests speak through."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any


class TestSocket:
    """One socket. Messages of the client stand in ``sent``; ``say`` brings it a frame."""

    __test__ = False

    def __init__(self, on_send: Callable[[dict[str, Any]], None] = lambda message: None) -> None:
        self.sent: list[dict[str, Any]] = []
        self.is_closed = False
        self._frames: asyncio.Queue[bytes | str | Exception] = asyncio.Queue()
        self._on_send = on_send

    async def recv(self) -> bytes | str:
        frame = await self._frames.get()
        if isinstance(frame, Exception):
            raise frame
        return frame

    async def send(self, text: str) -> None:
        message = json.loads(text)
        self.sent.append(message)
        if not self.is_closed:
            self._on_send(message)

    async def close(self) -> None:
        self.drop()

    def say(self, message: object) -> None:
        """Brings a frame: a text as it is, anything else as JSON."""
        if not self.is_closed:
            self._frames.put_nowait(message if isinstance(message, (str, bytes)) else json.dumps(message))

    def data(self, channel: str, data: object) -> None:
        """A message of a compatible channel: its data is JSON as text."""
        self.say({"channel": channel, "data": json.dumps(data)})

    def drop(self, error: Exception | None = None) -> None:
        """Ends the connection; the client sees the error."""
        if not self.is_closed:
            self.is_closed = True
            self._frames.put_nowait(error or ConnectionError("the connection is lost"))


class ScriptedSockets:
    """Opens sockets that do what the test says, or refuses to."""

    def __init__(self) -> None:
        self.all: list[TestSocket] = []
        self.opened_at: list[float] = []
        self.is_down = False

    async def open(self, url: str) -> TestSocket:
        self.opened_at.append(asyncio.get_running_loop().time())
        if self.is_down:
            raise OSError("connection refused")
        self.all.append(TestSocket())
        return self.all[-1]

    @property
    def newest(self) -> TestSocket:
        return self.all[-1]


async def settle() -> None:
    """Lets everything happen that can happen without time passing."""
    for _ in range(20):
        await asyncio.sleep(0)
