"""The open orders of one account in the markets of one part, kept by sequence and checksum."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias
from zlib import crc32

import msgspec

from .messages import AccountSnapshotMessage, BookVersion, MarketType, OrderChangeMessage, Side
from .sides import MALFORMED, OrderSource, integer

#: ``known``: the part has it already. ``gap``: changes are missing. ``damaged``: another checksum, or
#: amounts that are no integers.
PartResult: TypeAlias = Literal["applied", "known", "gap", "damaged"]
#: Market type, market index and order id identify an order of an account.
AccountOrderKey: TypeAlias = tuple[str, int, int]


class AccountOrder(msgspec.Struct, frozen=True, gc=False):
    """An order as placed, with its filled amount. Prices 1e6, base amounts 1e9 (spot: the token's decimals)."""

    market_type: MarketType
    market_index: int
    order_id: int
    user_order_id: int
    #: For example ``limit`` or ``triggerMarket``.
    order_type: str
    direction: Literal["long", "short"]
    price: int
    base_asset_amount: int
    base_asset_amount_filled: int
    trigger_price: int
    #: ``above``, ``below``; ``triggeredAbove``, ``triggeredBelow`` once triggered.
    trigger_condition: str
    #: Added to the oracle price; 0 for an order with a price of its own.
    oracle_price_offset: int
    post_only: bool
    reduce_only: bool
    placed_slot: int
    #: Unix seconds; 0: the order does not expire.
    max_ts: int

    @property
    def key(self) -> AccountOrderKey:
        return (self.market_type, self.market_index, self.order_id)


class OrderFill(msgspec.Struct, frozen=True, gc=False):
    """The fill behind a change."""

    fill_record_id: int
    #: 1e9 (spot: the token's decimals).
    base_asset_amount: int
    #: 1e6.
    quote_asset_amount: int


class QueuePosition(msgspec.Struct, frozen=True, gc=False):
    """Where a resting order stands in the queue of its price. Price 1e6, sizes 1e9 (spot: the token's decimals)."""

    market_type: MarketType
    market_index: int
    order_id: int
    #: Where the order rests: in its user account, or in the market-level book (``clob``).
    source: OrderSource
    side: Side
    price: int
    #: Unfilled size.
    size: int
    #: Sizes of the orders before it at its price.
    size_ahead: int
    orders_ahead: int
    #: The book in which it stands so, and its slot.
    book: BookVersion
    slot: int

    @property
    def key(self) -> AccountOrderKey:
        return (self.market_type, self.market_index, self.order_id)


class AccountPart:
    """Open orders by market and id. ``position`` is None before the first snapshot, and after damage."""

    def __init__(self) -> None:
        self._orders: dict[AccountOrderKey, AccountOrder] = {}
        self.position: BookVersion | None = None
        #: Slot of the newest change; 0 before the first.
        self.slot = 0

    @property
    def orders(self) -> Collection[AccountOrder]:
        return self._orders.values()

    def replace(self, message: AccountSnapshotMessage) -> PartResult:
        """Takes the whole part."""
        try:
            orders = {order.key: order for order in map(order_of, message.orders)}
        except MALFORMED:
            return self._damaged()
        return self._take(message, orders)

    def apply(self, message: OrderChangeMessage) -> tuple[PartResult, AccountOrder | None, OrderFill | None]:
        """Takes a change. Its order and fill are None unless it was applied."""
        held = self.position
        is_same_epoch = held is not None and held.epoch == message.epoch
        if held is not None and is_same_epoch and message.seq <= held.seq:
            return ("known", None, None)
        if held is None or not is_same_epoch or message.prev_seq != held.seq:
            return ("gap", None, None)
        try:
            order = order_of(message.data)
            fill = None if message.fill is None else fill_of(message.fill)
        except MALFORMED:
            return (self._damaged(), None, None)
        orders = dict(self._orders)
        if message.is_open:
            orders[order.key] = order
        else:
            orders.pop(order.key, None)
        result = self._take(message, orders)
        return (result, order, fill) if result == "applied" else (result, None, None)

    def _damaged(self) -> PartResult:
        """The last orders that were right stay."""
        self.position = None
        return "damaged"

    def _take(
        self, message: AccountSnapshotMessage | OrderChangeMessage, orders: dict[AccountOrderKey, AccountOrder]
    ) -> PartResult:
        if open_orders_checksum(orders.values()) != message.checksum:
            return self._damaged()
        self._orders = orders
        self.position = BookVersion(message.epoch, message.seq)
        self.slot = message.slot
        return "applied"


def open_orders_checksum(orders: Collection[AccountOrder]) -> int:
    """CRC32 of a line per order, by market and order id (docs/internals/account-orders.md)."""
    lines = [
        f"{one.market_type} {one.market_index} {one.order_id} {one.direction} {one.price} "
        f"{one.base_asset_amount} {one.base_asset_amount_filled}"
        for one in sorted(orders, key=lambda order: order.key)
    ]
    return crc32("\n".join(lines).encode())


def order_of(body: Mapping[str, Any]) -> AccountOrder:
    """The order of a message. Raises one of ``MALFORMED``."""
    return AccountOrder(
        market_type=body["marketType"],
        market_index=body["marketIndex"],
        order_id=body["orderId"],
        user_order_id=body["userOrderId"],
        order_type=body["orderType"],
        direction=body["direction"],
        price=integer(body["price"]),
        base_asset_amount=integer(body["baseAssetAmount"]),
        base_asset_amount_filled=integer(body["baseAssetAmountFilled"]),
        trigger_price=integer(body["triggerPrice"]),
        trigger_condition=body["triggerCondition"],
        oracle_price_offset=integer(body["oraclePriceOffset"]),
        post_only=body["postOnly"],
        reduce_only=body["reduceOnly"],
        placed_slot=body["placedSlot"],
        max_ts=int(body["maxTs"]),
    )


def position_of(body: Mapping[str, Any]) -> QueuePosition:
    """The queue position of a message. Raises one of ``MALFORMED``."""
    book = body["book"]
    return QueuePosition(
        market_type=body["marketType"],
        market_index=body["marketIndex"],
        order_id=body["orderId"],
        source=body["source"],
        side=body["side"],
        price=integer(body["price"]),
        size=integer(body["size"]),
        size_ahead=integer(body["sizeAhead"]),
        orders_ahead=body["ordersAhead"],
        book=BookVersion(book["epoch"], book["seq"]),
        slot=book["slot"],
    )


def fill_of(body: Mapping[str, Any]) -> OrderFill:
    """The fill of a message. Raises one of ``MALFORMED``."""
    return OrderFill(
        fill_record_id=integer(body["fillRecordId"]),
        base_asset_amount=integer(body["baseAssetAmount"]),
        quote_asset_amount=integer(body["quoteAssetAmount"]),
    )
