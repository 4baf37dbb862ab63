"""The labels that a reader puts before what a tool was asked and what it answered: how they look, and how to look past
them.

A label is the reader's word and stands in no log. `blank` covers it, so that neither the text index nor a comparison
letter for letter finds it; names that come from the log (a tool's, a stop reason) stay. A role has its own labels, in
their own places: the same words in what a person typed are the person's. A change here raises SEGMENT_VERSION.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from recall.types import Role

UNKNOWN = "unknown"  # stands for a name that the log does not give
FILE, TASK, LABEL, TITLE = "[attached file] ", "[task] ", "[label] ", "[title] "
FILL = "\x01"  # covers a character: no word, no white space, and nothing that is typed
_PROMPTS = {"bash": "$ ", "python": ">>> "}


def call(tool: str) -> str:
    """Before the arguments of a call."""
    return f"[{tool} call, attempted] "


def result(tool: str, *, error: bool, code: int | None) -> str:
    """Before what a tool answered; without a line break."""
    return f"[{tool} result, attempted{', error' if error else ''}{_exit(code)}]"


def cell(language: str, said: Iterable[str], code: int | None) -> str:
    """Before what a person ran in a shell or an interpreter, with its prompt."""
    marks = "".join(f", {word}" for word in said)
    return f"[{language} cell, attempted{marks}{_exit(code)}]\n{_PROMPTS[language]}"


def stopped(reason: str) -> str:
    """Before the words of a problem that ended an answer."""
    return f"[stopped: {reason}] "


def _exit(code: int | None) -> str:
    return "" if code is None else f", exit code {code}"


_NAME = r"(?P<name>[^\]\n]{1,160}?)"
_EXIT = r"(?:, exit code -?[0-9]{1,10})?"
_SAID = re.compile(rf"^\[(?:{_NAME} call, attempted|stopped: (?P<reason>[^\]\n]{{1,160}}))\] ", re.MULTILINE)
_TOOL = re.compile(
    rf"\[{_NAME} (?:result, attempted(?:, error)?{_EXIT}\]"
    rf"|cell, attempted(?:, cancelled)?(?:, truncated)?{_EXIT}\]\n(?:\$ |>>> ))"
)
_SYSTEM = re.compile(r"^\[attached file\] |\A\[(?:task|label|title)\] ", re.MULTILINE)
_INK = re.compile(r"\S")


@lru_cache(maxsize=1)  # an index row asks for both columns of one text, one after the other
def blank(text: str, role: Role | str) -> str:
    """The text with the labels of its role covered, at the same length; the very same where it has none."""
    if not text or role == "user" or role == "summary":
        return text
    if role == "tool":
        found = _TOOL.match(text)
        return text if found is None else _covered(found) + text[found.end() :]
    if role == "assistant":
        # Most texts have none, and a search for a fixed string costs next to nothing.
        return _SAID.sub(_covered, text) if " call, attempted] " in text or "[stopped: " in text else text
    return _SYSTEM.sub(_covered, text) if "[" in text else text


def _covered(found: re.Match[str]) -> str:
    label = found.group()
    kept = next((name for name in found.groupdict() if found[name] not in (None, UNKNOWN)), None)
    if kept is None:
        return _INK.sub(FILL, label)
    start, end = (place - found.start() for place in found.span(kept))
    return _INK.sub(FILL, label[:start]) + label[start:end] + _INK.sub(FILL, label[end:])
