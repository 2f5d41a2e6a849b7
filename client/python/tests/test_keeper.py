"""A keeper applies the protocol's messages, and says what is wrong with others."""

from __future__ import annotations

from typing import Any

import pytest

from slotbook.feed import (
    BookCause,
    BookKeeper,
    BookVersion,
    DiffMessage,
    Level,
    OrderRef,
    SnapshotMessage,
    read_message,
)

#: The example of docs/guides/follow-a-book.md.
CHECKSUM = 4155906619


def snapshot(**members: Any) -> SnapshotMessage:
    head = {"stream": "perp_0_l2", "stream_id": 4, "market": "SOL-PERP", "market_type": "perp", "level": "l2"}
    version = {"epoch": 3, "seq": 5, "slot": 9, "ts": 1_790_000_000_000}
    book = {
        "bids": [["81114210", "1000000000", "dlob"]],
        "asks": [["81130450", "1500000000", {"dlob": "500000000", "vamm": "1000000000"}]],
    }
    return SnapshotMessage(**{**head, **version, **book, **members})


def diff(**members: Any) -> DiffMessage:
    head = {"diff": 4, "epoch": 3, "seq": 6, "prev_seq": 5, "slot": 10, "ts": 1_790_000_000_400}
    return DiffMessage(**{**head, **members})


def test_the_checksum_is_that_of_the_published_example() -> None:
    assert BookKeeper("l2", checksum=True).apply(snapshot(checksum=CHECKSUM)) == "applied"


def test_levels_are_absolute_and_size_0_removes_them() -> None:
    keeper = BookKeeper("l2")
    keeper.apply(snapshot())
    bids = [["81114210", "0"], ["81114000", "7", "vamm"], ["81114100", "8"], ["5", "0"]]
    assert keeper.apply(diff(bids=bids)) == "applied"
    assert keeper.levels("bids") == [Level(81_114_100, 8, {"dlob": 8}), Level(81_114_000, 7, {"vamm": 7})]
    assert keeper.levels("asks") == [Level(81_130_450, 1_500_000_000, {"dlob": 500_000_000, "vamm": 1_000_000_000})]
    assert (keeper.position, keeper.slot, keeper.ts) == (BookVersion(3, 6), 10, 1_790_000_000_400)


@pytest.mark.parametrize(
    "members",
    [{"prev_seq": 6, "seq": 7}, {"prev_seq": 4, "seq": 6}, {"epoch": 4}],
    ids=["a later predecessor", "an earlier predecessor", "another epoch"],
)
def test_a_gap_invalidates_the_book_until_a_snapshot(members: dict[str, int]) -> None:
    keeper = BookKeeper("l2")
    keeper.apply(snapshot())
    assert keeper.apply(diff(**members)) == "gap"
    assert keeper.position is None
    assert keeper.apply(diff()) == "waiting"
    assert keeper.apply(snapshot()) == "applied"


def test_another_checksum_invalidates_the_book() -> None:
    keeper = BookKeeper("l2", checksum=1)
    assert keeper.apply(snapshot(checksum=1)) == "checksum"
    assert keeper.position is None


def test_the_checksum_covers_its_levels_and_the_book_never_exceeds_its_depth() -> None:
    deep = [["81114210", "1000000000", "dlob"], ["81000000", "5", "dlob"]]
    assert BookKeeper("l2", checksum=1).apply(snapshot(bids=deep, checksum=CHECKSUM)) == "applied"
    assert BookKeeper("l2", checksum=2).apply(snapshot(bids=deep, checksum=CHECKSUM)) == "checksum"
    assert BookKeeper("l2", checksum=True, depth=1).apply(snapshot(checksum=CHECKSUM)) == "applied"
    assert BookKeeper("l2", checksum=True, depth=1).apply(snapshot(bids=deep, checksum=CHECKSUM)) == "checksum"


@pytest.mark.parametrize(
    "entry", [["8.5", "1"], ["1_0", "1"], ["8", " 1"], ["", "1"], [None, "1"], ["8", "1", 5], ["8"], {"price": "8"}, 7]
)
def test_entries_that_are_not_of_the_protocol_are_malformed(entry: Any) -> None:
    keeper = BookKeeper("l2")
    keeper.apply(snapshot())
    assert keeper.apply(diff(bids=[entry])) == "malformed"
    assert keeper.apply(diff()) == "waiting"


