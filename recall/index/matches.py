"""Ranked matches of one query in a profile's text index, filtered in SQL before every limit.

Two layers: `of_entries` asks the entries themselves, `written` asks what was written about them. These matches are the
candidates; what they are worth is decided above (`recall.scoring`). A plan (plan.py) keeps the rows that are ranked
few. Where every term is common the candidates are bounded: those that hold several of the terms, those in the
conversations that were written about in these words, and the newest.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from recall.errors import StateError
from recall.index import frequencies, layers, parts, plan
from recall.index.filters import Filters
from recall.index.frequencies import Counts
from recall.index.layers import Layer
from recall.index.plan import Plan
from recall.query import Query, Term

POOL = 100  # matches kept of one query: more cost time and found no more (LoCoMo, LifeBench, coding)
AMPLE = 400  # best rows that are filtered before all are
MOST_TERMS = 32  # rarest first
NEWEST = 500  # candidates of one kind where every term is common
INSIDE = 1000  # entries of the conversations that were written about in the words of the query
CURATED_ROWS = 2000  # that are ranked: each costs more here, for what it cites
TEXTS = 200  # that are asked for
TOP = 20  # places that a reader may look at
SURE = 20  # rows of a long phrase that are taken unscored
FEW = 100  # conversations that are named to the index one by one


@dataclass(frozen=True, slots=True)
class Matches:
    """Entry numbers with their scores, best first. `bounded`: more matched than could be ranked."""

    scores: Mapping[int, float]
    bounded: bool = False


def of_entries(
    connection: sqlite3.Connection,
    filters: Filters,
    query: Query,
    weights: Mapping[str, float],
    counts: Counts | None = None,
    *,
    scored: bool = True,
) -> Matches:
    """The best entries by their own words. `weights` are by role.

    `scored`: whether the scores are asked for, or only which entries these are: a few need none for that.
    """
    counts = counts or Counts(connection, layers.layer(connection, filters.profile_no, "text"))
    index = counts.index
    found = counts.of_terms([*query.terms, *query.required])
    known = _rarest(query.terms, found)
    if any(found[term] == 0 for term in query.required) or not (known or query.required):
        return Matches({})
    total = frequencies.total(connection)
    # Where few rows hold a term, the exact filters alone are quicker.
    crowded = sum(known.values()) > plan.ROWS or bool(query.required)
    scope = _scope(connection, index, filters, total) if crowded else _Scope([], [], 1.0)
    if scope is None:
        return Matches({})
    entries = _Entries(connection, index, filters, weights, scope)
    chosen = plan.plan(known, total, scope.share)
    if query.required:
        rows = [counts.rows(term) for term in query.required] if not scored else []
        few = [held for held in rows if held is not None and len(held) <= POOL]
        if few and len(few) == len(rows):
            return Matches(entries.passing(frozenset.intersection(*few)))
        match = index.engine.requiring(query.required, chosen.terms())
        first = entries.newest(index.engine.all_of(query.required), plan.ROWS)
        return Matches(entries.ranked(match, first), bool(first))
    if chosen.draws:
        return Matches(_drawn(entries, chosen, known, total, None if scored else counts))
    return _bounded(entries, chosen, list(known), counts)


def _sure(counts: Counts, draws: Sequence[Term], most: int) -> dict[Term, frozenset[int]]:
    """Terms that draw, with their rows, whose rows are candidates whatever they score, so that no score is needed.

    All of the terms, where these have fewer than `most` rows. Else rare phrases with a very common word: to score one
    costs more than all the words together, and what holds it holds these too.
    """
    found = counts.of_terms(draws)
    few = sum(found.values()) < most or sum(map(counts.of_term, draws)) < most
    taken = [term for term in draws if few or counts.is_long(term)]
    rows = {term: counts.rows(term) for term in taken}
    return {term: held for term, held in rows.items() if held is not None and (few or len(held) <= SURE)}


def _rarest(terms: Sequence[Term], found: Mapping[Term, int]) -> dict[Term, int]:
    """The terms that stand somewhere, with the rows that hold them; the rarest first, as many as a query may have."""
    known = [term for term in terms if found[term]]
    return {term: found[term] for term in sorted(known, key=lambda t: (found[t], terms.index(t)))[:MOST_TERMS]}


@dataclass(frozen=True, slots=True)
class _Scope:
    """Words of the scope column that the filters come to: all, and those that are cheap enough to be ranked beside.

    `share`: about how many of all rows these leave.
    """

    all: list[list[str]]
    ranked: list[list[str]]
    share: float


def _scope(connection: sqlite3.Connection, index: Layer, filters: Filters, total: int) -> _Scope | None:
    """None where a filter leaves nothing at all."""
    if not index.engine.SCOPED:
        return _Scope([], [], 1.0)
    every = filters.scope(*_span(connection))
    if filters.chooses_conversations:
        every += _conversations(connection, filters)
    ranked, share = [], 1.0
    for words in every:
        rows = sum(frequencies.of_words(connection, index, words).values())
        if rows == 0:
            return None
        if rows <= plan.WALKED:
            ranked.append(words)
            share *= min(1.0, rows / max(1, total))
    return _Scope(every, ranked, share)


def _conversations(connection: sqlite3.Connection, filters: Filters) -> list[list[str]]:
    """The conversations that the filters leave, by their scope words, where these are few."""
    sql = f"SELECT c.conversation_no FROM conversations AS c WHERE {filters.conversations()} LIMIT :few"
    rows = connection.execute(sql, filters.values() | {"few": FEW + 1}).fetchall()
    return [[filters.word_of_conversation(row[0]) for row in rows]] if len(rows) <= FEW else []


def _span(connection: sqlite3.Connection) -> tuple[int | None, int | None]:
    """The times of the first and of the last entry that has one."""
    row = connection.execute("SELECT (SELECT min(at) FROM entries), (SELECT max(at) FROM entries)").fetchone()
    return row[0], row[1]


@dataclass(frozen=True, slots=True)
class _Entries:
    """The entries of a profile, as one search asks for them."""

    connection: sqlite3.Connection
    index: Layer
    filters: Filters
    weights: Mapping[str, float]
    scope: _Scope

    def ranked(self, match: str, first: int = 0, score: str | None = None) -> dict[int, float]:
        """The best of the rows from `first` on that match in the scope, by BM25 (or another score) and role.

        Filters cost more than a score, so the best rows are filtered first, and all of them only where that leaves
        it open which are the best that pass.
        """
        own = score or self.index.score()
        match = self.index.engine.narrowed(match, self.scope.ranked)
        rows = [] if _is_number(own) else self._filtered(match, first, own, AMPLE)
        if not rows or (rows[-1]["seen"] == AMPLE and not self._settled(rows)):
            rows = self._filtered(match, first, own, -1)
        return {row["entry_no"]: row["score"] for row in rows}

    def _settled(self, rows: Sequence[sqlite3.Row]) -> bool:
        """Whether no row that was not looked at can be among the best."""
        return len(rows) == POOL and rows[-1]["score"] > rows[-1]["least"] * max(self.weights.values())

    def _filtered(self, match: str, first: int, score: str, ample: int) -> list[sqlite3.Row]:
        table = self.index.table
        by_role = " ".join(f"WHEN '{role}' THEN {weight}" for role, weight in self.weights.items())
        rows = self.connection.execute(
            f"""
            WITH best AS MATERIALIZED (
                SELECT rowid AS entry_no, {score} AS own FROM {table}
                WHERE {table} MATCH :match AND rowid >= :first ORDER BY own DESC LIMIT :ample),
            passing AS MATERIALIZED (
                SELECT e.entry_no, own * CASE e.role {by_role} ELSE 1.0 END AS score, e.at, e.conversation_no, e.seq
                FROM best CROSS JOIN entries AS e ON e.entry_no = best.entry_no
                JOIN conversations AS c USING (conversation_no)
                WHERE {self.filters.entries()}
                ORDER BY score DESC, e.at DESC, e.conversation_no, e.seq
                LIMIT :pool),
            seen AS MATERIALIZED (
                SELECT (SELECT min(own) FROM best) AS least, (SELECT count(*) FROM best) AS seen,
                       ({_lost("SELECT entry_no FROM best LIMIT :checked")}) AS lost)
            SELECT passing.entry_no, passing.score, seen.least, seen.seen, seen.lost
            FROM seen LEFT JOIN passing
            ORDER BY score DESC, passing.at DESC, passing.conversation_no, passing.seq
            """,
            self.filters.values() | {"match": match, "first": first, "ample": ample, "pool": POOL, "checked": AMPLE},
        ).fetchall()
        _raise_if_lost(rows[0]["lost"])
        return rows if rows[0]["entry_no"] is not None else []

    def passing(self, rows: Collection[int]) -> dict[int, float]:
        """Those of the rows that pass, without a score."""
        listed = json.dumps(sorted(rows))
        lost = _lost("SELECT value AS entry_no FROM json_each(:rows)")
        _raise_if_lost(self.connection.execute(lost, {"rows": listed}).fetchone()[0])
        found = self.connection.execute(
            f"""
            SELECT e.entry_no FROM json_each(:rows) AS chosen CROSS JOIN entries AS e ON e.entry_no = chosen.value
            JOIN conversations AS c USING (conversation_no)
            WHERE {self.filters.entries()}
            """,
            self.filters.values() | {"rows": listed},
        )
        return {row["entry_no"]: 0.0 for row in found}

    def newest(self, match: str, number: int) -> int:
        """The row from which on the newest `number` rows lie that match and pass; 0 where there are not so many."""
        table = self.index.table
        row = self.connection.execute(
            f"""
            SELECT e.entry_no FROM {table} CROSS JOIN entries AS e ON e.entry_no = {table}.rowid
            JOIN conversations AS c USING (conversation_no)
            WHERE {table} MATCH :match AND {self.filters.entries()}
            ORDER BY {table}.rowid DESC LIMIT 1 OFFSET :number
            """,
            self.filters.values() | {"match": self.index.engine.narrowed(match, self.scope.all), "number": number},
        ).fetchone()
        return 0 if row is None else int(row[0])


def _lost(drawn: str) -> str:
    """The query that counts those of the drawn rows of the text index whose entry, or its conversation, is not there.

    Both are written in one transaction, so this is damage: a page that was overwritten with another of the same table
    reads as a sound one.
    """
    return f"""
        SELECT count(*) FROM ({drawn}) AS drawn
        LEFT JOIN entries AS e ON e.entry_no = drawn.entry_no
        LEFT JOIN conversations AS c ON c.conversation_no = e.conversation_no
        WHERE c.conversation_no IS NULL
    """


def _raise_if_lost(rows: int) -> None:
    if rows:
        message = f"{rows} of the entries that the text index finds cannot be read"
        hint = (
            "`history-recall doctor` says what can still be read; move the file away and index again with index-all, "
            "or import an export: your logs are untouched"
        )
        raise StateError("index_damaged", message, hint, {"entries": rows})


def _is_number(score: str) -> bool:
    """Whether all rows have the same score: then none of them is settled by it."""
    return score.replace(".", "").isdecimal()


def _drawn(
    entries: _Entries, chosen: Plan, known: Mapping[Term, int], total: int, counts: Counts | None
) -> dict[int, float]:
    """What the rare terms draw, and what holds several of the others where that could come before it.

    `counts`: where scores are not asked for, so that what is drawn for sure needs none.
    """
    taken = _sure(counts, chosen.draws, TOP if all(chosen.pairs) else POOL) if counts is not None else {}
    draws = [term for term in chosen.draws if term not in taken]
    sure = entries.passing(frozenset().union(*taken.values()))
    scores: dict[int, float] = {}
    if draws:
        match, times = entries.index.engine.drawing(draws, chosen.others())
        scores = entries.ranked(match, score=f"{entries.index.score()} / {times}")
    if all(chosen.pairs):
        floor = sorted(scores.values(), reverse=True)[:TOP][-1] if len(scores) >= TOP else 0.0
        if plan.most(chosen.others(), known, total) > floor:
            scores = _paired(entries, chosen) | scores
    return scores | sure


def _paired(entries: _Entries, chosen: Plan) -> dict[int, float]:
    match, times = entries.index.engine.pairing(*chosen.pairs, chosen.scores)
    return entries.ranked(match, score=f"{entries.index.score()} / {times}")


def _bounded(entries: _Entries, chosen: Plan, known: Sequence[Term], counts: Counts) -> Matches:
    """Candidates where every term is common; the newest are best where no term's weight can be afforded."""
    engine = entries.index.engine
    terms = list(chosen.terms() or known)
    plainly = None if chosen.terms() else "1.0"
    first = entries.newest(engine.any_of(terms), NEWEST)
    scores = entries.ranked(engine.any_of(terms), first, plainly)
    if first == 0:
        return Matches(scores)
    if all(chosen.pairs):
        scores |= _paired(entries, chosen)
    elif len(terms) > 1:
        together = engine.all_of(terms)
        score = None if plainly is None else f"{len(terms)}.0"
        scores |= entries.ranked(together, entries.newest(together, NEWEST), score)
    inside = _inside(entries, known, counts)
    if inside and engine.SCOPED:
        scores |= entries.ranked(engine.narrowed(engine.any_of(terms), [inside]), 0, plainly)
    return Matches(dict(sorted(scores.items(), key=lambda item: -item[1])[:POOL]), bounded=True)


