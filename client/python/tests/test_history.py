"""Pages, patience, CSV, frames and signatures, against a server in the test."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas
import polars
import pytest
from support.http_server import Answer, Request, serving

from slotbook.history import HistoryClient, HistoryRequestError, Operation, RetryOptions

QUICK = RetryOptions(min_s=0.001, max_s=0.005)


def page(records: list[dict[str, Any]], next_page: str | None) -> dict[str, Any]:
    return {"success": True, "records": records, "meta": {"nextPage": next_page}}


def three_pages(request: Request) -> None:
    token = parse_qs(urlsplit(request.path).query).get("page", ["t0"])[0]
    number = int(token[1:])
    records = [{"fillRecordId": str(number * 2)}, {"fillRecordId": str(number * 2 + 1)}]
    request.json(200, page(records, f"t{number + 1}" if number < 2 else None))


def lines(asked: list[Request]) -> list[str]:
    return [request.line for request in asked]


def test_pages_follow_the_token_of_each_answer_to_the_end() -> None:
    async def run(url: str) -> list[str | None]:
        trades = HistoryClient(url, retry=QUICK).market_trades("SOL-PERP", limit=2)
        return [trade["fillRecordId"] async for trade in trades]

    with serving(three_pages) as (url, asked):
        assert asyncio.run(run(url)) == ["0", "1", "2", "3", "4", "5"]
        assert lines(asked) == [
            "GET /market/SOL-PERP/trades?limit=2",
            "GET /market/SOL-PERP/trades?page=t1&limit=2",
            "GET /market/SOL-PERP/trades?page=t2&limit=2",
        ]


def test_pages_are_not_read_ahead_of_their_reader() -> None:
    async def run(url: str) -> None:
        count = 0
        async for answer in HistoryClient(url).user_trades("A").pages():
            assert len(answer["records"]) == 1
            count += 1
            if count == 2:
                break

    with serving(lambda request: request.json(200, page([{}], "more"))) as (url, asked):
        asyncio.run(run(url))
        assert len(asked) == 2


def test_what_stands_in_a_path_is_escaped() -> None:
    async def run(url: str) -> None:
        await HistoryClient(url).market_trades("A/B ?", start_ts=5)

    with serving(lambda request: request.json(200, page([], None))) as (url, asked):
        asyncio.run(run(url))
        assert lines(asked) == ["GET /market/A%2FB%20%3F/trades?startTs=5"]


def test_fractions_are_decimals() -> None:
    async def run(url: str) -> Any:
        return await HistoryClient(url).market_candles("SOL-PERP", "60")

    candle = b'{"success":true,"records":[{"ts":1,"fillOpen":0.1,"fillClose":123456789.123456789}]}'
    with serving(lambda request: request.answer(200, candle, "application/json; charset=utf-8")) as (url, _):
        [record] = asyncio.run(run(url))["records"]
        assert record == {"ts": 1, "fillOpen": Decimal("0.1"), "fillClose": Decimal("123456789.123456789")}


def funding(url: str, retry: RetryOptions = QUICK) -> Any:
    async def run() -> Any:
        return await HistoryClient(url, retry=retry).funding_rates(symbol="X")

    return asyncio.run(run())


def answering(statuses: list[int], **headers: str) -> Answer:
    left = list(statuses)

    def answer(request: Request) -> None:
        status = left.pop(0) if len(left) > 1 else left[0]
        request.json(status, {"error": "busy"} if status >= 300 else page([], None), **headers)

    return answer


def test_a_request_is_sent_again_after_every_answer_that_a_repeat_can_help() -> None:
    with serving(answering([503, 429, 500, 408, 200], retry_after="0")) as (url, asked):
        assert funding(url) == page([], None)
        assert len(asked) == 5


def test_the_client_gives_up_after_its_attempts() -> None:
    with serving(answering([503])) as (url, asked):
        with pytest.raises(HistoryRequestError) as failed:
            funding(url, RetryOptions(attempts=3, min_s=0.001, max_s=0.002))
        assert (failed.value.status, len(asked)) == (503, 3)
        assert "busy" in failed.value.body


@pytest.mark.parametrize("status", [400, 404])
def test_a_wrong_request_is_not_sent_again(status: int) -> None:
    with serving(answering([status])) as (url, asked):
        with pytest.raises(HistoryRequestError):
            funding(url)
        assert len(asked) == 1


def test_a_broken_connection_is_tried_again_and_a_server_that_is_gone_is_status_0() -> None:
    broken = [True]

    def answer(request: Request) -> None:
        if broken:
            broken.clear()
            request.hang_up()
        else:
            request.json(200, page([], None))

    with serving(answer) as (url, asked):
        assert funding(url) == page([], None)
        assert len(asked) == 2
    with pytest.raises(HistoryRequestError, match="did not answer") as failed:
        funding(url)
    assert failed.value.status == 0


def test_the_server_says_how_long_to_wait_within_the_clients_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    with serving(answering([503, 200], retry_after="3600")) as (url, _):
        monkeypatch.setattr("slotbook.history.patience.asyncio.sleep", note)
        funding(url, RetryOptions(min_s=0.001, max_s=0.04))
    assert waits == [0.04]


CSV = 'ts,amount,note\r\n1,18446744073709551615,"a ""b"", c\nd"\n2,-5,é\n3,,'.encode()


def test_csv_is_read_row_by_row_exact_however_the_body_is_cut() -> None:
    async def run(url: str) -> list[dict[str, str]]:
        day = HistoryClient(url).market_trades_of_day("SOL-PERP", 2026, 11, 3)
        return [row async for row in day.csv()]

    with serving(lambda request: request.pieces("text/csv", (bytes([byte]) for byte in CSV))) as (url, asked):
        assert asyncio.run(run(url)) == [
            {"ts": "1", "amount": "18446744073709551615", "note": 'a "b", c\nd'},
            {"ts": "2", "amount": "-5", "note": "é"},
            {"ts": "3", "amount": "", "note": ""},
        ]
        assert lines(asked) == ["GET /market/SOL-PERP/trades/2026/11/3?format=csv"]


def test_a_reader_that_stops_ends_the_download() -> None:
    is_ended = threading.Event()

    def endless() -> Iterator[bytes]:
        yield b"a\n1\n2\n"
        try:
            while True:
                yield b"3\n" * 100_000
        finally:
            is_ended.set()

    async def run(url: str) -> None:
        rows = HistoryClient(url).market_trades_of_day("SOL-PERP", 2026, 11, 3).csv()
        assert await anext(rows) == {"a": "1"}
        await rows.aclose()  # type: ignore[attr-defined]

    with serving(lambda request: request.pieces("text/csv", endless())) as (url, _):
        asyncio.run(run(url))
        assert is_ended.wait(30)


def test_a_body_that_is_cut_off_never_looks_whole() -> None:
    def answer(request: Request) -> None:
        request._handler.wfile.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: 99\r\n\r\na\n1\n2\n"
        )
        request.hang_up()

    async def run(url: str) -> None:
        async for _ in HistoryClient(url).market_trades_of_day("SOL-PERP", 2026, 11, 3).csv():
            pass

    with serving(answer) as (url, _), pytest.raises(Exception, match="IncompleteRead"):
        asyncio.run(run(url))


TRADES = [
    {"ts": 1, "slot": 9, "txSig": "a", "baseAssetAmountFilled": "1500000000", "makerRebate": "-5632", "maker": None},
    {"ts": 2, "slot": 9, "txSig": "b", "baseAssetAmountFilled": str(2**64), "makerRebate": "0", "maker": "M"},
]


def test_frames_have_exact_integers_and_decimals_on_request() -> None:
    async def run(url: str) -> tuple[polars.DataFrame, ...]:
        trades = HistoryClient(url).market_trades("SOL-PERP")
        return await trades.polars(), await trades.polars(decimals=True)

    with serving(lambda request: request.json(200, page(TRADES, None))) as (url, _):
        raw, decimals = asyncio.run(run(url))
    assert raw["baseAssetAmountFilled"].to_list() == [1_500_000_000, 2**64]
    assert raw.schema["baseAssetAmountFilled"] == polars.Int128
    assert raw.schema["makerRebate"] == polars.Int64
    assert raw["maker"].to_list() == [None, "M"]
    assert decimals["baseAssetAmountFilled"].to_list() == [Decimal("1.5"), Decimal("18446744073.709551616")]
    assert decimals["makerRebate"].to_list() == [Decimal("-0.005632"), Decimal(0)]
    assert not any(kind.is_float() for kind in (*raw.schema.values(), *decimals.schema.values()))


def test_pandas_frames_are_as_exact() -> None:
    async def run(url: str) -> tuple[pandas.DataFrame, ...]:
        trades = HistoryClient(url).market_trades("SOL-PERP")
        return await trades.pandas(), await trades.pandas(decimals=True)

    with serving(lambda request: request.json(200, page(TRADES, None))) as (url, _):
        raw, decimals = asyncio.run(run(url))
    assert list(raw["baseAssetAmountFilled"]) == [1_500_000_000, 2**64]
    assert str(raw["makerRebate"].dtype) == "Int64"
    assert list(decimals["makerRebate"]) == [Decimal("-0.005632"), Decimal(0)]
    assert not any(kind.kind == "f" for kind in (*raw.dtypes, *decimals.dtypes))


def test_a_day_becomes_a_frame_in_one_download_with_empty_cells_as_nulls() -> None:
    async def run(url: str) -> polars.DataFrame:
        return await HistoryClient(url).market_trades_of_day("SOL-PERP", 2026, 11, 3).polars()

    text = b"ts,takerFee,maker\n1,78855,\n2,,M\n"
    with serving(lambda request: request.answer(200, text, "text/csv")) as (url, asked):
        frame = asyncio.run(run(url))
        assert len(asked) == 1
    assert frame.to_dicts() == [{"ts": 1, "takerFee": 78855, "maker": None}, {"ts": 2, "takerFee": None, "maker": "M"}]


def test_an_empty_answer_is_an_empty_frame_with_its_columns() -> None:
    async def run(url: str) -> polars.DataFrame:
        return await HistoryClient(url).market_funding_rates("SOL-PERP").polars()

    with serving(lambda request: request.json(200, page([], None))) as (url, _):
        frame = asyncio.run(run(url))
    assert frame.height == 0
    assert frame.schema["fundingRate"] == polars.Int64


def test_a_range_of_candles_comes_as_parquet() -> None:
    file = io.BytesIO()
    polars.DataFrame({"ts": [1], "fillOpen": [Decimal("81.114210")]}).write_parquet(file)

    async def run(url: str) -> bytes:
        return await HistoryClient(url).market_candles_bulk("SOL-PERP", "60", 1, to=2).parquet()

    kind = "application/vnd.apache.parquet"
    with serving(lambda request: request.answer(200, file.getvalue(), kind)) as (url, asked):
        frame = polars.read_parquet(io.BytesIO(asyncio.run(run(url))))
        assert lines(asked) == ["GET /market/SOL-PERP/candles/60/bulk?from=1&to=2&format=parquet"]
        assert asked[0].headers["accept"] == kind
    assert frame["fillOpen"].to_list() == [Decimal("81.114210")]


def test_signatures_are_made_anew_for_each_attempt_where_the_contract_asks_for_them() -> None:
    made: list[Operation] = []

    async def sign(operation: Operation) -> Mapping[str, str]:
        made.append(operation)
        return {"x-signature": f"s{len(made)}"}

    def answer(request: Request) -> None:
        request.json(503 if request.headers.get("x-signature") == "s1" else 200, page([], None))

    async def run(url: str) -> None:
        client = HistoryClient(url, retry=QUICK, sign=sign)
        await client.authority_exports("W")
        await client.authority_accounts("W")
        with pytest.raises(ValueError, match="needs a wallet signature"):
            await HistoryClient(url).authority_exports("W")

    with serving(answer) as (url, asked):
        asyncio.run(run(url))
        assert [request.headers.get("x-signature") for request in asked] == ["s1", "s2", None]
        assert made[0].path == "/authority/{authorityId}/exports"


def test_a_body_is_sent_as_json() -> None:
    async def run(url: str) -> Any:
        return await HistoryClient(url).post_tx_execute({"transaction": "AA=="})  # type: ignore[typeddict-item]

    with serving(lambda request: request.json(200, {"ok": True})) as (url, asked):
        assert asyncio.run(run(url)) == {"ok": True}
        assert asked[0].line == "POST /tx/execute"
        assert asked[0].body == b'{"transaction": "AA=="}'
