"""Market data of a Slotbook deployment for nautilus_trader: books by level and by order, fills, best quotes.

Needs nautilus_trader. Prices have six decimals and sizes those of their market, so that every value is exact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Any, TypeAlias

from nautilus_trader.cache.cache import Cache
from nautilus_trader.common.component import LiveClock, MessageBus
from nautilus_trader.common.config import InstrumentProviderConfig
from nautilus_trader.common.providers import InstrumentProvider
from nautilus_trader.data.messages import (
    SubscribeOrderBook,
    SubscribeQuoteTicks,
    SubscribeTradeTicks,
    UnsubscribeOrderBook,
    UnsubscribeQuoteTicks,
    UnsubscribeTradeTicks,
)
from nautilus_trader.live.config import LiveDataClientConfig
from nautilus_trader.live.data_client import LiveMarketDataClient
from nautilus_trader.live.factories import LiveDataClientFactory
from nautilus_trader.model.data import BookOrder, OrderBookDelta, OrderBookDeltas, QuoteTick, TradeTick
from nautilus_trader.model.enums import (
    AggressorSide,
    BookAction,
    BookType,
    OrderSide,
    RecordFlag,
)
from nautilus_trader.model.identifiers import ClientId, InstrumentId, Symbol, TradeId, Venue
from nautilus_trader.model.instruments import CryptoPerpetual, CurrencyPair, Instrument
from nautilus_trader.model.objects import Currency, Price, Quantity

from ..feed import (
    BookEvent,
    BookSubscription,
    Change,
    FeedClient,
    LiveBook,
    MarketType,
    NumberedTrade,
    NumberedTradesSubscription,
    Refused,
    Side,
    Snapshot,
    TradesEvent,
    TradesMissing,
)
from ..feed.messages import SIDES
from ..history import HistoryClient
from .queues import QueueFollower

VENUE = Venue("SLOTBOOK")
CLIENT_ID = ClientId("SLOTBOOK")
PRICE_DECIMALS = 6
NS_IN_MS = 1_000_000
NS_IN_S = 1_000_000_000
ORDER_SIDES: dict[Side, Any] = {"bids": OrderSide.BUY, "asks": OrderSide.SELL}
ACTIONS = {"add": BookAction.ADD, "modify": BookAction.UPDATE, "cancel": BookAction.DELETE}
#: Of a level in a book by level.
NO_ORDER_ID = 0

AGGRESSORS = {"long": AggressorSide.BUYER, "short": AggressorSide.SELLER}
PERP_SUFFIX = "-PERP"

_Step: TypeAlias = tuple[Any, BookOrder | None]
Subscription: TypeAlias = BookSubscription | NumberedTradesSubscription


class SlotbookDataClientConfig(LiveDataClientConfig, frozen=True):  # type: ignore[call-arg,misc]
    """Addresses of the order-book server and of the history service."""

    feed_url: str = "ws://localhost:6969/ws"
    history_url: str = "http://localhost:6971"
    instrument_provider: InstrumentProviderConfig = InstrumentProviderConfig(load_all=True)


class SlotbookInstrumentProvider(InstrumentProvider):  # type: ignore[misc]
    """The markets of the exchange: perpetuals (`SOL-PERP.SLOTBOOK`) and spot markets (`SOL.SLOTBOOK`)."""

    def __init__(self, history_url: str, config: InstrumentProviderConfig | None = None) -> None:
        super().__init__(config=config)
        self._history = HistoryClient(history_url)

    async def load_all_async(self, filters: Any = None) -> None:
        answer: Any = await self._history.params()
        for instrument in instruments_of(answer["params"]["markets"]):
            self.add(instrument)

    async def load_ids_async(self, instrument_ids: list[InstrumentId], filters: Any = None) -> None:
        await self.load_all_async(filters)
        for instrument_id in list(self._instruments):
            if instrument_id not in instrument_ids:
                del self._instruments[instrument_id]


class SlotbookDataClient(LiveMarketDataClient):  # type: ignore[misc]
    """Order books (`L2_MBP`, `L3_MBO`), trades and quotes.

    Books never have a hole: a change that was missed comes as a snapshot. Trades come once, over reconnects too.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        msgbus: MessageBus,
        cache: Cache,
        clock: LiveClock,
        instrument_provider: InstrumentProvider,
        config: SlotbookDataClientConfig,
        feed: FeedClient | None = None,
    ) -> None:
        super().__init__(
            loop=loop,
            client_id=CLIENT_ID,
            venue=VENUE,
            msgbus=msgbus,
            cache=cache,
            clock=clock,
            instrument_provider=instrument_provider,
            config=config,
        )
        self._feed = feed or FeedClient(config.feed_url)
        self._subscriptions: dict[tuple[str, InstrumentId], Subscription] = {}

    async def _connect(self) -> None:
        await self._instrument_provider.initialize()
        for instrument in self._instrument_provider.list_all():
            self._handle_data(instrument)

    async def _disconnect(self) -> None:
        self._subscriptions = {}
        await self._feed.close()

    async def _subscribe_order_book_deltas(self, command: SubscribeOrderBook) -> None:
        is_by_order = command.book_type == BookType.L3_MBO
        instrument = self._instrument(command.instrument_id)
        if instrument is None:
            return
        market, market_type = market_of(instrument)
        depth = None if is_by_order or not command.depth else int(command.depth)
        books = self._feed.book(market, market_type=market_type, level="l3" if is_by_order else "l2", depth=depth)
        converter = BookConverter(instrument, is_by_order=is_by_order)

        def take(event: BookEvent | Refused) -> None:
            if isinstance(event, Refused):
                self._log.error(f"{command.instrument_id} is refused: {event.error}")
                return
            deltas = converter.deltas(event, self._clock.timestamp_ns())
            if deltas is not None:
                self._handle_data(deltas)

        self._follow("book", command.instrument_id, books, books.listen, take)

    async def _unsubscribe_order_book_deltas(self, command: UnsubscribeOrderBook) -> None:
        self._leave("book", command.instrument_id)

    async def _subscribe_quote_ticks(self, command: SubscribeQuoteTicks) -> None:
        instrument = self._instrument(command.instrument_id)
        if instrument is None:
            return
        market, market_type = market_of(instrument)
        books = self._feed.book(market, market_type=market_type, depth=1)

        def take(event: BookEvent | Refused) -> None:
            if isinstance(event, (Snapshot, Change)):
                quote = quote_of(instrument, event.book, self._clock.timestamp_ns())
                if quote is not None:
                    self._handle_data(quote)

        self._follow("quotes", command.instrument_id, books, books.listen, take)

    async def _unsubscribe_quote_ticks(self, command: UnsubscribeQuoteTicks) -> None:
        self._leave("quotes", command.instrument_id)

    async def _subscribe_trade_ticks(self, command: SubscribeTradeTicks) -> None:
        instrument = self._instrument(command.instrument_id)
        if instrument is None:
            return
        market, market_type = market_of(instrument)
        trades = self._feed.numbered_trades(market, market_type=market_type)

        def take(event: TradesEvent | Refused) -> None:
            if isinstance(event, NumberedTrade):
                tick = trade_of(instrument, event, self._clock.timestamp_ns())
                if tick is not None:
                    self._handle_data(tick)
            elif isinstance(event, TradesMissing):
                self._log.warning(f"trades of {market} are missing from {event.held} to {event.now}")

        self._follow("trades", command.instrument_id, trades, trades.listen, take)

    async def _unsubscribe_trade_ticks(self, command: UnsubscribeTradeTicks) -> None:
        self._leave("trades", command.instrument_id)

    def _instrument(self, instrument_id: InstrumentId) -> Instrument | None:
        found = self._cache.instrument(instrument_id) or self._instrument_provider.find(instrument_id)
        if found is None:
            self._log.error(f"no market for {instrument_id}")
        return found

    def _follow(
        self,
        kind: str,
        instrument_id: InstrumentId,
        subscription: Subscription,
        listen: Callable[[Callable[[Any], None]], object],
        take: Callable[[Any], None],
    ) -> None:
        self._leave(kind, instrument_id)
        self._subscriptions[(kind, instrument_id)] = subscription
        listen(take)

    def _leave(self, kind: str, instrument_id: InstrumentId) -> None:
        subscription = self._subscriptions.pop((kind, instrument_id), None)
        if subscription is not None:
            subscription.close()


