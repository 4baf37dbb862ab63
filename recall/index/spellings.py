"""What a word that stands nowhere may have meant: words of the text index that are one slip away from it.

Each slip is looked up by itself, so the cost is that of some hundred words whatever the index holds. What is offered
stands in the shown text of an entry that the search may find: nothing of what is hidden, elsewhere or redacted, and no
label. It is a word of plain letters, so it may stand beside an answer, where a model reads it, without a fence.
Plain functions on an open connection; they read only.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from recall import labels, near
from recall.index.filters import Filters
from recall.index.layers import Layer, layer
from recall.query import Term
from recall.shown import safe
from recall.stem import stem

MOST = 3  # words of a search that are looked after
_ROWS = 200  # of the newest entries that have a word: so many are looked at for those that may be found
_READ, _CHARS = 20, 20_000  # entries, and characters of each, in which the spelling is looked for
_PLACEHOLDER = re.compile(r"\[REDACTED:[^\]]*\]")
_WORD = re.compile(r"(?<![^\W_])[A-Za-z]+(?![^\W_])")


def meant(connection: sqlite3.Connection, filters: Filters, words: Sequence[str]) -> dict[str, str]:
    """For each of the words that no entry has, the likeliest one that is a slip away; nothing where there is none."""
    index = layer(connection, filters.profile_no, "text")
    found: dict[str, str] = {}
    for word in near.judged(words)[:MOST]:
        if not _rows(connection, index, filters, stem(word)):
            spelled = _likeliest(connection, index, filters, word)
            if spelled is not None:
                found[word] = spelled
    return found


def _likeliest(connection: sqlite3.Connection, index: Layer, filters: Filters, word: str) -> str | None:
    forms = dict.fromkeys(stem(slip) for slip in near.slips(word))
    rows = {form: entries for form in forms if (entries := _rows(connection, index, filters, form))}
    for form in sorted(rows, key=lambda form: -len(rows[form])):
        spelled = _spelled(connection, rows[form][:_READ], form, word)
        if spelled is not None:
            return spelled
    return None


def _rows(connection: sqlite3.Connection, index: Layer, filters: Filters, form: str) -> list[int]:
    """Of the newest entries that have a word, those that the search may find."""
    found = connection.execute(
        f"""SELECT e.entry_no
            FROM (SELECT rowid FROM {index.table} WHERE {index.table} MATCH :form
                  ORDER BY rowid DESC LIMIT {_ROWS}) AS m
            CROSS JOIN entries AS e ON e.entry_no = m.rowid
            JOIN conversations AS c USING (conversation_no)
            WHERE {filters.entries()}""",
        {**filters.values(), "form": index.engine.any_of([Term((form,))])},
    )
    return [row[0] for row in found]


def _spelled(connection: sqlite3.Connection, entries: Sequence[int], form: str, word: str) -> str | None:
    """How one of the entries spells it, where that is a slip away from what was typed."""
    for number in entries:
        text, role, version = connection.execute(
            """SELECT substr(e.text, 1, ?), e.role, c.rules_version
               FROM entries AS e JOIN conversations AS c USING (conversation_no) WHERE e.entry_no = ?""",
            (_CHARS, number),
        ).fetchone()
        shown = _PLACEHOLDER.sub(" ", labels.blank(safe(text, version), role))
        for match in _WORD.finditer(shown):
            spelled = match.group().lower()
            if stem(spelled) == form and near.distance(spelled, word) == 1:
                return spelled
    return None