def _inside(entries: _Entries, terms: Sequence[Term], counts: Counts) -> list[str]:
    """The scope words of the conversations that were best written about in these terms, INSIDE entries in all."""
    rows = written_once(counts, entries.filters, terms)[:POOL]
    numbers = dict.fromkeys(row["conversation_no"] for row in rows if row["conversation_no"] is not None)
    words: list[str] = []
    room = INSIDE
    for number in numbers:
        word = entries.filters.word_of_conversation(number)
        room -= frequencies.of_words(entries.connection, entries.index, [word])[word]
        if room < 0:
            break
        words.append(word)
    return words


def written_once(counts: Counts, filters: Filters, terms: Sequence[Term]) -> list[sqlite3.Row]:
    """The TEXTS curated texts that match best, asked for once by one query. `counts` are those of the entries."""
    asked = frozenset(terms)
    if asked not in counts.written:
        counts.written[asked] = written(counts.connection, filters, terms, TEXTS)
    return counts.written[asked]


def written(connection: sqlite3.Connection, filters: Filters, terms: Sequence[Term], most: int) -> list[sqlite3.Row]:
    """(curated_no, kind, owner_no, conversation_no, chars, score) of the curated texts that match best.

    Where the filters leave only some conversations, of what was written about these. A topic is of the whole profile:
    within one project it counts where nothing from beyond had a part in its words.
    """
    index = layers.layer(connection, filters.profile_no, "curated")
    known = _rarest(terms, frequencies.of_terms(connection, index, terms))
    if not known:
        return []
    texts = _Curated(connection, index, known, filters.values(), most)
    if not filters.chooses_conversations and filters.conversation_no is None:
        return texts.best()
    chosen = filters.conversations()
    of_conversations = texts.best(
        f"""t.conversation_no IS NOT NULL AND EXISTS (
            SELECT 1 FROM conversations AS c WHERE c.conversation_no = t.conversation_no AND {chosen})"""
    )
    of_topics = texts.best(
        f"""t.conversation_no IS NULL AND EXISTS (
            SELECT 1 FROM memberships AS m JOIN facets AS f USING (facet_no)
            JOIN conversations AS c USING (conversation_no) WHERE m.topic_no = t.owner_no AND {chosen})"""
    )
    if (beyond := filters.beyond) is not None:
        mixed = parts.holding(connection, [row["owner_no"] for row in of_topics], beyond, filters.values())
        of_topics = [row for row in of_topics if row["owner_no"] not in mixed]
    both = sorted([*of_conversations, *of_topics], key=lambda row: (-row["score"], row["curated_no"]))
    return both[:most]


