"""Quant: fills of a day as a frame, volume-weighted prices by hour, and the book at the slot of the largest fill.

Data: `/market/{symbol}/trades/{year}/{month}/{day}` as CSV in one download, `/l2?slot=`. Formula: price (1e6) is quote
(1e6) times 1e9 over base (1e9), divided in the last step. Needs polars.

    python examples/day_of_fills.py --history http://localhost:6971 --books http://localhost:6969 --day 2026-11-03
"""

# %% Fills
from __future__ import annotations

import argparse
import asyncio
import datetime

import polars as pl

from slotbook.archive import BookArchive
from slotbook.history import HistoryClient, HistoryRequestError

HOUR_S = 3600


async def fills_of(history: HistoryClient, market: str, day: datetime.date) -> pl.DataFrame:
    """Fills of a day (UTC): integers with the scales of the contract."""
    return await history.market_trades_of_day(market, day.year, day.month, day.day).polars()


# %% Prices by hour
def hourly(fills: pl.DataFrame) -> pl.DataFrame:
    """Base (1e9), quote (1e6) and the price of all fills together (1e6), by hour."""
    sums = fills.group_by((pl.col("ts") // HOUR_S * HOUR_S).alias("hour")).agg(
        pl.col("baseAssetAmountFilled").cast(pl.Int128).sum().alias("base"),
        pl.col("quoteAssetAmountFilled").cast(pl.Int128).sum().alias("quote"),
    )
    price = (pl.col("quote") * 10**9 // pl.col("base")).alias("price")
    return sums.filter(pl.col("base") > 0).with_columns(price).sort("hour")


# %% The book at a slot
async def book_at(books: BookArchive, market: str, slot: int) -> pl.DataFrame:
    """The best levels as they were published at a slot; empty when the server no longer has them."""
    try:
        return await books.levels_polars(market, [slot], depth=3, decimals=True)
    except HistoryRequestError as error:
        print(f"no book of slot {slot}: {error.body}")
        return pl.DataFrame()


# %% Run
async def main(history_url: str, books_url: str, market: str, day: datetime.date) -> None:
    fills = await fills_of(HistoryClient(history_url), market, day)
    print(f"{fills.height} fills")
    if fills.is_empty():
        return
    print(hourly(fills))
    largest = fills.sort("baseAssetAmountFilled", descending=True).row(0, named=True)
    print(await book_at(BookArchive(books_url), market, largest["slot"] - 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--history", default="http://localhost:6971")
    parser.add_argument("--books", default="http://localhost:6969")
    parser.add_argument("--market", default="SOL-PERP")
    parser.add_argument(
        "--day", type=datetime.date.fromisoformat, default=datetime.datetime.now(datetime.timezone.utc).date()
    )
    options = parser.parse_args()
    asyncio.run(main(options.history, options.books, options.market, options.day))
