"""The anchors that are found in words and chunks are those that a plain search finds."""

import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recall.redact import columns, listed, pem
from recall.redact.anchors import DATA, LONG, LONGER, Anchors
from recall.redact.cores import trie
from recall.redact.engine import _NAMES, _SOUGHT, _STARTS, fold
from recall.redact.lines import at_lines, lines

WORDS = columns.WORDS | listed.WORDS | pem.WORDS
SOUGHT = {*_SOUGHT, *_NAMES}
ANCHORS = Anchors(dict.fromkeys(_STARTS, 0), SOUGHT, WORDS)
NOISE = st.text(st.sampled_from("aBk09 _-.:=\"'\\\n@/<>$é密\u212a\u0130"), max_size=12)
FILL = st.sampled_from([" ", "a", "a1 ", "x-", "\n"]).flatmap(
    lambda fill: st.integers(0, 200).map(lambda size: (fill * size)[:size])
)
PIECES = st.lists(
    st.one_of(
        st.sampled_from(sorted(_STARTS)),
        st.sampled_from(sorted(SOUGHT)),
        st.sampled_from(sorted(SOUGHT)).map(str.upper),
        st.sampled_from(sorted(WORDS)),
        NOISE,
    ),
    max_size=12,
)
TEXTS = st.tuples(PIECES, st.one_of(st.just(""), FILL), PIECES).map(
    lambda parts: "".join(parts[0]) + parts[1] + "".join(parts[2])
)


def longest_at(text: str, anchors: set[str]) -> list[tuple[int, str]]:
    best: dict[int, str] = {}
    for anchor in sorted(anchors, key=len):
        for match in re.finditer(f"(?={re.escape(anchor)})", text):
            best[match.start()] = anchor
    return sorted(best.items())


def starts_in(text: str) -> list[tuple[int, str]]:
    """Where no letter or digit stands before them, and not inside of the one before."""
    done, found = 0, []
    for at, anchor in longest_at(text, set(_STARTS)):
        if at >= done and not re.match("[A-Za-z0-9]", text[max(0, at - 1) : at]):
            found.append((at, anchor))
            done = at + len(anchor)
    return found


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_anchors_are_those_of_a_plain_search(text: str) -> None:
    assume(DATA.search(text) is None)
    lower = fold(text)
    hits = ANCHORS.find(text, lower)
    assert hits.sought == longest_at(lower, SOUGHT)
    assert hits.starts == starts_in(text)
    assert hits.words >= {word for word in WORDS if word in lower}
    assert hits == ANCHORS.find(text, lower), "what is remembered of a word says the same"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(NOISE, st.integers(LONG - 2, LONGER + 2).map("q".__mul__), st.just(".")), max_size=8))
def test_long_runs_are_told_of(parts: list[str]) -> None:
    text = "".join(parts)
    said = [
        run.start()
        for run in re.finditer(r"[A-Za-z0-9_\-]+", text)
        if len(run.group()) >= LONGER or (len(run.group()) >= LONG and text[run.end() : run.end() + 1] == ".")
    ]
    assert set(said) <= set(ANCHORS.find(text, fold(text)).long)


def test_names_inside_of_data_are_none_and_those_at_its_end_are() -> None:
    data = "aB3dE5gH7jK9mN1pQ3sT5vW7" * 4
    assert ANCHORS.find(f"{data}password{data}", fold(f"{data}password{data}")).sought == []
    text = f"{data}password={data}"
    assert (len(data), "password") in [(at, name[:8]) for at, name in ANCHORS.find(text, fold(text)).sought] or (
        len(data),
        "pass",
    ) in ANCHORS.find(text, fold(text)).sought


@given(st.sets(st.text("abc-.", min_size=1, max_size=4), min_size=1, max_size=8), st.text("abc-.", max_size=12))
def test_trie_finds_the_longest_word(words: set[str], text: str) -> None:
    match = re.match(trie(words), text)
    assert (match.group() if match else "") == max((w for w in words if text.startswith(w)), key=len, default="")


@given(st.lists(st.sampled_from(["> a", ">b", "c", "", " >", ">>"])))
def test_lines_are_found_as_with_a_plain_pattern(rows: list[str]) -> None:
    text = "\n".join(rows)
    found = [match.end() for match in lines(text, *at_lines(r">+ ?"))]
    assert found == [match.end() for match in re.finditer(r"(?m)^>+ ?", text)]
