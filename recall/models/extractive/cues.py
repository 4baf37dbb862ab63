"""The words that carry a status, as data.

A row is a status, a weight and its forms. Weights are rough on purpose: 1 is a hint, which never makes a finding, 2 a
cue, 3 hardly anything else. A wrong label does more harm than none, so a word that also has an everyday sense (rule,
later, complete, errors) is at most a hint. In the Latin rows forms are separated by `|`, and `/` separates the
choices for one word. The longest form at a place takes its words: `no failures` speaks for `worked`, and the
`failures` in it speaks no more. `attempt` rows take back what speaks of an outcome: what is tried, wished, feared or
only possible has not happened. `bid` rows count only for who may decide: in turns of the user they speak for
`decided`. `none` rows take everyday uses of a cue away. `LABELS` are the words with which a sentence says its status
itself. Programs have their own table, because `error` in a log line is a fact and in a sentence a subject.
"""

from __future__ import annotations

from typing import Literal

from recall.types import FindingStatus

Kind = FindingStatus | Literal["attempt", "bid", "none"]

LATIN: tuple[tuple[Kind, float, str], ...] = (
    (
        "decided",
        3,
        """
        decided | we agreed | it's settled | settled on | we went with | i went with | went with the
        | from now on | decided to | decided on | new rule | the rule is | agreed on | agreed to | we'll go with
        | we will go with | let's go with | i'll go with | then go with | i'd go with | decision is
        | decision was | so it's decided | is decided
        """,
    ),
    (
        "decided",
        2,
        """
        we'll use/keep/take/do/stay | we will use/keep/take/do/stay | let's use/drop/stay/stick | i choose
        | we chose | i'd keep | must never/always | one rule | one more rule | please keep/use
        | is/are not wanted | don't want another/any | i want no | stays off/out | i'd rather not
        | we'd rather not
        """,
    ),
    (
        "decided",
        1,
        """
        never | always | stays | stay on | set to | is fine | is now | we need | plan to | planning to
        | plans to | makes sense | instead of | rather than | rule | policy | chosen | choose | chose | keep the
        """,
    ),
    (
        "bid",
        2,
        """
        i want | i don't want | i prefer | i'd rather | from today | as the standard | no more | stays at
        | not wanted | agreed | is/are fine | yes to | in the meantime | for the record | no auto | i accept
        | i take the
        """,
    ),
    (
        "worked",
        3,
        """
        it/that/this/everything works | it/that/this/all/everything work | works now/again/fine/perfectly/great
        | that/this/it/which/now worked | is/are/was/were/been/got fixed | fixed it/the/that/this/by
        | i/we fixed | is/are/was/were/been resolved | resolved it/the/that | is/are/was/were/been solved
        | solved it/the/that/by | tests pass | all pass | all passed | test/tests/check/checks/build passed
        | test/tests/check/checks passes | succeeded
        | no failure/failures/error/errors/duplicates/retries/problems/loss/deadlocks/warnings/differences
        | no more failures/errors/duplicates/crashes | none lost/missing/failed
        | 0 errors/failed/failures/differences/missing
        | deadlocks/duplicates/errors/failures/crashes/spikes/leaks are gone
        | the/that leak/bug/error/warning is gone | no longer fails/crashes/leaks/happens | not lost
        | nothing lost | without errors/problems
        """,
    ),
    (
        "worked",
        2,
        """
        is/are/was/were/been merged | merged and | is/are/was/were/been released | is/are/was/were/been deployed
        | deployed and | is/are/was shipped | is/are done | is/are finished | is/are/was complete
        | is/are/was completed | is/are/was/were/been verified | verified on/that/with/by | is/are/was confirmed
        | confirmed on/that/with/by | is/are in place | is/are live | went live | graduated | got the job
        | turned out well | returned 200 | returns 200 | cured
        """,
    ),
    (
        "worked",
        1,
        """
        now fails/sets/uses/has/runs/goes/does/takes/returns/says | added | changed | replaced | moved | removed
        | implemented | created | installed | updated | wrote | got | proud | adopted | bought | signed up
        | started | works | worked | fixed | resolved | solved | passed | passes | pass | successful
        | successfully | merged | released | deployed | shipped | done | finished | complete | completed
        | verified | confirmed | identical | helped | faster | improved | won | achieved
        """,
    ),
    (
        "failed",
        3,
        """
        fails | failed | it/that/this broke | broke the/it | crashes | crashed | was/were/got killed
        | oom-killed | doesn't/didn't/don't/won't/can't/couldn't/wasn't work/help/hold/solve/fix/start/connect
        | isn't/wasn't working | not working | is/was ruled out | stopped working | gave up
        | doesn't/didn't seem to work | blew up | exploded | got rejected | fell through | breaks
        | took itself down
        """,
    ),
    (
        "failed",
        2,
        """
        timed out | times out | was/were/is/are/been deadlocked | oomkilled | panicked
        | was/were/been/got refused | was/were/been/got rejected | was/were/been/got denied
        | was/were/been/got lost | was/were/been/got corrupted | loses | lost the/our/all/some | leaks | leaked
        | segfault | segfaulted | ran out of | hangs | hung | is/are/was/were broken | not enough
        | were/was missing | rows vanishing | random failures | too slow/late | got hurt/injured
        | cannot push/pull/connect/start/build
        """,
    ),
    (
        "failed",
        1,
        """
        fail | failing | failure | failures | error | errors | exception | exceptions | wrong | bug | bugs
        | mistake | worse | timeout | timeouts | deadlock | deadlocks | killed | oom | panic | refused
        | rejected | denied | lost | leak | corrupt | corrupted | abandoned | unfortunately | regression
        | broken | broke | crash | crashing | stuck | missing | blocked | missed | hurt | injured | setback
        | sad | not possible
        """,
    ),
    (
        "found",
        3,
        """
        root cause is/was | the cause is/was | is/was caused by | the reason is/was | turns out | turned out
        | that's why | the culprit | the problem is/was | the issue is/was
        """,
    ),
    (
        "found",
        2,
        """
        i/we measured | measured on/with/at | explains the/why/it | found that/out | shows that | reason is
        """,
    ),
    (
        "found",
        1,
        """
        because | root cause | the cause | caused by | the reason | hence | p50 | p95 | p99 | benchmark
        | benchmarks | explains | means that | comes from | as predicted | therefore | measured | actually
        | realized | realised | learned | noticed | i see
        """,
    ),
    (
        "open",
        3,
        """
        open question/questions/item/issue/point/points | is/are/still/stays undecided
        | is/are/still/stays unresolved | not decided/solved | is/are not clear | i'm not sure
        | not sure whether/if/yet | haven't/hasn't decided | still open/unclear/unknown
        | remains open/unclear/unknown | remain open | is/are open | to be decided
        | not yet decided/clear/known/verified/tested | hasn't said/answered/replied/decided | without an answer
        | don't/doesn't know yet | needs an answer/decision | need to decide | is/are/was parked
        | deferred until/to | open-questions | is tbd | open for now
        """,
    ),
    (
        "open",
        2,
        """
        don't know whether/if/how/why/what | follow up on | think about it | looked at later | left for later
        | on the list
        """,
    ),
    (
        "open",
        1,
        """
        next step | next steps | later | for now | reminder | remind | wondering | could still | remains
        | not yet | look again | maybe | perhaps | might | hope to | looking into | considering | thinking about
        | thinking of | todo | tbd | parked | deferred | undecided | unresolved | open
        """,
    ),
    (
        "superseded",
        4,
        """
        is/are/was/were superseded | supersedes | is/was overturned | is/are no longer valid/true | is history
        | scrap that | changed my mind | this/that/it/which replaces the | is/was/were/been replaced by
        | is/are obsolete | take that back | replaces the old | replaces the fixed
        """,
    ),
    (
        "superseded",
        2,
        """
        i was wrong | i/we undid | i/we reverted | was/were/been reverted | i/we rolled back
        | was/were/been retired
        """,
    ),
    (
        "attempt",
        1,
        """
        let me | i'll | i will | i'm going to | we'll | trying | try | try to | attempt | attempting | should
        | would | could | might | may | if | once | hopefully | please | can you | need to | want to | wants to
        | expect | expected | make sure | ensure | after you | i'd | can be | in case | so that | to avoid
        | avoid | prevent | prevents | unless | whenever | whether | hope | wish | imagine | risk | likely
        | probably | perhaps | maybe | assume | suppose | e.g | for example | as long as
        """,
    ),
    (
        "none",
        0,
        """
        fails/fail/failed if/when/unless | was the rule | error message/messages/handling/code/codes
        | true/false | how it/this/that work/works/worked | what works/worked
        | worked on/with/as/at/for/last/until/before/yesterday
        | it/that/this/which/everything worked last/until/before/yesterday | works on/with/as/at/for
        | not because | or because | just because
        | failed login/logins/attempt/attempts/request/requests/test/tests/job/jobs/batch/batches
        | do that/it/this for/with/when/if | feel lost | is/are open to | is/are out of | open source | hung out
        | hangs out | doesn't/does/do work | what it/that/this broke | i want to/you | i prefer to
        """,
    ),
)

