"""One query ranked: candidates from the index, what they and the turns around them hold, and their scores.

The index draws a bounded number of candidates by BM25 (`recall.index.matches`); everything finer looks at these and
their surroundings only, so that the cost does not grow with the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from recall import moments, scoring, segment, thesaurus
from recall import query as querying
from recall.index import cited, frequencies, held, hits, layers, matches, plan, turns
from recall.index.cited import Written
from recall.index.filters import Filters
from recall.index.frequencies import Counts
from recall.index.held import Holding
from recall.index.matches import Matches
from recall.index.turns import Turn
from recall.query import Query, Term
from recall.scoring import Asked, Parts, Sight
from recall.thesaurus import Known, Related
from recall.weights import Weights

CITED = 100  # entries that what was written about them brings in
FEWEST = 100  # entries: in fewer no word is rare enough to tell what a question is about
KEPT = 300  # entries of one query that go on
MOST_COMPOUNDS = 4  # ways to write the spellings of a query that draw by themselves,
SIDE_BY_SIDE = plan.ROWS // plan.PHRASE  # where no more rows hold the rarest of their words
TOLD = 60  # entries that are looked at for a time they tell
_TOLD_CHARS = 2000
_CHECKED_CHARS = 200_000  # of every text that is compared letter for letter,
_CHECKED_AT_ONCE = 500_000  # that are in memory together, or one longer text
_CHECKED_IN_ALL = 40_000_000  # and of the best ones together, where they are longer


class Ranked:
    """The search of one query. `saw` is told whether more matched than could be looked at."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        filters: Filters,
        query: Query,
        weights: Weights,
        saw: Callable[[bool], None],
    ) -> None:
        self._connection = connection
        self._filters = filters
        self._query = query
        self._weights = weights
        self._saw = saw
        self._counts = Counts(connection, layers.layer(connection, filters.profile_no, "text"))
        self.drawn = 0  # entries that the text index gave for the words of the query

    def scores(
        self, rewrites: Sequence[Query] = (), *, alone: bool = False, own_words: bool = False
    ) -> dict[int, Parts]:
        """Entry -> its score in each layer.

        `rewrites` add their terms to those of the query; `alone`: the query's own count in what was written only;
        `own_words`: the rewrites are the profile's own names.
        """
        if self._query.required:
            return self._phrases()
        combined = self._scored(rewrites, alone=alone, own_words=own_words)
        if rewrites and self._query.exact and not alone:
            plain = self._scored((), alone=False, own_words=False)
            rows = hits.rows(self._connection, combined.keys() | plain.keys())
            scoring.hold_exact(combined, plain, lambda entry_no: hits.tie(rows[entry_no]))
        return combined

    def _scored(self, rewrites: Sequence[Query], *, alone: bool, own_words: bool) -> dict[int, Parts]:
        bag = _bag(self._query, rewrites, self._weights, own_words=own_words)
        known = self._known([] if own_words else rewrites, alone=alone)
        bag = {term: weight * scoring.as_word(term, known, self._weights) for term, weight in bag.items()}
        found = self._counts.of_terms(bag)
        others = self._others(known.related, found)
        found |= others
        drawn = [] if alone else self._drawn([*self._compounds(found), self._query])
        self.drawn = len(drawn)
        if others:
            drawn += self._drawn([replace(self._query, terms=tuple(others), exact=())])
        # The profile's own names stand in much that was not asked for: they draw where nothing else does.
        named = own_words and self.drawn > 0
        written = self._written([*(self._query.terms if named else bag), *others])
        more = [] if named else self._drawn(rewrites)
        line = self._around([*drawn, *more, *_cited_first(written, CITED)])
        sight = self._sight(line, written, found)
        self._saw(self._left_as_good(drawn, sight))
        known = replace(known, related=tuple(self._meant(known.related, sight)))
        rewritten = frozenset(bag) - frozenset(self._query.terms)
        asked = Asked(
            bag,
            rewritten,
            moments.named(self._query.text),
            only_written=frozenset(self._query.terms) if alone else frozenset(),
            # These words come from what was written: they would only find it again.
            only_said=rewritten if own_words else frozenset(),
            related=known.related,
        )
        combined = scoring.scores(asked, sight, self._weights)
        exact = {} if alone else self._exact(combined, sight)
        asked_as = [] if own_words else rewrites
        if not exact.get(self._query.whole) and not self._answers(combined, asked_as, sight, known):
            return {}
        # What holds a spelling may be long and score little for that.
        spelled = {entry_no: combined[entry_no] for holding in exact.values() for entry_no in holding}
        scoring.drop_tail(combined, sight, self._weights)
        combined = scoring.best(combined, KEPT) | spelled
        self._add_when(combined)
        self._add_exact(combined, exact)
        self._add_now(combined, sight)
        return combined

    def _left_as_good(self, drawn: Sequence[int], sight: Sight) -> bool:
        """Whether as many as can be drawn hold all that was asked, so that more may do so that were not looked at."""
        rows = [sight.entries[term].rows for term in self._query.terms if term in sight.entries]
        hold = frozenset.intersection(*rows) if rows else frozenset()
        return len(hold.intersection(drawn)) >= matches.POOL

    def _others(self, related: Sequence[Related], found: Mapping[Term, int]) -> dict[Term, int]:
        """The other words for what is asked with the rows that hold them; a common one tells little and costs much."""
        terms = dict.fromkeys(term for one in related for term in one.others if term not in found)
        return {term: rows for term, rows in self._counts.of_terms(terms).items() if rows <= plan.ROWS}

    def _meant(self, related: Iterable[Related], sight: Sight) -> Iterator[Related]:
        """Without what a single name leaves no room for: it means itself where it stands somewhere, and elsewhere
        nothing that is only close to it."""
        words = {word for term in self._query.terms for word in term.words}
        for one in related:
            if not words <= {word for term in one.asked for word in term.words}:
                yield one
            elif not all(sight.knows(term) for term in one.asked):
                yield replace(one, others={term: same for term, same in one.others.items() if same})

    def _known(self, rewrites: Sequence[Query], *, alone: bool) -> Known:
        known = thesaurus.known(self._query, rewrites)
        return known if self._weights.related and not alone else replace(known, related=())

    def parts_apart(self) -> tuple[str, ...]:
        """The parts of a query in two scripts, where no entry has all of them; else nothing."""
        parts = querying.mixed_parts(moments.without(self._query.text))
        if not parts:
            return ()
        together = replace(self._query, required=tuple(parts.values()))
        found = self._matches(together, scored=False)
        return () if found.scores or found.bounded else tuple(parts)

    def _phrases(self) -> dict[int, Parts]:
        """Entries that hold every quoted phrase: nothing else counts, so nothing else is looked at."""
        own = self._matches(self._query, scored=True)
        self._saw(own.bounded)
        self.drawn = len(own.scores)
        kept = self._holding(self._query.required_spellings, own.scores)
        return {entry_no: {"keyword": own.scores[entry_no]} for entry_no in kept}

    def _drawn(self, queries: Iterable[Query]) -> list[int]:
        """The candidates of each query by its own words, the best of all first."""
        drawn: dict[int, None] = {}
        for query in queries:
            own = self._matches(query, scored=False)
            self._saw(own.bounded)
            drawn |= dict.fromkeys(own.scores)
        return list(drawn)

    def _matches(self, query: Query, *, scored: bool) -> Matches:
        weights = self._weights.roles
        return matches.of_entries(self._connection, self._filters, query, weights, self._counts, scored=scored)

    def _compounds(self, found: Mapping[Term, int]) -> list[Query]:
        """The compound spellings of the query as queries that require their words side by side, or in one.

        In a text they may go on (`errors/warnings\\n`) or be cased otherwise, and a long entry that holds common parts
        is drawn by nothing else.
        """
        compounds: list[Query] = []
        for spelling in self._query.exact:
            compound = querying.cut(spelling)  # without its capitals `hasGrep` is one word
            ways = [*compound.terms[-1:], *_in_one(spelling)] if len(spelling.split()) == 1 else []
            rare = [way for way in ways if 0 < found.get(way, 0) <= SIDE_BY_SIDE and len(self._query.terms) > 1]
            compounds += [replace(compound, required=(way,)) for way in rare]
        return compounds[:MOST_COMPOUNDS]

    def _written(self, terms: Sequence[Term]) -> list[Written]:
        kinds = [kind for kind, weight in self._weights.curated.items() if weight]
        return cited.best(self._counts, self._filters, terms, kinds) if kinds else []

    def _around(self, numbers: Iterable[int]) -> list[Turn]:
        reach = max(len(self._weights.before), len(self._weights.after))
        return turns.around(self._connection, self._filters, numbers, reach)

    def _sight(self, line: Sequence[Turn], written: Sequence[Written], found: Mapping[Term, int]) -> Sight:
        numbers = [turn.entry_no for turn in line]
        texts: Mapping[Term, Holding] = {}
        if written:
            curated = Counts(self._connection, layers.layer(self._connection, self._filters.profile_no, "curated"))
            known = curated.of_terms(found)
            texts = held.of_terms(curated, known, [one.curated_no for one in written])
        names = self._query.names if self._weights.speaker else ()
        return Sight(
            line,
            frequencies.total(self._connection),
            held.of_terms(self._counts, found, numbers),
            held.at_the_start(self._connection, self._counts.index, names, numbers),
            written,
            texts,
        )

    def _answers(self, combined: Mapping[int, Parts], rewrites: Sequence[Query], sight: Sight, known: Known) -> bool:
        """Whether the best entry has enough of what was asked, in the words of the query or in those of a rewrite.

        The profile's own names are no rewrites here: they stand in it whatever is asked.
        """
        if sight.total < FEWEST:
            return True
        about = querying.cut(moments.without(self._query.text))
        about = self._query if about.empty else about
        if _together(about.terms, combined, sight, known.related):
            return True
        asked = [(about, False), *((rewrite, True) for rewrite in rewrites)]
        return any(
            scoring.reaches_floor(combined, one.terms, sight, self._weights, rewritten=rewritten, known=known)
            for one, rewritten in asked
        )

    def _add_when(self, combined: dict[int, Parts]) -> None:
        """Lift the entries that tell a time, where the query asks for one."""
        if not self._weights.when or not moments.asks_when(self._query.text):
            return
        texts = hits.searchable(self._connection, scoring.best(combined, TOLD), _TOLD_CHARS)
        for entry_no in [entry_no for entry_no, text in texts.items() if moments.tells_when(text)]:
            combined[entry_no]["when"] = self._weights.when * sum(combined[entry_no].values())

    def _add_now(self, combined: dict[int, Parts], sight: Sight) -> None:
        """Lift what is newer, and lower what was overtaken, where the query asks how things stand now."""
        if not moments.asks_now(self._query.text):
            return
        overtaken = {number for one in sight.written if one.status == "superseded" for number in one.entries}
        top = scoring.best(combined, TOLD)
        times = {turn.entry_no: turn.at for turn in sight.turns if turn.entry_no in top and turn.at is not None}
        first, last = min(times.values(), default=0), max(times.values(), default=0)
        for entry_no, at in times.items():
            share = (at - first) / (last - first) if last > first else 0.0
            gain = self._weights.now * share - (self._weights.overtaken if entry_no in overtaken else 0.0)
            combined[entry_no]["now"] = gain * sum(combined[entry_no].values())

    def _exact(self, combined: Mapping[int, Parts], sight: Sight) -> dict[str, list[int]]:
        """Spelling -> the entries that hold it letter for letter, of those that hold its parts."""
        exact: dict[str, list[int]] = {}
        for spelling in self._query.exact:
            own = _in_one(spelling)  # where the spelling goes on, as in `src/foo.rs:77`, its own form does not stand
            terms = [term for term in querying.cut(spelling).terms if term not in own]
            hold = [sight.entries[term].rows for term in terms if term in sight.entries]
            among = frozenset.intersection(*hold) if hold else frozenset()
            in_one = (sight.entries[term].rows for term in own if term in sight.entries)
            among = among.union(*in_one) & combined.keys()
            first = scoring.best({entry_no: combined[entry_no] for entry_no in among}, KEPT)
            exact[spelling] = self._holding([spelling], first)
        return exact

    def _add_exact(self, combined: dict[int, Parts], exact: Mapping[str, Sequence[int]]) -> None:
        """Put entries that hold a spelling letter for letter above those that hold its parts, and what holds all of the
        query above what holds one of its spellings."""
        best = max((sum(parts.values()) for parts in combined.values()), default=0.0)
        for spelling, holding in sorted(exact.items(), key=lambda one: one[0] == self._query.whole):
            times = 2 if spelling == self._query.whole and len(exact) > 1 else 1
            for entry_no in holding:
                combined[entry_no]["exact"] = max(times * self._weights.exact * best, scoring.STEP)

    def _holding(self, spellings: Sequence[str], among: Iterable[int]) -> list[int]:
        """Which entries hold each spelling letter for letter; the first of `among` are read to the end."""
        left, holding = _CHECKED_IN_ALL, []
        most: dict[int, int] = {}
        lengths = hits.lengths(self._connection, among := list(among))
        for entry_no in among:
            whole = lengths[entry_no] <= max(left, _CHECKED_CHARS)
            most[entry_no] = lengths[entry_no] if whole else _CHECKED_CHARS
            left -= most[entry_no]
        for some in _in_parts(most):
            texts = hits.beginnings(self._connection, some)
            holding += [entry_no for entry_no in some if querying.holds(texts[entry_no], spellings)]
        return holding


