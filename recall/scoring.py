"""The score of each entry for one query: what it holds, what was written about it, what stands beside it, and when.

Pure: values in, scores out; the table of weights is `recall.weights`. Entries come in lines (`recall.index.turns`),
so that the turns beside one are the places before and after it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from recall.index.cited import Written
from recall.index.held import Holding
from recall.index.turns import Turn
from recall.moments import Moment
from recall.query import Term
from recall.thesaurus import NOTHING, Known, Related
from recall.weights import Weights

Parts = dict[str, float]
_PAIRED = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
STEP = 1e-6  # by which a score is above another
SPOKEN = ("keyword", "related", "curated", "rewrite")  # by which an entry is found itself
LAYERS = ("keyword", "neighbours", "related", "close", "curated", "rewrite")


@dataclass(frozen=True, slots=True)
class Asked:
    """One query as it is scored. `weights`: its terms; those that only rewriting brought in are in `rewritten`."""

    weights: Mapping[Term, float]
    rewritten: frozenset[Term] = frozenset()
    moments: tuple[Moment, ...] = ()
    only_written: frozenset[Term] = frozenset()  # terms that count in what was written only
    only_said: frozenset[Term] = frozenset()  # terms that count in what entries say only
    related: tuple[Related, ...] = ()


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen in the index: the turns in their lines, and what they and what is written about them hold."""

    turns: Sequence[Turn]
    total: int  # entries there are
    entries: Mapping[Term, Holding]
    speakers: Mapping[str, frozenset[int]]
    written: Sequence[Written] = ()
    texts: Mapping[Term, Holding] = field(default_factory=dict)

    def knows(self, term: Term) -> bool:
        """Whether a term stands in some entry, or in something that was written."""
        return term in self.entries or term in self.texts


def idf(holding: int, total: int) -> float:
    """What a term that so many of all rows hold tells; never negative."""
    holding = min(holding, total)
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def as_word(term: Term, known: Known, weights: Weights) -> float:
    """What a term of a query counts: less where it is a pair over a border, which is no word."""
    if len(term.words) > 1 or term not in known.across:
        return 1.0
    return weights.hollow if term in known.hollow else weights.across


def scores(asked: Asked, sight: Sight, weights: Weights) -> dict[int, Parts]:
    """Entry -> its score in each layer; entries that nothing speaks for are not in it."""
    made = _Scores(asked, sight, weights)
    for term, weight in asked.weights.items():
        made.add(term, weight)
    for related in asked.related:
        made.add_related(related)
    made.add_speakers()
    return made.finished()


