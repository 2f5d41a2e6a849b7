"""The books, trades and quotes that the real nautilus_trader keeps are those of the feed."""

from __future__ import annotations

import asyncio
import random
from decimal import Decimal
from typing import Any

import pytest
from support.http_server import Request, serving
from support.model_channels import MARKET, ModelChannels
from support.model_server import ModelServer
from support.sockets import settle
from support.virtual_time import virtual

pytest.importorskip("nautilus_trader", reason="nautilus_trader is not installed")

from nautilus_trader.cache.cache import Cache
from nautilus_trader.common.component import LiveClock, MessageBus
from nautilus_trader.core.uuid import UUID4
from nautilus_trader.data.engine import DataEngine
from nautilus_trader.data.messages import (
    SubscribeOrderBook,
    SubscribeQuoteTicks,
    SubscribeTradeTicks,
    UnsubscribeOrderBook,
)
from nautilus_trader.model.book import OrderBook
from nautilus_trader.model.data import OrderBookDelta, TradeTick
from nautilus_trader.model.enums import AggressorSide, BookType
from nautilus_trader.model.identifiers import InstrumentId, TraderId

from slotbook import ConnectionOptions, FeedClient, LiveBook
from slotbook.adapters.nautilus import (
    CLIENT_ID,
    VENUE,
    SlotbookDataClient,
    SlotbookDataClientConfig,
    SlotbookDataClientFactory,
    SlotbookInstrumentProvider,
    fixed,
    instruments_of,
)

SOL = InstrumentId.from_str("SOL-PERP.SLOTBOOK")
STEPS = 120
MARKETS = [
    {"symbol": "USDC", "marketIndex": 0, "marketType": "spot", "baseDecimals": 6},
    {"symbol": "SOL", "marketIndex": 1, "marketType": "spot", "baseDecimals": 9},
    {"symbol": "SOL-PERP", "marketIndex": 0, "marketType": "perp", "baseDecimals": 9},
    {"symbol": "1MBONK-PERP", "marketIndex": 4, "marketType": "perp", "baseDecimals": 9},
]
SIZES = {"tickSize": "100", "stepSize": "10000000", "minOrderSize": "10000000"}


class Station:
    """A data engine of nautilus_trader with our client, on a feed that the test drives."""

    def __init__(self, open_socket: Any) -> None:
        self.clock, self.cache = LiveClock(), Cache(database=None)
        self.bus = MessageBus(trader_id=TraderId("TEST-001"), clock=self.clock)
        self.engine = DataEngine(msgbus=self.bus, cache=self.cache, clock=self.clock)
        self.feed = FeedClient("", ConnectionOptions(open=open_socket))
        provider = SlotbookInstrumentProvider("http://127.0.0.1:9")
        self.client = SlotbookDataClient(
            asyncio.get_running_loop(),
            self.bus,
            self.cache,
            self.clock,
            provider,
            SlotbookDataClientConfig(),
            feed=self.feed,
        )
        self.engine.register_client(self.client)
        for instrument in instruments_of([{**market, **SIZES} for market in MARKETS]):
            provider.add(instrument)
            self.cache.add_instrument(instrument)
        self.engine.start()

    def execute(self, kind: Any, **members: Any) -> None:
        self.engine.execute(kind(**members, client_id=CLIENT_ID, venue=VENUE, command_id=UUID4(), ts_init=0))

    def book(self, book_type: BookType) -> None:
        self.execute(
            SubscribeOrderBook,
            instrument_id=SOL,
            book_data_type=OrderBookDelta,
            book_type=book_type,
            managed=True,
        )

    async def stop(self) -> None:
        self.engine.stop()
        await self.client._disconnect()


def visible(book: OrderBook, side: str) -> list[tuple[str, list[str]]]:
    """Prices with the sizes of their orders, in queue order."""
    levels = book.bids() if side == "bids" else book.asks()
    return [(str(level.price), [str(order.size) for order in level.orders()]) for level in levels]


def expected(book: LiveBook, side: Any) -> list[tuple[str, list[str]]]:
    if book.level == "l2":
        levels = book.bids if side == "bids" else book.asks
        return [(fixed(level.price, 6), [fixed(level.size, 9)]) for level in levels]
    queues: dict[int, list[str]] = {}
    for order in book.orders(side):
        if order.size:
            queues.setdefault(order.price, []).append(fixed(order.size, 9))
    return [(fixed(price, 6), sizes) for price, sizes in queues.items()]


