"""Examples and the snippets of the README, on a running server whose books and trades change."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from support.http_server import Request, serving
from support.programs import ROOT, run_program

README = (ROOT / "README.md").read_text("utf-8")
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
RUNS_MAX = 10
FILLS = (
    "ts,slot,baseAssetAmountFilled,quoteAssetAmountFilled\n"
    "3600,9,1000000000,81000000\n3700,10,3000000000,246000000\n7200,11,18446744073709551616,5\n"
)


@pytest.fixture
def feed_url() -> str:
    url = os.environ.get("SLOTBOOK_FEED_URL")
    if url is None:
        pytest.skip("SLOTBOOK_FEED_URL names no running server; client/python.test.ts starts one")
    return url


def history(request: Request) -> None:
    """Answers for the history service and for books of earlier slots."""
    if "format=csv" in request.path:
        request.answer(200, FILLS.encode(), "text/csv")
    elif request.path.startswith("/l2"):
        level = {"price": "81114210", "size": "5", "sources": {"dlob": "5"}}
        request.json(200, {"slot": 10, "bids": [level], "asks": []})
    else:
        trade = {"ts": 1, "txSig": "a", "baseAssetAmountFilled": "1500000000", "quoteAssetAmountFilled": "225300000"}
        request.json(200, {"success": True, "records": [trade], "meta": {"nextPage": None}})


def test_the_market_maker_sees_its_queue(feed_url: str) -> None:
    text = run_program("examples/queue_ahead.py", "--url", feed_url, "--events", "3")
    assert len(re.findall(r"^slot \d+: ", text, re.MULTILINE)) == 3
    assert re.search(r"order \d+: \d+\.\d+ ahead", text)


def test_the_operator_sees_a_healthy_feed(feed_url: str) -> None:
    text = run_program("examples/feed_health.py", "--url", feed_url, "--seconds", "7", "--slots-behind", "1000000")
    assert "healthy" in text
    assert re.search(r"'heartbeat': \d", text)


def test_the_quant_gets_exact_prices_by_hour() -> None:
    with serving(history) as (url, _):
        urls = ("--history", url, "--books", url)
        text = run_program("examples/day_of_fills.py", *urls, "--day", "2026-11-03")
    assert "3 fills" in text
    # (81 + 246) quote over 4 base.
    assert "81750000" in text
    assert "18446744073709551616" in text


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[f"snippet {number}" for number in range(1, len(SNIPPETS) + 1)])
def test_the_readme_runs(snippet: str, feed_url: str, tmp_path: Path) -> None:
    with serving(history) as (url, _):
        text = snippet.replace("ws://localhost:6969/ws", feed_url)
        text = re.sub(r"http://localhost:69\d\d", url.rstrip("/"), text)
        file = tmp_path / "snippet.py"
        file.write_text(text)
        # A snippet listens for a second; on a busy machine the connection takes longer.
        assert any(run_program(str(file)) for _ in range(RUNS_MAX))


def test_the_readme_has_snippets() -> None:
    assert len(SNIPPETS) >= 5
