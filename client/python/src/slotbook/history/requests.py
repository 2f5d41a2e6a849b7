"""Results of the history's methods: an answer to await, pages to iterate, rows as a frame."""

from __future__ import annotations

import json
import re
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

import msgspec

from .columns import Columns, pandas_frame, polars_frame
from .csv_rows import csv_rows
from .patience import RetryOptions, send_patiently
from .transport import TIMEOUT_S, Body, Request, pieces, read_all, send

if TYPE_CHECKING:
    import pandas
    import polars

A = TypeVar("A")
R = TypeVar("R")

JSON_TYPE = "application/json"
CSV_TYPE = "text/csv"
PARQUET_TYPE = "application/vnd.apache.parquet"
_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Operation:
    """A method and a path of the contract. ``signed``: it takes a wallet signature."""

    method: str
    path: str
    signed: bool = False


#: Makes the headers of one attempt. Called anew for each, because a signature serves once.
Sign: TypeAlias = Callable[[Operation], Awaitable[Mapping[str, str]]]


class Sender:
    """Sends requests to one service, patiently."""

    def __init__(self, url: str, retry: RetryOptions, sign: Sign | None, timeout_s: float = TIMEOUT_S) -> None:
        self._url = url.rstrip("/")
        self._retry = retry
        self._sign = sign
        self._timeout_s = timeout_s

    async def send(
        self, operation: Operation, params: Mapping[str, Any], body: object = None, accept: str = JSON_TYPE
    ) -> Body:
        """The answer to a request that succeeds. Raises HistoryRequestError."""
        sign = self._sign if operation.signed else None
        if operation.signed and sign is None:
            raise ValueError(f"{operation.method} {operation.path} needs a wallet signature: pass `sign`")
        url = self._url + address_of(operation.path, params)
        content = None if body is None else json.dumps(body).encode()

        async def attempt() -> Body:
            headers = {"accept": accept, **({} if content is None else {"content-type": JSON_TYPE})}
            signed = {} if sign is None else await sign(operation)
            return await send(Request(operation.method, url, {**headers, **signed}, content), self._timeout_s)

        return await send_patiently(attempt, url, self._retry)


def address_of(path: str, params: Mapping[str, Any]) -> str:
    """A path with its parameters, and the others as a query. Parameters that are None are left out."""
    left = {name: value for name, value in params.items() if value is not None}

    def fill(found: re.Match[str]) -> str:
        if found[1] not in left:
            raise TypeError(f"{path} needs {found[1]}")
        return urllib.parse.quote(str(left.pop(found[1])), safe="")

    filled = _PLACEHOLDER.sub(fill, path)
    query = urllib.parse.urlencode({name: _text_of(value) for name, value in left.items()})
    return f"{filled}?{query}" if query else filled


def _text_of(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


class Reply(Generic[A]):
    """An answer. ``await`` sends the request; fractions in it are ``Decimal``."""

    def __init__(
        self,
        sender: Sender,
        operation: Operation,
        params: Mapping[str, Any],
        *,
        body: object = None,
        columns: Columns | None = None,
    ) -> None:
        self._sender = sender
        self._operation = operation
        self._params = params
        self._body = body
        self._columns: Columns = columns or {}

    def __await__(self) -> Generator[Any, None, A]:
        return self._answer(self._params).__await__()

    async def _answer(self, params: Mapping[str, Any]) -> A:
        body = await self._sender.send(self._operation, params, self._body)
        content = await read_all(body)
        is_json = body.headers.get("content-type", "").startswith(JSON_TYPE)
        return cast(A, _DECODER.decode(content) if is_json else content)

    async def _send(self, extra: Mapping[str, Any], accept: str) -> Body:
        return await self._sender.send(self._operation, {**self._params, **extra}, None, accept)


class _Framed(Reply[A], Generic[A, R]):
    """Rows that become frames."""

    async def polars(self, *, decimals: bool = False) -> polars.DataFrame:
        """All rows as a polars frame: integers with their scale, or decimals. Never floats."""
        return polars_frame(await self._rows(), self._columns, decimals)

    async def pandas(self, *, decimals: bool = False) -> pandas.DataFrame:
        """All rows as a pandas frame: integers with their scale, or decimals. Never floats."""
        return pandas_frame(await self._rows(), self._columns, decimals)

    async def _rows(self) -> Iterable[Mapping[str, Any]]:
        answer = cast(Mapping[str, Any], await self)
        return cast(Iterable[Mapping[str, Any]], answer["records"])


class Rows(_Framed[A, R]):
    """An answer with rows."""


class Pages(_Framed[A, R]):
    """Rows in pages. ``async for`` gives all of them in order; ``await`` gives the first page alone."""

    def __aiter__(self) -> AsyncIterator[R]:
        return self._records()

    async def pages(self) -> AsyncIterator[A]:
        """Answers page by page, each requested when it is asked for."""
        params = dict(self._params)
        while True:
            answer = await self._answer(params)
            yield answer
            token = cast(Mapping[str, Any], answer)["meta"]["nextPage"]
            if token is None:
                return
            params["page"] = token

    async def _records(self) -> AsyncIterator[R]:
        async for answer in self.pages():
            for record in cast(Mapping[str, Any], answer)["records"]:
                yield record

    async def _rows(self) -> Iterable[Mapping[str, Any]]:
        return cast(Iterable[Mapping[str, Any]], [record async for record in self])


class _Csv(_Framed[A, R]):
    """Rows that come as CSV too."""

    async def csv(self) -> AsyncIterator[dict[str, str]]:
        """Rows of the whole period while they arrive, by column name. Values are text."""
        body = await self._send({"format": "csv"}, CSV_TYPE)
        try:
            async for row in csv_rows(pieces(body)):
                yield row
        finally:
            # An iteration that stops early ends the download.
            await body.close()

    async def _rows(self) -> Iterable[Mapping[str, Any]]:
        # An empty cell is a null.
        return [{name: cell or None for name, cell in row.items()} async for row in self.csv()]


class CsvPages(_Csv[A, R], Pages[A, R]):
    """Rows of a whole day or month: in pages, as CSV, or as a frame in one download."""


class Table(_Csv[A, R]):
    """Rows of a whole range in one answer, as CSV and as Parquet too."""

    async def parquet(self) -> bytes:
        """The range as a Parquet file."""
        return await read_all(await self._send({"format": "parquet"}, PARQUET_TYPE))
