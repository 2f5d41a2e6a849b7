"""Books, trades, history and accounts of a Slotbook deployment.

Amounts are integers with their scale in the documentation: prices 1e6, sizes 1e9. ``slotbook.units``
makes decimals of them on request.
"""

from .feed import (
    AccountQueue,
    AccountResumed,
    AccountSnapshot,
    AccountStale,
    AccountSubscription,
    BookKeeper,
    BookSubscription,
    BookVersion,
    Change,
    ChannelSubscription,
    ConnectionOptions,
    FeedClient,
    Level,
    LiveBook,
    NumberedTrade,
    NumberedTradesSubscription,
    Order,
    OrderChange,
    OrderRef,
    Refused,
    Resumed,
    Snapshot,
    Stale,
    TradesMissing,
    TradeWithdrawn,
)

__version__ = "0.1.0"

__all__ = [
    "AccountQueue",
    "AccountResumed",
    "AccountSnapshot",
    "AccountStale",
    "AccountSubscription",
    "BookKeeper",
    "BookSubscription",
    "BookVersion",
    "Change",
    "ChannelSubscription",
    "ConnectionOptions",
    "FeedClient",
    "Level",
    "LiveBook",
    "NumberedTrade",
    "NumberedTradesSubscription",
    "Order",
    "OrderChange",
    "OrderRef",
    "Refused",
    "Resumed",
    "Snapshot",
    "Stale",
    "TradeWithdrawn",
    "TradesMissing",
    "__version__",
]
