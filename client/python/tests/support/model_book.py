"""A book of plain maps that makes its own random changes, for the model server of these tests.

It exists beside test/conformance/model-book.ts and the naive book of the tests (test/support/processors/book/naive.ts)
because the tests of the Python package run without Node.
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any, Literal

from slotbook.feed import Side
from slotbook.feed.messages import SIDES

MID = 100_000
TICKS = 10


@dataclass
class Entry:
    """An entry that a stream shows: as in a snapshot, as a diff says it leaves, and its checksum line."""

    entry: Any
    gone: Any
    line: str
    price: int


State = dict[Side, dict[str, Entry]]


@dataclass
class ModelBook:
    epoch: int = 1
    seq: int = 0
    slot: int = 100
    levels: dict[Side, dict[int, tuple[int, int]]] = field(default_factory=lambda: {"bids": {}, "asks": {}})
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)
    arrivals: int = 0

    def change(self, chance: random.Random) -> None:
        """One published change."""
        self.seq += 1
        for _ in range(chance.randint(0, 4)):
            self.slot += chance.randint(0, 1)
            self._change_level(chance)
            self._change_order(chance)

    def next_epoch(self) -> None:
        """A later epoch with an empty book."""
        self.epoch += 1
        self.seq = 0
        self.levels = {"bids": {}, "asks": {}}
        self.orders = {}

    def copy(self) -> ModelBook:
        return copy.deepcopy(self)

    def visible(self, level: Literal["l2", "l3"], depth: int | None) -> State:
        """What a stream of this depth shows, best first, by key."""
        state: State = {}
        for side in SIDES:
            entries = self._visible_levels(side) if level == "l2" else self._visible_orders(side)
            prices = sorted({one.price for one in entries.values()}, reverse=side == "bids")[:depth]
            state[side] = {key: one for key, one in entries.items() if one.price in prices}
        return state

    def _change_level(self, chance: random.Random) -> None:
        side = chance.choice(SIDES)
        dlob, vamm = chance.randint(0, 3), chance.randint(0, 2) * (2**53 + 1)
        if dlob + vamm:
            self.levels[side][_price(side, chance)] = (dlob, vamm)
        else:
            self.levels[side].pop(_price(side, chance), None)

    def _change_order(self, chance: random.Random) -> None:
        order_id = chance.randint(1, 12)
        source = "user" if order_id % 2 else "clob"
        maker = f"M{order_id % 3}"
        key = f"{source}:{order_id}:{maker}"
        if chance.random() < 0.3:
            self.orders.pop(key, None)
            return
        side = chance.choice(SIDES)
        self.arrivals += 1
        rank = [chance.randint(1, 3), chance.randint(90, 110), self.arrivals]
        entry = {"price": str(_price(side, chance)), "size": str(chance.randint(1, 9)), "maker": maker}
        self.orders[key] = {"side": side, "entry": {**entry, "orderId": order_id, "source": source, "rank": rank}}

    def _visible_levels(self, side: Side) -> dict[str, Entry]:
        visible = {}
        for price, (dlob, vamm) in sorted(self.levels[side].items(), reverse=side == "bids"):
            head = [str(price), str(dlob + vamm)]
            sources = {name: str(size) for name, size in (("dlob", dlob), ("vamm", vamm)) if size}
            entry = head if not vamm else [*head, "vamm"] if not dlob else [*head, sources]
            line = " ".join([*head, ",".join(f"{name}={size}" for name, size in sources.items())])
            visible[f"{side} {price}"] = Entry(entry, [str(price), "0"], line, price)
        return visible

    def _visible_orders(self, side: Side) -> dict[str, Entry]:
        sign = -1 if side == "bids" else 1
        own = [(key, one["entry"]) for key, one in self.orders.items() if one["side"] == side]
        own.sort(key=lambda one: (sign * int(one[1]["price"]), one[1]["rank"]))
        names = ("maker", "orderId", "source")
        return {
            key: Entry(
                entry,
                {name: entry[name] for name in names},
                " ".join(str(entry[name]) for name in ("price", "size", *names)),
                int(entry["price"]),
            )
            for key, entry in own
        }


def _price(side: Side, chance: random.Random) -> int:
    ticks = chance.randrange(TICKS)
    return MID - ticks if side == "bids" else MID + 1 + ticks
