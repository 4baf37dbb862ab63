"""Codex: turns that stand twice, roll-backs, forks, what was put in, archived and packed logs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.catalogue import Catalogue
from recall.hosts.reading import Resumable, fingerprint, missing, open_log, read_record, resume
from recall.redact import Redactor
from recall.settings import load
from recall.types import SourceRef
from tests.hosts.logs import CASES, Log, read
from tests.hosts.stores import codex, codex_event, codex_item, codex_line, codex_message, codex_meta, lines, uuid
from tests.shared import SHARED, needs_shared

SHAPES = SHARED / "sessions" / "shapes" / "codex"


def log(folder: Path, *records: object) -> Log:
    return read(lines(folder / "rollout-x.jsonl", codex_meta(), *records), host="codex")


def spoken(found: Log) -> list[tuple[str, str]]:
    return [
        (entry.role, entry.text)
        for entry in found.entries
        if entry.text and not found.outline.marks[entry.seq] & {"meta", "synthetic"}
    ]


def catalogue(home: Path, **environment: str) -> Catalogue:
    return Catalogue(load({"HOME": str(home), **environment}), [])


# --- turns that stand twice -------------------------------------------------------------------------------------


def test_an_event_counts_only_where_no_item_says_the_same(tmp_path: Path) -> None:
    item = {"type": "UserMessage", "content": [{"type": "text", "text": "in both"}]}
    found = log(
        tmp_path,
        codex_event(1, "item_completed", item=item),
        codex_message(1, "user", "in both"),
        codex_event(2, "agent_message", message="only an event"),
        codex_event(3, "user_message", message="in both"),
        codex_event(4, "user_message", message="another event"),
    )
    assert spoken(found) == [("user", "in both"), ("assistant", "only an event"), ("user", "another event")]


def test_calls_and_their_results(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        codex_item(1, "function_call", name="shell", arguments='{"command":["rg","N+1"]}', call_id="a"),
        codex_item(
            2, "function_call_output", call_id="a", output=json.dumps({"output": "x:42", "metadata": {"exit_code": 2}})
        ),
        codex_item(3, "custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="b"),
        codex_item(4, "custom_tool_call_output", call_id="b", output=[{"type": "input_text", "text": "ok"}]),
        codex_item(5, "function_call", name="exec_command", arguments="{broken", call_id="c"),
        codex_item(
            6, "function_call_output", call_id="c", output="Wall time: 1\nProcess exited with code 3\nOutput:\n"
        ),
        codex_item(7, "web_search_call", action={"type": "search", "query": "sqlite wal"}),
        codex_event(8, "mcp_tool_call_end", call_id="a", invocation={"tool": "x"}, result={"Ok": {"content": []}}),
        codex_event(
            9,
            "mcp_tool_call_end",
            call_id="z",
            invocation={"server": "s", "tool": "look", "arguments": {"q": 1}},
            result={"Ok": {"content": [{"type": "text", "text": "seen"}], "isError": False}},
        ),
    )
    assert [entry.text for entry in found.entries if entry.text] == [
        '[shell call, attempted] {"command": ["rg", "N+1"]}',
        "[shell result, attempted, exit code 2]\nx:42",
        "[apply_patch call, attempted] *** Begin Patch",
        "[apply_patch result, attempted]\nok",
        "[exec_command call, attempted] {broken",
        "[exec_command result, attempted, exit code 3]\nWall time: 1\nProcess exited with code 3\nOutput:\n",
        '[web_search call, attempted] {"query": "sqlite wal"}',
        '[look call, attempted] {"q": 1}\n[look result, attempted]\nseen',
    ]
    assert found.outline.facts.tools == {"shell": 1, "apply_patch": 1, "exec_command": 1, "look": 1}


def test_our_own_answers_are_left_out_in_every_form(tmp_path: Path) -> None:
    ours = {"server": "history-recall", "tool": "history_recall_search", "arguments": {"queries": ["linnet"]}}
    found = log(
        tmp_path,
        codex_message(1, "user", "what did we say"),
        codex_item(
            2, "function_call", name="mcp__history_recall__history_recall_read", arguments='{"x":"linnet"}', call_id="a"
        ),
        codex_item(3, "function_call_output", call_id="a", output="linnet v2"),
        codex_event(
            4,
            "mcp_tool_call_end",
            call_id="b",
            invocation=ours,
            result={"Ok": {"content": [{"type": "text", "text": "linnet"}]}},
        ),
    )
    assert "linnet" not in "".join(found.texts)
    assert spoken(found) == [("user", "what did we say")]


@pytest.mark.parametrize(
    "text",
    [
        "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>be brief</user_instructions>",
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>",
        "<turn_aborted>\n",
    ],
)
def test_what_was_put_in_is_not_the_persons(tmp_path: Path, text: str) -> None:
    found = log(tmp_path, codex_message(1, "user", text), codex_message(2, "user", "and this is mine"))
    assert [marks - {"active"} for marks in found.outline.marks] == [{"synthetic"}, set()]


def test_a_shell_command_of_the_person_is_a_cell(tmp_path: Path) -> None:
    text = (
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 1\nOutput:\nno\n</result>\n"
        "</user_shell_command>"
    )
    (cell,) = log(tmp_path, codex_message(1, "user", text)).entries
    assert (cell.role, cell.text) == ("tool", "[bash cell, attempted, exit code 1]\n$ ls\nExit code: 1\nOutput:\nno")


# --- what was undone --------------------------------------------------------------------------------------------


def test_a_roll_back_takes_the_last_turns_and_the_next_one_those_before(tmp_path: Path) -> None:
    def turn(name: str) -> list[object]:
        return [codex_message(1, "user", name), codex_message(1, "assistant", f"to {name}")]

    found = log(
        tmp_path,
        *(record for name in "abc" for record in turn(name)),
        codex_event(2, "thread_rolled_back", num_turns=1),
        *turn("d"),
        codex_event(3, "thread_rolled_back", num_turns=2),
        *turn("e"),
    )
    undone = [entry.text for entry in found.entries if "rolled_back" in found.outline.marks[entry.seq] and entry.text]
    assert undone == ["b", "to b", "c", "to c", "d", "to d"]


def test_a_compaction_hides_nothing_and_marks_what_was_before(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        codex_message(1, "user", "old"),
        codex_line(2, "compacted", message="Summary"),
        codex_message(3, "user", "new"),
    )
    assert [marks - {"active"} for marks in found.outline.marks] == [{"compacted"}, set(), set()]
    assert [entry.role for entry in found.entries] == ["user", "summary", "user"]


# --- which conversation -----------------------------------------------------------------------------------------


def test_the_first_session_meta_is_the_truth(tmp_path: Path) -> None:
    meta = codex_meta(uuid(2), forked_from_id=uuid(1))
    path = lines(tmp_path / "rollout-x.jsonl", meta, codex_meta(), codex_message(1, "user", "copied"))
    header = read(path, host="codex").outline.header
    assert (header.host_conversation_id, header.parent, header.sidechain) == (uuid(2), uuid(1), False)
    assert header.host_version == "0.171.0"


def test_a_thread_that_was_spawned_is_a_sidechain(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": uuid(1), "depth": 1}}}
    meta = codex_meta(uuid(2))
    meta["payload"] = {**dict(meta["payload"]), "source": spawned}  # type: ignore[call-overload]  # it is a dict
    found = read(lines(tmp_path / "rollout-x.jsonl", meta, codex_message(1, "user", "scan")), host="codex")
    assert (found.outline.header.parent, found.outline.header.sidechain) == (uuid(1), True)
    assert found.outline.marks == (frozenset({"active", "sidechain"}),)


def test_the_first_versions_wrote_items_bare(tmp_path: Path) -> None:
    head = {"id": uuid(3), "timestamp": "2026-04-07T10:00:00.000Z", "instructions": None}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "bare"}]}
    path = lines(tmp_path / "rollout-x.jsonl", head, {"record_type": "state"}, said)
    found = read(path, host="codex")
    assert (found.outline.header.host_conversation_id, spoken(found)) == (uuid(3), [("user", "bare")])
    given = Catalogue(load({"HOME": str(tmp_path)}), [(str(path), "file")]).listed()[0]
    assert [item.source.host for item in given] == ["codex"]


def test_what_is_no_thread_is_refused(tmp_path: Path) -> None:
    for records, code in (
        ([{"type": "event_msg", "payload": {}}], "invalid_source"),
        ([codex_line(0, "session_meta", id="two words")], "invalid_source"),
        ([codex_meta()], "source_empty"),
        ([], "source_empty"),
    ):
        with pytest.raises(SourceError) as error:
            read(lines(tmp_path / "rollout-x.jsonl", *records), host="codex")
        assert error.value.code == code


def test_archived_threads_are_listed_and_say_so(home: Path) -> None:
    path = codex(home)
    lines(
        home / ".codex/archived_sessions" / f"rollout-y-{uuid(2)}.jsonl",
        codex_meta(uuid(2)),
        codex_message(1, "user", "old"),
    )
    lines(home / ".codex/sessions" / "not-a-rollout.jsonl", codex_meta(uuid(3)))
    found = {item.header.host_conversation_id: item for item in catalogue(home).listed()[0] if item.header}
    assert sorted(found) == [uuid(1), uuid(2)]
    assert [bool(item.header and item.header.archived) for item in found.values()].count(True) == 1
    assert catalogue(home).resolve(f"codex:{uuid(1)}").path == str(path)
    moved = home / "elsewhere"
    (home / ".codex").rename(moved)
    assert len(catalogue(home, CODEX_HOME=str(moved)).listed()[0]) == 2


def test_the_newest_name_of_a_thread_is_its_title(home: Path) -> None:
    path = codex(home)
    with path.open("ab") as file:
        for name in ("first", "newest"):
            file.write(json.dumps(codex_event(9, "thread_name_updated", thread_name=name)).encode() + b"\n")
    (item,), _ = catalogue(home).listed()
    assert item.header is not None
    assert item.header.title == read(path, host="codex").outline.header.title == "newest"


def test_resume() -> None:
    assert resume("codex", Resumable(uuid(1), "/x", "/srv", "0.171.0", False)) == f"codex resume {uuid(1)}"


# --- packed -----------------------------------------------------------------------------------------------------


def test_a_packed_thread_reads_like_a_plain_one(home: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = codex(home)
    plain = read(path, host="codex")
    packed = Path(f"{path}.zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    assert [item.source.path for item in catalogue(home).listed()[0]] == [str(path)], "the plain one wins"
    path.unlink()
    (item,), warnings = catalogue(home).listed()
    assert (item.source.path, item.problem, warnings) == (str(packed), None, [])
    found = read(packed, host="codex")
    assert (found.entries, found.outline.header) == (plain.entries, plain.outline.header)
    assert found.outline.fingerprint.content_sha256 == plain.outline.fingerprint.content_sha256
    assert fingerprint(item.source).fingerprint == found.outline.fingerprint
    assert missing(item.source, [(e.entry_id, e.position, e.sha256) for e in reversed(found.entries)]) == frozenset()
    first = found.entries[0]
    assert read_record(item.source, first.position, first.sha256, Redactor())["type"] == "response_item"
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(SourceError) as error, open_log(SourceRef("codex", str(packed)), Redactor()) as log:
        list(log.entries())
    assert error.value.code in ("source_unreadable", "source_empty", "invalid_source")


def test_without_a_library_a_packed_thread_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_name: str) -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr("importlib.import_module", nothing)
    lines(home / ".codex/archived_sessions" / "rollout-y.jsonl.zst", codex_meta())
    (item,), _ = catalogue(home).listed()
    assert item.problem is not None
    assert (item.problem.code, "history-recall[zstd]" in str(item.problem.hint)) == ("unsupported_source", True)


# --- given ------------------------------------------------------------------------------------------------------


@needs_shared
def test_given_double_records() -> None:
    found = read(CASES / "118-codex-double-records.jsonl", host="codex")
    assert spoken(found) == [("user", "Where is the stonechat config?"), ("assistant", "In conf/stonechat.toml.")]
    assert "long system text" not in "".join(found.texts)


@needs_shared
def test_given_shapes() -> None:
    found = read(next((SHAPES / "sessions/2026/11/02").glob("*.jsonl")), host="codex")
    assert spoken(found)[0] == ("user", "why is checkout slow?")
    by_mark = {
        mark: [
            entry.text.splitlines()[0]
            for entry in found.entries
            if entry.text and mark in found.outline.marks[entry.seq]
        ]
        for mark in ("rolled_back", "synthetic")
    }
    assert by_mark == {
        "rolled_back": ["undo that (rolled back)"],
        "synthetic": ["<permissions instructions>", "<environment_context>"],
    }
    assert [entry.text for entry in found.entries if entry.role == "summary"] == ["Summary: fixed N+1 at orders.py:42"]
    assert found.outline.facts.by_mark["compacted"] == 16
    assert found.outline.header.title == "checkout N+1"
    archived = read(next((SHAPES / "archived_sessions").glob("*.jsonl")), host="codex").outline.header
    assert (archived.archived, archived.parent) == (True, found.outline.header.host_conversation_id)
