"""A server of the channels ``trades.v2`` and ``account``: fills of one market, and orders of one account in two parts.

It shares no code with the client.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from zlib import crc32

from .sockets import TestSocket

HEARTBEAT_S = 5.0
ACCOUNT = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"
MARKET = "SOL-PERP"
FILLS = "perp_0_trades"


class Numbered:
    """A stream: its newest messages, each with its number, and the state after the last one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.epoch = 1
        self.seq = 0
        # Messages that can be sent again; they begin anew with each epoch and each restart of the server.
        self.kept: list[dict[str, Any]] = []

    @property
    def version(self) -> dict[str, int]:
        return {"epoch": self.epoch, "seq": self.seq}

    def add(self, members: dict[str, Any]) -> dict[str, Any]:
        self.seq += 1
        self.kept.append({**members, **self.version, "prevSeq": self.seq - 1, "slot": 100 + self.seq})
        return self.kept[-1]

    def begin_epoch(self) -> None:
        self.epoch += 1
        self.seq = 0
        self.kept = []

    def after(self, position: dict[str, int]) -> list[dict[str, Any]] | None:
        """The messages after a position; None when one of them is gone."""
        if position["epoch"] != self.epoch or position["seq"] > self.seq:
            return None
        later = [message for message in self.kept if message["seq"] > position["seq"]]
        return later if len(later) == self.seq - position["seq"] else None


