"""Requests to the history REST: pages as iterators, CSV as a stream, frames, patience with a busy server."""

from __future__ import annotations

from .operations import HistoryOperations
from .patience import RetryOptions
from .requests import Sender, Sign
from .transport import TIMEOUT_S


class HistoryClient(HistoryOperations):
    """The history service at ``url``, for example ``http://localhost:6971``.

    Each operation of its contract is a method. ``sign`` makes the headers for requests that act for a
    wallet. Raises HistoryRequestError when no attempt succeeds.
    """

    def __init__(
        self,
        url: str,
        *,
        retry: RetryOptions | None = None,
        sign: Sign | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._sender = Sender(url, retry or RetryOptions(), sign, timeout_s)
