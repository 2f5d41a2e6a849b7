"""The feed: books, trades, orders of accounts and fees over one connection that repairs itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from .account_streams import AccountChoice, AccountStreams
from .account_subscription import AccountSubscription
from .book_subscription import BookSubscription
from .channel_subscription import ChannelName, ChannelSubscription, Grouping
from .channel_types import FeeLevels, L2Book, Trade
from .channels import Channels
from .choices import BookChoice
from .connection import Connection, ConnectionOptions
from .listeners import Listeners
from .live_book import StaleReason, refused_by
from .messages import (
    AccountQueueMessage,
    AccountSnapshotMessage,
    AccountSubscribedMessage,
    BookLevelKind,
    Commitment,
    DiffMessage,
    ErrorMessage,
    HeartbeatMessage,
    MarketType,
    NumberedChannel,
    NumberedTradeMessage,
    OrderChangeMessage,
    OtherMessage,
    ResumedMessage,
    SnapshotMessage,
    TradesSnapshotMessage,
    TradeWithdrawalMessage,
    read_message,
)
from .numbered_trades import TradesChoice, TradeStreams
from .streams import BookStreams, KeptBook
from .trades_subscription import NumberedTradesSubscription

logger = logging.getLogger("slotbook.feed")


@dataclass(frozen=True, slots=True)
class Connected:
    """Attempts since the last connection that lasted, this one included."""

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


class NumberedStreams(Protocol):
    """A channel whose messages have numbers."""

    def receive_heartbeat(self, message: HeartbeatMessage) -> None: ...

    def receive_resumed(self, message: ResumedMessage) -> None: ...

    def receive_error(self, message: ErrorMessage) -> None: ...


class Closable(Protocol):
    """A subscription of any channel."""

    def close(self) -> None: ...


class FeedClient:
    """Connects at the first subscription, and reconnects until ``close``.

    ``url``: for example ``ws://localhost:6969/ws``. Needs a running event loop, and belongs to it.
    """

    def __init__(self, url: str, options: ConnectionOptions | None = None) -> None:
        events = _Events(self)
        self._connection = Connection(url, options or ConnectionOptions(), events)
        self._streams = BookStreams(self._connection.send, events)
        self._channels = Channels(self._connection.send)
        self._trades = TradeStreams(self._connection.send)
        self._accounts = AccountStreams(self._connection.send)
        self._numbered: dict[NumberedChannel, NumberedStreams] = {
            "book": self._streams,
            "trades.v2": self._trades,
            "account": self._accounts,
        }
        self._books: dict[BookSubscription, None] = {}
        self._numbered_trades: dict[NumberedTradesSubscription, None] = {}
        self._account_orders: dict[AccountSubscription, None] = {}
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
        cause: bool = False,
        commitment: Literal["confirmed", "processed"] = "confirmed",
    ) -> BookSubscription:
        """Subscribes to a book, or with market ``*`` to all, present and future.

        ``conflation``: milliseconds in which at most one message comes. ``checksum``: levels that the
        server and the client compare; True for the top 10. ``cause``: orders name the transaction that
        last wrote them, where the server knows it; level ``l3`` without depth. ``commitment``: ``processed``
        is one to three slots ahead, and undoes what abandoned slots did.
        """
        self._next_id += 1
        choice = BookChoice(market, market_type, level, depth, conflation, checksum, cause, self._next_id, commitment)
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
        """Each fill once; those of a lost connection are not sent again, see ``numbered_trades``."""
        return self._channel(ChannelSubscription("trades", market, market_type, 1, self._channels.remove))

    def priority_fees(self, market: str, *, market_type: MarketType = "perp") -> ChannelSubscription[FeeLevels]:
        """Priority fees, micro-lamports per compute unit."""
        return self._channel(ChannelSubscription("priorityfees", market, market_type, 1, self._channels.remove))

    def numbered_trades(
        self, market: str, *, market_type: MarketType | None = None, commitment: Commitment = "confirmed"
    ) -> NumberedTradesSubscription:
        """Each fill once and in order, over reconnects and restarts of the server, or ``TradesMissing`` says so.

        Market ``*``: every market, present and future. ``market_type``: ``perp`` when absent; with ``*`` both kinds.
        ``commitment``: at ``processed`` fills come earlier, and ``TradeWithdrawn`` says which do not count.
        """
        self._next_id += 1
        choice = TradesChoice(market, market_type, self._next_id, commitment)
        subscription = NumberedTradesSubscription(choice, self._close_trades)
        self._numbered_trades[subscription] = None
        self._trades.add(subscription)
        self._connection.connect()
        return subscription

    def account_orders(
        self, account: str | None = None, *, authority: str | None = None, queue: bool = False
    ) -> AccountSubscription:
        """The open orders of an account, or of all accounts of a wallet, and every change of them.

        ``queue``: with the queue positions of resting orders, ``AccountOrders.queue``.
        Over reconnects and restarts of the server. Base58. Raises ``ValueError`` unless there is exactly one of both.
        """
        if (account is None) == (authority is None):
            raise ValueError("either account or authority")
        self._next_id += 1
        subscription = AccountSubscription(AccountChoice(account, authority, self._next_id, queue), self._close_account)
        self._account_orders[subscription] = None
        self._accounts.add(subscription)
        self._connection.connect()
        return subscription

    def listen(self, listener: Callable[[FeedEvent], None]) -> Callable[[], None]:
        """Calls ``listener`` when the connection comes, goes or beats. Returns a function that removes it."""
        return self._listeners.add(listener)

    def reconnect(self) -> None:
        """Drops the connection and resumes on a new one, as after a network failure."""
        self._connection.reconnect()

    async def close(self) -> None:
        """Closes the connection and ends every subscription."""
        subscriptions: tuple[Closable, ...] = (*self._books, *self._numbered_trades, *self._account_orders)
        for subscription in (*subscriptions, *self._channels.subscriptions):
            subscription.close()
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

    def _close_trades(self, subscription: NumberedTradesSubscription) -> None:
        self._numbered_trades.pop(subscription, None)
        self._trades.remove(subscription)

    def _close_account(self, subscription: AccountSubscription) -> None:
        self._account_orders.pop(subscription, None)
        self._accounts.remove(subscription)


class _Events:
    """Events of connection and streams, for the client."""

    def __init__(self, client: FeedClient) -> None:
        self._client = client

    def opened(self, attempt: int) -> None:
        client = self._client
        for part in (client._streams, client._trades, client._accounts, client._channels):
            part.opened()
        client._listeners.emit(Connected(attempt))

    def received(self, frame: bytes | str) -> None:
        message = read_message(frame)
        client = self._client
        if isinstance(message, DiffMessage):
            client._streams.receive_diff(message)
        elif isinstance(message, SnapshotMessage):
            client._streams.receive_snapshot(message)
        elif isinstance(message, NumberedTradeMessage):
            client._trades.receive_trade(message)
        elif isinstance(message, TradeWithdrawalMessage):
            client._trades.receive_withdrawal(message)
        elif isinstance(message, TradesSnapshotMessage):
            client._trades.receive_snapshot(message)
        elif isinstance(message, OrderChangeMessage):
            client._accounts.receive_change(message)
        elif isinstance(message, AccountSnapshotMessage):
            client._accounts.receive_snapshot(message)
        elif isinstance(message, AccountQueueMessage):
            client._accounts.receive_queue(message)
        elif isinstance(message, AccountSubscribedMessage):
            client._accounts.receive_subscribed(message)
        elif isinstance(message, OtherMessage):
            client._channels.receive(message.data)
        elif message is not None:
            self._received_of_channel(message)

    def _received_of_channel(self, message: HeartbeatMessage | ResumedMessage | ErrorMessage) -> None:
        streams = self._client._numbered[message.channel]
        if isinstance(message, HeartbeatMessage):
            streams.receive_heartbeat(message)
        elif isinstance(message, ResumedMessage):
            streams.receive_resumed(message)
        else:
            streams.receive_error(message)

    def lost(self, reason: str) -> None:
        client = self._client
        for part in (client._streams, client._trades, client._accounts, client._channels):
            part.lost()
        for book in tuple(client._books):
            book._outdated("disconnected")
        client._listeners.emit(Disconnected(reason))

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
        for book in tuple(self._client._books):
            is_meant = book.choice.id == message.id if message.stream is None else book.choice.market == "*"
            if is_meant:
                logger.warning("%s is refused: %s", book.choice.market, message.error)
                book._refuse(refused_by(message))
