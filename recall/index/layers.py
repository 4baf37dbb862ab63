"""The two tables of a profile's text index, each with the engine that holds it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from recall.index import fulltext, fulltext_fts4, fulltext_fts5

ENGINES: Mapping[str, ModuleType] = {"fts5": fulltext_fts5, "fts4": fulltext_fts4}
LayerName = Literal["text", "curated"]


@dataclass(frozen=True, slots=True)
class Layer:
    """`text`: what stands in the entries. `curated`: what was written about them."""

    profile_no: int
    name: LayerName
    engine: ModuleType

    @property
    def table(self) -> str:
        return f"{self.name}_{self.profile_no}"

    def score(self) -> str:
        """The BM25 of the row at hand, as SQL; larger is better."""
        return str(self.engine.score(self.table, scoped=self.name == "text"))


def layer(connection: sqlite3.Connection, profile_no: int, name: LayerName) -> Layer:
    """A layer of a profile. Raises StateError where other rules than ours filled it."""
    return Layer(profile_no, name, ENGINES[fulltext.engine_of(connection, profile_no)])
