"""Messages of the numbered channels, and how a frame becomes one.

Entries of books and orders of accounts stay as they are in the frame. The keeper reads them, so that a
damaged entry damages one book and not the connection.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, TypeAlias

import msgspec

MarketType: TypeAlias = Literal["perp", "spot"]
BookLevelKind: TypeAlias = Literal["l2", "l3"]
Side: TypeAlias = Literal["bids", "asks"]
SIDES: tuple[Side, Side] = ("bids", "asks")
#: Why an order changed.
#: ``reconstructed``: the account shows the change, and no record does.
OrderCause: TypeAlias = Literal["placed", "triggered", "filled", "cancelled", "expired", "reconstructed"]


#: The channel of a message that several channels have.
Commitment: TypeAlias = Literal["confirmed", "processed"]
NumberedChannel: TypeAlias = Literal["book", "trades.v2", "account"]


class BookVersion(msgspec.Struct, frozen=True):
    """The state of a stream after ``seq`` of ``epoch``."""

    epoch: int
    seq: int


def members_of(version: BookVersion) -> dict[str, int]:
    """A version as the member ``resume`` of a request has it."""
    return {"epoch": version.epoch, "seq": version.seq}


class SnapshotMessage(msgspec.Struct, rename="camel"):
    """A whole book. It replaces the one before."""

    stream: str
    stream_id: int
    market: str
    market_type: MarketType
    level: BookLevelKind
    epoch: int
    seq: int
    slot: int
    ts: int
    bids: list[Any]
    asks: list[Any]
    checksum: int | None = None


class DiffMessage(msgspec.Struct, rename="camel"):
    """Changed entries of the stream with the number ``diff``."""

    diff: int
    epoch: int
    seq: int
    prev_seq: int
    slot: int
    ts: int
    bids: list[Any] = []
    asks: list[Any] = []
    gone: list[Any] = []
    revert: int | None = None
    checksum: int | None = None


class TradesSnapshotMessage(msgspec.Struct, rename="camel"):
    """Where the fills of a market stand."""

    stream: str
    stream_id: int
    market: str
    market_type: MarketType
    epoch: int
    seq: int
    #: Absent at confirmed.
    commitment: Commitment = "confirmed"


class TradeWithdrawalMessage(msgspec.Struct, rename="camel"):
    """A fill of the stream with the number ``withdraw`` does not count."""

    withdraw: int
    epoch: int
    seq: int
    prev_seq: int
    slot: int
    trade_seq: int
    tx_sig: str
    tx_sig_index: int
    #: Text beyond 2^53.
    fill_record_id: int | str


class NumberedTradeMessage(msgspec.Struct, rename="camel"):
    """A fill of the stream with the number ``trade``."""

    trade: int
    epoch: int
    seq: int
    prev_seq: int
    slot: int
    tx_index: int | None
    tx_sig_index: int
    data: dict[str, Any]


class AccountSubscribedMessage(msgspec.Struct, rename="camel"):
    """The streams of a request for accounts."""

    streams: list[str]
    id: str | int | None = None
    account: str | None = None


class AccountSnapshotMessage(msgspec.Struct, rename="camel"):
    """All open orders of an account in the markets of a part."""

    stream: str
    stream_id: int
    #: User account, base58.
    account: str
    epoch: int
    seq: int
    #: Slot of the newest change; 0 before the first.
    slot: int
    orders: list[Any]
    checksum: int


class OrderChangeMessage(msgspec.Struct, rename="camel"):
    """A change of an order of the stream with the number ``order``."""

    order: int
    epoch: int
    seq: int
    prev_seq: int
    slot: int
    ts: int
    tx_sig: str
    tx_sig_index: int
    #: An `OrderCause`, or one of a newer server.
    cause: str
    explanation: str
    fill: dict[str, Any] | None
    is_open: bool
    data: dict[str, Any]
    checksum: int


class AccountQueueMessage(msgspec.Struct, rename="camel"):
    """Queue positions of all resting orders of an account."""

    account: str
    positions: list[Any]


class ResumedMessage(msgspec.Struct, rename="camel"):
    """Answer to a resume. Not recovered: a snapshot follows."""

    channel: NumberedChannel
    stream: str
    stream_id: int
    recovered: bool


class HeartbeatMessage(msgspec.Struct, rename="camel"):
    """Last version sent to each stream of a channel of the connection."""

    channel: NumberedChannel
    ts: int
    sequences: dict[str, BookVersion]
    head_slot: int | None = None
    slots_behind: int | None = None


class ErrorMessage(msgspec.Struct, rename="camel"):
    """The server rejects a request."""

    channel: NumberedChannel
    code: str
    error: str
    retry: bool = False
    id: str | int | None = None
    stream: str | None = None


class OtherMessage(msgspec.Struct):
    """A message of another channel."""

    data: dict[str, Any]


BookMessage: TypeAlias = SnapshotMessage | DiffMessage
TradesMessage: TypeAlias = TradesSnapshotMessage | NumberedTradeMessage | TradeWithdrawalMessage
AccountMessage: TypeAlias = AccountSubscribedMessage | AccountSnapshotMessage | OrderChangeMessage | AccountQueueMessage
#: Messages of every numbered channel.
SharedMessage: TypeAlias = ResumedMessage | HeartbeatMessage | ErrorMessage
Message: TypeAlias = BookMessage | TradesMessage | AccountMessage | SharedMessage | OtherMessage


class _Head(msgspec.Struct):
    diff: Any = None
    trade: Any = None
    withdraw: Any = None
    order: Any = None
    channel: Any = None
    type: Any = None


_HEAD = msgspec.json.Decoder(_Head)
_DIFF = msgspec.json.Decoder(DiffMessage)
_TRADE = msgspec.json.Decoder(NumberedTradeMessage, float_hook=Decimal)
_WITHDRAWAL = msgspec.json.Decoder(TradeWithdrawalMessage)
_ORDER = msgspec.json.Decoder(OrderChangeMessage)
_SHARED: dict[object, msgspec.json.Decoder[Any]] = {
    "resumed": msgspec.json.Decoder(ResumedMessage),
    "heartbeat": msgspec.json.Decoder(HeartbeatMessage),
    "error": msgspec.json.Decoder(ErrorMessage),
}
_OF_CHANNEL: dict[object, dict[object, msgspec.json.Decoder[Any]]] = {
    "book": {**_SHARED, "snapshot": msgspec.json.Decoder(SnapshotMessage)},
    "trades.v2": {**_SHARED, "snapshot": msgspec.json.Decoder(TradesSnapshotMessage)},
    "account": {
        **_SHARED,
        "snapshot": msgspec.json.Decoder(AccountSnapshotMessage),
        "subscribed": msgspec.json.Decoder(AccountSubscribedMessage),
        "queue": msgspec.json.Decoder(AccountQueueMessage),
    },
}
_OTHER = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)


def read_message(frame: bytes | str) -> Message | None:
    """The message in a frame; None for one that is not of the protocol."""
    try:
        head = _HEAD.decode(frame)
        if head.diff is not None:
            return _DIFF.decode(frame)
        if head.trade is not None:
            return _TRADE.decode(frame)
        if head.withdraw is not None:
            return _WITHDRAWAL.decode(frame)
        if head.order is not None:
            return _ORDER.decode(frame)
        decoders = _OF_CHANNEL.get(head.channel) if isinstance(head.channel, str) else None
        if decoders is None:
            return OtherMessage(_OTHER.decode(frame))
        decoder = decoders.get(head.type) if isinstance(head.type, str) else None
        message: Message | None = None if decoder is None else decoder.decode(frame)
        return message
    except (msgspec.DecodeError, RecursionError):
        return None


def read_object(text: object) -> dict[str, Any] | None:
    """The object in a JSON text, with fractions as ``Decimal``; None for anything else."""
    if isinstance(text, dict):
        return text
    if not isinstance(text, (str, bytes)):
        return None
    try:
        return _OTHER.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
