"""Feeds: live books, trades, orders of accounts and fees over one WebSocket."""

from .account_orders import (
    AccountEvent,
    AccountOrders,
    AccountQueue,
    AccountResumed,
    AccountSnapshot,
    AccountStale,
    OrderChange,
)
from .account_part import AccountOrder, OrderFill, QueuePosition
from .account_subscription import AccountSubscription
from .book_subscription import BookReader, BookSubscription
from .channel_subscription import ChannelName, ChannelStale, ChannelSubscription, Data, Grouping
from .channel_types import FeeLevels, L2Book, Trade
from .choices import BookChoice
from .client import Connected, Disconnected, FeedClient, FeedEvent, Heartbeat
from .connection import ConnectionOptions, OpenSocket, Socket
from .keeper import Applied, BookKeeper
from .live_book import BookEvent, Change, LiveBook, Refused, Resumed, Snapshot, Stale, StaleReason
from .messages import BookVersion, DiffMessage, MarketType, OrderCause, Side, SnapshotMessage, read_message
from .numbered_trades import (
    NumberedTrade,
    TradesEvent,
    TradesMissing,
    TradesResumed,
    TradesStale,
    TradesStarted,
    TradeWithdrawn,
)
from .readers import Reader
from .sides import BookCause, GoneOrder, Level, Order, OrderRef
from .trades_subscription import NumberedTradesSubscription

__all__ = [
    "AccountEvent",
    "AccountOrder",
    "AccountOrders",
    "AccountQueue",
    "AccountResumed",
    "AccountSnapshot",
    "AccountStale",
    "AccountSubscription",
    "Applied",
    "BookCause",
    "BookChoice",
    "BookEvent",
    "BookKeeper",
    "BookReader",
    "BookSubscription",
    "BookVersion",
    "Change",
    "ChannelName",
    "ChannelStale",
    "ChannelSubscription",
    "Connected",
    "ConnectionOptions",
    "Data",
    "DiffMessage",
    "Disconnected",
    "FeeLevels",
    "FeedClient",
    "FeedEvent",
    "GoneOrder",
    "Grouping",
    "Heartbeat",
    "L2Book",
    "Level",
    "LiveBook",
    "MarketType",
    "NumberedTrade",
    "NumberedTradesSubscription",
    "OpenSocket",
    "Order",
    "OrderCause",
    "OrderChange",
    "OrderFill",
    "OrderRef",
    "QueuePosition",
    "Reader",
    "Refused",
    "Resumed",
    "Side",
    "Snapshot",
    "SnapshotMessage",
    "Socket",
    "Stale",
    "StaleReason",
    "Trade",
    "TradeWithdrawn",
    "TradesEvent",
    "TradesMissing",
    "TradesResumed",
    "TradesStale",
    "TradesStarted",
    "read_message",
]
