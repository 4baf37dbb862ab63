"""Generated histories: invented conversations about planted subjects, in English and Chinese, from several folders.

Every entry of a segment carries the segment's own word, which stands nowhere else. So whoever knows the history knows
of each text which conversation and which subject it is from, and nothing that a subject's texts share gives it away but
what they are about: the component, its identifiers, its error code. A history is a function of its numbers: the same
ones give the same bytes.

Every fourth subject was renamed after its first conversation, so that a topic which was named then is stale later.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

FOLDERS = ("harbour", "lantern", "kiln-works", "orchard")
A_SUBJECT = 8  # conversations about one subject, where the names reach
LONG = 80  # segments of the long conversation
LANGUAGES = ("en", "zh")
TOKEN = re.compile(r"zq(?:[a-z]{2}){6}")

_NAMES = (
    "tide gauge,kiln door,seed drill,signal lamp,rope winch,salt press,cider pump,loom shuttle,bell tower,fog horn,"
    "map printer,wool carder,beehive scale,ice saw,canal lock,rail switch,dye vat,clock escapement,mill race,"
    "oven damper,anchor chain,barley malter,cheese cave,diving bell,ember screen,ferry ramp,glass furnace,hop kiln,"
    "ink roller,jet loom"
)
_ZH_NAMES = (
    "潮位计,窑门,播种机,信号灯,绞盘,压盐机,果酒泵,织梭,钟楼,雾笛,地图打印机,梳毛机,蜂箱秤,冰锯,船闸,道岔,染缸,擒纵轮,水渠,炉闸,"
    "锚链,麦芽机,奶酪窖,潜水钟,防火屏,渡轮坡道,玻璃炉,啤酒花窑,墨辊,喷气织机"
)
_OLD = ("pilot rig", "试验台")
_PARTS = (
    "valve,lever,gasket,shaft,flange,bearing,spindle,hinge,filter,nozzle,ratchet,pulley,clamp,washer,piston,collar,"
    "bracket,rivet,sleeve,trigger,buffer,ledger,mirror,needle,paddle,quiver,ribbon,saddle,tunnel,anvil"
)
_ZH_PARTS = (
    "阀门,拉杆,垫圈,转轴,法兰,轴承,主轴,铰链,滤网,喷嘴,棘轮,滑轮,夹具,垫片,活塞,套环,支架,铆钉,套筒,扳机,缓冲,账册,镜面,指针,桨叶,"
    "箭筒,丝带,鞍座,通道,铁砧"
)
_SYLLABLES = ("ba", "ke", "di", "lo", "mu", "na", "pe", "ri", "so", "tu")
_BEGAN = datetime(2026, 3, 2, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Subject:
    """What conversations are about. `name` is lower case; `former`: what it was called in its first conversation."""

    number: int
    language: str
    name: str
    former: str
    part: str
    other: str
    identifiers: tuple[str, str]
    code: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a conversation about one subject. `nth`: the how manieth of the subject, from 0."""

    token: str
    subject: Subject
    nth: int

    @property
    def name(self) -> str:
        """What the component is called here."""
        return self.subject.former if self.nth == 0 else self.subject.name


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation."""

    number: int
    host_id: str
    folder: str
    segments: tuple[Segment, ...]

    def lines(self) -> list[dict[str, object]]:
        """The records of the log."""
        at = _BEGAN + timedelta(hours=3 * self.number)
        head = {"type": "session", "version": 3, "id": self.host_id, "timestamp": _iso(at), "cwd": self.cwd}
        said = [message for segment in self.segments for message in _messages(segment)]
        return [head, *_chained(self.host_id, said, at)]

    @property
    def cwd(self) -> str:
        return f"/srv/{self.folder}"


class History:
    """So many short conversations about at least so many subjects. Every third has a second one.

    `long` is one more, which goes through all the subjects and is too long for one request.
    """

    def __init__(self, conversations: int, *, subjects: int = 4) -> None:
        names = len(_NAMES.split(",")) + len(_ZH_NAMES.split(","))
        self.subjects = tuple(map(_subject, range(min(names, max(subjects, conversations // A_SUBJECT)))))
        self.talks = tuple(self._talks(conversations))
        self.long = self._long(conversations)
        self.segments: Mapping[str, Segment] = {one.token: one for talk in self.talks for one in talk.segments}
        self.talk_of: Mapping[str, Talk] = {one.token: talk for talk in self.talks for one in talk.segments}
        self._more = {one.token: one for one in self.long.segments}

    def segment_in(self, text: str) -> Segment | None:
        """The segment that a text is from, by the word in it; None where it has none, or one that came later."""
        found = TOKEN.search(text)
        return None if found is None else self.segments.get(found[0]) or self._more.get(found[0])

    def write(self, home: Path) -> list[Path]:
        """The logs in Pi's own folders below a home, in the order of the conversations. Not the long one."""
        return [written(talk, home) for talk in self.talks]

    def named(self, text: str) -> tuple[Subject, bool] | None:
        """The subject that a title is about, and whether it goes by the former name; None where it names none."""
        low = text.lower()
        for subject in self.subjects:
            if subject.name in low:
                return subject, False
            if subject.former in low:
                return subject, True
        return None

    def _talks(self, conversations: int) -> Iterator[Talk]:
        seen = dict.fromkeys(range(len(self.subjects)), 0)
        for number in range(conversations):
            first = number % len(self.subjects)
            second = (first + 1 + number // len(self.subjects) % (len(self.subjects) - 1)) % len(self.subjects)
            about = [first, second] if number % 3 == 2 else [first]
            segments = []
            for place, one in enumerate(about):
                segments.append(Segment(_token(2 * number + place), self.subjects[one], seen[one]))
                seen[one] += 1
            yield Talk(number, _identity(number), FOLDERS[number % len(FOLDERS)], tuple(segments))

    def _long(self, number: int) -> Talk:
        tokens = [_token(200_000 + place) for place in range(LONG)]
        count = len(self.subjects)
        segments = tuple(Segment(one, self.subjects[at % count], 1 + at) for at, one in enumerate(tokens))
        return Talk(number, _identity(number), FOLDERS[0], segments)


def appended(talk: Talk, number: int) -> tuple[str, str]:
    """A token of its own and the line that adds it to a conversation's log: a further remark on its last subject."""
    token = _token(100_000 + number)
    segment = Segment(token, talk.segments[-1].subject, 1)
    last = talk.lines()[-1]
    (record,) = _chained(f"{talk.host_id}-more", [_messages(segment)[1]], _BEGAN + timedelta(days=400))
    return token, json.dumps(record | {"parentId": last["id"]}, ensure_ascii=False) + "\n"


def written(talk: Talk, home: Path) -> Path:
    """The log of a conversation in its folder below a home."""
    folder = home / ".pi" / "agent" / "sessions" / f"--srv-{talk.folder}--"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{_BEGAN + timedelta(hours=3 * talk.number):%Y-%m-%dT%H-%M-%S}-000Z_{talk.host_id}.jsonl"
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in talk.lines())
    path.write_bytes(text.encode())
    return path


