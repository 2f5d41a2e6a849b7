"""Changes of the queues of an order-by-order book, for libraries that append an order to the queue of its price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..feed import LiveBook, Order, Side
from ..feed.messages import SIDES
from ..feed.sides import OrderKey

#: Side and price of a queue.
Place: TypeAlias = tuple[Side, int]


@dataclass(frozen=True)
class QueueStep:
    """One step: ``add`` at the end, ``modify`` to a smaller size at its place, ``cancel``, or ``clear`` of a side."""

    kind: Literal["add", "modify", "cancel", "clear"]
    side: Side
    #: 1e6; 0 of ``clear``.
    price: int
    #: 1e9; 0 of ``cancel`` and ``clear``.
    size: int
    #: One for each order that the book ever had, from 1; 0 of ``clear``.
    number: int


@dataclass(frozen=True)
class _Queued:
    number: int
    size: int


class QueueFollower:
    """Brings the queues of another to those of a book of level l3.

    When an order enters before others, they are cancelled and added again behind it, so that every queue
    has the book's order after each call.
    """

    def __init__(self) -> None:
        self._numbers: dict[OrderKey, int] = {}
        # Orders in queue order.
        self._queues: dict[Place, list[_Queued]] = {}

    def number_of(self, order: Order) -> int:
        """The number of an order in the steps: one for each order that the book ever had."""
        return self._numbers.setdefault(order.key, len(self._numbers) + 1)

    def begin(self) -> Iterator[QueueStep]:
        """Steps that empty both sides."""
        self._queues = {}
        for side in SIDES:
            yield QueueStep("clear", side, 0, 0, 0)

    def follow(self, book: LiveBook) -> Iterator[QueueStep]:
        """Steps to the queues of now."""
        wanted: dict[Place, list[_Queued]] = {}
        for side in SIDES:
            for order in book.orders(side):
                wanted.setdefault((side, order.price), []).append(_Queued(self.number_of(order), order.size))
        # An order that moves leaves its queue before it enters another.
        kept: dict[Place, list[_Queued]] = {}
        for place, queue in self._queues.items():
            kept[place] = _stay(queue, wanted.get(place, []))
            for one in queue:
                if one not in kept[place]:
                    yield QueueStep("cancel", *place, 0, one.number)
        for place, queue in wanted.items():
            held = kept.get(place, [])
            for before, after in zip(held, queue, strict=False):
                if before.size != after.size:
                    yield QueueStep("modify", *place, after.size, after.number)
            for one in queue[len(held) :]:
                yield QueueStep("add", *place, one.size, one.number)
        self._queues = wanted


def _stay(held: Sequence[_Queued], wanted: Sequence[_Queued]) -> list[_Queued]:
    """Orders that keep their place. One that grows loses it in these libraries, so it is added anew."""
    numbers = {one.number for one in wanted}
    staying = [one for one in held if one.number in numbers]
    kept = 0
    for before, after in zip(staying, wanted, strict=False):
        if before.number != after.number or after.size > before.size:
            break
        kept += 1
    return staying[:kept]
