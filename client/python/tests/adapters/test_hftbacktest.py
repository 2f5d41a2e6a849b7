"""Converted books have the book's queues after each event, by a replay of our own and in hftbacktest itself."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.model_server import ModelServer
from support.sockets import settle
from support.virtual_time import virtual

from slotbook import ConnectionOptions, FeedClient, LiveBook, Refused
from slotbook.adapters.hftbacktest import (
    ADD_ORDER_EVENT,
    CANCEL_ORDER_EVENT,
    DEPTH_CLEAR_EVENT,
    EVENT_FIELDS,
    MODIFY_ORDER_EVENT,
    SIDE_EVENTS,
    L3Converter,
)
from slotbook.feed import BookEvent
from slotbook.feed.messages import SIDES

pytest.importorskip("hftbacktest", reason="hftbacktest is not installed")

import numpy
from hftbacktest import BacktestAsset, HashMapMarketDepthBacktest
from hftbacktest.data import validate_event_order
from hftbacktest.types import event_dtype

TICK = 1e-6
STEPS = 150


class Replay:
    """Queues by the rules of hftbacktest: adds go to the end, smaller modifications keep their place."""

    def __init__(self) -> None:
        self.queues: dict[tuple[int, float], dict[int, float]] = {}
        self.read = 0

    def take(self, rows: Any) -> None:
        for row in rows[self.read :]:
            kind, side = int(row["ev"]) & 0xFF, int(row["ev"]) & (3 << 28)
            queue = self.queues.setdefault((side, float(row["px"])), {})
            number, size = int(row["order_id"]), float(row["qty"])
            if kind == DEPTH_CLEAR_EVENT:
                self.queues = {key: held for key, held in self.queues.items() if key[0] != side}
            elif kind == ADD_ORDER_EVENT:
                assert not any(number in held for held in self.queues.values())
                queue[number] = size
            elif kind == MODIFY_ORDER_EVENT:
                assert queue[number] > size
                queue[number] = size
            else:
                assert kind == CANCEL_ORDER_EVENT
                del queue[number]
        self.read = len(rows)


def queues_of(book: LiveBook, converter: L3Converter) -> dict[tuple[int, float], list[tuple[int, float]]]:
    queues: dict[tuple[int, float], list[tuple[int, float]]] = {}
    for side in SIDES:
        for order in book.orders(side):
            entry = (converter.number_of(order), order.size / 10**9)
            queues.setdefault((SIDE_EVENTS[side], order.price / 10**6), []).append(entry)
    return queues


def test_every_queue_is_the_books_after_each_event_and_in_the_library_at_the_end() -> None:
    converter = L3Converter()
    final: list[LiveBook] = []

    @virtual
    async def run() -> None:
        chance = random.Random(5)
        server = ModelServer()
        server.books["SOL-PERP"].change(chance)
        feed = FeedClient("", ConnectionOptions(open=server.open))
        replay = Replay()

        def take(event: BookEvent | Refused) -> None:
            assert not isinstance(event, Refused)
            converter.take(event, server.books["SOL-PERP"].seq * 10**9 + 1_790_000_000 * 10**9)
            replay.take(converter.events())
            held = {key: list(queue.items()) for key, queue in replay.queues.items() if queue}
            assert held == queues_of(event.book, converter)
            final[:] = [event.book]

        feed.book("SOL-PERP", level="l3").listen(take)
        await settle()
        for step in range(STEPS):
            server.books["SOL-PERP"].change(chance)
            server.publish("SOL-PERP")
            if step == STEPS // 2:
                server.restart()
            await settle()
        await feed.close()

    run()
    rows = converter.events()
    kinds = {int(ev) & 0xFF for ev in rows["ev"]}
    assert kinds == {DEPTH_CLEAR_EVENT, ADD_ORDER_EVENT, CANCEL_ORDER_EVENT, MODIFY_ORDER_EVENT}
    in_the_library(rows, final[0])


def in_the_library(rows: Any, book: LiveBook) -> None:
    """A backtest over the rows ends with the book's best prices."""
    assert numpy.dtype(EVENT_FIELDS, align=True) == event_dtype
    validate_event_order(rows)
    asset = (
        BacktestAsset()
        .data([rows])
        .linear_asset(1.0)
        .constant_order_latency(0, 0)
        .l3_fifo_queue_model()
        .no_partial_fill_exchange()
        .trading_value_fee_model(0, 0)
        .tick_size(TICK)
        .lot_size(1e-9)
    )
    backtest = HashMapMarketDepthBacktest([asset])
    # 1: the end of the data, and no fault before it.
    assert backtest.elapse(10**18) == 1
    depth = backtest.depth(0)
    assert round(depth.best_bid / TICK) == book.orders("bids")[0].price
    assert round(depth.best_ask / TICK) == book.orders("asks")[0].price
    backtest.close()
