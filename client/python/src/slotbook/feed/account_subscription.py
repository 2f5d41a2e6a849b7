"""A subscription to the orders of accounts: listeners are called at each event; iterators get what waits for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from .account_orders import AccountEvent, AccountOrders, AccountResumed, AccountSnapshot
from .account_streams import AccountChoice
from .readers import Reader, Readers
from .subscription import Subscription

#: Events that one slow reader can have waiting.
WAITING_MAX = 10_000


class AccountSubscription(Subscription[AccountEvent]):
    """The orders of one account, or of all accounts of a wallet. Made by ``FeedClient.account_orders``.

    ``async for`` gives events from now on, with an ``AccountSnapshot`` of each account that is known
    already. A reader with 10,000 unread events gets an ``AccountSnapshot`` of each account in their
    place. It ends with ``close``.
    """

    def __init__(self, choice: AccountChoice, on_close: Callable[[AccountSubscription], None]) -> None:
        super().__init__(on_close)
        self.choice = choice
        self._accounts: dict[str, AccountOrders] = {}
        self._readers: Readers[AccountEvent] = Readers()

    @property
    def accounts(self) -> Mapping[str, AccountOrders]:
        """By account, base58. An account is missing until its first snapshot."""
        return self._accounts

    def orders(self, account: str | None = None) -> AccountOrders | None:
        """The orders of an account, or of the only one. None until its first snapshot."""
        if account is not None:
            return self._accounts.get(account)
        return next(iter(self._accounts.values()), None)

    def __aiter__(self) -> Reader[AccountEvent]:
        return self._readers.iterate(self._snapshots())

    def _take(self, event: AccountEvent) -> None:
        """For the client: something happened to an account."""
        orders = event.orders
        if orders.account not in self._accounts:
            # A subscription that began while the account was behind has had no snapshot of it.
            if isinstance(event, AccountResumed):
                event = AccountSnapshot(orders)
            if not isinstance(event, AccountSnapshot):
                return
        self._accounts[orders.account] = orders
        self._listeners.emit(event)
        self._readers.put(event, WAITING_MAX, lambda _: self._snapshots())

    def _end_iterators(self) -> None:
        self._readers.close()

    def _snapshots(self) -> deque[AccountEvent]:
        return deque(AccountSnapshot(orders) for orders in self._accounts.values())
