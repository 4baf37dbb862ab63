"""From a name that says secret to the value that follows it, in whatever syntax.

``find`` gets every place where a secret word stands, widens it to the whole name, asks ``names`` what it says, and tries
the syntaxes of ``rules_structure`` at its end. Reading a value never looks further than ``REACH``, so that a hostile text
costs a constant for each name in it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from . import rules_structure as rules
from .names import NAME_ANCHORS, Name, judge
from .proofs import ENOUGH, LINE_START, accept, accept_bare, spoken
from .rule import Span
from .values import MARKS, has_digit, is_phrase

REACH = 8192
WEIGHT = 20
_BY_GROUP = {
    group: tuple(syntax for syntax in rules.SYNTAXES if any(letter in syntax.opens for letter in group))
    for group in {"", *rules.GROUPS.values()}
}
_CJK = "\u2e80-\u30fb\u30fd-\u9fff\uac00-\ud7af\uff01-\uff65"
_PAIR = r"[,;&)\]}]?[ ]?[A-Za-z_][\w.\- ]{0,30}(?:=|:\s)"
_BARE = re.compile(
    rf"(?:[^\s\"'`<>|\\,;&(){{}}\[\]{_CJK}\x00]|\\(?![nrtu\"'`\\\s])|[,;|](?!\s|$|[\"'`]|{_PAIR}|\\[nrt])|&(?!\s|$|[\"'`]|\w{{1,8}};|#\d{{1,4}};|{_PAIR})|<(?![/a-zA-Z!])|>(?=\w)|[(\[{{](?=[^\s\"'])|[)\]}}](?=[\w!@#$%^*+=~\-])){{1,{ENOUGH}}}+"
)
_REST_OF_LINE = re.compile(r"[^\s]{1,512}+(?=[ \t]*(?:\r?\n|$))")
_ODD_QUOTE = re.compile(r"(?=\S*[0-9A-Z])(?=\S*[a-z])[^\s\"'`()\[\],]{2,}[\"'`][^\s\"'`()\[\],]{2,}")
_SIGN = re.compile(r"[!@#$%^&*+=?~]")
_SETS = re.compile(r"(?:^|\.)(?:set|with)_?[A-Z]|(?:^|\.)(?:set|with)_")
_BEHIND_SIGN = re.compile(r"\((?:\w{1,12}\s){0,2}$|\s(?:the|my|our|your|its|a|an)\s(?:\w{1,20}\s){0,2}$")
_ARTICLES = frozenset(("the", "my", "our", "your", "its", "a", "an"))  # of the pattern above
_SPACE = re.compile(r"\s")
_NAME_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$ñçãéèêáóúäöüß"
_BEFORE_SPACE = re.compile(
    r"(?i)(?:^|[^A-Za-z0-9])((?:api|secret|access|private|auth|signing|encryption|master|license|licence|account|shared|service|deploy|client|bearer|"
    r"refresh|session|webhook|bot|consumer|subscription|personal access|ssh|admin|root|app|recovery|security|verification|security|login|"
    r"azure|aws|github|gitlab|openai|slack|stripe|vault|npm|pypi|oauth|clave|mot de|clé|chiave|user|db|database)[ ])$"
)
# The last two letters of the words above: most other words are told from them without a search.
_ENDS_BEFORE = frozenset(
    "pi et ss te th ng on er se nt ed ce oy sh ot ok in pp ry ty re ws ub ab ck pe lt pm ve de lé db ai".split()
)
_AFTER_SPACE = re.compile(r"(?i)[ ](codes?|phrase|string|key|token|password|secret|passe|pin|d'accès|api)\b")
_USES = re.compile(r"(?i)\b(?:use|used|using|with|try|enter|type|via|is)\s(?:the\s|my\s|this\s|its\s)?(?:\w{1,12}\s)?$")
_USING = ("use", "using", "with", "try", "enter", "type", "via", "is")  # one is in all that the pattern above finds
_GIVEN = re.compile(r"(?i)\s(?:(?:you|they)\s(?:gave|sent)\s(?:me|us))\b.*\($")
_IS = re.compile(r"(?i)\b(?:is|was|to|ist|lautet|est|es|è|é)\b")
# A plain word behind the name can be no value but where a verb or a flag before the name says so.
_PLAIN_WORD_NEXT = re.compile(r" [a-z]{1,11}(?=[ .,;)]|:\s|$)")
_SPACES = frozenset(" \t\n")
_SETTING = frozenset(
    "setx env arg setenv set config configure put add create login machine default psk add_user export define #define "
    "%define let user username # secret secrets alias".split()
)
_BESIDE_WORD_THAT_SETS = tuple(s for s in rules.SYNTAXES if s.name.startswith("spaced"))
# The words that can begin what joins a name and a value in a sentence.
_JOINING = frozenset(re.findall(r"[^\W\d_]+", rules.FIRST_WORDS.lower()))
_QUOTED_WORDS = re.compile(r"(?:[a-z]{3,12}[ \-]){3,7}[a-z]{3,12}")
# Words that are more often something else than the name of what stands behind them.
_VERBS_TOO = frozenset("pass key auth session seed salt login pat pin sas sk".split())


def _alternation(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))


_OTHER = _alternation(tuple(word for word in NAME_ANCHORS if not word.isascii()))
# Dashes, arrows and bars make most texts in English more than ASCII: no name has one of these in it.
_OTHER_LETTERS = frozenset(letter for word in NAME_ANCHORS for letter in word if not letter.isascii())


def find(text: str, lower: str, hits: list[tuple[int, int]], beyond: frozenset[str]) -> Iterator[Span]:
    """Every value that a name beside it says is secret.

    ``hits`` are the places of ``NAME_ANCHORS``, in order; ``beyond`` has all characters of the text that are not ASCII.
    """
    done = 0
    for start, end in hits:
        if start >= done:
            start, end = _widen(text, start, end)
            done = end
            for span in _at(text, start, end):
                done = max(done, span.end)
                yield span
    if not _OTHER_LETTERS.isdisjoint(beyond):
        for hit in _OTHER.finditer(lower):
            yield from _at(text, hit.start(), hit.end())


def _widen(text: str, start: int, end: int) -> tuple[int, int]:
    before = text[max(0, start - 80) : start]
    start -= len(before) - len(before.rstrip(_NAME_CHARACTERS))
    behind = text[end : end + 60]
    end += len(behind) - len(behind.lstrip(_NAME_CHARACTERS))
    while end > start and text[end - 1] in ".-$":
        end -= 1
    return start, end


@lru_cache(maxsize=8192)
def _judge(word: str) -> Name | None:
    return judge(word)


def _at(text: str, start: int, end: int) -> Iterator[Span]:
    resource = text.rfind("arn:", max(0, start - 80), start)
    if resource >= 0 and not _SPACE.search(text, resource, start):
        return  # the name of a secret, not the secret
    if text[start : start + 1] == "n" and start and text[start - 1] == "\\":
        start += 1  # the letter of an escaped line end
    word = text[start:end]
    lead = len(word) - len(word.lstrip("-."))
    name = _judge(word[lead:])
    if (
        name is not None
        and name.kind == "api-key"
        and not word.isascii()
        and text[max(0, start - 4) : start].strip().lower() == "api"
    ):
        name = Name("api-key", 3)
    spaced = _AFTER_SPACE.match(text, end)
    if spaced is not None and (name is None or name.strength < 3):
        better = _judge(word[lead:] + "_" + spaced.group(1))
        if better is not None:
            name, end = better, spaced.end()
            if name.strength == 2 and spaced.group(1).lower().startswith("code"):
                name = Name("otp", 2)
    if name is None or name.strength < 3:
        ahead = (
            _BEFORE_SPACE.search(text, max(0, start - 24), start)
            if text[start - 1 : start] == " " and text[max(0, start - 3) : start - 1].lower() in _ENDS_BEFORE
            else None
        )
        if ahead is not None:
            better = _judge(ahead.group(1).replace(" ", "_") + word[lead:])
            if better is not None:
                name, start, lead = better, start - len(ahead.group(1)), 0
    if name is None:
        return
    span = _value(text, start + lead, end, name)
    if span is not None:
        yield span
        # a list of values, one after the other
        while (more := re.compile(r"[\"'`]\s{0,8},\s{0,8}[\"'`]").match(text, span.end)) and text[
            start:end
        ].lower().rstrip("]\"'").endswith("s"):
            close = _closing(text, more.end(), text[more.end() - 1])
            if close is None or not accept(text[more.end() : close], name, "sign", True):
                return
            span = Span(more.end(), close, name.kind, WEIGHT)
            yield span


def _value(text: str, start: int, end: int, name: Name) -> Span | None:
    if text[start - 1 : start] in (" ", "(") and _points_back(text, start):
        behind = rules.BEHIND.search(text, max(0, start - 240), start)
        if behind is not None:
            low, high = next(behind.span(group) for group in ("v", "v2", "v3") if behind[group])
            said = text[low:high]
            closed = behind["v3"] is None or text[end : end + 1] == ")"
            if closed and not said.isalpha() and spoken(text, high, said, name, True) and _mixed(said):
                return Span(low, high, name.kind, WEIGHT)
    if (
        end >= len(text)
        or text[end] in "/;"
        or (text[end].isascii() and text[end].isalnum() and text[end - 1].isascii())
    ):
        return None
    line = max(text.rfind("\n", max(0, start - 300), start) + 1, start - 300, 0)
    before = text[line:start]
    near = before[-110:]
    word = text[start:end]
    block = _block(text, end, name)
    if block is not None:
        return block
    if name.strength >= 2 and (name.kind in ("password", "mnemonic", "seed") or "phrase" in word.lower()):
        words = rules.PHRASE.match(text, end)
        if words is not None and is_phrase(words["v"], "phrase" in word.lower() or name.kind == "mnemonic"):
            return Span(words.start("v"), words.end("v"), name.kind, WEIGHT)
    if near[-1:] in ('"', "'"):
        turned = rules.TURNED.search(text, max(0, start - 330), start)
        if turned is not None and accept(turned["v"], name, "weak", True):
            return Span(turned.start("v"), turned.end("v"), name.kind, WEIGHT)
    plain_word = _PLAIN_WORD_NEXT.match(text, end) is not None
    for syntax in _syntaxes(rules.GROUPS.get(text[end : end + 1], ""), near, plain_word):
        joined = syntax.join.match(text, end)
        if joined is None or (syntax.name == "spaced, quoted" and word.lower() in _VERBS_TOO):
            continue
        if syntax.before is not None and not syntax.before.search(near):
            continue
        quote = joined.groupdict().get("q")
        if quote:
            close = _closing(text, joined.end(), quote)
            if close is None or close <= joined.end():
                continue
            value = text[joined.end() : close]
            literal = True
        else:
            found = _bare(text, joined.end(), syntax, before)
            if found is None:
                continue
            close, literal = found, False
            value = text[joined.end() : close]
        if syntax.proof in ("line", "column", "lone", "below", "flag"):
            good = accept_bare(text, before, word, joined.end(), close, name, syntax)
        else:
            sets = syntax.name == "call that sets" and _SETS.search(word) is not None
            good = accept(value, name, "weak" if sets else syntax.proof, literal)
        if good:
            return _span(text, joined.end(), close, name.kind, literal)
        if literal and syntax.proof == "weak":
            return None
    if plain_word and _needs_no_sentence(text, start, end):
        return None
    return _sentence(text, start, end, name)


def _syntaxes(group: str, near: str, plain_word: bool) -> tuple[rules.Syntax, ...]:
    """The syntaxes worth trying: nearly every word of prose and code is told from a name by its nearest neighbours."""
    if not plain_word or near[-1:] not in _SPACES:
        return _BY_GROUP[group]
    said = [word.lstrip("\"'`").lower() for word in near.split()[-2:]]
    sets = any(word in _SETTING or word.startswith(("-", "wifi-sec.")) for word in said)
    return _BESIDE_WORD_THAT_SETS if sets else ()


def _needs_no_sentence(text: str, start: int, end: int) -> bool:
    """Whether the word behind the name is neither one that joins nor one that could be the value."""
    word = text[end + 1 : end + 13].split(None, 1)[0].rstrip(".,;:)").lower()
    if word in _JOINING or not text[start:end].isascii():
        return False
    before = text[max(0, start - 24) : start].lower()
    return not any(word in before for word in _USING)


def _points_back(text: str, start: int) -> bool:
    """Whether the words in front of the name say that its value stands before them."""
    low = max(0, start - 50)
    if text.find("(", low, start) < 0 and _ARTICLES.isdisjoint(text[low:start].split()[-3:]):
        return False  # saves most of the searches
    return _BEHIND_SIGN.search(text, low, start) is not None


def _mixed(value: str) -> bool:
    return has_digit(value) or _SIGN.search(value) is not None


def _span(text: str, start: int, end: int, kind: str, quoted: bool) -> Span | None:
    scheme = re.compile(r"(?i)(?:bearer|basic|token|digest)\s+(?=\S{6})").match(text, start, end)
    if scheme is not None:
        start = scheme.end()
    if not quoted and end - start >= ENOUGH:
        while (more := _BARE.match(text, end)) is not None:
            end = more.end()
    return Span(start, end, kind, WEIGHT) if end > start else None


_CLOSERS = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}


def _closing(text: str, start: int, quote: str) -> int | None:
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
    rest = re.compile(r"[^\s\"'`,;]{3,}").match(text, start, stop)
    return rest.end() if rest is not None and not re.match(r"\s*\S", text[rest.end() : stop]) else None


def _bare(text: str, start: int, syntax: rules.Syntax, before: str) -> int | None:
    if syntax.proof == "line" and syntax.name == "assignment, tight" and LINE_START.search(before):
        whole = _REST_OF_LINE.match(text, start)
        if whole is not None and not re.search(r"[\"'`(){}\[\]\\<>]|[,;]$|&\w+=", whole.group()):
            return whole.end()
    if syntax.name == "assignment, loose" and text[start - 2 : start] == ": " and LINE_START.search(before):
        whole = _REST_OF_LINE.match(text, start)
        if whole is not None and _ODD_QUOTE.fullmatch(whole.group()):
            return whole.end()
    close = _bare_end(text, start)
    if close is None:
        return None
    value = text[start:close]
    if syntax.stop:
        cut = min((at for at in (value.find(mark) for mark in syntax.stop) if at >= 0), default=len(value))
        value = value[:cut]
    value = value.rstrip(".,;:!?" if syntax.proof != "line" else ",;:")
    return start + len(value) if value else None


def _bare_end(text: str, start: int) -> int | None:
    """Where a bare value ends; the marks of a redaction that are glued to it are a part of it."""
    match = _BARE.match(text, start)
    if text[start : start + 1] in ("[", "<", "{", "("):
        marks = MARKS.match(text, start)
        match = (_BARE.match(text, marks.end()) if marks is not None else None) or match
    if match is None:
        return None
    mark = max(text.rfind("[", start, match.end()), text.rfind("{", start, match.end()))
    last = MARKS.match(text, mark) if mark > start else None
    return max(match.end(), last.end()) if last is not None else match.end()


def _said_words(value: str) -> bool:
    """Four words or more that are no sentence, where a sentence quotes the value."""
    return _QUOTED_WORDS.fullmatch(value) is not None and is_phrase(value, True)


def _block(text: str, end: int, name: Name) -> Span | None:
    block = rules.BLOCK.match(text, end)
    if block is not None and name.strength >= 2:
        indent, stop = block.group("indent"), block.end()
        while True:
            line = text.find("\n", stop, stop + REACH)
            if line < 0:
                stop = min(len(text), stop + REACH)
                break
            stop = line
            if not text.startswith(indent, line + 1):
                break
            stop = line + 1
        value = text[block.end() : stop].rstrip()
        if value and accept(value.split("\n", 1)[0].strip(), name, "weak" if name.strength == 3 else "secret", True):
            return Span(block.end(), block.end() + len(value), name.kind, WEIGHT)
        return None
    here = rules.HEREDOC.match(text, end) or rules.TRIPLE.match(text, end)
    if here is not None and name.strength == 3:
        close = text.find(here.group("tag"), here.end(), here.end() + REACH)
        value = text[here.end() : close].strip() if close >= 0 else ""
        if value and accept(value.split("\n", 1)[0].strip(), name, "weak", True):
            return Span(here.end(), here.end() + len(text[here.end() : close].rstrip()), name.kind, WEIGHT)
    return None


def _sentence(text: str, start: int, end: int, name: Name) -> Span | None:
    foreign = not text[start:end].isascii()
    asked = _USES.search(text, max(0, start - 24), start) is not None
    for pattern in (rules.SENTENCE, rules.BESIDE, rules.GLUED):
        if pattern is rules.GLUED and not foreign:
            continue
        joined = pattern.match(text, end)
        if joined is None or (pattern is rules.BESIDE and text[start:end].lower() in _VERBS_TOO and name.strength):
            continue
        quote = joined.group("q")
        if name.strength < 3 and _GIVEN.search(joined.group()) is not None:
            name = Name(name.kind, 3)
        if quote:
            close = _closing(text, joined.end(), quote)
            if close is None:
                continue
            value = text[joined.end() : close]
            if name.kind == "password" and _IS.search(joined.group()) and _said_words(value):
                return Span(joined.end(), close, name.kind, WEIGHT)
            if (" " not in value or is_phrase(value, "phrase" in text[start:end].lower())) and accept(
                value, name, "sign" if pattern is rules.BESIDE else "weak", True
            ):
                return Span(joined.end(), close, name.kind, WEIGHT)
            continue
        bare = _bare_end(text, joined.end())
        if bare is None:
            continue
        value = text[joined.end() : bare].rstrip(".,;:!?)*_…")
        value = value[:-2] if value.endswith("'s") else value
        if re.match(r"[\w.]+=[^=]", value) and not foreign:
            continue
        if spoken(text, joined.end() + len(value), value, name, pattern is rules.SENTENCE or foreign or asked):
            return Span(joined.end(), joined.end() + len(value), name.kind, WEIGHT)
    return None