@pytest.mark.parametrize("book_type", [BookType.L2_MBP, BookType.L3_MBO])
def test_the_engine_keeps_the_book_after_every_change_and_over_losses(book_type: BookType) -> None:
    @virtual
    async def run() -> None:
        chance = random.Random(11)
        server = ModelServer()
        server.books["SOL-PERP"].change(chance)
        station = Station(server.open)
        station.book(book_type)
        await settle()
        level: Any = "l3" if book_type == BookType.L3_MBO else "l2"
        ours = station.feed.book("SOL-PERP", level=level)
        await settle()
        compared = 0
        for step in range(STEPS):
            server.books["SOL-PERP"].change(chance)
            server.publish("SOL-PERP")
            if step % 40 == 20:
                station.feed.reconnect()
                await asyncio.sleep(2)
            if step == 70:
                server.restart()
                await asyncio.sleep(2)
            await settle()
            book, live = station.cache.order_book(SOL), ours.book()
            assert live is not None
            assert live.position is not None
            for side in ("bids", "asks"):
                assert visible(book, side) == expected(live, side)
                compared += len(visible(book, side))
            # A change that changes nothing has no deltas.
            assert book.sequence <= live.position.seq
        assert compared > STEPS
        station.execute(UnsubscribeOrderBook, instrument_id=SOL, book_data_type=OrderBookDelta)
        await settle()
        assert not station.client._subscriptions
        await station.stop()

    run()


@virtual
async def test_trades_come_once_with_exact_amounts() -> None:
    server = ModelChannels()
    station = Station(server.open)
    ticks: list[TradeTick] = []
    station.bus.subscribe("data.trades.SLOTBOOK.SOL-PERP", ticks.append)
    station.execute(SubscribeTradeTicks, instrument_id=SOL)
    await settle()
    server.fill()
    station.feed.reconnect()
    server.fill()
    await asyncio.sleep(2)
    assert [str(tick.trade_id) for tick in ticks] == ["1000", "1001"]
    first = ticks[0]
    assert (str(first.price), str(first.size)) == ("150.200000", "1.500000000")
    assert first.aggressor_side == AggressorSide.BUYER
    assert first.ts_event == 1_790_000_123 * 10**9
    assert str(first.instrument_id.symbol) == MARKET
    await station.stop()


@virtual
async def test_quotes_are_the_best_levels() -> None:
    server = ModelServer()
    book = server.books["SOL-PERP"]
    chance = random.Random(2)
    while not (book.visible("l2", 1)["bids"] and book.visible("l2", 1)["asks"]):
        book.change(chance)
    station = Station(server.open)
    station.execute(SubscribeQuoteTicks, instrument_id=SOL)
    await settle()
    quote = station.cache.quote_tick(SOL)
    prices = {side: next(iter(book.visible("l2", 1)[side].values())).price for side in ("bids", "asks")}
    assert quote.bid_price.as_decimal() == Decimal(prices["bids"]).scaleb(-6)
    assert quote.ask_price.as_decimal() == Decimal(prices["asks"]).scaleb(-6)
    await station.stop()


def test_markets_of_the_history_service_become_instruments() -> None:
    def answer(request: Request) -> None:
        request.json(200, {"success": True, "params": {"markets": [{**market, **SIZES} for market in MARKETS]}})

    async def run(url: str) -> None:
        station = Station(None)
        config = SlotbookDataClientConfig(history_url=url)
        loop = asyncio.get_running_loop()
        client = SlotbookDataClientFactory.create(loop, "SLOTBOOK", config, station.bus, Cache(), station.clock)
        provider = client._instrument_provider
        await provider.initialize()
        assert sorted(str(one) for one in provider.get_all()) == [
            "1MBONK-PERP.SLOTBOOK",
            "SOL-PERP.SLOTBOOK",
            "SOL.SLOTBOOK",
        ]
        perp = provider.find(SOL)
        assert (str(perp.price_increment), str(perp.size_increment)) == ("0.000100", "0.010000000")
        assert str(perp.quote_currency) == "USDC"
        await provider.load_ids_async([SOL])
        assert list(provider.get_all()) == [SOL]
        await station.stop()

    with serving(answer) as (url, _):
        asyncio.run(run(url))
