"""Words that say nothing about a subject, as data.

`STOP` breaks phrases and is never a term. `DULL` may stand inside a phrase, but weighs little: words of every
conversation about work (run, file, change) or about programs (build, container, message), which are in no subject rare
enough where a catalogue is small; `DULL_HAN` the same. `STOP_HAN_…` break runs of Han and kana: particles,
pronouns, adverbs.
"""

from __future__ import annotations

STOP = frozenset(
    """
    a about above after again against ago all almost alone along already also although always am among an and
    another any anybody anyone anything anyway are aren't around as at away back be became because become becomes
    been before being below between both but by can can't cannot could couldn't despite did didn't do does doesn't
    doing don't done down due during each either else enough etc even ever every everybody everyone everything
    except few first for former from further get gets getting give gives go goes going gone got had hadn't has
    hasn't have haven't having he her here hers herself him himself his how however i i'd i'll i'm i've if in
    indeed instead into is isn't it it'd it'll it's its itself just keep keeps keeping kept last later least less
    let let's like likely little ll lot lots made mainly make makes making many may maybe me mean means meant
    might mine more most mostly much must my myself near nearly need needed needs neither never next no nobody
    none nor not nothing now nowhere of off often oh ok okay on once one ones only onto or other others otherwise
    our ours ourselves out over own per perhaps please possible possibly put quite rather re really right s said
    same saw say saying says see seem seemed seems seen several shall she should shouldn't since so some somebody
    someone something sometimes somewhere soon still such sure t take taken takes than thank thanks that that's
    the their theirs them themselves then there there's therefore these they they'd they'll they're they've thing
    things think this those though thought three through thus till to today together tomorrow too took toward
    towards tried tries try trying twice two under unless until up upon us usually ve very via want wanted wants
    was wasn't way we we'd we'll we're we've well went were weren't what what's whatever when whenever where
    whereas wherever whether which while who whoever whole whom whose why will with within without won't would
    wouldn't yes yesterday yet you you'd you'll you're you've your yours yourself yeah yep hey hi hello wow great
    good nice cool glad love loved amazing awesome ah hmm haha lol honestly actually basically simply exactly
    especially definitely certainly probably obviously clearly currently recently previously finally initially
    eventually directly completely apparently alright fine bad better best worse worst big bigger small old older
    new newer long longer short able unable four five six seven eight nine ten hundred thousand second third half
    dozen know knows knew known look looks looked looking come comes came coming happen happens happened find
    found feel feels felt tell told asked ask asks talk guess hope remember forget bit kind sort stuff sounds
    sound idea point reason case time times day days week weeks month months year years hour hours minute minutes
    morning evening night monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december isn aren wasn weren don doesn didn won wouldn couldn
    shouldn hasn haven hadn ain nor whose gonna wanna gotta lets stay stays stayed leave leaves left seemingly e.g
    i.e eg ie vs versus plus minus true false null anymore whichever none mr mrs ms pm utc ms kb mb gb mib gib kib
    alright whatever sooo soo hmmm hmm uh um huh dude bro perfect perfectly excellent properly correctly entirely
    immediately completely fully mostly nicely easily quickly slightly somehow everywhere attempted omitted
    sorry confusion apologies apologize apologise jesus monster beautiful wonderful absolutely totally
    """.split()
)

# Words that nobody wants in a title, with the interjections that stand beside them; none is a term.
SWEAR = frozenset(
    """
    fuck fucks fucked fucking fuckin fuckoing fucken shit shits shitty bullshit damn damned dammit crap crappy wtf
    w.t.f w.t.f. omfg omg ffs bitch asshole ass arse bastard hell piss pissed stupid idiot idiotic dumb
    """.split()
)

DULL = frozenset(
    """
    add added adding adds answer apply base call called calling calls change changed changes changing check
    checked checking checks code command commit content copy create created creates current data default delete
    different drop end entry error errors example explain file files fix fixed follow following full function
    functions give help implement import include includes information input issue item items kill level line lines
    link list local main message method mode move moved name names needs note notes number numbers object open
    option options order output part parts pass passed path place plan point print problem project question read
    reading remove removed report request return returns rule run running runs script send sent set sets setting
    shared show shows side simple single size start started starts state step steps stop stopped string support
    switch system task test tested tests text tool tools total turn type types update updated use used user uses
    using value values version view wait work worked working works write writes writing written wrong true old
    start line page live day people bit life friend friends time photo picture photos way make start keep talk
    share sharing experience important interesting wonderful
    api app apps agent agents build builds built building builder contain contains container containers
    component components docs doc documentation fail fails failed failing failure failures feature features
    handle handles handled handler handling header image images implementation implemented install installed
    interface javascript js json library linux log logs md messages module modules npm package packages
    parameter plugin py python repo repository scripts selector server servers service
    services session sessions store stores stored storing strings supports team ts tsx typescript ui users
    versions yaml
    """.split()
)

