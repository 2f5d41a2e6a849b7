"""What holds for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import slotbook


def pytest_report_header(config: pytest.Config) -> str:
    return f"slotbook from {Path(slotbook.__file__).parent}"


def pytest_sessionstart(session: pytest.Session) -> None:
    """The run of `npm test` tests the installed wheel, never the sources beside it."""
    site = os.environ.get("SLOTBOOK_WHEEL_SITE")
    if site is not None and Path(site) not in Path(slotbook.__file__).parents:
        raise pytest.UsageError(f"slotbook was imported from {slotbook.__file__}, not from the wheel")
