"""Callbacks of a user. One that fails is reported to the event loop, and stops nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

E = TypeVar("E")


class Listeners(Generic[E]):
    """Callbacks for events of one kind."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[E], None]] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, listener: Callable[[E], None]) -> Callable[[], None]:
        """Adds a listener. Returns a function that removes it."""
        self._listeners.append(listener)
        return lambda: self._remove(listener)

    def emit(self, event: E) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception as error:
                context = {"message": "a listener of a feed failed", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)

    def _remove(self, listener: Callable[[E], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)
