"""From a text to the spans that have to go.

``anchors`` finds the places of all anchors at once, and the words that call for the other modules; a rule is tried only
there. The spans of all rules are joined where they touch, named by the heaviest, and kept clear of placeholders that are
there already.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from . import assignments, blobs, columns, listed, pairs, pem
from .anchors import Anchors, Hits
from .cores import trie
from .glance import Glance
from .names import NAME_ANCHORS
from .rule import BOUNDARY, Rule, Span
from .rules_commands import COMMAND_RULES
from .rules_console import CONSOLE_RULES
from .rules_context import CONTEXT_RULES
from .rules_files import FILE_RULES
from .rules_forms import FORM_RULES
from .rules_vendor import VENDOR_RULES
from .rules_vendor_more import MORE_VENDOR_RULES
from .values import PLACEHOLDER
from .view import beyond_ascii

VENDOR_WEIGHT, CONTEXT_WEIGHT = 50, 30
ALL_VENDOR_RULES = VENDOR_RULES + MORE_VENDOR_RULES + FORM_RULES
ALL_CONTEXT_RULES = CONTEXT_RULES + COMMAND_RULES + FILE_RULES + CONSOLE_RULES


_STARTS: dict[str, list[Rule]] = defaultdict(list)  # rules whose match begins with one of their anchors, at a boundary
_SOUGHT: dict[str, list[Rule]] = defaultdict(list)  # rules with their anchor anywhere, by the anchor in lower case
_RUN_RULES: list[Rule] = []  # rules without a literal of their own: they begin where a long run of token letters begins
for _rule in ALL_VENDOR_RULES + ALL_CONTEXT_RULES:
    if any(len(_anchor) == 1 for _anchor in _rule.anchors):
        _RUN_RULES.append(_rule)
        continue
    _begins = not _rule.back and not _rule.fold and _rule.pattern.pattern.startswith(BOUNDARY)
    for _anchor in _rule.anchors:
        (_STARTS[_anchor] if _begins else _SOUGHT[_anchor.lower()]).append(_rule)
_AT_ESCAPE = re.compile(r"(?:\\[nrtbfv0]|%[0-9A-Fa-f]{2}|\\u00[0-9a-fA-F]{2}|\[[0-9]{1,2}m)(" + trie(_STARTS) + ")")
_BY_HIT = {
    hit: tuple(dict.fromkeys(rule for anchor, rules in _STARTS.items() if hit.startswith(anchor) for rule in rules))
    for hit in _STARTS
}
_NAMES = frozenset(anchor for anchor in NAME_ANCHORS if anchor.isascii())
_INNER = [
    anchor for rule in ALL_VENDOR_RULES if rule.back for anchor in rule.anchors if anchor.isalnum() and len(anchor) > 2
]
_IN_WORD = re.compile(r"[A-Za-z0-9_\-]+")
_LEAST = {
    anchor: min(rule.least for rule in rules) if _IN_WORD.fullmatch(anchor) else 0 for anchor, rules in _STARTS.items()
}
_ANCHORS = Anchors(_LEAST, {*_SOUGHT, *_NAMES}, columns.WORDS | listed.WORDS | pem.WORDS, _INNER)
is_plain = Glance(_ANCHORS).is_plain
_SOUGHT_BY_HIT = {
    hit: tuple(
        dict.fromkeys(
            (rule, len(anchor)) for anchor, rules in _SOUGHT.items() if hit.startswith(anchor) for rule in rules
        )
    )
    for hit in {*_SOUGHT, *_NAMES}
}
_NAME_BY_HIT = {hit: max((len(name) for name in _NAMES if hit.startswith(name)), default=0) for hit in _SOUGHT_BY_HIT}
_SHORT_RUN = re.compile(r"[A-Za-z0-9_\-]{12}")  # is in every token
_TELLING = 600
_FEW_PLACES = 40
_JOINING = re.compile(r"[\s:=\"'`>|,]")


def find(text: str, beyond: frozenset[str] | None = None) -> list[tuple[Span, str | None]]:
    """Spans in order, not overlapping, each with the note that replaces it or None where it is a secret.

    ``beyond`` are the characters of the text that are not ASCII, where they are known.
    """
    if is_hopeless(text):
        return []
    lower = fold(text)
    beyond = frozenset(map(str.lower, beyond_ascii(text) if beyond is None else beyond))
    hits = _ANCHORS.find(text, lower)
    spans: list[Span] = list(_vendor(text, hits))
    names: list[tuple[int, int]] = []
    if hits.sought:
        spans.extend(_anchored(text, hits.sought, names))
    if names or beyond:
        spans.extend(assignments.find(text, lower, names, beyond))
    if names or hits.words:
        spans.extend(columns.find(text, lower, names, hits.words))
    spans.extend(listed.find(text, lower, names, hits.words, beyond))
    if not pem.WORDS.isdisjoint(hits.words) and any(anchor in lower for anchor in pem.ANCHORS):
        spans.extend(pem.find(text, lower))
    if ":" in text and len(text) > pairs.SHORTEST:
        spans.extend(pairs.find(text))
    notes: dict[Span, str] = {}
    for span, note in blobs.find(text):
        spans.append(span)
        notes[span] = note
    if not spans:
        return []
    return [(span, notes.get(span)) for span in _clear(text, _join(spans))]


def is_hopeless(text: str) -> bool:
    """Too short for a token and without a sign that could join a name and a value: most strings of a log."""
    return len(text) < 16 and text.isascii() and _JOINING.search(text) is None


def fold(text: str) -> str:
    """Lower case, character by character: the one letter that grows when lowered is replaced first."""
    return text.replace("\u0130", "i").lower()


def _vendor(text: str, hits: Hits) -> Iterator[Span]:
    if len(text) < 12:
        return
    escaped = "\\" in text or "%" in text or "[" in text
    if not (hits.starts or hits.long or escaped) or _SHORT_RUN.search(text) is None:
        return
    done = 0
    for at, anchor in hits.starts:
        if at >= done:
            for rule in _BY_HIT[anchor]:
                match = rule.pattern.match(text, at)
                if match is None:
                    continue
                if match.end() - match.start() > _TELLING:
                    done = match.end()  # also where it is no secret: its rest would be read again and again
                if _passes(rule, match):
                    done = match.end("v")
                    yield Span(match.start("v"), done, rule.kind, VENDOR_WEIGHT)
                    break
    for start in hits.long:
        yield from _by_run(text, start)
    if escaped:
        for hit in _AT_ESCAPE.finditer(text):
            for rule in _BY_HIT[hit.group(1)]:
                span = _try(rule, text, hit.start(1), VENDOR_WEIGHT)
                if span is not None:
                    yield span
                    break


def _by_run(text: str, start: int) -> Iterator[Span]:
    # behind an escaped line end or an encoded quote the run begins a few letters before the token
    offsets = range(start, start + 4) if text[start - 1 : start] in ("\\", "%", "[") else (start,)
    for rule in _RUN_RULES:
        for at in offsets:
            span = _try(rule, text, at, VENDOR_WEIGHT)
            if span is not None:
                yield span


def _try(rule: Rule, text: str, at: int, weight: int) -> Span | None:
    match = rule.pattern.match(text, at)
    if match is None or not _passes(rule, match):
        return None
    return Span(match.start("v"), match.end("v"), rule.kind, weight)


def _passes(rule: Rule, match: re.Match[str]) -> bool:
    """The check of a rule, on as much of the match as tells."""
    return rule.check is None or rule.check(match["v"][:_TELLING])


def _anchored(text: str, hits: list[tuple[int, str]], names: list[tuple[int, int]]) -> Iterator[Span]:
    """Every other rule at its anchors; the places of names are put down on the way."""
    done: dict[str, int] = {}
    for at, found in hits:
        if _NAME_BY_HIT[found]:
            names.append((at, at + _NAME_BY_HIT[found]))
        for rule, _length in _SOUGHT_BY_HIT[found]:
            low = done.get(rule.name, 0)
            if low > at:
                continue
            match = _first(rule, text, max(low, at - rule.back), at)
            if match is not None and match.end("v") > match.start("v"):
                if match.end("v") - match.start("v") > _TELLING:
                    done[rule.name] = match.end("v")
                if _passes(rule, match):
                    done[rule.name] = match.end("v")
                    yield Span(
                        match.start("v"), match.end("v"), rule.kind, CONTEXT_WEIGHT if rule.fold else VENDOR_WEIGHT
                    )


def _first(rule: Rule, text: str, low: int, at: int) -> re.Match[str] | None:
    if not rule.back:
        return rule.pattern.match(text, at)
    # the match has to begin in front of the anchor: place by place, or by a search that stops soon behind it
    stop = min(len(text), at + 500)
    if at - low <= _FEW_PLACES:
        for place in range(low, at + 1):
            if rule.pattern.match(text, place, stop) is not None:
                return rule.pattern.match(text, place)
        return None
    match = rule.pattern.search(text, low, stop)
    return rule.pattern.match(text, match.start()) if match is not None and match.start() <= at else None


def _join(spans: list[Span]) -> list[Span]:
    """Overlapping spans become one, which has the kind of the heaviest (the longer one of two that weigh the same)."""
    spans.sort(key=lambda span: (span.start, -span.end))
    joined: list[Span] = []
    for span in spans:
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            if last.weight == blobs.WEIGHT and span.end <= last.end and span.start > last.start:
                continue  # letters of a blob that happen to look like a token
            best = max(last, span, key=lambda s: (s.weight, s.end - s.start))
            if last.end >= span.end and best is last:
                continue
            joined[-1] = Span(last.start, max(last.end, span.end), best.kind, best.weight)
        else:
            joined.append(span)
    return joined


def _clear(text: str, spans: list[Span]) -> Iterator[Span]:
    """Spans without the placeholders inside of them; what is left of such a span only goes if it is more than a sign."""
    if "[REDACTED:" not in text and " omitted, " not in text:
        yield from spans
        return
    for span in spans:
        around = (max(0, span.start - 80), min(len(text), span.end + 80))
        position = span.start
        for held in PLACEHOLDER.finditer(text, *around):
            if held.end() <= position:
                continue
            if held.start() >= span.end:
                break
            if held.start() - position >= 4 and any(c.isalnum() for c in text[position : held.start()]):
                yield Span(position, min(held.start(), span.end), span.kind, span.weight)
            position = max(position, held.end())
            if position >= span.end:
                break
        if span.end - position >= 4 and any(c.isalnum() for c in text[position : span.end]):
            yield Span(position, span.end, span.kind, span.weight)
