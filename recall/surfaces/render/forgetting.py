"""What was forgotten, and the proof of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers
from recall.surfaces.terminal import one_line

# What a layer of the index holds, one of it, in a person's words.
_LAYERS = {
    "conversations": "conversation",
    "entries": "entry",
    "facets": "facet",
    "findings": "finding",
    "evidence": "cited passage",
    "memberships": "place in a topic",
    "supersessions": "note of what replaced what",
    "topic_events": "event in a topic's life",
    "placeholders": "placeholder",
    "queue": "source that waited",
    "model_cache": "kept model reply",
    "scrubbed": "text of another row emptied",
}
_SEVERAL = {
    "memberships": "places in topics",
    "supersessions": "notes of what replaced what",
    "topic_events": "events in the life of topics",
    "queue": "sources that waited",
    "scrubbed": "texts of other rows emptied",
}


def _forget(answer: Answer) -> Iterable[str]:
    if "unforgotten" in answer:
        for name in answer["unforgotten"]:
            yield f"{one_line(name)} may be indexed again: `history-recall index {one_line(name)}`"
        return
    for row in answer["forgotten"]:
        name = row["conversation_id"] or f"{row['host']}:{one_line(row['host_conversation_id'])}"
        yield f"{'would forget' if answer['dry_run'] else 'forgotten'}  {name}"
    if not answer["forgotten"]:
        yield "nothing to forget"
    held = ", ".join(_held(name, number) for name, number in answer["layers"].items() if number)
    if held:
        yield f"with it: {held}"
    yield from _copies(answer["copies"])
    for path in answer["backups"]:
        yield f"{'would remove' if answer['dry_run'] else 'removed'} the backup {one_line(path)}"
    if not answer["dry_run"]:
        yield from _proof(answer["proof"])
        yield from _words(answer["words"])


def _copies(held: Sequence[Answer]) -> Iterable[str]:
    """What a person has to know who thinks that it is gone: where it stands still, and how it goes from there."""
    for row in held:
        name = row["conversation_id"] or f"{row['host']}:{one_line(row['host_conversation_id'])}"
        what = "is a fork of it that is not indexed yet" if row["entries"] is None else ""
        what = what or f"holds {count(row['entries'], 'copied entry')} of it and stays"
        yield f"{name} {what}: `history-recall forget {name}`"


def _held(layer: str, number: int) -> str:
    if number != 1 and layer in _SEVERAL:
        return f"{number} {_SEVERAL[layer]}"
    return count(number, _LAYERS[layer])


def _words(words: Answer) -> Iterable[str]:
    if words["by_model"]:
        yield f"{count(len(words['by_model']), 'topic')} worded anew by the model ({count(words['calls'], 'request')})"
    if words["extractive"]:
        why = f" ({one_line(words['message'])})" if words["message"] else ""
        yield f"{count(len(words['extractive']), 'topic')} worded anew from what is left{why}"


def _proof(proof: Answer) -> Iterable[str]:
    if proof["ok"]:
        looked_for, elsewhere = proof["words_looked_for"], proof["words_elsewhere"]
        alone = f"{count(looked_for, 'word')} that nothing else has looked for in the files, none is left"
        alone = alone if looked_for else "no word to look for in the files that nothing else has"
        others = f" ({count(elsewhere, 'word')} of it stand in other conversations too)" if elsewhere else ""
        yield f"proved: vocabulary checked, {alone}{others}"
    if proof["pending"]:
        yield "pending: another process holds the index open; run the command again when it has ended"
    for path in proof["backups_left"]:
        yield f"the backup {one_line(path)} could not be removed: it holds what was forgotten"
    for name, words in proof["left_over"].items():
        yield f"still in {one_line(name)}: {count(len(words), 'word')}"
    if not proof["vocabulary"]:
        yield "the text index does not add up; run `history-recall doctor --rebuild-text-index`"


RENDERERS: Renderers = {
    "forget": _forget,
}
