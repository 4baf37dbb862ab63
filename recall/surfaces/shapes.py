"""The shapes of the tools' answers (contract: Shapes) as JSON Schemas. More fields may stand beside these."""

from __future__ import annotations

from collections.abc import Mapping

Schema = Mapping[str, object]

_TEXT: Schema = {"type": "string"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_FLAG: Schema = {"type": "boolean"}
_ANY_OBJECT: Schema = {"type": "object"}
_OBJECT_OR_NULL: Schema = {"type": ["object", "null"]}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def _object(**properties: Schema) -> dict[str, object]:
    """All of them are there; others may be."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def _list(items: Schema) -> dict[str, object]:
    return {"type": "array", "items": items}


_SOURCE_STATE = _one_of("ok", "grown", "changed", "gone", "unreadable")
_STATE = _one_of(
    *("new", "indexed", "changed", "grown", "queued", "empty"),
    *("invalid", "too_large", "gone", "unreadable", "forgotten"),
)
_RANGE: Schema = {"type": ["object", "null"]}

_HEAD: dict[str, Schema] = {
    "conversation_id": _TEXT,
    "host": _TEXT,
    "host_conversation_id": _TEXT,
    "link": _TEXT,
    "title": _TEXT_OR_NULL,
    "project": {},
    "tier": _one_of("project", "none", "other"),
    "why_project": _one_of("moved", "inherited", "marker", "folder", "host", "git", "mention", "none"),
    "started_at": _TEXT_OR_NULL,
    "last_active_at": _TEXT_OR_NULL,
    "source_state": _SOURCE_STATE,
    "resume": {},
}

SEARCH = _object(
    requested_mode=_one_of("hybrid", "keyword", "semantic"),
    used_mode=_TEXT,
    semantic_status=_one_of("ready", "partial", "disabled", "consent_required", "unavailable"),
    rewrite_status=_one_of("not_asked", "cached", "done", "timeout", "unavailable", "consent_required", "budget"),
    scope=_TEXT,
    project={},
    in_scope=_COUNT,
    coverage=_one_of("complete", "partial", "bounded", "unknown"),
    range=_RANGE,
    conversations=_list(
        _object(
            **_HEAD,
            entries=_list(
                _object(
                    entry_id=_TEXT,
                    role=_TEXT,
                    timestamp=_TEXT_OR_NULL,
                    status=_TEXTS,
                    snippet=_TEXT,
                    offset=_COUNT,
                    length=_COUNT,
                    sha256=_TEXT,
                    found_by=_TEXTS,
                    facet={},
                    topic_id=_TEXT_OR_NULL,
                )
            ),
            truncated=_FLAG,
        )
    ),
    message=_TEXT_OR_NULL,
    left_out=_COUNT,
    next_cursor=_TEXT_OR_NULL,
)

READ = _object(
    conversation_id=_TEXT,
    source_state=_SOURCE_STATE,
    fragments=_list(
        _object(
            entry_id=_TEXT,
            turn=_TEXT,
            role=_TEXT,
            timestamp=_TEXT_OR_NULL,
            status=_TEXTS,
            line={"type": "integer"},
            sha256=_TEXT,
            offset=_COUNT,
            total_chars=_COUNT,
            text=_TEXT,
        )
    ),
    context=_object(entry_id=_TEXT_OR_NULL, alternate_children=_TEXTS),
    next_cursor=_TEXT_OR_NULL,
)

BROWSE = _object(
    level=_TEXT,
    revision=_COUNT,
    range=_RANGE,
    entries=_list(_ANY_OBJECT),
    next_cursor=_TEXT_OR_NULL,
)

MOVE = _object(conversation_id=_TEXT_OR_NULL, project=_TEXT_OR_NULL, previous=_TEXT_OR_NULL, cwd=_OBJECT_OR_NULL)
PROJECT: Schema = _ANY_OBJECT

CONVERSATIONS = _object(
    conversations=_list(
        _object(
            source=_TEXT,
            host=_TEXT,
            host_conversation_id=_TEXT_OR_NULL,
            conversation_id=_TEXT_OR_NULL,
            state=_STATE,
            size_bytes=_COUNT,
            active_at=_TEXT_OR_NULL,
            modified_at=_TEXT_OR_NULL,
            title=_TEXT_OR_NULL,
            cwd=_TEXT_OR_NULL,
            project={},
        )
    ),
    warnings=_list(_ANY_OBJECT),
    next_cursor=_TEXT_OR_NULL,
)

STATUS = _object(
    profile=_TEXT,
    schema=_COUNT,
    revision=_COUNT,
    conversations=_COUNT,
    topics=_COUNT,
    entries=_COUNT,
    queue=_ANY_OBJECT,
    jobs=_list(_ANY_OBJECT),
    calls_today=_COUNT,
    caps=_ANY_OBJECT,
    model=_ANY_OBJECT,
    consent=_ANY_OBJECT,
    text_index=_ANY_OBJECT,
    database=_ANY_OBJECT,
    coverage=_ANY_OBJECT,
    current_project={},
    project_hint={},
)

INDEX = _object(
    requested=_COUNT,
    completed=_list(_object(conversation_id=_TEXT, source=_TEXT, calls=_COUNT, facets=_COUNT, topics=_ANY_OBJECT)),
    failed=_list(_object(source=_TEXT, code=_TEXT, message=_TEXT, counts_as_attempt=_FLAG)),
    calls=_COUNT,
    redactions=_ANY_OBJECT,
    aborted=_OBJECT_OR_NULL,
    job_id=_TEXT_OR_NULL,
)