HAN: tuple[tuple[Kind, float, str], ...] = (
    (
        "decided",
        3,
        """
        决定 定了 定下来 拍板 就按 敲定 说定 決定 に決め ことにし 商量好了 说好了 决议
        """,
    ),
    (
        "decided",
        2,
        """
        ：采用 :采用 我们采用 统一采用 就采用 改用 统一用 选了 选用 一律 绝不 以后都 就这么 採用
        しましょう 定在 约好 采纳
        """,
    ),
    (
        "decided",
        1,
        """
        选择 规则 决策 安排在 约在 报名 我要 我希望 我想 不想 打算 计划 准备 宁可 宁愿 优先 接受
        """,
    ),
    (
        "bid",
        2,
        """
        同意 可以接受 那就 改成 不要再 就先 设成 设为 不许 照你说的 先进先出 规矩 我要求
        """,
    ),
    (
        "worked",
        3,
        """
        解决了 修好 修复了 改好了 通过了 全部通过 测试通过 没有再 没再 不再出现 不再重复 恢复了 恢复正常
        搞定 没有失败 没有报错 没有丢 不再报错 うまくいき 直りました 成功了 成功し
        """,
    ),
    (
        "worked",
        2,
        """
        合并了 已合并 上线了 已上线 发布了 已发布 完成了 已完成 验证了 已验证 验证通过 已确认 写入了 部署了
        已部署 做完了 写好了 对得上 完了しました 买好了 办好了 学会了 达成了 压测通过 已处理
        """,
    ),
    (
        "worked",
        1,
        """
        好了 成功 正常了 有效 顺利 一致 快了 如期 打卡 确认了 加了 改了 换成 删了 移到 实现了 已经
        已卸载 拿到 收到了 参加了 收获 坚持
        """,
    ),
    (
        "failed",
        3,
        """
        失败了 报错了 崩溃 挂了 没解决 没有解决 没生效 没有生效 解不开 不成立 排除了 不管用 失敗し 動かない
        うまくいか 不行 OOMKilled
        """,
    ),
    (
        "failed",
        2,
        """
        丢了 卡住了 被杀 被拒 超时了 死锁了 占满了 没赶上 取消了 耽误了 总是错
        """,
    ),
    (
        "failed",
        1,
        """
        失败 报错 没用 没有用 坏了 出错 无效 排除 不成功 错误 超时 死锁 丢失 泄漏 拒绝 放弃 冲突 可惜
        不对 太慢 太大 太多 没了 堵了 错了 糟 受伤 生病 疼 酸痛 延误 迟到 失敗 誤り エラー
        """,
    ),
    (
        "found",
        3,
        """
        原因是 原因找到 原因查到 根本原因 查到了 原因は が原因 问题出在 结果是
        """,
    ),
    (
        "found",
        2,
        """
        because 发现了 测到 测了 实测 压测 算了一下
        """,
    ),
    (
        "found",
        1,
        """
        因为 导致 由于 原因 所以才 发现 也就是 就是说 时间线 看出 其实 实际上 測定 检查结果 体检 诊断
        花了 一共 查到 原来 ため、
        """,
    ),
    (
        "open",
        3,
        """
        未决 待定 留作待办 没定 没有定 还没想 没想清楚 先记着 等答复 未定 未解決 検討中 还没决定 还不确定
        没解决 还没有验证 还没验证
        """,
    ),
    (
        "open",
        2,
        """
        先留着 以后再说 我去问 还要看 等回复 等确认 再考虑 之后再看
        """,
    ),
    (
        "open",
        1,
        """
        待办 不确定 遗留 先记 记着 答复 再说 再看 暂时 以后再 要问 之后再 还没 再联系
        """,
    ),
    (
        "superseded",
        4,
        """
        推翻 已作废 取代了 不再成立 已废弃 改主意 廃止 改期
        """,
    ),
    (
        "superseded",
        2,
        """
        更正 我说错 说错了 回滚了
        """,
    ),
    (
        "attempt",
        1,
        """
        我来 试试 尝试 应该 打算 准备 希望 如果 要是 可能 是否 试着 してみ はず 争取 想清楚再 建议 等到
        一旦 避免 防止 以防 祝你 祝您 万一 想象 怕 以免 会不会 能不能 可以 能够 常见 比如 例如 或者
        预祝
        """,
    ),
    (
        "none",
        0,
        """
        错误码 错误率 报错信息 没有错 不成功不 回滚之后 再做决定 做决定 做个决定 有决定 决定性 固定下来
        确定了 稳定在 稳定了 肯定了 制定了 设定了 否定了 固定了 未定义 不是因为 还是因为
        """,
    ),
)

