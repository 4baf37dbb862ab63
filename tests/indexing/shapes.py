"""The answers of contract.md, as a small table: which fields each command's answer has, and of which type.

More fields may stand beside these. `check` also holds what is said of every command: exit codes, one error form,
progress lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Kind = type | tuple[type, ...] | Mapping[str, Any] | list[Any]
"""A type, several, a table of fields, or a list with the form of its items."""

_TEXT = (str, type(None))
_NUMBER = (int, type(None))
_TOPICS = dict.fromkeys(("created", "updated", "merged", "moved", "retired"), list)
_DEFERRED = {"conversation_id": str, "code": str}
_REPAIR = {"state": str, "deferred": [_DEFERRED], "audited": int, "receipts": int}
_COMPLETED = {
    "conversation_id": str,
    "source": str,
    "calls": int,
    "facets": int,
    "topics": _TOPICS,
    "repair": _REPAIR,
}
_FAILED = {"source": str, "code": str, "message": str, "counts_as_attempt": bool}
_INDEX = {
    "requested": int,
    "completed": [_COMPLETED],
    "failed": [_FAILED],
    "calls": int,
    "redactions": dict,
    "aborted": (dict, type(None)),
    "job_id": _TEXT,
}
_DRY_RUN = {
    "would_send": {"calls": int, "bytes": int, "endpoint": _TEXT},
    "run_cap": (dict, type(None)),
    "redactions": dict,
}
_ENTRY = {
    "entry_id": str,
    "role": str,
    "timestamp": _TEXT,
    "status": list,
    "snippet": str,
    "offset": int,
    "length": int,
    "sha256": str,
    "found_by": list,
    "facet": _TEXT,
    "topic_id": _TEXT,
}
_CONVERSATION = {
    "conversation_id": str,
    "host": str,
    "host_conversation_id": str,
    "link": _TEXT,
    "title": _TEXT,
    "project": _TEXT,
    "tier": str,
    "why_project": str,
    "started_at": _TEXT,
    "last_active_at": _TEXT,
    "source_state": str,
    "resume": _TEXT,
}
_SEARCH = {
    "requested_mode": str,
    "used_mode": str,
    "semantic_status": str,
    "rewrite_status": str,
    "scope": _TEXT,
    "project": _TEXT,
    "coverage": object,
    "range": object,
    "conversations": [{**_CONVERSATION, "entries": [_ENTRY], "truncated": bool}],
    "message": _TEXT,
    "next_cursor": _TEXT,
}
_READ = {
    "conversation_id": str,
    "source_state": str,
    "fragments": [
        {
            "entry_id": str,
            "role": str,
            "timestamp": _TEXT,
            "status": list,
            "line": int,
            "sha256": str,
            "offset": int,
            "total_chars": int,
            "text": str,
        }
    ],
    "context": (dict, type(None)),
    "next_cursor": _TEXT,
}
_BROWSE = {"level": str, "revision": (int, str), "range": object, "entries": list, "next_cursor": _TEXT}
_CONVERSATIONS = {
    "conversations": [
        {
            "source": str,
            "host": str,
            "host_conversation_id": _TEXT,
            "conversation_id": _TEXT,
            "state": str,
            "size_bytes": int,
            "modified_at": _TEXT,
            "title": _TEXT,
            "cwd": _TEXT,
            "project": _TEXT,
        }
    ],
    "warnings": list,
    "next_cursor": _TEXT,
}
_STATUS = {
    "profile": str,
    "schema": int,
    "revision": int,
    "conversations": int,
    "topics": int,
    "entries": int,
    "queue": dict,
    "jobs": list,
    "calls_today": int,
    "caps": dict,
    "model": dict,
    "consent": dict,
    "text_index": dict,
    "database": dict,
    "coverage": dict,
    "current_project": _TEXT,
    "project_hint": _TEXT,
}
_CONSENT = {"needed": bool, "granted": bool, "endpoint": _TEXT, "question": _TEXT, "grants": list}
_ERROR = {"error": {"code": str, "message": str, "hint": str}}
_TOPIC = {
    "topic_id": str,
    "title": str,
    "description": str,
    "aliases": list,
    "conversations": int,
    "first_at": _TEXT,
    "last_at": _TEXT,
}
_JOB = {"job_id": str, "state": str, "words": str, "detached": bool, "calls": int, "code": _TEXT, "ended_at": _TEXT}
_PROGRESS = {"progress": str, "source": str, "done": int, "total": int}

ANSWERS: Mapping[str, Kind] = {
    "status": _STATUS,
    "conversations": _CONVERSATIONS,
    "sources list": {},
    "sources add": {},
    "sources remove": {},
    "index": _INDEX,
    "index-all": _INDEX,
    "dry-run": _DRY_RUN,
    "jobs list": {"jobs": [_JOB], "message": str},
    "jobs follow": {"job": _JOB, "answer": (dict, type(None)), "message": str},
    "jobs cancel": {"job": _JOB, "message": str},
    "repair": {"calls": int, "left": int, "runs": [{"repair": _REPAIR, "topics": _TOPICS, "left": int}]},
    "rebuild": {"queued": int, "message": str},
    "search": _SEARCH,
    "read": _READ,
    "browse": _BROWSE,
    "project list": {"projects": list},
    "project create": {"project_id": str, "name": str},
    "project move": {"conversation_id": str, "project": object, "previous": object, "cwd": _TEXT},
    "project rename": {},
    "project bind": {},
    "project rebind": {},
    "project adopt": {},
    "project decline": {},
    "project archive": {},
    "project assign": {},
    "project revert": {},
    "project delete": {},
    "forget": {},
    "export": {},
    "import": {},
    "hosts install": {},
    "hosts uninstall": {},
    "brief": {"text": str},
    "hosts list": {"hosts": list},
    "consent show": _CONSENT,
    "consent grant": _CONSENT,
    "consent revoke": _CONSENT,
    "doctor": {"ok": bool, "checks": list},
}
BLOCKED = {"consent_required", "work_budget", "daily_budget", "lease_held"}
REPAIR_STATES = {"done", "nothing", "not_due", "deferred", "skipped", "unsupported", "none"}


def check(words: Sequence[str], code: int, answer: Any, progress: Sequence[Any]) -> None:
    """Hold one command's output against the contract."""
    for line in progress:
        _holds(line, _PROGRESS, "progress")
    if "error" in answer:
        _holds(answer, _ERROR, "error")
        assert answer["error"]["message"].strip()
        assert code == _code_of(answer["error"]["code"]), (code, answer)
        return
    name = _name(words)
    _holds(answer, ANSWERS[name], name)
    if name in ("index", "index-all"):
        _check_index(code, answer)
    if name == "browse" and answer["level"] == "topics":
        for topic in answer["entries"]:
            _holds(topic, _TOPIC, "browse.entries")