class _Scores:
    """Sums by place: an index into the turns."""

    def __init__(self, asked: Asked, sight: Sight, weights: Weights) -> None:
        self._asked, self._sight, self._weights = asked, sight, weights
        turns = sight.turns
        self._place = {turn.entry_no: place for place, turn in enumerate(turns)}
        mean = sum(turn.chars for turn in turns) / max(1, len(turns)) or 1.0
        self._firm = [_firm(turn.chars / mean, weights) for turn in turns]
        self._parts: list[Parts] = [{} for _ in turns]
        self._terms = [0] * len(turns)  # that each place has, its own or from the turns beside it
        self._blocks = [0.0] * len(turns)  # what the block around each place has
        self._ends = _block_ends(turns, weights.block_reach)
        self._lines = _line_ends(turns)
        self._beside = self._directions()
        self._by_text = {written.curated_no: written for written in sight.written}
        lengths = [written.chars for written in sight.written]
        self._mean_text = sum(lengths) / max(1, len(lengths)) or 1.0

    def _directions(self) -> list[tuple[int, float]]:
        """(how many places on, what it is worth): a turn gives to those after it what they have before them."""
        ways = [(distance, worth) for distance, worth in enumerate(self._weights.before, 1)]
        ways += [(-distance, worth) for distance, worth in enumerate(self._weights.after, 1)]
        return [(distance, worth) for distance, worth in ways if worth]

    def add(self, term: Term, weight: float) -> None:
        """Add what one term is worth, everywhere."""
        held = self._sight.entries.get(term)
        text = None if term in self._asked.only_said else self._sight.texts.get(term)
        places: list[int] = []
        if held and term not in self._asked.only_written:
            places = [self._place[number] for number in held.rows if number in self._place]
        if held is None and text is None:
            return
        worth = weight * _worth(held, text, self._sight, self._weights)
        own = set(places)
        rewritten = term in self._asked.rewritten
        for place in places:
            self._give(place, "rewrite" if rewritten else "keyword", worth * self._firm[place])
        beside = self._from_beside(dict.fromkeys(places, 1.0))
        for place in own | beside.keys():
            self._terms[place] += 1
        for place, part in beside.items():
            share = self._weights.repeated if place in own else 1.0
            self._give(place, "rewrite" if rewritten else "neighbours", worth * part * share)
        written = self._from_writing(text, rewritten=rewritten)
        for place, part in written.items():
            share = self._weights.cited if place in own else 1.0
            self._give(place, "rewrite" if rewritten else "curated", worth * part * share)
        if not _PAIRED.search(term.words[0]):  # two characters stand in most blocks by chance
            self._add_to_blocks(sorted(own | written.keys()), worth)

    def add_related(self, related: Related) -> None:
        """Add what other words for a part of the query are worth where its own words are not: the best of them counts.

        Where the query's own words stand somewhere, they are what was written about an answer, whose own words may
        still be others: then other words count less in entries, and in what was written not at all.
        """
        sight, weights = self._sight, self._weights
        worths = [_worth(sight.entries.get(term), sight.texts.get(term), sight, weights) for term in related.asked]
        most = sum(worths) if any(sight.knows(term) for term in related.asked) else math.inf
        known = all(sight.knows(term) for term in related.asked)
        own = self._holding_all(related.asked)
        done = set(own)
        for layer, weight, same in (("related", weights.related, True), ("close", weights.close, False)):
            held: dict[int, float] = {}
            written: dict[int, float] = {}
            for term in (term for term, is_same in related.others.items() if is_same == same):
                holding, text = sight.entries.get(term), sight.texts.get(term)
                worth = weight * min(most, _worth(holding, text, sight, weights))
                spoken = worth * (weights.known if known else 1.0)
                for number in holding.rows if holding else ():
                    place = self._place.get(number)
                    if place is not None and place not in done:
                        held[place] = max(spoken, held.get(place, 0.0))
                for place, part in self._from_writing(None if known else text, rewritten=False).items():
                    if place not in own:
                        written[place] = max(worth * part, written.get(place, 0.0))
            self._give_related(layer, held, written, done)
            done |= held.keys()

    def _give_related(
        self, layer: str, held: Mapping[int, float], written: Mapping[int, float], done: Collection[int]
    ) -> None:
        """Give what other words are worth: to the places that hold them, that lie beside, and that texts cite."""
        beside = {place: part for place, part in self._from_beside(held).items() if place not in done}
        for place, worth in held.items():
            self._give(place, layer, worth * self._firm[place])
        for place in held.keys() | beside.keys():
            self._terms[place] += 1
        for place, part in beside.items():
            self._give(place, layer, part * (self._weights.repeated if place in held else 1.0))
        for place, part in written.items():
            self._give(place, "curated", part * (self._weights.cited if place in held else 1.0))
        self._add_to_blocks(sorted(held.keys() | written.keys()), max(held.values(), default=0.0))

    def _holding_all(self, terms: Iterable[Term]) -> frozenset[int]:
        """The places that hold all of the terms."""
        entries = self._sight.entries
        rows = [entries[term].rows if term in entries else frozenset() for term in terms]
        return frozenset(self._place[row] for row in frozenset.intersection(*rows) if row in self._place)

    def _from_beside(self, worths: Mapping[int, float]) -> dict[int, float]:
        """What the places of a term give to the places beside them. `worths`: what it is worth in each."""
        given: dict[int, float] = {}
        for place, own in worths.items():
            (first, end), firm = self._lines[place], own * self._firm[place]
            for distance, worth in self._beside:
                other = place + distance
                if first <= other < end:
                    given[other] = given.get(other, 0.0) + worth * firm
        return given

    def _add_to_blocks(self, places: Sequence[int], worth: float) -> None:
        """Add a term to the blocks that hold it at these places, in order: to each once."""
        reached = 0
        for place in places:
            first, end = self._ends[place]
            for other in range(max(first, reached), end):
                self._blocks[other] += worth
            reached = max(reached, end)

    def _from_writing(self, text: Holding | None, *, rewritten: bool) -> dict[int, float]:
        """What the texts that hold a term give to the places that they cite: the firmest one counts."""
        given: dict[int, float] = {}
        for number in text.rows if text else ():
            written = self._by_text[number]
            worth = self._worth(written.kind, rewritten=rewritten) * _firm(
                written.chars / self._mean_text, self._weights
            )
            worth *= self._weights.extractive if written.extractive else 1.0
            for entry_no in written.entries:
                place = self._place.get(entry_no)
                if place is not None and worth > given.get(place, 0.0):
                    given[place] = worth
        return given

    def _worth(self, kind: str, *, rewritten: bool) -> float:
        """What a kind of text is worth. A rewrite is made of such words as aliases are, and finds them for that."""
        if rewritten and kind == "aliases":
            return self._weights.rewritten_aliases
        return self._weights.curated.get(kind, 0.0)

    def add_speakers(self) -> None:
        """Add for entries that begin with a name of the query."""
        for word, numbers in self._sight.speakers.items():
            held = self._sight.entries.get(Term((word,)))
            worth = self._weights.speaker * idf(held.total if held else 1, self._sight.total)
            for number in numbers:
                place = self._place.get(number)
                if place is not None and self._parts[place]:
                    self._give(place, "keyword", worth)

    def _give(self, place: int, layer: str, score: float) -> None:
        if score:
            parts = self._parts[place]
            parts[layer] = parts.get(layer, 0.0) + score

    def finished(self) -> dict[int, Parts]:
        """The sums with their factors, and what the best entry of a conversation lends to the others."""
        best: dict[int, float] = {}
        found: dict[int, Parts] = {}
        rows = zip(self._sight.turns, self._parts, self._terms, self._blocks, strict=True)
        for turn, parts, terms, block in rows:
            if not parts or (terms < 2 and parts.keys() == {"neighbours"}):
                continue  # one word beside an entry says nothing of it
            if self._weights.block:
                parts["block"] = self._weights.block * block
            factor = self._factor(turn)
            found[turn.entry_no] = {layer: score * factor for layer, score in parts.items()}
            score = sum(found[turn.entry_no].values())
            best[turn.conversation_no] = max(best.get(turn.conversation_no, 0.0), score)
        if self._weights.conversation:
            for turn in self._sight.turns:
                if turn.entry_no in found:
                    lent = self._weights.conversation * best[turn.conversation_no]
                    found[turn.entry_no]["conversation"] = lent
        return found

    def _factor(self, turn: Turn) -> float:
        """What a score is multiplied by for the entry's role and time."""
        weights = self._weights
        factor = weights.roles.get(turn.role, 1.0)
        if turn.at is not None and self._asked.moments:
            worth = {"in": 1.0, "near": weights.near_moment, "month": weights.month_of_moment, "": 0.0}
            factor *= 1 + weights.moment * max(worth[moment.closeness(turn.at)] for moment in self._asked.moments)
        return factor


