"""Backtester: records a book order by order, and walks through the recording in hftbacktest.

Data: the `book` channel at level l3, through `slotbook.adapters.hftbacktest`. Prices and sizes are floats in
hftbacktest; the file has them from exact integers.

    pip install slotbook[hftbacktest]
    python examples/record_for_hftbacktest.py --market SOL-PERP --events 200 --out day.npz
"""

# %% Record
from __future__ import annotations

import argparse
import asyncio
import time
from math import isfinite

from hftbacktest import BacktestAsset, HashMapMarketDepthBacktest

from slotbook import FeedClient
from slotbook.adapters.hftbacktest import L3Converter
from slotbook.feed import BookEvent, Refused

TICK_SIZE = 1e-6
LOT_SIZE = 1e-9
#: Longer than any recording.
TIMEOUT_NS = 10**18
#: Result of hftbacktest when an event came; 1 at the end of the data.
FEED_CAME = 2


async def record(url: str, market: str, events: int, path: str) -> int:
    """Writes `events` events of a book to a file. Returns the number of rows."""
    converter = L3Converter()
    enough = asyncio.Event()
    seen = 0

    def take(event: BookEvent | Refused) -> None:
        nonlocal seen
        if isinstance(event, Refused):
            raise SystemExit(event.error)
        converter.take(event, time.time_ns())
        seen += 1
        if seen >= events:
            enough.set()

    async with FeedClient(url) as feed:
        feed.book(market, level="l3").listen(take)
        await enough.wait()
    converter.save(path)
    return len(converter.events())


# %% Walk
def walk(path: str) -> None:
    """Prints the last best prices of the recording, and how often an event changed them."""
    asset = BacktestAsset().data([path]).linear_asset(1.0).constant_order_latency(0, 0).l3_fifo_queue_model()
    asset = asset.no_partial_fill_exchange().tick_size(TICK_SIZE).lot_size(LOT_SIZE)
    backtest = HashMapMarketDepthBacktest([asset])
    best, changes = (0.0, 0.0), 0
    while backtest.wait_next_feed(False, TIMEOUT_NS) == FEED_CAME:
        depth = backtest.depth(0)
        # A side without orders has no number.
        now = (depth.best_bid, depth.best_ask)
        if isfinite(sum(now)) and now != best:
            best, changes = now, changes + 1
    print(f"{changes} changes of the best prices, {best[0]:.6f} | {best[1]:.6f} at the end")
    backtest.close()


# %% Run
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="ws://localhost:6969/ws")
    parser.add_argument("--market", default="SOL-PERP")
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--out", default="recording.npz")
    args = parser.parse_args()
    print(f"{asyncio.run(record(args.url, args.market, args.events, args.out))} rows in {args.out}")
    walk(args.out)
