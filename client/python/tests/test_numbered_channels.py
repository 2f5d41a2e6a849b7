"""Numbered fills and orders of accounts: each once, in order, whatever happens to connection and messages."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from support.model_channels import ACCOUNT, MARKET, ModelChannels
from support.sockets import settle
from support.virtual_time import virtual

from slotbook import (
    AccountSnapshot,
    ConnectionOptions,
    FeedClient,
    NumberedTrade,
    OrderChange,
    TradesMissing,
    TradeWithdrawn,
)
from slotbook.feed import AccountEvent, AccountOrder, Refused, TradesEvent
from slotbook.feed.messages import Commitment

#: Two heartbeats, and the pauses of reconnects.
HEALED_S = 16
#: More in a soak.
SEEDS = int(os.environ.get("SLOTBOOK_CHAOS_SEEDS", "60"))


def start(commitment: Commitment = "confirmed") -> tuple[FeedClient, ModelChannels]:
    server = ModelChannels(commitment)
    return FeedClient("", ConnectionOptions(open=server.open)), server


def terms(order: AccountOrder) -> tuple[int, int, int, int]:
    return (order.market_index, order.order_id, order.price, order.base_asset_amount_filled)


def truth_of(server: ModelChannels) -> list[tuple[int, int, int, int]]:
    names = ("marketIndex", "orderId", "price", "baseAssetAmountFilled")
    return [
        (int(one[names[0]]), int(one[names[1]]), int(one[names[2]]), int(one[names[3]]))
        for _, one in sorted(server.open_orders.items())
    ]


@virtual
async def test_an_account_is_a_snapshot_of_all_parts_then_changes_with_cause_and_fill() -> None:
    feed, server = start()
    server.change(1, 4, "placed")
    orders = feed.account_orders(ACCOUNT)
    reader = aiter(orders)
    first = await anext(reader)
    assert isinstance(first, AccountSnapshot)
    assert [terms(one) for one in first.orders.open] == [(1, 4, 5_000_000, 0)]
    server.change(1, 4, "filled")
    second = await anext(reader)
    assert isinstance(second, OrderChange)
    assert second.fill is not None
    assert (second.cause, second.fill.quote_asset_amount, second.order.oracle_price_offset) == ("filled", 5, -5)
    for cause in ("reconstructed", "a cause of a newer server"):
        server.change(1, 4, cause)
        another = await anext(reader)
        assert isinstance(another, OrderChange)
        assert another.cause == cause
    server.change(1, 4, "cancelled")
    third = await anext(reader)
    assert isinstance(third, OrderChange)
    assert (third.is_open, third.fill, third.orders.open) == (False, None, [])
    assert third.orders is orders.orders()
    await feed.close()
    with pytest.raises(StopAsyncIteration):
        await anext(reader)


@virtual
async def test_an_account_continues_after_a_lost_connection_with_the_changes_of_that_time() -> None:
    feed, server = start()
    events: list[str] = []
    orders = feed.account_orders(ACCOUNT)
    orders.listen(lambda event: events.append(event.type))
    await settle()
    server.socket.drop()
    server.change(0, 1, "placed")
    await settle()
    kept = orders.orders()
    assert kept is not None
    assert not kept.is_current
    await asyncio.sleep(2)
    assert events == ["snapshot", "stale", "change", "resumed"]
    assert kept.is_current
    await feed.close()


@virtual
async def test_one_subscription_of_an_account_goes_on_when_another_ends() -> None:
    feed, server = start()
    first = feed.account_orders(ACCOUNT)
    await settle()
    events: list[str] = []
    second = feed.account_orders(ACCOUNT)
    second.listen(lambda event: events.append(event.type))
    await settle()
    first.close()
    await settle()
    server.change(0, 4, "placed")
    await settle()
    assert events == ["snapshot", "change"]
    await feed.close()


@virtual
async def test_an_account_goes_on_when_another_subscription_of_it_ends_before_its_answer() -> None:
    feed, server = start()
    events: list[str] = []
    first = feed.account_orders(ACCOUNT)
    first.listen(lambda event: events.append(event.type))
    await settle()
    feed.account_orders(ACCOUNT).close()
    await settle()
    server.change(0, 4, "placed")
    await settle()
    assert events == ["snapshot", "change"]
    first.close()
    third, fourth = feed.account_orders(ACCOUNT), feed.account_orders(ACCOUNT)
    later: list[str] = []
    fourth.listen(lambda event: later.append(event.type))
    third.close()
    await settle()
    server.change(0, 6, "placed")
    await settle()
    assert later[-1] == "change"
    await feed.close()


@virtual
async def test_an_account_is_asked_for_again_when_heartbeats_leave_a_part_out() -> None:
    feed, server = start()
    events: list[str] = []
    feed.account_orders(ACCOUNT).listen(lambda event: events.append(event.type))
    await settle()
    server.forget(0)
    await asyncio.sleep(HEALED_S)
    assert events == ["snapshot", "stale", "resumed"]
    server.change(0, 4, "placed")
    await settle()
    assert events[3:] == ["change"]
    await feed.close()


@virtual
async def test_queue_positions_come_to_those_who_ask_until_they_leave() -> None:
    feed, server = start()
    server.change(0, 4, "placed")
    place = {"marketType": "perp", "marketIndex": 0, "orderId": 4, "source": "user", "side": "asks", "price": "5000000"}
    sizes = {"size": "3", "sizeAhead": "40", "ordersAhead": 2, "book": {"epoch": 7, "seq": 9, "slot": 88}}
    queue = {"channel": "account", "type": "queue", "account": ACCOUNT, "positions": [{**place, **sizes}]}
    plain, asking = feed.account_orders(ACCOUNT), feed.account_orders(ACCOUNT, queue=True)
    events: list[str] = []
    plain.listen(lambda event: events.append(event.type))
    reader = aiter(asking)
    await settle()
    assert [message.get("queue") for message in server.socket.sent] == [None, True]
    server.socket.say({**queue, "positions": [{**place, **sizes, "sizeAhead": "x"}]})
    server.socket.say(queue)
    kinds: list[str] = []
    while "queue" not in kinds:
        event = await anext(reader)
        kinds.append(event.type)
    orders = asking.orders()
    assert orders is not None
    [position] = orders.queue
    assert (position.key, position.size_ahead, position.orders_ahead) == (("perp", 0, 4), 40, 2)
    assert (position.book.seq, position.slot) == (9, 88)
    assert position.key == orders.open[0].key
    assert "queue" not in events
    asking.close()
    await settle()
    assert orders.queue == ()
    assert "queue" not in server.socket.sent[-1]
    server.socket.say(queue)
    server.socket.drop()
    await settle()
    assert orders.queue == ()
    await feed.close()


@virtual
async def test_a_rejected_request_says_why() -> None:
    feed, _ = start()
    orders, trades = feed.account_orders("x"), feed.numbered_trades("NO-PERP")
    await settle()
    for refusal in (orders.refusal, trades.refusal):
        assert refusal is not None
        assert (refusal.code, refusal.error, refusal.retry) == ("account", "no such account", False)
    with pytest.raises(ValueError, match="either account or authority"):
        feed.account_orders(ACCOUNT, authority=ACCOUNT)
    await feed.close()


@virtual
async def test_a_slow_reader_of_an_account_gets_a_snapshot_in_place_of_a_growing_queue() -> None:
    feed, server = start()
    reader = aiter(feed.account_orders(ACCOUNT))
    await settle()
    for count in range(5_001):
        server.change(0, count, "placed")
        server.change(0, count, "cancelled")
        await asyncio.sleep(0)
    await settle()
    assert [(await anext(reader)).type for _ in range(3)] == ["snapshot", "change", "change"]
    await feed.close()


@virtual
async def test_fills_come_once_with_exact_data_and_the_newest_ten_thousand_wait_for_a_slow_reader() -> None:
    feed, server = start()
    trades = feed.numbered_trades("sol-perp")
    reader = aiter(trades)
    await settle()
    for _ in range(10_100):
        server.fill()
    await asyncio.sleep(1)
    first = await anext(reader)
    assert (first.market, first.version.seq, first.trade["takerFee"]) == (MARKET, 101, Decimal("0.1"))
    assert (first.slot, first.tx_index, first.tx_sig_index) == (201, 1100 % 7, 1100 % 3)
    assert trades.missed == 100
    await feed.close()
    with pytest.raises(StopAsyncIteration):
        await anext(reader)


@virtual
async def test_fills_at_processed_are_withdrawn_in_the_same_sequence_over_a_lost_connection() -> None:
    feed, server = start("processed")
    events: list[TradesEvent | Refused] = []
    feed.numbered_trades("sol-perp", commitment="processed").listen(events.append)
    confirmed: list[TradesEvent | Refused] = []
    feed.numbered_trades("sol-perp").listen(confirmed.append)
    await settle()
    server.fill()
    server.withdraw()
    server.fill()
    server.socket.drop()
    server.withdraw()
    await asyncio.sleep(2)
    found = [event for event in events if isinstance(event, (NumberedTrade, TradeWithdrawn))]
    assert [(event.type, event.version.seq) for event in found] == [
        ("trade", 1),
        ("withdrawn", 2),
        ("trade", 3),
        ("withdrawn", 4),
    ]
    assert [event.trade_seq for event in found if isinstance(event, TradeWithdrawn)] == [1, 3]
    assert [event.commitment for event in found if isinstance(event, NumberedTrade)] == ["processed"] * 2
    assert not any(isinstance(event, NumberedTrade) for event in confirmed)
    await feed.close()


@virtual
async def test_fills_of_a_lost_connection_follow_and_those_of_a_lost_server_are_named() -> None:
    feed, server = start()
    trades = feed.numbered_trades("*")
    seen: list[object] = []

    def note(event: TradesEvent | Refused) -> None:
        seen.append(event.version.seq if isinstance(event, NumberedTrade) else event.type)

    trades.listen(note)
    await settle()
    server.fill()
    server.socket.drop()
    server.fill()
    await asyncio.sleep(2)
    assert seen == ["started", 1, "stale", "resumed", 2]
    server.socket.drop()
    server.fill()
    server.restart()
    await asyncio.sleep(2)
    assert seen[5:] == ["stale", "missing"]
    server.fill()
    await settle()
    assert seen[7:] == [4]
    await feed.close()


FAULTS = ["drop", "alter", "falsify", "forge", "repeat"]
STEPS = ["change"] * 10 + ["fill"] * 6 + ["pass"] * 4 + ["fault"] * 4 + ["reconnect", "restart", "epoch", "other"]
TOTAL: Counter[str] = Counter()


def spoil_next(server: ModelChannels, fault: str) -> None:
    """Does something to the next message with a checksum, a number or amounts; a drop takes any message."""

    def tamper(text: str) -> list[str]:
        if fault in ("alter", "falsify", "forge") and '"checksum":' not in text:
            return [text]
        server.tamper = lambda rest: [rest]
        if fault == "drop":
            return []
        if fault == "repeat":
            return [text, text]
        if fault == "forge":
            return [re.sub(r'"checksum": \d+', '"checksum": 1', text)]
        if fault == "falsify":
            return [text.replace('"price": "5000000"', '"price": "5000007"')]
        return [re.sub(r'"(price|fillRecordId)": "\d+"', r'"\1": "x"', text)]

    server.tamper = tamper


class Follower:
    """Open orders and fills from events alone."""

    def __init__(self, feed: FeedClient, server: ModelChannels) -> None:
        self._server = server
        self.accounts = feed.account_orders(ACCOUNT)
        self.accounts.listen(self._take_account)
        self.orders: dict[Any, AccountOrder] = {}
        #: Epoch and number of each fill, and of the newest one after a hole.
        self.fills: list[tuple[int, int]] = []
        self.missing: list[TradesMissing] = []
        feed.numbered_trades(MARKET).listen(self._take_trade)

    def _take_account(self, event: AccountEvent | Refused) -> None:
        assert not isinstance(event, Refused)
        TOTAL[event.type] += 1
        if isinstance(event, AccountSnapshot):
            self.orders = {order.key: order for order in event.orders.open}
        elif isinstance(event, OrderChange):
            self.orders.pop(event.order.key, None)
            if event.is_open:
                self.orders[event.order.key] = event.order
            assert sorted(self.orders.values(), key=lambda one: one.key) == event.orders.open

    def _take_trade(self, event: TradesEvent | Refused) -> None:
        TOTAL["trades " + event.type] += 1
        if isinstance(event, TradesMissing):
            self.missing.append(event)
            self.fills.append((event.now.epoch, event.now.seq))
        elif isinstance(event, NumberedTrade):
            version = (event.version.epoch, event.version.seq)
            if self.fills:
                assert version == (self.fills[-1][0], self.fills[-1][1] + 1)
            assert event.trade["fillRecordId"] == version[0] * 1000 + version[1] - 1
            self.fills.append(version)

    def compare(self) -> None:
        """Everything is as on the server."""
        orders = self.accounts.orders()
        assert orders is not None
        assert orders.is_current
        assert [terms(one) for one in orders.open] == truth_of(self._server)
        assert sorted(self.orders.values(), key=lambda one: one.key) == orders.open
        version = self._server.fills.version
        last = self.fills[-1] if self.fills else (1, 0)
        assert last == (version["epoch"], version["seq"])


@virtual
async def live_through(seed: int) -> None:
    chance = random.Random(seed)
    feed, server = start()
    follower = Follower(feed, server)
    await settle()
    for _ in range(chance.randint(5, 40)):
        step = chance.choice(STEPS)
        if step == "change":
            server.change(chance.randrange(2), chance.randrange(4), chance.choice(["placed", "filled", "cancelled"]))
        elif step == "fill":
            server.fill()
        elif step == "pass":
            await asyncio.sleep(chance.choice([0.01, 0.6, 6.0]))
        elif step == "fault":
            spoil_next(server, chance.choice(FAULTS))
        elif step == "reconnect":
            feed.reconnect()
        elif step == "restart":
            server.restart()
        elif step == "other":
            feed.account_orders(ACCOUNT).close()
        else:
            server.end_epochs()
        await settle()
    server.tamper = lambda text: [text]
    await asyncio.sleep(HEALED_S)
    follower.compare()
    server.fill()
    server.change(0, 9, "placed")
    await asyncio.sleep(HEALED_S)
    follower.compare()
    await feed.close()


def test_a_follower_is_never_wrong_while_current_and_heals_whatever_happens() -> None:
    for seed in range(SEEDS):
        live_through(seed)
    for name in ("snapshot", "change", "resumed", "stale", "trades trade", "trades resumed", "trades missing"):
        assert TOTAL[name] > 10, name
