"""One source that means harm costs that source and nothing else."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from recall.curation import Curator
from recall.types import SourceRef
from tests.indexing.product import Log, Product, short

SECRET = "words of a conversation"


def _stumbling(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    curate = Curator.curate

    async def stumble(self: Curator, source: SourceRef, **more: Any) -> object:
        if source.path.endswith(name):
            raise TypeError(SECRET)
        return await curate(self, source, **more)

    monkeypatch.setattr(Curator, "curate", stumble)


def test_an_unforeseen_fault_in_one_source_does_not_stop_a_batch(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    product.set(model="offline")
    for name in ("a", "b", "c"):
        product.add(short(f"id-{name}", f"subject {name}"), name)
    _stumbling(monkeypatch, "_b.jsonl")
    ran = product.run("index-all")
    assert ran.code == 1
    assert len(ran.answer["completed"]) == 2
    (failure,) = ran.failed
    assert failure["code"] == "internal"
    assert failure["counts_as_attempt"] is True
    assert "TypeError at test_hostile.py:" in failure["message"]
    assert SECRET not in ran.stdout + ran.stderr
    assert ran.answer["left"] == 1


def test_an_unforeseen_fault_in_the_one_source_is_its_error(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    product.set(model="offline")
    path = product.add(short("id-b", "subject b"), "b")
    _stumbling(monkeypatch, "_b.jsonl")
    ran = product.run("index", path)
    assert ran.code == 1
    assert ran.error["code"] == "internal"
    assert SECRET not in ran.stdout + ran.stderr
    assert product.rows("SELECT code FROM queue") == [("internal",)]


def test_a_log_whose_name_is_not_utf8_is_listed_and_never_queued(product: Product) -> None:
    product.set(model="offline")
    path = product.add(short("id-a", "subject a"), "a")
    other = os.fsencode(path.parent) + b"/b\xe9d.jsonl"
    with open(other, "wb") as file:
        file.write(short("id-b", "subject b").bytes())
    assert [one["source"] for one in product.done("index-all")["completed"]] == [str(path)]
    (row,) = [one for one in product.done("conversations")["conversations"] if one["state"] == "unreadable"]
    assert row["source"].endswith("/b\\xe9d.jsonl")
    assert "not UTF-8" in row["problem"]
    assert product.done("index-all")["requested"] == 0
    product.done("status")
    product.done("rebuild")


def test_a_known_source_in_a_closed_folder_is_unreadable(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    product.set(model="offline")
    path = product.add(short("id-a", "subject a"), "a")
    product.done("index-all")
    path.rename(path.with_suffix(".away"))
    real = os.stat

    def closed(name: Any, *words: Any, **more: Any) -> os.stat_result:
        if str(name) == str(path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(name, *words, **more)

    monkeypatch.setattr(os, "stat", closed)
    (row,) = product.done("conversations")["conversations"]
    assert row["state"] == "unreadable"
    for command in ("status", "index-all"):
        product.done(command)


@pytest.mark.parametrize("words", ["x", "?", "好", "👍", "..."])
def test_a_conversation_that_says_next_to_nothing_is_indexed(product: Product, words: str) -> None:
    product.set(model="offline")
    log = Log("id-tiny")
    log.user(words)
    product.add(log, "tiny")
    ran = product.run("index-all")
    assert ran.code == 0, ran.answer
    assert len(ran.answer["completed"]) == 1
    assert product.done("index-all")["requested"] == 0


def test_a_longer_copy_that_went_another_way_is_a_copy_and_not_asked_for_again(product: Product) -> None:
    product.set(model="offline")
    first = product.add(short("id-a", "subject a"), "a")
    product.done("index-all")
    other = short("id-a", "subject of another way")
    other.user("and a lot more of it")
    copy = product.add(other, "b")
    assert copy.stat().st_size > first.stat().st_size
    rows = {row["source"]: row for row in product.done("conversations")["conversations"]}
    assert rows[str(copy)]["copy_of"] == str(first)
    assert product.done("index-all")["requested"] == 0
    goes_on = short("id-a", "subject a")
    goes_on.user("and more of it")
    longer = product.add(goes_on, "c")
    assert [one["source"] for one in product.done("index-all")["completed"]] == [str(longer)]
    assert product.done("index-all")["requested"] == 0
    assert product.done("search", "way", "--mode", "keyword")["coverage"] == "partial"
    longer.unlink()
    first.unlink()
    (done,) = product.done("index-all")["completed"]  # what it stood beside is gone
    assert done["source"] == str(copy)
    assert product.done("search", "way", "--mode", "keyword")["coverage"] == "complete"
