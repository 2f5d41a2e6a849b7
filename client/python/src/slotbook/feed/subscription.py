"""Common part of all subscriptions: listeners, an end, and the last answer that rejected one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .listeners import Listeners
from .live_book import Refused

E = TypeVar("E")


class Subscription(Generic[E]):
    """Calls its listeners for each event until it is closed. ``E`` are the events beside ``Refused``."""

    def __init__(self, on_close: Callable[[Any], None]) -> None:
        self._listeners: Listeners[E | Refused] = Listeners()
        self._on_close = on_close
        self._is_closed = False
        #: The last answer that rejected the request; None when there was none.
        self.refusal: Refused | None = None

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def listen(self, listener: Callable[[E | Refused], None]) -> Callable[[], None]:
        """Calls ``listener`` at each event. Returns a function that removes it."""
        return self._listeners.add(listener)

    def close(self) -> None:
        """Ends the subscription, and every iterator of it."""
        if self._is_closed:
            return
        self._is_closed = True
        self._on_close(self)
        self._end_iterators()

    def _refuse(self, refusal: Refused) -> None:
        """For the client: the server rejected the request."""
        self.refusal = refusal
        self._listeners.emit(refusal)

    def _end_iterators(self) -> None:
        raise NotImplementedError
