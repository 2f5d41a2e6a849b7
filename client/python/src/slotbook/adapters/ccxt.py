"""An exchange of ccxt with live order books: `watch_order_book`, whose nonce is the sequence of the book.

Needs ccxt. Prices and sizes are floats there; `books` has the exact ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from ccxt.async_support.base.exchange import Exchange
from ccxt.async_support.base.ws.order_book import OrderBook
from ccxt.base.errors import BadSymbol

from ..feed import BookReader, BookSubscription, Change, FeedClient, Level, LiveBook, Refused, Snapshot
from ..units import price_decimal, size_decimal

PERP_SUFFIX = "-PERP"


class Slotbook(Exchange):  # type: ignore[misc]
    """`Slotbook({"urls": {"api": {"ws": "ws://localhost:6969/ws"}}})`.

    Symbols are unified (`SOL/USDC:USDC`) or those of the exchange (`SOL-PERP`).
    """

    def describe(self) -> Any:
        own = {
            "id": "slotbook",
            "name": "Slotbook",
            "pro": True,
            "has": {"ws": True, "watchOrderBook": True, "unWatchOrderBook": True},
            "urls": {"api": {"ws": "ws://localhost:6969/ws"}},
        }
        return self.deep_extend(super().describe(), own)

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config or {})
        self._feed: FeedClient | None = None
        self._watches: dict[str, _Watch] = {}

    @property
    def books(self) -> dict[str, LiveBook]:
        """The exact books by symbol: prices 1e6, sizes 1e9."""
        found = {symbol: watch.books.book() for symbol, watch in self._watches.items()}
        return {symbol: book for symbol, book in found.items() if book is not None}

    async def watch_order_book(self, symbol: str, limit: int | None = None, params: Any = None) -> OrderBook:
        """The book after its next change, best `limit` levels a side. Raises BadSymbol for an unknown market.

        The first call gives the book of now. While the book may be wrong, it gives none: it waits for the repair.
        """
        watch = self._watches.get(symbol)
        if watch is None:
            self._feed = self._feed or FeedClient(self.urls["api"]["ws"])
            watch = self._watches[symbol] = _Watch(self._feed.book(market_of(symbol)))
        book = await watch.next()
        if book is None:
            await self.un_watch_order_book(symbol)
            raise BadSymbol(f"{self.id} does not have market symbol {symbol}")
        return order_book(book, symbol, limit)

    async def un_watch_order_book(self, symbol: str, params: Any = None) -> None:
        """Ends the subscription of a symbol."""
        watch = self._watches.pop(symbol, None)
        if watch is not None:
            watch.books.close()

    async def close(self) -> None:
        """Closes the feed and everything of ccxt."""
        feed, self._feed = self._feed, None
        self._watches = {}
        if feed is not None:
            await feed.close()
        await super().close()


class _Watch:
    """One subscription, and whether the server refuses it."""

    def __init__(self, books: BookSubscription) -> None:
        self.books = books
        self._reader: BookReader = aiter(books)
        self._refused = asyncio.Event()
        books.listen(lambda event: self._refused.set() if isinstance(event, Refused) else None)

    async def next(self) -> LiveBook | None:
        """The book after its next event; None when it is refused."""
        event = asyncio.ensure_future(self._next_event())
        refusal = asyncio.ensure_future(self._refused.wait())
        try:
            await asyncio.wait([event, refusal], return_when=asyncio.FIRST_COMPLETED)
            return event.result() if event.done() else None
        finally:
            event.cancel()
            refusal.cancel()

    async def _next_event(self) -> LiveBook:
        while True:
            event = await anext(self._reader)
            if isinstance(event, (Snapshot, Change)) and event.book.is_current:
                return event.book


def market_of(symbol: str) -> str:
    """The exchange's name of a unified symbol: `SOL-PERP` of `SOL/USDC:USDC`."""
    base, slash, rest = symbol.partition("/")
    return f"{base}{PERP_SUFFIX}" if slash and ":" in rest else symbol


def order_book(book: LiveBook, symbol: str, limit: int | None = None) -> OrderBook:
    """A live book in the form of ccxt. `nonce`: the sequence; `timestamp`: of its publication, Unix milliseconds."""
    position = book.position
    return OrderBook(
        {
            "symbol": symbol,
            "bids": _side(book.bids[:limit]),
            "asks": _side(book.asks[:limit]),
            "timestamp": book.ts,
            "nonce": None if position is None else position.seq,
        }
    )


def _side(levels: Sequence[Level]) -> list[list[float]]:
    return [[float(price_decimal(level.price)), float(size_decimal(level.size))] for level in levels]
