"""Stores that the real programs wrote, and invented ones in the shapes that those do not show."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.hosts.catalogue import Catalogue, Listed
from recall.hosts.reading import fingerprint
from recall.settings import load
from tests.hosts.logs import Log, read
from tests.shared import SHARED, needs_shared

pytestmark = needs_shared
SESSIONS = SHARED / "sessions"


def everything() -> list[Listed]:
    found = []
    for home in ("omp", "pi"):
        listed, warnings = Catalogue(load({"HOME": str(SESSIONS / home)}), []).listed()
        assert warnings == []
        found += listed
    nobody = Catalogue(load({"HOME": str(SESSIONS / "nobody")}), [])
    folders = ("public/pi", "shapes/pi", "shapes/pi/--home-dev-work-shop--", "shapes/omp/-work-shop")
    added = [nobody.authorise(str(SESSIONS / folder)) for folder in folders]
    return found + Catalogue(load({"HOME": str(SESSIONS / "nobody")}), added).listed()[0]


def log_of(item: Listed) -> Log:
    return read(Path(item.source.path), host=item.source.host, sidechain=item.source.sidechain)


def test_all_of_them_are_listed_and_read_without_a_warning() -> None:
    found = everything()
    assert [item.source.host for item in found].count("omp") == 6
    assert [item.source.host for item in found].count("pi") == 8
    for item in found:
        assert item.problem is None
        log = log_of(item)
        assert log.outline.warnings == ()
        assert log.outline.header == item.header
        assert fingerprint(item.source).fingerprint == log.outline.fingerprint
        assert len(set(log.ids)) == len(log.ids) == log.outline.facts.entries
        assert all(("active" in marks) != ("abandoned_branch" in marks) for marks in log.outline.marks)


@pytest.mark.parametrize("home", ["omp", "pi"])
def test_the_same_conversation_reads_the_same_from_both_programs(home: str) -> None:
    listed, _ = Catalogue(load({"HOME": str(SESSIONS / home)}), []).listed()
    spoken = {
        tuple(entry.text.splitlines()[0] for entry in log_of(item).entries if entry.role == "user") for item in listed
    }
    assert (
        "Our SQLite writer loses the last rows after a power cut. journal_mode is WAL and synchronous=NORMAL. Why?",
        "Decision please: FULL everywhere, or only for the ledger?",
        "Yes, add PRAGMA fullfsync=ON on darwin. Also wal_autocheckpoint to 400 pages.",
    ) in spoken


def test_a_long_version_1_log_is_compacted_at_its_indices() -> None:
    log = read(SESSIONS / "public" / "pi" / "before-compaction.jsonl")
    assert len(log.entries) == 1002
    compactions = [entry.seq for entry in log.entries if entry.kind == "compaction"]
    assert compactions == [358, 627]
    compacted = [seq for seq, marks in enumerate(log.outline.marks) if "compacted" in marks]
    assert compacted == list(range(550))
    assert log.outline.facts.branches == 1


def test_a_forked_log_of_omp() -> None:
    folder = SESSIONS / "shapes" / "omp" / "-work-shop"
    log = read(next(folder.glob("*.jsonl")))
    abandoned = [entry.entry_id for entry in log.entries if "abandoned_branch" in log.outline.marks[entry.seq]]
    assert abandoned == ["b0000001", "b0000002"]
    assert "before_reset" in log.marks("a0000009")
    assert "compacted" not in log.marks("a0000009")
    assert {"compacted", "before_reset"} <= log.marks("a0000003")
    assert log.marks("a0000018") == {"active"}
    assert log.outline.header.title == "修复登录重试 / fix login retry"
    text = "\n".join(log.texts)
    for hidden in ("Look at auth/retry.py first.", "ZW5j", "c2ln", "abab", "00" * 32):
        assert hidden not in text
