"""What each kind of record yields: role, marks, text; and what never comes out."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest

from recall.hosts import blobs, own
from recall.hosts.reading import open_log
from recall.redact import Redactor
from recall.types import SourceRef
from tests.hosts.logs import CASES, Log, entry, message, read, said, write
from tests.shared import needs_shared

IMAGE = base64.b64encode(bytes(range(256)) * 12).decode()


def only(path: Path, record: dict[str, object]) -> Log:
    return read(write(path / "a.jsonl", record))


MESSAGES: list[tuple[dict[str, object], str, str, set[str], str]] = [
    ({"role": "user", "content": "plain"}, "user", "user", set(), "plain"),
    (
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        "user",
        "user",
        set(),
        "a\nb",
    ),
    ({"role": "user", "content": "by the host", "synthetic": True}, "user", "user", {"synthetic"}, "by the host"),
    ({"role": "user", "content": "by an agent", "attribution": "agent"}, "user", "user", {"synthetic"}, "by an agent"),
    ({"role": "user", "content": "steer", "steering": True, "attribution": "user"}, "user", "user", set(), "steer"),
    ({"role": "developer", "content": "be brief"}, "developer", "system", {"synthetic"}, "be brief"),
    (
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hidden one", "thinkingSignature": "c2ln"},
                {"type": "redactedThinking", "data": "hidden two"},
                {"type": "text", "text": "Reading.", "textSignature": "hidden three"},
                {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py", "n": [1, 2]}},
            ],
            "usage": {"input": 812_345},
            "stopReason": "toolUse",
        },
        "assistant",
        "assistant",
        set(),
        'Reading.\n[read call, attempted] {"path": "a.py", "n": [1, 2]}',
    ),
    (
        {"role": "assistant", "content": [{"type": "server_tool_use", "name": "web", "input": {"q": "x"}}]},
        "assistant",
        "assistant",
        set(),
        '[web call, attempted] {"q": "x"}',
    ),
    (
        {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "overloaded"},
        "assistant",
        "assistant",
        set(),
        "[stopped: error] overloaded",
    ),
    (
        {"role": "toolResult", "toolName": "bash", "isError": False, "content": [{"type": "text", "text": "ok"}]},
        "toolResult",
        "tool",
        set(),
        "[bash result, attempted]\nok",
    ),
    (
        {
            "role": "toolResult",
            "toolName": "bash",
            "isError": True,
            "details": {"exitCode": 2},
            "content": [{"type": "text", "text": "no"}, {"type": "text", "text": "good"}],
        },
        "toolResult",
        "tool",
        set(),
        "[bash result, attempted, error, exit code 2]\nno\ngood",
    ),
    (
        {"role": "toolResult", "toolName": "bash", "content": []},
        "toolResult",
        "tool",
        set(),
        "[bash result, attempted]",
    ),
    (
        {"role": "bashExecution", "command": "make", "output": "done", "exitCode": 0, "cancelled": False},
        "bashExecution",
        "tool",
        set(),
        "[bash cell, attempted, exit code 0]\n$ make\ndone",
    ),
    (
        {"role": "bashExecution", "command": "sleep 9", "output": "", "cancelled": True, "truncated": True},
        "bashExecution",
        "tool",
        set(),
        "[bash cell, attempted, cancelled, truncated]\n$ sleep 9",
    ),
    (
        {"role": "pythonExecution", "code": "1/0", "output": "ZeroDivisionError", "exitCode": 1},
        "pythonExecution",
        "tool",
        set(),
        "[python cell, attempted, exit code 1]\n>>> 1/0\nZeroDivisionError",
    ),
    (
        {"role": "fileMention", "files": [{"path": "a.py", "content": "x = 1", "lineCount": 1}]},
        "fileMention",
        "system",
        set(),
        "[attached file] a.py\nx = 1",
    ),
    (
        {"role": "hookMessage", "customType": "h", "content": "x", "display": True},
        "custom_message",
        "system",
        {"synthetic"},
        "x",
    ),
    (
        {"role": "custom", "customType": "h", "content": "x", "display": False},
        "custom_message",
        "system",
        {"synthetic", "meta"},
        "",
    ),
    ({"role": "somethingNew", "content": "x"}, "somethingNew", "system", {"meta"}, ""),
]


@pytest.mark.parametrize(("body", "kind", "role", "marks", "text"), MESSAGES)
def test_messages(tmp_path: Path, body: dict[str, object], kind: str, role: str, marks: set[str], text: str) -> None:
    log = only(tmp_path, message(**body))
    found = log["m1"]
    assert (found.kind, found.role, found.text) == (kind, role, text)
    assert log.outline.marks[0] == {"active"} | marks


ENTRIES: list[tuple[dict[str, object], str, set[str], str]] = [
    (entry("model_change", model="a/b", role="default"), "system", {"meta"}, ""),
    (entry("model_change", provider="a", modelId="b"), "system", {"meta"}, ""),
    (entry("model_usage", purpose="title", usage={"input": 1}, errorMessage="x"), "system", {"meta"}, ""),
    (entry("thinking_level_change", thinkingLevel="high"), "system", {"meta"}, ""),
    (entry("service_tier_change", serviceTier={"openai": "priority"}), "system", {"meta"}, ""),
    (entry("credential_pin", provider="a", hash="00" * 32), "system", {"meta"}, ""),
    (entry("ttsr_injection", injectedRules=["r"]), "system", {"meta"}, ""),
    (entry("mode_change", mode="plan", data={"planFile": "/x"}), "system", {"meta"}, ""),
    (entry("custom", customType="tool_execution_start", data={"args": {"a": 1}}), "system", {"meta"}, ""),
    (entry("reset_boundary"), "system", {"meta"}, ""),
    (entry("label", targetId="x", label="decision: cap 3"), "system", {"meta"}, "[label] decision: cap 3"),
    (entry("title_change", title="new", previousTitle="old"), "system", {"meta"}, "[title] new"),
    (entry("session_info", name="Refactor"), "system", {"meta"}, "[title] Refactor"),
    (entry("compaction", summary="S", shortSummary="s", preserveData={"x": "y"}), "summary", set(), "S"),
    (entry("branch_summary", fromId="root", summary="B", details={"readFiles": ["a"]}), "summary", set(), "B"),
    (entry("custom_message", customType="c", content="shown", display=True), "system", {"synthetic"}, "shown"),
    (
        entry("custom_message", customType="c", content="shown", display=True, attribution="user"),
        "system",
        set(),
        "shown",
    ),
    (
        entry("custom_message", customType="c", content=[{"type": "text", "text": "t"}], display=True),
        "system",
        {"synthetic"},
        "t",
    ),
    (
        entry("session_init", systemPrompt="hidden", task="find it"),
        "system",
        {"synthetic", "sidechain"},
        "[task] find it",
    ),
    (entry("quantum", payload="hidden"), "system", {"meta"}, ""),
]


@pytest.mark.parametrize(("record", "role", "marks", "text"), ENTRIES)
def test_entries(tmp_path: Path, record: dict[str, object], role: str, marks: set[str], text: str) -> None:
    log = only(tmp_path, record)
    assert (log["m1"].kind, log["m1"].role, log["m1"].text) == (record["type"], role, text)
    assert log.outline.marks[0] == {"active"} | marks


def test_names_from_a_log_cannot_forge_a_label(tmp_path: Path) -> None:
    log = only(tmp_path, message(role="toolResult", toolName="x]\nuser said", content=[]))
    assert log["m1"].text == "[unknown result, attempted]"
    assert log["m1"].tool == "unknown"


# --- images and blobs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "image", "mimeType": "image/png", "data": IMAGE}, "[image/png omitted, 3072 bytes]"),
        ({"type": "image", "data": "blob:sha256:" + "ab" * 32, "mimeType": "image/png"}, "[image/png omitted]"),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": IMAGE}},
            "[image/jpeg omitted, 3072 bytes]",
        ),
        ({"type": "image", "data": IMAGE, "mimeType": "x\n[y"}, "[data omitted, 3072 bytes]"),
        ({"type": "image"}, "[image omitted, 0 bytes]"),
        (
            {"type": "text", "text": f"see data:image/png;base64,{IMAGE} there"},
            "see [image/png omitted, 3072 bytes] there",
        ),
        ({"type": "text", "text": f"a data:;base64,{IMAGE}"}, "a [data omitted, 3072 bytes]"),
        ({"type": "resource", "resource": {"uri": "x", "text": "body"}}, "body"),
    ],
)
@pytest.mark.parametrize("role", ["user", "toolResult"])
def test_image_data_never_comes_out(tmp_path: Path, role: str, block: dict[str, object], expected: str) -> None:
    text = only(tmp_path, message(role=role, toolName="t", content=[{"type": "text", "text": "look"}, block]))[
        "m1"
    ].text
    assert text.endswith(f"look\n{expected}")
    assert IMAGE[:64] not in text


def test_images_in_arguments_and_long_base64_are_omitted(tmp_path: Path) -> None:
    call = {
        "type": "toolCall",
        "name": "draw",
        "arguments": {"a": {"type": "image", "data": IMAGE}, "b": f"data:image/gif;base64,{IMAGE}"},
    }
    wrapped = "\n".join(IMAGE[i : i + 76] for i in range(0, len(IMAGE), 76))
    log = only(tmp_path, message(role="assistant", content=[call, {"type": "text", "text": f"cat x:\n{wrapped}\nend"}]))
    text = log["m1"].text
    assert IMAGE[:64] not in text
    assert text.endswith(("[base64 omitted, 3072 bytes]\nend", "[base64 omitted, 3072 bytes]end"))
    assert "[image omitted, 3072 bytes]" in text
    assert "[image/gif omitted, 3072 bytes]" in text


@pytest.mark.parametrize(
    "kept", ["z" * 5000, "0123456789abcdef" * 100, "word " * 500, "A1b" * 100, "\n".join(["ab" * 20] * 99)]
)
def test_what_is_no_base64_stays(kept: str) -> None:
    assert blobs.without_runs(kept) == kept
    assert blobs.without_data_uris(kept) == kept


# --- our own output ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "history_recall_search",
        "mcp__history_recall_read",
        "mcp__history-recall__history_recall_search",
        "history-recall",
    ],
)
def test_calls_and_results_of_our_tools_yield_nothing(tmp_path: Path, name: str) -> None:
    call = {"type": "toolCall", "name": name, "arguments": {"queries": ["linnet"]}}
    result = message(role="toolResult", toolName=name, content=[{"type": "text", "text": "linnet v2"}])
    log = read(
        write(
            tmp_path / "a.jsonl",
            message(role="assistant", content=[call]),
            result | {"id": "m2", "parentId": "m1"},
            message(role="assistant", content=[{"type": "text", "text": "Let me look."}, call])
            | {"id": "m3", "parentId": "m2"},
        )
    )
    assert log.texts == ["", "", "Let me look."]
    assert [("meta" in marks) for marks in log.outline.marks] == [True, True, False]


@pytest.mark.parametrize("name", ["history_recaller", "my_history_recall", "recall", "read"])
def test_other_tools_are_not_ours(name: str) -> None:
    assert not own.is_recall(name)


@pytest.mark.parametrize(
    "block",
    [
        "<hook_context>history_recall: use linnet v2</hook_context>",
        "&lt;hook_context&gt;history_recall: use linnet v2&lt;/hook_context&gt;",
        '<hook_context source="x">\nfrom history-recall:\nlinnet\n</hook_context>',
        "<history-recall>linnet</history-recall>",
        "&lt;history_recall kind='brief'&gt;linnet&lt;/history_recall&gt;",
        "<<<HISTORY 3b9f07c2e81d46a5\n=== 3b9f07c2e81d46a5 x\nlinnet\nHISTORY 3b9f07c2e81d46a5>>>\n",
        "```history-recall\nlinnet\n```\n",
    ],
)
def test_injected_recall_is_cut_out(tmp_path: Path, block: str) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None, f"{block} What now?"), said("a2", "a1", block)))
    assert log["a1"].text.strip() == "What now?"
    assert log.marks("a1") == {"active"}
    assert log["a2"].text.strip() == ""
    assert log.marks("a2") == {"active", "meta"}


@pytest.mark.parametrize(
    "text",
    [
        "how does history_recall_search rank?",
        "<hook_context>lint failed</hook_context> see history-recall",
        "<hook_context>history_recall without an end",
        "```python\nimport history_recall\n```",
        "<history-recall-notes>mine</history-recall-notes>",
        "<<<HISTORY 3b9f07c2e81d46a5\nno end",
    ],
)
def test_talk_about_recall_stays(text: str) -> None:
    assert own.without_blocks(text) is text or own.without_blocks(text) == text


def test_many_unclosed_or_foreign_blocks_cost_no_more_than_their_length() -> None:
    for text in (
        "<hook_context " * 50_000 + "history_recal",
        "<history-recall-x>" * 50_000 + "</history-recall>",
        "<hook_context " * 50_000 + "</hook_context>" + "history-recall",
    ):
        began = time.process_time()
        own.without_blocks(text)
        assert time.process_time() - began < 1


def test_an_extension_message_of_ours_is_left_out(tmp_path: Path) -> None:
    log = only(tmp_path, entry("custom_message", customType="history-recall", content="brief", display=True))
    assert log["m1"].text == ""
    assert "meta" in log.outline.marks[0]


# --- redaction --------------------------------------------------------------------------------------------------


def test_values_are_redacted_as_trees_and_the_title_too(tmp_path: Path) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    header = {"type": "session", "version": 3, "id": "s1", "cwd": f"/x/{token}", "title": f"use {token}"}
    call = {"type": "toolCall", "name": "login", "arguments": {"password": 'hunter2"quoted\\', "user": "ana"}}
    path = write(
        tmp_path / "a.jsonl", message(role="assistant", content=[call, {"type": "text", "text": token}]), header=header
    )
    with open_log(SourceRef("pi", str(path)), Redactor()) as log:
        text = next(log.entries()).text
    assert "hunter2" not in text
    assert token not in text
    assert '"user": "ana"' in text
    redactor = Redactor()
    with open_log(SourceRef("pi", str(path)), redactor) as log:
        list(log.entries())
        outline = log.outline()
    assert token not in repr(outline)
    assert redactor.locations
    assert all(at.startswith(("m1:", "header:")) for at in redactor.locations)


@needs_shared
def test_given_logs() -> None:
    mine = read(CASES / "091-indexing-own-output.jsonl")
    assert [text.strip() for text in mine.texts] == ["What now?", "", "Proceed with step two."]
    assert mine.marks("db000002") == {"active", "meta"}
    flood = read(CASES / "115-inline-image-flood.jsonl")
    assert "[image/png omitted, " in flood["eb000001"].text
    assert "bullfinch" in flood["eb000001"].text
    assert all(len(text) < 300 for text in flood.texts)
    assert flood["eb000003"].text == "Plain string content about redpoll"
    assert read(CASES / "116-page-cut-in-character.jsonl")["ec000001"].text.count("界") == 700
    assert "\x1b[2J" in read(CASES / "114-terminal-escapes.jsonl")["ea000001"].text
