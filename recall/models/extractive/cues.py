"""The words that carry a status, as data.

A row is a status, a weight and its forms. Weights are rough on purpose (1 a hint, 2 a cue, 3 hardly anything else):
what they order is the few sentences of one scope. In the Latin rows forms are separated by `|`, and `/` separates the
choices for one word. The longest form at a place takes its words: `no failures` speaks for `worked`, and the
`failures` in it speaks no more. `attempt` rows take back what speaks for `worked`: an attempt is not a success.
Programs have their own table, because `error` in a log line is a fact and in a sentence a subject.
"""

from __future__ import annotations

from typing import Literal

from recall.types import FindingStatus

Kind = FindingStatus | Literal["attempt", "none"]

LATIN: tuple[tuple[Kind, float, str], ...] = (
    (
        "decided",
        3,
        """
        decided | decision | decisions | we agreed | it's settled | settled on | go/going/went with
        | from now on | decided to | new rule | the rule is | agreed on
        """,
    ),
    (
        "decided",
        2,
        """
        do that/it/this | take it/that | we'll use/keep/take/do/go/stay | we will use/keep/take/do/go
        | let's use/keep/take/do/go/drop/stay/stick | i choose | chose | choose | chosen | agreed | approved
        | accept | accepted | keep the/it/them/that/this/using | drop the/it/that/them | must never/not/always
        | should never/always | rule | rules | instead of | rather than | policy | no more | put that/it in
        | please keep/use | supposed to be
        """,
    ),
    (
        "decided",
        1,
        """
        never | always | i want | i don't want | i prefer | i'd rather | stays | stay on | set to | not wanted
        | is fine | is now | we need | needs to be | plan to | planning to | plans to | going to | makes sense
        | don't | i'd like
        """,
    ),
    (
        "worked",
        3,
        """
        it/that/this/now/all/which/everything works | it/that/this/now/all/which/everything work
        | works now/again/fine/as/well/perfectly/great | worked | fixed | resolved | solved | tests pass
        | all pass | passed | passes | succeeded | succeeds | successful | successfully
        | no failure/failures/error/errors/duplicates/retries/problem/problems/loss/deadlocks/warnings/issues
        | no more failures/errors/duplicates/crashes | none lost/missing/failed
        | 0 errors/failed/failures/differences/missing | is/are gone | cured
        | no longer fails/crashes/leaks/happens | not lost | without errors/problems
        """,
    ),
    (
        "worked",
        2,
        """
        merged | released | deployed | rolled out | shipped | done | finished | complete | completed | verified
        | confirmed | identical | is written | in place | is live | went live | helped | faster | improved
        | pass | won | achieved | passed the | graduated | got the job | turned out well
        """,
    ),
    (
        "worked",
        1,
        """
        added | changed | replaced | moved | removed | implemented | created | installed | updated | wrote
        | now fails/sets/uses/has/runs/goes/does/takes | got | proud | adopted | bought | signed up | started
        """,
    ),
    (
        "failed",
        3,
        """
        fail | fails | failed | failing | failure | failures | broke | broken | crash | crashes | crashed
        | crashing
        | doesn't/didn't/don't/won't/can't/couldn't/isn't/wasn't work/help/enough/possible/hold/solve/fix/start/connect
        | isn't/wasn't working/enough/possible | not enough | not working/work | ruled out | stopped working
        | gave up | doesn't/didn't seem to work | blew up | exploded | got rejected | fell through
        """,
    ),
    (
        "failed",
        2,
        """
        timeout | timeouts | timed out | times out | deadlock | deadlocks | killed | oom | oomkilled | panic
        | panicked | refused | rejected | denied | lost | leak | leaked | leaks | corrupt | corrupted
        | abandoned | twice | unfortunately | regression | segfault | out of memory | hangs | hung
        """,
    ),
    (
        "failed",
        1,
        """
        error | errors | exception | exceptions | wrong | bug | bugs | mistake | worse
        | too slow/much/many/big/late | stuck | missing | blocked | missed | hurt | injured | setback | sad
        | not harmless
        """,
    ),
    (
        "found",
        3,
        """
        because | root cause | the cause | caused by | the reason | reason | turns out | turned out | hence
        | that's why | due to | the culprit | the problem is/was | the issue is/was
        """,
    ),
    (
        "found",
        2,
        """
        measured | p50 | p95 | p99 | benchmark | benchmarks | explains | explain | means that | comes from
        | shows that | found that/out/the/it | it's the | as predicted | therefore | which means | so that's
        """,
    ),
    (
        "found",
        1,
        """
        actually | realized | realised | learned | noticed | i see
        """,
    ),
    (
        "open",
        3,
        """
        open question/questions/item/issue/point/points | undecided | unresolved | not decided/sure/clear/solved
        | todo | tbd | parked | deferred | still open/unclear/unknown/need/needs/to | remains open | remain open
        | open-questions | to be decided | not yet decided | hasn't said/answered/replied/decided | to do
        """,
    ),
    (
        "open",
        2,
        """
        next step | next steps | later | for now | reminder | remind | don't know | wondering | could still
        | remains | not yet | look again | think about it | needs an answer/decision | follow up
        | haven't decided | need to decide
        """,
    ),
    (
        "open",
        1,
        """
        maybe | perhaps | might | hope to | looking into | considering | thinking about | thinking of
        """,
    ),
    (
        "superseded",
        4,
        """
        superseded | supersedes | superseding | overturned | reversed | no longer valid/true | is history
        | retired | obsolete | deprecated | scrap that | changed my mind | replaces the/march/old | replaced by
        """,
    ),
    (
        "superseded",
        2,
        """
        i was wrong | correction | undo | undid | undone | revert | reverted | rolled back | take that back
        """,
    ),
    (
        "attempt",
        1,
        """
        let me | let's | i'll | i will | i'm going to | we'll | trying | try | try to | attempt | attempting
        | should work/now/fix/pass/be | would | could | might | may | if | once | hopefully | please | can you
        | need to | want to | expect | expected | plan | until | before | make sure | ensure | next | must
        | after you
        """,
    ),
    (
        "none",
        0,
        """
        fails/fail/failed if/when/unless | was the rule | error message/messages/handling/code/codes
        | true/false
        """,
    ),
)

