"""Chunking: lossless, within the limit, the old chunks unchanged after an append, nothing cut that is one thing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall import fence
from recall.chunk import SMALL_TAIL, Chunk, chunks, end, given_up, halves, reading_order, shown
from recall.cut import PLACEHOLDER, may_cut
from recall.errors import ModelError
from recall.models.request import ShownEntry
from tests.shared import SHARED, needs_shared


def size(text: str) -> int:
    return len(text.encode())


def cost(chunk: Chunk) -> int:
    return size(fence.fenced([fence.entry_block(piece) for piece in chunk]))


def is_small(chunk: Chunk, limit: int) -> bool:
    return (cost(chunk) - size(fence.frame())) * 4 < limit


def joined(made: list[Chunk]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for chunk in made:
        for piece in chunk:
            assert piece.start == len(texts.get(piece.entry_id, ""))
            texts[piece.entry_id] = texts.get(piece.entry_id, "") + piece.text
    return texts


def entries_of(texts: list[str]) -> list[ShownEntry]:
    roles = ("user", "assistant", "tool")
    return [ShownEntry(f"e{n:04}", roles[n % 3], text, at=n * 60_000) for n, text in enumerate(texts)]  # type: ignore[arg-type]


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ATOMS = (
    "a",
    " ",
    "\n",
    "word ",
    "记录",
    "e\u0301",
    FAMILY,
    "\U0001f1eb\U0001f1f7",
    "\r\n",
    "क्षि",
    "\u1112\u1161\u11ab",
)
SECRET = "[REDACTED:github-token#12]"
texts_with_atoms = st.lists(st.sampled_from((*ATOMS, SECRET)), min_size=1, max_size=150).map("".join)
conversations = st.lists(texts_with_atoms | st.text(min_size=1, max_size=300), min_size=1, max_size=12)
limits = st.integers(380, 1500)


@given(conversations, limits)
def test_joining_the_chunks_gives_every_text_back_once_and_in_order(texts: list[str], limit: int) -> None:
    entries = entries_of(texts)
    made = list(chunks(iter(entries), size, limit))
    assert joined(made) == {entry.entry_id: entry.text for entry in entries}
    order = [piece.entry_id for chunk in made for piece in chunk]
    assert list(dict.fromkeys(order)) == [entry.entry_id for entry in entries]
    assert all(chunk and cost(chunk) <= limit for chunk in made)
    assert list(chunks(iter(entries), size, limit)) == made


@given(conversations, limits)
def test_an_entry_that_fits_a_chunk_is_whole(texts: list[str], limit: int) -> None:
    made = list(chunks(entries_of(texts), size, limit))
    for piece in (piece for chunk in made for piece in chunk if piece.whole):
        whole = ShownEntry(piece.entry_id, piece.role, texts[int(piece.entry_id[1:])], at=piece.at, whole=piece.whole)
        assert cost((whole,)) > limit


@given(st.lists(texts_with_atoms, min_size=1, max_size=8), limits)
def test_no_cut_breaks_a_character_or_a_placeholder(texts: list[str], limit: int) -> None:
    entries = {entry.entry_id: entry for entry in entries_of(texts)}
    for chunk in chunks(entries.values(), size, limit):
        entry_id, at = end(chunk)
        text = entries[entry_id].text
        assert may_cut(text, at)
        assert not any(found.start() < at < found.end() for found in PLACEHOLDER.finditer(text))
        if 0 < at < len(text):
            assert text[at] not in "\u0301\u200d\u094d\u1161\u11ab"
            assert text[at - 1] not in "\u200d\u094d"
            assert text[at - 1 : at + 1] != "\r\n"


@given(conversations, conversations, limits)
def test_after_an_append_the_old_chunks_are_the_same(old: list[str], new: list[str], limit: int) -> None:
    before = list(chunks(entries_of(old), size, limit))
    cuts = frozenset(end(chunk) for chunk in before)
    after = list(chunks(entries_of(old + new), size, limit, cuts))
    assert after[: len(before)] == before
    assert joined(after) == {entry.entry_id: entry.text for entry in entries_of(old + new)}


@given(st.lists(conversations, min_size=1, max_size=12), limits)
def test_appends_again_and_again_leave_few_small_chunks(turns: list[list[str]], limit: int) -> None:
    cuts: frozenset[tuple[str, int]] = frozenset()
    texts: list[str] = []
    made: list[Chunk] = []
    for turn in turns:
        texts += turn
        made = list(chunks(entries_of(texts), size, limit, cuts))
        cuts = frozenset(end(chunk) for chunk in made)
        assert list(chunks(entries_of(texts), size, limit, cuts)) == made
        assert all(cost(chunk) <= limit for chunk in made)
        assert not all(is_small(chunk, limit) for chunk in made[-SMALL_TAIL - 1 :]) or len(made) <= SMALL_TAIL
    assert joined(made) == {entry.entry_id: entry.text for entry in entries_of(texts)}


def test_many_small_appends_are_joined_once() -> None:
    cuts: frozenset[tuple[str, int]] = frozenset()
    counts = []
    for turn in range(1, 20):
        made = list(chunks(entries_of(["a few words"] * turn), size, 4000, cuts))
        cuts = frozenset(end(chunk) for chunk in made)
        counts.append(len(made))
    assert counts[:7] == [1, 2, 3, 4, 5, 6, 1]
    assert max(counts) == SMALL_TAIL + 1  # the joined one, no longer small, and six behind it


def test_a_cut_that_no_longer_fits_the_text_is_no_cut() -> None:
    entries = [ShownEntry("e", "user", f"before {SECRET} after")]
    inside = frozenset({("e", 12), ("gone", 3)})
    assert list(chunks(entries, size, 1000, inside)) == [tuple(entries)]


def test_chunks_are_made_one_at_a_time() -> None:
    read = 0

    def endless() -> object:
        nonlocal read
        while True:
            read += 1
            yield ShownEntry(f"e{read}", "user", "x" * 300)

    stream = chunks(endless(), size, 1000)  # type: ignore[arg-type]
    next(stream), next(stream)
    assert read < 12


def test_a_line_of_many_megabytes_is_sliced_without_measuring_it_whole() -> None:
    measured = 0

    def counting(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return size(text)

    text = "x" * 3_000_000 + "\U0001f600"
    made = list(chunks([ShownEntry("e", "tool", text)], counting, 60_000))
    assert joined(made) == {"e": text}
    assert measured < 20 * len(text)


def test_what_cannot_be_cut_and_does_not_fit_is_refused() -> None:
    with pytest.raises(ModelError) as refused:
        list(chunks([ShownEntry("e", "user", "x")], size, 150))
    assert refused.value.code == "model_context_too_small"


def test_a_pile_of_marks_without_end_can_be_cut() -> None:
    text = "a" + "\u0301" * 3000
    assert joined(list(chunks([ShownEntry("e", "user", text)], size, 600))) == {"e": text}


@needs_shared
def test_a_placeholder_is_never_cut_wherever_it_stands() -> None:
    """B101: redaction comes before slicing; so what could be cut is the placeholder."""
    parts = json.loads((SHARED / "cases/inputs/101-chunk-split-secret.json").read_text())["text_parts"]
    text = "".join(parts)
    limit = 2000
    for shift in range(120):
        moved = text[: 1700 + shift] + SECRET + text[1700 + shift :]
        made = list(chunks([ShownEntry("e", "user", moved)], size, limit))
        assert joined(made) == {"e": moved}
        assert sum(piece.text.count(SECRET) for chunk in made for piece in chunk) == 1


@given(conversations.filter(lambda texts: sum(map(len, texts)) > 1))
def test_halves_lose_nothing(texts: list[str]) -> None:
    chunk = tuple(entries_of(texts))
    try:
        first, second = halves(chunk, size)
    except ModelError:
        assert len(chunk) == 1
        return
    assert first
    assert second
    assert joined([first, second]) == joined([chunk])


# --- which entries, in which order ---


@dataclass(frozen=True)
class Line:
    seq: int
    entry_id: str
    parent_id: str | None


def lines(*pairs: tuple[str, str | None]) -> list[Line]:
    return [Line(seq, entry_id, parent) for seq, (entry_id, parent) in enumerate(pairs)]


def order(*pairs: tuple[str, str | None]) -> list[str]:
    made = lines(*pairs)
    return [made[seq].entry_id for seq in reading_order(made)]


def test_entries_of_one_branch_stay_together() -> None:
    assert order(("a", None), ("b", "a"), ("x", "a"), ("c", "b"), ("y", "x"), ("d", "c")) == list("abcdxy")


def test_a_log_without_parents_keeps_its_order() -> None:
    assert order(("a", None), ("b", None), ("c", None)) == list("abc")


def test_a_lone_side_entry_stays_where_it_stands() -> None:
    assert order(("a", None), ("b", "a"), ("result", "a"), ("note", None), ("c", "b")) == [
        "a",
        "b",
        "result",
        "note",
        "c",
    ]


def test_missing_parents_and_cycles_lose_no_entry() -> None:
    assert sorted(order(("a", "b"), ("b", "a"), ("c", "nowhere"), ("d", "c"), ("e", "e"))) == list("abcde")


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.none() | st.sampled_from("abcdefghz")), max_size=20))
def test_every_entry_is_in_the_order_once(pairs: list[tuple[str, str | None]]) -> None:
    assert sorted(reading_order(lines(*pairs))) == list(range(len(pairs)))


def test_an_append_to_the_latest_branch_leaves_the_order_before_it() -> None:
    pairs: list[tuple[str, str | None]] = [("a", None), ("b", "a"), ("c", "b"), ("x", "a"), ("y", "x"), ("z", "y")]
    for earlier, later in pairwise(range(1, len(pairs) + 1)):
        assert order(*pairs[:later])[:earlier] == order(*pairs[:earlier])


def test_what_is_shown() -> None:
    assert shown(frozenset({"active"}), "user", "x")
    assert shown(frozenset({"abandoned_branch"}), "assistant", "x")
    assert shown(frozenset({"compacted"}), "tool", "x")
    assert not shown(frozenset(), "user", " \n")
    assert not shown(frozenset(), "summary", "x")
    assert not shown(frozenset(), "system", "x")
    assert not shown(frozenset({"meta"}), "user", "x")
    assert not shown(frozenset({"active", "synthetic"}), "user", "x")
    assert given_up(frozenset({"rewound"}))
    assert not given_up(frozenset({"active", "compacted"}))
