"""Whether what was left open was answered later: for what a brief says is open. Pure.

An answer speaks of what the question speaks of, in one sentence that is no question and leaves nothing open itself.
Who is asked and replies with a yes or a no to it has answered with fewer words. How much of the question's telling
words it has to have is a high bar on purpose: a question that is shown although it was answered costs a line, one that
is hidden although it is open costs more. What a model said of two findings is kept elsewhere (`index/successions.py`)
and needs none of this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from recall import query, segment
from recall.models.extractive import sentences, status
from recall.stem import stem

SHARE, SHARE_OF_PAIRS = 0.65, 0.45  # of the question's words; of scripts that are cut into pairs of characters
_LEAST = 3  # so many words have to tell what it is about
_ASKS = re.compile(r"[?？]\s*[\"')”’»」]*\s*$")
_LABEL = re.compile(
    r"^\W*(?:\w+ ){0,3}?(?:open|unanswered|to ?do|note|unclear|未决|待定|待办)\b[^:：]{0,30}[:：]", re.IGNORECASE
)
_LEAD = re.compile(r"^[^?？]*[:：](?=[^?？]{12,}[?？])", re.DOTALL)
_YES_OR_NO = re.compile(
    r"\W*(?:(?:yes|yep|yeah|no|nope|sure|agreed|exactly|correct|not needed|no need)\b"
    r"|是的?|对|好的?|要|需要|可以|不用|不要|不需要|没有)(?=\W|$|[\u4e00-\u9fff])",
    re.IGNORECASE,
)
_COMMON = frozenset(
    stem(word)
    for word in "open question point decide decided know check checked whether still yet left later note thing".split()
) | {"未决", "还没", "没有", "确认"}


def asks(text: str) -> bool:
    """Whether a text is a question in form."""
    return _ASKS.search(text) is not None


def telling(text: str, least: int = _LEAST) -> frozenset[str]:
    """The words that say what a question is about; empty where too few do."""
    text = _LEAD.sub("", _LABEL.sub("", text, count=1), count=1).partition(";")[0]
    words = frozenset(word for term in query.cut(text).terms for word in map(stem, term.words) if word not in _COMMON)
    return words if len(words) >= least else frozenset()


def replies(question: str, reply: str) -> bool:
    """Whether a reply begins with a yes or a no and says at once what that is about."""
    if _YES_OR_NO.match(reply) is None:
        return False
    said = " ".join(
        reply[span.start : span.end] for span in sentences.spans(reply[: sentences.QUOTE], output=False)[:2]
    )
    return not _leaves_open(said) and bool(telling(question, least=1) & _words(said))


def answers(wanted: frozenset[str], later: Iterable[str]) -> bool:
    """Whether one of the texts answers what these words ask."""
    return bool(wanted) and any(_answers(wanted, text) for text in later)


def _answers(wanted: frozenset[str], text: str) -> bool:
    share = SHARE if sum(word.isascii() for word in wanted) * 2 >= len(wanted) else SHARE_OF_PAIRS
    folded = text.casefold()
    if sum(word[:4] in folded for word in wanted) < share * len(wanted) - 1:  # a quick look; stems lose their endings
        return False
    for span in sentences.spans(text[: sentences.PROSE], output=False):
        said = text[span.start : span.end]
        if not _leaves_open(said) and len(wanted & _words(said)) >= share * len(wanted):
            return True
    return False


def _leaves_open(said: str) -> bool:
    cue = status.read(said)
    return asks(said) or (cue is not None and cue.status == "open")


def _words(said: str) -> frozenset[str]:
    return frozenset(stem(word) for part in segment.both(said) for word in part.split())
