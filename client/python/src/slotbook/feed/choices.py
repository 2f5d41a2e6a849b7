"""Choices of a subscription, and the streams that it gets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

from .keeper import checksum_levels
from .messages import BookLevelKind, MarketType

_STREAM = re.compile(r"(perp|spot)_[0-9]+_(.*)").fullmatch


@dataclass(frozen=True)
class BookChoice:
    """Members of a subscription to books (docs/guides/follow-a-book.md)."""

    #: Symbol in any letter case, or ``*`` for every market, present and future.
    market: str
    #: ``perp`` when None; with ``*`` both kinds when None.
    market_type: MarketType | None = None
    level: BookLevelKind = "l2"
    #: Price levels a side; all when None.
    depth: int | None = None
    #: Milliseconds in which at most one message comes: 0, 50, 100, 400 or 1000.
    conflation: int = 0
    #: Levels that a checksum covers; True for 10.
    checksum: bool | int = True
    #: Orders name the transaction that last wrote them; level ``l3`` without depth.
    cause: bool = False
    #: Echoed in the answers to the request.
    id: int | None = None
    #: ``processed`` is one to three slots ahead, and undoes what abandoned slots did.
    commitment: Literal["confirmed", "processed"] = "confirmed"

    @property
    def suffix(self) -> str:
        """The part of a stream's name that encodes the choices."""
        levels = checksum_levels(self.checksum)
        return (
            self.level
            + ("" if self.depth is None else f"_d{self.depth}")
            + (f"_c{self.conflation}" if self.conflation else "")
            + (f"_k{levels}" if levels else "")
            + ("_cause" if self.cause else "")
            + ("_processed" if self.commitment == "processed" else "")
        )

    def members(self) -> dict[str, Any]:
        """Members of a request."""
        members = {
            "market": self.market,
            "marketType": self.market_type,
            "level": self.level,
            "depth": self.depth,
            "conflation": self.conflation or None,
            "checksum": self.checksum or None,
            "cause": self.cause or None,
            "commitment": self.commitment if self.commitment != "confirmed" else None,
            "id": self.id,
        }
        return {name: value for name, value in members.items() if value is not None}

    def unsubscribe_members(self) -> dict[str, Any]:
        """Members of an unsubscribe.

        They name the defaults: the server matches any value of an absent member. No depth means the whole book.
        """
        named = {"conflation": self.conflation, "checksum": self.checksum or False, "cause": self.cause}
        return {**self.members(), **named}

    def is_of_kind(self, stream: str) -> bool:
        """Whether a stream has these choices, whatever its market."""
        found = _STREAM(stream)
        if found is None or found[2] != self.suffix:
            return False
        wanted = self.market_type or (None if self.market == "*" else "perp")
        return wanted in (None, found[1])

    def matches(self, stream: str, market: str) -> bool:
        """Whether a stream of a market belongs to this choice."""
        return self.is_of_kind(stream) and (self.market == "*" or self.market.upper() == market)

    def may_end(self, other: BookChoice) -> bool:
        """Whether the unsubscribe of this choice can end a stream of another one.

        Without a depth it ends streams of every depth.
        """
        if self.suffix != (replace(other, depth=None) if self.depth is None else other).suffix:
            return False
        return "*" in (self.market, other.market) or self.market.upper() == other.market.upper()
