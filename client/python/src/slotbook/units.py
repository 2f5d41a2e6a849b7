"""Exact units: amounts are integers, and decimals on request."""

from __future__ import annotations

from decimal import Decimal

#: Digits after the point of a price, of an amount of quote, and of a size of a perpetual market.
PRICE_DIGITS = 6
QUOTE_DIGITS = 6
BASE_DIGITS = 9


def decimal(amount: int, digits: int) -> Decimal:
    """``amount`` units of 10 to the power of minus ``digits``, exact whatever the context's precision."""
    sign = 1 if amount < 0 else 0
    return Decimal((sign, tuple(map(int, str(abs(amount)))), -digits))


def price_decimal(price: int) -> Decimal:
    """A price (1e6) in quote per base."""
    return decimal(price, PRICE_DIGITS)


def size_decimal(size: int) -> Decimal:
    """A size (1e9) in base of a perpetual market."""
    return decimal(size, BASE_DIGITS)
