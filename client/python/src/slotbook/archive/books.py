"""Books of earlier slots from the order-book server, which keeps 24 hours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..history.columns import Column, Columns, pandas_frame, polars_frame
from ..history.patience import RetryOptions
from ..history.requests import Operation, Reply, Sender
from ..units import BASE_DIGITS, PRICE_DIGITS

if TYPE_CHECKING:
    import pandas
    import polars

_PRICE = Column.raw(PRICE_DIGITS)
_SIZE = Column.raw(BASE_DIGITS)
#: Columns of ``level_rows``. ``place`` counts from 1 at the best price; ``dlob`` and ``vamm`` are parts of ``size``.
BOOK_COLUMNS: Columns = {
    "slot": Column.WHOLE,
    "side": Column.TEXT,
    "place": Column.WHOLE,
    "price": _PRICE,
    "size": _SIZE,
    "dlob": _SIZE,
    "vamm": _SIZE,
}
#: Columns of ``order_rows``. ``place`` counts from 1 at the head of the queue of the best price.
ORDER_COLUMNS: Columns = {
    "slot": Column.WHOLE,
    "side": Column.TEXT,
    "place": Column.WHOLE,
    "price": _PRICE,
    "size": _SIZE,
    "maker": Column.TEXT,
    "order_id": Column.WHOLE,
}

Book = Mapping[str, Any]


class BookArchive:
    """The order-book server at ``url``, for example ``http://localhost:6969``."""

    def __init__(self, url: str, *, retry: RetryOptions | None = None) -> None:
        self._sender = Sender(url, retry or RetryOptions(), None)

    async def levels(self, market: str, slot: int | None = None, *, depth: int | None = None) -> Book:
        """Price levels as published at a slot, or now. At most 100 a side. Raises HistoryRequestError."""
        return await self._book("/l2", {"marketName": market, "slot": slot, "depth": depth})

    async def orders(self, market: str, slot: int | None = None) -> Book:
        """Resting orders in queue order as published at a slot, or now. Raises HistoryRequestError."""
        return await self._book("/l3", {"marketName": market, "slot": slot})

    async def levels_polars(
        self, market: str, slots: Iterable[int], *, depth: int | None = None, decimals: bool = False
    ) -> polars.DataFrame:
        """Levels of a market at some slots, a row a level, as a polars frame."""
        rows = [row for slot in slots for row in level_rows(await self.levels(market, slot, depth=depth))]
        return polars_frame(rows, BOOK_COLUMNS, decimals)

    async def levels_pandas(
        self, market: str, slots: Iterable[int], *, depth: int | None = None, decimals: bool = False
    ) -> pandas.DataFrame:
        """Levels of a market at some slots, a row a level, as a pandas frame."""
        rows = [row for slot in slots for row in level_rows(await self.levels(market, slot, depth=depth))]
        return pandas_frame(rows, BOOK_COLUMNS, decimals)

    async def _book(self, path: str, params: Mapping[str, Any]) -> Book:
        reply: Reply[Book] = Reply(self._sender, Operation("GET", path), params)
        return await reply


def level_rows(book: Book) -> Iterator[dict[str, Any]]:
    """The levels of an answer of ``/l2`` as rows."""
    for side in ("bids", "asks"):
        for place, level in enumerate(book[side], 1):
            sources = level["sources"]
            head = {"slot": book["slot"], "side": side, "place": place, "price": level["price"], "size": level["size"]}
            yield {**head, "dlob": sources.get("dlob", "0"), "vamm": sources.get("vamm", "0")}


def order_rows(book: Book) -> Iterator[dict[str, Any]]:
    """The orders of an answer of ``/l3`` as rows."""
    for side in ("bids", "asks"):
        for place, order in enumerate(book[side], 1):
            head = {"slot": book["slot"], "side": side, "place": place, "price": order["price"], "size": order["size"]}
            yield {**head, "maker": order["maker"], "order_id": order["orderId"]}
