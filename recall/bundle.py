"""A profile's bundle: what of the index goes along, table by table, with numbers that are the bundle's own.

Derived layers (the text index, curated texts, counts) are made again where it is taken in. Consents, the ledger, cached
replies, queues and what was authorised stay at home: they are of one machine and one person's yes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recall.redact import redact_text

FORMAT, VERSION = "history-recall-bundle", 1


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `key` is its own number, None where it has none; `refers` are columns that hold numbers of others.

    `where` selects the profile's rows, from a table `x`; `texts` are redacted again where older rules made them.
    """

    name: str
    key: str | None
    refers: dict[str, str] = field(default_factory=dict)
    where: str = "x.profile_no = :profile"
    texts: tuple[str, ...] = ()


_OF_CONVERSATION = "x.conversation_no IN (SELECT conversation_no FROM conversations WHERE profile_no = :profile)"
_OF_FACET = """x.facet_no IN (SELECT f.facet_no FROM facets AS f JOIN conversations AS c USING (conversation_no)
                              WHERE c.profile_no = :profile)"""
_OF_TOPIC = "x.topic_no IN (SELECT topic_no FROM topics WHERE profile_no = :profile)"

_HEADER = ("title", "summary", "cwd", "parent", "continues", "warnings")
_WORDS = ("title", "description", "aliases")

# In the order in which they are taken in: what is referred to comes first.
TABLES = (
    Table("projects", "project_no", texts=("name",)),
    Table("bindings", None, {"project_no": "projects"}),
    Table("decisions", None, {"project_no": "projects"}),
    Table("conversations", "conversation_no", {"project_no": "projects"}, texts=_HEADER),
    Table("entries", "entry_no", {"conversation_no": "conversations"}, _OF_CONVERSATION, ("text",)),
    Table("placeholders", None, {"conversation_no": "conversations"}, _OF_CONVERSATION),
    Table("topics", "topic_no", {"merged_into": "topics"}, texts=_WORDS),
    Table("facets", "facet_no", {"conversation_no": "conversations"}, _OF_CONVERSATION, _WORDS),
    Table("memberships", "facet_no", {"facet_no": "facets", "topic_no": "topics"}, _OF_FACET, ("reason",)),
    Table("evidence", None, {"facet_no": "facets"}, _OF_FACET, ("quote",)),
    Table("findings", "finding_no", {"facet_no": "facets"}, _OF_FACET, ("statement", "quote")),
    Table(
        "supersessions",
        None,
        {"older_conversation_no": "conversations", "newer_conversation_no": "conversations"},
        "x.older_conversation_no IN (SELECT conversation_no FROM conversations WHERE profile_no = :profile)",
        ("older_quote", "newer_quote"),
    ),
    Table(
        "topic_events",
        "event_no",
        {"topic_no": "topics", "conversation_no": "conversations"},
        _OF_TOPIC,
        ("reason", "before", "after"),
    ),
)
_IN_JSON = frozenset({"aliases", "warnings", "before", "after"})


def redacted(column: str, value: object) -> object:
    """A cell of `texts` by our rules; what is JSON stays JSON, and nothing is written anew that holds no secret."""
    if not isinstance(value, str):
        return value
    if column not in _IN_JSON:
        return redact_text(value)
    held = json.loads(value)
    cleaned = _cleaned(held)
    return value if cleaned == held else json.dumps(cleaned, ensure_ascii=False)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _cleaned(one) for name, one in value.items()}
    return value