# May be shown, but only where nothing else is left.
DULL_HAN = frozenset(
    """
    小时 分钟 版本 返回 记录 处理 数据 文件 删除 方法 内容 结果 信息 计划 时间 功能 操作 支持 数字 自动 事项
    部分 基础 目标 增加 减少 修改 检查 测试 运行 执行 启动 更新 添加 设置 配置 代码 提交 实现 项目 系统 任务
    步骤 状态 类型 名称 名字 例子 回复 消息 提醒 安排 了解 理由 判断 表达 习惯 成功 失败 错误 正常 格式 语句
    注意 重要 简单 容易 复杂 关系 影响 过程 经验 效果 作用 机会 生活 工作 朋友 老师 师傅 家里 回家 出门 公司
    """.split()
)
STOP_HAN_WORDS = (
    """
    我们 你们 他们 她们 它们 咱们 自己 大家 这个 那个 这些 那些 这里 那里 这样 那样 这么 那么
    什么 怎么 怎样 为什么 哪个 哪些 哪里 多少 因为 所以 但是 不过 如果 而且 并且 或者 还是 以及
    然后 于是 虽然 即使 只要 只有 除了 由于 为了 关于 对于 根据 按照 通过 之后 之前 以后 以前
    已经 现在 目前 当时 刚才 一直 一下 一些 一个 一次 一点 有点 明明 居然 当成 当作 可以 可能 应该 需要 必须 能够
    没有 不是 就是 都是 还有 也是 只是 但还 就算 不要 不用 不能 不会 会不会 是不是 有没有 觉得
    认为 知道 看到 看看 时候 地方 东西 事情 问题 情况 方面 其实 确实 真的 非常 特别 比较 更加
    最后 首先 其次 另外 同时 直接 一起 一样 不同 进行 使用 其中 包括 例如 比如 等等 谢谢 好的
    明白 你好 早上好 晚上好 今天 明天 昨天 上周 下周 这次 那次 上次 希望 建议 推荐 感觉 开始
    继续 完成 起来 出来 下来 下去 过来 过去 回来 之间 以上 以下 左右 大概 大约 至少 最多 之类
    里面 外面 上面 下面 前面 后面 是的 不客气 总是 经常 有时 常常 马上 立刻 终于 只能 不到 还没
    都有 也有 就行 两个 三个 几个 每个 每次 第一 第二 第三 任何 所有 全部 部分 整个 ください
    です ます でした ました これ それ あれ この その ため こと もの よう から まで
    """
).split()

STOP_HAN_CHARS = frozenset(
    "的了是我你您他她它们这那吗呢吧啊呀哦嗯哈啦嘛就都也还很把被让给跟和与或而且但又再才只会要想说请个之其所以因在有没不从到对将向候着过得地年月日点号第一二三四五六七八九十两几多少去做看可该每比如果等已并为于"
)

# Particles and pronouns that are no part of any word; the other stop characters may stand inside one.
SURE_HAN = frozenset("的了是我你您他她它们这那吗呢吧啊呀嘛和与就都也还不在有很把被")

# Words that hold a character of the sets above and are not broken at it.
WHOLE_HAN = frozenset(
    """
    会话 会议 会员 会计 社会 机会 对话 对象 对比 对应 对账 对齐 绝对 并发 并行 合并 地址 地图
    地点 地区 本地 当地 点击 节点 要点 重点 特点 终点 站点 断点 热点 观点 过程 过滤 过期 通过
    超过 向量 方向 比例 比赛 主要 要求 需要 重要 想法 理想 说明 小说 传说 可用 许可 号码 账号
    信号 型号 编号 符号 序号 端口号 日志 日期 日历 日报 生日 节日 年度 年龄 年会 月份 月度
    月台 个人 个性 在线 存在 内在 现在 一致 统一 唯一 一级 二级 三级 二元 二进制 十六进制 三方
    第三方 三明治 多线程 多语言 行为 因素 以太网 得分 着色 去重 去除 做法 看板 到期 到达 从库
    从属 已读 将来 即将 比特 上下文 其他 所有 位置 候选 时候 气候 等级 等待 平等 相等 如期
    例如 跟踪 跟进 被动 让步 把手 给定 供给 于是 关于 都市 首都 还原 归还 偿还 很多 才能 人才
    再生 又称 但书 而后 或者 与会 参与 和平 温和 总和 就绪 成就 就业 也许 不足 不等式 不变
    没收 只读 只写 从不 自从 服从 之间 几何 几率 两地 两端 四舍五入 五金 六边形 七夕 八卦
    九宫格 请求 申请 邀请 你好 他人 她们
    """.split()
)