class SlotbookDataClientFactory(LiveDataClientFactory):  # type: ignore[misc]
    """For `TradingNode.add_data_client_factory("SLOTBOOK", SlotbookDataClientFactory)`."""

    @staticmethod
    def create(
        loop: asyncio.AbstractEventLoop,
        name: str,
        config: SlotbookDataClientConfig,
        msgbus: MessageBus,
        cache: Cache,
        clock: LiveClock,
    ) -> SlotbookDataClient:
        provider = SlotbookInstrumentProvider(config.history_url, config.instrument_provider)
        return SlotbookDataClient(loop, msgbus, cache, clock, provider, config)


class BookConverter:
    """Turns the events of one book into deltas of nautilus_trader."""

    def __init__(self, instrument: Instrument, *, is_by_order: bool) -> None:
        self._instrument = instrument
        self._queues = QueueFollower() if is_by_order else None

    def deltas(self, event: BookEvent, ts_init: int) -> OrderBookDeltas | None:
        """The deltas of an event; None when it changes nothing. ``ts_init``: Unix nanoseconds."""
        if not isinstance(event, (Snapshot, Change)):
            return None
        is_snapshot = isinstance(event, Snapshot)
        steps = list(self._by_level(event) if self._queues is None else self._by_order(event, self._queues))
        if not steps:
            return None
        book = event.book
        sequence = 0 if book.position is None else book.position.seq
        deltas: list[OrderBookDelta] = []
        for action, order in steps:
            is_last = len(deltas) == len(steps) - 1
            flags = (RecordFlag.F_SNAPSHOT if is_snapshot else 0) | (RecordFlag.F_LAST if is_last else 0)
            times = (book.ts * NS_IN_MS, ts_init)
            deltas.append(OrderBookDelta(self._instrument.id, action, order, int(flags), sequence, *times))
        return OrderBookDeltas(self._instrument.id, deltas)

    def _by_level(self, event: Snapshot | Change) -> Iterator[_Step]:
        if isinstance(event, Snapshot):
            yield (BookAction.CLEAR, None)
        levels = event.book if isinstance(event, Snapshot) else event
        for side in SIDES:
            for level in levels.bids if side == "bids" else levels.asks:
                action = BookAction.UPDATE if level.size else BookAction.DELETE
                yield (action, self._order(side, level.price, level.size, NO_ORDER_ID))

    def _by_order(self, event: Snapshot | Change, queues: QueueFollower) -> Iterator[_Step]:
        if isinstance(event, Snapshot):
            for _ in queues.begin():
                pass
            yield (BookAction.CLEAR, None)
        for step in queues.follow(event.book):
            yield (ACTIONS[step.kind], self._order(step.side, step.price, step.size, step.number))

    def _order(self, side: Side, price: int, size: int, number: int) -> BookOrder:
        quantity = quantity_of(size, self._instrument.size_precision)
        return BookOrder(ORDER_SIDES[side], price_of(price), quantity, number)


