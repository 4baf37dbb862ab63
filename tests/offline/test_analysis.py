"""The analysis of a chunk: quotes that verify, limits that hold, statuses that a reader would give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recall.models.extractive.status import read, read_output
from recall.models.request import ShownEntry
from recall.types import Role
from tests.offline import asking
from tests.shared import ROOT

_ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "summary", "system")
_SCRAPS = st.sampled_from(
    [
        "We decided to keep PgBouncer in transaction mode.",
        "It failed again: connection refused.",
        "12 passed in 3.1s",
        "[REDACTED:github-token#1]",
        "决定改用 External Secrets,因为 sealing key 丢了。",
        "まだ未解決です。",
        "```\nlet x = 1;\n```",
        '[bash call, attempted] {"command": "make test"}',
        "…",
        " … ",
        "\r\n",
        "\t",
        "e.g. ",
        "src/spool/segment.rs",
    ]
)
_TEXTS = st.lists(st.one_of(_SCRAPS, st.text(max_size=60)), max_size=8).map(" ".join)
_ENTRIES = st.lists(
    st.builds(
        ShownEntry,
        entry_id=st.sampled_from(["a", "b", "c", "d", "L5"]),
        role=st.sampled_from(_ROLES),
        text=_TEXTS,
        start=st.sampled_from([0, 0, 0, 4000]),
        abandoned=st.booleans(),
        at=st.one_of(st.none(), st.integers(min_value=0, max_value=2**41)),
        tool=st.sampled_from([None, "bash", "read"]),
    ),
    max_size=14,
)


@given(_ENTRIES, st.booleans())
@settings(max_examples=150)
def test_any_entries_give_quotes_that_verify_within_the_limits(shown: Sequence[ShownEntry], top: bool) -> None:
    reply = asking.analyse(shown, top)
    asking.verify(reply, shown)
    if any(entry.text.strip() for entry in shown) and len(reply["facets"]) == 0:
        # Nothing of two characters stands anywhere.
        assert all(len(line.strip()) < 2 for entry in shown for line in entry.text.splitlines())


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400))
@settings(max_examples=150)
@example("[REDACTED:private-key#1]" * 40)
@example("word " * 200 + "[REDACTED:a-b#12]" + " word" * 200)
@example("。" * 300)
@example("🦀" * 300)
def test_any_text_of_one_entry(text: str) -> None:
    shown = asking.entries(text)
    asking.verify(asking.analyse(shown), shown)


_HOSTILE = {
    "nothing": (),
    "empty": ("",),
    "blank": (" \n\t ",),
    "one word": ("hello",),
    "one letter": ("a",),
    "punctuation": ("!!! ??? ... --- ***", "。。。、、、"),
    "no cue words": ("The river meets the sea.", "Boats lie in the harbour."),
    "one huge line": ("x" * 400_000,),
    "one huge line of words": ("alpha beta gamma " * 30_000,),
    "a huge run of Han": ("数据库连接池" * 30_000,),
    "a huge line of punctuation": ("(" * 200_000,),
    "mixed scripts": ("Сервер упал 数据库 データベース קובץ 데이터베이스 server", "исправлено 修好了 fixed 直りました"),
    "right to left marks": ("\u202eabc\u202c def",),
    "carriage returns": ("one\rtwo\r\nthree", "four\vfive\ffive\u2028six"),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_hostile_inputs(name: str) -> None:
    shown = asking.entries(*_HOSTILE[name])
    asking.verify(asking.analyse(shown), shown)


def test_only_output_of_programs() -> None:
    shown = asking.entries(("tool", "[bash result, attempted]\ncollected 3 items\n3 passed in 0.1s"), ("tool", "ok"))
    reply = asking.analyse(shown)
    asking.verify(reply, shown)
    assert ("worked", "3 passed in 0.1s") in asking.findings(reply)


def test_many_entries_of_one_word_take_linear_time() -> None:
    few, many = asking.entries(*["word"] * 3_000), asking.entries(*["word"] * 30_000)
    times = []
    for shown in (few, many):
        began = time.process_time()
        asking.verify(asking.analyse(shown), shown)
        times.append(time.process_time() - began)
    assert times[1] < 30 * times[0] + 1.0


def test_a_placeholder_is_never_cut_and_never_a_term() -> None:
    secret = "[REDACTED:github-token#1]"
    for size in range(240, 300):
        shown = asking.entries("a" * 5 + " b" * (size // 2) + " " + secret + " and it failed because of that " * 4)
        for facet in asking.analyse(shown)["facets"]:
            for item in (*facet["evidence"], *facet["findings"]):
                assert item["quote"].count("[REDACTED") == item["quote"].count(secret)
            assert not any("REDACTED" in name or "github-token" in name for name in facet["aliases"])


def test_the_same_in_another_process_with_another_hash_seed() -> None:
    shown = [
        "Why does the export die? exit 137 each night.",
        "Because fetchall() holds 6.2M rows. 决定改用 COPY。",
        "Do that. By the way, what about the lint rules?",
        "Lint rules are in place now, 0 errors.",
    ]
    program = (
        "import json,sys; from tests.offline import asking;"
        "print(json.dumps(asking.analyse(asking.entries(*json.loads(sys.argv[1])))))"
    )
    replies = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(shown)],
            capture_output=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(replies) == 1


def test_a_chinese_conversation_gives_chinese_facets() -> None:
    shown = asking.entries(
        "离线终端恢复联网后重发,导致重复扣款 63 笔。幂等键只保留 24 小时。",
        "原因查到了:幂等键过期之后,重发的请求被当成新请求。",
        "决定幂等键改为保留 14 天,响应体还是 24 小时。",
        "改好了,压测通过了,幂等键的表大约 2 GiB。",
    )
    reply = asking.analyse(shown)
    asking.verify(reply, shown)
    names = " ".join(name for facet in reply["facets"] for name in (facet["title"], *facet["aliases"]))
    assert "幂等键" in names
    statuses = {status for status, _ in asking.findings(reply)}
    assert {"found", "decided", "worked"} <= statuses


def test_two_subjects_are_two_facets() -> None:
    shown = asking.entries(
        "The webhook worker delivers events twice since we scaled the outbox to three replicas.",
        "The claim query of the outbox takes no lock, so two workers claim one event and deliver the webhook twice.",
        "Then add a lease on the outbox claim, 120 seconds, renewed by the worker.",
        "The lease is in place, webhook duplicates are gone.",
        "By the way, another thing: the terraform plan for staging wants to destroy the node pool.",
        "Terraform reads the wrong workspace; the staging plan used the production state file.",
        "Separate directories for terraform state from now on, no workspaces.",
        "Moved the terraform state into envs/staging, the plan shows no changes.",
    )
    facets = asking.analyse(shown)["facets"]
    sides = [{int(item["entry_id"][1:]) < 4 for item in facet["evidence"]} for facet in facets]
    assert len(facets) >= 2
    assert all(len(side) == 1 for side in sides)


def test_an_abandoned_branch_is_a_facet_of_its_own_without_outcomes() -> None:
    kept = asking.entries("Use the lease for claims.", "The lease is in place, it works.")
    gone = [
        ShownEntry("x1", "user", "Decided: we use an advisory lock for claims.", abandoned=True),
        ShownEntry("x2", "assistant", "The advisory lock is merged and it works.", abandoned=True),
    ]
    reply = asking.analyse([*kept, *gone])
    for facet in reply["facets"]:
        entries = {item["entry_id"][0] for item in (*facet["evidence"], *facet["findings"])}
        assert len(entries) == 1
        if entries == {"x"}:
            assert {finding["status"] for finding in facet["findings"]} <= {"superseded", "failed", "found"}


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("All tests pass and the deadlocks are gone.", "worked"),
        ("No failures, p99 180 ms against 2.4 s.", "worked"),
        ("The migration is merged and deployed.", "worked"),
        ("Let me try to fix the pool.", None),
        ("I'll run it again, that should work.", None),
        ("我来试试修复连接池。", None),
        ("If it works we ship it.", None),
        ("It doesn't work with PgBouncer.", "failed"),
        ("The export was OOM-killed and the job crashed.", "failed"),
        ("mmap 不行,直接崩溃。", "failed"),
        ("Because the cursor loads all rows into memory.", "found"),
        ("原因是 idle timer 按目录重置。", "found"),
        ("So it's decided: two releases.", "decided"),
        ("就按这三条。", "decided"),
        ("先写到未决问题里,还没定。", "open"),
        ("Whether to encrypt the spool is still open.", "open"),
        ("0012 is superseded, write 0023.", "superseded"),
        ("那决定推翻。", "superseded"),
        ("The weather over the harbour.", None),
        ("これは未解決です。", "open"),
    ],
)
def test_what_a_sentence_speaks_for(sentence: str, status: str | None) -> None:
    cue = read(sentence)
    assert (cue.status if cue is not None and cue.weight >= 1.5 else None) == status


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("431 passed in 44.02s", "worked"),
        ("2 failed, 429 passed in 44s", "failed"),
        ("test result: ok. 17 passed; 0 failed", "worked"),
        ("ValueError: bad thing", "failed"),
        ("error[E0499]: cannot borrow `*self` as mutable", "failed"),
        ("Process exited with code 137", "failed"),
        ("run C requests=89104 failed=0", "worked"),
        ("Compiling driftlog v0.4.0", None),
    ],
)
def test_what_a_line_of_output_speaks_for(line: str, status: str | None) -> None:
    cue = read_output(line)
    assert (cue.status if cue is not None and cue.weight >= 1.5 else None) == status


def test_an_attempt_is_no_success_in_a_conversation() -> None:
    shown = asking.entries(
        "The pool is exhausted on each deploy, please fix it.",
        "Let me raise the pool size to 35, that should fix it and all tests should pass.",
        ("tool", "[bash result, attempted, error, exit code 1]\n2 failed, 3 passed in 9s"),
        ("assistant", "Next I'll try a smaller surge, which might have worked before."),
    )
    statuses = [status for status, _ in asking.findings(asking.analyse(shown))]
    assert "worked" not in statuses
    assert "failed" in statuses
