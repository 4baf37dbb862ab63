"""The two benchmarks of repair, small: the product against a server in a process of its own, and mended faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import offline, repair
from benchmarks.faults import Faults, Planted, Standing
from benchmarks.generated import TOKEN, History


def test_the_offline_benchmark_holds_its_checks(tmp_path: Path) -> None:
    figures = offline.measure(10, 2, tmp_path)
    assert [name for name, holds in figures["checks"].items() if not holds] == []
    assert figures["cold"]["requests"].keys() == {"analysis", "placement", "repair"}
    assert figures["repair"]["runs"] >= 3
    assert figures["repair"]["audited"] > 0
    assert figures["append"]["requests"] > 0
    assert figures["long"]["concurrency"] > 1
    assert "does not judge" in figures["notice"]


def test_planted_faults_are_mended_and_nothing_is_broken(tmp_path: Path) -> None:
    runs = repair.measure(14, repair.CHILDREN, tmp_path, subjects=4)
    assert [fault for run in runs for fault in repair.faults_of(run)] == []
    careful = runs[1]
    assert {"duplicate", "stale"} <= {kind for kind, number in careful["planted"].items() if number}
    assert careful["missed"] == dict.fromkeys(careful["planted"], 0)
    assert all(run["audited"] and run["receipts"] for run in runs[:2])


def test_a_history_is_a_function_of_its_numbers_and_its_words_tell_nothing(tmp_path: Path) -> None:
    history, again = History(40), History(40)
    assert [talk.lines() for talk in history.talks] == [talk.lines() for talk in again.talks]
    assert len({*history.segments}) == sum(len(talk.segments) for talk in history.talks)
    assert len({talk.folder for talk in history.talks}) == 4
    assert {segment.subject.language for segment in history.segments.values()} == {"en", "zh"}
    texts = [str(line) for talk in history.talks for line in talk.lines()[1:]]
    assert all(len(set(TOKEN.findall(text))) == 1 for text in texts)


def test_what_is_broken_is_counted() -> None:
    history = History(32, subjects=8)
    own = {
        segment.token: (number, segment)
        for number, segment in ((one.subject.number, one) for one in history.segments.values())
    }
    titles = {subject.number: subject.name for subject in history.subjects}
    labels = {subject.number: subject.number for subject in history.subjects}
    good = Standing(titles, own, labels)
    assert Planted.of(good, history).counts() == dict.fromkeys(("wrong", "duplicate", "mixed", "stale"), 0)
    token, (number, segment) = next(iter(own.items()))
    moved = Standing(titles, own | {token: (number + 1, segment)}, labels)
    renamed = Standing(titles | {2: "nothing"}, own, labels)
    doubled = Standing(titles | {99: titles[3]}, own, labels | {99: 3})
    lost = Standing(titles, {name: where for name, where in own.items() if name != token}, labels)
    nothing = Planted.of(good, history)
    assert [nothing.broken(good, bad, history) for bad in (good, moved, renamed, doubled, lost)] == [0, 1, 1, 1, 1]
    wrong = Planted.of(moved, history)
    assert (wrong.counts()["wrong"], wrong.fixed(good, history)["wrong"], wrong.fixed(moved, history)["wrong"]) == (
        1,
        1,
        0,
    )


@pytest.mark.parametrize("how", ["none", "slips", "all"])
def test_faults_are_planted_as_told(how: str) -> None:
    history = History(64, subjects=8)
    faults = Faults(history, how)  # type: ignore[arg-type]
    astray = [one for one in history.segments.values() if faults.filed_as(one) is not one.subject]
    assert bool(astray) == (how != "none")
    assert len(astray) < len(history.segments) / 2