# A sentence may say its status itself, before a colon.
LABELS: tuple[tuple[FindingStatus, str], ...] = (
    ("decided", r"(?:final )?decisions?|decided(?: for [\w ]{1,30})?|决定|最终决定|決定"),
    ("worked", r"done|fixed|resolved|solved|已处理|已完成|已修复|已解决"),
    ("failed", r"failed|失败|失敗"),
    ("found", r"(?:the )?(?:root )?cause|(?:key )?findings?|measured|(?:根本)?原因|根因|原因"),
    ("open", r"(?:still )?open|open (?:questions?|points?|issues?)|to-?do|tbd|unresolved|未决(?:问题)?|待定|待办|遗留"),
    ("superseded", r"superseded|correction|更正|作废"),
)

# A row counts for a line of a program's output if its pattern is found; `GATE` are the literals one of which must
# stand in the line at all.
OUTPUT: tuple[tuple[FindingStatus, float, str], ...] = (
    (
        "worked",
        4,
        (
            r"\b\d+ passed\b(?!.*\b[1-9]\d* failed)|\btest result: ok\b|\bBUILD SUCCESS\w*|\b[Aa]ll (?:\w+ )?"
            r"(?:tests|checks) pass\w*|\bfailed=0\b|\b0 (?:errors|failed|failures|missing|differences|problems)\b"
            r"|\bApply complete\b|全部通过"
        ),
    ),
    (
        "failed",
        4,
        (
            r"\b[1-9]\d* (?:failed|errors?|failures)\b(?!=)|^\s*[\w.]*(?:Error|Exception): \S|^\s*E? *\w*Error: "
            r"|^\s*(?:npm )?(?:error|fatal)(?:\[\w+\])?: |^\s*(?:ERROR|FATAL|FAILED)\b|\bFAILED$|\bpanicked at\b"
            r"|\bSIG(?:SEGV|BUS|KILL|ABRT)\b|\bOOMKilled\b|\bout of memory\b"
            r"|\w+ exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]\d*\b"
        ),
    ),
    (
        "failed",
        3,
        r"^\s*denied: |\b[Pp]ermission denied\b|\b[Cc]onnection refused\b|\bdeadlock detected\b",
    ),
    ("found", 2, r"\bp(?:50|95|99)\s?[=:]\s?\d"),
)
# What tells only that a program ended or a file was written; the outcome stands elsewhere.
BOILERPLATE = (
    r"^(?:Command exited with code \d+|\(no output\)|Successfully (?:replaced|wrote|written|edited|updated|created)\b"
    r"|Checked \d+ files? in|npm (?:error|ERR!|warn)|Lifecycle script|> \S+@[\d.]+ |Process exited with code 0\b"
    r"|The file .{1,200} has been (?:updated|created)|Wall time|Exit code:? \d+$|Total output lines)"
)
GATE = tuple(
    "pass ok SUCCESS failed ailure rror xception xit complete ERROR FATAL FAILED panick SIG OOM memory fatal denied"
    " refused dead p50 p95 p99 missing differences problems 全部通过".split()
)

