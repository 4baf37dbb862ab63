"""The redacted original of one entry: found by its place, proved by its hash, without parsing the rest of the log.

Reasoning, images and signatures are elided by a word that says what was there and how long it was.
"""

from __future__ import annotations

from hashlib import sha256

from recall.errors import SourceError
from recall.hosts import blobs, text
from recall.hosts.jsonl import record_bytes
from recall.hosts.parse import BadLine, Decoded
from recall.hosts.paths import open_source, unreadable
from recall.hosts.saying import Redacting, said
from recall.hosts.text import Record, WrongShape
from recall.types import Position, SourceRef

# A tuple: what is compared with it may be any JSON value, one without a hash too.
_REASONING = ("thinking", "reasoning", "redacted_thinking", "redactedThinking")
_REASONING_KEYS = {"thinking", "reasoning", "reasoning_content", "encrypted_content", "encryptedContent"}
_IMAGE_KEYS = {"data", "blob", "url"}


def read_record(
    source: SourceRef, position: Position, digest: str, redactor: Redacting, *, entry_id: str | None = None
) -> dict[str, object]:
    """The record at a position. Raises SourceError `stale_evidence` where other bytes stand there now.

    With `entry_id` the entry is first read as it was when it was indexed, so that a redactor that knows the numbers of
    then gives them again.
    """
    with open_source(source) as file:
        try:
            file.seek(position.offset)
            raw = file.read(position.length)
        except (OSError, ValueError, OverflowError) as error:
            raise unreadable(error) if isinstance(error, OSError) else _stale() from error
    if len(raw) != position.length or sha256(record_bytes(raw)).hexdigest() != digest:
        raise _stale()
    try:
        value = Decoded(raw).value()
    except BadLine as error:
        raise _stale() from error
    if not isinstance(value, dict):
        raise _stale()
    try:
        if entry_id is not None:
            _as_indexed(value, entry_id, redactor)
        shown = redactor.tree(_elided(value), at=f"{entry_id or f'L{position.line}'}:raw")
    except RecursionError as error:
        raise SourceError("unsupported_source", "the entry is nested too deep to be shown") from error
    if not isinstance(shown, dict):
        raise TypeError("a redactor gives an object for an object")
    return shown


def _as_indexed(record: Record, entry_id: str, redactor: Redacting) -> None:
    try:
        said(list(text.reading(record).parts), entry_id, redactor)
    except WrongShape:
        return


def _stale() -> SourceError:
    message = "the entry is not at its place any more: the source was changed after it was indexed"
    return SourceError("stale_evidence", message, "index the source again")


def _elided(value: object) -> object:
    if isinstance(value, str):
        return blobs.without_data_uris(value, lambda mime, size: _word(mime or "data", size))
    if isinstance(value, list):
        return [_elided(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("type")
    image = kind in ("image", "audio", "base64") or "mimeType" in value or "media_type" in value
    result: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, str) and item:
            if key in _REASONING_KEYS or (kind in _REASONING and key in ("data", "text", "content", "summary")):
                item = _word("reasoning", _bytes(item))
            elif key.lower().endswith("signature"):
                item = _word("signature", _bytes(item))
            elif image and key in _IMAGE_KEYS:
                item = _word("image", _bytes(item))
            elif kind == "credential_pin" and key == "hash":
                item = _word("credential", _bytes(item))
        elif key in _REASONING_KEYS and isinstance(item, list | dict):
            item = _word("reasoning", len(str(item)))
        result[key] = _elided(item)
    return result


def _word(kind: str, size: int) -> str:
    return f"[elided {kind} {size} bytes]"


def _bytes(value: str) -> int:
    return len(value.encode("utf-8"))