def _block_ends(turns: Sequence[Turn], reach: int) -> list[tuple[int, int]]:
    """The places of the block around each place: the first, and the one behind the last."""
    ends: list[tuple[int, int]] = []
    for _, group in groupby(turns, key=attrgetter("conversation_no")):
        at = [turn.seq for turn in group]
        start = len(ends)
        ends += [(start + bisect_left(at, seq - reach), start + bisect_right(at, seq + reach)) for seq in at]
    return ends


def _line_ends(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """The places of the line around each place: the first, and the one behind the last."""
    ends: list[tuple[int, int]] = []
    for _, group in groupby(turns, key=attrgetter("line")):
        start, number = len(ends), sum(1 for _ in group)
        ends += [(start, start + number)] * number
    return ends


def _worth(held: Holding | None, text: Holding | None, sight: Sight, weights: Weights) -> float:
    """What a term tells: by the entries that hold it, or by the texts, where it stands in no entry."""
    if held:
        return idf(held.total, sight.total)
    return min(idf(text.total if text else 1, weights.texts), weights.only_written)


def _firm(length: float, weights: Weights) -> float:
    """BM25's factor of a term that a text of `length` times the mean holds once."""
    return (weights.saturation + 1) / (1 + weights.saturation * (1 - weights.length + weights.length * length))


def best(found: Mapping[int, Parts], most: int) -> dict[int, Parts]:
    """The entries with the highest scores."""
    order = sorted(found, key=lambda entry_no: (-sum(found[entry_no].values()), entry_no))
    return {entry_no: found[entry_no] for entry_no in order[:most]}


def hold_exact(combined: dict[int, Parts], plain: Mapping[int, Parts], tie: Callable[[int], tuple[int, ...]]) -> None:
    """Let no entry that holds the query letter for letter stand lower in `combined` than in `plain`.

    `tie`: what entries of one score are ordered by where they are shown. Each is put where it stood, from the first on,
    and then given what it needs to stand there.
    """
    order = in_order(combined, tie)
    for place, entry_no in enumerate(in_order(plain, tie)):
        if "exact" in plain[entry_no] and entry_no not in order[: place + 1]:
            if entry_no in order:
                order.remove(entry_no)
            order.insert(place, entry_no)
    behind = 0.0
    for entry_no in reversed(order):
        parts = combined.setdefault(entry_no, {})
        if "exact" in plain.get(entry_no, ()) and sum(parts.values()) <= behind:
            parts["exact"] = parts.get("exact", 0.0) + behind + STEP - sum(parts.values())
        behind = max(behind, sum(parts.values()))


def in_order(found: Mapping[int, Parts], tie: Callable[[int], tuple[int, ...]]) -> list[int]:
    """Entries as they are shown: the best first, of one score by `tie`."""
    return sorted(found, key=lambda entry_no: (-round(sum(found[entry_no].values()), 9), tie(entry_no)))


def reaches_floor(
    found: Mapping[int, Parts],
    terms: Sequence[Term],
    sight: Sight,
    weights: Weights,
    *,
    rewritten: bool,
    known: Known = NOTHING,
) -> bool:
    """Whether the best entry, or one text that was written, has enough of what was asked.

    `terms` are those of one query, or of a rewrite of it. Of an entry's score what others wrote about it does not
    count, for such texts are many and say much, nor what its conversation lends it, which is made of them too; nor,
    for an own query, what only rewriting brought in. Other words for what was asked count in part.
    """
    shares = dict.fromkeys(("curated", "block", "conversation", "close"), 0.0)
    shares |= {"related": weights.floor_related, "rewrite": 1.0 if rewritten else 0.0}
    possible = paired = 0.0
    texts: dict[int, float] = {}
    named = _named_otherwise(terms, known.related, sight)
    possible += sum(named.values())
    for term in terms:
        held, text = sight.entries.get(term), sight.texts.get(term)
        if held is None and (term in known.across or _is_run(term) or any(term in asked for asked in named)):
            continue
        worth = idf(held.total if held else 0, sight.total) * (1.0 if held else weights.unknown)
        worth *= as_word(term, known, weights)
        possible += worth
        paired += worth if _PAIRED.search(term.words[0]) else 0.0
        for number in text.rows if text else ():
            texts[number] = texts.get(number, 0.0) + _worth(held, text, sight, weights)
    share = paired / possible if possible else 0.0
    floor = weights.floor * (1 - (1 - weights.floor_pairs) * share)
    sums = (sum(shares.get(layer, 1.0) * score for layer, score in parts.items()) for parts in found.values())
    if max(sums, default=0.0) >= floor * possible:
        return True
    return max(texts.values(), default=0.0) >= weights.floor_written * possible > 0


def _is_run(term: Term) -> bool:
    """Whether a term is all of a run without spaces: where it stands nowhere, its pairs say what is missed."""
    return len(term.words) > 1 and all(_PAIRED.match(word) for word in term.words)


def _named_otherwise(terms: Sequence[Term], related: Iterable[Related], sight: Sight) -> dict[tuple[Term, ...], float]:
    """What is asked for in words that stand nowhere, where other words for it do: with what these are worth."""
    named: dict[tuple[Term, ...], float] = {}
    for one in related:
        if all(term in terms and term not in sight.entries for term in one.asked):
            held = (sight.entries[term] for term, same in one.others.items() if same and term in sight.entries)
            worths = [idf(holding.total, sight.total) for holding in held]
            if worths:
                named[one.asked] = max(worths)
    return named


def drop_tail(found: dict[int, Parts], sight: Sight, weights: Weights) -> None:
    """Leave out what scores far below the best and holds none of the terms that tell something."""
    sums = {entry_no: sum(parts.values()) for entry_no, parts in found.items()}
    least = weights.weak_score * max(sums.values(), default=0.0)
    worths = {term: idf(held.total, sight.total) for term, held in sight.entries.items()}
    telling = weights.weak_word * max(worths.values(), default=0.0)
    kept = {row for term, worth in worths.items() if worth >= telling for row in sight.entries[term].rows}
    said = {entry_no: parts.get("keyword", 0.0) + parts.get("neighbours", 0.0) for entry_no, parts in found.items()}
    wordless = weights.wordless * max(said.values(), default=0.0)
    for entry_no, score in sums.items():
        spoken = any(layer in found[entry_no] for layer in SPOKEN)
        if (score < least and entry_no not in kept) or (said[entry_no] < wordless and not spoken):
            del found[entry_no]
