"""A repair plan, written: topics made, redefined and merged, facets moved, emptied topics retired.

Called inside the publishing transaction, after the proof was made again there. Every change leaves an event with what
was before and after, the reason, what was read for it, and the digest of the proof. Ids stay: of a merge the older
one lives on, and the other leads to it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recall.index import catalogue, fulltext
from recall.index.topics import joined_aliases, mint
from recall.plans import Merge, Move, NewTopic, Receipt, Redefinition, TopicPlan
from recall.types import Draft


@dataclass
class Mended:
    """What was done: topic ids by what happened to them; `moved` are the topics that facets were moved into."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)

    def joined_with(self, published: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """With what the publication itself did: each topic once, one that came and went in between not at all."""
        gone = {*self.merged, *self.retired, *published.get("retired", ())}
        created = [*published.get("created", ()), *self.created]
        updated = [one for one in (*published.get("updated", ()), *self.updated) if one not in (*created, *gone)]
        return {
            "created": [one for one in created if one not in gone],
            "updated": list(dict.fromkeys(updated)),
            "merged": self.merged,
            "moved": self.moved,
            "retired": [one for one in (*published.get("retired", ()), *self.retired) if one not in created],
        }


@dataclass(frozen=True, slots=True)
class Warrant:
    """Why a plan may be written: the digest of its proof and, by facet, what was read of it."""

    proof: str
    read: Mapping[str, Receipt]


def write(
    connection: sqlite3.Connection, profile_no: int, plan: TopicPlan, warrant: Warrant, *, extractive: bool, now: int
) -> Mended:
    """Write the plan inside the open transaction."""
    return _Mender(connection, profile_no, warrant, extractive=extractive, now=now).write(plan)


def keep_receipts(
    connection: sqlite3.Connection, profile_no: int, receipts: Iterable[Receipt], proof: str, now: int
) -> None:
    """Keep what a published run delivered."""
    connection.executemany(
        """INSERT INTO receipts (facet_no, facet_sha256, entry_id, sha256, chars, proof, published_at)
           SELECT f.facet_no, ?, ?, ?, ?, ?, ? FROM facets AS f JOIN conversations AS c USING (conversation_no)
           WHERE f.facet_id = ? AND c.profile_no = ?
           ON CONFLICT (facet_no, entry_id) DO UPDATE
           SET facet_sha256 = excluded.facet_sha256, sha256 = excluded.sha256, chars = excluded.chars,
               proof = excluded.proof, published_at = excluded.published_at""",
        [(r.facet_sha256, r.entry_id, r.sha256, r.chars, proof, now, r.facet_id, profile_no) for r in receipts],
    )


class _Mender:
    def __init__(
        self, connection: sqlite3.Connection, profile_no: int, warrant: Warrant, *, extractive: bool, now: int
    ) -> None:
        self._connection = connection
        self._profile_no = profile_no
        self._warrant = warrant
        self._extractive = extractive
        self._now = now
        self._done = Mended()

    def write(self, plan: TopicPlan) -> Mended:
        made = {new.number: self._make(new) for new in plan.new}
        for move in plan.moves:
            self._move(move, made[move.target] if isinstance(move.target, int) else move.target)
        if plan.merge is not None:
            self._merge(plan.merge)
        for redefinition in plan.redefinitions:
            self._redefine(redefinition)
        for new in plan.new:
            self._event(made[new.number], "created", new.reason, {}, _words(new.words), self._members(made[new.number]))
        self._retire(plan.touched)
        fulltext.refresh_topics(self._connection, self._profile_no)
        return self._done

    def _make(self, new: NewTopic) -> str:
        topic_id = mint(self._connection, "repair", self._warrant.proof, str(new.number))
        self._connection.execute(
            """INSERT INTO topics
                 (topic_id, profile_no, title, description, aliases, extractive, created_at, changed_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                topic_id,
                self._profile_no,
                new.words.title,
                new.words.description,
                joined_aliases(new.words.title, new.words.aliases),
                int(self._extractive),
                self._now,
                self._now,
            ),
        )
        self._done.created.append(topic_id)
        return topic_id

    def _move(self, move: Move, target: str) -> None:
        facet = self._connection.execute(
            """SELECT f.facet_no, f.title FROM facets AS f JOIN conversations AS c USING (conversation_no)
               WHERE f.facet_id = ? AND c.profile_no = ?""",
            (move.facet_id, self._profile_no),
        ).fetchone()
        self._connection.execute(
            """UPDATE memberships SET topic_no = ?, reason = ?, candidates = '[]', placed_at = ? WHERE facet_no = ?""",
            (self._number(target), move.reason, self._now, facet["facet_no"]),
        )
        before, after = {"topic_id": move.source}, {"topic_id": target}
        named = {"facet": facet["title"], "facet_id": move.facet_id}
        self._change(move.source)
        self._event(move.source, "moved", move.reason, before | named, after, [move.facet_id])
        if target not in self._done.created:
            words = self._row(target)
            self._change(
                target, aliases=joined_aliases(words["title"], [*json.loads(words["aliases"]), named["facet"]])
            )
            self._event(target, "joined", move.reason, before, after | named, [move.facet_id])
        self._done.updated.append(move.source)
        if target not in self._done.moved:
            self._done.moved.append(target)

    def _merge(self, merge: Merge) -> None:
        kept, gone = self._row(merge.kept), self._row(merge.gone)
        self._connection.execute(
            "UPDATE memberships SET topic_no = ? WHERE topic_no = ?", (kept["topic_no"], gone["topic_no"])
        )
        self._connection.execute(
            "UPDATE topics SET state = 'merged', merged_into = ? WHERE topic_no = ?",
            (kept["topic_no"], gone["topic_no"]),
        )
        self._change(merge.gone)
        old = [gone["title"], *json.loads(kept["aliases"]), *json.loads(gone["aliases"])]
        after = self._reword(kept, merge.words, old)
        members = self._members(merge.kept)
        before = {"topics": [_kept_words(kept), _kept_words(gone)]}
        self._event(merge.kept, "merged", merge.reason, before, after, members)
        self._event(merge.gone, "merged", merge.reason, _kept_words(gone), {"topic_id": merge.kept}, members)
        self._done.merged.append(merge.gone)
        self._done.updated.append(merge.kept)

    def _redefine(self, redefinition: Redefinition) -> None:
        row = self._row(redefinition.topic_id)
        after = self._reword(row, redefinition.words, json.loads(row["aliases"]))
        members = self._members(redefinition.topic_id)
        self._event(redefinition.topic_id, "redefined", redefinition.reason, _kept_words(row), after, members)
        self._done.updated.append(redefinition.topic_id)

    def _reword(self, row: sqlite3.Row, words: Draft, old: Sequence[str]) -> dict[str, object]:
        """Give a topic new words. The plan's aliases come first, then the old title and the old aliases."""
        aliases = joined_aliases(words.title, [row["title"], *words.aliases, *old])
        self._connection.execute(
            "UPDATE topics SET title = ?, description = ?, extractive = ? WHERE topic_no = ?",
            (words.title, words.description, int(self._extractive), row["topic_no"]),
        )
        self._change(row["topic_id"], aliases=aliases)
        return _words(words)

    def _retire(self, topic_ids: Iterable[str]) -> None:
        for topic_id in topic_ids:
            row = self._row(topic_id)
            if row["state"] != "live" or self._members(topic_id):
                continue
            self._connection.execute("UPDATE topics SET state = 'retired' WHERE topic_no = ?", (row["topic_no"],))
            became = {"topics": catalogue.heirs(self._connection, row["topic_no"])}
            self._event(topic_id, "retired", "its last facet was moved", _kept_words(row), became, [])
            self._done.retired.append(topic_id)

    def _members(self, topic_id: str) -> list[str]:
        rows = self._connection.execute(
            """SELECT f.facet_id FROM memberships AS m JOIN facets AS f USING (facet_no)
               WHERE m.topic_no = ? ORDER BY f.facet_id""",
            (self._number(topic_id),),
        )
        return [row["facet_id"] for row in rows]

    def _row(self, topic_id: str) -> sqlite3.Row:
        row: sqlite3.Row = self._connection.execute(
            "SELECT * FROM topics WHERE profile_no = ? AND topic_id = ?", (self._profile_no, topic_id)
        ).fetchone()
        return row

    def _number(self, topic_id: str) -> int:
        return int(self._row(topic_id)["topic_no"])

    def _change(self, topic_id: str, *, aliases: str | None = None) -> None:
        self._connection.execute(
            """UPDATE topics SET version = version + 1, changed_at = ?, aliases = coalesce(?, aliases)
               WHERE profile_no = ? AND topic_id = ?""",
            (self._now, aliases, self._profile_no, topic_id),
        )

    def _event(
        self,
        topic_id: str,
        kind: str,
        reason: str,
        before: Mapping[str, object],
        after: Mapping[str, object],
        members: Sequence[str],
    ) -> None:
        read = [self._warrant.read[member] for member in members if member in self._warrant.read]
        self._connection.execute(
            """INSERT INTO topic_events (topic_no, conversation_no, at, kind, reason, before, after, evidence, proof)
               VALUES (?, NULL, ?, ?, ?, ?, ?, ?, ?)""",
            (
                self._number(topic_id),
                self._now,
                kind,
                reason,
                json.dumps(before, ensure_ascii=False),
                json.dumps(after, ensure_ascii=False),
                json.dumps([{"facet_id": r.facet_id, "entry_id": r.entry_id, "sha256": r.sha256} for r in read]),
                self._warrant.proof,
            ),
        )


def _words(words: Draft) -> dict[str, object]:
    return {"title": words.title, "description": words.description, "aliases": list(words.aliases)}


def _kept_words(row: sqlite3.Row) -> dict[str, object]:
    return {
        "topic_id": row["topic_id"],
        "title": row["title"],
        "description": row["description"],
        "aliases": json.loads(row["aliases"]),
    }