class _Curated:
    """The curated texts that hold some of the terms, ranked as the plan for these says."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: Layer,
        known: Mapping[Term, int],
        values: Mapping[str, object],
        most: int,
    ) -> None:
        total = connection.execute("SELECT max(curated_no) FROM curated_texts").fetchone()[0]
        chosen = plan.plan(known, total, rows=CURATED_ROWS)
        engine, times, self._first = index.engine, 1, 0
        if chosen.draws:
            self._match, times = engine.drawing(chosen.draws, chosen.others())
        elif all(chosen.pairs):
            self._match, times = engine.pairing(*chosen.pairs, chosen.scores)
        else:
            self._match = engine.any_of(chosen.terms() or list(known))
            self._first = _newest_text(connection, index, self._match)
        self._score = f"{index.score()} / {times}" if chosen.terms() else "1.0"
        self._connection, self._table, self._values, self._most = connection, index.table, values, most

    def best(self, condition: str | None = None) -> list[sqlite3.Row]:
        """The best of those that satisfy the condition on a curated text `t`."""
        table = self._table
        texts = f"CROSS JOIN curated_texts AS t ON t.curated_no = {table}.rowid" if condition else ""
        return self._connection.execute(
            f"""
            WITH best AS MATERIALIZED (
                SELECT {table}.rowid AS curated_no, {self._score} AS score FROM {table} {texts}
                WHERE {table} MATCH :match AND {table}.rowid >= :first AND {condition or 1}
                ORDER BY score DESC, {table}.rowid DESC LIMIT :most)
            SELECT t.curated_no, t.kind, t.owner_no, t.conversation_no, length(t.text) AS chars, score
            FROM best JOIN curated_texts AS t USING (curated_no)
            ORDER BY score DESC, t.curated_no
            """,
            {**self._values, "match": self._match, "first": self._first, "most": self._most},
        ).fetchall()


def _newest_text(connection: sqlite3.Connection, index: Layer, match: str) -> int:
    """The row of the curated layer from which on the newest CURATED_ROWS matches lie."""
    row = connection.execute(
        f"SELECT rowid FROM {index.table} WHERE {index.table} MATCH ? ORDER BY rowid DESC LIMIT 1 OFFSET ?",
        (match, CURATED_ROWS),
    ).fetchone()
    return 0 if row is None else int(row[0])
