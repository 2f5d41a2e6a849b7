"""Accounts, events and filters decode as in the TypeScript client, at every length."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from slotbook.accounts import AccountError, Decoder, built_in_idl, from_base58, from_base64, name_text, to_base58
from slotbook.accounts.names import camel_case, snake_case, variant_name

DECODER = Decoder(built_in_idl())


def plain(value: Any) -> Any:
    """A value in the form of the vectors: bytes as hex."""
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    return [plain(member) for member in value] if isinstance(value, list) else value


def check(line: dict[str, Any]) -> str:
    """Fails when a line decodes to anything else. Returns the kind of the line."""
    if "logs" in line:
        seen = DECODER.events(line["logs"])
        assert [{"name": one.name, "data": plain(one.data)} for one in seen.events] == line["events"]
        assert [plain(data) for data in seen.undecoded] == line["undecoded"]
        assert seen.incomplete == line["incomplete"]
        return "events"
    try:
        if "account" in line:
            value = plain(DECODER.decode(line["account"], base64.b64decode(line["data"])))
        else:
            value = plain(DECODER.filters(line["filters"], line["fields"]))
    except ValueError as raised:
        error = str(raised)
    else:
        assert value == line["value"]
        return "account" if "account" in line else "filters"
    assert error == line["error"]
    return "error"


def test_the_published_vectors_are_passed() -> None:
    path = os.environ.get("SLOTBOOK_ACCOUNT_VECTORS")
    if path is None:
        pytest.skip("SLOTBOOK_ACCOUNT_VECTORS names no file of vectors")
    seen = Counter(check(json.loads(line)) for line in Path(path).read_text().splitlines())
    assert min(seen[kind] for kind in ("account", "events", "filters", "error")) > 2, seen


def blank(name: str) -> bytearray:
    """An account of zeros with its discriminator."""
    [discriminator] = DECODER.filters(name)
    data = bytearray(DECODER._account(name).size)
    data[:8] = from_base58(discriminator["memcmp"]["bytes"])
    return data


def test_bytes_that_are_missing_are_zero_and_bytes_beyond_the_layout_are_ignored() -> None:
    whole = blank("UserStats")
    whole[8:] = bytes((at * 7 + 3) % 2 for at in range(len(whole) - 8))
    for length in range(8, len(whole) + 64):
        cut = bytes(whole[:length]).ljust(len(whole), b"\0")
        data = bytes(whole[:length]) if length <= len(whole) else bytes(whole) + b"\xa5" * (length - len(whole))
        assert DECODER.decode("UserStats", data) == DECODER.decode("UserStats", cut)


def test_one_field_reads_as_in_the_whole_account() -> None:
    data = blank("User")
    for at in range(8, len(data)):
        data[at] = at % 2
    user = DECODER.decode("User", bytes(data))
    assert DECODER.field("User", bytes(data), "orders.3.price") == user["orders"][3]["price"]
    assert DECODER.field("User", bytes(data), "perpPositions.1") == user["perpPositions"][1]
    assert DECODER.field("User", bytes(data[:20]), "name") == [0] * 32
    for path in ("orders.32.price", "orders.x", "orders.3.price.x", "nothing"):
        with pytest.raises(ValueError, match="User has no field"):
            DECODER.field("User", bytes(data), path)


def test_accounts_are_known_by_pascal_case_names_and_discriminators_only() -> None:
    data = bytes(blank("User"))
    assert DECODER.name_of(data) == "User"
    assert DECODER.name_of(b"abc") is None
    for name in ("user", "USER", "perpMarket", "", "__init__"):
        with pytest.raises(ValueError, match=f"^Unknown account: {name}$"):
            DECODER.decode(name, data)
    for other in (bytes(blank("UserStats")), data[:7], b""):
        with pytest.raises(AccountError):
            DECODER.decode("User", other)


def test_filters_refuse_values_that_a_field_cannot_have() -> None:
    for fields in ({"idle": "yes"}, {"idle": 1}, {"authority": "x0"}, {"subAccountId": 1.5}, {"subAccountId": True}):
        with pytest.raises(ValueError, match=r"cannot be|base58"):
            DECODER.filters("User", fields)  # type: ignore[arg-type]


OLD = {
    "name": "thing",
    "metadata": {"address": "dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH"},
    "accounts": [
        {
            "name": "User",
            "type": {
                "kind": "struct",
                "fields": [
                    {"name": "authority", "type": "publicKey"},
                    {"name": "last24hVolume", "type": "u64"},
                    {"name": "kind", "type": {"defined": "Kind"}},
                    {"name": "ids", "type": {"vec": "u32"}},
                ],
            },
        }
    ],
    "types": [{"name": "Kind", "type": {"kind": "enum", "variants": [{"name": "Init"}, {"name": "InUse"}]}}],
}


def test_idls_of_the_older_anchor_format_and_lists_at_the_end_are_read() -> None:
    older = Decoder(OLD)
    head = bytes(blank("User")[:8]) + bytes(32) + (2**64 - 1).to_bytes(8, "little")
    ids = b"\2\0\0\0\7\0\0\0\10\0\0\0"
    user = older.decode("User", head + b"\1" + ids + b"\1" * 9)
    assert (user["last24hVolume"], user["kind"], user["ids"]) == (2**64 - 1, "inUse", [7, 8])
    for length in (0, 3, 6):
        assert older.decode("User", head + b"\1" + ids[:length])["ids"] == []
    assert older.decode("User", head + b"\t")["kind"] == "unknown(9)"
    with pytest.raises(ValueError, match="no program address"):
        Decoder({"name": "thing"})


def test_names_have_one_spelling() -> None:
    assert snake_case("last24hAvgFundingRate") == "last_24h_avg_funding_rate"
    assert snake_case("sqrtK") == "sqrt_k"
    assert camel_case("last_24h_avg_funding_rate") == "last24hAvgFundingRate"
    assert variant_name("OrderFilledWithAMMJitLPSplit") == "orderFilledWithAmmJitLpSplit"
    assert variant_name("Pyth1K") == "pyth1K"
    assert name_text([*b"Main Account", *bytes(20)]) == "Main Account"


def test_text_forms_of_bytes_are_read_as_far_as_they_go() -> None:
    for data in (b"", b"\0", b"\0\0\1", bytes(range(32)), b"\xff" * 32):
        assert from_base58(to_base58(data)) == data
        text = base64.b64encode(data).decode()
        assert from_base64(text) == from_base64(text.rstrip("=")) == data
    assert from_base64("AQI!AQI") == b"\1\2"
    assert from_base64("AQIDB") == b"\1\2\3"
    with pytest.raises(ValueError, match="no base58"):
        from_base58("0")
