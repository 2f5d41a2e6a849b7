"""The history REST: trades, orders, funding, candles and all else that happened."""

from .client import HistoryClient
from .columns import Column, pandas_frame, polars_frame
from .patience import HistoryRequestError, RetryOptions
from .requests import CsvPages, Operation, Pages, Reply, Rows, Sign, Table

__all__ = [
    "Column",
    "CsvPages",
    "HistoryClient",
    "HistoryRequestError",
    "Operation",
    "Pages",
    "Reply",
    "RetryOptions",
    "Rows",
    "Sign",
    "Table",
    "pandas_frame",
    "polars_frame",
]