class ModelChannels:
    """Serves one client. ``tamper`` changes frames on their way."""

    def __init__(self, commitment: str = "confirmed") -> None:
        #: Member of every message of fills; the other commitment has none.
        self._commitment = {"commitment": commitment} if commitment == "processed" else {}
        self.fills = Numbered(FILLS + ("_processed" if self._commitment else ""))
        self.parts = [Numbered(f"account_{ACCOUNT}_{part}") for part in range(2)]
        self.open_orders: dict[tuple[int, int], dict[str, Any]] = {}
        self.tamper: Callable[[str], list[str]] = lambda text: [text]
        self.socket = TestSocket()
        self.sockets = 0
        self._numbers: dict[str, int] = {}
        self._beat: asyncio.TimerHandle | None = None

    async def open(self, url: str) -> TestSocket:
        self._numbers = {}
        self.sockets += 1
        self.socket = TestSocket(self._request)
        if self._beat is None:
            self._heartbeat()
        return self.socket

    def restart(self) -> None:
        """A new gateway, which knows nothing of the messages before."""
        for stream in (self.fills, *self.parts):
            stream.kept = []
        self.socket.drop()

    def forget(self, market: int) -> None:
        """Ends the stream of one part, without a word to the client."""
        self._numbers.pop(self.parts[market].name)

    def fill(self) -> None:
        """One more fill."""
        number = self.fills.epoch * 1000 + self.fills.seq
        amounts = {"baseAssetAmountFilled": 1.5, "quoteAssetAmountFilled": 225.3, "takerFee": 0.1}
        data = {"fillRecordId": number, "ts": 1_790_000_123, "takerOrderDirection": "long", **amounts}
        place = {"txIndex": number % 7 or None, "txSigIndex": number % 3}
        message = self.fills.add({**place, "data": data, **self._commitment})
        if self.fills.name in self._numbers:
            self._send({"trade": self._numbers[self.fills.name], **message})

    def withdraw(self) -> None:
        """Withdraws the newest fill."""
        names = {"tradeSeq": self.fills.seq, "txSig": "5" * 88, "txSigIndex": 0, "fillRecordId": 7}
        message = self.fills.add({**names, **self._commitment})
        if self.fills.name in self._numbers:
            self._send({"withdraw": self._numbers[self.fills.name], **message})

    def change(self, market: int, order_id: int, cause: str) -> None:
        """Places, fills or cancels an order in the part of a market."""
        part = self.parts[market]
        known = self.open_orders.get((market, order_id), order(market, order_id))
        if cause == "filled":
            known = {**known, "baseAssetAmountFilled": str(int(known["baseAssetAmountFilled"]) + 1)}
        is_open = cause != "cancelled" and known["baseAssetAmountFilled"] != known["baseAssetAmount"]
        self.open_orders.pop((market, order_id), None)
        if is_open:
            self.open_orders[(market, order_id)] = known
        fill = {"fillRecordId": "7", "baseAssetAmount": "1", "quoteAssetAmount": "5"} if cause == "filled" else None
        where = {"ts": 1_700_000_000, "txSig": "5" * 88, "txSigIndex": 0, "cause": cause, "explanation": "none"}
        state = {"fill": fill, "isOpen": is_open, "data": known, "checksum": self.checksum(market)}
        message = part.add({**where, **state})
        if part.name in self._numbers:
            self._send({"order": self._numbers[part.name], **message})

    def orders_of(self, market: int) -> list[dict[str, Any]]:
        return [one for (index, _), one in sorted(self.open_orders.items()) if index == market]

    def checksum(self, market: int) -> int:
        names = ("marketType", "marketIndex", "orderId", "direction", "price", "baseAssetAmount")
        lines = [
            " ".join(str(one[name]) for name in (*names, "baseAssetAmountFilled")) for one in self.orders_of(market)
        ]
        return crc32("\n".join(lines).encode())

    def end_epochs(self) -> None:
        """The reducer starts anew: every stream has other numbers, and no account an open order."""
        self.open_orders = {}
        for stream in (self.fills, *self.parts):
            stream.begin_epoch()

    def _request(self, message: dict[str, Any]) -> None:
        is_account = message["channel"] == "account"
        if not is_account and message.get("commitment") != self._commitment.get("commitment"):
            return
        streams = self.parts if is_account else [self.fills]
        named = [name for name in ("id", "account", "authority", "market") if name in message]
        head: dict[str, Any] = {"channel": message["channel"], **{name: message[name] for name in named}}
        names = [stream.name for stream in streams]
        if message["type"] == "unsubscribe":
            for name in names:
                self._numbers.pop(name, None)
            self._send({**head, "type": "unsubscribed", "streams": names})
            return
        if message.get("account", ACCOUNT) != ACCOUNT or message.get("market", MARKET).upper() not in (MARKET, "*"):
            self._send({**head, "type": "error", "code": "account", "error": "no such account", "retry": False})
            return
        self._send({**head, "type": "subscribed", "streams": names})
        resume = message.get("resume") or {}
        for index, stream in enumerate(streams):
            position = resume if "seq" in resume else resume.get(stream.name)
            self._begin(message["channel"], stream, index, position)

    def _begin(self, channel: str, stream: Numbered, index: int, position: dict[str, int] | None) -> None:
        number = self._numbers.setdefault(stream.name, 7 + len(self._numbers))
        head = {"channel": channel, "stream": stream.name, "streamId": number}
        later = None if position is None else stream.after(position)
        if position is not None:
            self._send({**head, **position, "type": "resumed", "recovered": later is not None})
        for message in later or []:
            fill = "withdraw" if "tradeSeq" in message else "trade"
            self._send({"order" if channel == "account" else fill: number, **message})
        if later is not None:
            return
        state = {**head, **stream.version, "type": "snapshot", "slot": 100 + stream.seq}
        if channel == "account":
            orders = self.orders_of(index)
            self._send({**state, "account": ACCOUNT, "part": index, "orders": orders, "checksum": self.checksum(index)})
        else:
            market = {"market": MARKET, "marketType": "perp", "marketIndex": 0, "last": None}
            self._send({**state, **market, **self._commitment})

    def _heartbeat(self) -> None:
        for channel, streams in (("trades.v2", [self.fills]), ("account", self.parts)):
            sequences = {stream.name: stream.version for stream in streams if stream.name in self._numbers}
            if sequences:
                self._send({"channel": channel, "type": "heartbeat", "ts": 1, "headSlot": 9, "sequences": sequences})
        self._beat = asyncio.get_running_loop().call_later(HEARTBEAT_S, self._heartbeat)

    def _send(self, message: dict[str, Any]) -> None:
        for text in self.tamper(json.dumps(message)):
            self.socket.say(text)


def order(market: int, order_id: int) -> dict[str, Any]:
    amounts = {"price": "5000000", "baseAssetAmount": "3", "baseAssetAmountFilled": "0", "triggerPrice": "0"}
    names = {"orderType": "limit", "direction": "short", "triggerCondition": "above", "oraclePriceOffset": "-5"}
    flags = {"postOnly": True, "reduceOnly": False, "placedSlot": 5, "maxTs": 0}
    identity = {"marketType": "perp", "marketIndex": market, "orderId": order_id, "userOrderId": 0}
    return {**identity, **amounts, **names, **flags}
