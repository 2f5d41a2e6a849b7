"""An account's orders as their user sees them: the orders, and four kinds of event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from .account_part import AccountOrder, AccountPart, OrderFill, QueuePosition
from .live_book import StaleReason
from .messages import OrderCause


@dataclass
class AccountStream:
    """One part of an account on a connection."""

    name: str
    part: AccountPart
    # True from its snapshot or resume on this connection until a loss.
    is_current: bool = False
    # True when the last heartbeat did not name it, and nothing of it has come since.
    is_unnamed: bool = False


class AccountOrders:
    """The open orders of one account. The same object for as long as a subscription follows it."""

    def __init__(self, account: str) -> None:
        #: User account, base58.
        self.account = account
        self._streams: dict[str, AccountStream] = {}
        self._is_current = False
        self._queue: Sequence[QueuePosition] = ()

    @property
    def is_current(self) -> bool:
        """False while changes may be missing. The orders are then the last known ones."""
        return self._is_current

    @property
    def open(self) -> Sequence[AccountOrder]:
        """All open orders, by market and order id."""
        orders = [order for stream in self._streams.values() for order in stream.part.orders]
        return sorted(orders, key=lambda order: order.key)

    @property
    def queue(self) -> Sequence[QueuePosition]:
        """Queue positions of the resting orders. Empty unless asked for, and without a connection."""
        return self._queue

    @property
    def slot(self) -> int:
        """Slot of the newest change; 0 before the first."""
        return max((stream.part.slot for stream in self._streams.values()), default=0)


@dataclass(frozen=True, slots=True)
class AccountSnapshot:
    """The open orders of an account are known, or were replaced: changes before it are not delivered."""

    orders: AccountOrders
    type: ClassVar[Literal["snapshot"]] = "snapshot"


@dataclass(frozen=True, slots=True)
class OrderChange:
    """A change of an order of an account. ``orders`` has it already."""

    orders: AccountOrders
    #: A newer server may send another cause.
    cause: OrderCause | str
    #: Explanation of the program, for example ``orderFilledWithMatch``.
    explanation: str
    #: The fill behind the change; None for another cause.
    fill: OrderFill | None
    #: False when the order has left.
    is_open: bool
    #: The order after the change.
    order: AccountOrder
    slot: int
    #: Block time, Unix seconds.
    ts: int
    #: Empty when the cause is ``reconstructed``.
    tx_sig: str
    tx_sig_index: int
    type: ClassVar[Literal["change"]] = "change"


@dataclass(frozen=True, slots=True)
class AccountResumed:
    """Nothing is missing: the changes of a lost connection follow."""

    orders: AccountOrders
    type: ClassVar[Literal["resumed"]] = "resumed"


@dataclass(frozen=True, slots=True)
class AccountQueue:
    """``orders.queue`` is new."""

    orders: AccountOrders
    type: ClassVar[Literal["queue"]] = "queue"


@dataclass(frozen=True, slots=True)
class AccountStale:
    """The orders may be behind or wrong until ``AccountResumed`` or ``AccountSnapshot``."""

    orders: AccountOrders
    reason: StaleReason
    type: ClassVar[Literal["stale"]] = "stale"


AccountEvent: TypeAlias = AccountSnapshot | OrderChange | AccountResumed | AccountQueue | AccountStale
