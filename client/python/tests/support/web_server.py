"""A model server behind a real WebSocket on the loopback address."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from websockets.asyncio.server import ServerConnection, serve

from .model_server import ModelServer
from .sockets import TestSocket


@asynccontextmanager
async def served(server: ModelServer) -> AsyncIterator[str]:
    """The address. A request for the market `NO-PERP` is refused."""

    async def connected(connection: ServerConnection) -> None:
        socket = await server.open("")
        forwarding = asyncio.ensure_future(_pass_on(connection, socket))
        async for text in connection:
            if "NO-PERP" in str(text):
                await connection.send(
                    '{"channel":"book","type":"error","code":"market","error":"no such market","retry":true,"id":2}'
                )
            await socket.send(str(text))
        forwarding.cancel()

    async with serve(connected, "127.0.0.1", 0) as web:
        port = next(iter(web.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/ws"


async def _pass_on(connection: ServerConnection, socket: TestSocket) -> None:
    while True:
        await connection.send(await socket.recv())
