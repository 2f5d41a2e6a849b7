"""A server of the ``book`` channel over model books: snapshots, diffs, checksums, ticks, resumes, heartbeats.

It shares no code with the client.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from slotbook.feed.messages import SIDES, Side

from .model_book import ModelBook, State
from .sockets import TestSocket

HEARTBEAT_S = 5.0
MARKETS = {"SOL-PERP": 0, "BTC-PERP": 1}


def lines_of(state: State, levels: int | None = None) -> dict[Side, list[str]]:
    """Lines of the best ``levels`` prices of each side."""
    lines: dict[Side, list[str]] = {}
    for side in SIDES:
        prices = list(dict.fromkeys(one.price for one in state[side].values()))[:levels]
        lines[side] = [one.line for one in state[side].values() if one.price in prices]
    return lines


@dataclass
class Stream:
    """One stream of one socket."""

    name: str
    number: int
    market: str
    choice: dict[str, Any]
    sent: ModelBook | None = None
    has_timer: bool = False

    @property
    def checksum(self) -> int:
        checksum = self.choice.get("checksum", 0)
        return 10 if checksum is True else int(checksum)

    def visible(self, book: ModelBook) -> State:
        return book.visible(self.choice.get("level", "l2"), self.choice.get("depth"))


class ModelServer:
    """Serves its books to any number of sockets. ``tamper`` changes frames on their way."""

    def __init__(self) -> None:
        self.books = {market: ModelBook() for market in MARKETS}
        self.tamper: Callable[[str], list[str]] = lambda text: [text]
        self.socket: TestSocket | None = None
        self._streams: dict[str, Stream] = {}
        self._history: dict[tuple[str, int, int], ModelBook] = {}
        self._numbers = 0
        self._beat: asyncio.TimerHandle | None = None

    async def open(self, url: str) -> TestSocket:
        self._streams = {}
        self.socket = TestSocket(self._request)
        if self._beat is None:
            self._heartbeat()
        return self.socket

    def restart(self) -> None:
        """A new gateway, which knows the present books alone."""
        self._history = {}
        if self.socket is not None:
            self.socket.drop()

    def publish(self, market: str) -> None:
        """Sends what changed in a book."""
        book = self.books[market]
        self._history[(market, book.epoch, book.seq)] = book.copy()
        for stream in self._streams.values():
            if stream.market == market and not stream.has_timer:
                self._schedule(stream)

    def _schedule(self, stream: Stream) -> None:
        conflation = stream.choice.get("conflation", 0)
        if conflation:
            stream.has_timer = True
            asyncio.get_running_loop().call_later(conflation / 1000, self._flush, stream)
        else:
            self._flush(stream)

    def _flush(self, stream: Stream) -> None:
        stream.has_timer = False
        book = self.books[stream.market]
        if self._streams.get(stream.name) is not stream or stream.sent is None:
            return
        if stream.sent.epoch != book.epoch:
            self._snapshot(stream)
        elif stream.sent.seq != book.seq:
            self._diff(stream, stream.sent)

    def _request(self, message: dict[str, Any]) -> None:
        choice = {name: value for name, value in message.items() if name not in ("type", "channel", "id")}
        wanted = choice["market"].upper()
        for market, index in MARKETS.items():
            if wanted not in ("*", market):
                continue
            if message["type"] == "unsubscribe":
                ended = [one for one in self._streams.values() if one.market == market and _is_meant(choice, one)]
                for stream in ended:
                    del self._streams[stream.name]
            else:
                self._subscribe(_stream_name(index, choice), market, choice, message.get("resume"))

    def _subscribe(self, name: str, market: str, choice: dict[str, Any], resume: dict[str, Any] | None) -> None:
        known = self._streams.get(name)
        self._numbers += 1
        number = known.number if known else self._numbers
        stream = self._streams[name] = Stream(name, number, market, choice)
        position = resume.get(name) if resume is not None and "seq" not in resume else resume
        if position is None:
            self._snapshot(stream)
            return
        book = self.books[market]
        held = self._history.get((market, position["epoch"], position["seq"]))
        is_recovered = held is not None and held.epoch == book.epoch
        head = {"channel": "book", "type": "resumed", "stream": name, "streamId": number}
        self._send({**head, **position, "recovered": is_recovered})
        if not is_recovered or held is None:
            self._snapshot(stream)
        elif held.seq == book.seq:
            stream.sent = book.copy()
        else:
            self._diff(stream, held)

    def _snapshot(self, stream: Stream) -> None:
        book = self.books[stream.market]
        state = stream.visible(book)
        head = {"channel": "book", "type": "snapshot", "stream": stream.name, "streamId": stream.number}
        market = {"market": stream.market, "marketType": "perp", "marketIndex": MARKETS[stream.market]}
        lists: dict[str, Any] = {side: [one.entry for one in state[side].values()] for side in SIDES}
        level = stream.choice.get("level", "l2")
        self._send({**head, **market, "level": level, **self._version(stream, state), **lists})

    def _diff(self, stream: Stream, before: ModelBook) -> None:
        old, new = stream.visible(before), stream.visible(self.books[stream.market])
        lists: dict[str, list[Any]] = {"gone": [], "bids": [], "asks": []}
        stays = {*new["bids"], *new["asks"]}
        is_l3 = stream.choice.get("level") == "l3"
        for side in SIDES:
            left = [one.gone for key, one in old[side].items() if key not in stays]
            lists["gone" if is_l3 else side] += left
            lists[side] += [
                one.entry for key, one in new[side].items() if key not in old[side] or old[side][key].entry != one.entry
            ]
        members = {name: entries for name, entries in lists.items() if entries}
        self._send({"diff": stream.number, "prevSeq": before.seq, **self._version(stream, new), **members})

    def _version(self, stream: Stream, state: State) -> dict[str, Any]:
        book = self.books[stream.market]
        stream.sent = book.copy()
        self._history[(stream.market, book.epoch, book.seq)] = stream.sent
        version: dict[str, Any] = {"epoch": book.epoch, "seq": book.seq, "slot": book.slot, "ts": 1_790_000_000_000}
        if stream.checksum:
            lines = lines_of(state, stream.checksum)
            version["checksum"] = crc32("\n".join(["bids", *lines["bids"], "asks", *lines["asks"]]).encode())
        return version

    def _heartbeat(self) -> None:
        sequences = {
            stream.name: {"epoch": stream.sent.epoch, "seq": stream.sent.seq}
            for stream in self._streams.values()
            if stream.sent is not None
        }
        if sequences:
            beat = {"channel": "book", "type": "heartbeat", "ts": 1, "headSlot": None, "slotsBehind": None}
            self._send({**beat, "sequences": sequences})
        self._beat = asyncio.get_running_loop().call_later(HEARTBEAT_S, self._heartbeat)

    def _send(self, message: dict[str, Any]) -> None:
        if self.socket is not None:
            for text in self.tamper(json.dumps(message, separators=(",", ":"))):
                self.socket.say(text)


def _is_meant(unsubscribe: dict[str, Any], stream: Stream) -> bool:
    """Members that an unsubscribe does not have match any value."""
    defaults = {"level": "l2", "depth": None, "conflation": 0, "checksum": False, "cause": False}
    return all(
        _levels(unsubscribe[name]) == _levels(stream.choice.get(name, default))
        for name, default in defaults.items()
        if name in unsubscribe
    )


def _levels(value: Any) -> Any:
    return 10 if value is True else value


def _stream_name(index: int, choice: dict[str, Any]) -> str:
    parts = [f"perp_{index}_{choice.get('level', 'l2')}"]
    if "depth" in choice:
        parts.append(f"d{choice['depth']}")
    if choice.get("conflation"):
        parts.append(f"c{choice['conflation']}")
    checksum = choice.get("checksum", 0)
    if checksum:
        parts.append(f"k{10 if checksum is True else checksum}")
    return "_".join(parts)
