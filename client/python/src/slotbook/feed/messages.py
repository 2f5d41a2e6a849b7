"""Messages of the ``book`` channel, and how a frame becomes one.

Entries of books stay as they are in the frame: the keeper reads them, so that a damaged entry
damages one book and not the connection.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, TypeAlias

import msgspec

MarketType: TypeAlias = Literal["perp", "spot"]
BookLevelKind: TypeAlias = Literal["l2", "l3"]
Side: TypeAlias = Literal["bids", "asks"]
SIDES: tuple[Side, Side] = ("bids", "asks")


class BookVersion(msgspec.Struct, frozen=True):
    """The state of a book after ``seq`` of ``epoch``."""

    epoch: int
    seq: int


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
    checksum: int | None = None


class ResumedMessage(msgspec.Struct, rename="camel"):
    """Answer to a resume. Not recovered: a snapshot follows."""

    stream: str
    stream_id: int
    recovered: bool


class HeartbeatMessage(msgspec.Struct, rename="camel"):
    """Last version sent to each stream of the connection."""

    ts: int
    sequences: dict[str, BookVersion]
    head_slot: int | None = None
    slots_behind: int | None = None


class ErrorMessage(msgspec.Struct, rename="camel"):
    """The server rejects a request."""

    code: str
    error: str
    retry: bool = False
    id: str | int | None = None
    stream: str | None = None


class OtherMessage(msgspec.Struct):
    """A message of another channel."""

    data: dict[str, Any]


BookMessage: TypeAlias = SnapshotMessage | DiffMessage
Message: TypeAlias = BookMessage | ResumedMessage | HeartbeatMessage | ErrorMessage | OtherMessage


class _Head(msgspec.Struct):
    diff: Any = None
    channel: Any = None
    type: Any = None


_HEAD = msgspec.json.Decoder(_Head)
_DIFF = msgspec.json.Decoder(DiffMessage)
_OF_BOOK: dict[object, msgspec.json.Decoder[Any]] = {
    "snapshot": msgspec.json.Decoder(SnapshotMessage),
    "resumed": msgspec.json.Decoder(ResumedMessage),
    "heartbeat": msgspec.json.Decoder(HeartbeatMessage),
    "error": msgspec.json.Decoder(ErrorMessage),
}
_OTHER = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)


def read_message(frame: bytes | str) -> Message | None:
    """The message in a frame; None for one that is not of the protocol."""
    try:
        head = _HEAD.decode(frame)
        if head.diff is not None:
            return _DIFF.decode(frame)
        if head.channel != "book":
            return OtherMessage(_OTHER.decode(frame))
        decoder = _OF_BOOK.get(head.type) if isinstance(head.type, str) else None
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
