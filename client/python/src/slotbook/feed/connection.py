"""One WebSocket that stays up: reconnects after every loss, with back-off and jitter, and after silence."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import websockets

logger = logging.getLogger("slotbook.feed")

#: First and longest pause before a new attempt to connect, seconds.
RETRY_MIN_S = 0.1
RETRY_MAX_S = 5.0
DOUBLINGS_MAX = 16
#: A connection of this age serves, seconds. A server that rejects requests, or finds a client too slow, closes sooner.
STEADY_S = 5.0
#: Close code of a server that does not know a requested channel: it will not know it soon.
UNKNOWN_CHANNEL = 1003
#: Silence after which the client reconnects, seconds. The server sends a heartbeat every 5 s.
SILENCE_S = 15.0
SILENCE_CHECKS = 3
#: Longest frame: snapshots of whole books are long.
FRAME_BYTES_MAX = 256 * 1024 * 1024
#: How long a socket may take to open and to close, seconds.
OPEN_WITHIN_S = 10.0
CLOSE_WITHIN_S = 1.0


class Socket(Protocol):
    """The part of a WebSocket that a feed uses. ``recv`` raises when the connection ends."""

    async def recv(self) -> bytes | str: ...

    async def send(self, text: str) -> None: ...

    async def close(self) -> None: ...


OpenSocket: TypeAlias = Callable[[str], Awaitable[Socket]]


@dataclass(frozen=True)
class ConnectionOptions:
    """How a feed connects. Times in seconds."""

    retry_min_s: float = RETRY_MIN_S
    retry_max_s: float = RETRY_MAX_S
    silence_s: float = SILENCE_S
    #: Opens a socket; default: the package ``websockets``.
    open: OpenSocket | None = None


class ConnectionHandlers(Protocol):
    """Events of the connection."""

    def opened(self, attempt: int) -> None: ...

    def received(self, frame: bytes | str) -> None: ...

    def lost(self, reason: str) -> None: ...


class Connection:
    """Connects at ``connect``, and reconnects after every loss until ``close``."""

    def __init__(self, url: str, options: ConnectionOptions, handlers: ConnectionHandlers) -> None:
        self._url = url
        self._options = options
        self._handlers = handlers
        self._task: asyncio.Task[None] | None = None
        self._session: _Session | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def connect(self) -> None:
        if self._task is None and not self._is_closed:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Closes the connection for good."""
        self._is_closed = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        if self._closing:
            await asyncio.wait(self._closing)

    def reconnect(self) -> None:
        """Drops the connection and opens a new one, as after a network failure."""
        if self._session is not None:
            self._session.end("reconnect by the client")

    def send(self, message: dict[str, Any]) -> None:
        """Sends after what was sent before. Without a connection the message is dropped."""
        if self._session is not None:
            self._session.outbox.put_nowait(json.dumps(message))

    async def _run(self) -> None:
        attempt = 0
        while True:
            attempt += 1
            knows_channels = True
            try:
                socket = await (self._options.open or open_websocket)(self._url)
            except Exception as error:
                logger.debug("no connection to %s: %r", self._url, error)
            else:
                session = await self._serve(socket, attempt)
                knows_channels = session.knows_channels
                if session.age_s >= STEADY_S:
                    attempt = 0
            await asyncio.sleep(self._pause_s(attempt if knows_channels else DOUBLINGS_MAX))

    async def _serve(self, socket: Socket, attempt: int) -> _Session:
        """Follows one socket until it is lost."""
        session = self._session = _Session(socket, self._options.silence_s)
        try:
            self._handlers.opened(attempt)
            reason = await session.run(self._handlers.received)
        finally:
            self._session = None
            # A peer that is gone must not delay the next attempt.
            task = asyncio.get_running_loop().create_task(_close(socket))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        self._handlers.lost(reason)
        return session

    def _pause_s(self, attempt: int) -> float:
        """Doubles the pause up to the longest and adds jitter, so that clients do not reconnect all at once."""
        pause_s = self._options.retry_min_s * 2.0 ** min(attempt, DOUBLINGS_MAX)
        return min(self._options.retry_max_s, pause_s) * random.uniform(0.5, 1.0)


class _Session:
    """One socket, from open to lost."""

    def __init__(self, socket: Socket, silence_s: float) -> None:
        self.outbox: asyncio.Queue[str] = asyncio.Queue()
        self.knows_channels = True
        self._socket = socket
        self._silence_s = silence_s
        self._loop = asyncio.get_running_loop()
        self._opened_at = self._received_at = self._loop.time()
        self._ended: asyncio.Future[str] = self._loop.create_future()

    @property
    def age_s(self) -> float:
        return self._loop.time() - self._opened_at

    def end(self, reason: str) -> None:
        if not self._ended.done():
            self._ended.set_result(reason)

    async def run(self, received: Callable[[bytes | str], None]) -> str:
        """Returns the reason of the loss."""
        parts = [self._read(received), self._write(), self._watch()]
        tasks = [self._loop.create_task(part) for part in parts]
        try:
            return await self._ended
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _read(self, received: Callable[[bytes | str], None]) -> None:
        try:
            while not self._ended.done():
                frame = await self._socket.recv()
                self._received_at = self._loop.time()
                if not self._ended.done():
                    self._hand_over(frame, received)
        except Exception as error:
            self._fail(error)

    def _hand_over(self, frame: bytes | str, received: Callable[[bytes | str], None]) -> None:
        try:
            received(frame)
        except Exception:
            logger.exception("a message could not be handled; the feed goes on")

    async def _write(self) -> None:
        try:
            while True:
                await self._socket.send(await self.outbox.get())
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        close = error.rcvd if isinstance(error, websockets.ConnectionClosed) else None
        if close is not None and close.code == UNKNOWN_CHANNEL:
            self.knows_channels = False
        self.end(str(error) or repr(error))

    async def _watch(self) -> None:
        while self._loop.time() - self._received_at <= self._silence_s:
            await asyncio.sleep(self._silence_s / SILENCE_CHECKS)
        self.end("silence")


async def _close(socket: Socket) -> None:
    try:
        await socket.close()
    except Exception as error:
        logger.debug("while closing: %r", error)


class _WebSocket:
    """A socket of the package ``websockets``."""

    def __init__(self, connection: websockets.ClientConnection) -> None:
        self._connection = connection

    async def recv(self) -> bytes:
        # Text stays in UTF-8, which is what the decoder reads.
        return await self._connection.recv(decode=False)

    async def send(self, text: str) -> None:
        await self._connection.send(text)

    async def close(self) -> None:
        await self._connection.close()


async def open_websocket(url: str) -> Socket:
    """Opens a socket. The feed watches silence itself, so there are no pings."""
    return _WebSocket(
        await websockets.connect(
            url,
            max_size=FRAME_BYTES_MAX,
            compression=None,
            ping_interval=None,
            open_timeout=OPEN_WITHIN_S,
            close_timeout=CLOSE_WITHIN_S,
        )
    )
