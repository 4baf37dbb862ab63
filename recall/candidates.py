"""The candidates of a search: each query ranked by layers, fused, cleared of copies and of a weak tail, and shared out
over a page.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recall import latest, ranking, tiers
from recall import query as querying
from recall.errors import StateError
from recall.index import hits, literal, soundness, successions
from recall.index.filters import Filters
from recall.index.successions import Replaced
from recall.query import Query
from recall.ranked import Ranked
from recall.ranking import Hit
from recall.rewriting import NOT_ASKED, Rewriting
from recall.scope import EVERYTHING, Scope
from recall.scoring import SPOKEN, Parts
from recall.search_request import SearchRequest
from recall.shown import Lost
from recall.weights import WEIGHTS, Weights

MORE_ENTRIES = 3  # a page shows one entry of each conversation and this many more, the best first in turn
MOST_NEEDLES = 32
_THEMSELVES = frozenset((*SPOKEN, "exact", "literal"))  # the layers by which an entry is found itself
LITTLE = 10  # entries: where a query drew fewer, whether the index finds what it holds is looked at too


@dataclass
class Group:
    """The hits of one conversation, best first."""

    conversation_no: int
    hits: list[Hit]
    shown: int = 1


def _share_out(groups: Sequence[Group], room: int) -> None:
    """Decide how many entries of each conversation are shown: in turn, so that a long one does not fill the page."""
    spare = room - len(groups)
    while spare > 0:
        hungry = [group for group in groups if group.shown < len(group.hits)][:spare]
        if not hungry:
            return
        for group in hungry:
            group.shown += 1
        spare -= len(hungry)


def _show(group: Group, entry_no: int) -> None:
    """Show one entry of a conversation, behind those that are shown."""
    place = next(place for place, hit in enumerate(group.hits) if hit.entry_no == entry_no)
    if place >= group.shown:
        group.hits.insert(group.shown, group.hits.pop(place))
        group.shown += 1


def _needles(query: Query) -> list[str]:
    """What to look for letter for letter: the quoted phrases alone, or the words that say something."""
    words = query.text.replace('"', " ").split()
    return list(query.required_spellings or querying.telling(words) or words)[:MOST_NEEDLES]


class Candidates:
    """The search of all queries of one request."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        filters: Filters,
        request: SearchRequest,
        scope: Scope = EVERYTHING,
        weights: Weights = WEIGHTS,
        rewriting: Rewriting = NOT_ASKED,
        lost: Lost | None = None,
    ) -> None:
        self._weights = weights
        self._connection = connection
        self._filters = filters
        self._request = request
        self._scope = scope
        self._lost = lost
        self.left_out = 0  # hits of the page that stand in their sources no longer
        self.queries = [querying.cut(text) for text in request.queries]
        self._own_words = rewriting.own_words
        self._rewrites = [[querying.cut(text) for text in texts] for texts in rewriting.rewrites]
        self._rewrites = self._rewrites or [[] for _ in self.queries]
        self.hits: list[Hit] = []
        self.bounded = False
        self.damaged = ""  # what is wrong with the text index,
        self.lost: StateError | None = None  # or with what it leads to
        self.apart: list[tuple[str, ...]] = []  # parts of a query in two scripts that no entry has together
        self.replaced: dict[int, Replaced] = {}  # entry -> what replaced the finding in it
        self._newer: dict[int, int] = {}
        self._rows: Mapping[int, sqlite3.Row] = {}

    def run(self) -> None:
        """Rank every query, fuse, and show copies once."""
        pairs = zip(self.queries, self._rewrites, strict=True)
        ranked = [self._ranked(query, rewrites) for query, rewrites in pairs if query.literal]
        fused = self._once(ranking.fuse(ranked, self._weights.reciprocal))
        self._rows = hits.rows(self._connection, fused)
        order = sorted(fused.values(), key=lambda hit: (-round(hit.score, 9), *hits.tie(self._rows[hit.entry_no])))
        self.hits = self._latest_first(order)

    def page(self, first: int) -> tuple[list[Group], int | None]:
        """The conversations from `first` on, at most `limit`, and where the next page begins.

        Within one conversation its entries are the pages. What stands in its source no longer takes no place.
        """
        limit = self._request.limit
        if self._request.conversation_id is not None:
            number = self._filters.conversation_no or 0
            gone = self._gone(number, self.hits)
            order = self._sorted(self.hits)
            places = [place for place in range(first, len(order)) if order[place].entry_no not in gone]
            end = places[limit] if len(places) > limit else None
            self.left_out = len(order[first:end]) - len(places[:limit])
            chosen = [order[place] for place in places[:limit]]
            return [Group(number, chosen, len(chosen))] if chosen else [], end
        by_conversation: dict[int, list[Hit]] = {}
        for hit in self._sorted(self.hits):
            by_conversation.setdefault(self._rows[hit.entry_no]["conversation_no"], []).append(hit)
        groups = self._in_tiers([Group(number, found) for number, found in by_conversation.items()])
        if self._request.sort == "relevance":
            groups = latest.first(groups, lambda group: group.conversation_no, self._newer_conversations())
        chosen_groups, end = self._standing(groups, first)
        _share_out(chosen_groups, limit + MORE_ENTRIES)
        self._show_what_holds(chosen_groups)
        return chosen_groups, end

    def _standing(self, groups: Sequence[Group], first: int) -> tuple[list[Group], int | None]:
        """The groups of a page, with the hits that still stand in their sources, and the place of the one after."""
        chosen: list[Group] = []
        for place in range(first, len(groups)):
            group = groups[place]
            gone = self._gone(group.conversation_no, group.hits)
            standing = [hit for hit in group.hits if hit.entry_no not in gone]
            if standing and len(chosen) == self._request.limit:
                return chosen, place
            self.left_out += len(group.hits) - len(standing)
            if standing:
                group.hits = standing
                chosen.append(group)
        return chosen, None

    def _gone(self, conversation_no: int, found: Sequence[Hit]) -> frozenset[int]:
        """Those of the hits that were edited or undone in their source since it was indexed."""
        if self._lost is None or not found:
            return frozenset()
        head = hits.conversations(self._connection, [conversation_no])[conversation_no]
        named = {str(self._rows[hit.entry_no]["entry_id"]): hit.entry_no for hit in found}
        lost = self._lost(head, list(named), frozenset(self._filters.hidden))
        return frozenset(named[entry_id] for entry_id in lost or ())

    def _latest_first(self, found: list[Hit]) -> list[Hit]:
        """What replaced a finding above the entry of that finding; it is found with it, but for an exact phrase."""
        links = successions.of_entries(self._connection, [hit.entry_no for hit in found])
        if not links:
            return found
        allowed = hits.let_in(self._connection, self._filters, [newer for newer, _ in links.values()])
        known = {hit.entry_no: hit for hit in found}
        exact = any(query.required for query in self.queries)
        for older, (newer, replaced) in links.items():
            self.replaced[older] = replaced
            if newer in allowed and newer not in known and not exact:
                known[newer] = Hit(newer, known[older].score, {"curated"}, set(known[older].queries))
            if newer in known:
                self._newer[older] = newer
        added = [hit for entry_no, hit in known.items() if entry_no not in self._rows]
        self._rows = {**self._rows, **hits.rows(self._connection, [hit.entry_no for hit in added])}
        newer_of = {older: (newer,) for older, newer in self._newer.items()}
        return latest.first([*found, *added], lambda hit: hit.entry_no, newer_of)

    def _show_what_holds(self, groups: Sequence[Group]) -> None:
        """Show what replaced a shown finding too, above its share of the page; its conversation stands above already.

        Groups are taken from the last, for what replaced one finding may itself have been replaced.
        """
        group_of = {hit.entry_no: group for group in groups for hit in group.hits}
        for group in reversed(groups):
            for hit in group.hits[: group.shown]:
                newer = self._newer.get(hit.entry_no)
                if newer in group_of:
                    _show(group_of[newer], newer)

    def _newer_conversations(self) -> dict[int, list[int]]:
        """Conversation -> those in which something of it was replaced."""
        found: dict[int, list[int]] = {}
        for older, newer in self._newer.items():
            one, other = (int(self._rows[entry_no]["conversation_no"]) for entry_no in (older, newer))
            if one != other:
                found.setdefault(one, []).append(other)
        return found

    def _in_tiers(self, groups: list[Group]) -> list[Group]:
        """This project's first, where that was asked for; an order by time stays one."""
        if self._scope.used != "prefer" or self._request.sort != "relevance":
            return groups
        heads = hits.conversations(self._connection, [group.conversation_no for group in groups])
        return tiers.ordered(groups, lambda group: self._scope.tier(heads[group.conversation_no]))

    def _found_themselves(self, found: list[Hit]) -> list[Hit]:
        """Without those that only their neighbours speak for: by time they would hide what was asked for."""
        newer = set(self._newer.values())  # what replaced a finding is found with it
        spoken = [hit for hit in found if not _THEMSELVES.isdisjoint(hit.parts) or hit.entry_no in newer]
        return spoken or found

    def _sorted(self, found: list[Hit]) -> list[Hit]:
        if self._request.sort == "relevance":
            return found
        sign = -1 if self._request.sort == "newest" else 1
        found = self._found_themselves(found)
        # What has no time comes last either way.
        return sorted(
            found,
            key=lambda hit: (self._at(hit) is None, sign * (self._at(hit) or 0), *hits.tie(self._rows[hit.entry_no])),
        )

    def _at(self, hit: Hit) -> int | None:
        at: int | None = self._rows[hit.entry_no]["at"]
        return at

    def _once(self, fused: Mapping[int, Hit]) -> dict[int, Hit]:
        """Records that a fork or a copy holds too, once: in the conversation that began first."""
        first = hits.first_copies(self._connection, self._filters, fused)
        kept: dict[int, Hit] = {}
        for hit in fused.values():
            hit.entry_no = first[hit.entry_no]
            known = kept.setdefault(hit.entry_no, hit)
            if known is not hit:
                known.take(hit)
        return kept

    def _ranked(self, query: Query, rewrites: Sequence[Query]) -> dict[int, Parts]:
        """Entry -> score by layer."""
        if query.empty:
            return self._literally([query.literal])
        try:
            asked = Ranked(self._connection, self._filters, query, self._weights, self._saw)
            alone = self._request.mode == "semantic"
            found = asked.scores(rewrites, alone=alone, own_words=self._own_words)
            if found and not alone and (parts := asked.parts_apart()):
                self.apart.append(parts)
            words = [word for term in (*query.required, *query.terms) for word in term.words]
            little = asked.drawn < LITTLE
            damage = soundness.problem(self._connection, self._filters.profile_no, words, little=little)
            if damage is None:
                return found
            self.damaged = damage
            return found | self._literally(_needles(query))
        except (sqlite3.DatabaseError, StateError) as error:
            if isinstance(error, StateError) and "entries" in error.data:
                self.lost = error
                return self._literally(_needles(query))
            if isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error):
                raise
            self.damaged = str(error)
            return self._literally(_needles(query))

    def _literally(self, needles: Sequence[str]) -> dict[int, Parts]:
        found = literal.entries(self._connection, self._filters, needles)
        self._saw(found.bounded)
        there = hits.rows(self._connection, found.scores)  # of a damaged index an entry may be met that leads nowhere
        return {entry_no: {"literal": score} for entry_no, score in found.scores.items() if entry_no in there}

    def _saw(self, bounded: bool) -> None:
        self.bounded = self.bounded or bounded
