"""Claude Code: the tree across compactions, subagents, what was typed and what was put in, titles, copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.catalogue import Catalogue
from recall.hosts.reading import Resumable, resume
from recall.settings import load
from tests.hosts.logs import Log, read
from tests.hosts.stores import claude, claude_answer, claude_code, claude_result, claude_said, lines, use, uuid
from tests.shared import SHARED, needs_shared

SHAPES = SHARED / "sessions" / "shapes" / "claude" / "projects" / "-home-dev-work-shop"


def log(folder: Path, *records: object, name: str = uuid(1)) -> Log:
    return read(lines(folder / f"{name}.jsonl", *records), host="claude-code")


def named(log: Log, number: int) -> frozenset[str]:
    return log.marks(uuid(number))


def catalogue(home: Path, **environment: str) -> Catalogue:
    return Catalogue(load({"HOME": str(home), **environment}), [])


# --- the tree ---------------------------------------------------------------------------------------------------


def test_results_of_calls_side_by_side_stay_on_the_branch(tmp_path: Path) -> None:
    """The second call of a reply hangs on the first, and so does the result of the first: no fork."""
    found = log(
        tmp_path,
        claude_said(1, None, "compare"),
        claude_answer(2, 1, use("k1", "Read", file="a"), "msg_1"),
        claude_answer(3, 2, use("k2", "Read", file="b"), "msg_1"),
        claude_result(4, 2, "k1", "of a"),
        claude_result(5, 3, "k2", "of b"),
        claude_answer(6, 4, "equal", "msg_2"),
    )
    assert all(found.marks(entry) == {"active"} for entry in found.ids)
    assert found.outline.facts.branches == 1
    assert [(entry.tool, entry.text) for entry in found.entries if entry.role == "tool"] == [
        ("Read", "[Read result, attempted]\nof a"),
        ("Read", "[Read result, attempted]\nof b"),
    ]


def test_the_blocks_of_one_message_are_entries_that_name_the_first(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        claude_said(1, None, "compare"),
        claude_answer(2, 1, "Both at once.", "msg_1"),
        claude_answer(3, 2, use("k1", "Read", file="a"), "msg_1"),
        claude_result(4, 3, "k1", "of a"),
        claude_answer(5, 3, use("k2", "Read", file="b"), "msg_1"),
        claude_result(6, 5, "k2", "of b"),
        claude_answer(7, 6, "equal", "msg_2"),
        claude_said(8, 7, "thanks"),
    )
    assert [entry.turn for entry in found.entries] == [None, None, uuid(2), None, uuid(2), None, None, None]
    assert found.ids == [uuid(number) for number in range(1, 9)], "each is still one that can be cited"


def test_a_rewound_prompt_is_an_abandoned_branch_with_all_that_hangs_on_it(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        claude_said(1, None, "first"),
        claude_answer(2, 1, "yes", "msg_1"),
        claude_said(3, 2, "a wrong turn"),
        claude_answer(4, 3, use("k1", "Bash", command="rm"), "msg_2"),
        claude_result(5, 4, "k1", "gone"),
        claude_said(6, 2, "the right turn"),
        claude(7, 6, "system", subtype="turn_duration"),
    )
    assert [number for number in range(1, 8) if "abandoned_branch" in named(found, number)] == [3, 4, 5]
    assert found.outline.facts.branches == 2


def test_what_was_compacted_is_kept_but_for_what_the_program_kept_too(tmp_path: Path) -> None:
    boundary = claude(5, None, "system", subtype="compact_boundary") | {"logicalParentUuid": uuid(4)}
    summary = claude_said(6, 5, "Summary: so far", isCompactSummary=True)
    before = [
        claude_said(1, None, "one"),
        claude_answer(2, 1, "two", "m1"),
        claude_said(3, 2, "three"),
        claude_answer(4, 3, "four", "m2"),
    ]
    after = [summary, claude_said(7, 6, "five")]
    found = log(tmp_path, *before, boundary, *after)
    assert [number for number in range(1, 8) if "compacted" in named(found, number)] == [1, 2, 3, 4]
    assert found[uuid(6)].role == "summary"
    assert not found.outline.facts.graph_damaged
    kept = boundary | {"compactMetadata": {"preservedSegment": {"headUuid": uuid(3), "tailUuid": uuid(4)}}}
    found = log(tmp_path, *before, kept, *after)
    assert [number for number in range(1, 8) if "compacted" in named(found, number)] == [1, 2]
    blind = claude(5, None, "system", subtype="compact_boundary")
    found = log(tmp_path, *before, blind, *after)
    assert [number for number in range(1, 8) if "compacted" in named(found, number)] == [1, 2, 3, 4]


def test_a_sidechain_in_the_same_file_is_marked_and_ends_no_branch(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        claude_said(1, None, "look into it"),
        claude_answer(2, 1, use("k1", "Task", prompt="scan"), "msg_1"),
        claude_said(3, None, "scan", isSidechain=True),
        claude_answer(4, 3, "nothing there", "msg_2", isSidechain=True),
        claude_result(5, 2, "k1", "nothing there"),
        claude_answer(6, 5, "clean", "msg_3"),
        claude_answer(7, 4, "afterthought", "msg_4", isSidechain=True),
    )
    assert [named(found, number) for number in (3, 4, 7)] == [{"active", "sidechain"}] * 3
    assert [named(found, number) for number in (1, 2, 5, 6)] == [{"active"}] * 4
    assert found.outline.facts.branches == 1


def test_a_chain_that_is_broken_goes_on_at_the_line_before(tmp_path: Path) -> None:
    found = log(tmp_path, claude_said(1, None, "old"), {"type": "mode", "mode": "normal"}, claude_said(3, 99, "new"))
    assert named(found, 1) == named(found, 3) == {"active"}
    assert found.outline.facts.graph_damaged
    assert found.warnings() == [("broken_chain", 3)]


# --- what was typed ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "marks", "text"),
    [
        ("plain words", set(), "plain words"),
        ("<local-command-stdout>done</local-command-stdout>", {"synthetic"}, None),
        ("[Request interrupted by user]", {"synthetic"}, None),
        ("<command-name>/compact</command-name>\n<command-args></command-args>", {"synthetic"}, "/compact"),
        (
            "<command-name>/plan</command-name>\n<command-args>the cart in decimals</command-args>",
            set(),
            "/plan the cart in decimals",
        ),
        ("<command-name>/history-recall</command-name>\n<command-args>search linnet</command-args>", {"meta"}, ""),
    ],
)
def test_what_a_person_typed(tmp_path: Path, typed: str, marks: set[str], text: str | None) -> None:
    found = log(tmp_path, claude_said(1, None, typed), claude_answer(2, 1, "ok", "msg_1"))
    assert named(found, 1) == marks | {"active"}
    assert found[uuid(1)].role == "user"
    assert text is None or found[uuid(1)].text == text


def test_a_note_of_the_editor_beside_words_is_left_out(tmp_path: Path) -> None:
    blocks = [{"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"}, {"type": "text", "text": "why?"}]
    found = log(tmp_path, claude(1, None, "user", message={"role": "user", "content": blocks}))
    assert found[uuid(1)].text == "why?"


def test_shell_commands_of_the_person_and_prompts_from_the_queue(tmp_path: Path) -> None:
    queued = {"type": "queued_command", "prompt": "also the README", "commandMode": "prompt"}
    found = log(
        tmp_path,
        claude_said(1, None, "<bash-input>ls</bash-input>"),
        claude_said(2, 1, "<bash-stdout>a.py</bash-stdout><bash-stderr>late</bash-stderr>"),
        claude_answer(3, 2, "I see", "msg_1"),
        claude(4, 3, "attachment", attachment=queued),
        claude_answer(5, 4, "and that", "msg_2"),
    )
    assert (found[uuid(1)].role, found[uuid(1)].text) == ("tool", "[bash cell, attempted]\n$ ls")
    assert found[uuid(2)].text == "[bash result, attempted]\na.py\nlate"
    assert (found[uuid(4)].role, found[uuid(4)].text) == ("user", "also the README")


def test_failures_and_replies_that_are_none(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        claude_said(1, None, "test"),
        claude_answer(2, 1, use("k1", "Bash", command="pytest"), "msg_1"),
        claude_result(3, 2, "k1", "Exit code 4\nno tests", is_error=True),
        claude_answer(4, 3, "API Error: overloaded", "s1", isApiErrorMessage=True),
        claude_answer(5, 4, {"type": "thinking", "thinking": "hidden", "signature": "c2ln"}, "msg_2"),
        claude_answer(6, 5, "none collected", "msg_2"),
    )
    assert found[uuid(3)].text == "[Bash result, attempted, error, exit code 4]\nExit code 4\nno tests"
    assert named(found, 4) == {"active", "synthetic"}
    assert "hidden" not in "".join(found.texts)


def test_our_own_answers_are_left_out(tmp_path: Path) -> None:
    found = log(
        tmp_path,
        claude_said(1, None, "what did we say"),
        claude_answer(2, 1, use("k1", "mcp__history-recall__history_recall_search", queries=["linnet"]), "msg_1"),
        claude_result(3, 2, "k1", [{"type": "text", "text": '{"text": "use linnet v2"}'}]),
        claude_answer(4, 3, "use it", "msg_2"),
    )
    assert "linnet" not in "".join(found.texts)
    assert named(found, 3) == {"active", "meta"}


# --- which conversation -----------------------------------------------------------------------------------------


def test_titles_the_persons_before_the_programs(home: Path) -> None:
    path = claude_code(home)
    body = path.read_bytes()

    def title(*records: object) -> str | None:
        lines(path, *records)
        path.write_bytes(body + path.read_bytes())
        (item,), _ = catalogue(home).listed()
        assert item.header is not None
        assert read(path, host="claude-code").outline.header == item.header
        return item.header.title

    elsewhere = {"type": "summary", "summary": "of another file", "leafUuid": uuid(999)}
    here = {"type": "summary", "summary": "of this", "leafUuid": uuid(6)}
    generated = {"type": "ai-title", "aiTitle": "generated", "sessionId": uuid(1)}
    given = {"type": "custom-title", "customTitle": "given", "sessionId": uuid(1)}
    assert title(elsewhere) is None
    assert title(elsewhere, here) == "of this"
    assert title(here, generated) == "generated"
    assert title(given, generated) == "given"


def test_a_fork_is_named_by_its_file(tmp_path: Path) -> None:
    """It begins with copied lines, which may name the conversation that they are from."""
    copied = [claude_said(1, None, "from the first"), claude_answer(2, 1, "yes", "msg_1")]
    own = claude_said(3, 2, "on my own") | {"sessionId": uuid(7)}
    assert log(tmp_path, *copied, own, name=uuid(7)).outline.header.host_conversation_id == uuid(7)
    assert log(tmp_path, *copied, name="saved by hand").outline.header.host_conversation_id == uuid(1)


def test_no_conversation_is_made_of_what_is_none(tmp_path: Path) -> None:
    def code(*records: object) -> str:
        with pytest.raises(SourceError) as error:
            log(tmp_path, *records)
        return error.value.code

    assert code({"type": "summary", "summary": "s", "leafUuid": uuid(9)}) == "source_empty"
    assert code({"what": "ever"}) == "invalid_source"
    assert code() == "source_empty"


def test_subagents_are_below_their_conversation(home: Path) -> None:
    path = claude_code(home)
    folder = path.parent / uuid(1) / "subagents"
    agent = claude_said(1, None, "scan", isSidechain=True, agentId="ab12")
    lines(folder / "agent-ab12.jsonl", agent)
    lines(folder / "deep" / "agent-cd34.jsonl", agent)
    lines(path.parent / "agent-ef56.jsonl", agent)
    (path.parent / "sessions-index.json").write_text('{"entries": []}')
    found = catalogue(home).listed()[0]
    below = {Path(item.source.path).stem: item.header for item in found if item.header and item.header.sidechain}
    assert sorted(below) == ["agent-ab12", "agent-cd34", "agent-ef56"]
    assert {header.parent for header in below.values()} == {uuid(1)}
    assert below["agent-ab12"].host_conversation_id == f"{uuid(1)}/agent-ab12"
    current = catalogue(home, HISTORY_RECALL_CURRENT=f"claude-code:{uuid(1)}")
    assert all(current.is_current(item) for item in current.listed()[0])
    for item in found:
        assert catalogue(home).resolve(item.source.path) == item.source
    with pytest.raises(SourceError):
        catalogue(home).resolve(str(lines(path.parent.parent / "loose.jsonl", agent)))


def test_where_it_looks(home: Path) -> None:
    claude_code(home).parent.parent.parent.rename(home / "elsewhere")
    assert catalogue(home).listed()[0] == []
    assert len(catalogue(home, CLAUDE_CONFIG_DIR=str(home / "elsewhere")).listed()[0]) == 1
    named = catalogue(home, CLAUDE_CONFIG_DIR=str(home / "elsewhere"), HISTORY_RECALL_PROFILE="work")
    assert named.listed()[0] == []


def test_resume_goes_to_the_directory_first() -> None:
    told = Resumable(uuid(1), "/x.jsonl", "/srv/my app", "2.1.300", False)
    assert resume("claude-code", told) == f"cd '/srv/my app' && claude --resume {uuid(1)}"
    assert resume("claude-code", Resumable(uuid(1), "/x.jsonl", None, None, True)) is None


# --- given ------------------------------------------------------------------------------------------------------


@needs_shared
def test_given_shapes() -> None:
    nobody = Catalogue(load({"HOME": str(SHARED / "nobody")}), [])
    given = Catalogue(load({"HOME": str(SHARED / "nobody")}), [nobody.authorise(str(SHAPES))])
    main, agent = sorted(given.listed()[0], key=lambda item: item.source.sidechain)
    assert main.header is not None
    assert agent.header is not None
    assert (main.header.title, agent.header.parent) == ("cart rounding", main.header.host_conversation_id)
    found = read(Path(main.source.path), host="claude-code")
    by_mark = {
        mark: [int(entry[-12:]) for entry in found.ids if mark in found.marks(entry) and not entry.startswith("L")]
        for mark in ("abandoned_branch", "compacted", "synthetic", "meta")
    }
    assert by_mark == {
        "abandoned_branch": [20],
        "compacted": [1, 2, 3, 4, 5, 6, 7, 8, 9],
        "synthetic": [9, 12],
        "meta": [2, 6, 8, 10],
    }
    assert found.outline.facts.branches == 2
    assert found.outline.warnings == ()
    scout = read(Path(agent.source.path), host="claude-code", sidechain=True)
    assert all("sidechain" in marks for marks in scout.outline.marks)


@needs_shared
@pytest.mark.parametrize("name", ["tiny-conversation", "long-conversation"])
def test_given_real_conversations(name: str) -> None:
    found = read(SHARED / "sessions" / "public" / "claude-code" / f"{name}.jsonl", host="claude-code")
    assert found.outline.warnings == ()
    assert found.outline.facts.branches == 1
    assert all("active" in marks for marks in found.outline.marks)
    assert "unknown" not in found.outline.facts.tools
