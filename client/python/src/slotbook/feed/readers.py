"""The iterators of a subscription, each with its unread items."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")


class Reader(AsyncIterator[T]):
    """Items for one reader. Ends with its subscription."""

    def __init__(self, first: Iterable[T]) -> None:
        self._waiting: deque[T] = deque(first)
        self._wake = asyncio.Event()
        self._is_over = False

    def __aiter__(self) -> Reader[T]:
        return self

    async def __anext__(self) -> T:
        while not self._is_over:
            if self._waiting:
                return self._waiting.popleft()
            self._wake.clear()
            await self._wake.wait()
        raise StopAsyncIteration

    def _put(self, item: T, most: int, shorten: Callable[[deque[T]], deque[T]]) -> None:
        self._waiting.append(item)
        if len(self._waiting) > most:
            self._waiting = shorten(self._waiting)
        self._wake.set()

    def _end(self) -> None:
        self._is_over = True
        self._wake.set()


class Readers(Generic[T]):
    """All iterators of one subscription."""

    def __init__(self) -> None:
        self._readers: WeakSet[Reader[T]] = WeakSet()
        self._is_closed = False

    def iterate(self, first: Iterable[T]) -> Reader[T]:
        """Gives the items of ``first``, then everything that follows."""
        reader = Reader(first)
        if self._is_closed:
            reader._end()
        self._readers.add(reader)
        return reader

    def put(self, item: T, most: int, shorten: Callable[[deque[T]], deque[T]]) -> None:
        """Adds an item for each reader. ``shorten`` gets the items of one that has more than ``most``."""
        for reader in self._readers:
            reader._put(item, most, shorten)

    def close(self) -> None:
        """Ends every iterator."""
        self._is_closed = True
        for reader in self._readers:
            reader._end()
