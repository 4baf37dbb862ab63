"""Logs that mean harm: any JSON value in any field, and secrets in the fields that are no text."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall.errors import SourceError
from recall.hosts.reading import open_log, probe, read_record
from recall.redact import Redactor
from recall.types import SourceRef
from tests.hosts.logs import HEADER, said, write

_KINDS = (
    "message text thinking image audio resource toolCall tool_use user assistant toolResult bashExecution "
    "pythonExecution fileMention custom compaction compactionSummary branch_summary custom_message session_init "
    "label title_change session_info reset_boundary credential_pin reasoning session title history_recall_search"
).split()
_KEYS = (
    "id parentId timestamp type message role content text name arguments input data mimeType source url blob thinking "
    "toolName command code output exitCode details isError files path summary title cwd version stopReason "
    "errorMessage customType display attribution synthetic label task firstKeptEntryId firstKeptEntryIndex hash "
    "resource thinkingSignature configured"
).split()
_LEAF = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([*_KINDS, "a1", "a2", "<history_recall>", "data:image/png;base64,AAAA"])
    | st.text(max_size=6)
)
_JSON = st.recursive(
    _LEAF,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=12,
)
_BLOCK = _JSON | st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("type", "text", "name", "arguments", "data", "thinking", "resource", "source"), _JSON)
)
_MESSAGE = _JSON | st.fixed_dictionaries(
    {"role": st.sampled_from(_KINDS) | _JSON, "content": st.lists(_BLOCK, max_size=3) | _JSON},
    optional={key: _JSON for key in _KEYS if key not in ("role", "content")},
)
_RECORD = _JSON | st.fixed_dictionaries(
    {"type": st.sampled_from(_KINDS) | _JSON},
    optional={key: _JSON for key in _KEYS if key not in ("type", "message")} | {"message": _MESSAGE},
)
_HEADER = st.just(dict(HEADER)) | st.fixed_dictionaries(
    {"type": st.just("session") | _JSON, "id": st.just("s1") | _JSON},
    optional=dict.fromkeys(("version", "timestamp", "cwd", "title", "parentSession", "branchedFrom"), _JSON),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=_HEADER, records=st.lists(_RECORD, min_size=1, max_size=4))
def test_any_json_in_any_field_is_read_or_refused(tmp_path: Path, header: object, records: list[object]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in (header, *records)))
    source = SourceRef("pi", str(path))
    for look in (probe, _read_all):
        with suppress(SourceError):  # a header that is none
            look(source)


def _read_all(source: SourceRef) -> None:
    with open_log(source, Redactor()) as log:
        entries = list(log.entries())
        outline = log.outline()
    assert len(outline.marks) == len(entries)
    for entry in entries:
        read_record(source, entry.position, entry.sha256, Redactor(), entry_id=entry.entry_id)


@pytest.mark.parametrize("kind", [[], {}, [["text"]], {"text": 1}, 1, None, True])
def test_a_block_whose_type_is_no_name_costs_nothing(tmp_path: Path, kind: object) -> None:
    block = {"type": kind, "name": "x", "data": "d", "arguments": {}}
    record = said("a1", None) | {"message": {"role": "assistant", "content": [block]}}
    _read_all(SourceRef("pi", str(write(tmp_path / "a.jsonl", record))))


def test_no_field_but_a_text_takes_a_secret_along(tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE6gH9j" * 3 + "aB3dE6"
    called = {"role": "assistant", "content": [{"type": "toolCall", "name": secret, "arguments": {}}]}
    path = write(
        tmp_path / "a.jsonl",
        said(secret, None),
        said("a2", secret) | {"message": {"role": secret, "content": "x"}},
        {"type": secret, "id": "a3", "parentId": f"{secret}x"},
        said("a4", "a3") | {"message": called},
        said("a5", "a4") | {"message": {"role": "toolResult", "toolName": secret, "content": "x"}},
    )
    with open_log(SourceRef("pi", str(path)), Redactor()) as log:
        entries = list(log.entries())
        outline = log.outline()
    assert secret not in repr(entries) + repr(outline)
    assert [one.entry_id for one in entries] == ["L2", "a2", "a3", "a4", "a5"]
    assert entries[1].parent_id == "L2"


def test_a_header_whose_id_is_a_secret_is_refused(tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE6gH9j" * 3 + "aB3dE6"
    path = write(tmp_path / "a.jsonl", said("a1", None), header=HEADER | {"id": secret})
    for look in (probe, _read_all):
        with pytest.raises(SourceError) as refused:
            look(SourceRef("pi", str(path)))
        assert refused.value.code == "invalid_source"
        assert secret not in str(refused.value)
