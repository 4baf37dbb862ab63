"""From a name that says secret to the value that follows it, in whatever syntax.

``find`` gets every place where a secret word stands, widens it to the whole name, asks ``names`` what it says, and tries
the syntaxes of ``rules_structure`` at its end. Reading a value never looks further than ``REACH``, so that a hostile text
costs a constant for each name in it.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from . import rules_structure as rules
from . import sentences
from .extent import BARE, REACH, bare_end, closing, led_end, says
from .names import NAME_ANCHORS, Name, judge
from .proofs import ENOUGH, accept, accept_bare, begins_line, is_said_word, spoken
from .rule import Span
from .values import has_digit, is_phrase, is_plain_phrase

WEIGHT = 20
_BY_GROUP = {
    group: tuple(syntax for syntax in rules.SYNTAXES if any(letter in syntax.opens for letter in group))
    for group in {"", *rules.GROUPS.values()}
}
_BY_GROUP_UNQUOTED = {
    group: tuple(syntax for syntax in rows if not syntax.ends_in_quote) for group, rows in _BY_GROUP.items()
}
_REST_OF_LINE = re.compile(r"[^\s]{1,512}+(?=[ \t]*(?:\r?\n|$))")
_ODD_QUOTE = re.compile(r"(?=\S*[0-9A-Z])(?=\S*[a-z])[^\s\"'`()\[\],]{2,}[\"'`][^\s\"'`()\[\],]{2,}")
_SIGN = re.compile(r"[!@#$%^&*+=?~]")
_SETS = re.compile(r"(?:^|\.)(?:set|with)_?[A-Z]|(?:^|\.)(?:set|with)_")
_BEHIND_SIGN = re.compile(r"\((?:\w{1,12}\s){0,2}$|\s(?:the|my|our|your|its|a|an|as)\s(?:\w{1,20}\s){0,2}$")
_ARTICLES = frozenset(("the", "my", "our", "your", "its", "a", "an", "as"))  # of the pattern above
_BEFORE_NAME = (" ", "(", "为", "做", "当", "當", "為", "作", "を", "成", "的")
_TELLING = frozenset(("as", "is", "was", "isn't"))
_TELLING_SIGNS = frozenset("为做当當為作を成")
_LIKE_I_AND_S = frozenset("\u0130\u0131\u017f")  # the same letters to a pattern that does not heed case
_BARE_AS = re.compile(r"\sas\s(?!(?:the|my|our|your|its|a|an)\s)(?:\w{1,20}\s){0,2}$")
_JOINED_WORDS = re.compile(r"[a-z]{3,12}_[a-z]{3,12}")
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
# A plain word behind the name can be no value but where a verb or a flag before the name says so.
_PLAIN_WORD_NEXT = re.compile(r" (?!or |as )[a-z]{1,11}(?=[ .,;)]|:\s|$)")
_SPACES = frozenset(" \t\n")
_SETTING = frozenset(
    "setx env arg setenv set config configure put add create login machine default psk add_user export define #define "
    "%define let user username # secret secrets alias".split()
)
_ASKED_FOR = re.compile(r" (?:for|of|to|on) [^\n]{1,120}?[?:>›❯»]")
_ASKING = tuple(s for s in rules.SYNTAXES if s.name in ("prompt that asks", "question that asks"))
_BESIDE_WORD_THAT_SETS = tuple(s for s in rules.SYNTAXES if s.name.startswith("spaced"))
# The words that can begin what joins a name and a value in a sentence.
_JOINING = frozenset(re.findall(r"[^\W\d_]+", rules.FIRST_WORDS.lower()))
_NEXT_IN_LIST = re.compile(r"[\"'`]\s{0,8},\s{0,8}[\"'`]")
_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|digest)\s+(?=\S{6})")
_NO_LINE = re.compile(r"[\"'`(){}\[\]\\<>]|[,;]$|&\w+=")


OTHER_NAMES = tuple(word for word in NAME_ANCHORS if not word.isascii())
# A name can only stand in a text that has all of its letters; most have none of any.
_OTHER_LETTERS = {word: frozenset(letter for letter in word if not letter.isascii()) for word in OTHER_NAMES}
_ANY_OTHER_LETTER = frozenset().union(*_OTHER_LETTERS.values())


class _Quotes:
    """Where the next quote of a text is: asked from left to right, the text is gone through once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._asked = self._next = -1

    def is_near(self, end: int) -> bool:
        """Whether one stands where a join behind this place could reach it."""
        if not self._asked <= end <= self._next:
            found = rules.A_QUOTE.search(self._text, end)
            self._asked, self._next = end, len(self._text) + rules.FARTHEST_QUOTE if found is None else found.start()
        return self._next - end < rules.FARTHEST_QUOTE


