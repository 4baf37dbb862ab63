"""What of a text was said, and what was only shown.

Conversations with agents carry code, diffs, listings, tool calls and JSON inside their turns. A subject is named, and
an outcome told, in what is said around them; so fenced blocks, calls, commands and lines that are mostly signs are cut
out before terms are counted, and are no source of quotes while anything else is there. The same holds for the labels
that the reader of a log puts into texts. Offsets stay: what is cut becomes blanks.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_CALL = re.compile(r"^\s*(?:\[[^\]]{0,160}\]\s*[{\"]|[{}<]|[A-Za-z_.]+\()", re.IGNORECASE)
_ESCAPED = re.compile(r"\\[nt\"]\S*\\[nt\"]")
_SIGNS = str.maketrans("", "", "{}[]()<>=;:\"'`\\/|&*+-_#@$%^~,.0123456789 \t")
_CODE = re.compile(
    r"[;{}(,]\s*$|=>|\bthis\.|^\s*(?:\d+[:\t|→-]\s*)?(?:import|export|const|let|def|class|return|function|from|fn|pub|use)\b"
)
_LABEL = re.compile(
    r"\[[^\]\n]{1,80} (?:call|result|cell), attempted[^\]\n]{0,80}\]|\[stopped(?:: [^\]\n]{0,80})?\]"
    r"|\[(?:attached file|task|label|title)\]|\[[^\]\n]{1,120} omitted(?:, \d+ bytes)?\]|\[elided [^\]\n]{1,80} bytes\]"
)
_CALLED = re.compile(r"\[[^\]\n]{1,80} call, attempted\] (?!\{)")
# What stands in a turn because it was pasted or typed for a machine. Each alternative is anchored or begins with a
# rare sign, so that a line costs one look.
_PASTED = re.compile(
    r"^(?:"
    r"/[a-z][\w:-]*(?: \S+){0,3}$|/$"  # a slash command
    r"|(?:[$❯➜%] |>>> |PS [A-Z]:|\[?\w[\w.-]*@[\w.-]+[: ]\S*[$#] )"  # a prompt
    r"|[\"'`(]?(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][^\s/\\]+){2,}[/\\]?[\"'`),.]*$"  # a path and nothing else
    r"|(['\"])/.{1,400}\1$"
    r"|(?:@@ |diff --git |index [0-9a-f]{6}|\+\+\+ |--- \S|\+\s?\d+\s|-\d+\s|\+\S)"  # a diff
    r"|\d{1,6}\s*(?:[|│→]|:(?!\d)|[-+] (?!\d))|\d{1,6} [\w-]+ ?="  # a numbered listing
    r"|[dl-][rwx-]{9}\b|total \d+$"
    r"|[\w.-]+/[\w./-]+\.\w{1,5}:(?:\d+|\s)"  # a hit of a search in files
    r"|\*\s?@|@(?:param|returns?|throws)\b|/\*|\*/|//|#(?:include|!)"  # comments of code
    r"|\||.{0,200}\|[^|]{1,100}\|$"  # a row of a table
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d\b|\[\d\d:\d\d"  # a line of a log
    r"|at \S.{0,200}:\d+:\d+\)?$|File \".{1,200}\", line \d|Node\.js v\d|(?:path|code|errno|syscall): \S+$"  # a trace
    r"|npm (?:error|ERR!|warn)|Command exited with code \d|Successfully (?:replaced|wrote) "
    r"|(?:const|let|var|await|return|if|for|while|import|export|async|else|case|try|class|def|type|interface)\b"
    r".{0,400}[;{}()]$"
    r"|[\w.\[\]]+(?:\(.{0,400}\);?|\s[-+*|&]?=\s.{1,400};)(?:\s*//.*)?$"
    r")"
)
# Tools that show what stands somewhere: an error in what they show is no outcome.
SHOWING = frozenset("read grep glob ls find search view cat list webfetch web_search read_file list_files".split())
# A command that shows the same, at its beginning or behind a change of folder.
_SHOWS = re.compile(
    r"^(?:cd [^;&|]{1,200}(?:&&|;) *)?(?:cat|grep|rg|sed -n|awk|ls|find|head|tail|less|jq|curl|wc|tree"
    r"|git (?:log|diff|show|status|blame))\b"
)
_COMMAND = re.compile(r"\"(?:command|cmd)\": \"((?:[^\"\\]|\\.){0,400})")
_LONG_LINE = 2_000


def said(text: str) -> str:
    """The text with everything shown (code, calls, data) replaced by blanks of the same length."""
    kept: list[str] = []
    fenced = False
    called = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line):
            fenced = not fenced
            kept.append(_blank(line))
            continue
        if line.startswith("["):
            # The arguments of a call may go over many lines, up to the next label.
            called = bool(_CALLED.match(line))
        kept.append(_blank(line) if fenced or called or _shown(line) else line)
    return "".join(kept)


def unlabelled(text: str) -> str:
    """The text with the labels of the reader of the log replaced by blanks of the same length."""
    if "attempted" not in text and "omitted" not in text and "[elided" not in text and "[attached" not in text:
        return text
    return _LABEL.sub(lambda match: " " * len(match.group()), text)


def code(line: str) -> bool:
    """Whether a line that a program printed is source code or a listing, which tells no outcome."""
    return bool(_CODE.search(line) or _PASTED.match(line.strip()[:_LONG_LINE]))


def label(line: str) -> bool:
    """Whether a line is a label that the reader of the log put there."""
    return line.startswith("[") and bool(_LABEL.match(line))


def shows(call: str) -> bool:
    """Whether all commands that a turn calls only show what stands somewhere."""
    commands = _COMMAND.findall(call)
    return bool(commands) and all(_SHOWS.match(command) for command in commands)


def _shown(line: str) -> bool:
    bare = line.strip()
    if not bare:
        return False
    if _PASTED.match(bare[:_LONG_LINE]):
        return True
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
