"""tantivy over the same words, for the comparison in benchmarks.scale. A development extra that may be missing."""

from __future__ import annotations

import importlib
import sqlite3
from pathlib import Path
from typing import Any

from recall import query as querying
from recall import segment

_HEAP = 256 << 20  # bytes
_PAGE = 20


class Engine:
    """An index of the words that the segmenter makes, split at spaces, asked for any of a question's words."""

    def __init__(self, module: Any, index: Any) -> None:
        self._module, self._index = module, index
        self._searcher = index.searcher()

    @classmethod
    def build(cls, connection: sqlite3.Connection, folder: Path) -> Engine | None:
        """The index of all entries; None where the package is not installed."""
        try:
            tantivy = importlib.import_module("tantivy")
        except ModuleNotFoundError:
            return None
        folder.mkdir()
        fields = tantivy.SchemaBuilder()
        fields.add_text_field("body", stored=False, tokenizer_name="whitespace")
        index = tantivy.Index(fields.build(), path=str(folder))
        writer = index.writer(_HEAP, 1)
        for (text,) in connection.execute("SELECT text FROM entries ORDER BY entry_no"):
            writer.add_document(tantivy.Document(body=segment.body(text)))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return cls(tantivy, index)

    def answer(self, question: str) -> object:
        """The twenty best."""
        words = {term.words[0] for term in querying.cut(question).terms if len(term.words) == 1}
        query = self._module.Query
        parts = [(self._module.Occur.Should, query.term_query(self._index.schema, "body", word)) for word in words]
        return self._searcher.search(query.boolean_query(parts), _PAGE).hits
