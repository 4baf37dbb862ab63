"""Worlds: an empty one, and one where one of two conversations is indexed and the other is waiting."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.process.world import Visible, World, visible

OPENING = "Where does the oriole feeder hang, and who fills it in winter?"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


def short_talk() -> list[str]:
    return [
        OPENING,
        "It hangs at the gannet gate; the warden fills it.",
        "Does the lid hold?",
        "The new lid works, it was fixed in March.",
    ]


def long_talk(paragraphs: int = 70) -> list[str]:
    """Some chunks of the scripted model's limit."""
    turns = [OPENING, "At the gannet gate, as before; now the kestrel box is the question."]
    for number in range(paragraphs):
        turns.append(
            f"Step {number}: what about plank {number} of the kestrel box? " + f"measure m{number} again. " * 25
        )
        turns.append(f"Plank {number} was cut and it works. " + f"The saw mark s{number} is found. " * 8)
    return turns


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Visible], dict[str, Visible], int]:
    """(home, what is visible before and after the second conversation is indexed, how many requests that takes)."""
    world = World(tmp_path_factory.mktemp("seeded") / "home")
    first = world.log("short", short_talk())
    world.log("long", long_talk())
    world.done("index", first)
    before = visible(world)
    whole = World(world.home.parent / "whole", variables={})
    shutil.copytree(world.home, whole.home)
    # The sources keep their place, so that what is visible compares: only the index is another.
    whole = World(world.home, variables={"HISTORY_RECALL_DB": str(whole.database)})
    answer = whole.done("index", world.folder / "long.jsonl")
    return world.home, before, visible(whole), int(answer["calls"])


@pytest.fixture
def seed(seeded: tuple[Path, dict[str, Visible], dict[str, Visible], int], tmp_path: Path) -> Callable[[], World]:
    """A world on the seeded sources with an index of its own."""

    def make() -> World:
        home = seeded[0]
        data = tmp_path / "data"
        shutil.copytree(World(home).database.parent, data)
        return World(home, variables={"HISTORY_RECALL_DB": str(data / "index.db")})

    return make
