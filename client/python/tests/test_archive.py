"""Books of earlier slots, and exports as exact frames."""

from __future__ import annotations

import asyncio
import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars
import pytest
from support.http_server import Request, serving

from slotbook.archive import ORDER_COLUMNS, BookArchive, ExportError, order_rows, read_export
from slotbook.history import polars_frame

LEVEL = {"price": "81114210", "size": str(2**70), "sources": {"dlob": "5", "vamm": str(2**70 - 5)}}
ORDER = {"price": "81114210", "size": "7", "maker": "M", "orderId": 4}


def answer(request: Request) -> None:
    entry = LEVEL if request.path.startswith("/l2") else ORDER
    slot = int(request.path.partition("slot=")[2].partition("&")[0] or 99)
    request.json(200, {"slot": slot, "bids": [entry], "asks": []})


def test_books_of_slots_become_a_frame_with_exact_sizes() -> None:
    async def run(url: str) -> tuple[polars.DataFrame, Any]:
        archive = BookArchive(url)
        frame = await archive.levels_polars("SOL-PERP", [9, 10], depth=1)
        return frame, await archive.orders("SOL-PERP")

    with serving(answer) as (url, asked):
        frame, orders = asyncio.run(run(url))
        assert [request.path for request in asked] == [
            "/l2?marketName=SOL-PERP&slot=9&depth=1",
            "/l2?marketName=SOL-PERP&slot=10&depth=1",
            "/l3?marketName=SOL-PERP",
        ]
    assert frame["slot"].to_list() == [9, 10]
    assert frame["size"].to_list() == [2**70, 2**70]
    assert frame["price"].to_list() == [81_114_210, 81_114_210]
    row = polars_frame(order_rows(orders), ORDER_COLUMNS, as_decimal=True).row(0, named=True)
    assert (row["price"], row["size"], row["maker"]) == (Decimal("81.11421"), Decimal("7e-9"), "M")


def exported(folder: Path, kind: str, **members: Any) -> Path:
    frame = polars.DataFrame({"ts": [1, 2], "amount": [str(2**100), None], "key": ["9abc", "0123"]})
    file = folder / f"rows.{kind}"
    if kind == "parquet":
        frame.write_parquet(file)
    else:
        frame.write_csv(file)
    coverage = {"format": kind, "rows": 2, "complete": True, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    file.with_name(f"{file.name}.coverage.json").write_text(json.dumps({**coverage, **members}))
    return file


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_export_becomes_a_frame_whose_long_integers_are_exact(tmp_path: Path, kind: str) -> None:
    export = read_export(exported(tmp_path, kind))
    assert export.is_complete
    frame = export.polars()
    assert frame["ts"].to_list() == [1, 2]
    assert frame["amount"].to_list() == [2**100, None]
    assert frame["key"].to_list() == ["9abc", "0123"]
    assert list(export.pandas()["amount"]) == [2**100, None]


def test_a_file_that_its_coverage_does_not_describe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="not the file"):
        read_export(exported(tmp_path, "csv", sha256="0"))
    with pytest.raises(ExportError, match="2 rows, not 3"):
        read_export(exported(tmp_path, "csv", rows=3)).polars()
