"""A book as its user sees it: the book, and four kinds of event. Missing and damaged messages never show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from .keeper import BookKeeper
from .messages import BookLevelKind, BookVersion, ErrorMessage, MarketType, Side
from .sides import GoneOrder, Level, Order, OrderRef


class LiveBook:
    """A book that is kept up to date. The same object for as long as the subscription lasts."""

    def __init__(self, stream: str, market_type: MarketType, keeper: BookKeeper) -> None:
        self.stream = stream
        self.market_type: MarketType = market_type
        self._keeper = keeper
        self._is_current = False

    @property
    def market(self) -> str:
        """Symbol in upper case."""
        return self._keeper.market

    @property
    def level(self) -> BookLevelKind:
        return self._keeper.level

    @property
    def is_current(self) -> bool:
        """False while the book may be behind the server's or wrong. Its levels are then the last known ones."""
        return self._is_current

    @property
    def slot(self) -> int:
        """Newest chain slot in the book."""
        return self._keeper.slot

    @property
    def ts(self) -> int:
        """Unix milliseconds at which the server published this state."""
        return self._keeper.ts

    @property
    def position(self) -> BookVersion | None:
        """Version of the book; None while it is known to be damaged."""
        return self._keeper.position

    @property
    def bids(self) -> Sequence[Level]:
        """Best first; empty in a book of level ``l3``. The list changes with the book."""
        return self._keeper.levels("bids")

    @property
    def asks(self) -> Sequence[Level]:
        """Best first; empty in a book of level ``l3``. The list changes with the book."""
        return self._keeper.levels("asks")

    def orders(self, side: Side) -> Sequence[Order]:
        """In queue order; empty in a book of level ``l2``. The list changes with the book."""
        return self._keeper.orders(side)

    def level_at(self, side: Side, price: int) -> Level:
        """The level of a price (1e6), with size 0 when there is none."""
        return self._keeper.level_at(side, price) or Level(price, 0, {})

    def order(self, ref: OrderRef) -> Order | None:
        """An order of a book of level ``l3``; None when the book does not have it."""
        return self._keeper.order(ref.key)

    def lines(self, side: Side) -> list[str]:
        """A line for each level or order, as in the protocol's checksum."""
        return self._keeper.lines(side)

    def checksum(self) -> int:
        """CRC32 over all levels, by the rules of the protocol's checksum."""
        return self._keeper.whole_checksum()


StaleReason: TypeAlias = Literal["disconnected", "missing", "different"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole book is new: the first one, or one that replaces another."""

    book: LiveBook
    type: ClassVar[Literal["snapshot"]] = "snapshot"


@dataclass(frozen=True, slots=True)
class Change:
    """Entries changed. The book has them already."""

    book: LiveBook
    #: Changed levels, absolute; size 0 when the level is gone. Empty in a book of level ``l3``.
    bids: Sequence[Level]
    asks: Sequence[Level]
    #: Changed and new orders, absolute. Empty in a book of level ``l2``.
    orders: Sequence[Order]
    #: Orders that left.
    gone: Sequence[GoneOrder]
    #: First abandoned slot that the change undoes, at commitment ``processed``; None for any other change.
    revert: int | None = None
    type: ClassVar[Literal["change"]] = "change"


@dataclass(frozen=True, slots=True)
class Resumed:
    """The book is current again and missed nothing: missed changes follow as ``Change``."""

    book: LiveBook
    type: ClassVar[Literal["resumed"]] = "resumed"


@dataclass(frozen=True, slots=True)
class Stale:
    """The book may be behind or wrong until ``Resumed`` or ``Snapshot``. The client repairs it.

    The connection is lost, a message is missing, or the book differs from the server's.
    """

    book: LiveBook
    reason: StaleReason
    type: ClassVar[Literal["stale"]] = "stale"


@dataclass(frozen=True, slots=True)
class Refused:
    """The server rejects the request, and says why. No market of that name, for example."""

    error: str
    code: str | None = None
    #: True when the same request may succeed later.
    retry: bool = False
    type: ClassVar[Literal["refused"]] = "refused"


def refused_by(message: ErrorMessage) -> Refused:
    return Refused(message.error, message.code, message.retry)


BookEvent: TypeAlias = Snapshot | Change | Resumed | Stale
