"""Whatever happens to connection and messages, the user of a feed sees snapshots, changes, resumed and stale.

Never a wrong book, and never an error.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.mirror import BookMirror, Lines, live_lines
from support.model_server import MARKETS, ModelServer, lines_of
from support.sockets import settle
from support.virtual_time import virtual

from slotbook import BookSubscription, Change, ConnectionOptions, FeedClient, LiveBook, Refused, Snapshot
from slotbook.feed import BookEvent

# A checksum covers no more levels than it names: here every level that the books can have.
CHOICES: list[dict[str, Any]] = [
    {"market": "SOL-PERP", "checksum": 100},
    {"market": "SOL-PERP", "level": "l3", "checksum": 100},
    {"market": "sol-perp", "depth": 3, "conflation": 50},
    {"market": "*", "conflation": 100, "checksum": 100},
    {"market": "*", "level": "l3", "depth": 4, "conflation": 400},
]
FAULTS = ["drop", "alter", "forge", "swap", "repeat", "garbage"]
STEPS = ["change"] * 12 + ["pass"] * 6 + ["fault"] * 4 + ["reconnect", "restart", "epoch", "read"]
PAUSES_S = [0.01, 0.06, 0.5, 1.1, 6.0]
#: More in a soak.
SEEDS = int(os.environ.get("SLOTBOOK_CHAOS_SEEDS", "40"))
TOTAL: Counter[str] = Counter()


def spoil_next(server: ModelServer, fault: str) -> None:
    """Does something to the next message with a checksum on its way to the client; a drop takes any message."""
    held: list[str] = []

    def tamper(text: str) -> list[str]:
        if held:
            server.tamper = lambda rest: [rest]
            return [text, held[0]]
        if fault == "drop":
            server.tamper = lambda rest: [rest]
            return []
        if '"checksum":' not in text:
            return [text]
        if fault == "swap":
            held.append(text)
            return []
        server.tamper = lambda rest: [rest]
        if fault == "repeat":
            return [text, text]
        if fault == "forge":
            return [re.sub(r'"checksum":\d+', '"checksum":1', text)]
        if fault == "garbage":
            return [re.sub(r'"price":"\d+"', '"price":null', re.sub(r'\["\d+"', '["x"', text, count=1), count=1)]
        return [re.sub(r'(\["|"price":")(\d+)', lambda found: f"{found[1]}{int(found[2]) + 7}", text, count=1)]

    server.tamper = tamper


@dataclass
class Follower:
    """A subscription with a listener, and a slow reader."""

    choice: dict[str, Any]
    books: BookSubscription
    truth: Truth
    mirror: BookMirror = field(default_factory=BookMirror)
    slow_mirror: BookMirror = field(default_factory=BookMirror)
    is_reading: bool = False

    def __post_init__(self) -> None:
        self.books.listen(self.take)

    def take(self, event: BookEvent | Refused) -> None:
        assert not isinstance(event, Refused)
        TOTAL[event.type] += 1
        self.mirror.take(event)
        if isinstance(event, (Snapshot, Change)):
            assert event.book.is_current
            assert live_lines(event.book) == self.truth.of(event.book, self.choice)
            assert self.mirror.lines(event.book.stream) == live_lines(event.book)

    async def read_slowly(self) -> None:
        async for event in self.books:
            self.slow_mirror.take(event)
            while not self.is_reading:
                await asyncio.sleep(0.7)


class Truth:
    """Every book that was published, by version and by what a stream shows of it."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._lines: dict[tuple[Any, ...], Lines] = {}
        for market in MARKETS:
            self.note(market)

    def note(self, market: str) -> None:
        book = self._server.books[market]
        for choice in CHOICES:
            level, depth = choice.get("level", "l2"), choice.get("depth")
            self._lines[(market, book.epoch, book.seq, level, depth)] = lines_of(book.visible(level, depth))

    def of(self, book: LiveBook, choice: dict[str, Any]) -> Lines:
        assert book.position is not None
        version = (book.market, book.position.epoch, book.position.seq)
        key = (*version, choice.get("level", "l2"), choice.get("depth"))
        return self._lines[key]


def publish_change(server: ModelServer, truth: Truth, market: str, chance: random.Random) -> None:
    server.books[market].change(chance)
    truth.note(market)
    server.publish(market)


async def take_steps(chance: random.Random, server: ModelServer, truth: Truth, feed: FeedClient) -> None:
    for _ in range(chance.randint(5, 60)):
        step = chance.choice(STEPS)
        market = chance.choice(list(MARKETS))
        if step == "change":
            for _ in range(chance.randint(1, 4)):
                publish_change(server, truth, market, chance)
        elif step == "pass":
            await asyncio.sleep(chance.choice(PAUSES_S))
        elif step == "fault":
            spoil_next(server, chance.choice(FAULTS))
        elif step == "reconnect":
            feed.reconnect()
        elif step == "restart":
            server.restart()
        elif step == "epoch":
            server.books[market].next_epoch()
            publish_change(server, truth, market, chance)
        await settle()


@pytest.mark.parametrize("seed", range(SEEDS))
@virtual
async def test_no_wrong_book_shows_through_losses_restarts_and_spoiled_messages(seed: int) -> None:
    chance = random.Random(seed)
    server = ModelServer()
    truth = Truth(server)
    feed = FeedClient("", ConnectionOptions(open=server.open))
    followers = [Follower(choice, feed.book(**choice), truth) for choice in CHOICES]
    for follower in followers:
        follower.is_reading = chance.random() < 0.5
    readers = [asyncio.ensure_future(follower.read_slowly()) for follower in followers]
    await take_steps(chance, server, truth, feed)
    if chance.random() < 0.5:  # The loss of a stream's last message shows in the next heartbeat alone.
        spoil_next(server, "drop")
        publish_change(server, truth, "SOL-PERP", chance)
        await settle()
    server.tamper = lambda text: [text]
    for follower in followers:
        follower.is_reading = True
    await asyncio.sleep(20)
    for follower in followers:
        book = follower.books.book("SOL-PERP")
        assert book is not None
        assert book.is_current
        expected = server.books["SOL-PERP"].visible(book.level, follower.choice.get("depth"))
        assert live_lines(book) == lines_of(expected)
        assert follower.mirror.lines(book.stream) == lines_of(expected)
        assert follower.slow_mirror.lines(book.stream) == lines_of(expected)
    await feed.close()
    await asyncio.wait(readers)
    for reader in readers:
        reader.result()


def test_every_kind_of_event_came_many_times() -> None:
    if not TOTAL:
        pytest.skip("the runs above did not take place")
    assert min(TOTAL[kind] for kind in ("snapshot", "change", "resumed", "stale")) > 10, TOTAL
