"""Operator: are all books current, and how far are they behind the chain?

Data: every stream of the `book` channel, and its heartbeats. Ends with 1 when a book is stale at the
end, or slots behind exceed the limit.

    python examples/feed_health.py --url ws://localhost:6969/ws --seconds 30 --slots-behind 20
"""

# %% Watch
from __future__ import annotations

import argparse
import asyncio
from collections import Counter

from slotbook import BookSubscription, FeedClient
from slotbook.feed import FeedEvent, Heartbeat


class Health:
    """What a feed said about itself."""

    def __init__(self, books: BookSubscription) -> None:
        self.books = books
        self.events: Counter[str] = Counter()
        self.slots_behind: int | None = None
        books.listen(lambda event: self.events.update([event.type]))

    def note(self, event: FeedEvent) -> None:
        self.events.update([event.type])
        if isinstance(event, Heartbeat):
            self.slots_behind = event.slots_behind

    def faults(self, slots_behind_max: int) -> list[str]:
        """What is wrong now."""
        stale = [f"{book.market} is stale" for book in self.books.books.values() if not book.is_current]
        nothing = [] if self.books.books else ["no book"]
        is_late = self.slots_behind is not None and self.slots_behind > slots_behind_max
        return [*stale, *nothing, *([f"{self.slots_behind} slots behind"] if is_late else [])]


# %% Run
async def watch(url: str, seconds: float, slots_behind_max: int) -> list[str]:
    async with FeedClient(url) as feed:
        health = Health(feed.book("*", conflation=1000))
        feed.listen(health.note)
        await asyncio.sleep(seconds)
        print(f"{len(health.books.books)} books, {dict(health.events)}, {health.slots_behind} slots behind")
        return health.faults(slots_behind_max)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--url", default="ws://localhost:6969/ws")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--slots-behind", type=int, default=20)
    options = parser.parse_args()
    found = asyncio.run(watch(options.url, options.seconds, options.slots_behind))
    print("\n".join(found) or "healthy")
    raise SystemExit(1 if found else 0)
