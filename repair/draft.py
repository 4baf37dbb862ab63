"""A proposal made a plan: brought into one form, held against the topics as they are, refused with a reason.

A refusal is soft: the child reads the reason and proposes again. The same rules are held once more by the proof, from
the database, before anything is published; nothing of them rests on the child.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from recall.index.members import Member
from recall.plans import Merge, Move, NewTopic, Redefinition, TopicPlan
from recall.redact import redact_text
from recall.steps.evidence import fold
from recall.types import Draft
from repair.limits import Limits
from repair.state import View

NEW = "draft:"
"""How a child names a draft as a move's target: `draft:1`."""

Health = Callable[[Member], str | None]
"""What is wrong with a member's source, as an error code; None where its evidence stands."""


class WordsGiven(TypedDict):
    title: str
    description: str
    aliases: list[str]
    reason: str


class DraftGiven(WordsGiven):
    draft: int


class RedefinitionGiven(WordsGiven):
    topic_id: str


class MergeGiven(WordsGiven):
    topic_ids: list[str]


class MoveGiven(TypedDict):
    facet_id: str
    to: str
    reason: str


class Refused(Exception):
    """Why a proposal is not taken: a stable code and a sentence for the child."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Subject:
    """A topic whose words the plan changes or makes, with its final members: all of them have to be read and checked.

    `key` is the topic's id, or `draft:N`.
    """

    key: str
    words: Draft
    members: tuple[Member, ...]


def plan_of(
    drafts: Sequence[DraftGiven],
    redefinitions: Sequence[RedefinitionGiven],
    moves: Sequence[MoveGiven],
    merge: MergeGiven | None,
    view: View,
    order: Mapping[str, int],
) -> TopicPlan:
    """What was proposed, in one form: what changes nothing is left out, the older topic of a merge is kept.

    `order`: topic id -> its place in the catalogue, the oldest first.
    """
    made = _merge(merge, order) if merge is not None else None
    return TopicPlan(
        new=tuple(sorted((_new(one) for one in drafts), key=lambda one: one.number)),
        redefinitions=tuple(sorted(_redefined(redefinitions, view), key=lambda one: one.topic_id)),
        moves=tuple(sorted(_moved(moves, view, made), key=lambda one: one.facet_id)),
        merge=made,
    )


def check(plan: TopicPlan, view: View, incoming: Collection[str], limits: Limits, health: Health) -> None:
    """Raise Refused for the first rule that the plan breaks. `incoming`: ids of the incoming conversations."""
    if plan == TopicPlan():
        raise Refused("nothing_to_change", "the proposal changes nothing; to end without a change call finish")
    _check_limits(plan, limits)
    _check_moves(plan, view, incoming, limits, health)
    _check_topics(plan, view)
    for subject in subjects(view, plan):
        if not subject.members:
            raise Refused("no_members", f"{subject.key} would have no member; leave it out, or move a facet into it")
        for member in subject.members:
            code = health(member)
            if code is not None:
                message = f"{subject.key} would hold {member.facet_id}, whose source is deferred ({code}); leave it out"
                raise Refused("holds_deferred", message)


def subjects(view: View, plan: TopicPlan) -> tuple[Subject, ...]:
    """What has to be covered member by member: the merged topic, the redefined ones, the new ones."""
    out = {move.facet_id for move in plan.moves}
    found: list[Subject] = []
    if plan.merge is not None:
        stay = [*view.members(plan.merge.kept), *view.members(plan.merge.gone)]
        found.append(_subject(plan.merge.kept, plan.merge.words, stay, out, plan, view))
    for redefinition in plan.redefinitions:
        stay = list(view.members(redefinition.topic_id))
        found.append(_subject(redefinition.topic_id, redefinition.words, stay, out, plan, view))
    found += [_subject(f"{NEW}{new.number}", new.words, [], out, plan, view) for new in plan.new]
    return tuple(found)


def key_of(target: str | int) -> str:
    """A move's target as a child names it."""
    return f"{NEW}{target}" if isinstance(target, int) else target


def _subject(
    key: str, words: Draft, stay: Sequence[Member], out: Collection[str], plan: TopicPlan, view: View
) -> Subject:
    come = [view.member(move.facet_id) for move in plan.moves if key_of(move.target) == key]
    members = [one for one in stay if one.facet_id not in out] + [one for one in come if one is not None]
    return Subject(key, words, tuple(sorted(members, key=lambda one: one.facet_id)))