# A number with its unit measures something.
MEASURE = (
    r"\b\d[\d.,]*\s?(?:%|ms|s|sec|seconds?|min(?:utes)?|h|hours?|[KMGT]i?B|rows?|requests?|lines?|times|million|percent"
    r"|km|kg)(?!\w)|\d[\d.,]*\s?(?:毫秒|秒|分钟|小时|天|行|次|倍|万|元|公里|斤|%)"
)
QUESTION = r"[?？]\s*[\"')\]”」]*$|[吗呢]\s*[?？。]?$"
# How a sentence begins that says what is going to be done now.
INTENT = (
    r"\W*(?:(?:now|ok|okay|so|good|great|perfect|first|next|then|alright|yes|right|and|also|i see)\W+){0,3}"
    r"(?:let me\b|let's (?!use|keep|take|go with|drop|stay|stick|do )|i(?:'ll| will| need to|'m going to)"
    r" (?:now|try|check|look|start|first|read|see|run|update|fix|add|create|make|also|remove|replace|verify|test)\b"
    r"|we need to\b|i need to\b|now i\b|next,? i\b)"
)
# What is asked for is not so yet.
REQUEST = (
    r"\b(?:can|could|would|will) you\b|\bplease\b|\b(?:give|tell|show) me\b|\bi (?:want|need) (?:you|to)\b"
    r"|^investigate\b"
    r"|(?<!申)(?<!邀)请(?!求|假|客)|帮我|麻烦你"
)
# What somebody bids in few words, at the beginning of a sentence.
BIDS = (
    r"\W*(?:(?:ok|okay|yes|yeah|right|good|fine|then|so|sure|agreed|no|and)\W+){0,2}"
    r"(?:(?:do|take|keep|drop|leave) (?:that|it|this|them|the|both)\b|stay with|go (?:back|with)\b)"
)
# A sentence that is a reason.
REASON = r"\W*(?:because\b|因为)"
BUT = r"[,;，；]\s*(?:but|however|except)\b|\bbut (?=\w+ )|(?:但是|不过|但|可是)"
SHIFT = (
    r"^\W*(?:by the way|btw|another (?:thing|question|topic)|one more|next(?: up| topic)?\b|separately"
    r"|different (?:topic|question)|unrelated|also,|now (?:for|to|the)|new topic|moving on|ok(?:ay)?,? (?:next|now)"
    r"|on another|last (?:thing|question)|changing)"
    r"|^\W*(?:另外|顺便|还有一个|还有一件|对了|换个|接下来|下一个|另一个|再问|最后一个|ところで|次に|それから)"
)
