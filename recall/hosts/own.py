"""Our own output inside a log: what a recall tool answered, and what was put into a prompt at the start.

It is history twice over, so it is taken out before anything is indexed. A tool is known by its name, an injected block
by its marker, also where a host wrote it HTML-escaped. Text that merely speaks of this program stays.
"""

from __future__ import annotations

import re

_TOOL = re.compile(r"(?:mcp__?)?(?:.*__)?history[-_]recall(?:[-_].*)?", re.IGNORECASE | re.DOTALL)
_NAMES = ("history_recall", "history-recall")
# A block with one of these around it is cut if it names us; the second pair is the first, escaped.
_WRAPPERS = (
    ("<hook_context", "</hook_context>"),
    ("&lt;hook_context", "&lt;/hook_context&gt;"),
    ("<system-reminder", "</system-reminder>"),
    ("&lt;system-reminder", "&lt;/system-reminder&gt;"),
)
# These are ours whatever stands in them.
_OURS = tuple(
    (f"{less}{name}", f"{less}/{name}{greater}")
    for name in (*_NAMES, "history_recall_context", "history-recall-context")
    for less, greater in (("<", ">"), ("&lt;", "&gt;"))
)
_FENCE = re.compile(r"(?:<|&lt;){3}HISTORY ([0-9a-f]{8,64})\n")
_CODE_FENCE = re.compile(r"^(?P<marks>`{3,}|~{3,})[ \t]*history[-_]recall[^\n]*\n", re.MULTILINE)


def is_recall(name: object) -> bool:
    """Whether a tool, or a kind of injected message, is ours: `history_recall_search`, `mcp__history_recall_read` …"""
    return isinstance(name, str) and len(name) < 200 and _TOOL.fullmatch(name) is not None


def without_blocks(text: str) -> str:
    """The text without injected recall blocks; the same object where there are none."""
    if "history" not in text and "HISTORY" not in text:
        return text
    if not ("<<<HISTORY " in text or "&lt;HISTORY " in text or any(name in text for name in _NAMES)):
        return text
    for opening, closing in _WRAPPERS:
        text = _cut(text, opening, closing, any_content=False)
    for opening, closing in _OURS:
        text = _cut(text, opening, closing, any_content=True)
    return _cut_code_fences(_cut_fences(text))


def _cut(text: str, opening: str, closing: str, *, any_content: bool) -> str:
    kept, start, look = [], 0, 0
    while (begin := text.find(opening, look)) >= 0:
        look = begin + len(opening)
        if re.match(r"[\w-]", text[look : look + 1]):  # `<history-recall-notes>` is another name
            continue
        if (end := text.find(closing, look)) < 0:
            break
        look = end + len(closing)
        block = text[begin:look]
        if any_content or any(name in block for name in _NAMES):
            kept.append(text[start:begin])
            start = look
    return "".join((*kept, text[start:])) if kept else text


def _cut_fences(text: str) -> str:
    kept, start = [], 0
    while (match := _FENCE.search(text, start)) is not None:
        end = re.compile(rf"HISTORY {match[1]}(?:>|&gt;){{3}}\n?").search(text, match.end())
        if end is None:
            break
        kept.append(text[start : match.start()])
        start = end.end()
    return "".join((*kept, text[start:])) if kept else text


def _cut_code_fences(text: str) -> str:
    kept, start = [], 0
    while (match := _CODE_FENCE.search(text, start)) is not None:
        end = re.compile(rf"^{re.escape(match['marks'])}[ \t]*$\n?", re.MULTILINE).search(text, match.end())
        if end is None:
            break
        kept.append(text[start : match.start()])
        start = end.end()
    return "".join((*kept, text[start:])) if kept else text
