"""The header and the newest title, read to the end and probed."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.hosts.reading import probe
from recall.types import Header, SourceRef
from tests.hosts.logs import CASES, FIXTURES, HEADER, T0, entry, read, said, slot, write
from tests.shared import needs_shared


def both(path: Path) -> Header:
    probed, whole = probe(SourceRef("omp", str(path))), read(path, host="omp").outline.header
    assert probed == whole
    return probed


def test_a_header_says_who_when_and_where(tmp_path: Path) -> None:
    header = both(write(tmp_path / "a.jsonl", said("a1", None), header=HEADER | {"parentSession": "/old.jsonl"}))
    assert header == Header("omp", str(HEADER["id"]), 3, T0, "/srv/demo", None, "/old.jsonl", False)


def test_the_newest_title_wins(tmp_path: Path) -> None:
    titled = HEADER | {"title": "from the header"}
    change = entry("title_change", title="changed") | {"id": "a2", "parentId": "a1"}
    named = entry("session_info", name="named") | {"id": "a3", "parentId": "a2"}
    path = tmp_path / "a.jsonl"
    assert both(write(path, said("a1", None), header=titled)).title == "from the header"
    assert both(write(path, said("a1", None), change, header=titled)).title == "changed"
    assert both(write(path, said("a1", None), change, named, header=titled)).title == "named"
    assert both(write(path, slot("in the slot"), titled, said("a1", None), change, header=None)).title == "in the slot"
    assert both(write(path, slot(""), titled, said("a1", None), change, header=None)).title == "changed"
    assert both(write(path, slot(""), titled, said("a1", None), header=None)).title == "from the header"


def test_a_late_title_in_a_long_log_is_found_at_its_end(tmp_path: Path) -> None:
    filler = [said(f"a{i}", f"a{i - 1}" if i else None, "x" * 1000) for i in range(400)]
    late = entry("session_info", name="late") | {"id": "z", "parentId": "a399"}
    assert both(write(tmp_path / "a.jsonl", *filler, late)).title == "late"


def test_a_probe_reads_little_of_a_long_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.jsonl", *[said(f"a{i}", None, "x" * 10_000) for i in range(2000)])
    from recall.hosts import jsonl

    sizes: list[int] = []
    real = jsonl.Lines.__next__

    def counted(self: jsonl.Lines) -> jsonl.Line:
        line = real(self)
        sizes.append(len(line.raw))
        return line

    monkeypatch.setattr(jsonl.Lines, "__next__", counted)
    probe(SourceRef("pi", str(path)))
    assert sum(sizes) < 300_000


def test_a_long_title_is_cut_for_show(tmp_path: Path) -> None:
    title = both(write(tmp_path / "a.jsonl", said("a1", None), header=HEADER | {"title": "t" * 5000})).title
    assert title == "t" * 500


def test_title_and_directory_are_redacted(tmp_path: Path) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    path = write(tmp_path / "a.jsonl", said("a1", None), header=HEADER | {"title": token, "cwd": f"/x/{token}"})
    header = probe(SourceRef("pi", str(path)))
    assert token not in repr(header)
    assert "[REDACTED:" in str(header.title)


@pytest.mark.parametrize("name", ["omp.jsonl", "pi.jsonl", "pi_v1.jsonl", "pi_v2.jsonl", "omp/scout.jsonl"])
def test_fixtures(name: str) -> None:
    header = both(FIXTURES / name)
    assert header.cwd == "/home/dev/kiln"
    assert header.sidechain == (name == "omp/scout.jsonl")


def test_a_log_with_everything_in_it() -> None:
    log = read(FIXTURES / "omp.jsonl")
    facts = log.outline.facts
    assert facts.branches == 2
    assert facts.by_mark["abandoned_branch"] == 2
    assert facts.by_mark["compacted"] == 7
    assert facts.tools == {"bash": 2}
    assert not facts.graph_damaged
    assert log.outline.warnings == ()
    assert "hidden" not in "".join(log.texts)


@needs_shared
def test_given_identity() -> None:
    path = CASES / "023-header-id-differs-from-name.jsonl"
    assert both(path).host_conversation_id == "5e551011-0000-4000-8000-0000000000cc"
    assert both(CASES / "114-terminal-escapes.jsonl").cwd == "/srv/\x1b]0;owned\x07x"
