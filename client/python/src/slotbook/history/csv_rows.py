"""Rows of a CSV body while it arrives (RFC 4180)."""

from __future__ import annotations

import codecs
import csv
from collections.abc import AsyncIterator


async def csv_rows(pieces: AsyncIterator[bytes]) -> AsyncIterator[dict[str, str]]:
    """Each row as a map from the names of the first line. Values are text: integers stay exact."""
    names: list[str] | None = None
    async for fields in _records(pieces):
        if names is None:
            names = fields
        else:
            yield dict(zip(names, fields, strict=False))


async def _records(pieces: AsyncIterator[bytes]) -> AsyncIterator[list[str]]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    held = ""
    quotes = 0
    async for piece in pieces:
        held += decoder.decode(piece)
        # A line break inside quotes ends no record: an odd number of quotes stands before it.
        start = at = 0
        while (end := held.find("\n", at)) >= 0:
            quotes += held.count('"', at, end)
            at = end + 1
            if quotes % 2 == 0:
                yield _fields(held[start:end])
                start = at
                quotes = 0
        quotes = 0
        held = held[start:]
    held += decoder.decode(b"", True)
    if held:
        yield _fields(held)


def _fields(record: str) -> list[str]:
    return next(csv.reader([record.removesuffix("\r")], strict=True), []) or [""]
