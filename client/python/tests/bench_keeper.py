"""Level changes per second of one core, on the frames of a file. `npm run bench python-book` runs it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from slotbook.feed import BookKeeper, DiffMessage, SnapshotMessage, read_message

ROUNDS = 9


def best(changes: int, once: Callable[[], None]) -> float:
    """Changes per second of processor time, in the best of some rounds."""
    fastest = 0.0
    for _ in range(ROUNDS):
        start = time.process_time()
        once()
        fastest = max(fastest, changes / (time.process_time() - start))
    return fastest


def main(path: str) -> None:
    frames = Path(path).read_bytes().splitlines()
    messages = [
        message for frame in frames if isinstance(message := read_message(frame), (SnapshotMessage, DiffMessage))
    ]
    changes = sum(len(message.bids) + len(message.asks) for message in messages[1:])

    def keep() -> None:
        keeper = BookKeeper("l2", checksum=True)
        if any(keeper.apply(message) != "applied" for message in messages):
            raise SystemExit("the keeper lost the book")

    def read_and_keep() -> None:
        keeper = BookKeeper("l2", checksum=True)
        for frame in frames:
            message = read_message(frame)
            if not isinstance(message, (SnapshotMessage, DiffMessage)) or keeper.apply(message) != "applied":
                raise SystemExit("the keeper lost the book")

    print(json.dumps({"keeper": best(changes, keep), "frames": best(changes, read_and_keep)}))


main(sys.argv[1])
