"""A rebuild: the cached replies of models dropped, the text index made again from stored text, everything queued."""

from __future__ import annotations

from recall import conversations
from recall.index import cache, fulltext, jobs
from recall.index.database import Database, ensure_profile, profile_number
from recall.run import Run
from recall.settings import Settings


def cached_replies(settings: Settings, database: Database) -> int:
    """How many replies of models the profile has kept."""
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        return 0 if number is None else cache.count(connection, number)


def would_rebuild(settings: Settings, database: Database) -> dict[str, object]:
    """What a rebuild would drop and queue; nothing is written."""
    found, _ = conversations.rows(settings, database)
    kept = cached_replies(settings, database)
    queued = sum(row.can_be_queued or row.is_indexed for row in found)
    said = "Nothing was dropped or queued: this only says what would be."
    return {"queued": queued, "cached_replies_dropped": kept, "text_index": "unchanged", "message": said}


def rebuild(run: Run) -> dict[str, object]:
    """Drop the model cache, build the text index again from stored text, and queue every source anew."""
    found, _ = conversations.rows(run.settings, run.database)
    sources = [(row.source, row.host) for row in found if row.can_be_queued or row.is_indexed]
    with run.database.write() as connection:
        profile_no = ensure_profile(connection, run.settings.profile, run.clock())
        dropped = cache.clear(connection, profile_no)
        fulltext.rebuild(connection, profile_no)
        jobs.enqueue(connection, profile_no, sources, run.clock(), force=True)
    return {
        "queued": len(sources),
        "cached_replies_dropped": dropped,
        "text_index": "rebuilt",
        "message": (
            "Everything is queued again; run index-all. What is indexed stays visible until it is replaced. "
            "Repeating a rebuild drops replies that were paid for, and it cannot convert an index of another schema."
        ),
    }
