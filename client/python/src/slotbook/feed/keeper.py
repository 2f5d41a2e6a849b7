"""Keeps the book of one stream from its snapshots and diffs.

Reports a missing message, and a book that differs from the server's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias
from zlib import crc32

from .messages import SIDES, BookLevelKind, BookMessage, BookVersion, DiffMessage, Side, SnapshotMessage
from .sides import MALFORMED, Level, LevelSide, Order, OrderKey, OrderSide, gone_of, order_of

#: Levels that the checksum covers with ``checksum=True`` (docs/guides/follow-a-book.md).
CHECKSUM_LEVELS = 10

#: Result of a message. ``applied``: done. ``gap``: an earlier message is missing. ``checksum``: the
#: book differs from the server's. ``malformed``: an entry is not one of the protocol. ``waiting``: a
#: diff without a valid book. After ``gap``, ``checksum`` or ``malformed`` the keeper needs a snapshot.
Applied: TypeAlias = Literal["applied", "gap", "checksum", "malformed", "waiting"]


def checksum_levels(checksum: bool | int) -> int:
    """Levels that a choice of checksum covers; 0 for none."""
    if checksum is True:
        return CHECKSUM_LEVELS
    return int(checksum)


class BookKeeper:
    """The book of one stream. ``depth``: the subscribed depth; all levels without it."""

    def __init__(self, level: BookLevelKind, *, depth: int | None = None, checksum: bool | int = False) -> None:
        self.level: BookLevelKind = level
        levels = checksum_levels(checksum)
        self._checksum_levels = levels if depth is None else min(levels, depth)
        self._depth = depth
        self._levels = {side: LevelSide(side) for side in SIDES}
        self._orders = {side: OrderSide(side) for side in SIDES}
        self._position: BookVersion | None = None
        #: Slot of the newest message.
        self.slot = 0
        #: Server time of the newest message, Unix milliseconds; 0 before the first.
        self.ts = 0
        self.market = ""

    @property
    def position(self) -> BookVersion | None:
        """Version of the book; None without a valid book."""
        return self._position

    def levels(self, side: Side) -> Sequence[Level]:
        """L2, best first; empty in an L3 keeper. It changes with the next message."""
        return self._levels[side].items

    def orders(self, side: Side) -> Sequence[Order]:
        """L3 in queue order; empty in an L2 keeper. It changes with the next message."""
        return self._orders[side].items

    def level_at(self, side: Side, price: int) -> Level | None:
        """The L2 level of a price (1e6)."""
        return self._levels[side].at(price)

    def order(self, key: OrderKey) -> Order | None:
        """An order of an L3 book."""
        return self._orders["bids"].get(key) or self._orders["asks"].get(key)

    def apply(self, message: BookMessage) -> Applied:
        """Applies a message. A diff must belong to the stream of the last snapshot."""
        position = self._position
        if isinstance(message, SnapshotMessage):
            self._clear()
            self.market = message.market
        elif position is None:
            return "waiting"
        elif message.epoch != position.epoch or message.prev_seq != position.seq:
            self._position = None
            return "gap"
        self._position = None
        if not self._take(message):
            return "malformed"
        self.slot = message.slot
        self.ts = message.ts
        if not self._is_as_published(message.checksum):
            return "checksum"
        self._position = BookVersion(message.epoch, message.seq)
        return "applied"

    def distrust(self) -> None:
        """Marks the book as invalid: the keeper then accepts only a snapshot."""
        self._position = None

    def checksum(self, levels: int | None = None) -> int:
        """Checksum of the current book over the chosen levels, or over ``levels``."""
        return crc32(self._text(self._checksum_levels if levels is None else levels))

    def whole_checksum(self) -> int:
        """Checksum of the current book over all levels."""
        return crc32(self._text(None))

    def lines(self, side: Side) -> list[str]:
        """The lines of a side in the checksum's text, over all levels."""
        return self._side(side).lines()

    def _text(self, levels: int | None) -> bytes:
        bids, asks = self._side("bids").lines(levels), self._side("asks").lines(levels)
        return "\n".join(["bids", *bids, "asks", *asks]).encode()

    def _side(self, side: Side) -> LevelSide | OrderSide:
        return self._orders[side] if self.level == "l3" else self._levels[side]

    def _is_as_published(self, checksum: int | None) -> bool:
        # A stream of depth N never has more levels; those beyond are in no checksum.
        depth = self._depth
        if depth is not None and any(self._side(side).has_more_prices_than(depth) for side in SIDES):
            return False
        return checksum is None or not self._checksum_levels or checksum == self.checksum()

    def _take(self, message: BookMessage) -> bool:
        """False when an entry cannot be read."""
        try:
            if self.level == "l2":
                self._take_levels(message)
            else:
                self._take_orders(message)
        except MALFORMED:
            return False
        return True

    def _take_levels(self, message: BookMessage) -> None:
        put = self._levels["bids"].set
        for entry in message.bids:
            put(entry)
        put = self._levels["asks"].set
        for entry in message.asks:
            put(entry)

    def _take_orders(self, message: BookMessage) -> None:
        if isinstance(message, DiffMessage):
            for entry in message.gone:
                self._drop(gone_of(entry).key)
        self._put_orders("bids", message.bids)
        self._put_orders("asks", message.asks)

    def _put_orders(self, side: Side, entries: Sequence[Any]) -> None:
        for entry in entries:
            order = order_of(entry, side)
            self._drop(order.key)  # An order is in the book once; an update may move it.
            self._orders[side].set(order)

    def _drop(self, key: OrderKey) -> None:
        self._orders["bids"].remove(key)
        self._orders["asks"].remove(key)

    def _clear(self) -> None:
        self._levels = {side: LevelSide(side) for side in SIDES}
        self._orders = {side: OrderSide(side) for side in SIDES}
