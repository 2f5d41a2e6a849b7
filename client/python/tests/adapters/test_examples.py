"""The examples of the adapters run on a server whose book changes."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.http_server import Request, serving
from support.model_server import ModelServer
from support.programs import run_here, run_program
from support.web_server import served

CHANGE_EVERY_S = 0.05
MARKET = {"symbol": "SOL-PERP", "marketIndex": 0, "marketType": "perp", "baseDecimals": 9}
SIZES = {"tickSize": "100", "stepSize": "10000000", "minOrderSize": "10000000"}


def history(request: Request) -> None:
    request.json(200, {"success": True, "params": {"markets": [{**MARKET, **SIZES}]}})


async def output_of(run: Callable[..., str], *arguments: str) -> str:
    """What an example prints while the book changes."""
    server = ModelServer()
    chance = random.Random(3)
    async with served(server) as url:
        program = asyncio.create_task(asyncio.to_thread(run, *arguments, "--url", url))
        while not program.done():
            server.books["SOL-PERP"].change(chance)
            server.publish("SOL-PERP")
            await asyncio.sleep(CHANGE_EVERY_S)
        return await program


def test_a_bot_with_ccxt_sees_the_top_of_the_book() -> None:
    pytest.importorskip("ccxt", reason="ccxt is not installed")
    text = asyncio.run(output_of(run_here, "examples/watch_with_ccxt.py", "--events", "4"))
    assert len(re.findall(r"^\d+: \[", text, re.MULTILINE)) == 4


def test_a_node_of_nautilus_trader_prints_spreads_and_ends() -> None:
    pytest.importorskip("nautilus_trader", reason="nautilus_trader is not installed")
    with serving(history) as (url, _):
        arguments = ("--events", "4", "--history", url.rstrip("/"))
        text = asyncio.run(output_of(run_program, "examples/nautilus_spread.py", *arguments))
    assert len(re.findall(r"spread ", text)) == 4


def test_a_backtester_records_a_book_and_walks_through_it(tmp_path: Path) -> None:
    pytest.importorskip("hftbacktest", reason="hftbacktest is not installed")
    out = str(tmp_path / "recording.npz")
    text = asyncio.run(output_of(run_here, "examples/record_for_hftbacktest.py", "--events", "30", "--out", out))
    assert re.search(r"^\d+ rows in ", text, re.MULTILINE)
    found = re.search(r"(\d+) changes of the best prices, \d+\.\d+ \| \d+\.\d+ at the end", text)
    assert found is not None
    assert int(found[1]) > 0
