"""A bad line costs that line and nothing else, and is counted and named."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.notes import NAMED
from recall.hosts.reading import open_log, probe
from recall.redact import Redactor
from recall.types import SourceRef
from tests.hosts.logs import CASES, HEADER, line, read, said, slot, write
from tests.shared import needs_shared


def test_a_torn_tail_is_one_warning_with_line_and_byte(tmp_path: Path) -> None:
    whole = line(HEADER) + line(said("a1", None)) + line(said("a2", "a1"))
    path = tmp_path / "a.jsonl"
    path.write_bytes(whole + b'{"type":"message","id":"a3","par')
    log = read(path)
    assert log.ids == ["a1", "a2"]
    assert log.warnings() == [("torn_tail", 4)]
    assert str(len(whole)) in log.outline.warnings[0].message
    assert log.outline.fingerprint.content_bytes == len(whole)
    assert log.outline.fingerprint.size > len(whole)


def test_a_last_line_without_lf_that_is_complete_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    whole = line(HEADER) + line(said("a1", None)) + line(said("a2", "a1"))
    path.write_bytes(whole[:-1])
    before = read(path)
    assert before.ids == ["a1", "a2"]
    assert before.warnings() == []
    path.write_bytes(whole + line(said("a3", "a2")))
    after = read(path, prefix_bytes=before.outline.fingerprint.content_bytes)
    assert after.outline.prefix_sha256 == before.outline.fingerprint.content_sha256
    assert [e.sha256 for e in after.entries[:2]] == [e.sha256 for e in before.entries]


def test_two_records_on_one_line_are_never_merged(tmp_path: Path) -> None:
    fused = line(said("a2", "a1", "half"))[:90] + line(said("a3", "a1", "other half"))
    log = read(write(tmp_path / "a.jsonl", said("a1", None), fused, said("a4", "a3", "kept")))
    assert log.ids == ["a1", "a4"]
    assert log.warnings() == [("malformed_line", 3), ("broken_chain", 4)]
    assert "half" not in "".join(log.texts)


def test_a_bad_line_in_the_middle_hides_nothing_after_it(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), b'{"type":"custom","id":"a00\n', said("a2", "a1")))
    assert log.ids == ["a1", "a2"]
    assert log.warnings() == [("malformed_line", 3)]
    assert [entry.position.line for entry in log.entries] == [2, 4]
    assert not log.outline.facts.graph_damaged


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\r", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_only_lf_ends_a_line(tmp_path: Path, separator: str) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    path = write(tmp_path / "a.jsonl", said("a1", None, f"one{separator}two {token}"), said("a2", "a1"))
    log = read(path)
    assert log["a1"].text == f"one{separator}two {token}"
    assert log.ids == ["a1", "a2"]
    with open_log(SourceRef("pi", str(path)), Redactor()) as redacted:
        first = next(redacted.entries())
    assert first.text.startswith(f"one{separator}two [REDACTED:")
    assert token not in first.text


def test_crlf_bom_and_blank_lines(tmp_path: Path) -> None:
    plain = read(write(tmp_path / "a.jsonl", said("a1", None)))
    text = b"\xef\xbb\xbf" + line(HEADER)[:-1] + b"\r\n\r\n  \n" + line(said("a1", None))[:-1] + b"\r\n"
    path = tmp_path / "b.jsonl"
    path.write_bytes(text)
    log = read(path)
    assert log.ids == ["a1"]
    assert log["a1"].sha256 == plain["a1"].sha256
    assert log["a1"].position.line == 4
    assert log.warnings() == []


def test_bytes_that_are_not_utf8_are_replaced_and_hashed_as_they_are(tmp_path: Path) -> None:
    bad = line(said("a1", None, "caf_ au lait")).replace(b"caf_", b"caf\xe9")
    log = read(write(tmp_path / "a.jsonl", bad, said("a2", "a1")))
    assert log["a1"].text == "caf\ufffd au lait"
    assert log.warnings() == [("invalid_utf8", 2)]
    assert log["a1"].sha256 == sha256(bad[:-1]).hexdigest()


def test_a_lone_surrogate_becomes_one_replacement_character(tmp_path: Path) -> None:
    cut = line(said("a1", None, "cut X then")).replace(b"X", b"\\ud83d")
    pair = line(said("a2", "a1", "whole X then")).replace(b"X", b"\\ud83d\\ude00")
    log = read(write(tmp_path / "a.jsonl", cut, pair))
    assert log.texts == ["cut \ufffd then", "whole \U0001f600 then"]


def test_nul_goes_as_escape_and_as_byte(tmp_path: Path) -> None:
    escaped = line(said("a1", None, "a X b")).replace(b"X", b"\\u0000")
    after_power_cut = b"\x00" * 64 + line(said("a2", "a1", "still here"))
    log = read(write(tmp_path / "a.jsonl", escaped, after_power_cut))
    assert log.texts == ["a  b", "still here"]
    assert log.warnings() == []


def test_wrong_shapes_are_counted_by_kind(tmp_path: Path) -> None:
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None),
            None,
            [1, 2, 3],
            "just text",
            {"type": "message", "id": "a2", "parentId": "a1", "message": {"0": "h", "content": []}},
            {"type": "message", "id": "a3", "parentId": "a1"},
            {"id": "a4", "parentId": "a1"},
            {"type": "quantum_entry", "id": "a5", "parentId": "a1", "payload": 1},
            said("a6", "a1", "good again"),
        )
    )
    assert log.ids == ["a1", "a5", "a6"]
    assert log["a5"].text == ""
    assert "meta" in log.marks("a5")
    codes = [code for code, _ in log.warnings()]
    assert codes == ["not_an_object"] * 3 + ["no_role", "no_message", "no_type"]


def test_children_of_a_skipped_record_hang_on_its_parent(tmp_path: Path) -> None:
    skipped = {"type": "message", "id": "a2", "parentId": "a1"}
    log = read(write(tmp_path / "a.jsonl", said("a1", None), skipped, said("a3", "a2")))
    assert log.marks("a1") == {"active"}
    assert not log.outline.facts.graph_damaged


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 1500 + "]" * 1500])
def test_deep_nesting_is_a_bad_line(tmp_path: Path, text: str) -> None:
    deep = b'{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall",'
    deep += b'"name":"x","arguments":' + text.encode() + b"}]}}\n"
    log = read(write(tmp_path / "a.jsonl", said("a1", None), deep, said("a3", "a1")))
    assert log.ids == ["a1", "a3"]
    assert [code for code, _ in log.warnings()] in (["nested_too_deep"], ["malformed_line"])


def test_duplicate_keys_nan_and_long_numbers_cost_nothing_or_one_line(tmp_path: Path) -> None:
    double = b'{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"x","content":"last"}}\n'
    number = b'{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall",'
    number += b'"name":"x","arguments":{"a":NaN,"b":1e999,"c":123456789012345678901}}]}}\n'
    huge = b'{"type":"custom","id":"a3","parentId":"a2","data":' + b"9" * 10_000 + b"}\n"
    log = read(write(tmp_path / "a.jsonl", double, number, huge, said("a4", "a2")))
    assert log.texts == ["last", '[x call, attempted] {"a": null, "b": null, "c": 123456789012345678901}', "hello"]
    assert log.warnings() == [("malformed_line", 4)]


def test_many_bad_lines_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", *[b"{\n"] * 500, said("a1", None)))
    assert len(log.outline.warnings) == NAMED + 1
    assert log.outline.warnings[-1].line == 0
    assert "500" in log.outline.warnings[-1].message


# --- headers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        b"{broken header\n",
        b"null\n",
        b'{"type":"session"}\n',
        b'{"type":"session","id":7}\n',
        b'{"type":"session","id":""}\n',
        b'{"type":"session","id":"a b\\n"}\n',
        b'{"type":"sess',
    ],
)
def test_an_invalid_header_is_a_state_of_its_own_and_nothing_is_written(tmp_path: Path, first: bytes) -> None:
    rest = line(said("a1", None)) if first.endswith(b"\n") else b""
    path = tmp_path / "a.jsonl"
    path.write_bytes(first + rest)
    before = path.stat()
    with pytest.raises(SourceError) as error:
        read(path)
    with pytest.raises(SourceError) as probed:
        probe(SourceRef("pi", str(path)))
    expected = "invalid_source" if rest else "source_empty"
    assert error.value.code == expected
    assert probed.value.code in (expected, "invalid_source")
    assert path.read_bytes() == first + rest
    assert path.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("parts", [[], [line(HEADER)], [slot("t"), line(HEADER)], [line(HEADER), b"\n\n"], [slot("t")]])
def test_a_log_without_entries_is_empty(tmp_path: Path, parts: list[bytes]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(parts))
    for attempt in (lambda: read(path), lambda: probe(SourceRef("pi", str(path)))):
        with pytest.raises(SourceError) as error:
            attempt()
        assert error.value.code == "source_empty"


def test_a_damaged_title_slot_is_no_damaged_header(tmp_path: Path) -> None:
    torn = slot("new title")[:40] + b"\x00" * 10 + slot("old")[50:]
    path = write(tmp_path / "a.jsonl", said("a1", None))
    path.write_bytes(torn.replace(b'"pad"', b'pad"') + path.read_bytes())
    log = read(path)
    assert log.ids == ["a1"]
    assert log.warnings() == [("damaged_title", 1)]
    assert log.outline.fingerprint.content_bytes == len(line(HEADER) + line(said("a1", None)))


def test_a_second_header_is_no_entry(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), HEADER, slot("x"), said("a2", "a1")))
    assert log.ids == ["a1", "a2"]
    assert log.warnings() == [("extra_header", 3), ("extra_header", 4)]
    assert log.marks("a1") == {"active"}


@pytest.mark.parametrize("version", [3, 4, 99, "3", None])
def test_a_newer_version_passes(tmp_path: Path, version: object) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), header=HEADER | {"version": version}))
    assert log.ids == ["a1"]


# --- the cases as they were given -------------------------------------------------------------------------------


@needs_shared
@pytest.mark.parametrize(
    ("name", "ids", "codes"),
    [
        ("001-torn-tail", ["a0000001", "a0000002"], ["torn_tail"]),
        ("002-fused-line", ["a0000001", "a0000002", "a0000005"], ["broken_chain", "malformed_line"]),
        ("003-bad-middle-line", ["a0000001", "a0000002", "a0000003", "a0000004"], ["malformed_line"]),
        ("005-unicode-line-separators", ["a0000001", "a0000002", "a0000003", "a0000004"], []),
        ("007-invalid-utf8", ["a0000001", "a0000002", "a0000003", "a0000004"], ["invalid_utf8"]),
        ("012-lone-surrogate", ["a0000001", "a0000002", "a0000003", "a0000004"], []),
        (
            "015-wrong-shapes",
            ["a0000001", "a0000002", "a000000b", "a0000003"],
            ["no_message", "no_role"] + ["not_an_object"] * 3,
        ),
        ("016-parent-cycle", ["c0000001", "c0000002", "c0000003"], ["parent_cycle"]),
        ("018-missing-parent", ["e0000001", "e0000002", "e0000005", "e0000006"], ["broken_chain"]),
        ("026-epoch-units", ["ba000001", "ba000002", "ba000003"], ["unknown_time"]),
    ],
)
def test_given_logs(name: str, ids: list[str], codes: list[str]) -> None:
    log = read(CASES / f"{name}.jsonl")
    assert log.ids == ids
    assert sorted(code for code, _ in log.warnings()) == codes


@needs_shared
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("009-corrupt-header", "invalid_source"),
        ("011-header-only", "source_empty"),
        ("011-zero-bytes", "source_empty"),
        ("118-codex-double-records", "invalid_source"),
    ],
)
def test_given_files_that_are_refused(name: str, code: str) -> None:
    with pytest.raises(SourceError) as error:
        read(CASES / f"{name}.jsonl")
    assert error.value.code == code