def _in_parts(most: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """Entries with how much of each is read, cut so that little of it is in memory at a time."""
    part: dict[int, int] = {}
    for entry_no, chars in most.items():
        if part and sum(part.values()) + chars > _CHECKED_AT_ONCE:
            yield part
            part = {}
        part[entry_no] = chars
    yield part


def _in_one(spelling: str) -> list[Term]:
    """The compound words of a spelling as they stand in one."""
    return [Term((form,)) for word in segment.words(spelling) for form in word.wholes]


def _together(
    terms: Sequence[Term], combined: Mapping[int, Parts], sight: Sight, related: Iterable[Related] = ()
) -> bool:
    """Whether an entry holds every term itself, however long it is and so however little it scores.

    It may hold another word that says the same for some of them.
    """
    rows = {term: sight.entries[term].rows if term in sight.entries else frozenset() for term in terms}
    for one in related:
        same = [sight.entries[term].rows for term, is_same in one.others.items() if is_same and term in sight.entries]
        asked = {word for term in one.asked for word in term.words}
        for term in rows:
            if asked.issuperset(term.words):
                rows[term] = rows[term].union(*same)
    return bool(rows) and not frozenset.intersection(*rows.values()).isdisjoint(combined)


def _bag(query: Query, rewrites: Sequence[Query], weights: Weights, *, own_words: bool) -> dict[Term, float]:
    """The terms of a query and of its rewrites with their weights: one bag ranks better than several lists fused."""
    if own_words:
        names = dict.fromkeys((term for rewrite in rewrites for term in rewrite.terms), weights.vocabulary)
        return names | dict.fromkeys(query.terms, 1.0)
    bag = dict.fromkeys(query.terms, 1.0)
    again: dict[Term, int] = {}
    for rewrite in rewrites:
        for term in rewrite.terms:
            again[term] = again.get(term, 0) + 1
    for term, times in again.items():
        more = weights.rewritten_again * times
        bag[term] = bag[term] + more if term in bag else weights.rewritten + more
    return bag


def _cited_first(written: Iterable[Written], most: int) -> list[int]:
    """The entries that the best texts cite."""
    return list(dict.fromkeys(entry_no for one in written for entry_no in one.entries))[:most]
