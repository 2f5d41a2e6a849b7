"""Records in a transaction's log lines (docs/internals/events.md, "Log lines")."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .encoding import from_base64
from .idl import DISCRIMINATOR_BYTES

_INVOKE = " invoke ["
_DATA_PREFIX = "Program data: "
_LOG_PREFIX = "Program log: "
_PROGRAM_PREFIX = "Program "
_TRUNCATED_PREFIX = "Log truncated"
#: Number of base64 characters that cover a discriminator.
_DISCRIMINATOR_CHARACTERS = 11
#: The runtime allows only a few call levels; a line with a higher depth is not from the runtime.
_DEPTH_MAX = 64
_BASE64_HEAD = re.compile(r"[A-Za-z0-9+/]{11}").match
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}").fullmatch
_DEPTH = re.compile(r"\s*([0-9]+)").match


@dataclass(frozen=True)
class Payload:
    """Eight bytes of discriminator and a borsh body. ``is_damaged``: the line is truncated."""

    data: bytes
    is_damaged: bool


def payloads_of(lines: Sequence[str], program: str, records: Collection[bytes]) -> tuple[list[Payload], bool]:
    """Payloads of a program while it is on top of the invoke stack, and whether records may be missing."""
    stack: list[str] = []
    payloads: list[Payload] = []
    is_incomplete = False
    for line in lines:
        if line.startswith(_TRUNCATED_PREFIX):
            return payloads, True
        if not line.startswith(_PROGRAM_PREFIX):
            continue
        payload = _payload_of(line, stack, program, records)
        if payload is None:
            _follow(line, stack)
        else:
            payloads.append(payload)
            is_incomplete = is_incomplete or payload.is_damaged
    return payloads, is_incomplete


def _payload_of(line: str, stack: list[str], program: str, records: Collection[bytes]) -> Payload | None:
    is_data = line.startswith(_DATA_PREFIX)
    if not (is_data or line.startswith(_LOG_PREFIX)) or not stack or stack[-1] != program:
        return None
    text = line.removeprefix(_DATA_PREFIX if is_data else _LOG_PREFIX)
    if not is_data and not _is_record(text, records):
        return None
    data = from_base64(text)
    is_damaged = len(text) % 4 != 0 or not _BASE64(text) or len(data) < DISCRIMINATOR_BYTES
    return Payload(data, is_damaged)


def _is_record(text: str, records: Collection[bytes]) -> bool:
    """A ``Program log: `` line is a record when it starts with one of the program's discriminators."""
    if not _BASE64_HEAD(text) or " " in text:
        return False
    return from_base64(text[:_DISCRIMINATOR_CHARACTERS])[:DISCRIMINATOR_BYTES] in records


def _follow(line: str, stack: list[str]) -> None:
    """Updates the invoke stack. The printed depth corrects it when lines are missing."""
    program, space, rest = line.removeprefix(_PROGRAM_PREFIX).partition(" ")
    rest = space + rest
    if rest.startswith(_INVOKE):
        found = _DEPTH(rest.removeprefix(_INVOKE))
        depth = int(found[1]) if found else 0
        if 1 <= depth <= _DEPTH_MAX:
            stack += [""] * (depth - 1 - len(stack))
            del stack[depth - 1 :]
        stack.append(program)
    elif rest.startswith((" success", " failed")) and program in stack:
        del stack[len(stack) - 1 - stack[::-1].index(program) :]
