"""What of a text was said, and what was only shown.

Conversations with agents carry code, diffs, tool calls and JSON inside their turns. A subject is named, and an outcome
told, in what is said around them; so fenced blocks, calls and lines that are mostly signs are cut out before terms
are counted, and are no source of quotes while anything else is there. Offsets stay: what is cut becomes blanks.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_CALL = re.compile(r"^\s*(?:\[[^\]]{0,160}\]\s*[{\"]|[{}<]|\$ |[A-Za-z_.]+\()", re.IGNORECASE)
_ESCAPED = re.compile(r"\\[nt\"]\S*\\[nt\"]")
_SIGNS = str.maketrans("", "", "{}[]()<>=;:\"'`\\/|&*+-_#@$%^~,.0123456789 \t")
_CODE = re.compile(
    r"[;{}(,]\s*$|=>|\bthis\.|^\s*(?:\d+[:\t|→-]\s*)?(?:import|export|const|let|def|class|return|function|from|fn|pub|use)\b"
)
# How the reader of a log labels calls, results and cells.
_LABEL = re.compile(r"\[[^\]\n]{1,80} attempted[^\]\n]{0,80}\]|\[(?:stopped|attached file|task|label|title)\b")
# Tools that show what stands somewhere: an error in what they show is no outcome.
SHOWING = frozenset("read grep glob ls find search view cat list webfetch web_search read_file list_files".split())
_LONG_LINE = 2_000


def said(text: str) -> str:
    """The text with everything shown (code, calls, data) replaced by blanks of the same length."""
    kept: list[str] = []
    fenced = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            fenced = not fenced
            kept.append(_blank(line))
        elif fenced or _shown(line):
            kept.append(_blank(line))
        else:
            kept.append(line)
    return "".join(kept)


def code(line: str) -> bool:
    """Whether a line that a program printed is source code, which tells no outcome."""
    return bool(_CODE.search(line))


def label(line: str) -> bool:
    """Whether a line is a label that the reader of the log put there."""
    return line.startswith("[") and bool(_LABEL.match(line))


def _shown(line: str) -> bool:
    bare = line.strip()
    if len(bare) < 4:
        return False
    if _CALL.match(bare) or label(bare) or (len(bare) > 200 and _ESCAPED.search(bare[:_LONG_LINE])):
        return True
    if line[:1] in "\t " and bare.endswith((";", "{", "}", "(", ")", ",", "=>")):
        return True
    sample = bare[:_LONG_LINE]
    return len(sample.translate(_SIGNS)) < 0.45 * len(sample) and len(bare) > 20


def _blank(line: str) -> str:
    return (
        "\n" * len(line) if line.isspace() else " " * (len(line) - 1) + "\n" if line.endswith("\n") else " " * len(line)
    )
