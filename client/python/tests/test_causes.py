"""Books of orders with causes: what is asked for, and what a slow reader gets."""

from __future__ import annotations

from typing import Any

import pytest

from slotbook import Change, LiveBook
from slotbook.feed import BookCause, BookChoice, BookKeeper, GoneOrder, SnapshotMessage
from slotbook.feed.backlog import Backlog

WRITTEN, REMOVED = BookCause(7, "S", 3), BookCause(8, "T", None)


def entry(order_id: int, cause: BookCause | None) -> dict[str, Any]:
    name = {"maker": "M", "orderId": order_id, "source": "user"}
    text = None if cause is None else {"slot": cause.slot, "signature": cause.signature, "index": cause.index}
    return {**name, "price": "9", "size": "1", "rank": [order_id], "cause": text}


def book_of(*bids: dict[str, Any]) -> LiveBook:
    keeper = BookKeeper("l3")
    head = {"stream": "perp_0_l3_cause", "stream_id": 1, "market": "SOL-PERP", "market_type": "perp", "level": "l3"}
    keeper.apply(SnapshotMessage(**head, epoch=1, seq=1, slot=8, ts=1, bids=[*bids], asks=[]))  # type: ignore[arg-type]
    return LiveBook("perp_0_l3_cause", "perp", keeper)


def test_causes_are_a_choice_of_their_own_with_a_stream_of_their_own() -> None:
    plain = BookChoice("SOL-PERP", level="l3", checksum=False)
    asking = BookChoice("SOL-PERP", level="l3", conflation=50, cause=True)
    assert (plain.suffix, asking.suffix) == ("l3", "l3_c50_k10_cause")
    assert ("cause" in plain.members(), asking.members()["cause"]) == (False, True)
    assert asking.matches("perp_0_l3_c50_k10_cause", "SOL-PERP")
    assert not plain.matches("perp_0_l3_cause", "SOL-PERP")


@pytest.mark.parametrize("cause", [REMOVED, None])
def test_a_merged_change_names_the_transaction_that_removed_an_order(cause: BookCause | None) -> None:
    book = book_of(entry(1, WRITTEN))
    backlog = Backlog()
    backlog.snapshot(book)
    backlog.take()
    orders = book_of(entry(2, WRITTEN)).orders("bids")
    backlog.change(book, Change(book, [], [], [*orders, *book.orders("bids")], []))
    backlog.change(book, Change(book, [], [], [], [GoneOrder("M", 2, "user", cause)]))
    merged = backlog.take()
    assert isinstance(merged, Change)
    assert [(one.order_id, one.cause) for one in merged.orders] == [(1, WRITTEN)]
    assert merged.gone == [GoneOrder("M", 2, "user", cause)]
