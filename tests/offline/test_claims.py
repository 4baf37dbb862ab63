"""Findings are clear or are none; titles and descriptions are what a person would read."""

from __future__ import annotations

import pytest

from recall.models.extractive import claims, titles
from recall.models.extractive.status import read, read_output
from tests.offline import asking


@pytest.mark.parametrize(
    "sentence",
    [
        "In WAL mode synchronous=NORMAL only fsyncs at a checkpoint, so a commit can be rolled back by a power loss.",
        "Let me do this systematically:",
        "Now let me update the `executeBash` method to queue instead of append when streaming.",
        "Uses `Text` and `Spacer` components instead of rendering raw strings",
        "The structure of the component remains intact",
        "`executeBash` returns whether it was deferred",
        "upload() retries with a fixed pause of 2 s.",
        "The width is passed in by the caller of the component.",
        "When the gateway came back, the load arrived as one spike instead of spread out.",
        "Nothing in the gateway itself is broken.",
        "Month 2024-02 copied: 16.4 million rows in 10 minutes, no row refused.",
        "It worked last week.",
        "**Model fallback logic** appears twice in the file.",
        "The unique constraint: can it stay? I would like to keep it.",
        "Can we keep the old code around? I think your plan has that.",
        "Could you investigate why the build failed?",
        "Please give me a root cause analysis.",
        "The migration should never crash the app.",
        "I hope the tests pass.",
        "And a horizontal rule follows here.",
        "建议采用分层穿衣法。",
        "常见错误包括变量未定义。",
        "祝你咨询顺利，备考成功！",
        "你的规划性很强，了解清楚再做决定。",
        "这样不会丢失数据。",
    ],
)
def test_what_is_not_clearly_of_a_status_has_none(sentence: str) -> None:
    assert read(sentence) is None


def test_what_stands_behind_a_but_is_what_counts() -> None:
    cue = read("All tests pass, but the order is broken.")
    assert cue is not None
    assert cue.status == "failed"


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("Decision: synchronous=FULL only on the ledger connection.", "decided"),
        ("Open question: do we also need fullfsync on macOS?", "open"),
        ("Done: LedgerStore.open now sets fullfsync on darwin.", "worked"),
        ("**Root cause:** the timer is keyed on the directory.", "found"),
        ("已处理：标识符按下划线保留整体。", "worked"),
        ("One thing we don't know yet: does the gateway send it?", "open"),
        ("Enabling the allow-list fixed it.", "worked"),
        ("原因找到了:请求按 UTC 分天。", "found"),
    ],
)
def test_what_a_sentence_says_itself(sentence: str, status: str) -> None:
    cue = read(sentence)
    assert cue is not None
    assert cue.status == status


def test_only_the_user_decides_by_wishing() -> None:
    wish = "I don't want another store, from today it is one database."
    assert read(wish) is None
    cue = read(wish, bids=True)
    assert cue is not None
    assert cue.status == "decided"
    assert read("I want you to read the file.", bids=True) is None


@pytest.mark.parametrize(
    "line",
    [
        "Command exited with code 1",
        "Successfully replaced text in a.ts. Changed 26 characters to 0 characters.",
        "Checked 22 files in 23ms. No fixes applied.",
        "npm error Lifecycle script `check` failed with error:",
        "164 station=ST-830 rows=9978 ms=855 wal_mb=16.5",
    ],
)
def test_what_programs_always_print_is_no_outcome(line: str) -> None:
    assert read_output(line) is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("## Horizontal Rules were decided", "Horizontal Rules were decided"),
        ("Root Cause Analysis", "Root Cause Analysis"),
        ("**How it works:**", "**How it works:**"),
        ("this leads to what failed:", "this leads to what failed:"),
        ("- **Chutes Provider**: Fixed 400 errors that failed", "**Chutes Provider**: Fixed 400 errors that failed"),
        ("> we decided to drop the table", "we decided to drop the table"),
        ("| it failed | it worked | done |", "it failed | it worked | done |"),
        ("All done.", "All done."),
    ],
)
def test_a_heading_a_label_a_row_or_a_quotation_is_no_statement(text: str, sentence: str) -> None:
    start = text.index(sentence)
    assert not claims.clear(text, start, start + len(sentence))


def test_a_whole_sentence_is_a_statement() -> None:
    for text in ("The export failed twice with exit 137.", "决定幂等键改为保留 14 天。"):
        assert claims.clear(text, 0, len(text))


def test_what_says_nothing_is_neither_title_nor_description() -> None:
    shown = asking.entries(
        "/mode",
        "Done!",
        "wtf, this shit is fucked up",
        "Fixed!",
        "The berth table of the harbour scheduler shows yesterday's ships.",
        "The scheduler reads the berth table before the nightly import ends.",
        ("tool", "Successfully replaced text in berth.py. Changed 26 characters to 0 characters."),
        ("tool", "Command exited with code 1"),
        "continue",
        "ok",
    )
    reply = asking.analyse(shown)
    asking.verify(reply, shown)
    text = " ".join([reply["summary"], *(f"{f['title']} {f['description']} {f['aliases']}" for f in reply["facets"])])
    for noise in ("Done!", "Fixed!", "/mode", "shit", "fuck", "wtf", "Successfully", "Command exited"):
        assert noise not in text
    assert "berth table" in text


def test_a_title_of_everyday_words_gives_way_to_what_the_user_said() -> None:
    shown = asking.entries(
        "ok, make the muted colours a little brighter",
        "The muted colours are brighter now, slightly above the dimmer ones.",
        "the brighter ones are cleaner, rest is pattern and annotation",
        "They look cleaner with the pattern removed from the annotation.",
    )
    names = [facet["title"] for facet in asking.analyse(shown)["facets"]]
    assert all(any(name in entry.text for entry in shown) for name in names)
    assert not any(name.startswith("ok") for name in names)


def test_a_phrase_ends_at_a_clause() -> None:
    long = "The gateway took itself down, and afterwards " + "every collector hammered it " * 6
    assert titles.phrase(long) == "The gateway took itself down"
    assert titles.phrase("ok, raise the limit.") == "raise the limit"


def test_parts_of_listings_are_no_subject_beside_others() -> None:
    parts = [
        asking.analyse(
            asking.entries(("tool", "$ find .\n./.git/logs/refs/remotes/origin/HEAD\n./.git/refs/heads/main")), False
        ),
        asking.analyse(asking.entries("The outbox worker delivers webhooks twice.", "The claim takes no lock."), False),
    ]
    names = [facet["title"] for facet in asking.reduce(parts)["facets"]]
    assert len(names) == 1
    assert "find" not in names[0]
    assert len(asking.reduce(parts[:1])["facets"]) == 1
