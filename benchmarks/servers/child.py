"""A scripted repair child: a model that makes real tool calls and knows nothing but what the messages show it.

What a facet is about it learns from the original that it reads, by the planted word, or from its title where an earlier
run has read it; what a topic is about, from its title. It reads everything that it is told to before it speaks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.generated import History, Subject
from benchmarks.servers.script import ToolCall, Turn
from benchmarks.servers.sight import Arguments, Call, Facet, Reading, Sight

Child = Callable[[Mapping[str, Any]], Turn]

_MOST = 32
_AT_ONCE = 6  # members that are read and covered in one turn
_PAGE = 12_000
_MOVES, _INCOMING_MOVES = 8, 5


class Careful:
    """Reads what is to be read, judges, proposes what the judgement asks for, proves it, ends."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.look = Reading(history)

    def __call__(self, body: Mapping[str, Any]) -> Turn:
        return turn_of(self.calls(self.look(body["messages"])))

    def calls(self, sight: Sight) -> list[Call]:
        """The next turn."""
        standing = sight.standing
        if sight.full and sight.unnoted:
            return [self._note(sight, *read) for read in sorted(sight.unnoted)]
        if standing.get("proposal_id"):
            if standing.get("do_not_fit") or sight.refused:
                return [finish(None, "not all members fit")]
            # A check frees the room that its page and its text take.
            most = _AT_ONCE // 2 if sight.full else _AT_ONCE
            made = self.checks(sight) or reads(standing)[:most] + _pages(standing)[:most]
            return made or [finish(standing["proposal_id"], "every member was read and checked")]
        if sight.refused:
            return [finish(None, "the proposal was refused")]
        unread = self._unread(sight)
        if unread:
            return unread
        plan, wanted = self.judge(sight)
        if wanted:
            return wanted
        return [("repair_propose", plan)] if plan else [finish(None, "every audited facet is where it belongs")]

    def judge(self, sight: Sight) -> tuple[Arguments, list[Call]]:
        """The proposal, or what has to be seen before there can be one."""
        strays = [one for one in sight.facets.values() if self._is_stray(sight, one)]
        homes = {one.facet_id: self._home(sight, one) for one in strays}
        if None in homes.values() and sight.catalogue_seen < (sight.catalogue_pages or 1):
            return {}, [("repair_topics", {"page": sight.catalogue_seen + 1})]
        moves = [_move(one, home) for one in strays if (home := homes[one.facet_id]) is not None]
        merge = self._merge(sight)
        if merge is not None:
            return self._plan(sight, moves, {"merge": merge})
        for one in strays:
            subject = self._about(one)
            if homes[one.facet_id] is None and subject is not None:
                return self._draft(sight, one.topic_id, subject)
        stale = self._stale(sight)
        return self._plan(sight, moves, {}) if stale is None else self._redefined(sight, moves, *stale)

    def _draft(self, sight: Sight, topic_id: str, subject: Subject) -> tuple[Arguments, list[Call]]:
        """A topic of its own for what is mixed into another one."""
        if unlisted := _unlisted(sight, topic_id):
            return {}, unlisted
        inside = [one for one in sight.facets.values() if one.topic_id == topic_id and self._about(one) is subject]
        draft = {"draft": 1, **_words(subject), "reason": "a second subject in one topic"}
        return self._plan(sight, [_move(one, "draft:1") for one in inside], {"drafts": [draft]})

    def _redefined(
        self, sight: Sight, moves: list[Arguments], topic_id: str, subject: Subject
    ) -> tuple[Arguments, list[Call]]:
        """New words for a topic, and out of it what they do not fit."""
        if unlisted := _unlisted(sight, topic_id):
            return {}, unlisted
        known = {move["facet_id"] for move in moves}
        for one in sight.facets.values():
            if one.topic_id == topic_id and one.facet_id not in known and self._about(one) is not subject:
                home = self._home(sight, one)
                moves += [_move(one, home)] if home is not None else []
        redefinition = {"topic_id": topic_id, **_words(subject), "reason": "its name changed"}
        return self._plan(sight, moves, {"redefinitions": [redefinition]})

    @staticmethod
    def _plan(sight: Sight, moves: Sequence[Arguments], more: Arguments) -> tuple[Arguments, list[Call]]:
        moves = _bounded(sight, moves)
        return more | ({"moves": moves} if moves else {}), []

    def checks(self, sight: Sight) -> list[Call]:
        """A verdict on each page that has none."""
        target = self._target(sight)
        made: list[Call] = []
        for one in sight.standing.get("to_check", ()):
            facet = sight.facets.get(one["facet_id"])
            about = self._about(facet) if facet is not None else None
            fits = about is not None and (not target or about.number in target)
            reason = "about this component" if fits else "about another component"
            said = {"page_id": one["page_id"], "receipt_id": one["receipt_id"], "fits": fits, "reason": reason}
            made.append(("repair_check", said))
        return made

    def _target(self, sight: Sight) -> set[int]:
        """The subjects that the proposed topics are about."""
        named = [self._history.named(title) for title in sight.proposed]
        return {one[0].number for one in named if one is not None}

    def _about(self, facet: Facet) -> Subject | None:
        """What a facet is about: as read, else as its title has it."""
        if facet.subject is not None:
            return facet.subject
        named = self._history.named(facet.title)
        return named[0] if named is not None else None

    def _topic(self, sight: Sight, topic_id: str) -> tuple[Subject, bool] | None:
        return self._history.named(sight.titles.get(topic_id, ""))

    def _is_stray(self, sight: Sight, facet: Facet) -> bool:
        topic = self._topic(sight, facet.topic_id)
        about = self._about(facet)
        return about is not None and topic is not None and topic[0] is not about

    def _home(self, sight: Sight, facet: Facet) -> str | None:
        """The topic that a facet belongs in, among those in sight."""
        about = self._about(facet)
        found = (topic_id for topic_id in sight.titles if (named := self._topic(sight, topic_id)) and named[0] is about)
        return next(found, None)

    def _merge(self, sight: Sight) -> Arguments | None:
        by_subject: dict[int, list[str]] = {}
        for topic_id in sight.titles:
            named = self._topic(sight, topic_id)
            if named is not None:
                by_subject.setdefault(named[0].number, []).append(topic_id)
        for number, topics in by_subject.items():
            if len(topics) > 1:
                words = _words(self._history.subjects[number])
                return {"topic_ids": topics[:2], **words, "reason": "both are about one component"}
        return None

    def _stale(self, sight: Sight) -> tuple[str, Subject] | None:
        """A topic that goes by a name which its later members do not use."""
        for topic_id in sight.titles:
            named = self._topic(sight, topic_id)
            members = [one for one in sight.facets.values() if one.topic_id == topic_id]
            now = [self._history.named(one.title) for one in members]
            if named is not None and named[1] and (named[0], False) in now:
                return topic_id, named[0]
        return None

    def _unread(self, sight: Sight) -> list[Call]:
        """What is to be read, and one entry of each incoming facet that looks out of place."""
        known = {one["facet_id"] for one in sight.standing.get("to_read", ())}
        calls = reads(sight.standing)
        for one in sight.facets.values():
            topic = self._topic(sight, one.topic_id)
            in_place = topic is not None and topic[0] is self._about(one)
            if one.incoming and one.cites and one.facet_id not in known and sight.turns == 0 and not in_place:
                calls += _whole(one.facet_id, one.cites[0]["entry_id"], 0, one.cites[0]["chars"])
        return calls

    def _note(self, sight: Sight, facet_id: str, entry_id: str) -> Call:
        facet = sight.facets.get(facet_id)
        about = self._about(facet) if facet is not None else None
        note = f"about the {about.name}" if about is not None else "unclear"
        return "repair_read", {"facet_id": facet_id, "entry_id": entry_id, "remember": note}


