"""Where a value ends: a quoted one at its quote, whatever the depth of escaping; a bare one where its syntax goes on."""

import re

from .proofs import ENOUGH
from .values import MARKS, has_letter, is_public_id, is_reference

REACH = 8192
_CJK = "\u2e80-\u30fb\u30fd-\u9fff\uac00-\ud7af\uff01-\uff65"
_PAIR = r"[,;&)\]}]?[ ]?[A-Za-z_][\w.\- ]{0,30}(?:=|:\s)"
BARE = re.compile(
    rf"(?:[^\s\"'`<>|\\,;&(){{}}\[\]{_CJK}\x00]|\\(?![nrtu\"'`\\\s])|[,;|](?!\s|$|[\"'`]|{_PAIR}|\\[nrt])|&(?!\s|$|[\"'`]|\w{{1,8}};|#\d{{1,4}};|{_PAIR})|<(?![/a-zA-Z!])|>(?=\w)|[(\[{{](?=[^\s\"'])|[)\]}}](?=[\w!@#$%^*+=~\-])){{1,{ENOUGH}}}+"
)
_RUN = re.compile(rf"[A-Za-z0-9!#$%*+\-./:=?@^_~]{{1,{ENOUGH}}}+")  # a part of what `BARE` takes, read far faster
_ENDS_RUN = frozenset(("", " ", "\t", "\n", "\r", '"', "'", "`"))  # what no bare value has

# A password that begins in Chinese, Japanese or Korean: a few characters that are no part of a sentence, then letters and
# digits to the end of it.
_LED = re.compile(
    r"(?P<cjk>[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,6})(?P<v>(?=[^0-9\s]{0,38}[0-9][^0-9\s]{0,38}[0-9])[A-Za-z0-9!@#$%^&*_+.=~\-]{4,40})(?=[\s\"'`,;)，。、；）」]|$|\\n)"
)
_SAYS = frozenset(
    "的了在用是为為就不存到从從把被请請需要和与與或及见見看无無没没有看共约第每至少多默认認于於此该該のはをがにでとも는은이가을를"
)

_TEMPLATE = re.compile(r"\{\{[^{}\n]{1,60}\}\}(?=\w)|<[a-z]{2,12}>(?=\w)")
_CLOSERS = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_CUT_OFF = re.compile(r"[^\s\"'`,;]{3,}")
_MORE = re.compile(r"\s*\S")


def closing(text: str, start: int, quote: str) -> int | None:
    """Where the string ends that this quote, at this depth of escaping, opened; the line's end if it was cut off."""
    limit = min(len(text), start + REACH)
    if quote[-1] not in "\"'`" or (len(quote) == 3 and quote in ('"""', "'''")):
        closer = _CLOSERS.get(quote, quote)
        at = text.find(closer, start, limit)
        if at < 0 and quote[0] in "&%\\":
            at = text.lower().find(quote.lower(), start, limit) if limit < 65536 else -1
        return at if at >= 0 else None
    mark, depth = quote[-1], len(quote) - 1
    if quote[0] != "\\" and len(quote) > 1:
        at = text.find(quote, start, limit)
        return at if at >= 0 else None
    line = text.find("\n", start, limit)
    stop = limit if line < 0 else line
    at = text.find(mark, start, stop)
    while at >= 0:
        slashes = at
        while slashes > start and text[slashes - 1] == "\\":
            slashes -= 1
        run = at - slashes
        if (run <= depth and (run == depth or depth)) or (run - depth) % (2 * (depth + 1)) == 0:
            return at - min(run, depth)
        at = text.find(mark, at + 1, stop)
    rest = _CUT_OFF.match(text, start, stop)
    return rest.end() if rest is not None and not _MORE.match(text[rest.end() : stop]) else None


def says(value: str) -> bool:
    """Whether a value begins as a sentence in Chinese, Japanese or Korean does."""
    return value[:1] > "\u3040" and not _SAYS.isdisjoint(value[:2])


def led_end(text: str, start: int) -> int | None:
    """Where a bare value ends that begins in Chinese, Japanese or Korean."""
    led = _LED.match(text, start)
    if led is None or says(led["cjk"]) or is_reference(led["v"], False) or is_public_id(led["v"]):
        return None
    return led.end("v") if has_letter(led["v"]) else None


def _bare(text: str, start: int) -> re.Match[str] | None:
    """What `BARE` matches at this place."""
    run = _RUN.match(text, start)
    if run is not None and (run.end() - start == ENOUGH or text[run.end() : run.end() + 1] in _ENDS_RUN):
        return run
    return BARE.match(text, start)


def bare_end(text: str, start: int) -> int | None:
    """Where a bare value ends; the marks of a redaction that are glued to it are a part of it."""
    match = _bare(text, start)
    if text[start : start + 1] in ("[", "<", "{", "("):
        marks = MARKS.match(text, start) or _TEMPLATE.match(text, start)
        match = (BARE.match(text, marks.end()) if marks is not None else None) or match
    if match is None:
        return None
    end = match.end()
    mark = max(text.rfind("[", start, end), text.rfind("{", start, end))
    last = MARKS.match(text, mark) if mark > start else None
    if last is not None:
        end = max(end, last.end())
    held = MARKS.match(text, end) if text[end : end + 1] == "<" else None
    more = BARE.match(text, held.end()) if held is not None else None
    return more.end() if more is not None else end
