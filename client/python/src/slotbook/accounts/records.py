"""Borsh decoder of program records and of the lists at the end of accounts: fields in wire order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from .idl import Array, Bytes, Enum, Kind, Option, Scalar, Struct, Vec, WireType
from .layout import part_of, variant_of
from .names import camel_case

Fields: TypeAlias = tuple[tuple[str, WireType], ...]


class RecordError(ValueError):
    """The body ends inside a field, or claims more elements than it has bytes."""


class Cursor:
    """Bytes that are read in order."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, length: int) -> bytes:
        if length > self.left:
            raise RecordError(f"record ends at byte {len(self.data)}")
        self.at += length
        return self.data[self.at - length : self.at]

    def count(self) -> int:
        """A count of elements. Each takes at least one byte, so a count above the rest means a damaged record."""
        count = int.from_bytes(self.take(4), "little")
        if count > self.left:
            raise RecordError(f"list of {count} at {self.at - 4}")
        return count

    def is_present(self) -> bool:
        flag = self.take(1)[0]
        if flag > 1:
            raise RecordError(f"presence byte {flag} at {self.at - 1}")
        return flag == 1


Read: TypeAlias = Callable[[Cursor], Any]

#: Records that changed in the middle: leftover bytes mean another revision.
WHOLE_RECORDS = frozenset({"SignedMsgOrderRecord"})


def reader_of(kind: WireType) -> Read:
    """Reads a value of any type."""
    if isinstance(kind, Scalar):
        part = part_of(kind)
        size = part.size
        return lambda cursor: part.read(cursor.take(size), 0)
    if isinstance(kind, Bytes):
        return lambda cursor, length=kind.length: list(cursor.take(length))  # type: ignore[misc]
    if isinstance(kind, Enum):
        return lambda cursor, variants=kind.variants: variant_of(variants, cursor.take(1)[0])  # type: ignore[misc]
    if isinstance(kind, Struct):
        return _struct_reader(kind.fields)
    if isinstance(kind, Array):
        element, numbers = reader_of(kind.element), range(kind.length)
        return lambda cursor: [element(cursor) for _ in numbers]
    if isinstance(kind, Option):
        inner = reader_of(kind.element)
        return lambda cursor: inner(cursor) if cursor.is_present() else None
    if isinstance(kind, Vec):
        return _vector_reader(kind)
    return lambda cursor: cursor.take(cursor.count()).decode("utf-8-sig", "replace")


def _vector_reader(kind: Vec) -> Read:
    if kind.element == Scalar("u8"):
        return lambda cursor: list(cursor.take(cursor.count()))
    element = reader_of(kind.element)
    return lambda cursor: [element(cursor) for _ in range(cursor.count())]


def _struct_reader(fields: Fields) -> Read:
    readers = [(camel_case(name), reader_of(kind)) for name, kind in fields]
    return lambda cursor: {name: read(cursor) for name, read in readers}


def event_reader(kind: Kind) -> Callable[[bytes], dict[str, Any]]:
    """Decodes a record's body, after the discriminator.

    Records grow by appending, so fields past the end are None when the data ends exactly between two
    fields. Raises RecordError when the data ends inside a field.
    """
    is_whole = kind.name in WHOLE_RECORDS
    readers = [(camel_case(name), reader_of(inner)) for name, inner in kind.shape.fields]

    def decode(body: bytes) -> dict[str, Any]:
        cursor = Cursor(body)
        value = {name: read(cursor) if is_whole or cursor.left else None for name, read in readers}
        if is_whole and cursor.left:
            raise RecordError(f"{cursor.left} leftover bytes")
        return value

    return decode


def tail_reader(fields: Fields) -> Callable[[bytes], dict[str, Any]]:
    """Reads the fields behind the fixed part of an account. Where the bytes end, the rest is empty."""
    readers = [(camel_case(name), reader_of(kind), _empty(kind)) for name, kind in fields]

    def decode(data: bytes) -> dict[str, Any]:
        cursor = Cursor(data)
        value: dict[str, Any] = {}
        for name, read, empty in readers:
            try:
                value[name] = read(cursor)
            except RecordError:
                value[name] = empty()
        return value

    return decode


def _empty(kind: WireType) -> Callable[[], Any]:
    if isinstance(kind, Vec):
        return list
    return lambda: None if isinstance(kind, (Option, Array, Scalar, Struct, Bytes, Enum)) else ""
