"""The blocks of a message: what was said, a word about an image, nothing of reasoning and of what is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recall.hosts import blobs

# Blocks that are no call of a tool, whatever else they hold.
_NOT_CALLS = ("text", "thinking", "redactedThinking", "redacted_thinking", "image", "audio", "document")


_TEXTS = ("text", "input_text", "output_text", "Text")
_IMAGES = ("image", "audio", "document", "input_image", "image_url")


def may_call(block: Mapping[str, object]) -> bool:
    """Whether a block may be the call of a tool. Its type may be any JSON value."""
    return block.get("type") not in _NOT_CALLS


def texts(content: object) -> Iterator[str]:
    """The texts of a message's content, which is one string or a list of blocks."""
    for block in [content] if isinstance(content, str) else as_list(content):
        text = block_text(block)
        if text:
            yield text


def block_text(block: object) -> str | None:
    """The text of a content block: what was said, or a word about an image. None for reasoning and the unknown."""
    if isinstance(block, str):
        return blobs.without_data_uris(block)
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if kind in _TEXTS and isinstance(text := block.get("text"), str):
        return blobs.without_data_uris(text)
    if kind in _IMAGES:
        return _omitted(block)
    if kind == "resource" and isinstance(resource := block.get("resource"), dict):
        return resource["text"] if isinstance(resource.get("text"), str) else _omitted(resource)
    return None


def _omitted(block: Mapping[str, object]) -> str:
    inner = block.get("source", block.get("image_url"))
    source: Mapping[str, object] = inner if isinstance(inner, dict) else block
    data = _first_text(source, "data", "blob", "url", "image_url")
    mime = _first_text(source, "mimeType", "media_type") or _mime(data) or _first_text(block, "type")
    if data.startswith("blob:"):  # kept beside the log, its size is not in it
        return blobs.omitted(mime, None)
    return blobs.omitted(mime, blobs.decoded_size(data.partition("base64,")[2] or data))


def _mime(data: str) -> str:
    """The type that a `data:` URI gives."""
    return data[5:].partition(";")[0][:80] if data.startswith("data:") else ""


def _first_text(record: Mapping[str, object], *keys: str) -> str:
    for key in keys:
        if isinstance(value := record.get(key), str):
            return value
    return ""


def bare(value: object) -> object:
    """Arguments of a call without inline images and signatures."""
    if isinstance(value, str):
        return blobs.without_data_uris(value)
    if isinstance(value, list):
        return [bare(item) for item in value]
    if isinstance(value, dict):
        if value.get("type") == "image":
            return _omitted(value)
        return {key: bare(item) for key, item in value.items()}
    return value


def as_list(value: object) -> list[object]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []
