"""How often and after which pauses a request is sent again."""

from __future__ import annotations

import asyncio
import http.client
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from .transport import Body, read_all

#: The request itself is wrong: the same one fails again.
FINAL = frozenset({400, 401, 403, 404, 405, 410, 413, 414, 415, 422, 431})
BODY_CHARACTERS = 200


@dataclass(frozen=True)
class RetryOptions:
    """Attempts in all, and the first and the longest pause between them, seconds."""

    attempts: int = 5
    min_s: float = 0.25
    max_s: float = 10.0


class HistoryRequestError(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, url: str, body: str) -> None:
        text = f"{url} did not answer" if status == 0 else f"{url} answered {status}: {body[:BODY_CHARACTERS]}"
        super().__init__(text)
        #: HTTP status; 0 when no answer arrived.
        self.status = status
        #: Body of the answer.
        self.body = body


async def send_patiently(send: Callable[[], Awaitable[Body]], url: str, retry: RetryOptions) -> Body:
    """Sends a request until it succeeds.

    Backs off after every other answer: twice as long each time, at least as long as the server asks,
    with jitter. Raises HistoryRequestError after the last attempt, or at once when a repeat cannot help.
    """
    attempt = 0
    while True:
        attempt += 1
        asked_s = 0.0
        try:
            body = await send()
            if 200 <= body.status < 300:
                return body
            asked_s = _seconds(body.headers.get("retry-after"))
            error = HistoryRequestError(body.status, url, (await read_all(body)).decode(errors="replace"))
        except (OSError, http.client.HTTPException) as cause:
            error = HistoryRequestError(0, url, "")
            error.__cause__ = cause
        if attempt >= retry.attempts or error.status in FINAL:
            raise error
        pause_s = min(retry.max_s, retry.min_s * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)
        await asyncio.sleep(max(pause_s, min(retry.max_s, asked_s)))


def _seconds(text: str | None) -> float:
    return float(text) if text is not None and text.isdecimal() else 0.0
