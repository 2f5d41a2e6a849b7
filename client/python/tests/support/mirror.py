"""A user's own copy of books, made of nothing but the events of a feed."""

from __future__ import annotations

from dataclasses import dataclass, field

from slotbook import Change, Level, LiveBook, Order, Snapshot, Stale
from slotbook.feed import BookEvent, Resumed, Side
from slotbook.feed.messages import SIDES

Lines = dict[Side, list[str]]


def level_line(level: Level) -> str:
    parts = [f"{name}={level.sources[name]}" for name in ("dlob", "vamm") if name in level.sources]
    return f"{level.price} {level.size} {','.join(parts)}"


def order_line(order: Order) -> str:
    return f"{order.price} {order.size} {order.maker} {order.order_id} {order.source}"


def live_lines(book: LiveBook) -> Lines:
    """A live book as lines, read through its lists."""
    if book.level == "l2":
        return {"bids": [*map(level_line, book.bids)], "asks": [*map(level_line, book.asks)]}
    return {side: [*map(order_line, book.orders(side))] for side in SIDES}


@dataclass
class _Copy:
    level: str
    levels: dict[tuple[Side, int], Level] = field(default_factory=dict)
    orders: dict[tuple[str, int, str], Order] = field(default_factory=dict)


class BookMirror:
    """Applies events. Fails when their order is one that users are never given."""

    def __init__(self) -> None:
        self._copies: dict[str, _Copy] = {}
        self._stale: set[str] = set()

    def take(self, event: BookEvent) -> None:
        stream = event.book.stream
        if isinstance(event, Snapshot):
            self._stale.discard(stream)
            self._copies[stream] = _copy_of(event.book)
            return
        copy = self._copies[stream]
        if isinstance(event, Stale):
            assert stream not in self._stale
            self._stale.add(stream)
        elif isinstance(event, Resumed):
            assert stream in self._stale
            self._stale.remove(stream)
        else:
            _change(copy, event)

    def lines(self, stream: str) -> Lines | None:
        copy = self._copies.get(stream)
        return None if copy is None else {side: _side_lines(copy, side) for side in SIDES}


def _copy_of(book: LiveBook) -> _Copy:
    copy = _Copy(book.level)
    for side in SIDES:
        copy.levels |= {(side, level.price): level for level in getattr(book, side)}
        copy.orders |= {order.key: order for order in book.orders(side)}
    return copy


def _change(copy: _Copy, change: Change) -> None:
    for side in SIDES:
        for level in getattr(change, side):
            copy.levels.pop((side, level.price), None)
            if level.size:
                copy.levels[(side, level.price)] = level
    for ref in change.gone:
        copy.orders.pop(ref.key, None)
    copy.orders |= {order.key: order for order in change.orders}


def _side_lines(copy: _Copy, side: Side) -> list[str]:
    sign = -1 if side == "bids" else 1
    if copy.level == "l2":
        levels = [level for (own, _), level in copy.levels.items() if own == side]
        return [level_line(level) for level in sorted(levels, key=lambda level: sign * level.price)]
    orders = [order for order in copy.orders.values() if order.side == side]
    return [order_line(order) for order in sorted(orders, key=lambda order: (sign * order.price, order.rank))]
