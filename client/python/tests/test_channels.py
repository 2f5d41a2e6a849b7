"""The compatible channels: second parse, slot order, subscriptions after a reconnect, silence, slow readers."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from support.sockets import ScriptedSockets, settle
from support.virtual_time import virtual
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

from slotbook import ConnectionOptions, FeedClient
from slotbook.feed import ChannelStale, Connected, Data, Disconnected, FeedEvent


def book(market: str, slot: int) -> dict[str, Any]:
    return {"marketName": market, "marketType": "perp", "slot": slot, "bids": [], "asks": []}


def trade(market_index: int, fill: int) -> dict[str, Any]:
    return {"marketIndex": market_index, "marketType": "perp", "fillRecordId": fill, "slot": 5, "takerFee": 0.1}


def start(**options: Any) -> tuple[FeedClient, ScriptedSockets]:
    sockets = ScriptedSockets()
    return FeedClient("ws://server/ws", ConnectionOptions(open=sockets.open, **options)), sockets


async def answer(sockets: ScriptedSockets, known: str) -> None:
    """Answers every subscribe of the newest socket in order, as the gateway does: only one market is known."""
    for one in [one for one in sockets.newest.sent if one["type"] == "subscribe"]:
        channel, market, kind = one["channel"], one["market"], one["marketType"]
        text = f"Subscribe received for channel: {channel}, market: {market}, marketType: {kind}"
        error = {"channel": channel, "error": "Error subscribing to channel"}
        sockets.newest.say({"message": text} if market == known else error)
    await settle()


async def pause_after_drop(sockets: ScriptedSockets, error: Exception | None = None) -> float:
    """Seconds from a loss to the next socket."""
    lost_at = asyncio.get_running_loop().time()
    sockets.newest.drop(error)
    await asyncio.sleep(1.001)
    return sockets.opened_at[-1] - lost_at


@virtual
async def test_books_are_parsed_a_second_time_whether_they_are_text_or_not() -> None:
    feed, sockets = start()
    slots: list[int] = []
    books = feed.orderbook("sol-perp", grouping=10)
    books.listen(lambda event: slots.append(event.data["slot"]) if isinstance(event, Data) else None)
    await settle()
    request = {"type": "subscribe", "channel": "orderbook", "market": "SOL-PERP", "marketType": "perp"}
    assert sockets.newest.sent == [{**request, "grouping": 10}]
    sockets.newest.data("orderbook_perp_0_grouped_10", book("SOL-PERP", 7))
    sockets.newest.say({"channel": "orderbook_perp_0_grouped_10", "data": book("SOL-PERP", 8)})
    await settle()
    assert slots == [7, 8]
    await feed.close()


@virtual
async def test_a_book_of_an_earlier_slot_is_dropped_and_groupings_stay_apart() -> None:
    feed, sockets = start()
    plain, indicative = feed.orderbook("SOL-PERP"), feed.orderbook("SOL-PERP", indicative=True)
    await settle()
    sockets.newest.data("orderbook_perp_0_grouped_1", book("SOL-PERP", 9))
    sockets.newest.data("orderbook_perp_0_grouped_1", book("SOL-PERP", 8))
    sockets.newest.data("orderbook_perp_0_grouped_1_indicative", book("SOL-PERP", 3))
    sockets.newest.data("orderbook_perp_0_grouped_100", book("SOL-PERP", 99))
    await settle()
    assert plain.latest is not None
    assert indicative.latest is not None
    assert (plain.latest["slot"], indicative.latest["slot"]) == (9, 3)
    await feed.close()


@virtual
async def test_a_book_of_a_market_that_was_left_is_dropped() -> None:
    feed, sockets = start()
    left = feed.orderbook("SOL-PERP")
    await settle()
    sockets.newest.data("orderbook_perp_0_grouped_1", book("SOL-PERP", 9))
    await settle()
    left.close()
    books = feed.orderbook("BTC-PERP")
    sockets.newest.data("orderbook_perp_0_grouped_1", book("SOL-PERP", 10))
    await settle()
    assert books.latest is None
    sockets.newest.data("orderbook_perp_1_grouped_1", book("BTC-PERP", 3))
    await settle()
    assert books.latest is not None
    await feed.close()


@virtual
async def test_trades_of_a_market_that_was_left_are_dropped_and_its_short_books_end() -> None:
    feed, sockets = start()
    left, early = feed.trades("SOL-PERP"), feed.trades("ETH-PERP")
    await settle()
    early.close()
    sockets.newest.data("orderbook_perp_0_grouped_1000", book("SOL-PERP", 4))
    sockets.newest.data("orderbook_perp_2_grouped_1000", book("ETH-PERP", 4))
    await settle()
    ended = [one for one in sockets.newest.sent if one["type"] == "unsubscribe" and one["channel"] == "orderbook"]
    assert [one["market"] for one in ended] == ["SOL-PERP", "ETH-PERP"]
    left.close()
    trades = feed.trades("BTC-PERP")
    for index in (0, 2):
        sockets.newest.data(f"trades_perp_{index}", trade(index, 10))
    await settle()
    assert trades.latest is None
    sockets.newest.data("trades_perp_1", trade(1, 11))
    await settle()
    assert trades.latest is not None
    await feed.close()


@pytest.mark.parametrize("markets", [("SOL-PERP", "NO-PERP"), ("NO-PERP", "SOL-PERP")])
def test_only_the_trades_of_an_unknown_market_are_refused(markets: tuple[str, str]) -> None:
    @virtual
    async def run() -> None:
        feed, sockets = start()
        trades = [feed.trades(market) for market in markets]
        await settle()
        await answer(sockets, "SOL-PERP")
        assert [one.market for one in trades if one.refusal is not None] == ["NO-PERP"]
        await feed.close()

    run()


@virtual
async def test_an_order_book_is_not_refused_with_the_short_book_of_an_unknown_market() -> None:
    feed, sockets = start()
    unknown, books = feed.trades("FOO-PERP"), feed.orderbook("SOL-PERP")
    await settle()
    await answer(sockets, "SOL-PERP")
    assert unknown.refusal is not None
    assert books.refusal is None
    await feed.close()


@virtual
async def test_an_unsubscribe_that_fails_refuses_nothing_and_nothing_closed_is_refused() -> None:
    feed, sockets = start()
    closed, trades = feed.trades("FOO-PERP"), feed.trades("SOL-PERP")
    await settle()
    closed.close()
    sockets.newest.say({"channel": "trades", "error": "Error unsubscribing from channel"})
    await answer(sockets, "SOL-PERP")
    assert closed.refusal is None
    assert trades.refusal is None
    await feed.close()


@virtual
async def test_answers_to_requests_of_an_earlier_connection_are_awaited_no_more() -> None:
    feed, sockets = start()
    known = feed.trades("SOL-PERP")
    await settle()
    sockets.newest.drop()
    await asyncio.sleep(1)
    unknown = feed.trades("NO-PERP")
    await settle()
    await answer(sockets, "SOL-PERP")
    assert known.refusal is None
    assert unknown.refusal is not None
    await feed.close()


@virtual
async def test_a_slow_reader_gets_only_the_newest_book() -> None:
    feed, sockets = start()
    books = feed.orderbook("SOL-PERP")
    reader = aiter(books)
    await settle()
    for slot in range(1, 51):
        sockets.newest.data("orderbook_perp_0_grouped_1", book("SOL-PERP", slot))
    await settle()
    assert (await anext(reader))["slot"] == 50
    sockets.newest.data("orderbook_perp_0_grouped_1", book("SOL-PERP", 51))
    assert (await anext(reader))["slot"] == 51
    await feed.close()


@virtual
async def test_frames_that_are_no_json_are_skipped() -> None:
    feed, sockets = start()
    books = feed.orderbook("SOL-PERP")
    await settle()
    for frame in ["", "{", "[]", "7", '{"channel":7}', '{"channel":"orderbook_perp_0_grouped_1","data":"{"}']:
        sockets.newest.say(frame)
    await settle()
    assert books.latest is None
    assert len(sockets.all) == 1
    await feed.close()


@virtual
async def test_trades_go_to_their_market_whose_index_a_short_book_gives() -> None:
    feed, sockets = start()
    seen: list[tuple[str, Any]] = []

    def note(market: str, event: object) -> None:
        if isinstance(event, Data):
            seen.append((market, event.data))

    for market in ("SOL-PERP", "BTC-PERP"):
        feed.trades(market).listen(partial(note, market))
    await settle()
    probes = [message for message in sockets.newest.sent if message["channel"] == "orderbook"]
    probe = {"channel": "orderbook", "marketType": "perp", "grouping": 1000, "type": "subscribe"}
    assert probes == [{**probe, "market": "SOL-PERP"}, {**probe, "market": "BTC-PERP"}]
    sockets.newest.data("trades_perp_1", trade(1, 10))
    sockets.newest.data("orderbook_perp_1_grouped_1000", book("BTC-PERP", 4))
    sockets.newest.data("orderbook_perp_0_grouped_1000", book("SOL-PERP", 4))
    sockets.newest.data("trades_perp_0", trade(0, 11))
    sockets.newest.data("trades_perp_1", trade(1, 12))
    await settle()
    assert [(market, data["fillRecordId"]) for market, data in seen] == [
        ("BTC-PERP", 10),
        ("SOL-PERP", 11),
        ("BTC-PERP", 12),
    ]
    assert seen[0][1]["takerFee"] == Decimal("0.1")
    assert sum(message["type"] == "unsubscribe" for message in sockets.newest.sent) == 2
    await feed.close()


@virtual
async def test_the_newest_ten_thousand_trades_wait_for_a_slow_reader() -> None:
    feed, sockets = start()
    trades = feed.trades("SOL-PERP")
    reader = aiter(trades)
    await settle()
    for fill in range(10_100):
        sockets.newest.data("trades_perp_0", trade(0, fill))
    await asyncio.sleep(1)
    assert [(await anext(reader))["fillRecordId"] for _ in range(2)] == [100, 101]
    assert trades.missed == 100
    trades.close()
    with pytest.raises(StopAsyncIteration):
        await anext(reader)
    await feed.close()


@virtual
async def test_every_subscription_is_restored_after_a_loss() -> None:
    feed, sockets = start()
    events: list[object] = []
    feed.orderbook("SOL-PERP").listen(events.append)
    feed.priority_fees("SOL", market_type="spot")
    closed = feed.orderbook("BTC-PERP")
    await settle()
    closed.close()
    sockets.newest.drop()
    await settle()
    assert events == [ChannelStale()]
    await asyncio.sleep(1)
    assert len(sockets.all) == 2
    named = [(one["type"], one["channel"], one["market"]) for one in sockets.newest.sent]
    assert named == [
        ("subscribe", "orderbook", "SOL-PERP"),
        ("subscribe", "orderbook", "SOL"),
        ("subscribe", "priorityfees", "SOL"),
    ]
    await feed.close()


@virtual
async def test_silence_brings_a_new_socket_and_heartbeats_do_not() -> None:
    feed, sockets = start()
    feed.orderbook("SOL-PERP")
    await settle()
    for _ in range(10):
        await asyncio.sleep(5)
        sockets.newest.say({"channel": "heartbeat"})
    await settle()
    assert len(sockets.all) == 1
    await asyncio.sleep(30)
    assert len(sockets.all) > 1
    assert sockets.all[0].is_closed
    await feed.close()


@virtual
async def test_pauses_grow_after_each_failure_up_to_a_limit_and_are_never_the_same() -> None:
    feed, sockets = start(retry_min_s=0.1, retry_max_s=1)
    sockets.is_down = True
    feed.orderbook("SOL-PERP")
    await asyncio.sleep(12)
    times = sockets.opened_at
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert len(pauses) > 8
    assert max(pauses) <= 1.001
    assert min(pauses[4:]) >= 0.499
    assert len({round(pause, 6) for pause in pauses[4:]}) > 1
    sockets.is_down = False
    await asyncio.sleep(2)
    assert len(sockets.newest.sent) == 1
    await feed.close()


@virtual
async def test_pauses_grow_too_when_a_server_accepts_and_closes_at_once() -> None:
    feed, sockets = start(retry_min_s=0.1, retry_max_s=1)
    feed.orderbook("SOL-PERP")
    await settle()
    pauses = [await pause_after_drop(sockets) for _ in range(8)]
    assert min(pauses[4:]) >= 0.499
    await asyncio.sleep(6)
    assert await pause_after_drop(sockets) <= 0.101
    await feed.close()


@virtual
async def test_the_pause_is_longest_when_a_server_knows_no_such_channel() -> None:
    feed, sockets = start(retry_min_s=0.1, retry_max_s=1)
    feed.orderbook("SOL-PERP")
    await settle()
    assert await pause_after_drop(sockets, ConnectionClosedError(Close(1003, "unknown channel"), None)) >= 0.499
    await feed.close()


@virtual
async def test_the_user_learns_of_connections_losses_and_refusals() -> None:
    feed, sockets = start()
    events: list[FeedEvent] = []
    feed.listen(events.append)
    whole, exact = feed.orderbook("NO-PERP"), feed.book("NO-PERP")
    await settle()
    sockets.newest.say({"channel": "orderbook", "error": "Error subscribing to channel"})
    request = next(message for message in sockets.newest.sent if message["channel"] == "book")
    refusal = {"channel": "book", "type": "error", "code": "market", "error": "no such market", "retry": True}
    sockets.newest.say({**refusal, "id": request["id"]})
    sockets.newest.drop()
    await settle()
    assert whole.refusal is not None
    assert exact.refusal is not None
    assert (whole.refusal.error, exact.refusal.code) == ("Error subscribing to channel", "market")
    assert events == [Connected(1), Disconnected("the connection is lost")]
    await feed.close()


def test_a_listener_that_fails_is_reported_and_stops_nothing() -> None:
    reported: list[dict[str, Any]] = []

    @virtual
    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        feed, sockets = start()
        books = feed.orderbook("SOL-PERP")
        books.listen(lambda event: 1 / 0)  # type: ignore[arg-type]
        slots: list[object] = []
        books.listen(slots.append)
        await settle()
        sockets.newest.data("orderbook_perp_0_grouped_1", book("SOL-PERP", 9))
        await settle()
        assert len(slots) == 1
        await feed.close()

    run()
    assert isinstance(reported[0]["exception"], ZeroDivisionError)