def find(text: str, lower: str, hits: list[tuple[int, int]], beyond: frozenset[str]) -> Iterator[Span]:
    """Every value that a name beside it says is secret.

    ``hits`` are the places of ``NAME_ANCHORS``, in order; ``beyond`` has all characters of the text that are not ASCII.
    """
    done = 0
    quotes = _Quotes(text)
    for start, end in hits:
        if start >= done:
            start, end = _widen(text, start, end)
            done = end
            for span in _at(text, start, end, quotes):
                done = max(done, span.end)
                yield span
    if not _ANY_OTHER_LETTER.isdisjoint(beyond):
        quotes = _Quotes(text)
        for start, end in _other_names(lower, beyond):
            yield from _at(text, start, end, quotes)


def _other_names(lower: str, beyond: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where the names beyond ASCII stand, the longest at each place, none inside of the one before."""
    longest: dict[int, int] = {}
    for word, letters in _OTHER_LETTERS.items():
        if letters <= beyond:
            at = lower.find(word)
            while at >= 0:
                longest[at] = max(longest.get(at, 0), at + len(word))
                at = lower.find(word, at + 1)
    done = 0
    for at in sorted(longest):
        if at >= done:
            done = longest[at]
            yield at, done


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


def _at(text: str, start: int, end: int, quotes: _Quotes) -> Iterator[Span]:
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
    span = _value(text, start + lead, end, name, quotes)
    if span is not None:
        yield span
        # a list of values, one after the other
        while (more := _NEXT_IN_LIST.match(text, span.end)) and text[start:end].lower().rstrip("]\"'").endswith("s"):
            close = closing(text, more.end(), text[more.end() - 1])
            if close is None or not accept(text[more.end() : close], name, "sign", True):
                return
            span = Span(more.end(), close, name.kind, WEIGHT)
            yield span


def _value(text: str, start: int, end: int, name: Name, quotes: _Quotes) -> Span | None:
    if text[start - 1 : start] in _BEFORE_NAME and _points_back(text, start):
        behind = rules.BEHIND.search(text, max(0, start - 240), start) if _told_before(text, start) else None
        if behind is not None:
            low, high = next(behind.span(group) for group in ("v", "v2", "v3", "v4") if behind[group])
            said = text[low:high]
            closed = behind["v3"] is None or text[end : end + 1] == ")"
            snake = _JOINED_WORDS.fullmatch(said) is not None and _names_it(text, start, end)
            sure = _mixed(said) or behind["v4"] is not None or snake
            if closed and not said.isalpha() and sure and spoken(text, high, said, name, True):
                return Span(low, high, name.kind, WEIGHT)
            if said.isalpha() and name.kind == "password" and _told_to_use(text, start, end) and is_said_word(said):
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
        said_so = "phrase" in word.lower() or name.kind == "mnemonic"
        if words is not None and (is_phrase(words["v"], said_so) or is_plain_phrase(words["v"])):
            return Span(words.start("v"), words.end("v"), name.kind, WEIGHT)
    if near[-1:] in ('"', "'"):
        turned = rules.TURNED.search(text, max(0, start - 330), start)
        if turned is not None and accept(turned["v"], name, "weak", True):
            return Span(turned.start("v"), turned.end("v"), name.kind, WEIGHT)
    plain_word = _PLAIN_WORD_NEXT.match(text, end) is not None
    asked = plain_word and _ASKED_FOR.match(text, end) is not None
    group = rules.GROUPS.get(text[end : end + 1], "")
    for syntax in _syntaxes(group, near, plain_word, asked, quotes.is_near(end)):
        joined = syntax.join.match(text, end)
        if joined is None or (syntax.name == "spaced, quoted" and word.lower() in sentences.VERBS_TOO):
            continue
        if syntax.before is not None and not syntax.before.search(near):
            continue
        quote = joined.groupdict().get("q")
        if quote:
            close = closing(text, joined.end(), quote)
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
    return sentences.find(text, start, end, name)


def _syntaxes(group: str, near: str, plain_word: bool, asked: bool, quoted: bool) -> tuple[rules.Syntax, ...]:
    """The syntaxes worth trying: nearly every word of prose and code is told from a name by its nearest neighbours."""
    if not plain_word or near[-1:] not in _SPACES:
        return (_BY_GROUP if quoted else _BY_GROUP_UNQUOTED)[group]
    said = [word.lstrip("\"'`").lower() for word in near.split()[-2:]]
    sets = any(word in _SETTING or word.startswith(("-", "wifi-sec.")) for word in said)
    if sets:
        return _BESIDE_WORD_THAT_SETS
    return _ASKING if asked else ()


def _needs_no_sentence(text: str, start: int, end: int) -> bool:
    """Whether the word behind the name is neither one that joins nor one that could be the value."""
    word = text[end + 1 : end + 13].split(None, 1)[0].rstrip(".,;:)").lower()
    if word in _JOINING or not text[start:end].isascii():
        return False
    before = text[max(0, start - 24) : start].lower()
    return not any(said in before for said in sentences.USING)


def _points_back(text: str, start: int) -> bool:
    """Whether the words in front of the name say that its value stands before them."""
    if text[start - 1] in _BEFORE_NAME[2:]:
        return True
    low = max(0, start - 50)
    if text.find("(", low, start) < 0 and _ARTICLES.isdisjoint(text[low:start].split()[-3:]):
        return False  # saves most of the searches
    return _BEHIND_SIGN.search(text, low, start) is not None


def _told_before(text: str, start: int) -> bool:
    """Whether `rules.BEHIND` can find anything: one of its words is near, a bracket, or a sign of another language."""
    before = text[max(0, start - 240) : start]
    if "(" in before[-30:] or not _TELLING.isdisjoint(before.lower().split()[-7:]):
        return True
    return not before.isascii() and not (_TELLING_SIGNS.isdisjoint(before[-14:]) and _LIKE_I_AND_S.isdisjoint(before))


def _names_it(text: str, start: int, end: int) -> bool:
    """Whether the name stands for the value itself: `as password field` does not."""
    return _BARE_AS.search(text, max(0, start - 50), start) is None or rules.SAID.match(text, end) is not None


def _told_to_use(text: str, start: int, end: int) -> bool:
    """Whether a sentence tells somebody to use the word in front of the name as what the name says."""
    told = rules.USED_AS.search(text, max(0, start - 100), start)
    return told is not None and rules.SAID.match(text, end) is not None


def _mixed(value: str) -> bool:
    return has_digit(value) or _SIGN.search(value) is not None


def _span(text: str, start: int, end: int, kind: str, quoted: bool) -> Span | None:
    scheme = _SCHEME.match(text, start, end)
    if scheme is not None:
        start = scheme.end()
    if not quoted and end - start >= ENOUGH:
        while (more := BARE.match(text, end)) is not None:
            end = more.end()
    return Span(start, end, kind, WEIGHT) if end > start else None


def _bare(text: str, start: int, syntax: rules.Syntax, before: str) -> int | None:
    if syntax.proof == "line" and syntax.name == "assignment, tight" and begins_line(before):
        whole = _REST_OF_LINE.match(text, start)
        if whole is not None and not _NO_LINE.search(whole.group()):
            return None if says(whole.group()) else whole.end()
    if syntax.name == "assignment, loose" and text[start - 2 : start] == ": " and begins_line(before):
        whole = _REST_OF_LINE.match(text, start)
        if whole is not None and _ODD_QUOTE.fullmatch(whole.group()):
            return whole.end()
    close = bare_end(text, start)
    if close is None:
        return led_end(text, start) if syntax.proof == "line" and begins_line(before) else None
    value = text[start:close]
    if syntax.stop:
        cut = min((at for at in (value.find(mark) for mark in syntax.stop) if at >= 0), default=len(value))
        value = value[:cut]
    value = value.rstrip(",;:" if syntax.proof == "line" or syntax.name == "prompt that asks" else ".,;:!?")
    return start + len(value) if value else None


def _block(text: str, end: int, name: Name) -> Span | None:
    ahead = text[end : end + 48]
    block = rules.BLOCK.match(text, end) if "|" in ahead or ">" in ahead else None
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
    here = rules.HEREDOC.match(text, end) if "<<" in ahead else None
    if here is None and ('"""' in ahead or "'''" in ahead):
        here = rules.TRIPLE.match(text, end)
    if here is not None and name.strength == 3:
        close = text.find(here.group("tag"), here.end(), here.end() + REACH)
        value = text[here.end() : close].strip() if close >= 0 else ""
        if value and accept(value.split("\n", 1)[0].strip(), name, "weak", True):
            return Span(here.end(), here.end() + len(text[here.end() : close].rstrip()), name.kind, WEIGHT)
    return None
