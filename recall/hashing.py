"""Hashes and ids: what they are over, and how they are written.

A hash of a record is SHA-256 over its raw bytes, in lower-case hex. Public ids are a letter, an underscore and
twelve base32 characters (60 bits).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os


def sha256_hex(data: bytes) -> str:
    """SHA-256 of bytes, in lower-case hex (64 characters)."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes. The text must hold no lone surrogate (the parse border replaces them)."""
    return sha256_hex(text.encode("utf-8"))


def canonical_json(value: object) -> str:
    """One spelling for one value: sorted keys, no spaces, no NaN. Raises ValueError for what JSON cannot say."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode("ascii").rstrip("=").lower()


def derived_id(letter: str, *parts: str) -> str:
    """An id that is a function of its parts: the same conversation gets the same id in a new database."""
    digest = hashlib.sha256("\x00".join(parts).encode("utf-8")).digest()
    return f"{letter}_{_base32(digest)[:12]}"


def conversation_id(profile: str, host: str, identity: str) -> str:
    """The id that a conversation is given when it is indexed first: always the same, so that it can be told before."""
    return derived_id("c", profile, host, identity)


def minted_id(letter: str) -> str:
    """A new id that was never used before (60 random bits)."""
    return f"{letter}_{_base32(os.urandom(8))[:12]}"
