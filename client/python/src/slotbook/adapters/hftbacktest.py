"""Books of level l3 as events of hftbacktest, so that its order-by-order backtests have true queue positions.

Needs numpy to make the array; hftbacktest reads it. Prices and sizes are floats there, from exact integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..feed import BookEvent, Change, LiveBook, Order, Side, Snapshot
from ..feed.messages import SIDES
from ..feed.sides import OrderKey

if TYPE_CHECKING:
    import numpy

#: Kinds of events and their flags, from `hftbacktest.types`.
DEPTH_CLEAR_EVENT, ADD_ORDER_EVENT, CANCEL_ORDER_EVENT, MODIFY_ORDER_EVENT = 3, 10, 11, 12
EXCH_EVENT, LOCAL_EVENT = 1 << 31, 1 << 30
SIDE_EVENTS: dict[Side, int] = {"bids": 1 << 29, "asks": 1 << 28}
PRICE_SCALE = 10**6
SIZE_SCALE = 10**9
NS_IN_MS = 1_000_000
EVENT_FIELDS = [
    *[("ev", "u8"), ("exch_ts", "i8"), ("local_ts", "i8"), ("px", "f8"), ("qty", "f8")],
    *[("order_id", "u8"), ("ival", "i8"), ("fval", "f8")],
]


#: Side and price of a queue.
_Place: TypeAlias = tuple[Side, int]


@dataclass(frozen=True)
class _Queued:
    number: int
    size: int


class L3Converter:
    """Turns the events of one book of level l3 into rows. An order that cannot keep its place is added anew.

    hftbacktest appends orders to the queue of their price. When an order enters before others, they are
    cancelled and added again behind it, so that every queue has the book's order after each event.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, float, float, int, int, float]] = []
        self._numbers: dict[OrderKey, int] = {}
        # Orders in queue order.
        self._queues: dict[_Place, list[_Queued]] = {}
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
            self._clear()
        queues = _queues_of(event.book)
        wanted = {key: [_Queued(self.number_of(one), one.size) for one in queue] for key, queue in queues.items()}
        # An order that moves leaves its queue before it enters another.
        for key, queue in list(self._queues.items()):
            self._queues[key] = self._cancel(key, queue, wanted.get(key, []))
        for key, queue in wanted.items():
            self._fill(key, self._queues.get(key, []), queue)
        self._queues = wanted

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
        return self._numbers.setdefault(order.key, len(self._numbers) + 1)

    def _clear(self) -> None:
        for side in SIDES:
            self._add(DEPTH_CLEAR_EVENT, (side, 0), 0, 0)
        self._queues = {}

    def _cancel(self, key: _Place, held: Sequence[_Queued], wanted: Sequence[_Queued]) -> list[_Queued]:
        """Cancels orders that left, and those that lost their place. Returns the others."""
        numbers = {one.number for one in wanted}
        staying = [one for one in held if one.number in numbers]
        kept = staying[: _places_kept(staying, wanted)]
        for one in held:
            if one not in kept:
                self._add(CANCEL_ORDER_EVENT, key, 0, one.number)
        return kept

    def _fill(self, key: _Place, kept: Sequence[_Queued], wanted: Sequence[_Queued]) -> None:
        """Brings a queue to the sizes of the book, and adds the orders behind those that kept their place."""
        for before, after in zip(kept, wanted, strict=False):
            if before.size != after.size:
                self._add(MODIFY_ORDER_EVENT, key, after.size, after.number)
        for one in wanted[len(kept) :]:
            self._add(ADD_ORDER_EVENT, key, one.size, one.number)

    def _add(self, kind: int, key: _Place, size: int, number: int) -> None:
        side, price = key
        flags = kind | EXCH_EVENT | LOCAL_EVENT | SIDE_EVENTS[side]
        times = (self._exch_ns, self._local_ns)
        self._rows.append((flags, *times, price / PRICE_SCALE, size / SIZE_SCALE, number, 0, 0.0))


def _queues_of(book: LiveBook) -> dict[_Place, list[Order]]:
    queues: dict[_Place, list[Order]] = {}
    for side in SIDES:
        for order in book.orders(side):
            queues.setdefault((side, order.price), []).append(order)
    return queues


def _places_kept(held: Sequence[_Queued], wanted: Sequence[_Queued]) -> int:
    """Orders at the head that keep their place. An order that grows loses it in hftbacktest, so it is added anew."""
    kept = 0
    for before, after in zip(held, wanted, strict=False):
        if before.number != after.number or after.size > before.size:
            break
        kept += 1
    return kept
