"""A subscription to numbered fills: listeners are called for each event; iterators get the fills."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from .listeners import Listeners
from .live_book import Refused
from .messages import ErrorMessage
from .numbered_trades import NumberedTrade, TradesChoice, TradesEvent
from .readers import Reader, Readers

#: Fills that one slow reader can have waiting.
WAITING_MAX = 10_000


class NumberedTradesSubscription:
    """Fills of one market, or with ``*`` of every market. Made by ``FeedClient.numbered_trades``.

    ``async for`` gives the fills from now on, each once. A slow reader gets the newest 10,000. It ends
    with ``close``. ``listen`` also tells of losses.
    """

    def __init__(self, choice: TradesChoice, on_close: Callable[[NumberedTradesSubscription], None]) -> None:
        self.choice = choice
        #: Fills that slow readers did not get.
        self.missed = 0
        #: The last answer that rejected the request; None when there was none.
        self.refusal: Refused | None = None
        self._readers: Readers[NumberedTrade] = Readers()
        self._listeners: Listeners[TradesEvent | Refused] = Listeners()
        self._on_close = on_close
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def listen(self, listener: Callable[[TradesEvent | Refused], None]) -> Callable[[], None]:
        """Calls ``listener`` at each event. Returns a function that removes it."""
        return self._listeners.add(listener)

    def close(self) -> None:
        """Ends the subscription, and every iterator of it."""
        if self._is_closed:
            return
        self._is_closed = True
        self._on_close(self)
        self._readers.close()

    def __aiter__(self) -> Reader[NumberedTrade]:
        return self._readers.iterate([])

    def _take(self, event: TradesEvent) -> None:
        """For the client: a fill, or something that happened to the stream."""
        self._listeners.emit(event)
        if isinstance(event, NumberedTrade):
            self._readers.put(event, WAITING_MAX, self._without_oldest)

    def _refuse(self, message: ErrorMessage) -> None:
        """For the client: the server rejected the request."""
        self.refusal = Refused(message.error, message.code, message.retry)
        self._listeners.emit(self.refusal)

    def _without_oldest(self, waiting: deque[NumberedTrade]) -> deque[NumberedTrade]:
        waiting.popleft()
        self.missed += 1
        return waiting
