"""Prompts and JSON Schemas: data in `prompts/` (a checkout) or `recall/_prompts` (a wheel), one pair a step.

Repair has no schema there: its answers are calls of tools.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from recall.hashing import canonical_json, sha256_text


@dataclass(frozen=True)
class Prompt:
    """The instructions and the schema of one step. `fingerprint` changes with any byte of either."""

    name: str
    instructions: str
    schema: Mapping[str, object]
    fingerprint: str


@functools.cache
def load(name: str) -> Prompt:
    """The prompt `<name>.md` with its schema `<name>.schema.json`."""
    folder = _folder()
    instructions = folder.joinpath(f"{name}.md").read_text(encoding="utf-8")
    schema = json.loads(folder.joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))
    return Prompt(name, instructions, schema, sha256_text(instructions + "\x00" + canonical_json(schema)))


@functools.cache
def capability() -> str:
    """The static text that tells a model when and how to use recall: always the same bytes, wherever it is carried."""
    return _folder().joinpath("capability.md").read_bytes().decode("utf-8")


@functools.cache
def instructions(name: str) -> str:
    """`<name>.md` alone, of a step whose answers are calls of tools: their schemas stand with the tools."""
    return _folder().joinpath(f"{name}.md").read_text(encoding="utf-8")


def _folder() -> Traversable:
    packaged = resources.files("recall").joinpath("_prompts")
    return packaged if packaged.is_dir() else Path(__file__).resolve().parent.parent / "prompts"
