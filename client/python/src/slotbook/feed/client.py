"""The feed: books, trades and fees over one connection that repairs itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Literal, TypeAlias

from .book_subscription import BookSubscription
from .channel_subscription import ChannelName, ChannelSubscription, Grouping
from .channel_types import FeeLevels, L2Book, Trade
from .channels import Channels
from .choices import BookChoice
from .connection import Connection, ConnectionOptions
from .listeners import Listeners
from .live_book import Refused, StaleReason
from .messages import (
    BookLevelKind,
    DiffMessage,
    ErrorMessage,
    HeartbeatMessage,
    MarketType,
    OtherMessage,
    ResumedMessage,
    SnapshotMessage,
    read_message,
)
from .streams import BookStreams, KeptBook

logger = logging.getLogger("slotbook.feed")


@dataclass(frozen=True, slots=True)
class Connected:
    """Attempts since the last connection, this one included."""

    attempt: int
    type: ClassVar[Literal["connected"]] = "connected"


@dataclass(frozen=True, slots=True)
class Disconnected:
    reason: str
    type: ClassVar[Literal["disconnected"]] = "disconnected"


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Every five seconds while books are subscribed."""

    #: The server's clock, Unix milliseconds.
    ts: int
    #: The newest chain slot that the server has read; None while unknown.
    head_slot: int | None
    #: How far the slowest book is behind it; None while unknown.
    slots_behind: int | None
    type: ClassVar[Literal["heartbeat"]] = "heartbeat"


FeedEvent: TypeAlias = Connected | Disconnected | Heartbeat


class FeedClient:
    """Connects at the first subscription, and reconnects until ``close``.

    ``url``: for example ``ws://localhost:6969/ws``. Needs a running event loop, and belongs to it.
    """

    def __init__(self, url: str, options: ConnectionOptions | None = None) -> None:
        events = _Events(self)
        self._connection = Connection(url, options or ConnectionOptions(), events)
        self._streams = BookStreams(self._connection.send, events)
        self._channels = Channels(self._connection.send)
        self._books: dict[BookSubscription, None] = {}
        self._listeners: Listeners[FeedEvent] = Listeners()
        self._next_id = 0

    def book(
        self,
        market: str,
        *,
        market_type: MarketType | None = None,
        level: BookLevelKind = "l2",
        depth: int | None = None,
        conflation: int = 0,
        checksum: bool | int = True,
    ) -> BookSubscription:
        """Subscribes to a book, or with market ``*`` to all, present and future.

        ``conflation``: milliseconds in which at most one message comes. ``checksum``: levels that the
        server and the client compare; True for the top 10.
        """
        self._next_id += 1
        choice = BookChoice(market, market_type, level, depth, conflation, checksum, self._next_id)
        subscription = BookSubscription(choice, self._close_book)
        self._books[subscription] = None
        self._streams.subscribe(choice)
        self._connection.connect()
        return subscription

    def orderbook(
        self,
        market: str,
        *,
        market_type: MarketType = "perp",
        grouping: Grouping = 1,
        indicative: bool = False,
    ) -> ChannelSubscription[L2Book]:
        """Whole grouped books. ``indicative``: with the indicative quotes of makers."""
        name: ChannelName = "orderbook_indicative" if indicative else "orderbook"
        return self._channel(ChannelSubscription(name, market, market_type, grouping, self._channels.remove))

    def trades(self, market: str, *, market_type: MarketType = "perp") -> ChannelSubscription[Trade]:
        """Each fill once."""
        return self._channel(ChannelSubscription("trades", market, market_type, 1, self._channels.remove))

    def priority_fees(self, market: str, *, market_type: MarketType = "perp") -> ChannelSubscription[FeeLevels]:
        """Priority fees, micro-lamports per compute unit."""
        return self._channel(ChannelSubscription("priorityfees", market, market_type, 1, self._channels.remove))

    def listen(self, listener: Callable[[FeedEvent], None]) -> Callable[[], None]:
        """Calls ``listener`` when the connection comes, goes or beats. Returns a function that removes it."""
        return self._listeners.add(listener)

    def reconnect(self) -> None:
        """Drops the connection and resumes on a new one, as after a network failure."""
        self._connection.reconnect()

    async def close(self) -> None:
        """Closes the connection and ends every subscription."""
        for book in tuple(self._books):
            book.close()
        for channel in self._channels.subscriptions:
            channel.close()
        await self._connection.close()

    async def __aenter__(self) -> FeedClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    def _channel(self, subscription: ChannelSubscription[Any]) -> ChannelSubscription[Any]:
        self._channels.add(subscription)
        self._connection.connect()
        return subscription

    def _close_book(self, subscription: BookSubscription) -> None:
        self._books.pop(subscription, None)
        self._streams.unsubscribe(subscription.choice)


class _Events:
    """What connection and streams say to the client."""

    def __init__(self, client: FeedClient) -> None:
        self._client = client

    def opened(self, attempt: int) -> None:
        self._client._streams.opened()
        self._client._channels.opened()
        self._client._listeners.emit(Connected(attempt))

    def received(self, frame: bytes | str) -> None:
        message = read_message(frame)
        streams = self._client._streams
        if isinstance(message, DiffMessage):
            streams.receive_diff(message)
        elif isinstance(message, SnapshotMessage):
            streams.receive_snapshot(message)
        elif isinstance(message, OtherMessage):
            self._client._channels.receive(message.data)
        elif isinstance(message, HeartbeatMessage):
            streams.receive_heartbeat(message)
        elif isinstance(message, ResumedMessage):
            streams.receive_resumed(message)
        elif isinstance(message, ErrorMessage):
            self.book_refused(message)

    def lost(self, reason: str) -> None:
        self._client._streams.lost()
        self._client._channels.lost()
        for book in tuple(self._client._books):
            book._outdated("disconnected")
        self._client._listeners.emit(Disconnected(reason))

    def book_applied(self, kept: KeptBook, message: SnapshotMessage | DiffMessage) -> None:
        for book in tuple(self._client._books):
            if kept.stream in book.books or book.choice.matches(kept.stream, kept.keeper.market):
                book._applied(kept, message)

    def book_outdated(self, stream: str, reason: StaleReason) -> None:
        for book in tuple(self._client._books):
            book._outdated(reason, stream)

    def book_resumed(self, stream: str) -> None:
        for book in tuple(self._client._books):
            book._continued(stream)

    def heartbeat(self, message: HeartbeatMessage) -> None:
        self._client._listeners.emit(Heartbeat(message.ts, message.head_slot, message.slots_behind))

    def book_refused(self, message: ErrorMessage) -> None:
        refusal = Refused(message.error, message.code, message.retry)
        for book in tuple(self._client._books):
            is_meant = book.choice.id == message.id if message.stream is None else book.choice.market == "*"
            if is_meant:
                logger.warning("%s is refused: %s", book.choice.market, message.error)
                book._refuse(refusal)
