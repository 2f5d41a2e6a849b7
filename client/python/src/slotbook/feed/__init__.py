"""Feeds: live books, trades and fees over one WebSocket."""

from .book_subscription import BookReader, BookSubscription
from .channel_subscription import ChannelName, ChannelReader, ChannelStale, ChannelSubscription, Data, Grouping
from .channel_types import FeeLevels, L2Book, Trade
from .choices import BookChoice
from .client import Connected, Disconnected, FeedClient, FeedEvent, Heartbeat
from .connection import ConnectionOptions, OpenSocket, Socket
from .keeper import Applied, BookKeeper
from .live_book import BookEvent, Change, LiveBook, Refused, Resumed, Snapshot, Stale, StaleReason
from .messages import BookVersion, DiffMessage, MarketType, Side, SnapshotMessage, read_message
from .sides import Level, Order, OrderRef

__all__ = [
    "Applied",
    "BookChoice",
    "BookEvent",
    "BookKeeper",
    "BookReader",
    "BookSubscription",
    "BookVersion",
    "Change",
    "ChannelName",
    "ChannelReader",
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
    "Grouping",
    "Heartbeat",
    "L2Book",
    "Level",
    "LiveBook",
    "MarketType",
    "OpenSocket",
    "Order",
    "OrderRef",
    "Refused",
    "Resumed",
    "Side",
    "Snapshot",
    "SnapshotMessage",
    "Socket",
    "Stale",
    "StaleReason",
    "Trade",
    "read_message",
]
