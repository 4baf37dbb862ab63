"""The topics as a run sees them: frozen for the child, and once more from the database inside the publication.

Both are a `View`, so that the proof is made by the same code from either. The frozen one is the catalogue as it will be
once the incoming conversation is published (seen in a rehearsal that was rolled back); members of a topic are read
when they are first asked for, and a topic that another run changed meanwhile ends the run with `topic_state_changed`.
Nothing here knows what a child may do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from recall.errors import StateError
from recall.index import members, topics
from recall.index.database import Database
from recall.index.members import Cited, Member
from recall.plans import Receipt
from recall.shown import safe
from recall.types import TopicCard

StagedText = Callable[[str], tuple[str, str] | None]
"""From an entry id of the incoming conversation to (redacted text, hash of the record)."""


@dataclass(frozen=True, slots=True)
class EntryText:
    """An entry's text as it may be shown, and the hash of its record."""

    text: str
    sha256: str


class View(Protocol):
    """The topics, their members, and what these cite."""

    def card(self, topic_id: str) -> TopicCard | None:
        """A live topic."""
        ...

    def members(self, topic_id: str) -> tuple[Member, ...]: ...

    def member(self, facet_id: str) -> Member | None: ...

    def text(self, member: Member, entry_id: str) -> EntryText | None:
        """What stands in an entry that the member cites; None where it is not what was cited."""
        ...

    def earlier(self, member: Member) -> tuple[Receipt, ...]:
        """Receipts of earlier published runs."""
        ...


class Stored:
    """The view of an open connection: inside the publishing transaction, what is being published."""

    def __init__(self, connection: sqlite3.Connection, profile_no: int) -> None:
        self._connection = connection
        self._profile_no = profile_no

    def card(self, topic_id: str) -> TopicCard | None:
        return next(iter(topics.cards(self._connection, self._profile_no, topic_id)), None)

    def members(self, topic_id: str) -> tuple[Member, ...]:
        return members.of_topic(self._connection, self._profile_no, topic_id)

    def member(self, facet_id: str) -> Member | None:
        return members.one(self._connection, self._profile_no, facet_id)

    def text(self, member: Member, entry_id: str) -> EntryText | None:
        row = members.entry_text(self._connection, member.conversation_no, entry_id)
        if row is None or row["sha256"] not in {one.sha256 for one in member.cited if one.entry_id == entry_id}:
            return None
        return EntryText(safe(row["text"], row["rules_version"]), row["sha256"])

    def earlier(self, member: Member) -> tuple[Receipt, ...]:
        return members.earlier_receipts(self._connection, member.facet_no)


@dataclass(frozen=True, slots=True)
class Incoming:
    """The conversation that is being published: its facets where placement put them, and its staged text."""

    conversation_id: str
    members: tuple[Member, ...]
    staged: StagedText


class Frozen:
    """The view of a run. `cards` as they will be, oldest first; `before`: the versions that the database has now."""

    def __init__(
        self,
        database: Database,
        profile_no: int,
        cards: Sequence[TopicCard],
        before: Mapping[str, int],
        incoming: Incoming | None = None,
    ) -> None:
        self.cards = tuple(cards)
        self._by_id = {card.topic_id: card for card in cards}
        self._before = before
        self._database = database
        self._profile_no = profile_no
        self._own = incoming
        self._own_members = (
            {one.facet_id: _staged(one, incoming.staged) for one in incoming.members} if incoming else {}
        )
        self._members: dict[str, tuple[Member, ...]] = {}

    def card(self, topic_id: str) -> TopicCard | None:
        return self._by_id.get(topic_id)

    def members(self, topic_id: str) -> tuple[Member, ...]:
        if topic_id not in self._members:
            own = [one for one in self._own_members.values() if one.topic_id == topic_id]
            kept = [one for one in self._stored_members(topic_id) if not self._is_own(one)]
            self._members[topic_id] = tuple(sorted([*kept, *own], key=lambda one: one.facet_id))
        return self._members[topic_id]

    def member(self, facet_id: str) -> Member | None:
        if facet_id in self._own_members:
            return self._own_members[facet_id]
        with self._database.read() as connection:
            found = members.one(connection, self._profile_no, facet_id)
        if found is None or self._is_own(found) or found.topic_id not in self._by_id:
            return None
        # What counts is the topic as it was seen.
        return next((one for one in self.members(found.topic_id) if one.facet_id == facet_id), None)

    def text(self, member: Member, entry_id: str) -> EntryText | None:
        if self._own is not None and member.conversation_id == self._own.conversation_id:
            found = self._own.staged(entry_id)
            hashes = {one.sha256 for one in member.cited if one.entry_id == entry_id}
            return EntryText(*found) if found is not None and found[1] in hashes else None
        with self._database.read() as connection:
            return Stored(connection, self._profile_no).text(member, entry_id)

    def earlier(self, member: Member) -> tuple[Receipt, ...]:
        if self._is_own(member):
            return ()
        with self._database.read() as connection:
            return members.earlier_receipts(connection, member.facet_no)

    def _is_own(self, member: Member) -> bool:
        return self._own is not None and member.conversation_id == self._own.conversation_id

    def _stored_members(self, topic_id: str) -> tuple[Member, ...]:
        before = self._before.get(topic_id)
        if before is None:  # made by this publication
            return ()
        with self._database.read() as connection:
            topics.check_versions(connection, self._profile_no, {topic_id: before})
            return members.of_topic(connection, self._profile_no, topic_id)


def freeze(
    database: Database,
    profile_no: int,
    publish: Callable[[sqlite3.Connection], str] | None = None,
    staged: StagedText | None = None,
) -> Frozen:
    """The topics as they are; or as they will be after `publish`, which is rehearsed and gives a conversation's id."""
    if publish is None or staged is None:
        with database.read() as connection:
            cards = topics.cards(connection, profile_no)
        return Frozen(database, profile_no, cards, {card.topic_id: card.version for card in cards})
    with database.rehearsal() as connection:
        before = {card.topic_id: card.version for card in topics.cards(connection, profile_no)}
        conversation_id = publish(connection)
        own = Incoming(conversation_id, members.of_conversation(connection, profile_no, conversation_id), staged)
        cards = topics.cards(connection, profile_no)
    return Frozen(database, profile_no, cards, before, own)


def lost(topic_id: str) -> StateError:
    """A topic, or a facet of it, that is no longer where the run saw it."""
    message = f"Topic {topic_id} changed while it was being repaired; nothing was published"
    return StateError("topic_state_changed", message, "run the command again", {"topic_id": topic_id})


def _staged(member: Member, staged: StagedText) -> Member:
    """A facet of the incoming conversation: what it cites stands in the staging table, not yet in the index."""
    cited = []
    for one in member.cited:
        found = staged(one.entry_id)
        stands = found is not None and found[1] == one.sha256
        cited.append(Cited(one.entry_id, one.sha256, len(found[0]) if found is not None and stands else 0, stands))
    return replace(member, cited=tuple(cited))
