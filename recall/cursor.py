"""Where the next page begins, as an opaque word that only fits the question it was given for.

A cursor carries its position, a digest of the question, and the generation of the index it was read from. Another
question or plain junk is `invalid_cursor`; another generation is `stale_cursor`: pages of two states never mix.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from recall.errors import ArgumentError
from recall.hashing import canonical_json, sha256_text

_HINT = "ask again without the cursor"


def encode(position: Sequence[object], question: object, generation: object = None) -> str:
    """The cursor after `position` (JSON values) of `question` (a JSON value)."""
    text = canonical_json([generation, _digest(question), list(position)])
    return base64.urlsafe_b64encode(text.encode("utf-8")).decode("ascii").rstrip("=")


def decode(cursor: str, question: object, generation: object = None) -> list[object]:
    """The position in a cursor. Raises ArgumentError `invalid_cursor` or `stale_cursor`."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value = json.loads(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True).decode("utf-8"))
        stamp, digest, position = value
        junk = not isinstance(position, list) or not isinstance(digest, str)
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise ArgumentError("invalid_cursor", "The cursor is not one that was given out", _HINT) from error
    if junk or digest != _digest(question):
        raise ArgumentError("invalid_cursor", "The cursor belongs to another question", _HINT)
    if stamp != generation:
        raise ArgumentError("stale_cursor", "The index has changed since the cursor was given out", _HINT)
    return list(position)


def whole_number(value: object) -> int:
    """A number of a position, at least 0. Raises ArgumentError `invalid_cursor`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 53:
        raise ArgumentError("invalid_cursor", "The cursor is not one that was given out", _HINT)
    return value


def _digest(question: object) -> str:
    return sha256_text(canonical_json(question))[:16]
