"""The unread messages of one slow reader of books.

It holds names of changed entries, never copies of messages. It has no more of them than the book has
entries: beyond that the whole book is the shorter answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .live_book import BookEvent, Change, LiveBook, Resumed, Snapshot, Stale, StaleReason
from .messages import SIDES, Side
from .sides import GoneOrder, Level, Order, OrderKey

#: Entries of a small book that one change may name.
ENTRIES_MIN = 64


@dataclass
class _Pending:
    is_replaced: bool = False
    # Dictionaries keep the order of arrival.
    levels: dict[tuple[Side, int], None] = field(default_factory=dict)
    orders: dict[OrderKey, Order | GoneOrder] = field(default_factory=dict)
    revert: int | None = None

    @property
    def size(self) -> int:
        return len(self.levels) + len(self.orders)


@dataclass
class _Reading:
    book: LiveBook
    pending: _Pending | None = None
    stale_reason: StaleReason | None = None
    # State of the reader: whether it has had a snapshot, and whether it was given `Stale` last.
    is_seen: bool = False
    is_stale_for_reader: bool = False

    @property
    def has_more(self) -> bool:
        if not self.is_seen:
            return self.pending is not None and self.stale_reason is None
        return self.pending is not None or (self.stale_reason is not None) != self.is_stale_for_reader


class Backlog:
    """Events of some books for one reader, merged while it does not read."""

    def __init__(self) -> None:
        self._readings: dict[str, _Reading] = {}
        # Streams with something to read, longest waiting first.
        self._waiting: dict[str, None] = {}

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def snapshot(self, book: LiveBook) -> None:
        reading = self._of(book)
        reading.stale_reason = None
        reading.pending = _Pending(is_replaced=True)
        self._waiting[book.stream] = None

    def change(self, book: LiveBook, change: Change) -> None:
        """Notes changed entries."""
        reading = self._of(book)
        self._waiting[book.stream] = None
        pending = reading.pending = reading.pending or _Pending()
        if pending.is_replaced:
            return
        if change.revert is not None:
            pending.revert = min(pending.revert or change.revert, change.revert)
        pending.orders |= {gone.key: gone for gone in change.gone}
        pending.orders |= {order.key: order for order in change.orders}
        for side in SIDES:
            for level in getattr(change, side):
                pending.levels[(side, level.price)] = None
        if pending.size > max(ENTRIES_MIN, _entries_of(book)):
            reading.pending = _Pending(is_replaced=True)

    def resumed(self, book: LiveBook) -> None:
        reading = self._of(book)
        # The reader began while the book was stale.
        if not reading.is_seen:
            self.snapshot(book)
            return
        reading.stale_reason = None
        self._note(reading)

    def stale(self, book: LiveBook, reason: StaleReason) -> None:
        reading = self._of(book)
        reading.stale_reason = reason
        # A damaged book has no changes to show: a snapshot follows.
        if reason != "disconnected":
            reading.pending = None
        self._note(reading)

    def take(self) -> BookEvent | None:
        """The next event; None when there is none."""
        for stream in list(self._waiting):
            reading = self._readings[stream]
            event = _next_of(reading)
            if event is None or not reading.has_more:
                del self._waiting[stream]
            if event is not None:
                return event
        return None

    def _note(self, reading: _Reading) -> None:
        if reading.has_more:
            self._waiting[reading.book.stream] = None
        else:
            self._waiting.pop(reading.book.stream, None)

    def _of(self, book: LiveBook) -> _Reading:
        reading = self._readings.get(book.stream)
        if reading is None or reading.book is not book:
            reading = self._readings[book.stream] = _Reading(book)
        return reading


def _next_of(reading: _Reading) -> BookEvent | None:
    book, pending, reason = reading.book, reading.pending, reading.stale_reason
    is_replaced = pending is not None and pending.is_replaced
    if reason is None and reading.is_stale_for_reader and not is_replaced:
        reading.is_stale_for_reader = False
        return Resumed(book)
    if pending is not None and not (is_replaced and reason is not None):
        reading.pending = None
        if not is_replaced:
            return _change_of(book, pending)
        reading.is_seen = True
        reading.is_stale_for_reader = False
        return Snapshot(book)
    if reason is None or reading.is_stale_for_reader or not reading.is_seen:
        return None
    reading.is_stale_for_reader = True
    return Stale(book, reason)


def _change_of(book: LiveBook, pending: _Pending) -> Change:
    """The newest state of everything that changed."""
    levels: dict[Side, list[Level]] = {"bids": [], "asks": []}
    for side, price in pending.levels:
        levels[side].append(book.level_at(side, price))
    orders: list[Order] = []
    gone: list[GoneOrder] = []
    for ref in pending.orders.values():
        order = book.order(ref)
        if order is not None:
            orders.append(order)
        elif isinstance(ref, GoneOrder):
            gone.append(ref)
        else:
            gone.append(GoneOrder(ref.maker, ref.order_id, ref.source))
    return Change(book, levels["bids"], levels["asks"], orders, gone, pending.revert)


def _entries_of(book: LiveBook) -> int:
    return len(book.bids) + len(book.asks) + len(book.orders("bids")) + len(book.orders("asks"))