HAN: tuple[tuple[Kind, float, str], ...] = (
    (
        "decided",
        3,
        """
        决定 定了 定下来 拍板 就这么 就按 敲定 说定 採用 决策 决议 に決め ことにし 決定 商量好了 说好了
        """,
    ),
    (
        "decided",
        2,
        """
        可以接受 采用 改用 改成 统一用 选了 选用 选择 不要再 必须 一律 绝不 以后都 先这样 就先 那就 同意 规则
        しましょう 安排在 约在 约好 定在 报名
        """,
    ),
    (
        "decided",
        1,
        """
        我要 我希望 我想 不想 打算 计划 准备 设成 设为 保留 宁可 宁愿 优先 接受
        """,
    ),
    (
        "worked",
        3,
        """
        解决了 好了 成功 通过了 全部通过 修好 修复了 没有再 没再 不再出现 不再重复 正常了 恢复了 有效 搞定 没有失败
        没有报错 没有错误 没有丢 不再报错 うまくいき 直りました 成功し
        """,
    ),
    (
        "worked",
        2,
        """
        合并了 已合并 上线了 已上线 发布了 已发布 完成了 已完成 验证了 已验证 验证通过 确认了 已确认 写入了 已写
        部署了 已部署 做完 写好 改好 一致 对得上 快了 顺利 完了しました 买到 办好 学会 达成 打卡 如期
        """,
    ),
    (
        "worked",
        1,
        """
        加了 改了 换成 删了 移到 实现了 已经 已卸载 拿到 收到了 参加了 收获 坚持
        """,
    ),
    (
        "failed",
        3,
        """
        失败 报错 不行 没用 没有用 没解决 没有解决 崩溃 出错 挂了 无效 没生效 没有生效 解不开 不成立 排除 不成功
        不管用 失敗 動かない うまくいか
        """,
    ),
    (
        "failed",
        2,
        """
        错误 超时 死锁 丢了 丢失 泄漏 卡住 被杀 拒绝 放弃 重复了 占满 冲突 坏了 问题是 可惜 没赶上 取消了 耽误
        誤り エラー
        """,
    ),
    (
        "failed",
        1,
        """
        不对 太慢 太大 太多 没了 堵了 堵车 错了 糟 受伤 生病 疼 酸痛 延误 迟到
        """,
    ),
    (
        "found",
        3,
        """
        因为 原因 根本原因 导致 所以才 是由于 查到 发现 说明 原来 原因は ため、 が原因 结果是
        """,
    ),
    (
        "found",
        2,
        """
        测到 测了 实测 压测 算了 也就是 就是说 时间线 看出 其实 实际上 測定 检查结果 体检 诊断 花了 一共
        """,
    ),
    (
        "open",
        3,
        """
        未决 待定 待办 没定 没有定 还没想 没想清楚 不确定 遗留 先记 记着 等答复 答复 再说 再看 未定 未解決
        検討中 还没决定
        """,
    ),
    (
        "open",
        2,
        """
        先留着 暂时 以后再 我去问 要问 还要看 之后再 还没 等回复 等确认 再考虑 再联系
        """,
    ),
    (
        "superseded",
        4,
        """
        推翻 取代 作废 不再成立 废弃 改主意 撤回 廃止 改期
        """,
    ),
    (
        "superseded",
        2,
        """
        更正 纠正 我说错 说错了 回滚了 回退
        """,
    ),
    (
        "attempt",
        1,
        """
        我来 试试 尝试 应该 打算 准备 希望 如果 要是 可能 是否 试着 してみ はず 争取 想清楚再 建议 等到
        """,
    ),
    (
        "none",
        0,
        """
        错误码 错误率 报错信息 没有错 不成功不 回滚之后
        """,
    ),
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
            r"|\bApply complete\b|\b[Ss]uccessfully (?!replaced|wrote|written|edited|updated)\w+"
            r"|\bexit(?: code)?:? 0\b|成功|通过"
        ),
    ),
    (
        "failed",
        4,
        (
            r"\b[1-9]\d* (?:failed|errors?|failures)\b(?!=)|\bTraceback \(|^\s*[\w.]*(?:Error|Exception)\b"
            r"|(?:Error|Exception): |\berror(?:\[\w+\])?: |\bERROR\b|\bFATAL\b|\bFAILED\b|\bpanicked\b"
            r"|\bSIG(?:SEGV|BUS|KILL|ABRT)\b|\bOOMKilled\b|\bout of memory\b"
            r"|\bexit(?:ed)?(?: with)?(?: code| status)?:? [1-9]\d*\b"
        ),
    ),
    (
        "failed",
        3,
        (
            r"\bfatal:|\bnot found\b|\bNo such file\b|\bdenied\b|\brefused\b|\b[Tt]imed? ?out\b|\bKilled\b"
            r"|\bdeadlock\b|\bcannot\b|\bfailed\b(?!=0)|失败|错误"
        ),
    ),
    ("found", 1.5, r"\bp(?:50|95|99)\b|\b\d[\d.,]*\s?(?:ms|MiB|GiB|rows|lines/s)\b"),
)
GATE = tuple(
    "pass ok SUCCESS failed ailure rror xception xit complete uccess ERROR FATAL FAILED Traceback panick SIG OOM memory"
    " fatal found such denied refused out Killed dead cannot p50 p95 p99 ms iB rows lines/s missing differences"
    " problems 成功 通过 失败 错误".split()
)

# A number with its unit measures something.
MEASURE = (
    r"\b\d[\d.,]*\s?(?:%|ms|s|sec|seconds?|min(?:utes)?|h|hours?|[KMGT]i?B|rows?|requests?|lines?|times|million|percent"
    r"|km|kg)(?!\w)|\d[\d.,]*\s?(?:毫秒|秒|分钟|小时|天|行|次|倍|万|元|公里|斤|%)"
)
QUESTION = r"[?？]\s*[\"')\]”」]*$|[吗呢]\s*[?？。]?$"
ASKS_OPEN = r"\b(?:what about|should we|do we|is that still|can it|how do we|who)\b|怎么办|要不要|会不会|谁"
SHIFT = (
    r"^\W*(?:by the way|btw|another (?:thing|question|topic)|one more|next(?: up| topic)?\b|separately"
    r"|different (?:topic|question)|unrelated|also,|now (?:for|to|the)|new topic|moving on|ok(?:ay)?,? (?:next|now)"
    r"|on another|last (?:thing|question)|changing)"
    r"|^\W*(?:另外|顺便|还有一个|还有一件|对了|换个|接下来|下一个|另一个|再问|最后一个|ところで|次に|それから)"
)
