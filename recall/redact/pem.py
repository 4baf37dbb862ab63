"""Private keys in armour: whole, cut, escaped, indented, numbered, quoted, diff-prefixed.

The body is not matched by a pattern over the whole block: from the BEGIN line on, pieces of base64 are taken as long as
only line ends and the marks that tools put in front of lines stand between them. So a block without an END line goes too,
and the text behind it stays. Certificates and public keys are left alone.
"""

import re
from collections.abc import Iterator

from .rule import Span

ANCHORS = ("-----begin", "---- begin", "putty-user-key-file", "private-lines:", "private key-----", "private key block")
WORDS = frozenset(("begin", "key-----", "private-lines", "putty-user-key-file", "block-----"))  # each anchor has one
WEIGHT = 60

_BEGIN = re.compile(
    r"-----? ?BEGIN ([A-Z0-9 ]{0,40}?(?:PRIVATE|SECRET)[A-Z0-9 ]{0,20}|OPENVPN STATIC KEY V1|PGP MESSAGE) ?-?-?----(?: ?-)?",
    re.I,
)
_END = re.compile(r"-----? ?END [A-Z0-9 ]{1,60}?-{4,5}", re.I)
# What may stand between two pieces: line ends, however escaped, and what cat -n, diff, grep, quoting and indentation add.
_GAP = re.compile(
    r"(?:\\{1,8}[rntu](?:000[aAdD])?|\\\r?\n|&#(?:10|13|xA|xD);|%0[AaDd]|<br ?/?>|[\r\n\t \"'+|>#,.;$:]|"
    r"(?<=[\n ])(?:[0-9]{1,6}(?=[\t:|→\- ])|[\w./\-]{1,80}[:\-][0-9]{1,6}[:\-]|[-*/]{1,2} )|(?<=[0-9])[→\-]|→)+"
)
_PIECE = re.compile(
    r"[A-Za-z0-9+/=_]{16,}+|[A-Za-z0-9+/]{1,15}=*(?=(?:\\{1,8}[rn]|\r?\n|[\"' ])[^\n]{0,40}-----? ?END)|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9])"
)
_HEADER = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Charset|Hash|MessageID|Subject)\s?:[^\n\\\"]{0,200}(?:\"[^\"\n\\]{0,200}\"(?=[ \t]*\r?\n))?"
)
_LAST = re.compile(r"[A-Za-z0-9+/]{1,15}={0,2}(?![A-Za-z0-9+/=\-.,_])")
_BODY_BEFORE_END = re.compile(
    r"(?:[A-Za-z0-9+/=]{24,200}(?:\\{0,4}\\r|\r)?(?:\n|\\{1,8}n)[ \t>|+\-]{0,20}(?:[0-9]{1,6}[\t:| ]{1,4})?){1,400}(?:[A-Za-z0-9+/=]{1,200}(?:\\{0,4}\\r|\r)?(?:\n|\\{1,8}n)[ \t>|+\-]{0,20})?-----END [A-Z ]{0,30}PRIVATE KEY-----"
)
_PUTTY = re.compile(
    r"Private-Lines: ?[0-9]{1,4}((?:\r?\n|\\r|\\n|[ \t>+|]|[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,16}=+)+)(?:Private-MAC: ?[0-9a-f]{16,})?"
)


def find(text: str, lower: str) -> Iterator[Span]:
    position = 0
    while True:
        at = lower.find("begin ", position)
        if at < 0:
            break
        begin = _BEGIN.search(text, max(position, at - 7), at + 100)
        position = at + 6
        if begin is None or begin.start() > at:
            continue
        kind = "pgp-private-key" if "PGP" in begin.group(1).upper() else "private-key"
        end = _body(text, begin.end())
        if begin.group(1).upper() == "PGP MESSAGE" or end == begin.end():
            continue
        position = end
        yield Span(begin.start(), end, kind, WEIGHT)
    if "private key-----" in lower:
        for match in _BODY_BEFORE_END.finditer(text):
            yield Span(match.start(), match.end(), "private-key", WEIGHT - 1)
    if "private-lines:" in lower:
        for match in _PUTTY.finditer(text):
            if match.group(1).strip():
                yield Span(
                    match.start(1) + len(match.group(1)) - len(match.group(1).lstrip()),
                    match.end(),
                    "putty-private-key",
                    WEIGHT,
                )


def _body(text: str, start: int) -> int:
    """The end of the block that begins here: behind the END line, or behind the last piece of base64."""
    position, end, seen = start, start, False
    while True:
        gap = _GAP.match(text, position)
        at = gap.end() if gap else position
        closing = _END.match(text, at)
        if closing is not None:
            return closing.end() if seen or at > start else start
        # a mark before a line may have been taken for the gap's own signs
        piece = _PIECE.match(text, at) or _HEADER.match(text, at)
        if piece is None and seen:
            piece = (
                _LAST.match(text, at)
                if end - start > 20 and gap is not None and _after_full_line(text, end, at)
                else None
            )
            return piece.end() if piece is not None else end
        if piece is None:
            return end
        seen = seen or ":" not in piece.group()
        position = end = piece.end()


def _after_full_line(text: str, end: int, at: int) -> bool:
    """A short last line of base64 follows a line end and has a digit, a sign or both cases in it; a word has not."""
    between = text[end:at]
    word = re.compile(r"[A-Za-z0-9+/=]+").match(text, at)
    return (
        ("\n" in between or "\\n" in between)
        and word is not None
        and ("=" in word.group() or (any(c.isdigit() for c in word.group()) and any(c.isalpha() for c in word.group())))
    )
