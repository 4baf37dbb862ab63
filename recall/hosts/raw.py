"""What of an original record is shown: all but reasoning, images and signatures, for which a word stands that says what
was there and how long it was.
"""

from __future__ import annotations

from recall.errors import SourceError
from recall.hosts import blobs

# A tuple: what is compared with it may be any JSON value, one without a hash too.
_REASONING = ("thinking", "reasoning", "redacted_thinking", "redactedThinking")
_REASONING_KEYS = {"thinking", "reasoning", "reasoning_content", "encrypted_content", "encryptedContent"}
_IMAGE_KEYS = {"data", "blob", "url"}


def stale() -> SourceError:
    """Other bytes stand where the entry stood."""
    message = "the entry is not at its place any more: the source was changed after it was indexed"
    return SourceError("stale_evidence", message, "index the source again")


def elided(value: object) -> object:
    """The value without what is never shown."""
    if isinstance(value, str):
        return blobs.without_data_uris(value, lambda mime, size: _word(mime or "data", size))
    if isinstance(value, list):
        return [elided(item) for item in value]
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
        result[key] = elided(item)
    return result


def _word(kind: str, size: int) -> str:
    return f"[elided {kind} {size} bytes]"


def _bytes(value: str) -> int:
    return len(value.encode("utf-8"))
