"""The ``trades.v2`` channel of a connection: numbers of fills, missing ones, resumes.

Its user gets each fill once, in order, and at processed each withdrawal.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, cast

from .channel_types import Trade
from .live_book import Refused, refused_by
from .messages import (
    BookVersion,
    Commitment,
    ErrorMessage,
    HeartbeatMessage,
    MarketType,
    NumberedTradeMessage,
    ResumedMessage,
    TradesSnapshotMessage,
    TradeWithdrawalMessage,
    members_of,
)
from .streams import Send

CHANNEL = "trades.v2"


@dataclass(frozen=True, slots=True)
class TradesChoice:
    """Choices of a subscription."""

    #: Symbol in any letter case, or ``*`` for every market, present and future.
    market: str
    #: None: ``perp``; with ``*`` both kinds.
    market_type: MarketType | None
    id: int
    #: At ``processed`` fills come earlier, and those of abandoned slots are withdrawn.
    commitment: Commitment = "confirmed"

    def matches(self, market: str, market_type: MarketType, commitment: Commitment) -> bool:
        if self.commitment != commitment:
            return False
        if self.market == "*":
            return self.market_type in (None, market_type)
        return self.market.upper() == market and (self.market_type or "perp") == market_type

    def overlaps(self, other: TradesChoice) -> bool:
        if self.commitment != other.commitment:
            return False
        return "*" in (self.market, other.market) or self.market.upper() == other.market.upper()

    def may_have(self, stream: str) -> bool:
        """Whether a stream of an unknown market may be of this kind."""
        if (self.commitment == "processed") != stream.endswith("_processed"):
            return False
        market_type = "spot" if stream.startswith("spot") else "perp"
        wanted = self.market_type or (market_type if self.market == "*" else "perp")
        return wanted == market_type

    def members(self) -> dict[str, Any]:
        """As members of a request."""
        named = {"market": self.market, "marketType": self.market_type, "id": self.id}
        return {name: value for name, value in named.items() if value is not None} | _commitment(self.commitment)


@dataclass(frozen=True, slots=True)
class NumberedTrade:
    """A fill with its number."""

    #: Symbol of the market.
    market: str
    version: BookVersion
    slot: int
    #: Index of the transaction in its block; None where the server does not know it.
    tx_index: int | None
    #: Index of the fill among the records of its transaction.
    tx_sig_index: int
    trade: Trade
    commitment: Commitment = "confirmed"
    type: ClassVar[Literal["trade"]] = "trade"


@dataclass(frozen=True, slots=True)
class TradeWithdrawn:
    """A fill at processed that does not count. It comes again if another slot has it."""

    #: Symbol of the market.
    market: str
    version: BookVersion
    #: Number of the withdrawn fill, in the same epoch.
    trade_seq: int
    #: Slot of the withdrawn fill.
    slot: int
    tx_sig: str
    #: Index of the fill among the records of its transaction.
    tx_sig_index: int
    fill_record_id: int
    type: ClassVar[Literal["withdrawn"]] = "withdrawn"


@dataclass(frozen=True, slots=True)
class TradesStarted:
    """The fills of this market are followed from here: the next one is delivered."""

    market: str
    market_type: MarketType
    type: ClassVar[Literal["started"]] = "started"


@dataclass(frozen=True, slots=True)
class TradesStale:
    """The connection is lost. The fills of that time follow after ``TradesResumed``."""

    reason: Literal["disconnected"] = "disconnected"
    type: ClassVar[Literal["stale"]] = "stale"


@dataclass(frozen=True, slots=True)
class TradesResumed:
    """Nothing is missing: the fills of a lost connection follow."""

    market: str
    market_type: MarketType
    type: ClassVar[Literal["resumed"]] = "resumed"


@dataclass(frozen=True, slots=True)
class TradesMissing:
    """Fills after ``held`` and up to ``now`` cannot be had from the feed any more. The history has them."""

    market: str
    held: BookVersion
    now: BookVersion
    type: ClassVar[Literal["missing"]] = "missing"


TradesEvent: TypeAlias = NumberedTrade | TradeWithdrawn | TradesStarted | TradesStale | TradesResumed | TradesMissing


class TradesReader(Protocol):
    """A choice as ``TradeStreams`` serves it."""

    choice: TradesChoice

    def _take(self, event: TradesEvent) -> None: ...

    def _refuse(self, refusal: Refused) -> None: ...


@dataclass
class _Stream:
    name: str
    market: str
    market_type: MarketType
    commitment: Commitment
    #: The newest message that readers have.
    position: BookVersion
    # True between a request to resume and its answer. One is enough: fills after the hole come again.
    is_resuming: bool = False


def _matches(choice: TradesChoice, stream: _Stream) -> bool:
    return choice.matches(stream.market, stream.market_type, stream.commitment)


def _commitment(commitment: Commitment) -> dict[str, str]:
    """The member of a request; servers without trades at processed know none."""
    return {} if commitment == "confirmed" else {"commitment": commitment}


class TradeStreams:
    """Numbered fills of one connection, which comes and goes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        # A dictionary keeps the order of the calls.
        self._readers: dict[TradesReader, None] = {}
        self._streams: dict[str, _Stream] = {}
        # Stream names by their numbers on this connection.
        self._names: dict[int, str] = {}
        self._is_open = False

    @property
    def readers(self) -> Collection[TradesReader]:
        return tuple(self._readers)

    def add(self, reader: TradesReader) -> None:
        self._readers[reader] = None
        # The server restarts a stream that another reader has, with a snapshot; so the request resumes it.
        if self._is_open:
            self._request(reader)

    def remove(self, reader: TradesReader) -> None:
        self._readers.pop(reader, None)
        for stream in tuple(self._streams.values()):
            if not self._readers_of(stream):
                del self._streams[stream.name]
        if not self._is_open:
            return
        self._send({**reader.choice.members(), "type": "unsubscribe", "channel": CHANNEL})
        # The server ended streams that other readers share.
        for other in self.readers:
            if other.choice.overlaps(reader.choice):
                self._request(other)

    def opened(self) -> None:
        self._is_open = True
        for reader in self.readers:
            self._request(reader)

    def lost(self) -> None:
        self._is_open = False
        self._names.clear()
        for stream in self._streams.values():
            stream.is_resuming = False
        for reader in self.readers:
            reader._take(TradesStale())

    def receive_trade(self, message: NumberedTradeMessage) -> None:
        stream = self._next_of(message.trade, message)
        if stream is None:
            return
        place = (message.slot, message.tx_index, message.tx_sig_index)
        trade = cast(Trade, message.data)
        self._deliver(stream, NumberedTrade(stream.market, stream.position, *place, trade, stream.commitment))

    def receive_withdrawal(self, message: TradeWithdrawalMessage) -> None:
        stream = self._next_of(message.withdraw, message)
        if stream is None:
            return
        fill = (message.slot, message.tx_sig, message.tx_sig_index, int(message.fill_record_id))
        self._deliver(stream, TradeWithdrawn(stream.market, stream.position, message.trade_seq, *fill))

    def _next_of(self, number: int, message: NumberedTradeMessage | TradeWithdrawalMessage) -> _Stream | None:
        """The stream that the message continues; None for a repeated message, and after a hole."""
        stream = self._streams.get(self._names.get(number, ""))
        if stream is None:
            return None
        held = stream.position
        if message.epoch == held.epoch and message.seq <= held.seq:
            return None
        if (message.epoch, message.prev_seq) != (held.epoch, held.seq):
            self._catch_up(stream)
            return None
        stream.position = BookVersion(message.epoch, message.seq)
        return stream

    def receive_snapshot(self, message: TradesSnapshotMessage) -> None:
        self._names[message.stream_id] = message.stream
        now = BookVersion(message.epoch, message.seq)
        known = self._streams.get(message.stream)
        if known is not None:
            held, known.position, known.is_resuming = known.position, now, False
            # Nothing came before the first fill, so nothing can be missing then.
            is_first = held.epoch == 0 and now.seq == 0
            if held != now and not is_first:
                self._deliver(known, TradesMissing(known.market, held, now))
            return
        stream = _Stream(message.stream, message.market, message.market_type, message.commitment, now)
        if self._readers_of(stream):
            self._streams[stream.name] = stream
            self._deliver(stream, TradesStarted(stream.market, stream.market_type))

    def receive_resumed(self, message: ResumedMessage) -> None:
        self._names[message.stream_id] = message.stream
        stream = self._streams.get(message.stream)
        if stream is None:
            return
        stream.is_resuming = False
        if message.recovered:
            self._deliver(stream, TradesResumed(stream.market, stream.market_type))

    def receive_heartbeat(self, message: HeartbeatMessage) -> None:
        """Only a heartbeat reveals the loss of the last fill, and of a stream's first message on this connection."""
        lacking: dict[TradesReader, None] = {}
        named = set(self._names.values())
        for name, version in message.sequences.items():
            stream = self._streams.get(name)
            if stream is None:
                lacking.update({reader: None for reader in self._readers if self._may_lack(reader.choice, name)})
                continue
            stream.is_resuming = False
            if stream.position != version or name not in named:
                self._catch_up(stream)
        for reader in lacking:
            self._request(reader)

    def receive_error(self, message: ErrorMessage) -> None:
        for reader in self.readers:
            is_meant = reader.choice.id == message.id if message.stream is None else reader.choice.market == "*"
            if is_meant:
                reader._refuse(refused_by(message))

    def _catch_up(self, stream: _Stream) -> None:
        """Asks for the messages after the last one."""
        if stream.is_resuming:
            return
        stream.is_resuming = True
        market = {"market": stream.market, "marketType": stream.market_type, **_commitment(stream.commitment)}
        self._send({"type": "subscribe", "channel": CHANNEL, **market, "resume": members_of(stream.position)})

    def _request(self, reader: TradesReader) -> None:
        choice = reader.choice
        positions: dict[str, dict[str, int]] = {}
        for stream in self._streams.values():
            if _matches(choice, stream):
                positions[stream.name] = members_of(stream.position)
                stream.is_resuming = True
        message = {**choice.members(), "type": "subscribe", "channel": CHANNEL}
        if positions:
            message["resume"] = positions if choice.market == "*" else next(iter(positions.values()))
        self._send(message)

    def _may_lack(self, choice: TradesChoice, name: str) -> bool:
        """Whether a stream of an unknown market may be one that a reader should have."""
        if not choice.may_have(name):
            return False
        known = self._streams.values()
        return choice.market == "*" or not any(_matches(choice, one) for one in known)

    def _readers_of(self, stream: _Stream) -> list[TradesReader]:
        return [one for one in self._readers if _matches(one.choice, stream)]

    def _deliver(self, stream: _Stream, event: TradesEvent) -> None:
        for reader in self._readers_of(stream):
            reader._take(event)