def _check_index(code: int, answer: Mapping[str, Any]) -> None:
    aborted = answer["aborted"]
    if aborted is not None:
        assert code == _code_of(aborted["code"]), (code, aborted)
    else:
        assert code == (1 if answer["failed"] else 0)
    for one in answer["completed"]:
        assert one["repair"]["state"] in REPAIR_STATES
    assert answer["calls"] >= sum(one["calls"] for one in answer["completed"])


def _code_of(code: str) -> int:
    if code == "cancelled":
        return 130
    return 3 if code in BLOCKED else 2 if code == "usage" else 1


def _name(words: Sequence[str]) -> str:
    if "--dry-run" in words:
        return "dry-run"
    two = " ".join(words[:2])
    return two if two in ANSWERS else words[0]


def _holds(value: Any, kind: Any, where: str) -> None:
    if isinstance(kind, Mapping):
        assert isinstance(value, dict), where
        for name, inner in kind.items():
            assert name in value, f"{where} lacks {name}: it has {sorted(value)}"
            _holds(value[name], inner, f"{where}.{name}")
    elif isinstance(kind, list):
        assert isinstance(value, list), where
        for place, item in enumerate(value):
            _holds(item, kind[0], f"{where}[{place}]")
    else:
        assert isinstance(value, kind), f"{where} is {type(value).__name__}"
        if kind is int:
            assert not isinstance(value, bool), where
