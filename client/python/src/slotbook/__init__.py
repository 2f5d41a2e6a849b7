"""Books, trades, history and accounts of a Slotbook deployment.

Amounts are integers with their scale in the documentation: prices 1e6, sizes 1e9. ``slotbook.units``
makes decimals of them on request.
"""

from .feed import (
    BookKeeper,
    BookSubscription,
    BookVersion,
    Change,
    ChannelSubscription,
    ConnectionOptions,
    FeedClient,
    Level,
    LiveBook,
    Order,
    OrderRef,
    Refused,
    Resumed,
    Snapshot,
    Stale,
)

__version__ = "0.1.0"

__all__ = [
    "BookKeeper",
    "BookSubscription",
    "BookVersion",
    "Change",
    "ChannelSubscription",
    "ConnectionOptions",
    "FeedClient",
    "Level",
    "LiveBook",
    "Order",
    "OrderRef",
    "Refused",
    "Resumed",
    "Snapshot",
    "Stale",
    "__version__",
]
