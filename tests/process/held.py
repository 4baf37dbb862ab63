"""A model that product processes ask and tests hold (see injected/sitecustomize.py)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.indexing.product import PI_FOLDER, long
from tests.process.world import PATIENCE
from tests.shared import ROOT
from tests.surfaces.served import environment

T = TypeVar("T")


def long_source(home: Path) -> Path:
    """A log of Pi's that takes more requests than the model answers at once."""
    path = home / PI_FOLDER / "2026-09-02T13-05-00-000Z_long.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(long("5f0c2c8e-1111", 60).bytes())
    return path


def found(look: Callable[[], T]) -> T:
    """What has to come: what is looked for, once it is there."""
    give_up = time.monotonic() + PATIENCE
    while not (seen := look()):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    return seen


@dataclass(frozen=True)
class Model:
    """What the held model was asked, over all processes."""

    folder: Path

    @property
    def sent(self) -> list[str]:
        """A digest of each request."""
        path = self.folder / "sent"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def go(self) -> None:
        """Hold nothing any more."""
        (self.folder / "go").touch()

    def environment(self, home: Path) -> dict[str, str]:
        """For processes whose runs use it."""
        made = environment(home, model="openai/scripted", api_base="http://127.0.0.1:9/v1", batch_calls="500")
        injected = Path(__file__).parent / "injected"
        return made | {
            "HISTORY_RECALL_CONCURRENCY": "1",
            "HELD_MODEL": str(self.folder),
            "PYTHONPATH": f"{injected}{os.pathsep}{ROOT}",
        }
