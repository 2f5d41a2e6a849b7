"""Strategy developer: spread and last trade of a market in nautilus_trader, from the live feed.

Data: books of level l2 and numbered fills, through `slotbook.adapters.nautilus`. Formula: the spread is best ask minus
best bid.

    pip install slotbook[nautilus]
    python examples/nautilus_spread.py --market SOL-PERP --events 5
"""

# %% Actor
from __future__ import annotations

import argparse
from typing import Any

from nautilus_trader.common.actor import Actor
from nautilus_trader.config import LoggingConfig
from nautilus_trader.live.config import TradingNodeConfig
from nautilus_trader.live.node import TradingNode
from nautilus_trader.model.data import OrderBookDeltas, TradeTick
from nautilus_trader.model.enums import BookType
from nautilus_trader.model.identifiers import InstrumentId

from slotbook.adapters.nautilus import CLIENT_ID, VENUE, SlotbookDataClientConfig, SlotbookDataClientFactory


class Spread(Actor):  # type: ignore[misc]
    """Prints the spread at each change, and ends the node after `events` of them."""

    def __init__(self, instrument_id: InstrumentId, events: int) -> None:
        super().__init__()
        self._instrument_id = instrument_id
        self._left = events

    def on_start(self) -> None:
        self.subscribe_order_book_deltas(self._instrument_id, book_type=BookType.L2_MBP, client_id=CLIENT_ID)
        self.subscribe_trade_ticks(self._instrument_id, client_id=CLIENT_ID)

    def on_trade_tick(self, tick: TradeTick) -> None:
        print(f"trade {tick.trade_id}: {tick.size} at {tick.price}", flush=True)

    def on_order_book_deltas(self, deltas: OrderBookDeltas) -> None:
        book = self.cache.order_book(self._instrument_id)
        self._left -= 1
        if self._left < 0:
            return
        print(f"{book.best_bid_price()} | {book.best_ask_price()} spread {spread_of(book)}", flush=True)
        if self._left == 0:
            self.shutdown_system("enough")


def spread_of(book: Any) -> Any:
    """Best ask minus best bid; None while a side is empty."""
    bid, ask = book.best_bid_price(), book.best_ask_price()
    return None if bid is None or ask is None else ask - bid


# %% Run
if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="ws://localhost:6969/ws")
    parser.add_argument("--history", default="http://localhost:6971")
    parser.add_argument("--market", default="SOL-PERP")
    parser.add_argument("--events", type=int, default=5)
    args = parser.parse_args()
    node = TradingNode(
        TradingNodeConfig(
            trader_id="SPREAD-001",
            logging=LoggingConfig(log_level="ERROR"),
            # The node waits this long for orders to settle after its end, and this one places none.
            timeout_post_stop=0.5,
            data_clients={
                str(VENUE): SlotbookDataClientConfig(feed_url=args.url, history_url=args.history),
            },
        )
    )
    node.add_data_client_factory(str(VENUE), SlotbookDataClientFactory)
    node.trader.add_actor(Spread(InstrumentId.from_str(f"{args.market}.{VENUE}"), args.events))
    node.build()
    try:
        node.run()
    finally:
        node.dispose()
