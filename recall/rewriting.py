"""Rewriting for one search: by the model that is set, or from the profile itself, and how it went.

A search never waits for more than the one deadline of a rewrite and never fails for it: what stands in the way becomes
a status of the answer. The model's road (cache, consent, ledger, caps) is the one that indexing takes. With `offline`
the words come from the titles and aliases of the facets and topics that the query matches best. Where the search looks
into one project only, nothing of any other is asked, named or sent.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recall import query as querying
from recall import scope
from recall.errors import ModelError, RecallError
from recall.index import vocabulary
from recall.index.consent import UNPLACED
from recall.index.filters import Filters
from recall.run import Run

# Scripts, and the language that a model is told for each.
_LANGUAGES = (
    ("Chinese", re.compile("[\u4e00-\u9fff]")),
    ("Japanese", re.compile("[\u3041-\u30ff]")),
    ("Korean", re.compile("[\uac00-\ud7a3]")),
    ("Russian", re.compile("[\u0410-\u044f]")),
    ("English", re.compile("[A-Za-z]{2}")),
)
_SAMPLE = 100  # entries that are looked at for their languages
_SHARE = 0.05  # of them, to count


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What came of rewriting. `rewrites`: for each query; the statuses are those of the answer."""

    rewrites: tuple[tuple[str, ...], ...] = ()
    rewrite_status: str = "not_asked"
    semantic_status: str = "disabled"
    said: str = ""
    own_words: bool = False  # they are the profile's own names for what is asked

    @property
    def done(self) -> bool:
        """Whether rewrites were made."""
        return self.rewrite_status in ("done", "cached")

    @property
    def lets_semantic(self) -> bool:
        """Whether a search by rewrites and by what was written alone has a road."""
        return self.semantic_status in ("ready", "partial")


Rewriter = Callable[[Sequence[str], Filters], Rewriting]
NOT_ASKED = Rewriting()
NO_REWRITER = Rewriting((), "unavailable", "unavailable", "Nothing here rewrites queries.")


def rewriter(run: Run) -> Rewriter:
    """Rewrites the queries of one search of this run."""
    return lambda queries, filters: _rewritten(run, queries, filters)


def _rewritten(run: Run, queries: Sequence[str], filters: Filters) -> Rewriting:
    began = time.monotonic()
    if not any(query.strip() for query in queries):
        return NOT_ASKED
    of = filters.of_place()
    with run.database.read() as connection:
        if run.settings.offline and run.choose is None:
            return _by_own_words(connection, of, queries)
        languages = languages_of(connection, of)
    try:
        return _by_model(run, of.profile_no, queries, languages, began)
    except RecallError as error:
        if error.code == "cancelled":
            raise
        return _failed(error)


def _by_own_words(connection: sqlite3.Connection, of: Filters, queries: Sequence[str]) -> Rewriting:
    try:
        made = from_profile(connection, of, queries)
        if not any(made):  # what was written can still be asked in the words of the query
            return Rewriting(made, "unavailable", "partial", own_words=True)
        return Rewriting(made, "done", "ready", own_words=True)
    except sqlite3.DatabaseError as error:
        if "interrupted" in str(error):
            raise
        said = "The index of what was written cannot be read: run `history-recall doctor`."
        return Rewriting((), "unavailable", "unavailable", said)


def _by_model(run: Run, number: int, queries: Sequence[str], languages: Sequence[str], began: float) -> Rewriting:
    # Loaded here: a search by keyword needs no part of the road to a model.
    import asyncio

    from recall.models.gate import ConsentGate
    from recall.roads import road_of
    from recall.steps.rewrite import rewrite

    here = scope.here_of(run.settings)

    def asked_from(connection: sqlite3.Connection) -> frozenset[str]:
        current = scope.current_project(connection, number, here)
        return frozenset((UNPLACED if current is None else current.project_id,))

    async def asked() -> Rewriting:
        gate = ConsentGate(run.database, number, asked_from)
        async with road_of(run, number, gate=gate, since=began) as road:
            made = await rewrite(queries, languages, road)
        return Rewriting(made, "cached" if road.hits else "done", "ready" if all(made) else "partial")

    return asyncio.run(asked())


def _failed(error: RecallError) -> Rewriting:
    if error.code == "consent_required":
        return Rewriting((), "consent_required", "consent_required", f"{error.message}: {error.hint}.")
    if error.code in ("work_budget", "daily_budget"):
        return Rewriting((), "budget", "unavailable", f"{error.message}: {error.hint}.")
    late = isinstance(error, ModelError) and "deadline_seconds" in error.data
    return Rewriting((), "timeout" if late else "unavailable", "unavailable", f"{error.message} ({error.code}).")


def languages_of(connection: sqlite3.Connection, of: Filters) -> tuple[str, ...]:
    """The languages that the newest entries are written in, the commonest first."""
    texts = vocabulary.newest(connection, of, _SAMPLE)
    counts = {name: sum(pattern.search(text) is not None for text in texts) for name, pattern in _LANGUAGES}
    told = [name for name, count in counts.items() if count > _SHARE * len(texts)]
    return tuple(sorted(told, key=lambda name: -counts[name])) or ("English",)


def from_profile(connection: sqlite3.Connection, of: Filters, queries: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """For each query the titles and aliases of the facets and topics that it matches best."""
    return tuple(
        tuple(vocabulary.names(connection, of, querying.cut(query).terms)) if query.strip() else () for query in queries
    )
