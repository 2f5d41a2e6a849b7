"""Market maker: the queue ahead of your orders, and what a quote at the top would meet.

Data: the `book` channel at level l3, in queue order. Formulas: the queue ahead of an order is the sum of the sizes at
better prices and of those before it at its own price. All amounts are integers: prices 1e6, sizes 1e9.

    python examples/queue_ahead.py --url ws://localhost:6969/ws --market SOL-PERP --maker ACCOUNT --events 5
"""

# %% Queue
from __future__ import annotations

import argparse
import asyncio

from slotbook import Change, FeedClient, LiveBook, Snapshot
from slotbook.feed import Side
from slotbook.units import price_decimal, size_decimal


def queue_ahead(book: LiveBook, side: Side, maker: str) -> list[tuple[int, int]]:
    """Order id and size ahead (1e9), for each order of a maker on one side."""
    ahead = 0
    own: list[tuple[int, int]] = []
    for order in book.orders(side):
        if order.maker == maker:
            own.append((order.order_id, ahead))
        ahead += order.size
    return own


def describe(book: LiveBook, maker: str) -> str:
    """The best orders of each side, and the queue ahead of the maker's orders."""
    bids, asks = book.orders("bids"), book.orders("asks")
    best = [
        f"{size_decimal(orders[0].size).normalize():f} at {price_decimal(orders[0].price).normalize():f}"
        for orders in (bids, asks)
        if orders
    ]
    own = [f"order {one}: {size_decimal(ahead):f} ahead" for one, ahead in queue_ahead(book, "bids", maker)]
    return f"slot {book.slot}: {' | '.join(best)} {'; '.join(own)}"


# %% Follow
async def follow(url: str, market: str, maker: str | None, events: int) -> None:
    async with FeedClient(url) as feed:
        left = events
        async for event in feed.book(market, level="l3", checksum=100):
            if not isinstance(event, (Snapshot, Change)):
                print(f"{event.type}: cancel quotes until the book is current")
                continue
            first = next(iter(event.book.orders("bids")), None)
            print(describe(event.book, maker or (first.maker if first else "")))
            left -= 1
            if left == 0:
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--url", default="ws://localhost:6969/ws")
    parser.add_argument("--market", default="SOL-PERP")
    parser.add_argument("--maker", help="user account; default: the maker of the best bid")
    parser.add_argument("--events", type=int, default=5)
    options = parser.parse_args()
    asyncio.run(follow(options.url, options.market, options.maker, options.events))
