"""The words that carry a status, as data, and the reading of them.

Each row: a status, a weight, and the forms in one language. A row counts once a sentence. Weights are rough on purpose
(1 a hint, 2 a cue, 3 hardly anything else): what they order is few sentences of one scope. An attempt is not a
success: `ATTEMPT` forms take back what speaks for `worked`, and a question can only be `open`. Output of programs has its own table, because `error` in a
log line is a fact and in a sentence a subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recall.types import FindingStatus

_PROSE: tuple[tuple[FindingStatus, float, str], ...] = (
    # decided
    (
        "decided",
        3,
        r"\bdecided\b|\bdecision\b|\bwe agreed\b|\bit'?s settled\b|\bgo(?:ing)? with\b|\bsettled on\b|\bfrom now on\b",
    ),
    ("decided", 3, r"决定|定了|定下来|拍板|就这么|就按|敲定|说定|採用|决策|に決め|ことにし|決定"),
    (
        "decided",
        2,
        r"\bdo (?:that|it)\b|\btake (?:it|that)\b|\bwe(?:'ll| will) (?:use|keep|take|do|go)\b|\blet'?s (?:use|keep|take|do|go|drop|stay)\b|\bi choose\b|\bchose\b|\bchoose\b|\bagreed\b|\bapproved\b|\baccepted?\b",
    ),
    (
        "decided",
        2,
        r"\bkeep (?:the|it|them|that|this|using)\b|\bdrop (?:the|it|that)\b|\b(?:must|should) (?:never|always|not)\b|\bno more\b|\brule\b|\binstead of\b|\brather than\b|\bpolicy\b",
    ),
    (
        "decided",
        2,
        r"可以接受|采用|改用|改成|统一用|选了|选用|选择|不要再|必须|一律|绝不|以后都|先这样|就先|那就|接受|同意|规则|しましょう",
    ),
    (
        "decided",
        1,
        r"\bnever\b|\balways\b|\bi want\b|\bi don'?t want\b|\bi prefer\b|\bi'?d rather\b|\bplan(?:ning|s)? to\b|\bgoing to\b|\bstays?\b|\bset (?:it |\S+ )?to\b|\bnot wanted\b|\bis (?:now|fine)\b|\bneeds? to be\b",
    ),
    ("decided", 1, r"我要|我希望|我想|不想|打算|计划|准备|设成|设为|保留|宁可|宁愿|优先"),
    # worked
    (
        "worked",
        3,
        r"\b(?:it|that|this|now|all|which|everything) works?\b|\bworks (?:now|again|fine|as)\b|\bworked\b|\bfixed\b|\bresolved\b|\bsolved\b|\bpass(?:ed|es)?\b(?! (?:in|to|as|by|an?|the|it|on|through|over)\b)|\bsucceed(?:s|ed)\b|\bsuccessful(?:ly)?\b|\bgreen\b",
    ),
    (
        "worked",
        3,
        r"\bno (?:more )?(?:failures?|errors?|duplicates?|retries|problems?|loss|deadlocks?|warnings?)\b|\bnone (?:lost|missing|failed)\b|\b0 (?:errors|failed|failures|differences|missing)\b|\b(?:is|are) gone\b|\bcured\b",
    ),
    (
        "worked",
        3,
        r"解决了|好了|成功|通过了|全部通过|修好|修复了|没有再|没再|不再|正常了|恢复了|有效|搞定|うまくいき|直りました|成功し",
    ),
    (
        "worked",
        2,
        r"\bmerged\b|\breleased\b|\bdeployed\b|\brolled out\b|\bshipped\b|\bdone\b|\bfinished\b|\bcompleted?\b|\bverified\b|\bconfirmed\b|\bidentical\b|\bis (?:written|in place|live)\b|\bhelped\b|\bfaster\b|\bimproved\b",
    ),
    (
        "worked",
        2,
        r"合并了|已合并|(?:上线|发布|完成|验证|确认|写入|部署)了|已(?:上线|发布|完成|验证|确认|写|部署)|验证通过|做完|写好|改好|一致|对得上|快了|顺利|完了しました",
    ),
    (
        "worked",
        1,
        r"\badded\b|\bchanged\b|\breplaced\b|\bmoved\b|\bremoved\b|\bimplemented\b|\bcreated\b|\binstalled\b|\bupdated\b|\bwrote\b|\bnow (?:fails|sets|uses|has|runs|goes|does|takes)\b|\bwon\b|\bgot\b|\bachieved\b|\bproud\b",
    ),
    ("worked", 1, r"加了|改了|换成|删了|移到|实现了|已经|已卸载|拿到|学会|收到了"),
    # failed
    (
        "failed",
        3,
        r"\bfail(?:s|ed|ing|ures?)?\b(?! (?:if|when|unless|with a clear)\b)|\bbroken?\b|\bbroke\b|\bcrash(?:ed|es|ing)?\b|\b(?:doesn|didn|don|won|can|couldn|isn|wasn)'?t (?:work|help|enough|possible|hold|solve|fix|start|start|connect)\w*\b|\bnot enough\b|\bruled out\b",
    ),
    (
        "failed",
        3,
        r"失败|报错|不行|没用|没有用|没解决|崩溃|出错|挂了|无效|没生效|没有生效|解不开|不成立|排除|失敗|動かない|うまくいか",
    ),
    (
        "failed",
        2,
        r"\btime[sd]? ?out\b|\btimeouts?\b|\bdead ?locks?\b|\bkilled\b|\bOOM\w*\b|\bpanic\w*\b|\brefused\b|\brejected\b|\bdenied\b|\blost\b|\bleak(?:ed|s)?\b|\bcorrupt\w*\b|\babandoned\b|\bgave up\b|\btwice\b|\bunfortunately\b",
    ),
    ("failed", 2, r"错误|超时|死锁|丢了|丢失|泄漏|卡住|被杀|拒绝|放弃|重复了|占满|冲突|坏了|问题是|可惜|誤|エラー"),
    (
        "failed",
        1,
        r"\berrors?\b|\bexceptions?\b|\bwrong\b|\bbug\b|\bmistake\b|\bworse\b|\btoo (?:slow|much|many|big|late)\b|\bharmless\b|\bstuck\b|\bmissing\b|\bblocked\b|\bmissed\b|\bhurt\b|\binjur\w+\b",
    ),
    ("failed", 1, r"不对|太慢|太大|太多|没了|堵|错了|糟|受伤|生病"),
    # found
    (
        "found",
        3,
        r"\bbecause\b|\broot cause\b|\bthe cause\b|\bcaused by\b|\bthe reason\b|\breason:|\bturns? out\b|\bturned out\b|\bhence\b|\bthat'?s why\b|\bdue to\b",
    ),
    ("found", 3, r"因为|原因|根本原因|导致|所以才|是由于|查到|发现|说明|结果是|原来|原因は|ため、|が原因"),
    (
        "found",
        2,
        r"\bmeasured\b|\bp(?:50|95|99|999)\b|\bbenchmark\w*\b|\bexplains?\b|\bmeans that\b|\bcomes from\b|\bshows? that\b|\bfound (?:that|out|the|it)\b|\bit'?s the\b|\bas you predicted\b|\btherefore\b|\bactually\b",
    ),
    ("found", 2, r"测到|测了|实测|压测|算了|也就是|就是说|时间线|看出|其实|实际上|測定"),
    (
        "found",
        1,
        r"\b\d[\d.,]*\s?(?:%|ms|s|sec|seconds?|min(?:utes)?|h|hours?|[KMGT]i?B|rows?|requests?|lines?|times|million|percent|km|kg)(?![\w])",
    ),
    ("found", 1, r"\d[\d.,]*\s?(?:毫秒|秒|分钟|小时|天|行|次|倍|万|个|元|公里|斤|%)"),
    # open
    (
        "open",
        3,
        r"\bopen (?:question|item|issue|point)s?\b|\bundecided\b|\bunresolved\b|\bnot (?:decided|sure|clear|solved)(?: yet)?\b|\bto ?do\b|\bTBD\b|\bparked\b|\bdeferred\b|\bstill (?:open|unclear|unknown|need|to)\b|\bremains? open\b|\bopen-questions?\b|\bopen\.md\b",
    ),
    (
        "open",
        3,
        r"未决|待定|待办|没定|没有定|还没想|没想清楚|不确定|遗留|先记|记着|等.{0,8}答复|再说|再看|未定|未解決|検討中",
    ),
    (
        "open",
        2,
        r"\bnext step\b|\blater\b|\bfor now\b|\bremind(?:er)?\b|\bneeds? (?:an? )?(?:answer|decision)\b|\bdon'?t know\b|\bwondering\b|\bcould still\b|\bremains?\b|\bhasn'?t (?:said|answered|replied|decided)\b|\b(?:look|think) (?:again|about it)\b|\bnot yet\b",
    ),
    ("open", 2, r"先留着|暂时|以后再|明天.{0,4}问|我去问|要问|等.{0,6}(?:回复|确认)|还要看|之后再|还没"),
    # superseded
    (
        "superseded",
        4,
        r"\bsupersed\w+\b|\boverturn\w*\b|\breversed\b|\breplac(?:es|ed) the (?:old|earlier|previous|march|decision)\b|\bno longer (?:valid|true|the case)\b|\bis history\b|\bretired\b|\bobsolete\b|\bdeprecated\b|\bscrap that\b|\bchanged my mind\b",
    ),
    ("superseded", 4, r"推翻|取代|作废|不再成立|废弃|改主意|撤回|廃止"),
    (
        "superseded",
        2,
        r"\bi was wrong\b|\bcorrection\b|\bundo\b|\bundid\b|\brevert(?:ed)?\b|\brolled back\b|\binstead of what\b",
    ),
    ("superseded", 2, r"更正|纠正|我说错|说错了|回滚了|回退"),
)

_OUTPUT: tuple[tuple[FindingStatus, float, str], ...] = (
    (
        "worked",
        4,
        r"\b\d+ passed\b(?!.*\b[1-9]\d* failed)|\btest result: ok\b|\bBUILD SUCCESS\w*|\ball (?:tests|checks) pass\w*|\bfailed=0\b|\b0 (?:errors|failed|failures|missing|differences|problems)\b|\bApply complete\b|\b[Ss]uccessfully (?!replaced|wrote|written|edited|updated)\w+",
    ),
    (
        "failed",
        4,
        r"\b[1-9]\d* (?:failed|errors?|failures)\b(?!=)|\bTraceback \(|^\s*(?:[\w.]+)?(?:Error|Exception)\b|\b[\w.]*(?:Error|Exception):|\berror(?:\[\w+\])?:|\bERROR\b|\bFATAL\b|\bFAILED\b|\bpanicked\b|\bSIG(?:SEGV|BUS|KILL|ABRT)\b|\bOOMKilled\b|\bout of memory\b|\bexit(?:ed with)? code:? [1-9]\d*|\bexit status [1-9]|\bexit(?:ed)? [1-9]\d*\b",
    ),
    (
        "failed",
        3,
        r"\bfatal:|\bnot found\b|\bNo such file\b|\bdenied\b|\brefused\b|\btimed? ?out\b|\bKilled\b|\bdeadlock\b|\bcommand not found\b|\bcannot\b|\bfailed\b(?!=0)|失败|错误",
    ),
    ("found", 1, r"\bp(?:50|95|99)\b|\b\d[\d.,]*\s?(?:%|ms|s|MB|MiB|GiB|GB|rows|lines/s)(?![\w])"),
)

_ATTEMPT = re.compile(
    r"\b(?:let me|let'?s|i'?ll|i will|i'?m going to|going to|trying|try(?:ing)? to|attempt\w*|should (?:work|now|fix|pass|be)|"
    r"would|could|might|may|if|once|when it|hopefully|please|can you|need(?:s)? to|next:?|want to|expect\w*|plan)\b"
    r"|我来|试试|尝试|应该|打算|准备|希望|如果|要是|可能|试着|してみ|はず",
    re.IGNORECASE,
)  # fmt: skip
_QUESTION = re.compile(r"[?？]\s*[\"')\]”」]*$|[吗呢]\s*[?？。]?$")
_PROMISE_OPEN = re.compile(
    r"\b(?:what about|should we|do we|is that still|can it|how do we|who)\b|怎么办|要不要|会不会|谁", re.IGNORECASE
)
_SHIFT = re.compile(
    r"^\W*(?:by the way|btw|another (?:thing|question|topic)|one more|next(?: up| topic)?\b|different (?:topic|question)|separately|"
    r"unrelated|also,|now (?:for|to|the)|new topic|moving on|ok(?:ay)?,? (?:next|now)|on another|last (?:thing|question)|changing)"
    r"|^\W*(?:另外|顺便|还有一个|还有一件|对了|换个|接下来|下一个|另一个|再问|最后一个|ところで|次に|それから)",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cue:
    """What a sentence speaks for, and how strongly."""

    status: FindingStatus
    weight: float


def _compile(
    table: tuple[tuple[FindingStatus, float, str], ...],
) -> tuple[tuple[FindingStatus, float, re.Pattern[str]], ...]:
    return tuple((status, weight, re.compile(forms, re.IGNORECASE)) for status, weight, forms in table)


_PROSE_ROWS = _compile(_PROSE)
_OUTPUT_ROWS = tuple((status, weight, re.compile(forms)) for status, weight, forms in _OUTPUT)
# One look that says whether any row can match at all: most sentences carry nothing.
_ANY_PROSE = re.compile("|".join(forms for _, _, forms in _PROSE), re.IGNORECASE)
_ANY_OUTPUT = re.compile("|".join(forms for _, _, forms in _OUTPUT))
# At equal weight the rarer and more telling status goes first.
_ORDER: tuple[FindingStatus, ...] = ("superseded", "open", "decided", "failed", "worked", "found")


def read(sentence: str, output: bool) -> Cue | None:
    """The status that a sentence speaks for, or None. `output` for what a program printed."""
    if output:
        return _strongest(sentence, _OUTPUT_ROWS) if _ANY_OUTPUT.search(sentence) else None
    question = bool(_QUESTION.search(sentence))
    if not _ANY_PROSE.search(sentence):
        return Cue("open", 1.0) if question and _PROMISE_OPEN.search(sentence) else None
    found = _strongest(sentence, _PROSE_ROWS, attempt=bool(_ATTEMPT.search(sentence)))
    if question:
        # A question states nothing; it may be the open point itself.
        return Cue("open", 1.5) if found and (found.status == "open" or _PROMISE_OPEN.search(sentence)) else None
    return found


def shifts(text: str) -> bool:
    """Whether a turn says itself that it begins something else."""
    return bool(_SHIFT.search(text[:60]))


def _strongest(
    sentence: str, rows: tuple[tuple[FindingStatus, float, re.Pattern[str]], ...], attempt: bool = False
) -> Cue | None:
    totals: dict[FindingStatus, float] = {}
    for status, weight, pattern in rows:
        if pattern.search(sentence):
            totals[status] = totals.get(status, 0.0) + weight
    if attempt:
        totals.pop("worked", None)
    if "worked" in totals and "failed" in totals and totals["worked"] >= 3 and rows is _PROSE_ROWS:
        # "no failures", "0 errors": the word that says it failed is the one that is denied.
        if _DENIED.search(sentence):
            totals.pop("failed")
        else:
            totals["worked"] -= 1.0
    best = max(totals, key=lambda status: (totals[status], -_ORDER.index(status)), default=None)
    return None if best is None else Cue(best, totals[best])


_DENIED = re.compile(
    r"\b(?:no|zero|0|without|none|never|not one|gone)\b[^.;]{0,30}\b(?:fail\w*|errors?|retries|deadlocks?|duplicates?|loss|problems?|lost)\b"
    r"|\b(?:fail\w*|errors?|deadlocks?|duplicates?|problems?)\b[^.;]{0,20}\b(?:gone|fixed|resolved|solved|cured|0)\b"
    r"|没有?再?.{0,6}(?:失败|报错|错误|超时|死锁|丢)|(?:失败|报错|错误|超时|死锁).{0,8}(?:解决|没有了|消失|修)",
    re.IGNORECASE,
)  # fmt: skip
