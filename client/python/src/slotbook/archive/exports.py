"""Files of `slotbook export` as frames, checked against their coverage file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

PIECE_BYTES = 1024 * 1024


class ExportError(ValueError):
    """A file is not the one that its coverage file describes."""


@dataclass(frozen=True)
class Export:
    """A file with its coverage."""

    path: Path
    #: The coverage file: rows, first and last row, gaps, `complete`.
    coverage: Mapping[str, Any]

    @property
    def is_complete(self) -> bool:
        """Whether no data is known to be missing."""
        return bool(self.coverage["complete"])

    def polars(self) -> polars.DataFrame:
        """All rows as a polars frame. Columns of 128-bit integers are digits in the file, and Int128 here."""
        import polars

        frame = polars.read_parquet(self.path) if self._is_parquet else polars.read_csv(self.path, infer_schema=False)
        self._check_rows(frame.height)
        whole = [name for name in frame.columns if _is_whole(frame[name].to_list() if _is_text(frame, name) else [])]
        return frame.with_columns(polars.col(name).cast(polars.Int128) for name in whole)

    def pandas(self) -> pandas.DataFrame:
        """All rows as a pandas frame. Columns of 128-bit integers are Python integers."""
        import pandas

        if self._is_parquet:
            frame = pandas.read_parquet(self.path, dtype_backend="pyarrow")
        else:
            frame = pandas.read_csv(self.path, dtype="string")
        self._check_rows(len(frame))
        for name in frame.columns:
            cells = [None if pandas.isna(cell) else cell for cell in frame[name]]
            if _is_whole(cells):
                frame[name] = pandas.Series([None if cell is None else int(cell) for cell in cells], dtype="object")
        return frame

    @property
    def _is_parquet(self) -> bool:
        return bool(self.coverage["format"] == "parquet")

    def _check_rows(self, rows: int) -> None:
        if rows != self.coverage["rows"]:
            raise ExportError(f"{self.path} has {rows} rows, not {self.coverage['rows']}")


def read_export(path: str | Path) -> Export:
    """Opens an export in Parquet or CSV with its coverage file. Raises ExportError when its SHA-256 is another."""
    file = Path(path)
    coverage = json.loads(file.with_name(f"{file.name}.coverage.json").read_text("utf-8"))
    if coverage["format"] not in ("parquet", "csv"):
        raise ExportError(f"{file} is neither Parquet nor CSV")
    if _sha256(file) != coverage["sha256"]:
        raise ExportError(f"{file} is not the file that its coverage file describes")
    return Export(file, coverage)


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while piece := content.read(PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _is_text(frame: polars.DataFrame, name: str) -> bool:
    import polars

    return frame.schema[name] == polars.String


def _is_whole(cells: list[Any]) -> bool:
    """Whether a column of text has integers alone, and at least one."""
    texts = [cell for cell in cells if cell is not None and cell != ""]
    return bool(texts) and all(isinstance(text, str) and _is_integer(text) for text in texts)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    # A key of digits alone would be longer, and a leading zero is no amount.
    return digits.isdecimal() and digits.isascii() and len(digits) <= 39 and (digits == "0" or digits[0] != "0")
