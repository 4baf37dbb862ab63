"""Questions that nothing in a profile answers: those of another set, and those that a set itself has.

The question of a person about another person's life, or of a developer about a system that the profile never saw, has
no answer there. What share gets one nevertheless is the figure; the questions are a fixed choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.profiles import Entry, Profile

QUESTIONS = 200


class Abstention:
    """Counts, by layer, of questions put and answered."""

    def __init__(self, found: Sequence[Profile]) -> None:
        self._strange = _strange(found)
        self._counts: dict[str, dict[str, list[bool]]] = {}

    def ask(
        self, profile: Profile, layers: Sequence[str], searching: Callable[[str], Callable[[str], list[Entry]]]
    ) -> None:
        """Put the questions that belong to this profile."""
        own = [question.text for question in profile.questions() if not question.gold]
        for layer in layers:
            ask = searching(layer)
            self._count(layer, f"{profile.set_name} unanswerable", own, ask)
            for other, questions in self._strange.get(profile.name, ()):
                self._count(layer, f"{other} to {profile.set_name}", questions, ask)

    def _count(self, layer: str, name: str, questions: Sequence[str], ask: Callable[[str], list[Entry]]) -> None:
        if questions:
            counts = self._counts.setdefault(layer, {}).setdefault(name, [])
            counts += [bool(ask(question)) for question in questions]

    def as_json(self) -> dict[str, Any]:
        return {
            layer: {
                name: {"answered": sum(answered) / len(answered), "questions": len(answered)}
                for name, answered in counts.items()
            }
            for layer, counts in self._counts.items()
        }


def _strange(found: Sequence[Profile]) -> dict[str, list[tuple[str, list[str]]]]:
    """Profile -> (name of another set, questions of it). Among profiles of one set: of another profile."""
    by_set: dict[str, list[Profile]] = {}
    for profile in found:
        by_set.setdefault(profile.set_name, []).append(profile)
    groups = list(by_set.values()) if len(by_set) > 1 else [[profile] for profile in found]
    if len(groups) < 2:
        return {}
    strange: dict[str, list[tuple[str, list[str]]]] = {}
    for place, group in enumerate(groups):
        others = groups[(place + 1) % len(groups)]
        texts = [question.text for profile in group for question in profile.questions() if question.gold]
        chosen = random.Random(4).sample(texts, min(QUESTIONS, len(texts)))
        strange.setdefault(others[0].name, []).append((group[0].set_name, chosen))
    return strange
