"""The compatible channels of a connection.

Their data is JSON as text, and their names have market indexes, not symbols.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from .channel_subscription import ChannelName, ChannelSubscription, Grouping
from .live_book import Refused
from .messages import MarketType, read_object

AnySubscription: TypeAlias = ChannelSubscription[Any]


@dataclass(frozen=True)
class _Address:
    channel: ChannelName
    market_type: MarketType
    market_index: int
    grouping: int


@dataclass(frozen=True)
class _Request:
    """A subscribe without an answer."""

    channel: str
    market: str
    market_type: str
    #: None for a probe.
    subscription: AnySubscription | None


#: Answer to an unsubscribe, which is no request here.
_UNSUBSCRIBE_ERROR = "Error unsubscribing from channel"
#: Answer to a subscribe, with its members as the client sent them.
_ACKNOWLEDGEMENT = re.compile(r"Subscribe received for channel: (.*), market: (.*), marketType: (.*)").fullmatch
#: Messages of markets whose index is not known yet.
HELD_MAX = 256
#: A book of this grouping is short, and it names its market.
PROBE_GROUPING: Grouping = 1000
_BOOK_NAME = re.compile(r"orderbook_(perp|spot)_([0-9]+)_grouped_([0-9]+)(_indicative)?").fullmatch
_OTHER_NAME = re.compile(r"(trades|priorityFees)_(perp|spot)_([0-9]+)").fullmatch
_BOOKS = ("orderbook", "orderbook_indicative")


class Channels:
    """Subscriptions to compatible channels, restored at each connection."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        # A dictionary keeps the order of the calls.
        self._subscriptions: dict[AnySubscription, None] = {}
        # Market indexes by `perp:SOL-PERP`.
        self._indexes: dict[str, int] = {}
        self._probes: set[str] = set()
        # In the order of sending: the server answers each with an acknowledgement or an error, first in, first out.
        self._unanswered: list[_Request] = []
        self._held: list[tuple[_Address, dict[str, Any]]] = []
        self._is_open = False

    @property
    def subscriptions(self) -> Collection[AnySubscription]:
        return tuple(self._subscriptions)

    def add(self, subscription: AnySubscription) -> None:
        self._subscriptions[subscription] = None
        if self._is_open:
            self._request(subscription)

    def remove(self, subscription: AnySubscription) -> None:
        """Ends a subscription; on the server too, unless another one uses the same channel."""
        self._subscriptions.pop(subscription, None)
        is_shared = any(_name_of(other) == _name_of(subscription) for other in self._subscriptions)
        if self._is_open and not is_shared:
            self._send(_request_of(subscription, "unsubscribe"))

    def opened(self) -> None:
        self._is_open = True
        for subscription in self.subscriptions:
            self._request(subscription)

    def lost(self) -> None:
        self._is_open = False
        self._held = []
        self._unanswered = []
        self._probes.clear()
        for subscription in self.subscriptions:
            subscription._outdated()

    def receive(self, message: dict[str, Any]) -> None:
        channel, error, text = message.get("channel"), message.get("error"), message.get("message")
        if isinstance(text, str):
            self._acknowledged(text)
        if not isinstance(channel, str):
            return
        if isinstance(error, str):
            self._refuse(channel, error)
        address = _address_of(channel)
        body = read_object(message.get("data"))
        if address is None or body is None:
            return
        self._learn(address, body)
        self._deliver(address, body)

    def _request(self, subscription: AnySubscription) -> None:
        key = _market_of(subscription)
        if subscription.channel not in _BOOKS and key not in self._indexes and key not in self._probes:
            self._probes.add(key)
            self._subscribe(_probe_of(subscription.market, subscription.market_type, "subscribe"), None)
        self._subscribe(_request_of(subscription, "subscribe"), subscription)

    def _subscribe(self, request: dict[str, Any], subscription: AnySubscription | None) -> None:
        named = (request["channel"], request["market"], request["marketType"])
        self._unanswered.append(_Request(*named, subscription))
        self._send(request)

    def _learn(self, address: _Address, body: dict[str, Any]) -> None:
        """A book names its market and stands in a channel with the index."""
        name = body.get("marketName")
        if address.channel not in _BOOKS or not isinstance(name, str):
            return
        key = f"{address.market_type}:{name.upper()}"
        self._indexes[key] = address.market_index
        if key not in self._probes:
            return
        self._probes.remove(key)
        own = (one for one in self._subscriptions if _market_of(one) == key)
        if not any(one.channel == "orderbook" and one.grouping == PROBE_GROUPING for one in own):
            self._send(_probe_of(name, address.market_type, "unsubscribe"))
        held, self._held = self._held, []
        for held_address, data in held:
            self._deliver(held_address, data)

    def _deliver(self, address: _Address, data: dict[str, Any]) -> None:
        """Data of an unknown index go to subscriptions without one. Data of a market that was left go to nobody."""
        candidates = [one for one in self._subscriptions if _is_same_kind(one, address)]
        known = [one for one in candidates if self._indexes.get(_market_of(one)) == address.market_index]
        unknown = [one for one in candidates if _market_of(one) not in self._indexes]
        names = {_market_of(one) for one in unknown}
        if not known and self._is_known(address):
            return
        if known or len(names) == 1:
            for one in known or unknown:
                one._take(data)
        elif names and len(self._held) < HELD_MAX:
            self._held.append((address, data))

    def _is_known(self, address: _Address) -> bool:
        prefix = f"{address.market_type}:"
        return any(index == address.market_index and key.startswith(prefix) for key, index in self._indexes.items())

    def _acknowledged(self, text: str) -> None:
        found = _ACKNOWLEDGEMENT(text)
        if found is None:
            return
        for at, one in enumerate(self._unanswered):
            if (one.channel, one.market, one.market_type) == found.groups():
                del self._unanswered[: at + 1]
                return

    def _refuse(self, channel: str, error: str) -> None:
        """An error names the channel of the request, not its market: the order of the answers says which one it is."""
        if error == _UNSUBSCRIBE_ERROR:
            return
        refused = next((one for one in self._unanswered if one.channel == channel.lower()), None)
        if refused is None:
            return
        self._unanswered.remove(refused)
        if refused.subscription in self._subscriptions:
            refused.subscription._refuse(Refused(error))


