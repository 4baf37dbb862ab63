"""How well search finds what answers a question, layer by layer, beside other ways to search.

    python -m benchmarks.retrieval --data DIR [--out FILE] [--layers keyword,neighbours,curated,rewrite] [--baselines]

DIR holds labelled sets (`<set>/<profile>/…`), or is one set or one profile. Each profile goes through the product:
indexed, then searched. Layers add up in the order given:

    keyword      the words of the entry itself
    neighbours   and of the turns beside it, the block around it, the conversation as a whole, and other words for it
    always       the same without the floor: an answer whatever is asked, as the engines of `--baselines` give one
    offline      and what the built-in analyser wrote about it
    curated      what a strong model wrote instead, recorded in `curation.jsonl` (where there is none: offline)
    vocabulary   and the profile's own names for what is asked: rewriting without a model
    rewrite      instead of these the rewrites of a strong model, recorded in `rewrites.jsonl` (where there are any)

Recorded replies go through the product's own analysis and rewriting. Questions of the category `adversarial` count
under `by_category` only. `abstention`: 200 questions of each set put to a profile of another, and the questions that
nothing answers: the share that gets an answer.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import baselines, profiles
from benchmarks.abstention import Abstention
from benchmarks.measures import Judged, figures, percentile
from benchmarks.profiles import Entry, Profile, Question
from recall import rewriting, searcher
from recall.run import Run
from recall.settings import OFFLINE
from recall.weights import WEIGHTS, Weights

DEFAULT_LAYERS = ("keyword", "neighbours", "curated", "rewrite")
LAYERS = ("keyword", "neighbours", "always", "offline", "curated", "vocabulary", "rewrite")
RECORDED = frozenset({"curated", "vocabulary", "rewrite"})
REWRITING = frozenset({"vocabulary", "rewrite"})
ASIDE = "adversarial"
_UNCURATED = replace(WEIGHTS, curated={})
_WEIGHTS = {
    "keyword": replace(_UNCURATED, before=(), after=(), block=0.0, conversation=0.0, related=0.0),
    "neighbours": _UNCURATED,
    "always": replace(_UNCURATED, floor=0.0),
}
Ask = Callable[[str], list[Entry]]


@dataclass
class Layer:
    """What one layer came to over the profiles of a set."""

    entries: list[Judged] = field(default_factory=list)
    conversations: list[Judged] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    current_first: list[bool] = field(default_factory=list)

    def ask(self, questions: Iterable[Question], ask: Ask) -> None:
        for question in questions:
            if not question.gold:
                continue
            began = time.perf_counter()
            found = ask(question.text)
            self.seconds.append(time.perf_counter() - began)
            self.entries.append(Judged.of(found, question.gold))
            order = dict.fromkeys(conversation for conversation, _ in found)
            self.conversations.append(Judged.of(order, {conversation for conversation, _ in question.gold}))
            self.categories.append(question.category)
            if question.stale:
                self.current_first.append(_current_first(found, question))

    def as_json(self) -> dict[str, Any]:
        counted = [place for place, category in enumerate(self.categories) if category != ASIDE]
        made: dict[str, Any] = {
            "entry": figures([self.entries[place] for place in counted]),
            "conversation": figures([self.conversations[place] for place in counted]),
            "by_category": {
                category: {
                    "entry": figures(
                        [one for one, of in zip(self.entries, self.categories, strict=True) if of == category]
                    ),
                    "conversation": figures(
                        [one for one, of in zip(self.conversations, self.categories, strict=True) if of == category]
                    ),
                    "questions": self.categories.count(category),
                }
                for category in sorted(set(self.categories))
            },
            "latency_ms": {f"p{share:.0f}": 1000 * percentile(self.seconds, share / 100) for share in (50, 95)},
            "questions": len(counted),
        }
        if self.current_first:
            made["current_above_stale"] = sum(self.current_first) / len(self.current_first)
        return made


def _current_first(found: Sequence[Entry], question: Question) -> bool:
    """Whether the current answer stands above every overtaken one."""
    places = {entry: place for place, entry in reversed(list(enumerate(found)))}
    nowhere = len(found)
    current = min(places.get(entry, nowhere) for entry in question.gold)
    return current < nowhere and current < min(places.get(entry, nowhere) for entry in question.stale)


def searching(run: Run, layer: str) -> Ask:
    """The search of one layer, in the product."""
    names = profiles.entry_names(run.database)
    weights: Weights = _WEIGHTS.get(layer, WEIGHTS)
    if layer == "vocabulary":
        run = replace(run, settings=replace(run.settings, model=OFFLINE), choose=None)
    rewrite = rewriting.rewriter(run) if layer in REWRITING else None

    def ask(text: str) -> list[Entry]:
        with run.database.read() as connection:
            filters = searcher.default_filters(1)
            rewritten = rewrite([text], filters) if rewrite else rewriting.NOT_ASKED
            found = searcher.rank(connection, filters, [text], weights, rewritten)
        return [names[hit.entry_no] for hit in found]

    return ask


def measure(found: Sequence[Profile], layers: Sequence[str], *, with_baselines: bool) -> dict[str, Any]:
    """The figures of all profiles."""
    sets: dict[str, dict[str, Layer]] = {}
    beside: dict[str, dict[str, Layer]] = {}
    abstention = Abstention(found)
    for profile in found:
        made = sets.setdefault(profile.set_name, {layer: Layer() for layer in layers})
        for recorded in (False, True):
            wanted = [layer for layer in layers if (layer in RECORDED and profile.curated) == recorded]
            if not wanted:
                continue
            with profiles.indexed(profile, recorded=recorded) as run:
                for layer in wanted:
                    made[layer].ask(profile.questions(), searching(run, layer))
                abstention.ask(profile, wanted, partial(searching, run))
        if with_baselines:
            kept = beside.setdefault(profile.set_name, {})
            for name, ask in baselines.engines(profile):
                kept.setdefault(name, Layer()).ask(profile.questions(), ask)
    return {
        "sets": {name: {layer: one.as_json() for layer, one in made.items()} for name, made in sets.items()},
        "baselines": {name: {engine: one.as_json() for engine, one in made.items()} for name, made in beside.items()},
        "abstention": abstention.as_json(),
    }


_COLUMNS = (
    ("entry", ("R@1", "R@5", "R@10", "H@1", "H@5", "H@10", "MRR", "nDCG@10")),
    ("conversation", ("R@1", "R@5", "H@1", "H@5", "MRR")),
)


def table(figures: dict[str, Any]) -> str:
    """The figures for a reader."""
    lines: list[str] = []
    for name, made in figures["sets"].items():
        heads = [
            f"{'conv. ' if level == 'conversation' else ''}{column}"
            for level, columns in _COLUMNS
            for column in columns
        ]
        questions = max((one["questions"] for one in made.values()), default=0)
        lines += [
            "",
            f"{name}, {questions} questions",
            f"{'':24}" + "".join(f"{head:>11}" for head in heads) + "     p50 ms",
        ]
        rows = [*made.items(), *figures["baselines"].get(name, {}).items()]
        for layer, one in rows:
            values = [one[level][column] for level, columns in _COLUMNS for column in columns]
            lines.append(
                f"{layer:24}" + "".join(f"{value:11.3f}" for value in values) + f"{one['latency_ms']['p50']:11.1f}"
            )
        for layer, one in made.items():
            if "current_above_stale" in one:
                lines.append(
                    f"  {layer}: the current answer above the overtaken one in {one['current_above_stale']:.2f}"
                )
    for layer, one in figures["abstention"].items():
        lines.append(f"questions that nothing answers, answered nevertheless, {layer}: {_shares(one)}")
    return "\n".join(lines)


def _shares(one: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value['answered']:.3f} of {value['questions']}" for name, value in one.items())


def main() -> None:
    parser = argparse.ArgumentParser(description="Search on labelled sets, layer by layer.")
    parser.add_argument("--data", type=Path, required=True, help="a folder of sets, a set, or one profile")
    parser.add_argument("--out", type=Path, help="write the figures as JSON here")
    parser.add_argument("--layers", default=",".join(DEFAULT_LAYERS), help=f"of {', '.join(LAYERS)}")
    parser.add_argument("--baselines", action="store_true", help="also other engines (dev-only packages)")
    options = parser.parse_args()
    layers = options.layers.split(",")
    unknown = [layer for layer in layers if layer not in LAYERS]
    found = profiles.found_in(options.data)
    if unknown or not found:
        parser.error(f"no layer {unknown[0]}" if unknown else f"no labelled profile in {options.data}")
    made = measure(found, layers, with_baselines=options.baselines)
    print(table(made))
    if options.out:
        options.out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
