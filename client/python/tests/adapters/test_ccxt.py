"""`watch_order_book` of the real ccxt gives its order books, with the sequence as nonce."""

from __future__ import annotations

import asyncio
import random

import pytest
from support.model_server import ModelServer
from support.web_server import served

pytest.importorskip("ccxt", reason="ccxt is not installed")

import ccxt
from ccxt.async_support.base.exchange import Exchange
from ccxt.async_support.base.ws.order_book import OrderBook

from slotbook.adapters.ccxt import Slotbook, market_of

SYMBOL = "SOL/USDC:USDC"


async def run() -> None:
    server = ModelServer()
    chance = random.Random(3)
    server.books["SOL-PERP"].change(chance)

    async with served(server) as url:
        exchange = Slotbook({"urls": {"api": {"ws": url}}})
        try:
            await watch(exchange, server, chance)
        finally:
            await exchange.close()


async def watch(exchange: Slotbook, server: ModelServer, chance: random.Random) -> None:
    assert isinstance(exchange, Exchange)
    assert exchange.has["watchOrderBook"]
    first = await exchange.watch_order_book(SYMBOL)
    assert isinstance(first, OrderBook)
    assert (first["symbol"], first["nonce"]) == (SYMBOL, 1)
    for _ in range(20):
        server.books["SOL-PERP"].change(chance)
        server.publish("SOL-PERP")
    book = await exchange.watch_order_book(SYMBOL, 2)
    while book["nonce"] < 21:
        book = await exchange.watch_order_book(SYMBOL, 2)
    assert (book["nonce"], book["datetime"]) == (21, "2026-09-21T14:13:20.000Z")
    assert 0 < len(book["bids"]) <= 2
    exact = exchange.books[SYMBOL]
    assert book["bids"][0] == [exact.bids[0].price / 10**6, exact.bids[0].size / 10**9]
    assert exchange.watchOrderBook.__name__ == "watch_order_book"
    with pytest.raises(ccxt.BadSymbol):
        await asyncio.wait_for(exchange.watch_order_book("NO/USDC:USDC"), 30)
    await exchange.un_watch_order_book(SYMBOL)
    assert exchange.books == {}


def test_watched_books_are_those_of_ccxt_with_the_sequence_as_nonce() -> None:
    asyncio.run(run())


def test_symbols_are_unified_or_those_of_the_exchange() -> None:
    assert market_of("SOL/USDC:USDC") == market_of("SOL-PERP") == "SOL-PERP"
