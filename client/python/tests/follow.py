"""Follows every book of a server and prints a JSON line for each event. Ends when its standard input ends.

``client/python.test.ts`` compares the lines with what the TypeScript client sees.
"""

from __future__ import annotations

import asyncio
import json
import sys

from slotbook import FeedClient, Refused
from slotbook.feed import BookEvent


def show(event: BookEvent | Refused) -> None:
    if isinstance(event, Refused):
        print(json.dumps({"type": event.type, "error": event.error}), flush=True)
        return
    book, position = event.book, event.book.position
    version = None if position is None else [position.epoch, position.seq]
    line = {"type": event.type, "stream": book.stream, "version": version, "crc": book.checksum()}
    print(json.dumps(line), flush=True)


async def main(url: str) -> None:
    async with FeedClient(url) as feed:
        feed.book("*").listen(show)
        feed.book("*", level="l3").listen(show)
        feed.book("SOL-PERP", depth=3, conflation=50).listen(show)
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(sys.argv[1]))
