"""Decodes accounts and events of a program by the names and layouts of its IDL."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias, TypedDict

from .encoding import from_base58, to_base58
from .idl import DISCRIMINATOR_BYTES, Enum, Json, Kind, Program, Scalar, read_idl
from .layout import Field, Part, field_at, is_fixed, part_of, struct_part
from .log_lines import payloads_of
from .names import snake_case
from .records import Fields, RecordError, event_reader, tail_reader

#: Value of a field in a filter: a number, a flag, an enum variant, or a key as base58 or bytes.
FilterValue: TypeAlias = int | bool | str | bytes
_WIDTHS = {"u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8}
_KEY_BYTES = 32


class Memcmp(TypedDict):
    offset: int
    #: base58
    bytes: str


class MemcmpFilter(TypedDict):
    """A filter for ``getProgramAccounts``."""

    memcmp: Memcmp


class AccountError(ValueError):
    """The bytes are not an account of that kind."""


@dataclass(frozen=True)
class ProgramEvent:
    #: PascalCase, for example ``OrderActionRecord``.
    name: str
    #: Fields in camelCase. Fields that an older record lacks are None.
    data: Mapping[str, Any]


@dataclass(frozen=True)
class LogEvents:
    events: Sequence[ProgramEvent]
    #: Records whose discriminator the IDL does not know, or whose bytes are damaged.
    undecoded: Sequence[bytes]
    #: The node cut the log off, so that events may be missing.
    incomplete: bool


class _Account:
    """One kind of account: its fixed prefix, and the fields behind it."""

    def __init__(self, kind: Kind) -> None:
        fields = kind.shape.fields
        count = next((at for at, (_, inner) in enumerate(fields) if not is_fixed(inner)), len(fields))
        self.kind = kind
        self.fixed: Fields = fields[:count]
        self.part: Part = struct_part(self.fixed)
        self.size = DISCRIMINATOR_BYTES + self.part.size
        self.tail = tail_reader(fields[count:])

    def whole(self, data: bytes) -> bytes:
        """At least the fixed part: fields that a shorter account lacks are zero."""
        if data[:DISCRIMINATOR_BYTES] != self.kind.discriminator:
            raise AccountError(f"not a {self.kind.name} account")
        return data.ljust(self.size, b"\0")

    def field(self, path: str) -> Field:
        field = field_at(self.fixed, [snake_case(step) for step in path.split(".")], DISCRIMINATOR_BYTES)
        if field is None:
            raise ValueError(f"{self.kind.name} has no field {path}")
        return field


class Decoder:
    """Decodes the accounts and events of the program of an IDL, in the current or the older Anchor format.

    Raises ValueError for an IDL that names no program or has an unknown type.
    """

    def __init__(self, idl: Json) -> None:
        self._program: Program = read_idl(idl)
        self._names = {kind.discriminator: name for name, kind in self._program.accounts.items()}
        # Made at the first use: an IDL has many kinds, and a program uses a few.
        self._accounts: dict[str, _Account] = {}
        self._events: dict[bytes, Any] = {}

    @property
    def program_id(self) -> str:
        """Base58 id of the program that the IDL names."""
        return self._program.program_id

    @property
    def names(self) -> Sequence[str]:
        """PascalCase names of the accounts."""
        return tuple(self._program.accounts)

    def decode(self, name: str, data: bytes) -> dict[str, Any]:
        """Every field of an account, by its name in camelCase.

        Integers are exact, keys 32 bytes, byte arrays lists of numbers, enums their variant
        (``unknown(7)`` when the IDL does not know it). Bytes beyond the known layout are ignored, and
        fields that a shorter account lacks are zero. Raises ValueError ``Unknown account: <name>`` for
        another name, and AccountError for another discriminator.
        """
        account = self._account(name)
        value: dict[str, Any] = account.part.read(account.whole(data), DISCRIMINATOR_BYTES)
        value.update(account.tail(data[account.size :]))
        return value

    def field(self, name: str, data: bytes, path: str) -> Any:
        """One field of the fixed part, such as ``orders.3.price``, without decoding the rest."""
        account = self._account(name)
        field = account.field(path)
        return part_of(field.kind).read(account.whole(data), field.offset)

    def name_of(self, data: bytes) -> str | None:
        """Name of the account kind that the data has; None when the IDL has none of that discriminator."""
        return self._names.get(data[:DISCRIMINATOR_BYTES])

    def filters(self, name: str, fields: Mapping[str, FilterValue] | None = None) -> list[MemcmpFilter]:
        """Filters for ``getProgramAccounts``: discriminator and fields, never the size, because accounts grow.

        ``fields`` are paths with values, for example ``{"idle": False}``. Raises ValueError for a path that
        the account lacks, or a value that its type cannot have.
        """
        account = self._account(name)
        filters = [_filter(0, account.kind.discriminator)]
        for path, value in (fields or {}).items():
            field = account.field(path)
            filters.append(_filter(field.offset, _bytes_of(field, path, value)))
        return filters

    def event(self, record: bytes) -> ProgramEvent | None:
        """One record, discriminator included. None when the IDL does not know it or its bytes are damaged."""
        discriminator = record[:DISCRIMINATOR_BYTES]
        kind = self._program.events.get(discriminator)
        if kind is None:
            return None
        if discriminator not in self._events:
            self._events[discriminator] = event_reader(kind)
        try:
            return ProgramEvent(kind.name, self._events[discriminator](record[DISCRIMINATOR_BYTES:]))
        except RecordError:
            return None

    def events(self, logs: Sequence[str]) -> LogEvents:
        """Events of the program in a transaction's log, in order.

        Records stand behind ``Program data: `` and ``Program log: ``, while the program itself runs.
        """
        payloads, is_incomplete = payloads_of(logs, self.program_id, self._program.events.keys())
        events: list[ProgramEvent] = []
        undecoded: list[bytes] = []
        for payload in payloads:
            event = None if payload.is_damaged else self.event(payload.data)
            if event is None:
                undecoded.append(payload.data)
            else:
                events.append(event)
        return LogEvents(events, undecoded, is_incomplete)

    def _account(self, name: str) -> _Account:
        kind = self._program.accounts.get(name)
        if kind is None:
            raise ValueError(f"Unknown account: {name}")
        if name not in self._accounts:
            self._accounts[name] = _Account(kind)
        return self._accounts[name]


def _filter(offset: int, data: bytes) -> MemcmpFilter:
    return {"memcmp": {"offset": offset, "bytes": to_base58(data)}}


def _bytes_of(field: Field, path: str, value: FilterValue) -> bytes:
    kind = field.kind
    if isinstance(kind, Enum) and value in kind.variants:
        return bytes([kind.variants.index(str(value))])
    if isinstance(kind, Scalar):
        if kind.kind == "bool" and isinstance(value, bool):
            return bytes([value])
        if kind.kind == "pubkey" and isinstance(value, (str, bytes)):
            key = from_base58(value) if isinstance(value, str) else value
            if len(key) == _KEY_BYTES:
                return key
        width = _WIDTHS.get(kind.kind)
        if width is not None and isinstance(value, int) and not isinstance(value, bool):
            return (value % (1 << 8 * width)).to_bytes(width, "little")
    raise ValueError(f"{path} cannot be {value!r}")


@cache
def built_in_idl(name: Literal["velocity"] = "velocity") -> Json:
    """The IDL of the exchange, as this version of the package knows it."""
    idl: Json = json.loads(files("slotbook.accounts").joinpath("idl").joinpath(f"{name}.json").read_text("utf-8"))
    return idl
