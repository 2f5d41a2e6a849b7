"""Decodes the fixed part of accounts: one unpacking of all fields, put together by their names."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from .idl import Array, Bytes, Enum, Option, Scalar, Struct, Text, Vec, WireType
from .names import camel_case

_CODES = {
    "u8": "B",
    "i8": "b",
    "bool": "B",
    "u16": "H",
    "i16": "h",
    "u32": "I",
    "i32": "i",
    "u64": "Q",
    "i64": "q",
    "u128": "QQ",
    "i128": "Qq",
    "pubkey": "32s",
}

Cells: TypeAlias = Iterator[Any]
Build: TypeAlias = Callable[[Cells], Any]


@dataclass(frozen=True)
class Part:
    """A type of fixed size: its code for ``struct``, and what makes a value of the unpacked cells."""

    code: str
    build: Build

    @property
    def size(self) -> int:
        return struct.calcsize(f"<{self.code}")

    def read(self, data: bytes, at: int) -> Any:
        return self.build(iter(struct.unpack_from(f"<{self.code}", data, at)))


def variant_of(variants: tuple[str, ...], ordinal: int) -> str:
    """Enum variant of an ordinal; ``unknown(7)`` when the definition does not know it."""
    return variants[ordinal] if ordinal < len(variants) else f"unknown({ordinal})"


def is_fixed(kind: WireType) -> bool:
    """Whether all values of a type have the same size."""
    if isinstance(kind, (Option, Vec, Text)):
        return False
    if isinstance(kind, Array):
        return is_fixed(kind.element)
    return all(is_fixed(inner) for _, inner in kind.fields) if isinstance(kind, Struct) else True


def part_of(kind: WireType) -> Part:
    """A type of fixed size. Raises TypeError for others."""
    if isinstance(kind, Scalar):
        return Part(_CODES[kind.kind], _scalar(kind.kind))
    if isinstance(kind, Bytes):
        return Part(f"{kind.length}s", lambda cells: list(next(cells)))
    if isinstance(kind, Enum):
        return Part("B", lambda cells, variants=kind.variants: variant_of(variants, next(cells)))  # type: ignore[misc]
    if isinstance(kind, Array):
        element = part_of(kind.element)
        numbers = range(kind.length)
        return Part(element.code * kind.length, lambda cells: [element.build(cells) for _ in numbers])
    if isinstance(kind, Struct):
        return struct_part(kind.fields)
    raise TypeError(f"{kind} has no fixed size")


def struct_part(fields: tuple[tuple[str, WireType], ...]) -> Part:
    """The fields of a struct, one after the other: zero-copy structs declare their padding."""
    parts = [(camel_case(name), part_of(kind)) for name, kind in fields]
    builders = [(name, part.build) for name, part in parts]
    return Part("".join(part.code for _, part in parts), lambda cells: {name: build(cells) for name, build in builders})


def _scalar(kind: str) -> Build:
    if kind == "bool":
        return lambda cells: next(cells) != 0
    if kind in ("u128", "i128"):
        return lambda cells: next(cells) | next(cells) << 64
    return next


@dataclass(frozen=True)
class Field:
    """A field at a path, with its offset in the account."""

    offset: int
    kind: WireType


def field_at(fields: tuple[tuple[str, WireType], ...], path: list[str], start: int) -> Field | None:
    """The field at a path of names and indexes, such as ``orders.3.price``. None when there is none."""
    found: Field | None = Field(start, Struct("", fields))
    for step in path:
        found = _step(found, step)
        if found is None:
            return None
    return found


def _step(field: Field | None, step: str) -> Field | None:
    if field is None:
        return None
    if isinstance(field.kind, Struct):
        at = field.offset
        for name, kind in field.kind.fields:
            if name == step:
                return Field(at, kind)
            at += part_of(kind).size
    elif isinstance(field.kind, Array) and step.isdecimal() and int(step) < field.kind.length:
        return Field(field.offset + int(step) * part_of(field.kind.element).size, field.kind.element)
    return None
