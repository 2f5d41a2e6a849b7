"""The ``book`` channel of a connection: subscriptions, the keeper of each stream, missing messages, resumes."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from .choices import BookChoice
from .keeper import BookKeeper
from .live_book import StaleReason
from .messages import (
    DiffMessage,
    ErrorMessage,
    HeartbeatMessage,
    MarketType,
    ResumedMessage,
    SnapshotMessage,
    members_of,
)

#: A snapshot of a stream is requested at most once in so many seconds.
REQUEST_INTERVAL_S = 1.0

Send: TypeAlias = Callable[[dict[str, Any]], None]


@dataclass
class KeptBook:
    """The current book of one stream."""

    stream: str
    market_type: MarketType
    keeper: BookKeeper
    choice: BookChoice
    #: Time of the loop at the last request of a snapshot.
    requested_at: float = -math.inf


class StreamHandlers(Protocol):
    """Events of streams."""

    def book_applied(self, kept: KeptBook, message: SnapshotMessage | DiffMessage) -> None: ...

    def book_outdated(self, stream: str, reason: StaleReason) -> None: ...

    def book_resumed(self, stream: str) -> None: ...

    def heartbeat(self, message: HeartbeatMessage) -> None: ...

    def book_refused(self, message: ErrorMessage) -> None: ...


class BookStreams:
    """Books of one connection, which comes and goes."""

    def __init__(self, send: Send, handlers: StreamHandlers) -> None:
        self._send = send
        self._handlers = handlers
        self._choices: list[BookChoice] = []
        self._books: dict[str, KeptBook] = {}
        # Stream names by their numbers in diffs on this connection.
        self._streams: dict[int, str] = {}
        self._is_open = False

    @property
    def books(self) -> Mapping[str, KeptBook]:
        """Current books by stream name."""
        return self._books

    def subscribe(self, choice: BookChoice) -> None:
        self._choices.append(choice)
        if self._is_open:
            self._request(choice)

    def unsubscribe(self, choice: BookChoice) -> None:
        if choice in self._choices:
            self._choices.remove(choice)
        for stream, kept in list(self._books.items()):
            market = kept.keeper.market
            if not choice.matches(stream, market):
                continue
            other = next((one for one in self._choices if one.matches(stream, market)), None)
            if other is None:
                del self._books[stream]
            else:
                kept.choice = other
        if not self._is_open:
            return
        self._send({**choice.unsubscribe_members(), "type": "unsubscribe", "channel": "book"})
        # The server ended streams of these choices too.
        for other in self._choices:
            if choice.may_end(other):
                self._request(other)

    def opened(self) -> None:
        self._is_open = True
        for choice in self._choices:
            self._request(choice)

    def lost(self) -> None:
        self._is_open = False
        self._streams.clear()

    def receive_diff(self, message: DiffMessage) -> None:
        kept = self._books.get(self._streams.get(message.diff, ""))
        if kept is not None:
            self._take(kept, message)

    def receive_snapshot(self, message: SnapshotMessage) -> None:
        self._streams[message.stream_id] = message.stream
        kept = self._books.get(message.stream) or self._add_book(message)
        if kept is not None:
            self._take(kept, message)

    def receive_resumed(self, message: ResumedMessage) -> None:
        self._streams[message.stream_id] = message.stream
        if message.recovered:
            self._handlers.book_resumed(message.stream)

    def receive_heartbeat(self, message: HeartbeatMessage) -> None:
        """Only a heartbeat reveals the loss of a stream's last message, and of the answer that names the stream."""
        named = set(self._streams.values())
        unnamed: list[BookChoice] = []
        for stream, version in message.sequences.items():
            kept = self._books.get(stream)
            if kept is None:
                continue
            if kept.keeper.position != version:
                self._miss(kept)
            elif stream not in named and kept.choice not in unnamed:
                unnamed.append(kept.choice)
        # The first snapshot of a stream is lost. Its market is unknown, so the whole choice is requested again.
        unknown = [stream for stream in message.sequences if stream not in self._books]
        for choice in self._choices:
            if choice in unnamed or any(self._may_lack(choice, stream) for stream in unknown):
                self._request(choice)
        self._handlers.heartbeat(message)

    def receive_error(self, message: ErrorMessage) -> None:
        self._handlers.book_refused(message)

    def _may_lack(self, choice: BookChoice, stream: str) -> bool:
        """Whether a stream of an unknown market may be one that a choice should have."""
        if not choice.is_of_kind(stream):
            return False
        return choice.market == "*" or not any(kept.choice is choice for kept in self._books.values())

    def _request(self, choice: BookChoice) -> None:
        positions = {
            stream: members_of(position)
            for stream, kept in self._books.items()
            if kept.choice is choice and (position := kept.keeper.position) is not None
        }
        message: dict[str, Any] = {**choice.members(), "type": "subscribe", "channel": "book"}
        if positions:
            message["resume"] = positions if choice.market == "*" else next(iter(positions.values()))
        self._send(message)

    def _request_snapshot(self, kept: KeptBook) -> None:
        """Subscribes to one stream again without a resume, which brings a snapshot. At most once a second."""
        loop = asyncio.get_running_loop()
        pause_s = kept.requested_at + REQUEST_INTERVAL_S - loop.time()
        if pause_s > 0:
            loop.call_later(pause_s, self._request_if_lacking, kept)
            return
        kept.requested_at = loop.time()
        market = {"market": kept.keeper.market, "marketType": kept.market_type}
        self._send({**kept.choice.members(), **market, "type": "subscribe", "channel": "book"})

    def _request_if_lacking(self, kept: KeptBook) -> None:
        if self._is_open and self._books.get(kept.stream) is kept and kept.keeper.position is None:
            self._request_snapshot(kept)

    def _take(self, kept: KeptBook, message: SnapshotMessage | DiffMessage) -> None:
        applied = kept.keeper.apply(message)
        if applied == "applied":
            self._handlers.book_applied(kept, message)
        elif applied != "waiting":
            self._handlers.book_outdated(kept.stream, "missing" if applied == "gap" else "different")
            self._request_snapshot(kept)

    def _miss(self, kept: KeptBook) -> None:
        kept.keeper.distrust()
        self._handlers.book_outdated(kept.stream, "missing")
        self._request_snapshot(kept)

    def _add_book(self, message: SnapshotMessage) -> KeptBook | None:
        choice = next((one for one in self._choices if one.matches(message.stream, message.market)), None)
        if choice is None:
            return None
        keeper = BookKeeper(choice.level, depth=choice.depth, checksum=choice.checksum)
        kept = self._books[message.stream] = KeptBook(message.stream, message.market_type, keeper, choice)
        return kept
