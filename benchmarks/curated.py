"""A labelled set through the whole product with the built-in analyser: index, topics, search with and without it.

    python -m benchmarks.curated --data FOLDER

FOLDER is one person of a labelled set. It is indexed into a folder of its own that is removed again. "Without" is the
same index after the curated texts of all conversations were taken out of the search.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import labelled
from benchmarks.topics import b_cubed, table
from recall import searcher, settings, sources
from recall.index import fulltext
from recall.indexer import index_all
from recall.surfaces.session import Session

_PROFILE_NO = 1
_NOWHERE = float("inf")


def measure(folder: Path) -> dict[str, Any]:
    """B-cubed of the topics that came out, and hits with and without what was curated."""
    questions = [question for question in labelled.records(folder / "queries.jsonl") if question["gold"]]
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "HISTORY_RECALL_DB": str(Path(home) / "index.db")}
        session = Session(settings.load(environment))
        try:
            sources.add(session.run(), str((folder / "sources").resolve()))
            index_all(session.run())
            database = session.for_work()
            with database.read() as connection:
                topics = _topics(connection, labelled.gold_topics(folder))
                curated = _hits(connection, questions)
            with database.write() as connection:
                for row in connection.execute("SELECT conversation_no FROM conversations").fetchall():
                    fulltext.remove_curated(connection, _PROFILE_NO, row[0])
            with database.read() as connection:
                plain = _hits(connection, questions)
        finally:
            session.close()
    return {"topics": {"offline": topics}, "search": {"without": plain, "curated": curated}}


def _topics(connection: sqlite3.Connection, gold: Mapping[tuple[str, str], frozenset[str]]) -> dict[str, float]:
    placed: dict[tuple[str, int], str] = {}
    facets: dict[str, list[dict[str, Any]]] = {}
    rows = connection.execute(
        """SELECT f.facet_no, c.host_conversation_id, m.topic_no FROM facets AS f
           JOIN conversations AS c USING (conversation_no) JOIN memberships AS m USING (facet_no) ORDER BY f.facet_no"""
    ).fetchall()
    for facet_no, conversation, topic in rows:
        cited = connection.execute(
            "SELECT entry_id FROM evidence WHERE facet_no = ? UNION SELECT entry_id FROM findings WHERE facet_no = ?",
            (facet_no, facet_no),
        )
        shown = facets.setdefault(conversation, [])
        placed[conversation, len(shown)] = str(topic)
        shown.append({"evidence": [{"entry_id": row[0]} for row in cited], "findings": []})
    result = b_cubed(placed, facets, gold)
    return {name: getattr(result, name) for name in result.__dataclass_fields__}


def _hits(connection: sqlite3.Connection, questions: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    names = {
        row[0]: (row[1], row[2])
        for row in connection.execute(
            "SELECT e.entry_no, c.host_conversation_id, e.entry_id"
            " FROM entries AS e JOIN conversations AS c USING (conversation_no)"
        )
    }
    filters = searcher.default_filters(_PROFILE_NO)
    ranks = [
        _rank((names[hit.entry_no] for hit in searcher.rank(connection, filters, [question["query"]])), question)
        for question in questions
    ]
    total = max(1, len(ranks))
    return {
        "questions": len(ranks),
        **{f"hit@{k}": sum(rank <= k for rank in ranks) / total for k in (1, 5, 10)},
        "mrr": sum(1 / rank for rank in ranks) / total,
    }


def _rank(found: Iterable[tuple[str, str]], question: Mapping[str, Any]) -> float:
    gold = {(item["conversation"], item["entry"]) for item in question["gold"]}
    return next((float(at) for at, name in enumerate(found, start=1) if name in gold), _NOWHERE)


def main() -> None:
    parser = argparse.ArgumentParser(description="The built-in analyser through the whole product.")
    parser.add_argument("--data", type=Path, required=True, help="the folder of one person of a labelled set")
    print(table(measure(parser.parse_args().data)))


if __name__ == "__main__":
    main()
