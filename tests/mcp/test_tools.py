"""Every tool through the SDK's own client; what it lists, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import TextContent

from recall.prompts import capability
from recall.surfaces.tools import TOOLS
from tests.indexing.product import Log
from tests.mcp.conftest import Connect, Session
from tests.surfaces.served import environment


def test_it_introduces_itself_with_the_static_text(session: Session) -> None:
    assert session.client.instructions == capability()
    listed = session.portal.call(session.client.list_tools).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    for tool, row in zip(listed, TOOLS, strict=True):
        assert (tool.title, tool.description) == (row.title, row.description)
        assert tool.input_schema == row.input
        assert tool.output_schema == dict(row.output)
        assert tool.annotations is not None
        hints = (tool.annotations.read_only_hint, tool.annotations.destructive_hint, tool.annotations.idempotent_hint)
        assert hints == (row.read_only, row.destructive, row.idempotent)


def test_every_tool_runs(session: Session) -> None:
    source = session.document("conversations", limit=1)["conversations"][0]["source"]
    hit = session.document("search", queries=["spool overflow", "lost batches"])["conversations"][0]["conversation_id"]
    topic = session.document("browse")["entries"][0]["topic_id"]
    arguments: dict[str, dict[str, Any]] = {
        "history_recall_browse": {"topic_id": topic},
        "history_recall_index": {"file": source},
        "history_recall_search": {"queries": ["spool"]},
        "history_recall_read": {"conversation_id": hit},
        "history_recall_move": {"conversation_id": hit, "project_id": ""},
        "history_recall_project": {"action": "show"},
        "history_recall_read_conversation": {"conversation_id": hit, "max_chars": 1000},
    }
    for tool in TOOLS:
        result = session.portal.call(session.client.call_tool, tool.name, arguments.get(tool.name, {}))
        assert not result.is_error, (tool.name, result.structured_content)
        assert result.structured_content
        assert isinstance(result.content[0], TextContent)
        assert result.content[0].text


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"limit": "7"}, "limit"), ({"limit": 7.0}, "limit"), ({"limt": 7}, "limt"), ({"queries": "spool"}, "queries")],
)
def test_wrong_arguments_give_a_result_that_names_the_field(
    session: Session, arguments: dict[str, Any], field: str
) -> None:
    result = session.call("search", **{"queries": ["spool"], **arguments})
    assert result.is_error
    assert result.structured_content["error"]["data"]["field"] == field
    assert field in result.content[0].text


def test_a_long_original_is_read_page_by_page(session: Session, store: Path) -> None:
    text = " ".join(f"reading {number} of the gauge 潮位 😀" for number in range(1500))
    assert len(text) > 40_000
    log = Log("5f0c2c8e-9999-4222-8333-4444555566d4")
    log.talk([("print the whole record of the gauge", text)])
    path = store / ".pi/agent/sessions/--srv-gauge--/2026-09-02T13-05-00-000Z_long.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(log.bytes())
    conversation_id = session.indexed(path)
    pages: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = session.document("read", conversation_id=conversation_id, **cursor)
        assert sum(len(fragment["text"]) for fragment in page["fragments"]) <= 12_000
        pages.append(page)
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert len(pages) > 3
    read = "".join(f["text"] for page in pages for f in page["fragments"] if f["role"] == "assistant")
    assert read == text


def test_the_caller_comes_with_the_request(session: Session) -> None:
    hit = session.document("search", queries=["spool overflows"], limit=1)["conversations"][0]
    meta = {"history-recall/current": f"{hit['host']}:{hit['host_conversation_id']}"}

    async def read() -> Any:
        return await session.client.call_tool("history_recall_read", {"conversation_id": "current"}, meta=meta)  # type: ignore[arg-type]  # keys of our own

    assert session.portal.call(read).structured_content["conversation_id"] == hit["conversation_id"]
    assert session.call("read", conversation_id="current").is_error


def test_the_slash_commands_are_prompts(session: Session) -> None:
    listed = {prompt.name: prompt for prompt in session.portal.call(session.client.list_prompts).prompts}
    assert {"recall", "history-recall", "status", "search"} <= listed.keys()
    assert all(prompt.title and prompt.description for prompt in listed.values())

    def said(name: str, **arguments: str) -> str:
        (message,) = session.portal.call(session.client.get_prompt, name, arguments).messages
        assert isinstance(message.content, TextContent)
        return message.content.text

    assert "upload retries again" in said("search", words='"spool overflows" --limit 1')
    assert "<<<HISTORY " in said("search", words="spool")
    assert "text index  healthy" in said("status")
    assert "Usage: /history-recall" in said("history-recall", words="serach spool")
    assert "why the spool overflows" in said("recall", question="why the spool overflows")
    for name, arguments in (("search", {"query": "x"}), ("recall", {}), ("forget", {})):
        with pytest.raises(MCPError):
            said(name, **arguments)


def test_with_text_alone_no_document_takes_its_place(connect: Connect, store: Path, session: Session) -> None:
    """A host that has both shows its model the document: not fenced, and three times as long."""
    asked = {"queries": ["spool overflow", "lost batches"]}
    with connect(environment(store), "--text") as text:
        for tool in text.portal.call(text.client.list_tools).tools:
            assert (tool.output_schema, bool(tool.input_schema)) == (None, True)
        found, wrong = text.call("search", **asked), text.call("search", words="x")
    assert (found.structured_content, wrong.structured_content) == (None, None)
    assert wrong.is_error
    assert '"field": "words"' in wrong.content[0].text
    both = session.call("search", **asked)
    assert "<<<HISTORY " in found.content[0].text
    assert found.content[0].text == both.content[0].text
    assert 2 * len(found.content[0].text) < len(json.dumps(both.structured_content, ensure_ascii=False))


def test_it_offers_no_prompts_where_the_host_has_the_commands(connect: Connect, tmp_path: Path) -> None:
    with connect(environment(tmp_path), "--no-prompts") as session:
        assert session.portal.call(session.client.list_tools).tools
        with pytest.raises(MCPError):
            session.portal.call(session.client.list_prompts)
        with pytest.raises(MCPError):
            session.portal.call(session.client.get_prompt, "status", {})


def test_a_tool_that_is_not_there_is_answered(session: Session) -> None:
    result = session.call("forget")
    assert result.is_error
    assert result.structured_content["error"]["data"]["field"] == "name"


def test_disabled_it_registers_nothing(connect: Any, tmp_path: Path) -> None:
    with connect(environment(tmp_path, disabled="1")) as session:
        assert session.portal.call(session.client.list_tools).tools == []
        assert session.portal.call(session.client.list_prompts).prompts == []
        assert session.client.instructions is None
        with pytest.raises(MCPError):
            session.call("status")
    assert list(tmp_path.iterdir()) == []
