"""Answers about forgetting and carrying along, as a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recall.surfaces.terminal import one_line, visible

Answer = Mapping[str, Any]


def _forget(answer: Answer) -> Iterable[str]:
    if "unforgotten" in answer:
        for name in answer["unforgotten"]:
            yield f"{one_line(name)} may be indexed again"
        return
    for row in answer["forgotten"]:
        name = row["conversation_id"] or f"{row['host']}:{one_line(row['host_conversation_id'])}"
        yield f"{'would forget' if answer['dry_run'] else 'forgotten'}  {name}"
    if not answer["forgotten"]:
        yield "nothing to forget"
    rows = ", ".join(f"{number} {name}" for name, number in answer["layers"].items() if number)
    if rows:
        yield f"rows: {rows}"
    for path in answer["backups"]:
        yield f"{'would remove' if answer['dry_run'] else 'removed'} the backup {one_line(path)}"
    if not answer["dry_run"]:
        yield from _proof(answer["proof"])
        yield from _words(answer["words"])


def _words(words: Answer) -> Iterable[str]:
    if words["by_model"]:
        yield f"{len(words['by_model'])} topics worded anew by the model ({words['calls']} requests)"
    if words["extractive"]:
        why = f" ({one_line(words['message'])})" if words["message"] else ""
        yield f"{len(words['extractive'])} topics have the words of what is left in them{why}"


def _proof(proof: Answer) -> Iterable[str]:
    if proof["ok"]:
        yield f"proved: vocabulary checked, {proof['words_looked_for']} words looked for in the files, none is left"
    if proof["pending"]:
        yield "pending: another process holds the index open; run the command again when it has ended"
    for name, words in proof["left_over"].items():
        yield f"still in {one_line(name)}: {len(words)} words"
    if not proof["vocabulary"]:
        yield "the text index does not add up; run `history-recall doctor --rebuild-text-index`"


def _brief(answer: Answer) -> Iterable[str]:
    if said := answer["text"] or answer["message"]:
        yield visible(said)


def _export(answer: Answer) -> Iterable[str]:
    if answer["output"]:
        yield f"{answer['kind']} written to {one_line(answer['output'])} ({answer['characters']} characters)"
    else:
        yield visible(answer["text"])


def _import(answer: Answer) -> Iterable[str]:
    yield f"{answer['imported']} conversations taken in, {answer['unchanged']} were there already"
    for conflict in answer["conflicts"]:
        yield f"left as it is here: {one_line(conflict['name'])}: {one_line(conflict['reason'])}"


RENDERERS: dict[str, Callable[[Answer], Iterable[str]]] = {
    "brief": _brief,
    "forget": _forget,
    "export": _export,
    "import": _import,
}
