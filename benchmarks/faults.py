"""Faults planted in a generated history's topics, by a placement that errs as told; and what became of them.

    wrong      a facet in the topic of another subject
    duplicate  a subject with two topics
    mixed      a topic that holds a second subject, which has none of its own
    stale      a topic whose title has a name that only its first conversation used

What stands is read from the database, beside the product's own code: each facet's subject by the word that its
evidence carries, each topic's subject by its title, or by most of its members where that names none of theirs.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchmarks.generated import History, Segment, Subject

KINDS = ("wrong", "duplicate", "mixed", "stale")
How = Literal["none", "slips", "all"]
_OCTET = 8
_DUPLICATES = (1, 4)
_WRONG_NTH = 2
_WRONG = {0: 2, 2: 0, 3: 5, 5: 3, 7: 5}  # within eight subjects, each to one of its language


class Faults:
    """Where each facet of a history is filed: where it belongs (`none`), with a slip now and then (`slips`: one facet
    of every fourth subject is wrong), or with every kind of fault (`all`)."""

    def __init__(self, history: History, how: How) -> None:
        self._history = history
        self._how = how

    def filed_as(self, segment: Segment) -> Subject:
        """The subject under which a facet goes, right or wrong."""
        own = segment.subject
        if self._how == "slips" and segment.nth == 1 and own.number % 4 == 1:
            return self._subject(own.number - 1) or own
        if self._how != "all":
            return own
        octet, place = own.number - own.number % _OCTET, own.number % _OCTET
        if segment.nth == _WRONG_NTH and place in _WRONG and _host(own.number) is None:
            return self._subject(octet + _WRONG[place]) or own
        return self._subject(_host(own.number)) or own

    def together(self, one: Segment, other: Segment) -> bool:
        """Whether two facets of one subject go into one topic."""
        split = self._how == "all" and one.subject.number % _OCTET in _DUPLICATES
        return not split or one.nth % 2 == other.nth % 2

    def _subject(self, number: int | None) -> Subject | None:
        return self._history.subjects[number] if number is not None and number < len(self._history.subjects) else None


def _host(number: int) -> int | None:
    """The subject whose topic a mixed-in one goes into."""
    return {6: number - 6, 15: number - 2}.get(number % (2 * _OCTET))


@dataclass(frozen=True, slots=True)
class Standing:
    """The topics of an index: by topic number its title, and by facet id its topic's number and its segment."""

    titles: Mapping[int, str]
    facets: Mapping[str, tuple[int, Segment]]
    labels: Mapping[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, database: Path, history: History) -> Standing:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            titles = dict(connection.execute("SELECT topic_no, title FROM topics WHERE state = 'live'"))
            rows = connection.execute(
                "SELECT f.facet_id, m.topic_no, e.quote FROM facets AS f JOIN memberships AS m USING (facet_no)"
                " JOIN evidence AS e USING (facet_no) ORDER BY f.facet_no"
            ).fetchall()
        facets = {}
        for facet_id, topic, quote in rows:
            segment = history.segment_in(quote)
            if segment is not None and segment.token in history.segments:
                facets[facet_id] = (topic, segment)
        return cls(titles, facets, _labels(titles, facets, history))

    def misfiled(self) -> set[str]:
        """The facets that are in a topic of another subject."""
        return {name for name, (topic, one) in self.facets.items() if self.labels[topic] != one.subject.number}

    def doubled(self) -> set[int]:
        """The subjects that have more than one topic."""
        return {subject for subject, count in Counter(self.labels.values()).items() if count > 1}

    def homeless(self) -> set[int]:
        """The subjects that have no topic."""
        return {one.subject.number for _, one in self.facets.values()} - set(self.labels.values())

    def misnamed(self, history: History) -> set[int]:
        """The subjects with a topic whose title does not have the name of now."""
        return {
            label
            for topic, label in self.labels.items()
            if history.subjects[label].name not in self.titles[topic].lower()
        }


@dataclass(frozen=True, slots=True)
class Planted:
    """What is wrong with the topics before repair: facet ids, and numbers of subjects."""

    wrong: frozenset[str]
    duplicate: frozenset[int]
    mixed: frozenset[int]
    stale: frozenset[int]

    @classmethod
    def of(cls, before: Standing, history: History) -> Planted:
        homeless = before.homeless()
        mixed_in = {name for name, (_, one) in before.facets.items() if one.subject.number in homeless}
        return cls(
            wrong=frozenset(before.misfiled() - mixed_in),
            duplicate=frozenset(before.doubled()),
            mixed=frozenset(homeless),
            stale=frozenset(before.misnamed(history)),
        )

    def counts(self) -> dict[str, int]:
        return {kind: len(getattr(self, kind)) for kind in KINDS}

    def fixed(self, after: Standing, history: History) -> dict[str, int]:
        """How many of each kind are right now."""
        misfiled, doubled, misnamed = after.misfiled(), after.doubled(), after.misnamed(history)
        at_home = {one.subject.number for name, (_, one) in after.facets.items() if name not in misfiled}
        astray = {after.facets[name][1].subject.number for name in misfiled}
        return {
            "wrong": len(self.wrong - misfiled),
            "duplicate": len(self.duplicate - doubled),
            "mixed": len({one for one in self.mixed if one in at_home and one not in astray}),
            "stale": len(self.stale - misnamed),
        }

    def broken(self, before: Standing, after: Standing, history: History) -> int:
        """What was right and is not now: facets lost or misfiled, subjects doubled, titles that lost their name."""
        lost = before.facets.keys() - after.facets.keys()
        misfiled = after.misfiled() - before.misfiled()
        doubled = after.doubled() - before.doubled()
        misnamed = after.misnamed(history) - before.misnamed(history) - self.mixed
        return len(lost) + len(misfiled) + len(doubled) + len(misnamed)


def _labels(titles: Mapping[int, str], facets: Mapping[str, tuple[int, Segment]], history: History) -> dict[int, int]:
    members: dict[int, Counter[int]] = {}
    for topic, segment in facets.values():
        members.setdefault(topic, Counter())[segment.subject.number] += 1
    labels = {}
    for topic, counts in members.items():
        named = history.named(titles.get(topic, ""))
        written = named[0].number if named is not None else None
        labels[topic] = min(counts, key=lambda one: (one != written, -counts[one], one))
    return labels