def test_sizes_and_prices_of_any_length_are_exact() -> None:
    keeper = BookKeeper("l2")
    prices = [2**53 + 1, 2**53, 2**64 + 3, 2**64 + 2, 5]
    keeper.apply(snapshot(bids=[], asks=[[str(price), str(2**80 + 1)] for price in prices]))
    assert [level.price for level in keeper.levels("asks")] == sorted(prices)
    assert keeper.level_at("asks", 2**64 + 2) == Level(2**64 + 2, 2**80 + 1, {"dlob": 2**80 + 1})
    assert keeper.level_at("asks", 6) is None


def order(order_id: int, price: str, rank: list[int], source: str = "user") -> dict[str, Any]:
    return {"price": price, "size": "1", "maker": "M", "orderId": order_id, "source": source, "rank": rank}


def test_orders_of_a_price_follow_their_rank_number_by_number() -> None:
    keeper = BookKeeper("l3")
    bids = [order(1, "9", [0, 10, 1]), order(2, "10", [0, 10, 2]), order(3, "10", [0, 9, 3]), order(4, "10", [1, 0, 0])]
    asks = [order(5, "12", [0, 0, 0]), order(6, "11", [5, 0, 0])]
    keeper.apply(snapshot(level="l3", bids=bids, asks=asks))
    assert [one.order_id for one in keeper.orders("bids")] == [3, 2, 4, 1]
    assert [one.order_id for one in keeper.orders("asks")] == [6, 5]


def test_an_order_is_in_the_book_once_wherever_it_moves() -> None:
    keeper = BookKeeper("l3")
    keeper.apply(snapshot(level="l3", bids=[order(1, "9", [0]), order(1, "9", [0], "clob")], asks=[]))
    gone = [{"maker": "M", "orderId": 1, "source": "clob"}, {"maker": "M", "orderId": 8, "source": "user"}]
    assert keeper.apply(diff(gone=gone, asks=[order(1, "10", [1])])) == "applied"
    assert keeper.orders("bids") == []
    assert [one.price for one in keeper.orders("asks")] == [10]
    moved = keeper.order(OrderRef("M", 1, "user").key)
    assert moved is not None
    assert moved.side == "asks"


def test_an_order_keeps_its_cause_and_has_none_where_it_is_unknown() -> None:
    keeper = BookKeeper("l3")
    cause = {"slot": 7, "signature": "S", "index": 3}
    bids = [{**order(1, "9", [1]), "cause": cause}, {**order(2, "9", [2]), "cause": None}, order(3, "9", [3])]
    keeper.apply(snapshot(level="l3", bids=bids, asks=[]))
    assert [one.cause for one in keeper.orders("bids")] == [BookCause(7, "S", 3), None, None]
    later = {"slot": 10, "signature": "T", "index": None}
    gone = [{"maker": "M", "orderId": 2, "source": "user", "cause": later}]
    assert keeper.apply(diff(gone=gone, bids=[{**order(1, "9", [1]), "cause": later}])) == "applied"
    assert [one.cause for one in keeper.orders("bids")] == [BookCause(10, "T", None), None]


@pytest.mark.parametrize("cause", ["S", 7, {}, {"slot": 7, "signature": "S"}])
def test_a_cause_that_is_not_of_the_protocol_is_malformed(cause: Any) -> None:
    keeper = BookKeeper("l3")
    assert keeper.apply(snapshot(level="l3", bids=[{**order(1, "9", [1]), "cause": cause}], asks=[])) == "malformed"


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b'{"diff":"x"}',
        b'{"diff":1}',
        b'{"channel":"book"}',
        b'{"channel":"book","type":[]}',
        b'{"channel":"book","type":"subscribed"}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"data":' + b"[" * 100_000,
    ],
)
def test_frames_that_are_not_of_the_protocol_are_no_messages(frame: bytes) -> None:
    assert read_message(frame) is None
