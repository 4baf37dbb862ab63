"""A model that product processes ask and tests hold (see injected/sitecustomize.py)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.shared import ROOT
from tests.surfaces.served import environment


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
