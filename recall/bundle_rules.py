"""What may stand in a bundle, cell by cell: the closed sets, the forms of ids, the shapes of the JSON in it.

Anybody may have written a bundle, and much of it is used later as it stands: a host's name and a conversation's id in
the command that resumes it, a path that is looked at, JSON that answers take apart. So everything that an export of
ours can hold has a rule, and what breaks one is refused. Pure: nothing here reads a file or a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from recall import folders, topic_life
from recall.hosts.names import HOSTS
from recall.index.projects import project_id_of
from recall.types import FINDING_STATUSES, ROLES

Rule = Callable[[Any], bool]
Row = Mapping[str, Any]

LARGEST = 2**53  # beyond it a program that reads JSON may have rounded
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_IDENTITY = re.compile(r"[^\s\x00-\x1f\x7f]{1,200}")
_MARKS = frozenset(
    ("active", "abandoned_branch", "compacted", "rewound", "rolled_back", "sidechain", "meta", "synthetic")
) | {"before_reset"}
_WHY = ("moved", "inherited", "marker", "folder", "host", "git", "mention", "none")
_EVENTS = ("created", "joined", "left", "moved", "redefined", "merged", "retired", "revived")
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def _text(value: Any) -> bool:
    """Text that SQLite holds as it is written: no NUL, and it can be encoded."""
    return isinstance(value, str) and "\0" not in value and not _SURROGATE.search(value)


def _some(value: Any) -> bool:
    return _text(value) and bool(value)


def _upto(most: int, rule: Rule = _text) -> Rule:
    """What a model is shown has a bound: several times what we write, for a placeholder can be longer than a secret."""
    return lambda value: rule(value) and len(value) <= most


def _line(value: Any) -> bool:
    return _text(value) and not _CONTROL.search(value)


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def _time(value: Any) -> bool:
    return type(value) is int and _FIRST_MS <= value <= _LAST_MS


def _number(value: Any) -> bool:
    return type(value) is int and -(2**63) <= value < 2**63  # an inode uses all of them


def _flag(value: Any) -> bool:
    return type(value) is int and value in (0, 1)


def _identity(value: Any) -> bool:
    """A host's own id of a conversation, which stands on command lines: none that a program takes for an option."""
    return _text(value) and _IDENTITY.fullmatch(value) is not None and not value.startswith("-")


def _matching(pattern: str) -> Rule:
    compiled = re.compile(pattern, re.ASCII)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _of(*values: str) -> Rule:
    return lambda value: isinstance(value, str) and value in values


