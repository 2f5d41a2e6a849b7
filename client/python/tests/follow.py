"""Follows books, fills and an account of a server, and prints a JSON line for each event.

Ends when its standard input ends. Arguments: the address of the feed, and the account.

``client/python.test.ts`` compares the lines with what the TypeScript client sees.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from zlib import crc32

from slotbook import FeedClient, NumberedTrade, Refused
from slotbook.feed import AccountEvent, BookCause, BookEvent, TradesEvent
from slotbook.feed.account_part import open_orders_checksum
from slotbook.feed.messages import SIDES


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def show(event: BookEvent | Refused) -> None:
    if isinstance(event, Refused):
        say({"type": event.type, "error": event.error})
        return
    book, position = event.book, event.book.position
    version = None if position is None else [position.epoch, position.seq]
    causes = [cause_text(order.cause) for side in SIDES for order in book.orders(side)]
    line = {"type": event.type, "stream": book.stream, "version": version, "crc": book.checksum()}
    say({**line, "causes": crc32("\n".join(causes).encode())})


def cause_text(cause: BookCause | None) -> str:
    return "" if cause is None else f"{cause.slot} {cause.signature} {'' if cause.index is None else cause.index}"


def show_fill(event: TradesEvent | Refused) -> None:
    if isinstance(event, NumberedTrade):
        version = [event.version.epoch, event.version.seq]
        place = [event.slot, event.tx_index, event.tx_sig_index]
        number = event.trade["fillRecordId"]
        say({"type": event.type, "stream": "fills", "version": version, "crc": number, "place": place})
    elif isinstance(event, Refused):
        say({"type": event.type, "error": event.error})
    else:
        say({"type": event.type, "stream": "fills", "version": None, "crc": 0})


def show_orders(event: AccountEvent | Refused) -> None:
    if isinstance(event, Refused):
        say({"type": event.type, "error": event.error})
        return
    orders = event.orders
    checksum = open_orders_checksum(orders.open)
    say({"type": event.type, "stream": "account", "version": [0, orders.slot], "crc": checksum})


async def main(url: str, account: str) -> None:
    async with FeedClient(url) as feed:
        feed.book("*").listen(show)
        feed.book("*", level="l3").listen(show)
        feed.book("SOL-PERP", level="l3", cause=True).listen(show)
        feed.book("SOL-PERP", depth=3, conflation=50).listen(show)
        feed.numbered_trades("SOL-PERP").listen(show_fill)
        feed.account_orders(account).listen(show_orders)
        await asyncio.to_thread(sys.stdin.read)


asyncio.run(main(sys.argv[1], sys.argv[2]))
