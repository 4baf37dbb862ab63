"""From the bytes of a line to a JSON value that is safe to store, show and send.

This is the parse border: invalid UTF-8 and lone surrogates become U+FFFD here, once, and NUL goes. What JavaScript
writes and reads is read: duplicate keys (the last counts), large integers. NaN and Infinity, which are no JSON, become
null instead of costing the line; control characters inside strings are let through. Everything else that does not
parse is a bad line and the caller's to count.
"""

from __future__ import annotations

import json
import math
import re

from recall.hosts.jsonl import is_blank

_BOM = b"\xef\xbb\xbf"
# Escapes that can bring in what has to be replaced; most lines have none, and are not walked.
_ODD_ESCAPE = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadLine(ValueError):
    """The line is not one JSON value. `code` says in which way."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def _number(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None  # 1e999


def _constant(_name: str) -> None:
    return None


_DECODER = json.JSONDecoder(parse_float=_number, parse_constant=_constant, strict=False)


class Decoded:
    """A line as text. Made before the value, so that the caller can drop the bytes of a long line in between."""

    __slots__ = ("blank", "invalid_utf8", "odd", "text")

    def __init__(self, raw: bytes | bytearray) -> None:
        data: bytes | bytearray | memoryview = raw
        if raw.startswith(_BOM):
            data = memoryview(raw)[len(_BOM) :]
        self.blank = is_blank(raw)
        self.odd = _ODD_ESCAPE.search(raw) is not None
        self.invalid_utf8 = False
        try:
            self.text = str(data, "utf-8")
        except UnicodeDecodeError:
            self.text = str(data, "utf-8", "replace")
            self.invalid_utf8 = True
        if b"\x00" in raw:  # what a power cut leaves in front of a line
            self.text = self.text.replace("\x00", "")

    def value(self) -> object:
        """The JSON value, cleaned. The text is given up. Raises BadLine."""
        text, self.text = self.text, ""
        try:
            value = _DECODER.decode(text)
        except RecursionError as error:
            raise BadLine("nested_too_deep") from error
        except ValueError as error:
            raise BadLine("malformed_line") from error
        if not self.odd:
            return value
        try:
            return cleaned(value)
        except RecursionError as error:
            raise BadLine("nested_too_deep") from error


def cleaned(value: object) -> object:
    """The value without NUL and halves of characters, which can be neither stored nor printed."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value.replace("\x00", ""))
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    if isinstance(value, dict):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    return value


def parsed(value: object) -> object:
    """A column that holds JSON as text; itself where it does not."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