def _identity(number: int) -> str:
    return f"019c0000-0000-7000-8000-{number:012x}"


@functools.cache
def _subject(number: int) -> Subject:
    language, row = LANGUAGES[number % 2], number // 2
    names = _NAMES if language == "en" else _ZH_NAMES
    parts = _PARTS.split(",") if language == "en" else _ZH_PARTS.split(",")
    name = names.split(",")[row]
    renamed = number % 4 >= 2
    former = f"{_OLD[number % 2]} {_SYLLABLES[row // 10]}{_SYLLABLES[row % 10]}" if renamed else name
    # Nothing in a Chinese subject's identifiers is of an English one's.
    tens, ones = _SYLLABLES[row // 10], _SYLLABLES[row % 10]
    words = names.split(",")[row].split() if language == "en" else [f"{ones}{tens}zh", f"x{tens}{ones}"]
    identifiers = (f"{words[0]}_{words[1]}_guard", f"retry_{words[1]}_{words[0]}")
    part, other = parts[row % len(parts)], parts[(row * 7 + 3) % len(parts)]
    return Subject(number, language, name, former, part, other, identifiers, f"E{4100 + 13 * number}")


def _messages(segment: Segment) -> list[dict[str, object]]:
    """What is said: each message carries the token."""
    subject, token = segment.subject, segment.token
    guard, retry = subject.identifiers
    name, part, other, code = segment.name, subject.part, subject.other, subject.code
    step = segment.nth + 1
    if subject.language == "en":
        asked = f"About the {name} {token}: {code} from {guard} since the {part} was changed. Why, in step {step}?"
        cause = f"Cause of {token}: the {name} asks {guard} before the {part} is ready, so {code} is raised."
        output = f"{token} {retry}: {step + 3} of {step + 5} checks of the {name} failed on the {other}"
        decided = f"Then let {retry} wait for the {part}; keep the {other} as it is. {token}"
        done = f"Decided for {token}: {retry} waits for the {part}. All checks of the {name} passed."
    else:
        asked = f"关于{name} {token}：换了{part}之后 {guard} 报 {code}。第{step}步为什么会这样？"
        cause = f"{token} 的原因：{name}在{part}就绪之前就调用 {guard}，所以出现 {code}。"
        output = f"{token} {retry}：{name}的{other}检查 {step + 5} 项中有 {step + 3} 项失败"
        decided = f"那就让 {retry} 等待{part}，{other}保持不变。{token}"
        done = f"{token} 的决定：{retry} 等待{part}就绪；{name}的全部检查已通过。"
    return [_user(asked), _assistant(cause), _result(output), _user(decided), _assistant(done)]


def _user(text: str) -> dict[str, object]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _assistant(text: str) -> dict[str, object]:
    content = [{"type": "text", "text": text}]
    return {"role": "assistant", "content": content, "provider": "stub", "model": "stub-1", "stopReason": "stop"}


def _result(text: str) -> dict[str, object]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": "call", "toolName": "checks", "content": content, "isError": False}


def _chained(identity: str, messages: list[dict[str, object]], at: datetime) -> list[dict[str, object]]:
    records: list[dict[str, object]] = []
    parent: str | None = None
    for number, message in enumerate(messages):
        entry_id = f"{identity[-6:]}{number:02x}"
        when = _iso(at + timedelta(minutes=number))
        records.append({"type": "message", "id": entry_id, "parentId": parent, "timestamp": when, "message": message})
        parent = entry_id
    return records


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _token(number: int) -> str:
    return "zq" + "".join(_SYLLABLES[int(digit)] for digit in f"{number:06}")
