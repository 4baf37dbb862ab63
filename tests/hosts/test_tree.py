"""Marks from the parent graph, however broken it is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.hosts.tree import Tree
from tests.hosts.logs import CASES, HEADER, entry, read, said, write
from tests.shared import needs_shared


def after(kind: str, entry_id: str, parent: str | None, **fields: object) -> dict[str, object]:
    return entry(kind, **fields) | {"id": entry_id, "parentId": parent}


def test_other_branches_are_abandoned(tmp_path: Path) -> None:
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None),
            said("a2", "a1"),
            said("a3", "a2"),
            said("b2", "a1"),
            said("b3", "b2"),
        )
    )
    assert [sorted(marks) for marks in log.outline.marks] == [["active"]] + [["abandoned_branch"]] * 2 + [
        ["active"]
    ] * 2
    assert log.outline.facts.branches == 2
    assert log.outline.facts.by_mark == {"abandoned_branch": 2, "active": 3}


def test_a_new_root_abandons_the_old_one(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), said("b1", None)))
    assert log.marks("a1") == {"abandoned_branch"}
    assert log.outline.facts.branches == 2
    assert not log.outline.facts.graph_damaged


def test_a_missing_parent_breaks_the_chain_and_hides_nothing(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), said("a2", "a1"), said("a5", "a4"), said("a6", "a5")))
    assert all(marks == {"active"} for marks in log.outline.marks)
    assert log.outline.facts.graph_damaged
    assert log.warnings() == [("broken_chain", 4)]
    assert log["a5"].parent_id == "a4"


def test_a_cycle_ends_and_is_named(tmp_path: Path) -> None:
    began = time.monotonic()
    log = read(write(tmp_path / "a.jsonl", said("c1", "c3"), said("c2", "c1"), said("c3", "c2")))
    assert time.monotonic() - began < 2
    assert log.ids == ["c1", "c2", "c3"]
    assert all(marks == {"active"} for marks in log.outline.marks)
    assert log.outline.facts.graph_damaged
    assert log.warnings() == [("parent_cycle", 2)]


def test_an_entry_that_is_its_own_parent(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), said("a2", "a2"), said("a3", "a2")))
    assert all(marks == {"active"} for marks in log.outline.marks)
    assert log.warnings() == [("parent_cycle", 3)]


def test_what_is_older_than_a_cycle_is_kept(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), said("a2", "a1"), said("c1", "c2"), said("c2", "c1")))
    assert all(marks == {"active"} for marks in log.outline.marks)


def test_a_repeated_id_is_cited_by_line(tmp_path: Path) -> None:
    log = read(
        write(tmp_path / "a.jsonl", said("a1", None), said("a2", "a1"), said("a2", "a1", "again"), said("a3", "a2"))
    )
    assert log.ids == ["a1", "a2", "L4", "a3"]
    assert log.warnings() == [("repeated_id", 4)]
    assert log.marks("a2") == {"active"}


@pytest.mark.parametrize("odd", ["L7", "has space", "x" * 65, "über", "a\nb", ""])
def test_an_id_that_cannot_be_cited_gives_way_to_the_line(tmp_path: Path, odd: str) -> None:
    log = read(write(tmp_path / "a.jsonl", said(odd, None), said("a2", odd)))
    assert log.ids == ["L2", "a2"]
    assert len(set(log.ids)) == 2
    assert log.marks("L2") == {"active"}
    if odd:
        assert log["a2"].parent_id == "L2"


@pytest.mark.parametrize("parent", ["L3", "x" * 1000, "two words"])
def test_a_parent_that_is_nobody_is_not_cited(tmp_path: Path, parent: str) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a1", None), said("a2", parent)))
    assert log["a2"].parent_id is None
    assert log.warnings() == [("broken_chain", 3)]


def test_a_parent_further_down_is_found(tmp_path: Path) -> None:
    log = read(write(tmp_path / "a.jsonl", said("a2", "a1"), said("a1", None), said("a3", "a2")))
    assert all(marks == {"active"} for marks in log.outline.marks)
    assert not log.outline.facts.graph_damaged


def test_a_record_without_an_id_belongs_to_the_one_before(tmp_path: Path) -> None:
    foreign = {"type": "foreign", "timestamp": "2026-03-02T09:01:00.000Z"}
    log = read(write(tmp_path / "a.jsonl", said("a1", None), foreign, said("a2", "a1"), said("b2", "a1"), foreign))
    assert log.ids == ["a1", "L3", "a2", "b2", "L6"]
    assert log.marks("L3") == {"active", "meta"}
    assert log.marks("a2") == {"abandoned_branch"}
    assert log.outline.facts.branches == 2
    assert not log.outline.facts.graph_damaged


def test_version_1_is_a_chain_in_file_order(tmp_path: Path) -> None:
    header = {key: value for key, value in HEADER.items() if key != "version"}
    log = read(write(tmp_path / "a.jsonl", *[said(None, None, f"n{i}") for i in range(4)], header=header))
    assert log.ids == ["L2", "L3", "L4", "L5"]
    assert [e.parent_id for e in log.entries] == [None, "L2", "L3", "L4"]
    assert log.outline.header.version == 1
    assert log.outline.facts.branches == 1
    assert all(marks == {"active"} for marks in log.outline.marks)


# --- compaction, reset ------------------------------------------------------------------------------------------


def test_what_stands_before_the_first_kept_entry_is_compacted(tmp_path: Path) -> None:
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None),
            said("a2", "a1"),
            said("a3", "a2"),
            after("compaction", "a4", "a3", summary="S", firstKeptEntryId="a3"),
            said("a5", "a4"),
        )
    )
    assert [("compacted" in marks) for marks in log.outline.marks] == [True, True, False, False, False]
    assert log["a4"].role == "summary"
    assert log["a4"].text == "S"


def test_a_second_compaction_hides_what_the_first_one_hid(tmp_path: Path) -> None:
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None),
            said("a2", "a1"),
            after("compaction", "a3", "a2", summary="S", firstKeptEntryId="a2"),
            said("a4", "a3"),
            after("compaction", "a5", "a4", summary="T", firstKeptEntryId="a5"),
        )
    )
    assert [("compacted" in marks) for marks in log.outline.marks] == [True, True, True, True, False]


@pytest.mark.parametrize("kept", ["b2", "nowhere", 7, None])
def test_a_boundary_off_the_branch_hides_nothing(tmp_path: Path, kept: object) -> None:
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None),
            said("b2", "a1"),
            said("a2", "a1"),
            after("compaction", "a3", "a2", summary="S", firstKeptEntryId=kept),
            said("a4", "a3"),
        )
    )
    assert not any("compacted" in marks for marks in log.outline.marks)


def test_a_compaction_on_an_abandoned_branch_hides_nothing(tmp_path: Path) -> None:
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None),
            said("a2", "a1"),
            after("compaction", "b3", "a2", summary="S", firstKeptEntryId="a2"),
            said("a3", "a2"),
        )
    )
    assert not any("compacted" in marks for marks in log.outline.marks)


def test_the_index_of_version_1_counts_the_header_and_skipped_records(tmp_path: Path) -> None:
    header = {key: value for key, value in HEADER.items() if key != "version"}
    compaction = {"type": "compaction", "timestamp": "2026-03-02T09:02:00Z", "summary": "S", "firstKeptEntryIndex": 4}
    log = read(
        write(
            tmp_path / "a.jsonl",
            said(None, None, "1"),
            {"type": "message"},  # index 2, no entry
            b"{bad\n",  # no record at all
            said(None, None, "3"),
            said(None, None, "4"),
            compaction,
            header=header,
        )
    )
    assert [entry.text for entry in log.entries if "compacted" in log.outline.marks[entry.seq]] == ["1", "3"]


def test_everything_before_a_reset_is_marked(tmp_path: Path) -> None:
    log = read(
        write(
            tmp_path / "a.jsonl",
            said("a1", None),
            said("b1", "a1"),
            after("reset_boundary", "a2", "a1"),
            said("a3", "a2"),
        )
    )
    assert log.marks("a1") == {"active", "before_reset"}
    assert log.marks("b1") == {"abandoned_branch"}
    assert log.marks("a2") == {"active", "meta"}
    assert log.marks("a3") == {"active"}


def test_a_subagent_is_a_sidechain_throughout(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", said("a1", None), said("b1", "a1"), said("a2", "a1"))
    assert all("sidechain" in marks for marks in read(path, sidechain=True).outline.marks)
    told = read(write(tmp_path / "b.jsonl", after("session_init", "a1", None, task="find callers"), said("a2", "a1")))
    assert all("sidechain" in marks for marks in told.outline.marks)
    assert told.outline.header.sidechain


def test_order_is_that_of_the_file_whatever_the_clock_says(tmp_path: Path) -> None:
    records = [said(f"a{i}", f"a{i - 1}" if i else None, timestamp="2026-03-02T09:01:00Z") for i in range(9)]
    records[5]["timestamp"] = "2026-03-02T08:59:00Z"
    path = write(tmp_path / "a.jsonl", *records)
    assert read(path).ids == [f"a{i}" for i in range(9)]
    assert read(path) == read(path)


# --- any graph --------------------------------------------------------------------------------------------------

graphs = st.lists(
    st.tuples(st.integers(0, 12), st.one_of(st.none(), st.integers(0, 14)), st.booleans(), st.integers(0, 5)),
    max_size=40,
)


@given(graphs)
def test_every_walk_ends_and_marks_divide_the_entries(nodes: list[tuple[int, int | None, bool, int]]) -> None:
    tree = Tree()
    for number, (name, parent, named, special) in enumerate(nodes):
        if named:
            tree.add(number, str(name), None if parent is None else str(parent), frozenset())
        else:
            tree.add_after(number, str(name) if special else None, frozenset(), broken=special == 2)
        if special == 3:
            tree.compaction(str(parent))
        elif special == 4:
            tree.compaction((parent or 0) - 2)
        elif special == 5:
            tree.reset()
    graph = tree.graph()
    assert len(graph.marks) == len(nodes)
    assert all(("active" in marks) != ("abandoned_branch" in marks) for marks in graph.marks)
    assert all("active" in marks for marks in graph.marks if {"compacted", "before_reset"} & marks)
    if nodes:
        assert "active" in graph.marks[-1]
        assert 1 <= graph.branches <= len(nodes)


def test_a_million_entries_in_a_cycle() -> None:
    tree = Tree()
    tree.add(0, "0", "999999", frozenset())
    for number in range(1, 1_000_000):
        tree.add(number, str(number), str(number - 1), frozenset())
    began = time.process_time()
    graph = tree.graph()
    assert time.process_time() - began < 20
    assert len(graph.breaks) == 1
    assert set(graph.marks) == {frozenset({"active"})}


@needs_shared
def test_given_graphs() -> None:
    forked = read(CASES / "019-abandoned-branch-mixed-in.jsonl")
    assert [e for e in forked.ids if "abandoned_branch" in forked.marks(e)] == ["fb000002", "fb000003"]
    crossed = read(CASES / "024-compaction-off-branch.jsonl")
    assert not any("compacted" in marks for marks in crossed.outline.marks)
    assert [e for e in crossed.ids if "abandoned_branch" in crossed.marks(e)] == ["ac000002"]
    ordered = read(CASES / "030-same-second-order.jsonl")
    assert [e.text[5] for e in ordered.entries] == list("123456")
    copied = read(CASES / "022-fork-child.jsonl")
    original = read(CASES / "022-fork-copies-history.jsonl")
    assert [e.sha256 for e in copied.entries[:2]] == [e.sha256 for e in original.entries[:2]]
    assert copied.outline.header.parent == "/srv/sessions/parent.jsonl"
