"""A subscription to numbered fills: listeners are called for each event; iterators get the fills."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from .numbered_trades import NumberedTrade, TradesChoice, TradesEvent
from .readers import Reader, Readers
from .subscription import Subscription

#: Fills that one slow reader can have waiting.
WAITING_MAX = 10_000


class NumberedTradesSubscription(Subscription[TradesEvent]):
    """Fills of one market, or with ``*`` of every market. Made by ``FeedClient.numbered_trades``.

    ``async for`` gives the fills from now on, each once. A slow reader gets the newest 10,000. It ends
    with ``close``. ``listen`` also gets losses, and at ``processed`` withdrawals in their order.
    """

    def __init__(self, choice: TradesChoice, on_close: Callable[[NumberedTradesSubscription], None]) -> None:
        super().__init__(on_close)
        self.choice = choice
        #: Fills that slow readers did not get.
        self.missed = 0
        self._readers: Readers[NumberedTrade] = Readers()

    def __aiter__(self) -> Reader[NumberedTrade]:
        return self._readers.iterate([])

    def _take(self, event: TradesEvent) -> None:
        """For the client: a fill, or something that happened to the stream."""
        self._listeners.emit(event)
        if isinstance(event, NumberedTrade):
            self._readers.put(event, WAITING_MAX, self._without_oldest)

    def _end_iterators(self) -> None:
        self._readers.close()

    def _without_oldest(self, waiting: deque[NumberedTrade]) -> deque[NumberedTrade]:
        waiting.popleft()
        self.missed += 1
        return waiting
