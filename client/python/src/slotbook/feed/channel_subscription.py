"""A subscription to a compatible channel: whole grouped books, trades, fee levels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from .messages import MarketType
from .readers import Reader, Readers
from .subscription import Subscription

ChannelName: TypeAlias = Literal["orderbook", "orderbook_indicative", "trades", "priorityfees"]
#: Price levels are merged to multiples of so many ticks.
Grouping: TypeAlias = Literal[1, 10, 100, 500, 1000]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: Trades that one slow reader can have waiting.
WAITING_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Data(Generic[T_co]):
    """A message of the channel."""

    data: T_co
    type: ClassVar[Literal["data"]] = "data"


@dataclass(frozen=True, slots=True)
class ChannelStale:
    """The connection is lost. Data continues after the reconnect; trades between are not sent again."""

    reason: Literal["disconnected"] = "disconnected"
    type: ClassVar[Literal["stale"]] = "stale"


class ChannelSubscription(Subscription[Data[T] | ChannelStale], Generic[T]):
    """Made by ``FeedClient``. ``async for`` gives messages from now on, and ends with ``close``.

    A slow reader gets the newest book or fees, and the newest 10,000 trades.
    """

    def __init__(
        self,
        channel: ChannelName,
        market: str,
        market_type: MarketType,
        grouping: Grouping,
        on_close: Callable[[ChannelSubscription[Any]], None],
    ) -> None:
        super().__init__(on_close)
        self.channel: ChannelName = channel
        #: Symbol in upper case.
        self.market = market.upper()
        self.market_type: MarketType = market_type
        self.grouping: Grouping = grouping
        #: The newest message; None before the first.
        self.latest: T | None = None
        #: Trades that slow readers did not get. Replaced books and fees do not count.
        self.missed = 0
        # Books and fees are whole: only the newest one counts.
        self._waiting_max = WAITING_MAX if channel == "trades" else 1
        self._readers: Readers[T] = Readers()

    def __aiter__(self) -> Reader[T]:
        if self.channel == "trades" or self.latest is None:
            return self._readers.iterate([])
        return self._readers.iterate([self.latest])

    def _take(self, data: T) -> None:
        """For the client: data of this channel. A book of an earlier slot is dropped."""
        if self.channel != "trades" and self.latest is not None and _slot_of(data) < _slot_of(self.latest):
            return
        self.latest = data
        self._listeners.emit(Data(data))
        self._readers.put(data, self._waiting_max, self._without_oldest)

    def _without_oldest(self, waiting: deque[T]) -> deque[T]:
        waiting.popleft()
        if self.channel == "trades":
            self.missed += 1
        return waiting

    def _outdated(self) -> None:
        """For the client: the connection is lost."""
        self._listeners.emit(ChannelStale())

    def _end_iterators(self) -> None:
        self._readers.close()


def _slot_of(data: Any) -> int:
    slot = data.get("slot") if isinstance(data, dict) else None
    return slot if isinstance(slot, int) else 0
