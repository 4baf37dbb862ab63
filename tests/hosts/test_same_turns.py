"""A conversation is the same whichever host wrote it: the same turns, the same call, the same directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.hosts.catalogue import HOSTS, Catalogue, Listed
from recall.hosts.reading import fingerprint, missing, open_log, read_record
from recall.redact import Redactor
from recall.settings import load
from recall.types import Entry, Outline
from tests.hosts.stores import CWD, SPOKEN, WRITERS
from tests.shared import SHARED, needs_shared

SESSIONS = SHARED / "sessions"
_UNSEEN = {"meta", "synthetic"}


def listed(home: Path) -> list[Listed]:
    found, warnings = Catalogue(load({"HOME": str(home)}), []).listed()
    assert warnings == []
    return found


def read(item: Listed) -> tuple[list[Entry], Outline]:
    with open_log(item.source, Redactor()) as log:
        return list(log.entries()), log.outline()


def turns(item: Listed) -> list[tuple[str, str]]:
    """What a person and a model said on the active branch; calls of tools are left out."""
    entries, outline = read(item)
    return [
        (entry.role, entry.text)
        for entry in entries
        if entry.role in ("user", "assistant") and entry.text and not outline.marks[entry.seq] & _UNSEEN
        if "active" in outline.marks[entry.seq] and " call, attempted] " not in entry.text
    ]


def stamps(home: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_size, path.read_bytes() if path.is_file() else b"")
        for path in (home, *home.rglob("*"))
    }


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_says_the_same_of_one_conversation(host: str, home: Path) -> None:
    WRITERS[host](home)
    before = stamps(home)
    (item,) = listed(home)
    assert (item.source.host, item.problem) == (host, None)
    assert turns(item) == SPOKEN
    entries, outline = read(item)
    assert outline.header == item.header
    assert (outline.header.cwd, outline.header.sidechain) == (CWD, False)
    (call,) = [entry for entry in entries if " call, attempted] " in entry.text]
    assert call.text == '[bash call, attempted] {"command": "du -sh build"}'
    (result,) = [entry for entry in entries if entry.role == "tool"]
    assert (result.tool, result.text) == ("bash", "[bash result, attempted]\n1.4G\tbuild")
    assert outline.facts.branches == 1
    assert not outline.facts.graph_damaged
    assert outline.warnings == ()
    found = fingerprint(item.source).fingerprint
    assert found == outline.fingerprint
    assert (item.size, item.mtime_ns, item.device, item.inode) == (
        *(found.size, found.mtime_ns),
        *(found.device, found.inode),
    )
    assert missing(item.source, [(entry.entry_id, entry.position, entry.sha256) for entry in entries]) == frozenset()
    raw = read_record(item.source, result.position, result.sha256, Redactor(), entry_id=result.entry_id)
    assert "1.4G" in str(raw)
    assert stamps(home) == before


def _stores() -> Iterator[tuple[str, list[list[tuple[str, str]]]]]:
    for host in HOSTS:
        if (SESSIONS / host).is_dir():
            yield host, [turns(item) for item in listed(SESSIONS / host)]


@needs_shared
@pytest.mark.parametrize("host", [host for host in HOSTS if (SESSIONS / host).is_dir()])
def test_the_real_programs_wrote_the_same_three_conversations(host: str) -> None:
    """OMP and Hermes hold one of them twice, the first time cut off after its first turn."""
    before = stamps(SESSIONS / host) if os.access(SESSIONS, os.R_OK) else {}
    found = sorted((turns(item) for item in listed(SESSIONS / host)), key=len)
    whole = [one for one in found if len(one) > 2]
    reference = [one for item in listed(SESSIONS / "pi") if len(one := turns(item)) > 2]
    assert sorted(whole) == sorted(reference)
    assert len(whole) == 3
    assert all(any(other[: len(one)] == one for other in whole) for one in found)
    assert stamps(SESSIONS / host) == before


@pytest.mark.parametrize("host", HOSTS)
def test_an_append_is_growth_and_a_rewrite_is_not(host: str, home: Path) -> None:
    path = WRITERS[host](home)
    if path.suffix != ".jsonl":
        pytest.skip("rows of a database: see test_hermes.py and test_opencode.py")
    (item,) = listed(home)
    entries, outline = read(item)
    whole = path.read_bytes()
    last = entries[-1].position
    path.write_bytes(whole[: last.offset])
    shorter = fingerprint(item.source).fingerprint
    path.write_bytes(whole)
    assert fingerprint(item.source, prefix_bytes=shorter.content_bytes).prefix_sha256 == shorter.content_sha256
    path.write_bytes(whole.replace(b"1.9 GB", b"1.8 GB"))
    now = fingerprint(item.source, prefix_bytes=outline.fingerprint.content_bytes)
    assert now.prefix_sha256 != outline.fingerprint.content_sha256
    gone = missing(item.source, [(entry.entry_id, entry.position, entry.sha256) for entry in entries])
    assert len(gone) in (1, 2)  # Codex has the turn twice
