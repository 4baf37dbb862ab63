"""Times that a question names (`on 7 May`, `in June 2023`, `3月中旬`), and whether it asks for one.

A time in a question makes entries of that time likelier; it filters nothing, for people err and speak of a time later.
Only months by name or with their sign count: bare numbers are too often something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTHS = "january february march april may june july august september october november december".split()
_SHORT = {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
_HAN = {sign: number for number, sign in enumerate("一 二 三 四 五 六 七 八 九 十 十一 十二".split(), 1)}
_PARTS = {
    **dict.fromkeys(("上旬", "初"), (1, 10)),
    **dict.fromkeys(("中旬", "中"), (11, 20)),
    **dict.fromkeys(("下旬", "底", "末"), (21, 31)),
}
_CHINESE = re.compile(
    r"(?:(?P<year>\d{4})\s?年\s?)?(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月"
    r"(?:\s?(?P<day>[0-3]?\d)\s?[日号]|份?(?P<part>[上中下]旬|[初中底末]))?"
)
_NAME = "(?P<month>" + "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in _MONTHS) + r")\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_ENGLISH = (
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_NAME}{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_NAME}\s+{_DAY}\b(?!:){_YEAR}", re.IGNORECASE),
    re.compile(rf"\b(?:in|since|during|early|late|mid|last|this|until|of)[\s-]+{_NAME}{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_NAME}\s+(?P<year>\d{{4}})\b", re.IGNORECASE),
)
_ISO = re.compile(r"\b(?P<year>\d{4})-(?P<month>[01]\d)(?:-(?P<day>[0-3]\d))?\b")
_ASKS = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:date|day|month|year|time)\b|什么时候|何时|哪一?[天年月]|几[月号点]", re.I
)
_NOW = re.compile(
    r"\b(?:now|nowadays|currently|current|these days|at the moment|latest|at present|today|still|as of)\b"
    r"|现在|目前|当前|如今|最新|眼下|还是",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|weekend|\d{1,2}:\d{2}|20\d\d"
    r"|(?:last|next|this) (?:week|month|year|night|summer|winter|spring|fall)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:january|february|march|april|june|july|august|september|october|november|december))\b"
    r"|昨天|今天|明天|前天|上周|下周|[0-9一二三四五六七八九十]+[月日号点年]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """Days `first` to `last` of a month; `year` None: of any year."""

    year: int | None
    month: int
    first: int = 1
    last: int = 31

    def closeness(self, at: int) -> str:
        """Where a time in UTC milliseconds lies: `in`, `near` (a day beside it), `month`, or nothing."""
        then = _EPOCH + timedelta(milliseconds=at)
        if then.month == self.month and self.year in (None, then.year):
            if self.first <= then.day <= self.last:
                return "in"
            return "near" if self.first - 1 <= then.day <= self.last + 1 else "month"
        return ""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def named(text: str) -> tuple[Moment, ...]:
    """The times that a text names, each once."""
    return tuple(dict.fromkeys(_named(text)))


def asks_when(text: str) -> bool:
    """Whether a question asks for a time."""
    return _ASKS.search(text) is not None


def asks_now(text: str) -> bool:
    """Whether a question asks how things stand now."""
    return _NOW.search(text) is not None


def tells_when(text: str) -> bool:
    """Whether a text tells a time, absolute or relative."""
    return _TELLS.search(text) is not None


def without(text: str) -> str:
    """A question without the times that it names and the words that ask for one: what it is about."""
    for found in sorted(_found(text), key=lambda found: -found.start()):
        text = text[: found.start()] + " " + text[found.end() :]
    return _NOW.sub(" ", _ASKS.sub(" ", text))


def _named(text: str) -> Iterator[Moment]:
    for found in _found(text):
        given = found.groupdict()
        month = given["month"].casefold()  # `ſeptember` is matched too
        number = _HAN.get(month) or _SHORT.get(month[:3]) or int(month)
        first, last = _PARTS.get(given.get("part") or "", (1, 31))
        if 1 <= number <= 12:
            yield _moment(given.get("year"), number, given.get("day"), first, last)


def _found(text: str) -> Iterator[re.Match[str]]:
    """The places where a time is named, the fuller forms first; none inside another."""
    taken: list[range] = []
    for pattern in (_CHINESE, *_ENGLISH, _ISO):
        for found in pattern.finditer(text):
            if not any(found.start() in other or other.start in range(*found.span()) for other in taken):
                taken.append(range(*found.span()))
                yield found


def _moment(year: str | None, month: int, day: str | None, first: int, last: int) -> Moment:
    if day is not None and 1 <= int(day) <= 31:
        first = last = int(day)
    return Moment(None if year is None else int(year), month, first, last)
