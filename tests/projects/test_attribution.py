"""Where a conversation belongs, by table: each reason, and which wins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recall.folders import Folder, parse
from recall.index.attribution import (
    Attribution,
    Belonging,
    FolderBinding,
    Known,
    Seen,
    attribute,
)


def folder(path: str) -> Folder:
    found = parse(path)
    assert found is not None
    return found


def bound(path: str, project: int, *, folds: bool = False) -> FolderBinding:
    return FolderBinding(folder(path).key(folds=folds), folds, project)


KNOWN = Known(
    markers={"uuid-1": 1},
    folders=(
        bound("/srv/app", 2),
        bound("/srv/app/plugin", 3),
        bound("C:\\Work", 4),
        bound("/Users/me/x", 5, folds=True),
    ),
    groups={"/srv/repo/.git": 6},
    records={("hermes", "p_h"): 7},
)
FULL = Seen(
    folders=(folder("/srv/app/plugin/src"),),
    marker="uuid-1",
    git_group="/srv/repo/.git",
    host="hermes",
    records=("p_h",),
    mentioned=frozenset({8}),
    decided=Belonging(9),
    followed=Belonging(10),
)
STEPS = [
    (Attribution(9, "moved"), {"decided": None}),
    (Attribution(10, "inherited"), {"followed": None}),
    (Attribution(1, "marker"), {"marker": None}),
    (Attribution(3, "folder"), {"folders": ()}),
    (Attribution(7, "host"), {"records": ()}),
    (Attribution(6, "git"), {"git_group": None}),
    (Attribution(8, "mention"), {"mentioned": frozenset()}),
    (Attribution(None, "none"), {}),
]


def test_the_best_reason_wins_and_each_is_the_next_best() -> None:
    seen = FULL
    for expected, without in STEPS:
        assert attribute(seen, KNOWN) == expected
        seen = replace(seen, **without)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("/srv/app", 2),
        ("/srv/app/other", 2),
        ("/srv/app/plugin", 3),
        ("/srv/app/plugin-old", 2),
        ("/srv/application", None),
        ("/srv", None),
        ("c:\\work\\deep\\down", 4),
        ("C:/WORK", 4),
        ("C:\\Workshop", None),
        ("/users/ME/X/y", 5),
        ("/SRV/app", None),
    ],
)
def test_the_longest_bound_folder_wins(path: str, project: int | None) -> None:
    assert attribute(Seen(folders=(folder(path),)), KNOWN).project_no == project


def test_a_real_path_counts_as_the_one_in_the_log_does() -> None:
    seen = Seen(folders=(folder("/home/me/link"), folder("/srv/app/plugin")))
    assert attribute(seen, KNOWN) == Attribution(3, "folder")


def test_moved_out_is_a_decision_as_well() -> None:
    assert attribute(replace(FULL, decided=Belonging(None)), KNOWN) == Attribution(None, "moved")


def test_an_unknown_marker_names_a_project_that_is_to_be_made() -> None:
    assert attribute(Seen(marker="uuid-9"), KNOWN) == Attribution(None, "marker", "uuid-9")


def test_two_names_are_no_guess() -> None:
    assert attribute(Seen(mentioned=frozenset({1, 2})), KNOWN) == Attribution(None, "none")


def test_a_record_that_was_not_taken_over_says_nothing() -> None:
    assert attribute(Seen(host="hermes", records=("p_other",)), KNOWN) == Attribution(None, "none")