def turn_of(calls: Sequence[Call]) -> Turn:
    made = tuple(
        ToolCall(name, json.dumps(arguments, ensure_ascii=False), f"call_{place}_{_hash(arguments)}")
        for place, (name, arguments) in enumerate(calls[:_MOST], start=1)
    )
    return Turn("tools", calls=made, finish="tool_calls", piece=200)


def _hash(arguments: Arguments) -> str:
    """A few letters that are the same for the same arguments."""
    return hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()[:8]


def finish(proposal_id: str | None, reason: str) -> Call:
    return "finish", {"proposal_id": proposal_id, "reason": reason}


def reads(standing: Mapping[str, Any]) -> list[Call]:
    return [
        call
        for one in standing.get("to_read", ())
        for call in _whole(one["facet_id"], one["entry_id"], one["offset"], one["chars"])
    ]


def _whole(facet_id: str, entry_id: str, start: int, chars: int) -> list[Call]:
    """The calls that read an entry to its end."""
    head = {"facet_id": facet_id, "entry_id": entry_id, "max_chars": _PAGE}
    return [("repair_read", {**head, "offset": offset}) for offset in range(start, chars, _PAGE)]


def _pages(standing: Mapping[str, Any]) -> list[Call]:
    return [
        ("repair_coverage", {"topic": one["topic"], "page": page})
        for one in standing.get("to_cover", ())
        for page in one["pages"]
    ]


def _unlisted(sight: Sight, topic_id: str) -> list[Call]:
    """The call for the next page of a topic's members; none where all were seen."""
    seen, pages = sight.listed.get(topic_id, (0, 1))
    return [("repair_members", {"topic_id": topic_id, "page": seen + 1})] if seen < pages else []


def _move(facet: Facet, target: str) -> Arguments:
    return {"facet_id": facet.facet_id, "to": target, "reason": "its original is about that component"}


def _bounded(sight: Sight, moves: Sequence[Arguments]) -> list[Arguments]:
    incoming = [one for one in moves if sight.facets[one["facet_id"]].incoming][:_INCOMING_MOVES]
    history = [one for one in moves if not sight.facets[one["facet_id"]].incoming][:_MOVES]
    return history + incoming


def _words(subject: Subject) -> Arguments:
    description = f"{subject.name}: {subject.code}, {subject.part}, {subject.other}."
    return {"title": subject.name, "description": description, "aliases": [*subject.identifiers, subject.code]}
