"""Books of level l3 as events of hftbacktest, so that its order-by-order backtests have true queue positions.

Needs numpy to make the array; hftbacktest reads it. Prices and sizes are floats there, from exact integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..feed import BookEvent, Change, Order, Side, Snapshot
from .queues import QueueFollower, QueueStep

if TYPE_CHECKING:
    import numpy

#: Kinds of events and their flags, from `hftbacktest.types`.
DEPTH_CLEAR_EVENT, ADD_ORDER_EVENT, CANCEL_ORDER_EVENT, MODIFY_ORDER_EVENT = 3, 10, 11, 12
KINDS = {
    "clear": DEPTH_CLEAR_EVENT,
    "add": ADD_ORDER_EVENT,
    "cancel": CANCEL_ORDER_EVENT,
    "modify": MODIFY_ORDER_EVENT,
}
EXCH_EVENT, LOCAL_EVENT = 1 << 31, 1 << 30
SIDE_EVENTS: dict[Side, int] = {"bids": 1 << 29, "asks": 1 << 28}
PRICE_SCALE = 10**6
SIZE_SCALE = 10**9
NS_IN_MS = 1_000_000
EVENT_FIELDS = [
    *[("ev", "u8"), ("exch_ts", "i8"), ("local_ts", "i8"), ("px", "f8"), ("qty", "f8")],
    *[("order_id", "u8"), ("ival", "i8"), ("fval", "f8")],
]


class L3Converter:
    """Turns the events of one book of level l3 into rows. An order that cannot keep its place is added anew.

    hftbacktest appends orders to the queue of their price. When an order enters before others, they are
    cancelled and added again behind it, so that every queue has the book's order after each event.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, float, float, int, int, float]] = []
        self._queues = QueueFollower()
        self._exch_ns = 0
        self._local_ns = 0

    def take(self, event: BookEvent, local_ns: int) -> None:
        """Converts an event that was received at `local_ns`, Unix nanoseconds. The book has it already."""
        if not isinstance(event, (Snapshot, Change)):
            return
        # Time never goes back in a backtest, and nothing is received before it happens.
        self._exch_ns = max(self._exch_ns, event.book.ts * NS_IN_MS)
        self._local_ns = max(self._local_ns, self._exch_ns, local_ns)
        if isinstance(event, Snapshot):
            self._add(self._queues.begin())
        self._add(self._queues.follow(event.book))

    def events(self) -> numpy.ndarray[Any, Any]:
        """All rows so far, in hftbacktest's type of events."""
        import numpy

        return numpy.array(self._rows, dtype=numpy.dtype(EVENT_FIELDS, align=True))

    def save(self, path: str | Path) -> None:
        """Writes the file that hftbacktest loads (`data` of an npz)."""
        import numpy

        numpy.savez_compressed(path, data=self.events())

    def number_of(self, order: Order) -> int:
        """The order id of the events: one for each order that the book ever had."""
        return self._queues.number_of(order)

    def _add(self, steps: Iterable[QueueStep]) -> None:
        for step in steps:
            flags = KINDS[step.kind] | EXCH_EVENT | LOCAL_EVENT | SIDE_EVENTS[step.side]
            price, size = step.price / PRICE_SCALE, step.size / SIZE_SCALE
            self._rows.append((flags, self._exch_ns, self._local_ns, price, size, step.number, 0, 0.0))