def _or_none(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _json(shape: Rule) -> Rule:
    """JSON text of that shape, and of nothing that would have to be written as NaN."""

    def holds(value: Any) -> bool:
        if not _text(value):
            return False
        try:
            return shape(json.loads(value, parse_constant=_no_number))
        except (ValueError, RecursionError):
            return False

    return holds


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _list(one: Rule) -> Rule:
    return lambda value: isinstance(value, list) and all(map(one, value))


def _map(one: Rule) -> Rule:
    return lambda value: isinstance(value, dict) and all(map(_text, value)) and all(map(one, value.values()))


def _object(**needed: Rule) -> Rule:
    return lambda value: isinstance(value, dict) and all(name in value and r(value[name]) for name, r in needed.items())


def _cut(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _text(value[0]) and _count(value[1])


def _marks(value: Any) -> bool:
    return isinstance(value, str) and (marks := value.split(" ")) == sorted({*marks}) and _MARKS.issuperset(marks)


def _anything(_value: Any) -> bool:
    return True


def _id(letter: str) -> Rule:
    return _matching(f"{letter}_[a-z2-7]{{12}}")


_sha256 = _matching("[0-9a-f]{64}")
_host = _of(*HOSTS)
_TITLE, _WORDS, _SAID = 2_000, 20_000, 100_000
_names = _json(_upto(200, _list(_upto(_TITLE))))
_quoted: dict[str, Rule] = {
    "entry_id": _some,
    "sha256": _sha256,
    "quote": _upto(_SAID, _some),
    "start": _count,
    "length": _count,
}

# Table -> column -> what may stand there.
RULES: Mapping[str, Mapping[str, Rule]] = {
    "projects": {
        "project_no": _count,
        "project_id": _id("p"),
        "name": _upto(_TITLE, _some),
        "marker": _matching(_UUID),
        "archived": _flag,
        "created_at": _time,
    },
    "bindings": {
        "project_no": _count,
        "kind": _of("folder", "git", "host"),
        "key": _some,
        "folds": _flag,
        "shown": _some,
        "seen": _json(_object(device=_number, inode=_number, names=_list(_text))),
        "bound_at": _time,
    },
    "decisions": {
        "host": _host,
        "host_conversation_id": _identity,
        "project_no": _or_none(_count),
        "decided_at": _time,
    },
    "conversations": {
        "conversation_no": _count,
        "conversation_id": _id("c"),
        "host": _host,
        "host_conversation_id": _identity,
        "source": _line,
        "parent": _or_none(_text),
        "continues": _or_none(_text),
        "sidechain": _flag,
        "automation": _flag,
        "archived": _flag,
        "host_version": _or_none(_matching("[0-9A-Za-z.+_-]{1,40}")),
        "project_no": _or_none(_count),
        "why_project": _of(*_WHY),
        "git_group": _or_none(_text),
        "title": _or_none(_upto(_TITLE)),
        "cwd": _or_none(_text),
        "started_at": _or_none(_time),
        "last_active_at": _or_none(_time),
        "content_sha256": _sha256,
        "content_bytes": _count,
        "size": _count,
        "mtime_ns": _number,
        "device": _number,
        "inode": _number,
        "rules_version": _count,
        "reader_version": _count,
        "model": _line,
        "extractive": _flag,
        "summary": _upto(_WORDS),
        "facts": _json(_object(graph_damaged=lambda value: isinstance(value, bool))),
        "cuts": _json(_list(_cut)),
        "warnings": _json(_list(_object(code=_text, line=_count, message=_text))),
        "redactions": _json(_map(_count)),
        "published_at": _time,
    },
    "entries": {
        "entry_no": _count,
        "conversation_no": _count,
        "seq": _count,
        "entry_id": _some,
        "parent_id": _or_none(_text),
        "line": _count,
        "offset": _count,
        "length": _count,
        "sha256": _sha256,
        "kind": _text,
        "role": _of(*ROLES),
        "tool": _or_none(_text),
        "at": _or_none(_time),
        "turn": _or_none(_text),
        "marks": _marks,
        "chars": _count,
        "text": _text,
    },
    "placeholders": {"conversation_no": _count, "location": _text, "number": _count},
    "topics": {
        "topic_no": _count,
        "topic_id": _id("t"),
        "title": _upto(_TITLE),
        "description": _upto(_WORDS),
        "aliases": _names,
        "extractive": _flag,
        "state": _of("live", "retired", "merged"),
        "merged_into": _or_none(_count),
        "version": _count,
        "created_at": _time,
        "changed_at": _time,
    },
    "facets": {
        "facet_no": _count,
        "facet_id": _id("f"),
        "conversation_no": _count,
        "ordinal": _count,
        "title": _upto(_TITLE),
        "description": _upto(_WORDS),
        "aliases": _names,
    },
    "memberships": {
        "facet_no": _count,
        "topic_no": _count,
        "reason": _upto(_WORDS),
        "candidates": _json(_list(_id("t"))),
        "placed_at": _time,
    },
    "evidence": {"facet_no": _count, "ordinal": _count, **_quoted},
    "findings": {
        "finding_no": _count,
        "facet_no": _count,
        "ordinal": _count,
        "statement": _upto(_WORDS),
        "status": _of(*FINDING_STATUSES),
        **_quoted,
    },
    "supersessions": {
        "older_conversation_no": _count,
        "older_entry_id": _some,
        "older_start": _count,
        "older_quote": _upto(_SAID, _some),
        "newer_conversation_no": _count,
        "newer_entry_id": _some,
        "newer_start": _count,
        "newer_quote": _upto(_SAID, _some),
        "said_at": _time,
    },
    "topic_events": {
        "event_no": _count,
        "topic_no": _count,
        "conversation_no": _or_none(_count),
        "at": _time,
        "kind": _of(*_EVENTS),
        "reason": _upto(_WORDS),
        "before": _json(_map(_anything)),
        "after": _json(_map(_anything)),
        "evidence": _json(_list(_map(_anything))),
        "proof": _or_none(_upto(200, _line)),
    },
}


def _source_stands(row: Row) -> bool:
    """Where a conversation was last seen: a path of one machine, or the row of a host's database."""
    source = row["source"]
    if source == f"{row['host']}:{row['host_conversation_id']}":
        return True
    folder = folders.parse(source)
    return folder is not None and not folder.is_root and not folder.is_share and not source.startswith("//")


def _binding_stands(row: Row) -> bool:
    kind, key = row["kind"], row["key"]
    if kind == "host":
        host, colon, record = key.partition(":")
        return host in HOSTS and bool(colon and record) and not _CONTROL.search(key)
    if kind == "git":
        return folders.parse(key) is not None
    return re.fullmatch(r"(?:posix:|windows:[^\x00-\x1f]+?)(?:/[^\x00-\x1f]+)", key) is not None


def _event_stands(row: Row) -> bool:
    try:
        topic_life.sentence(row["kind"], row["reason"], json.loads(row["before"]), json.loads(row["after"]))
    except (KeyError, TypeError, AttributeError):
        return False
    return True


# Table -> what has to be true of a row as a whole, and how it is said where it is not.
WHOLE: Mapping[str, tuple[Rule, str]] = {
    "projects": (lambda row: row["project_id"] == project_id_of(row["marker"]), "an id that is not its marker's"),
    "bindings": (_binding_stands, "a key that leads nowhere"),
    "conversations": (_source_stands, "a source that no host has"),
    "topics": (lambda row: (row["state"] == "merged") == (row["merged_into"] is not None), "a state that cannot be"),
    "topic_events": (_event_stands, "an event that cannot be told"),
}


def broken(table: str, row: Row) -> str | None:
    """What is wrong with a row that has exactly our columns, without its text; None where nothing is."""
    for name, rule in RULES[table].items():
        if not rule(row[name]):
            return f"{name} in its table {table} is none that an index of ours holds"
    whole = WHOLE.get(table)
    return None if whole is None or whole[0](row) else f"a row of its table {table} has {whole[1]}"
