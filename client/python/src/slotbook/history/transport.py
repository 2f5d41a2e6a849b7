"""HTTP by the standard library, in threads: one request, its answer whole or in pieces."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

#: Silence after which an attempt fails, seconds.
TIMEOUT_S = 60.0
PIECE_BYTES = 256 * 1024


@dataclass(frozen=True)
class Request:
    """A request to send."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Body(Protocol):
    """An answer. ``read`` gives the next bytes, none at the end."""

    status: int
    headers: Mapping[str, str]

    async def read(self) -> bytes: ...

    async def close(self) -> None: ...


class _HttpBody:
    def __init__(self, response: Any) -> None:
        self.status: int = response.status
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}
        self._response = response

    async def read(self) -> bytes:
        piece: bytes = await asyncio.to_thread(self._response.read1, PIECE_BYTES)
        # A body that is cut off must not look whole.
        if not piece and self._response.length:
            raise http.client.IncompleteRead(b"", self._response.length)
        return piece

    async def close(self) -> None:
        await asyncio.to_thread(self._response.close)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer that is no success: headers with signatures go nowhere else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


async def send(request: Request, timeout_s: float = TIMEOUT_S) -> Body:
    """Sends a request. Raises OSError or http.client.HTTPException when no answer arrives."""
    return await asyncio.to_thread(_open, request, timeout_s)


def _open(request: Request, timeout_s: float) -> Body:
    outgoing = urllib.request.Request(
        request.url, data=request.body, headers=dict(request.headers), method=request.method
    )
    try:
        return _HttpBody(_OPENER.open(outgoing, timeout=timeout_s))
    except urllib.error.HTTPError as answer:
        return _HttpBody(answer)


async def read_all(body: Body) -> bytes:
    """The rest of an answer."""
    try:
        return b"".join([piece async for piece in pieces(body)])
    finally:
        await body.close()


async def pieces(body: Body) -> AsyncIterator[bytes]:
    """The rest of an answer as it arrives."""
    while piece := await body.read():
        yield piece
