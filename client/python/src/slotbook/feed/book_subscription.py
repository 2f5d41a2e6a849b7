"""A subscription to books: listeners are called for every message; iterators get what changed since they last asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from weakref import WeakSet

from .backlog import Backlog
from .choices import BookChoice
from .live_book import BookEvent, Change, LiveBook, Resumed, Snapshot, Stale, StaleReason
from .messages import DiffMessage, SnapshotMessage
from .sides import gone_of, level_of, order_of
from .streams import KeptBook
from .subscription import Subscription


class BookReader(AsyncIterator[BookEvent]):
    """Events for one reader. A slow one gets merged changes: the newest state of everything that changed."""

    def __init__(self, subscription: BookSubscription) -> None:
        self._subscription = subscription
        self._backlog = Backlog()
        self._wake = asyncio.Event()

    def __aiter__(self) -> BookReader:
        return self

    async def __anext__(self) -> BookEvent:
        while not self._subscription.is_closed:
            event = self._backlog.take()
            if event is not None:
                return event
            self._wake.clear()
            await self._wake.wait()
        raise StopAsyncIteration


class BookSubscription(Subscription[BookEvent]):
    """One book, or with market ``*`` every book. Made by ``FeedClient.book``.

    ``listen`` gets each event without merging. ``async for`` gives events from now on, with a
    ``Snapshot`` of each book that is there already. It ends with ``close``.
    """

    def __init__(self, choice: BookChoice, on_close: Callable[[BookSubscription], None]) -> None:
        super().__init__(on_close)
        self.choice = choice
        self._books: dict[str, LiveBook] = {}
        self._readers: WeakSet[BookReader] = WeakSet()

    @property
    def books(self) -> Mapping[str, LiveBook]:
        """Books by stream name: one, or with ``*`` one for each market."""
        return self._books

    def book(self, market: str | None = None) -> LiveBook | None:
        """The book of a market, or the only book. None until its first snapshot."""
        name = None if market is None else market.upper()
        return next((book for book in self._books.values() if name in (None, book.market)), None)

    def __aiter__(self) -> BookReader:
        reader = BookReader(self)
        for book in self._books.values():
            if book.is_current:
                reader._backlog.snapshot(book)
        self._readers.add(reader)
        return reader

    def _applied(self, kept: KeptBook, message: SnapshotMessage | DiffMessage) -> None:
        """For the client: a message was applied to the keeper of a stream."""
        known = self._books.get(kept.stream)
        book = known or LiveBook(kept.stream, kept.market_type, kept.keeper)
        self._books[kept.stream] = book
        # Another subscription may follow this stream already: its book is whole.
        if known is not None and isinstance(message, DiffMessage):
            self._changed(book, message)
        else:
            book._is_current = True
            self._listeners.emit(Snapshot(book))
            for reader in self._readers:
                reader._backlog.snapshot(book)
        self._wake()

    def _changed(self, book: LiveBook, message: DiffMessage) -> None:
        if not self._listeners and not self._readers:
            return
        change = _change_of(book, message)
        self._listeners.emit(change)
        for reader in self._readers:
            reader._backlog.change(book, change)

    def _continued(self, stream: str) -> None:
        """For the client: a book continues without a loss."""
        book = self._books.get(stream)
        if book is None or book.is_current:
            return
        book._is_current = True
        self._listeners.emit(Resumed(book))
        for reader in self._readers:
            reader._backlog.resumed(book)
        self._wake()

    def _outdated(self, reason: StaleReason, stream: str | None = None) -> None:
        """For the client: a book, or without a name every book, may be behind or wrong."""
        for book in self._books.values():
            if not book.is_current or stream not in (None, book.stream):
                continue
            book._is_current = False
            self._listeners.emit(Stale(book, reason))
            for reader in self._readers:
                reader._backlog.stale(book, reason)
        self._wake()

    def _end_iterators(self) -> None:
        self._wake()

    def _wake(self) -> None:
        for reader in self._readers:
            reader._wake.set()


def _change_of(book: LiveBook, message: DiffMessage) -> Change:
    if book.level == "l2":
        return Change(
            book,
            [level_of(entry) for entry in message.bids],
            [level_of(entry) for entry in message.asks],
            [],
            [],
            message.revert,
        )
    orders = [order_of(entry, "bids") for entry in message.bids]
    orders += [order_of(entry, "asks") for entry in message.asks]
    return Change(book, [], [], orders, [gone_of(entry) for entry in message.gone], message.revert)
