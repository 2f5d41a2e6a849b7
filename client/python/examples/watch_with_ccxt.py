"""Bot with ccxt: the top of a book, by `watch_order_book` as on any exchange.

Data: the `book` channel at level l2, through `slotbook.adapters.ccxt`. The nonce is the sequence of the book.

    pip install slotbook[ccxt]
    python examples/watch_with_ccxt.py --url ws://localhost:6969/ws --symbol SOL/USDC:USDC --events 5
"""

# %% Watch
from __future__ import annotations

import argparse
import asyncio

from slotbook.adapters.ccxt import Slotbook


async def watch(url: str, symbol: str, events: int) -> None:
    """Prints the best levels of `events` books."""
    exchange = Slotbook({"urls": {"api": {"ws": url}}})
    try:
        for _ in range(events):
            book = await exchange.watch_order_book(symbol, 1)
            print(f"{book['nonce']}: {book['bids'][:1]} {book['asks'][:1]}", flush=True)
    finally:
        await exchange.close()


# %% Run
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="ws://localhost:6969/ws")
    parser.add_argument("--symbol", default="SOL/USDC:USDC")
    parser.add_argument("--events", type=int, default=5)
    args = parser.parse_args()
    asyncio.run(watch(args.url, args.symbol, args.events))
