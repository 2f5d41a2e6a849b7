"""Reads IDL files of either Anchor format: accounts, events and their types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from .names import snake_case, variant_name

Json: TypeAlias = Mapping[str, Any]

DISCRIMINATOR_BYTES = 8
#: Scalars with their sizes in bytes.
SCALARS = {
    "u8": 1,
    "i8": 1,
    "bool": 1,
    "u16": 2,
    "i16": 2,
    "u32": 4,
    "i32": 4,
    "u64": 8,
    "i64": 8,
    "u128": 16,
    "i128": 16,
    "pubkey": 32,
}
#: Program ids by IDL name, for old files that carry none.
KNOWN_PROGRAM_IDS = {"drift": "dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH"}


@dataclass(frozen=True)
class Scalar:
    kind: str


@dataclass(frozen=True)
class Bytes:
    """An array of u8."""

    length: int


@dataclass(frozen=True)
class Enum:
    """Variants by ordinal, in lower camel case. One byte."""

    variants: tuple[str, ...]


@dataclass(frozen=True)
class Struct:
    """Fields in wire order, names in snake case."""

    name: str
    fields: tuple[tuple[str, WireType], ...]


@dataclass(frozen=True)
class Array:
    length: int
    element: WireType


@dataclass(frozen=True)
class Option:
    element: WireType


@dataclass(frozen=True)
class Vec:
    element: WireType


@dataclass(frozen=True)
class Text:
    pass


WireType: TypeAlias = Scalar | Bytes | Enum | Struct | Array | Option | Vec | Text


@dataclass(frozen=True)
class Kind:
    """An account or an event."""

    name: str
    discriminator: bytes
    shape: Struct


@dataclass(frozen=True)
class Program:
    """The named parts of an IDL."""

    #: base58
    program_id: str
    accounts: Mapping[str, Kind]
    #: By discriminator.
    events: Mapping[bytes, Kind]


def read_idl(source: Json) -> Program:
    """Raises ValueError for an IDL that names no program or has an unknown type."""
    idl = source if "address" in source else _current(source)
    types = _Types({one["name"]: one["type"] for one in idl.get("types", ())})
    accounts = [_kind(one, types) for one in idl.get("accounts", ())]
    events = [_kind(one, types) for one in idl.get("events", ())]
    return Program(
        idl["address"],
        {kind.name: kind for kind in accounts},
        {kind.discriminator: kind for kind in events},
    )


def _kind(one: Json, types: _Types) -> Kind:
    return Kind(one["name"], bytes(one["discriminator"]), types.shape(one["name"]))


class _Types:
    def __init__(self, bodies: Mapping[str, Json]) -> None:
        self._bodies = bodies

    def shape(self, name: str) -> Struct:
        body = self._bodies.get(name)
        if body is None or body["kind"] != "struct":
            raise ValueError(f"{name} is not a struct of the IDL")
        fields: list[tuple[str, WireType]] = []
        for field in body.get("fields", ()):
            if not isinstance(field, Mapping) or "name" not in field:
                raise ValueError(f"{name} has unnamed fields")
            fields.append((snake_case(field["name"]), self._wire(field["type"])))
        return Struct(name, tuple(fields))

    def _wire(self, kind: Any) -> WireType:
        if isinstance(kind, str):
            return self._plain(kind)
        if "option" in kind:
            return Option(self._wire(kind["option"]))
        if "vec" in kind:
            return Vec(self._wire(kind["vec"]))
        if "array" in kind:
            element, length = kind["array"]
            if not isinstance(length, int):
                raise ValueError("generic array lengths are not supported")
            return Bytes(length) if element == "u8" else Array(length, self._wire(element))
        if "defined" in kind:
            return self._defined(kind["defined"]["name"])
        raise ValueError(f"type {kind} is not supported")

    def _plain(self, kind: str) -> WireType:
        if kind in SCALARS:
            return Scalar(kind)
        if kind == "string":
            return Text()
        if kind == "bytes":
            return Vec(Scalar("u8"))
        raise ValueError(f"type {kind} is not supported")

    def _defined(self, name: str) -> WireType:
        body = self._bodies.get(name)
        if body is None:
            raise ValueError(f"type {name} is not defined")
        if body["kind"] == "type":
            return self._wire(body["alias"])
        if body["kind"] == "struct":
            return self.shape(name)
        for variant in body["variants"]:
            if variant.get("fields"):
                raise ValueError(f"enum {name} carries values in {variant['name']}")
        return Enum(tuple(variant_name(variant["name"]) for variant in body["variants"]))


def _current(old: Json) -> Json:
    """An IDL of the older Anchor format (publicKey, camelCase, no discriminators) in the current one."""
    address = old.get("metadata", {}).get("address") or KNOWN_PROGRAM_IDS.get(old["name"])
    if address is None:
        raise ValueError(f"IDL {old['name']} has no program address (metadata.address)")
    accounts: Sequence[Json] = old.get("accounts", ())
    events: Sequence[Json] = old.get("events", ())
    structs = [{"name": one["name"], "type": {"kind": "struct", "fields": one["fields"]}} for one in events]
    return {
        "address": address,
        "accounts": [_discriminated("account", one) for one in accounts],
        "events": [_discriminated("event", one) for one in events],
        "types": [
            {"name": one["name"], "type": _body(one["type"])} for one in (*accounts, *old.get("types", ()), *structs)
        ],
    }


def _discriminated(space: str, one: Json) -> Json:
    digest = sha256(f"{space}:{one['name']}".encode()).digest()
    return {"name": one["name"], "discriminator": list(digest[:DISCRIMINATOR_BYTES])}


def _body(body: Json) -> Json:
    if body["kind"] != "struct":
        return body
    return {"kind": "struct", "fields": [{**field, "type": _type(field["type"])} for field in body["fields"]]}


def _type(kind: Any) -> Any:
    if isinstance(kind, str):
        return "pubkey" if kind == "publicKey" else kind
    if "defined" in kind:
        return {"defined": {"name": kind["defined"]}}
    if "array" in kind:
        return {"array": [_type(kind["array"][0]), kind["array"][1]]}
    [(name, inner)] = kind.items()
    return {name: _type(inner)}