def _request_of(subscription: AnySubscription, kind: str) -> dict[str, Any]:
    request = {
        "type": kind,
        "channel": subscription.channel,
        "market": subscription.market,
        "marketType": subscription.market_type,
    }
    return {**request, "grouping": subscription.grouping} if subscription.channel in _BOOKS else request


def _probe_of(market: str, market_type: MarketType, kind: str) -> dict[str, Any]:
    named = {"market": market, "marketType": market_type}
    return {"type": kind, "channel": "orderbook", **named, "grouping": PROBE_GROUPING}


def _market_of(subscription: AnySubscription) -> str:
    return f"{subscription.market_type}:{subscription.market}"


def _name_of(subscription: AnySubscription) -> str:
    return f"{subscription.channel}:{_market_of(subscription)}:{subscription.grouping}"


def _is_same_kind(one: AnySubscription, address: _Address) -> bool:
    if one.channel != address.channel or one.market_type != address.market_type:
        return False
    return one.channel not in _BOOKS or one.grouping == address.grouping


def _address_of(name: str) -> _Address | None:
    book = _BOOK_NAME(name)
    if book:
        channel: ChannelName = "orderbook" if book[4] is None else "orderbook_indicative"
        return _Address(channel, cast(MarketType, book[1]), int(book[2]), int(book[3]))
    other = _OTHER_NAME(name)
    if other is None:
        return None
    kind: ChannelName = "trades" if other[1] == "trades" else "priorityfees"
    return _Address(kind, cast(MarketType, other[2]), int(other[3]), 1)
