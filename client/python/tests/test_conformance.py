"""The keeper passes the published conformance vectors of the ``book`` channel."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from slotbook.feed import BookKeeper, DiffMessage, SnapshotMessage
from slotbook.feed.messages import SIDES


class KeeperChoice(msgspec.Struct):
    level: str
    depth: int | None = None
    checksum: int = 0


class Line(msgspec.Struct):
    """A line of the vectors: a new keeper, or a message with its result."""

    keeper: KeeperChoice | None = None
    message: msgspec.Raw = msgspec.Raw()
    result: str = ""
    crc: int | None = None
    book: dict[str, list[str]] | None = None


LINE = msgspec.json.Decoder(Line)
SNAPSHOT = msgspec.json.Decoder(SnapshotMessage)
DIFF = msgspec.json.Decoder(DiffMessage)


def check(lines: Iterable[bytes]) -> Counter[str]:
    """Counts results; fails at the first line that the keeper does not pass."""
    seen: Counter[str] = Counter()
    keeper = BookKeeper("l2")
    for number, text in enumerate(lines, 1):
        line = LINE.decode(text)
        if line.keeper is not None:
            choice = line.keeper
            keeper = BookKeeper(choice.level, depth=choice.depth, checksum=choice.checksum)  # type: ignore[arg-type]
            continue
        raw = bytes(line.message)
        message: Any = DIFF.decode(raw) if raw.startswith(b'{"diff"') else SNAPSHOT.decode(raw)
        result = keeper.apply(message)
        seen[result] += 1
        assert result == line.result, f"line {number}"
        if line.crc is not None:
            assert keeper.whole_checksum() == line.crc, f"line {number}: another book"
        if line.book is not None:
            assert {side: keeper.lines(side) for side in SIDES} == line.book, f"line {number}"
    return seen


def vectors(name: str) -> Path:
    """A file of vectors that the run hands over."""
    path = os.environ.get(name)
    if path is None:
        pytest.skip(f"{name} names no file of vectors")
    return Path(path)


def test_the_published_vectors_are_passed_with_every_result_many_times() -> None:
    with vectors("SLOTBOOK_PUBLISHED_VECTORS").open("rb") as lines:
        seen = check(lines)
    assert seen.total() == 1000
    for result in ("applied", "gap", "checksum", "malformed", "waiting"):
        assert seen[result] > 5, result


def test_generated_vectors_are_passed_too() -> None:
    with vectors("SLOTBOOK_GENERATED_VECTORS").open("rb") as lines:
        assert check(lines)["applied"] > 1000
