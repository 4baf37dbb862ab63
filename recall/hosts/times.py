"""One reading of a log's times: UTC milliseconds, or None.

ISO 8601 with a zone, or a number that is seconds or milliseconds by its size. A time without a zone says nothing, and
the zone of this machine is never asked. What lies outside 1980 to 2200 is a wrong unit or a broken clock: unknown.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d\d(?::?\d\d)?)", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = 315_532_800_000  # 1980-01-01
_LATEST = 7_258_118_400_000  # 2200-01-01
_MILLISECONDS_FROM = 100_000_000_000  # as seconds, the year 5138; as milliseconds, 1973
_MILLISECOND = timedelta(milliseconds=1)


def to_ms(value: object) -> int | None:
    """UTC milliseconds of what a log gives as a time, None where that is no usable time."""
    if isinstance(value, str):
        ms = _iso(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        ms = int(value if abs(value) >= _MILLISECONDS_FROM else value * 1000)
    else:
        return None
    return ms if ms is not None and _EARLIEST <= ms < _LATEST else None


def _iso(text: str) -> int | None:
    if len(text) > 40:
        return None
    match = _ISO.fullmatch(text.strip())
    if match is None:
        return int(text) * (1000 if len(text) == 10 else 1) if re.fullmatch(r"\d{10}|\d{13}", text, re.ASCII) else None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=_zone(zone))
        return (moment - _EPOCH) // _MILLISECOND + int((fraction or "0").ljust(3, "0")[:3])
    except (ValueError, OverflowError):
        return None


def _zone(text: str) -> timezone:
    if text in "Zz":
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "").ljust(4, "0")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
