"""Books of earlier slots, and files of `slotbook export`, as exact frames."""

from .books import BOOK_COLUMNS, ORDER_COLUMNS, BookArchive, level_rows, order_rows
from .exports import Export, ExportError, read_export

__all__ = [
    "BOOK_COLUMNS",
    "ORDER_COLUMNS",
    "BookArchive",
    "Export",
    "ExportError",
    "level_rows",
    "order_rows",
    "read_export",
]