def _check_limits(plan: TopicPlan, limits: Limits) -> None:
    for name, given, most in (
        ("drafts", len(plan.new), limits.drafts),
        ("redefinitions", len(plan.redefinitions), limits.redefinitions),
    ):
        if given > most:
            raise Refused(f"too_many_{name}", f"{given} {name}; {most} are the most")
    numbers = [new.number for new in plan.new]
    if len(set(numbers)) != len(numbers):
        raise Refused("draft_twice", "two drafts have one number")
    moved = [move.facet_id for move in plan.moves]
    if len(set(moved)) != len(moved):
        raise Refused("facet_twice", "a facet is moved twice")
    named = [one.topic_id for one in plan.redefinitions] + ([plan.merge.kept, plan.merge.gone] if plan.merge else [])
    if len(set(named)) != len(named):
        raise Refused("topic_twice", "a topic is redefined or merged twice; the words of a merge stand in the merge")


def _check_topics(plan: TopicPlan, view: View) -> None:
    for topic_id in plan.touched:
        if view.card(topic_id) is None:
            raise Refused("unknown_topic", f"there is no topic {topic_id[:40]!r}; repair_topics lists them")
    numbers = {new.number for new in plan.new}
    for move in plan.moves:
        if isinstance(move.target, int) and move.target not in numbers:
            raise Refused("unknown_draft", f"{move.facet_id} goes to draft {move.target}, which is not in the proposal")
        if plan.merge is not None and move.target == plan.merge.gone:
            raise Refused("merged_away", f"{move.facet_id} goes to {move.target}, which the merge takes away")


def _check_moves(plan: TopicPlan, view: View, incoming: Collection[str], limits: Limits, health: Health) -> None:
    of_history = of_incoming = 0
    for move in plan.moves:
        member = view.member(move.facet_id)
        if member is None or member.topic_id != move.source:
            raise Refused("unknown_facet", f"there is no facet {move.facet_id[:40]!r}; repair_members lists them")
        if member.conversation_id in incoming:
            of_incoming += 1
        else:
            of_history += 1
        if (code := health(member)) is not None:
            raise Refused("deferred", f"the source of {move.facet_id} is deferred ({code}); it cannot be moved")
    if of_history > limits.moves:
        raise Refused("too_many_moves", f"{of_history} facets of history are moved; {limits.moves} are the most")
    if of_incoming > limits.incoming_moves:
        message = f"{of_incoming} incoming facets are moved; {limits.incoming_moves} are the most"
        raise Refused("too_many_incoming_moves", message)


def _new(given: DraftGiven) -> NewTopic:
    return NewTopic(given["draft"], _words(given), _said(given["reason"]))


def _redefined(given: Sequence[RedefinitionGiven], view: View) -> list[Redefinition]:
    made = [Redefinition(one["topic_id"], _words(one), _said(one["reason"])) for one in given]
    return [one for one in made if not _same(one, view)]


def _same(one: Redefinition, view: View) -> bool:
    card = view.card(one.topic_id)
    if card is None:
        return False
    known = {alias.casefold() for alias in (card.title, *card.aliases)}
    same = (card.title, card.description) == (one.words.title, one.words.description)
    return same and all(alias.casefold() in known for alias in one.words.aliases)


def _moved(given: Sequence[MoveGiven], view: View, merge: Merge | None) -> list[Move]:
    moves = []
    for one in given:
        member = view.member(one["facet_id"])
        move = Move(one["facet_id"], member.topic_id if member else "", _target(one["to"]), _said(one["reason"]))
        if merge is not None and move.target == merge.gone:
            move = replace(move, target=merge.kept)
        inside = merge is not None and move.source == merge.gone and move.target == merge.kept
        if move.target != move.source and not inside:
            moves.append(move)
    return moves


def _target(to: str) -> str | int:
    number = to.removeprefix(NEW)
    return int(number) if number != to and number.isascii() and number.isdigit() and len(number) < 4 else to


def _merge(given: MergeGiven, order: Mapping[str, int]) -> Merge:
    # Unknown ids come last; the check names them.
    kept, gone = sorted(given["topic_ids"], key=lambda topic_id: order.get(topic_id, len(order)))
    return Merge(kept, gone, _words(given), _said(given["reason"]))


def _words(given: WordsGiven) -> Draft:
    title, description = _said(given["title"]), _said(given["description"])
    if not title or not description:
        raise Refused("no_words", "a topic needs a title and a description")
    names = {alias.casefold(): alias for alias in map(_said, reversed(given["aliases"])) if alias}
    names.pop(title.casefold(), None)
    return Draft(title, description, tuple(reversed(names.values())))


def _said(text: str) -> str:
    """What a child wrote, as it is kept: on one line, without secrets."""
    return fold(redact_text(text))
