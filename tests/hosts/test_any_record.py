"""Records of any shape, for every host that keeps logs: an entry, a named warning, or one of our own errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall.errors import RecallError
from recall.hosts.reading import fingerprint, missing, open_log, probe, read_record
from recall.hosts.table import LOG_HOSTS
from recall.types import SourceRef
from tests.hosts.logs import Plain, line
from tests.hosts.stores import WRITERS

_KEYS = st.sampled_from(
    [
        *(
            "type",
            "id",
            "uuid",
            "parentUuid",
            "logicalParentUuid",
            "message",
            "payload",
            "content",
            "role",
            "timestamp",
        ),
        *("sessionId", "isSidechain", "isMeta", "subtype", "attachment", "prompt", "call_id", "arguments", "output"),
        *("num_turns", "item", "result", "invocation", "toolCalls", "$rewindTo", "$set", "args", "tool_use_id", "text"),
        *("name", "compactMetadata", "preservedSegment", "headUuid", "summary", "leafUuid", "metadata", "exit_code"),
    ]
)
_WORDS = st.sampled_from(
    [
        *("user", "assistant", "system", "attachment", "summary", "message", "tool_result", "tool_use", "text"),
        *("response_item", "event_msg", "compacted", "session_meta", "function_call", "function_call_output"),
        *("user_message", "item_completed", "thread_rolled_back", "mcp_tool_call_end", "gemini", "compact_boundary"),
        *("g1", "g2", "\ud800", "\x00json:[", "2026-04-07T10:00:00.000Z", "<command-name>/x</command-name>"),
    ]
)
_LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 10), st.floats(), _WORDS)
_VALUES = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_KEYS, inner, max_size=5)),
    max_leaves=12,
)
_RECORDS = st.dictionaries(_KEYS, _VALUES, min_size=1, max_size=7)


@pytest.mark.parametrize("host", [host.name for host in LOG_HOSTS])
def test_any_record_behind_a_good_beginning(host: str, tmp_path: Path) -> None:
    path = WRITERS[host](tmp_path)
    start = path.read_bytes()
    source = SourceRef(host, str(path))

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.one_of(_RECORDS, _VALUES), max_size=6))
    def attempt(records: list[object]) -> None:
        path.write_bytes(start + b"".join(line(record) for record in records))
        probe(source)
        with open_log(source, Plain()) as log:
            entries = list(log.entries())
            outline = log.outline()
        assert fingerprint(source).fingerprint == outline.fingerprint
        assert len(outline.marks) == len(entries) == len({entry.entry_id for entry in entries})
        assert all(("active" in marks) != ("abandoned_branch" in marks) for marks in outline.marks)
        assert missing(source, [(entry.entry_id, entry.position, entry.sha256) for entry in entries]) == frozenset()
        for entry in entries:
            read_record(source, entry.position, entry.sha256, Plain(), entry_id=entry.entry_id)

    attempt()


@pytest.mark.parametrize("host", [host.name for host in LOG_HOSTS])
def test_any_beginning(host: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    source = SourceRef(host, str(path))
    refused: set[str] = set()

    def read_whole() -> None:
        with open_log(source, Plain()) as log:
            list(log.entries())

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.one_of(_RECORDS.map(line), _VALUES.map(line), st.binary(max_size=20)), max_size=4))
    def attempt(parts: list[bytes]) -> None:
        path.write_bytes(b"".join(parts))
        for attempted in (lambda: probe(source), read_whole):
            try:
                attempted()
            except RecallError as error:
                refused.add(error.code)

    attempt()
    assert refused <= {"invalid_source", "source_empty"}
