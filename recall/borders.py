"""Where the words of a run without spaces end: which pairs of a query are words, and which lie over a border by chance.

The text index cuts such runs into overlapping pairs, so that whatever is asked is found (recall.segment). Of the pairs
of a question half are no words, and as these are rare they would tell most. BudouX, a small trained model, says where
the borders are; what it says is about a query only, and it is never needed to find a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from recall import segment

if TYPE_CHECKING:
    from budoux import Parser

SHORTEST = 3  # signs of a run that can have a border inside a pair of it
MOST_CHARS = 2000  # of a text, from its beginning
# Words by which something is asked or told, and that are no subject: of one sign, and longer ones.
_SIGNS = """
是的了在把与和就都也很不没有吗呢吧啊我你他她它这那哪几从到对被给让向于之其以及或而但所后中上下里一过着地得等还再又才将由为因如若则且并比
跟要会能可想谁每各某该此您们个些呀嘛么已曾只最更太当时前内外間們個這後裡從對給讓與為還將並會沒嗎幾過著
"""
_WORDS = """
为什么 怎么 怎样 怎么样 什么 多少 哪些 哪个 哪里 我们 你们 他们 她们 这个 那个 这些 那些 如何 是否 以及 或者 因为 所以
但是 然后 可以 应该 需要 已经 进行 关于 对于 之后 之前 后来 当时 时候 没有 有没有 是不是 不是 还是 一个
為什麼 怎麼 怎樣 怎麼樣 什麼 哪個 哪裡 我們 你們 他們 她們 這個 那個 這些 因為 但是 應該 已經 進行 關於 之後 後來 沒有
一個 時候
"""
_EMPTY = frozenset(_SIGNS.replace("\n", "")) | frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a text, folded as the index folds them, by where they stand in it.

    `inside`: in a word, somewhere in the text. The others lie `across` the border of two words only, and those that are
    `hollow` too have a word on one side that is no subject, or are an ending in Japanese.
    """

    inside: frozenset[str] = frozenset()
    across: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()

    def beside(self, others: Iterable[Pairs]) -> Pairs:
        """The pairs of this text and of others: what is a word in one of them is a word."""
        every = (self, *others)
        inside = frozenset[str]().union(*(one.inside for one in every))
        full = frozenset[str]().union(*(one.across - one.hollow for one in every))
        across = frozenset[str]().union(*(one.across for one in every)) - inside
        return Pairs(inside, across, across - full)


NO_PAIRS = Pairs()


def pairs(text: str) -> Pairs:
    """What the borders in a text make of its pairs."""
    across: dict[str, bool] = {}  # pair -> whether it is hollow wherever it stands
    inside: set[str] = set()
    for word, run in segment.spelled(text[:MOST_CHARS]):
        if word.kind == "run":
            borders = dict(_borders(run)) if len(run) >= SHORTEST else {}
            for place, pair in enumerate(word.parts[:-1], start=1):
                ending = bool(borders) and any(_is_hiragana(sign) for sign in pair)
                if place in borders or ending:
                    across[pair] = (ending or borders[place]) and across.get(pair, True)
                else:
                    inside.add(pair)
    over = across.keys() - inside
    return Pairs(frozenset(inside), frozenset(over), frozenset(pair for pair in over if across[pair]))


def _borders(run: str) -> Iterator[tuple[int, bool]]:
    """Each place in a run at which a word ends and another begins; whether one of the two is no subject.

    Two signs that are cut from each other may be a name that BudouX does not know, as 于明 is: both have to be empty.
    """
    place, before = 0, ""
    for word in _parser(_language(run)).parse(run):
        if before:
            empty = (before in _EMPTY) + (word in _EMPTY)
            yield place, empty == 2 or (empty == 1 and len(before) + len(word) > 2)
        place, before = place + len(word), word


def _is_hiragana(sign: str) -> bool:
    """Japanese writes endings and particles so, and few subjects."""
    return "\u3041" <= sign <= "\u309f"


def _language(run: str) -> str:
    if any("\u3041" <= sign <= "\u30ff" for sign in run):
        return "japanese"
    return "traditional" if any(_is_traditional(sign) for sign in run) else "simplified"


def _is_traditional(sign: str) -> bool:
    """Whether a sign is written so in Traditional Chinese only, by the national character sets."""
    return _can("big5", sign) and not _can("gb2312", sign)


@cache
def _can(charset: str, sign: str) -> bool:
    try:
        sign.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


@cache
def _parser(language: str) -> Parser:
    import budoux  # most searches of a process are one, and without such a run: they save the import

    load = {
        "japanese": budoux.load_default_japanese_parser,
        "simplified": budoux.load_default_simplified_chinese_parser,
        "traditional": budoux.load_default_traditional_chinese_parser,
    }
    return load[language]()
