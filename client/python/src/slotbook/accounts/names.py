"""One spelling of names for both IDL formats, and the names that integrators see."""

from __future__ import annotations

import re


def snake_case(name: str) -> str:
    """``last24hAvgFundingRate`` becomes ``last_24h_avg_funding_rate``. Snake case stays as it is."""
    if not re.search(r"[A-Z]", name):
        return name
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z])([A-Z0-9])", r"\1_\2", name)
    return re.sub(r"([0-9])([A-Z])", r"\1_\2", name).lower()


def camel_case(name: str) -> str:
    """``last_24h_avg_funding_rate`` becomes ``last24hAvgFundingRate``."""
    return re.sub(r"(?!^)_+([a-z0-9])", lambda found: found[1].upper(), name)


def variant_name(name: str) -> str:
    """``OrderFilledWithAMMJitLPSplit`` becomes ``orderFilledWithAmmJitLpSplit``, ``Pyth1K`` ``pyth1K``."""

    def shorten(found: re.Match[str]) -> str:
        run = found[0]
        begins_word = re.match(r"[a-z]", name[found.end() : found.end() + 1]) is not None
        head = run[:-1] if begins_word else run
        return head[0] + head[1:].lower() + (run[-1] if begins_word else "")

    words = re.sub(r"[A-Z]{2,}", shorten, name)
    return words[:1].lower() + words[1:]