def quote_of(instrument: Instrument, book: LiveBook, ts_init: int) -> QuoteTick | None:
    """The best quotes of a book; None when a side is empty."""
    if not book.bids or not book.asks:
        return None
    bid, ask = book.bids[0], book.asks[0]
    sizes = [quantity_of(level.size, instrument.size_precision) for level in (bid, ask)]
    return QuoteTick(instrument.id, price_of(bid.price), price_of(ask.price), *sizes, book.ts * NS_IN_MS, ts_init)


def trade_of(instrument: Instrument, event: NumberedTrade, ts_init: int) -> TradeTick | None:
    """A fill; None when nothing changed hands. Its price is that of the amounts, rounded to six decimals."""
    trade = event.trade
    base, quote = Decimal(trade["baseAssetAmountFilled"]), Decimal(trade["quoteAssetAmountFilled"])
    if base <= 0:
        return None
    price = (quote / base).quantize(Decimal(1).scaleb(-PRICE_DECIMALS))
    size = base.quantize(Decimal(1).scaleb(-instrument.size_precision))
    return TradeTick(
        instrument.id,
        Price.from_str(f"{price:f}"),
        Quantity.from_str(f"{size:f}"),
        AGGRESSORS.get(trade.get("takerOrderDirection", ""), AggressorSide.NO_AGGRESSOR),
        TradeId(str(trade["fillRecordId"])),
        trade["ts"] * NS_IN_S,
        ts_init,
    )


def instruments_of(markets: Iterable[Any]) -> Iterator[Instrument]:
    """Instruments of the markets of `GET /params`."""
    known = list(markets)
    quotes = [one["symbol"] for one in known if one["marketType"] == "spot" and one["marketIndex"] == 0]
    quote = Currency.from_str(quotes[0] if quotes else "USDC")
    for market in known:
        symbol = market["symbol"].upper()
        instrument_id = InstrumentId(Symbol(symbol), VENUE)
        decimals = market["baseDecimals"]
        common = {
            "instrument_id": instrument_id,
            "raw_symbol": Symbol(symbol),
            "base_currency": Currency.from_str(symbol.removesuffix(PERP_SUFFIX)),
            "quote_currency": quote,
            "price_precision": PRICE_DECIMALS,
            "size_precision": decimals,
            "price_increment": price_of(max(1, int(market["tickSize"]))),
            "size_increment": quantity_of(max(1, int(market["stepSize"])), decimals),
            "min_quantity": quantity_of(int(market["minOrderSize"]), decimals),
            "ts_event": 0,
            "ts_init": 0,
        }
        if market["marketType"] == "perp":
            yield CryptoPerpetual(**common, settlement_currency=quote, is_inverse=False)
        elif market["marketIndex"] != 0:
            yield CurrencyPair(**common)


def market_of(instrument: Instrument) -> tuple[str, MarketType]:
    """Symbol and kind of market of an instrument."""
    return (str(instrument.raw_symbol), "perp" if isinstance(instrument, CryptoPerpetual) else "spot")


def price_of(price: int) -> Price:
    """A price, 1e6."""
    return Price.from_str(fixed(price, PRICE_DECIMALS))


def quantity_of(size: int, decimals: int) -> Quantity:
    """A size with the decimals of its market."""
    return Quantity.from_str(fixed(size, decimals))


def fixed(value: int, decimals: int) -> str:
    """An integer with a scale as text: `fixed(1500000, 6)` is `1.500000`."""
    if decimals == 0:
        return str(value)
    text = str(abs(value)).rjust(decimals + 1, "0")
    return f"{'-' if value < 0 else ''}{text[:-decimals]}.{text[-decimals:]}"
