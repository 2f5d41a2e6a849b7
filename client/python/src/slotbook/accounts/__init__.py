"""Accounts and events of the exchange's program, decoded by its IDL."""

from .decoder import AccountError, Decoder, FilterValue, LogEvents, MemcmpFilter, ProgramEvent, built_in_idl
from .encoding import from_base58, from_base64, name_text, to_base58

__all__ = [
    "AccountError",
    "Decoder",
    "FilterValue",
    "LogEvents",
    "MemcmpFilter",
    "ProgramEvent",
    "built_in_idl",
    "from_base58",
    "from_base64",
    "name_text",
    "to_base58",
]
