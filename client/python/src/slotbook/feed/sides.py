"""One side of a book, best first: price levels (L2), or orders in queue order (L3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from .messages import Side

OrderSource: TypeAlias = Literal["user", "clob"]
#: Source, order id and maker identify an order.
OrderKey: TypeAlias = tuple[str, int, str]


class Level(msgspec.Struct, frozen=True, gc=False):
    """A price level. Size 0: the level is gone."""

    #: 1e6.
    price: int
    #: 1e9, sum of all sources.
    size: int
    #: Sizes by source: ``dlob`` (resting orders), ``vamm``.
    sources: Mapping[str, int]


class OrderRef(msgspec.Struct, frozen=True, gc=False):
    """Identity of an order."""

    #: Base58 of the maker's user account.
    maker: str
    order_id: int
    source: OrderSource

    @property
    def key(self) -> OrderKey:
        return (self.source, self.order_id, self.maker)


class BookCause(msgspec.Struct, frozen=True, gc=False):
    """The transaction that last wrote an order, or removed it."""

    slot: int
    #: Base58.
    signature: str
    #: Index of the transaction in its block; None where the server does not know it.
    index: int | None


class GoneOrder(OrderRef, frozen=True, gc=False):
    """An order that left."""

    #: The transaction that removed the order; None where unknown, and without the option ``cause``.
    cause: BookCause | None = None


class Order(OrderRef, frozen=True, gc=False):
    """One resting order. Orders of equal price follow ``rank``, compared number by number."""

    side: Side
    #: 1e6.
    price: int
    #: 1e9.
    size: int
    rank: tuple[int, ...]
    #: The transaction that last wrote the order; None where unknown, and without the option ``cause``.
    cause: BookCause | None = None


#: Exceptions of a damaged entry.
MALFORMED = (ValueError, TypeError, LookupError, AttributeError)
_NO_SOURCES: Mapping[str, int] = {}
_INTEGER = re.compile(r"-?[0-9]+").fullmatch


def integer(text: Any) -> int:
    """The integer in a decimal text, of any length. Raises one of ``MALFORMED`` for anything else."""
    # The usual case first: this is the hottest function of the package.
    if (text.isdecimal() and text.isascii()) or _INTEGER(text):
        return int(text)
    raise ValueError("not an integer")


def level_of(entry: Sequence[Any]) -> Level:
    """An entry of an L2 message as a level. Raises one of ``MALFORMED``."""
    price, size = integer(entry[0]), integer(entry[1])
    if size == 0:
        return Level(price, 0, _NO_SOURCES)
    if len(entry) < 3:
        return Level(price, size, {"dlob": size})
    sources = entry[2]
    if isinstance(sources, str):
        return Level(price, size, {sources: size})
    return Level(price, size, {name: integer(part) for name, part in sources.items()})


def gone_of(entry: Mapping[str, Any]) -> GoneOrder:
    """An entry of ``gone`` of an L3 message. Raises one of ``MALFORMED``."""
    return GoneOrder(entry["maker"], entry["orderId"], entry["source"], _cause_of(entry))


def order_of(entry: Mapping[str, Any], side: Side) -> Order:
    """An entry of an L3 message as an order. Raises one of ``MALFORMED``."""
    price, size = integer(entry["price"]), integer(entry["size"])
    rank = tuple(entry["rank"])
    return Order(entry["maker"], entry["orderId"], entry["source"], side, price, size, rank, _cause_of(entry))


def _cause_of(entry: Mapping[str, Any]) -> BookCause | None:
    cause = entry.get("cause")
    return None if cause is None else BookCause(cause["slot"], cause["signature"], cause["index"])


class LevelSide:
    """Price levels of one side."""

    __slots__ = ("_keys", "_sign", "items")

    def __init__(self, side: Side) -> None:
        self.items: list[Level] = []
        # Prices, negative for bids: ascending is best first.
        self._keys: list[int] = []
        self._sign = -1 if side == "bids" else 1

    def set(self, entry: Sequence[Any]) -> None:
        """Applies an entry of a message: the level is absolute, and size 0 removes it."""
        level = level_of(entry)
        key = self._sign * level.price
        keys = self._keys
        at = bisect_left(keys, key)
        is_known = at < len(keys) and keys[at] == key
        if not level.size:
            if is_known:
                del keys[at], self.items[at]
        elif is_known:
            self.items[at] = level
        else:
            keys.insert(at, key)
            self.items.insert(at, level)

    def at(self, price: int) -> Level | None:
        """The level of a price."""
        key = self._sign * price
        at = bisect_left(self._keys, key)
        return self.items[at] if at < len(self._keys) and self._keys[at] == key else None

    def has_more_prices_than(self, count: int) -> bool:
        return len(self.items) > count

    def lines(self, levels: int | None = None) -> list[str]:
        """Checksum lines of the first ``levels``; of all without it."""
        return [
            f"{level.price} {level.size} "
            + ",".join([f"{name}={level.sources[name]}" for name in ("dlob", "vamm") if name in level.sources])
            for level in self.items[:levels]
        ]


SortKey: TypeAlias = tuple[int, tuple[int, ...], OrderKey]


class OrderSide:
    """Orders of one side, in queue order."""

    __slots__ = ("_by_key", "_keys", "_sign", "items")

    def __init__(self, side: Side) -> None:
        self.items: list[Order] = []
        self._keys: list[SortKey] = []
        self._by_key: dict[OrderKey, Order] = {}
        self._sign = -1 if side == "bids" else 1

    def set(self, order: Order) -> None:
        """Inserts an order that the side does not contain."""
        key = self._sort_key(order)
        at = bisect_left(self._keys, key)
        self._keys.insert(at, key)
        self.items.insert(at, order)
        self._by_key[order.key] = order

    def get(self, key: OrderKey) -> Order | None:
        return self._by_key.get(key)

    def remove(self, key: OrderKey) -> None:
        order = self._by_key.pop(key, None)
        if order is None:
            return
        at = bisect_left(self._keys, self._sort_key(order))
        del self._keys[at], self.items[at]

    def has_more_prices_than(self, count: int) -> bool:
        return len(self.items) > count and len({order.price for order in self.items}) > count

    def lines(self, levels: int | None = None) -> list[str]:
        """Checksum lines of every order at the first ``levels`` prices; of all without it."""
        lines: list[str] = []
        prices = 0
        price: int | None = None
        for order in self.items:
            if order.price != price:
                prices += 1
                price = order.price
            if levels is not None and prices > levels:
                break
            lines.append(f"{order.price} {order.size} {order.maker} {order.order_id} {order.source}")
        return lines

    def _sort_key(self, order: Order) -> SortKey:
        return (self._sign * order.price, order.rank, order.key)
