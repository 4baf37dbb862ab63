"""What each sign of a match is worth: the one table of weights. docs/retrieval.md has the ablation that chose them.

An entry's score is a sum over the terms of a query: idf x how firmly the entry holds the term. It holds it by its own
words, by what was written about it and cited it, and a little by the turns beside it. Factors for the role, and for
the time that the question names, come last. `Weights` with a part at zero is the ablation without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_ROLES = {"user": 1.0, "assistant": 1.0, "tool": 0.8, "summary": 0.5, "system": 0.5}
# A facet's aliases are words that a person would search for: they weigh more than what describes it.
_CURATED = {"finding": 0.9, "aliases": 2.0, "facet": 0.4, "summary": 0.1, "topic": 0.1}


@dataclass(frozen=True, slots=True)
class Weights:
    """Every weight of ranking. Chosen on the open labelled sets, with one value for all of them."""

    saturation: float = 0.9  # BM25's k1, for a term that an entry holds once: more often counts no more
    length: float = 0.3  # BM25's b: how much a long entry loses
    before: tuple[float, ...] = (0.5, 0.25, 0.12)  # what an entry has of a term in the turns before it, nearest first
    after: tuple[float, ...] = (0.35, 0.2, 0.1)
    repeated: float = 0.5  # of that, where the entry holds the term itself
    speaker: float = 3.5  # idf that a name of the query adds where the entry begins with it, as a speaker's does
    across: float = 0.5  # of a pair's worth that only lies over the border of two words (recall.borders),
    hollow: float = 0.1  # and of one of which one word is no subject
    conversation: float = 0.4  # of the best entry of its conversation
    block: float = 0.15  # of a term's worth, for an entry with the term in the block around it, itself included
    block_reach: int = 20  # places before and after it that are its block
    roles: Mapping[str, float] = field(default_factory=lambda: _ROLES)
    curated: Mapping[str, float] = field(default_factory=lambda: _CURATED)  # by kind of text that cites the entry
    extractive: float = 0.1  # of that, where the built-in analyser wrote it
    texts: int = 100  # a term that stands in texts only is worth its idf among so many of them,
    only_written: float = 4.0  # and this at most
    cited: float = 0.8  # of that, where the entry holds the term itself
    moment: float = 1.3  # added to the factor of an entry from the time that the question names
    near_moment: float = 0.7  # of that, a day beside it
    month_of_moment: float = 0.3  # of that, in the same month
    when: float = 0.2  # of its score, for an entry that tells a time where the question asks for one
    now: float = 0.8  # of its score, for the newest of what was found where the question asks how things stand now
    overtaken: float = 0.3  # of its score off then, for an entry that holds a superseded finding
    exact: float = 1.0  # of the query's best score, for a spelling that stands there letter for letter
    weak_score: float = 0.15  # of the query's best score: what is below and holds no telling word is left out
    wordless: float = 0.65  # of the best own words and turns, for an entry that only the turns beside it speak for
    weak_word: float = 0.5  # of the weight of the query's rarest word: a word below tells little
    floor: float = 0.25  # of what a query could score at most: where the best entry stays below, nothing answers it
    floor_pairs: float = 0.7  # of the floor, for a query in a script that is cut into pairs: few of them are words
    floor_written: float = 0.21  # of the same, that one text which was written has: then it is answered all the same
    floor_related: float = 0.5  # of what other words for it give, where an entry is measured by the floor
    unknown: float = 1.5  # times its idf, what a word could score that stands nowhere: mostly it is the subject
    rewritten: float = 0.5  # of a term's idf, where only rewriting brought it in
    rewritten_again: float = 0.3  # more for each rewrite that has it
    rewritten_aliases: float = 0.5  # what aliases count for such a term, in place of their weight above
    vocabulary: float = 0.05  # of a term's idf, where it is the profile's own name for what is asked
    related: float = 1.0  # of a word's worth, for another word that says the same (recall.thesaurus);
    close: float = 0.5  # for one that says something close;
    known: float = 0.7  # of either in an entry, where the word that was asked stands somewhere itself
    reciprocal: float = 60.0  # k of reciprocal rank fusion, across the queries of a request


WEIGHTS = Weights()
