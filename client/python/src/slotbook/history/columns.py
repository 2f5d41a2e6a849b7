"""Exact types of columns, and frames of them: integers with their scale, decimals on request, never floats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from ..units import decimal

if TYPE_CHECKING:
    import pandas
    import polars

Kind: TypeAlias = Literal["raw", "whole", "decimal", "flag", "text", "other"]
INT64_MAX = 2**63 - 1
#: Longest decimal of frames: 38 digits, as in Arrow.
DECIMAL_DIGITS = 38


@dataclass(frozen=True)
class Column:
    """Content of a column."""

    kind: Kind
    #: Of a raw integer: digits after the point. None: the market or the token says them.
    digits: int | None = None

    WHOLE: ClassVar[Column]
    DECIMAL: ClassVar[Column]
    FLAG: ClassVar[Column]
    TEXT: ClassVar[Column]
    OTHER: ClassVar[Column]

    @staticmethod
    def raw(digits: int | None) -> Column:
        """An integer with so many digits after the point, as text in JSON."""
        return Column("raw", digits)

    def read(self, value: Any, as_decimal: bool) -> Any:
        """A value of JSON or CSV in its exact type. Empty cells are None."""
        if value is None or (value == "" and self.kind != "text"):
            return None
        if self.kind == "raw":
            amount = int(value)
            return decimal(amount, self.digits) if as_decimal and self.digits else amount
        if self.kind == "whole":
            return int(value)
        if self.kind == "decimal":
            return Decimal(value)
        return value in (True, "true", "1") if self.kind == "flag" else value


Column.WHOLE = Column("whole")
Column.DECIMAL = Column("decimal")
Column.FLAG = Column("flag")
Column.TEXT = Column("text")
Column.OTHER = Column("other")

Columns: TypeAlias = Mapping[str, Column]
Row: TypeAlias = Mapping[str, Any]


def read_columns(rows: Iterable[Row], columns: Columns, as_decimal: bool = False) -> dict[str, list[Any]]:
    """Values by column name. Columns that the contract does not name stay as they are."""
    rows = list(rows)
    names = dict.fromkeys(columns) if not rows else dict.fromkeys(name for row in rows for name in row)
    return {name: [columns.get(name, Column.OTHER).read(row.get(name), as_decimal) for row in rows] for name in names}


def polars_frame(rows: Iterable[Row], columns: Columns, as_decimal: bool = False) -> polars.DataFrame:
    """Rows as a polars frame. Integers beyond 64 bits are of type Int128, decimals of ``Decimal``."""
    import polars

    values = read_columns(rows, columns, as_decimal)
    series = [_polars_series(name, cells, columns.get(name, Column.OTHER)) for name, cells in values.items()]
    return polars.DataFrame(series)


def _polars_series(name: str, cells: list[Any], column: Column) -> polars.Series:
    import polars

    if any(isinstance(cell, Decimal) for cell in cells) or column.kind == "decimal":
        scale = max((_scale_of(cell) for cell in cells if cell is not None), default=0)
        return polars.Series(name, cells, polars.Decimal(DECIMAL_DIGITS, scale), strict=True)
    if column.kind in ("raw", "whole"):
        is_short = all(abs(cell) <= INT64_MAX for cell in cells if cell is not None)
        return polars.Series(name, cells, polars.Int64 if is_short else polars.Int128, strict=True)
    if column.kind == "flag":
        return polars.Series(name, cells, polars.Boolean)
    return polars.Series(name, cells, polars.String) if column.kind == "text" else polars.Series(name, cells)


def pandas_frame(rows: Iterable[Row], columns: Columns, as_decimal: bool = False) -> pandas.DataFrame:
    """Rows as a pandas frame. Integers are ``Int64``, beyond 64 bits Python integers; decimals are ``Decimal``."""
    import pandas

    values = read_columns(rows, columns, as_decimal)
    series = {name: _pandas_series(cells, columns.get(name, Column.OTHER)) for name, cells in values.items()}
    return pandas.DataFrame(series)


def _pandas_series(cells: list[Any], column: Column) -> pandas.Series[Any]:
    import pandas

    if column.kind in ("raw", "whole") and all(cell is None or _is_int64(cell) for cell in cells):
        return pandas.Series(cells, dtype="Int64")
    if column.kind == "flag":
        return pandas.Series(cells, dtype="boolean")
    return pandas.Series(cells, dtype="object")


def _is_int64(cell: Any) -> bool:
    return isinstance(cell, int) and abs(cell) <= INT64_MAX


def _scale_of(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0
