"""The ``account`` channel of a connection: numbers of changes, missing ones, resumes.

Its user gets whole accounts: the parts of an account stay inside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from .account_orders import (
    AccountEvent,
    AccountOrders,
    AccountQueue,
    AccountResumed,
    AccountSnapshot,
    AccountStale,
    AccountStream,
    OrderChange,
)
from .account_part import AccountOrder, AccountPart, OrderFill, position_of
from .live_book import Refused, StaleReason, refused_by
from .messages import (
    AccountQueueMessage,
    AccountSnapshotMessage,
    AccountSubscribedMessage,
    ErrorMessage,
    HeartbeatMessage,
    OrderChangeMessage,
    ResumedMessage,
    members_of,
)
from .sides import MALFORMED
from .streams import Send

CHANNEL = "account"


@dataclass(frozen=True, slots=True)
class AccountChoice:
    """A user account, or all accounts of a wallet, base58. One of them is None."""

    account: str | None
    authority: str | None
    id: int
    #: True: with the queue positions of resting orders.
    queue: bool = False

    def target(self) -> dict[str, Any]:
        """As members of a request."""
        named = {"account": self.account, "authority": self.authority}
        return {name: value for name, value in named.items() if value is not None}


class AccountReader(Protocol):
    """Receives the events of followed accounts for a subscription."""

    choice: AccountChoice

    def _take(self, event: AccountEvent) -> None: ...

    def _refuse(self, refusal: Refused) -> None: ...


@dataclass
class _Followed:
    """State of an account beside its orders."""

    orders: AccountOrders
    # True when its streams are known.
    is_complete: bool = False
    # True when orders were replaced and no `AccountSnapshot` has said so yet.
    is_replaced: bool = True
    # True between a request and its answer.
    is_asking: bool = False

    @property
    def streams(self) -> Collection[AccountStream]:
        return self.orders._streams.values()


class AccountStreams:
    """Accounts of one connection, which comes and goes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        # With the accounts of each reader; None until the server has named them.
        self._readers: dict[AccountReader, set[str] | None] = {}
        self._accounts: dict[str, _Followed] = {}
        # By stream number on this connection.
        self._by_id: dict[int, tuple[_Followed, AccountStream]] = {}
        self._is_open = False

    @property
    def readers(self) -> Collection[AccountReader]:
        return tuple(self._readers)

    def add(self, reader: AccountReader) -> None:
        self._readers[reader] = None
        if self._is_open:
            self._request(reader)

    def remove(self, reader: AccountReader) -> None:
        ended = self._readers.pop(reader, None) or self._unanswered_of(reader)
        if self._is_open:
            self._send({"type": "unsubscribe", "channel": CHANNEL, **reader.choice.target()})
        for account in ended:
            shared = self._accounts.get(account)
            if shared is None or not self._readers_of(account):
                self._accounts.pop(account, None)
                continue
            # The server ended streams that other readers share.
            shared.is_asking = False
            if not self._wants_queue(account):
                shared.orders._queue = ()
            self._ask(account)
        if not self._is_open:
            return
        for other, accounts in self._readers.items():
            if accounts is None and _may_share(other, reader):
                self._request(other)

    def opened(self) -> None:
        self._is_open = True
        for reader in self.readers:
            self._request(reader)

    def lost(self) -> None:
        self._is_open = False
        self._by_id.clear()
        for followed in tuple(self._accounts.values()):
            followed.is_asking = False
            for stream in followed.streams:
                stream.is_current = False
            followed.orders._queue = ()
            self._mark_stale(followed, "disconnected")

    def receive_subscribed(self, message: AccountSubscribedMessage) -> None:
        """Names the streams: now an account with all of them is whole."""
        asked = None if message.account is None else self._accounts.get(message.account)
        if asked is not None:
            asked.is_asking = False
        reader = next((one for one in self._readers if one.choice.id == message.id), None)
        if reader is None:
            return
        is_first = self._readers[reader] is None
        accounts = {account_of(name): None for name in message.streams}
        for name in message.streams:
            self._stream(account_of(name), name)
        self._readers[reader] = set(accounts)
        for account in accounts:
            followed = self._accounts[account]
            followed.is_complete = True
            # Another reader follows it already.
            if is_first and followed.orders.is_current:
                reader._take(AccountSnapshot(followed.orders))

    def receive_snapshot(self, message: AccountSnapshotMessage) -> None:
        begun = self._begin(message.account, message.stream, message.stream_id)
        if begun is None:
            return
        followed, stream = begun
        stream.is_current = stream.part.replace(message) == "applied"
        followed.is_replaced = True
        # A damaged snapshot is asked for again after the next heartbeat.
        if stream.is_current:
            self._settle(followed)
        else:
            self._mark_stale(followed, "different")

    def receive_resumed(self, message: ResumedMessage) -> None:
        begun = self._begin(account_of(message.stream), message.stream, message.stream_id)
        if begun is None:
            return
        followed, stream = begun
        if message.recovered and stream.part.position is not None:
            stream.is_current = True
            self._settle(followed)

    def _begin(self, account: str, name: str, stream_id: int) -> tuple[_Followed, AccountStream] | None:
        """None when nobody wants the stream: an answer may come after its reader has closed."""
        if account not in self._accounts and None not in self._readers.values():
            return None
        followed, stream = self._by_id[stream_id] = self._stream(account, name)
        stream.is_unnamed = False
        return followed, stream

    def receive_change(self, message: OrderChangeMessage) -> None:
        found = self._by_id.get(message.order)
        if found is None:
            return
        followed, stream = found
        stream.is_unnamed = False
        result, order, fill = stream.part.apply(message)
        if result == "known":
            return
        if order is not None:
            if not followed.is_replaced:
                self._publish(followed.orders, message, order, fill)
            return
        stream.is_current = False
        self._mark_stale(followed, "missing" if result == "gap" else "different")
        self._ask(followed.orders.account)

    def receive_queue(self, message: AccountQueueMessage) -> None:
        followed = self._accounts.get(message.account)
        if followed is None:
            return
        try:
            followed.orders._queue = tuple(map(position_of, message.positions))
        except MALFORMED:
            return
        for reader in self._readers_of(message.account):
            if reader.choice.queue:
                reader._take(AccountQueue(followed.orders))

    def receive_heartbeat(self, message: HeartbeatMessage) -> None:
        """Only a heartbeat reveals the loss of a last change, of first messages of a stream, and of a stream itself."""
        for account, followed in tuple(self._accounts.items()):
            if not self._readers_of(account):
                continue
            is_lacking = False
            for stream in followed.streams:
                named = message.sequences.get(stream.name)
                was_unnamed, stream.is_unnamed = stream.is_unnamed, named is None
                # One heartbeat may leave a stream before an answer, and names a part of very many streams.
                if named is None and not was_unnamed:
                    continue
                followed.is_asking = False
                if stream.is_current and named is not None and stream.part.position == named:
                    continue
                is_lacking = True
                if stream.is_current:
                    stream.is_current = False
                    self._mark_stale(followed, "missing")
            if is_lacking:
                self._ask(account)
        for reader, accounts in tuple(self._readers.items()):
            if accounts is None:
                self._request(reader)

    def _unanswered_of(self, reader: AccountReader) -> Collection[str]:
        """The accounts that an unanswered request may have named."""
        account = reader.choice.account
        return tuple(self._accounts) if account is None else (account,)

    def receive_error(self, message: ErrorMessage) -> None:
        for reader in self.readers:
            if reader.choice.id == message.id:
                reader._refuse(refused_by(message))

    def _publish(
        self, orders: AccountOrders, message: OrderChangeMessage, order: AccountOrder, fill: OrderFill | None
    ) -> None:
        change = OrderChange(
            orders,
            message.cause,
            message.explanation,
            fill,
            message.is_open,
            order,
            message.slot,
            message.ts,
            message.tx_sig,
            message.tx_sig_index,
        )
        self._deliver(orders.account, change)

    def _settle(self, followed: _Followed) -> None:
        """Says so when an account is whole again, or for the first time."""
        if not followed.is_complete or not all(stream.is_current for stream in followed.streams):
            return
        orders = followed.orders
        was_current, orders._is_current = orders.is_current, True
        if followed.is_replaced:
            self._deliver(orders.account, AccountSnapshot(orders))
        elif not was_current:
            self._deliver(orders.account, AccountResumed(orders))
        followed.is_replaced = False

    def _mark_stale(self, followed: _Followed, reason: StaleReason) -> None:
        orders = followed.orders
        if not orders.is_current:
            return
        orders._is_current = False
        self._deliver(orders.account, AccountStale(orders, reason))

    def _request(self, reader: AccountReader) -> None:
        choice = reader.choice
        accounts: Iterable[str] = self._readers[reader] or ([] if choice.account is None else [choice.account])
        resume: dict[str, dict[str, int]] = {}
        for account in accounts:
            resume.update(self._positions(account))
        request = {"type": "subscribe", "channel": CHANNEL, **choice.target(), "id": choice.id, "resume": resume}
        self._send({**request, "queue": True} if choice.queue else request)

    def _ask(self, account: str) -> None:
        """Asks for the changes after the last ones, or for the orders where these are damaged."""
        followed = self._accounts.get(account)
        if followed is None or followed.is_asking or not self._is_open:
            return
        followed.is_asking = True
        resume = self._positions(account)
        request = {"type": "subscribe", "channel": CHANNEL, "account": account, "resume": resume}
        self._send({**request, "queue": True} if self._wants_queue(account) else request)

    def _positions(self, account: str) -> dict[str, dict[str, int]]:
        followed = self._accounts.get(account)
        streams = () if followed is None else followed.streams
        return {one.name: members_of(one.part.position) for one in streams if one.part.position is not None}

    def _stream(self, account: str, name: str) -> tuple[_Followed, AccountStream]:
        followed = self._accounts.setdefault(account, _Followed(AccountOrders(account)))
        return followed, followed.orders._streams.setdefault(name, AccountStream(name, AccountPart()))

    def _wants_queue(self, account: str) -> bool:
        return any(reader.choice.queue for reader in self._readers_of(account))

    def _readers_of(self, account: str) -> list[AccountReader]:
        return [reader for reader, accounts in self._readers.items() if accounts is not None and account in accounts]

    def _deliver(self, account: str, event: AccountEvent) -> None:
        for reader in self._readers_of(account):
            reader._take(event)


def _may_share(one: AccountReader, other: AccountReader) -> bool:
    """Whether an unsubscribe of one may end streams of the other."""
    accounts = (one.choice.account, other.choice.account)
    return None in accounts or accounts[0] == accounts[1]


def account_of(name: str) -> str:
    """The account in ``account_<account>_<part>``."""
    return name[name.find("_") + 1 : name.rfind("_")]
