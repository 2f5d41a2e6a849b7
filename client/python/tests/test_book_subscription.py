"""What readers and listeners of books get, and how long it stays bounded."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from support.mirror import live_lines
from support.model_server import ModelServer, lines_of
from support.sockets import settle
from support.virtual_time import virtual

from slotbook import Change, ConnectionOptions, FeedClient, Resumed, Snapshot, Stale
from slotbook.feed import BookSubscription, Side
from slotbook.feed.choices import BookChoice
from slotbook.feed.messages import BookLevelKind


def start() -> tuple[FeedClient, ModelServer]:
    server = ModelServer()
    server.books["SOL-PERP"].change(random.Random(1))
    return FeedClient("", ConnectionOptions(open=server.open)), server


def change(server: ModelServer, times: int = 1, seed: int = 2) -> None:
    chance = random.Random(seed)
    for _ in range(times):
        server.books["SOL-PERP"].change(chance)
        server.publish("SOL-PERP")


def test_a_choice_at_processed_has_streams_and_a_request_of_its_own() -> None:
    ahead, other = (BookChoice("SOL-PERP", commitment=name) for name in ("processed", "confirmed"))
    assert ahead.matches("perp_0_l2_k10_processed", "SOL-PERP")
    assert not ahead.matches("perp_0_l2_k10", "SOL-PERP")
    assert not other.matches("perp_0_l2_k10_processed", "SOL-PERP")
    assert not ahead.may_end(other)
    assert ahead.members()["commitment"] == "processed"
    assert "commitment" not in other.members()


@virtual
async def test_a_reader_sees_a_snapshot_then_changes_and_a_loss_as_stale_and_resumed() -> None:
    feed, server = start()
    books = feed.book("sol-perp")
    reader = aiter(books)
    assert isinstance(await anext(reader), Snapshot)
    change(server)
    assert isinstance(await anext(reader), Change)
    feed.reconnect()
    stale = await anext(reader)
    assert isinstance(stale, Stale)
    assert stale.reason == "disconnected"
    assert not stale.book.is_current
    change(server)
    assert isinstance(await anext(reader), Resumed)
    assert isinstance(await anext(reader), Change)
    assert live_lines(stale.book) == lines_of(server.books["SOL-PERP"].visible("l2", None))
    await feed.close()
    with pytest.raises(StopAsyncIteration):
        await anext(reader)


@virtual
async def test_a_reader_that_begins_while_the_book_is_stale_gets_a_snapshot_then_the_next_loss() -> None:
    feed, _ = start()
    books = feed.book("SOL-PERP")
    await settle()
    feed.reconnect()
    await settle()
    reader = aiter(books)
    await asyncio.sleep(2)
    first = await asyncio.wait_for(anext(reader), 1)
    assert isinstance(first, Snapshot)
    feed.reconnect()
    assert isinstance(await anext(reader), Stale)
    assert isinstance(await anext(reader), Resumed)
    await feed.close()


@virtual
async def test_a_slow_reader_gets_one_merged_change_with_the_newest_state() -> None:
    feed, server = start()
    reader = aiter(feed.book("SOL-PERP"))
    first = await anext(reader)
    change(server, 500)
    await settle()
    await asyncio.sleep(0.1)
    merged = await anext(reader)
    assert isinstance(merged, Change)
    changed = [level.price for level in (*merged.bids, *merged.asks)]
    assert len(changed) == len(set(changed))
    for level in (*merged.bids, *merged.asks):
        side: Side = "bids" if level in merged.bids else "asks"
        assert first.book.level_at(side, level.price) == level
    assert reader._backlog.is_empty
    await feed.close()


@virtual
async def test_more_changed_entries_than_the_book_has_become_a_snapshot() -> None:
    feed, server = start()
    reader = aiter(feed.book("SOL-PERP"))
    await anext(reader)
    book = server.books["SOL-PERP"]
    for price in range(1000):
        book.seq += 1
        book.levels["bids"] = {price: (1, 0)}
        server.publish("SOL-PERP")
    await asyncio.sleep(0.1)
    assert isinstance(await anext(reader), Snapshot)
    assert reader._backlog.is_empty
    await feed.close()


@virtual
async def test_a_reader_that_is_dropped_is_forgotten() -> None:
    feed, _ = start()
    books = feed.book("SOL-PERP")
    async for _event in books:
        break
    await settle()
    assert len(books._readers) == 0
    await feed.close()


@virtual
async def test_market_star_follows_every_market_and_two_subscriptions_share_a_stream() -> None:
    feed, server = start()
    every, one = feed.book("*"), feed.book("BTC-PERP")
    await settle()
    assert {book.market for book in every.books.values()} == {"SOL-PERP", "BTC-PERP"}
    assert {book.market for book in one.books.values()} == {"BTC-PERP"}
    every.close()
    await settle()
    server.books["BTC-PERP"].change(random.Random(3))
    server.publish("BTC-PERP")
    await settle()
    book = one.book()
    assert book is not None
    assert book.is_current
    assert live_lines(book) == lines_of(server.books["BTC-PERP"].visible("l2", None))
    await feed.close()


@pytest.mark.parametrize("market", ["SOL-PERP", "*"])
def test_the_other_books_of_a_market_stay_current_after_one_is_closed(market: str) -> None:
    @virtual
    async def run() -> None:
        feed, server = start()
        closed = feed.book(market)
        books: dict[tuple[BookLevelKind, int | None], BookSubscription] = {
            ("l3", None): feed.book("SOL-PERP", level="l3"),
            ("l2", 5): feed.book("SOL-PERP", depth=5),
            ("l2", 3): feed.book("*", depth=3),
            ("l2", None): feed.book("SOL-PERP", conflation=50),
        }
        events: list[Any] = []
        for one in books.values():
            one.listen(events.append)
        await settle()
        closed.close()
        await settle()
        for seed in range(5):
            change(server, seed=seed)
            await asyncio.sleep(0.1)
        for (level, depth), one in books.items():
            book = one.book("SOL-PERP")
            assert book is not None
            assert book.is_current
            assert live_lines(book) == lines_of(server.books["SOL-PERP"].visible(level, depth))
        assert not any(isinstance(event, Stale) for event in events)
        await feed.close()

    run()


@virtual
async def test_a_damaged_book_is_stale_until_its_snapshot() -> None:
    feed, server = start()
    events: list[Any] = []
    feed.book("SOL-PERP").listen(events.append)
    await settle()
    server.tamper = lambda text: [text.replace('"prevSeq":', '"prevSeq":9')]
    change(server)
    await settle()
    server.tamper = lambda text: [text]
    await asyncio.sleep(2)
    assert [event.type for event in events] == ["snapshot", "stale", "snapshot"]
    assert events[1].reason == "missing"
    await feed.close()
