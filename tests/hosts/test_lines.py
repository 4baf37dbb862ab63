"""Splitting bytes into lines, hashing them, and finding an entry again by place and hash."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.errors import RecallError, SourceError, StateError
from recall.hosts import jsonl
from recall.hosts.jsonl import Content, Lines
from recall.hosts.reading import fingerprint, open_log, read_record
from recall.redact import Redactor
from recall.types import Position, SourceRef
from tests.hosts.logs import CASES, FIXTURES, HEADER, Plain, line, message, read, said, slot, write
from tests.shared import needs_shared

pieces = st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", "\u2028".encode(), b"\xff", b"long" * 9]), max_size=40)


@given(pieces, st.integers(1, 9), st.integers(0, 400))
def test_lines_join_to_what_was_read(parts: list[bytes], chunk: int, limit: int) -> None:
    data = b"".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonl, "CHUNK", chunk)
        found = list(Lines(io.BytesIO(data), limit))
    seen = data[:limit]
    assert b"".join(bytes(one.raw) + b"\n" * one.ended for one in found) == seen
    assert [bytes(one.raw) for one in found] == seen.split(b"\n")[: len(found)]
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert all(seen[one.offset : one.offset + len(one.raw)] == one.raw for one in found)


@given(st.lists(st.binary(max_size=20), max_size=12), st.integers(0, 200))
def test_the_hash_of_any_prefix(parts: list[bytes], wanted: int) -> None:
    content = Content(wanted)
    for part in parts:
        content.add(part, ended=True)
    data = b"".join(part + b"\n" for part in parts)
    assert content.sha256() == sha256(data).hexdigest()
    assert content.prefix_sha256 == (sha256(data[:wanted]).hexdigest() if wanted <= len(data) else None)


def test_a_log_torn_at_any_byte_keeps_its_complete_entries(tmp_path: Path) -> None:
    whole = (FIXTURES / "pi.jsonl").read_bytes()
    ends = [index + 1 for index, byte in enumerate(whole) if byte == 10]
    complete = read(FIXTURES / "pi.jsonl").entries
    path = tmp_path / "a.jsonl"
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        entries_there = sum(1 for end in ends[1:] if size >= end - 1)  # complete without its LF, too
        if not entries_there:
            with pytest.raises(SourceError, match=r"source_empty|invalid_source"):
                read(path)
            continue
        log = read(path, prefix_bytes=ends[0])
        assert [e.sha256 for e in log.entries] == [e.sha256 for e in complete[:entries_there]]
        torn = size not in ends and size + 1 not in ends
        assert log.warnings() == ([("torn_tail", entries_there + 2)] if torn else [])
        assert log.outline.prefix_sha256 == sha256(whole[: ends[0]]).hexdigest()
        assert fingerprint(SourceRef("pi", str(path))).fingerprint == log.outline.fingerprint


texts = st.text(max_size=60)


@given(st.lists(texts, min_size=1, max_size=6), st.sampled_from([b"\n", b"\r\n"]))
def test_an_entry_is_found_again_by_its_place_and_hash(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], ending: bytes
) -> None:
    records = [said(f"a{i}", f"a{i - 1}" if i else None, word) for i, word in enumerate(words)]
    path = tmp_path_factory.getbasetemp() / "round.jsonl"
    path.write_bytes(b"".join(line(record)[:-1] + ending for record in (HEADER, *records)))
    source = SourceRef("pi", str(path))
    for entry, record in zip(read(path).entries, records, strict=True):
        again = read_record(source, entry.position, entry.sha256, Plain())
        cleaned = json.dumps(record).replace("\\u0000", "")
        assert again == json.loads(cleaned)


# --- fingerprints -----------------------------------------------------------------------------------------------


def test_growth_keeps_the_prefix_and_a_rewrite_does_not(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", said("a1", None, "first"), said("a2", "a1", "reply"))
    before = read(path).outline.fingerprint
    grown = read(
        write(path, said("a1", None, "first"), said("a2", "a1", "reply"), said("a3", "a2", "later")),
        prefix_bytes=before.content_bytes,
    )
    assert grown.outline.prefix_sha256 == before.content_sha256
    assert grown.outline.fingerprint.content_sha256 != before.content_sha256
    rewritten = read(
        write(path, said("a1", None, "rewritten and longer"), said("a2", "a1", "reply"), said("a9", "a2", "third")),
        prefix_bytes=before.content_bytes,
    )
    assert rewritten.outline.prefix_sha256 != before.content_sha256
    shorter = read(write(path, said("a1", None, "first")), prefix_bytes=before.content_bytes)
    assert shorter.outline.prefix_sha256 is None


def test_the_title_slot_is_outside_the_fingerprint(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", said("a1", None))
    bare = read(path).outline
    body = path.read_bytes()
    for title in ("one", "两个", "three"):
        path.write_bytes(slot(title) + body)
        titled = read(path).outline
        assert titled.fingerprint.content_sha256 == bare.fingerprint.content_sha256
        assert titled.fingerprint.content_bytes == len(body)
        assert titled.header.title == title
        assert fingerprint(SourceRef("pi", str(path))).fingerprint == titled.fingerprint


def test_a_log_that_grows_while_it_is_read_is_read_as_it_was(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", said("a1", None), said("a2", "a1"))
    size = path.stat().st_size
    with open_log(SourceRef("pi", str(path)), Plain()) as log:
        entries = log.entries()
        first = next(entries)
        with path.open("ab") as file:
            file.write(line(said("a3", "a2")))
        assert [first.entry_id, *(entry.entry_id for entry in entries)] == ["a1", "a2"]
        outline = log.outline()
    assert outline.fingerprint.content_bytes == outline.fingerprint.size == size
    assert [warning.code for warning in outline.warnings] == ["changed_while_reading"]
    assert read(path, prefix_bytes=size).outline.prefix_sha256 == outline.fingerprint.content_sha256


def test_mtime_and_inode_are_those_of_the_open_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", said("a1", None))
    status = path.stat()
    found = read(path).outline.fingerprint
    assert (found.size, found.mtime_ns, found.device, found.inode) == (
        status.st_size,
        status.st_mtime_ns,
        status.st_dev,
        status.st_ino,
    )


def test_reading_can_be_cancelled_and_its_end_is_needed_for_the_outline(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", said("a1", None), said("a2", "a1"))
    stop = False
    with open_log(SourceRef("pi", str(path)), Plain(), cancelled=lambda: stop) as log:
        entries = log.entries()
        next(entries)
        with pytest.raises(RuntimeError):
            log.outline()
        stop = True
        with pytest.raises(StateError) as error:
            next(entries)
    assert error.value.code == "cancelled"


# --- the raw record ---------------------------------------------------------------------------------------------


def test_a_changed_record_is_stale_evidence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", said("a1", None, "one"), said("a2", "a1", "two"))
    source = SourceRef("pi", str(path))
    second = read(path).entries[1]
    path.write_bytes(path.read_bytes().replace(b'"two"', b'"2wo"'))
    far = Position(9, 10**9, 5)
    for place in (second.position, far):
        with pytest.raises(SourceError) as error:
            read_record(source, place, second.sha256, Plain())
        assert error.value.code == "stale_evidence"


def test_a_raw_record_shows_everything_but_secrets_reasoning_images_and_signatures(tmp_path: Path) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    body = message(
        role="assistant",
        content=[
            {"type": "thinking", "thinking": "private", "thinkingSignature": "c2ln"},
            {"type": "redactedThinking", "data": "ZW5j"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "text", "text": f"use {token} data:image/png;base64,{'QUJD' * 40}"},
            {"type": "toolCall", "name": "x", "arguments": {"password": "hunter2hunter2"}},
        ],
        usage={"input": 12},
    )
    path = write(tmp_path / "a.jsonl", body)
    redactor = Redactor()
    with open_log(SourceRef("pi", str(path)), redactor) as log:
        entry = next(log.entries())
    again = Redactor(redactor.locations)
    raw = read_record(SourceRef("pi", str(path)), entry.position, entry.sha256, again, entry_id=entry.entry_id)
    shown = json.dumps(raw)
    assert raw["id"] == "m1"
    assert '"input": 12' in shown
    for hidden in ("private", "c2ln", "ZW5j", "aGVsbG8=", token, "hunter2", "QUJDQUJD"):
        assert hidden not in shown
    for word in (
        "[elided reasoning 7 bytes]",
        "[elided signature 4 bytes]",
        "[elided image 8 bytes]",
        "[elided image/png 120 bytes]",
    ):
        assert word in shown
    for placeholder in {part.split("]")[0] for part in entry.text.split("[REDACTED:")[1:]}:
        assert f"[REDACTED:{placeholder}]" in shown


@needs_shared
def test_given_growth() -> None:
    old = read(CASES / "031-appended-tail.jsonl").outline.fingerprint
    grown = read(CASES / "031-appended-tail-v2.jsonl", prefix_bytes=old.content_bytes).outline
    assert grown.prefix_sha256 == old.content_sha256
    regrown = read(CASES / "032-rewound-v2.jsonl", prefix_bytes=old.content_bytes).outline
    assert regrown.fingerprint.content_bytes > old.content_bytes
    assert regrown.prefix_sha256 != old.content_sha256


def test_nothing_but_our_errors_comes_of_any_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    refused: set[str] = set()

    @given(
        st.lists(
            st.one_of(st.binary(max_size=30), st.sampled_from([line(HEADER), slot("x"), line(said("a1", None))])),
            max_size=8,
        )
    )
    def attempt(parts: list[bytes]) -> None:
        path.write_bytes(b"\n".join(parts))
        try:
            log = read(path)
        except RecallError as error:
            refused.add(error.code)
        else:
            assert fingerprint(SourceRef("pi", str(path))).fingerprint == log.outline.fingerprint

    attempt()
    assert refused <= {"invalid_source", "source_empty"}
