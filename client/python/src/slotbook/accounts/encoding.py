"""Text forms of bytes: base58 keys, base64 log lines, padded names."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGITS = {character: digit for digit, character in enumerate(_ALPHABET)}
_BASE64_HEAD = re.compile(r"[A-Za-z0-9+/]*")


def to_base58(key: bytes) -> str:
    """Base58 of a key."""
    number = int.from_bytes(key, "big")
    text = ""
    while number:
        number, digit = divmod(number, 58)
        text = _ALPHABET[digit] + text
    return "1" * (len(key) - len(key.lstrip(b"\0"))) + text


def from_base58(text: str) -> bytes:
    """Bytes of a base58 key. Raises ValueError for other text."""
    number = 0
    for character in text:
        if character not in _DIGITS:
            raise ValueError(f"no base58: {text}")
        number = number * 58 + _DIGITS[character]
    zeros = len(text) - len(text.lstrip("1"))
    return b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")


def from_base64(text: str) -> bytes:
    """Bytes of base64 text. Stops at the first character that is none, because log lines may be cut off."""
    found = _BASE64_HEAD.match(text)
    head = found[0] if found else ""
    # A single character left over has no whole byte.
    head = head[: len(head) - 1] if len(head) % 4 == 1 else head
    return base64.b64decode(head + "=" * (-len(head) % 4))


def name_text(name: Iterable[int]) -> str:
    """Text of a decoded ``name``, without its padding."""
    return bytes(name).decode("utf-8-sig", "replace").replace("\0", " ").strip()
