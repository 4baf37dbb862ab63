"""Topics, the conversations of one, or its life."""

from __future__ import annotations

from collections.abc import Iterable

from recall.counting import count
from recall.surfaces.render.plain import Answer, Renderers, clock, cut, wrapped
from recall.surfaces.terminal import one_line


def _browse(answer: Answer) -> Iterable[str]:
    for entry in answer["entries"]:
        if answer["level"] == "topics":
            when = f"{clock(entry['first_at'])[:10]} to {clock(entry['last_at'])[:10]}"
            held = count(entry["conversations"], "conversation")
            yield f"{entry['topic_id']}  {cut(entry['title'], 70)}  ({held}, {when})"
            yield from wrapped(entry["description"], "    ")
        elif answer["level"] == "conversations":
            title = cut(entry["title"] or "(untitled)", 70)
            yield f"{entry['conversation_id']}  {title}  {clock(entry['last_active_at'])}"
            yield from wrapped(entry["summary"], "    ")
            for membership in entry["memberships"]:
                given_up = "  (a branch that was given up)" if membership["abandoned"] else ""
                yield f"    {cut(membership['facet'], 80)}{given_up}"
                for finding in membership["findings"]:
                    yield f"      {finding['status']}: {cut(finding['statement'], 120)}"
                    if by := finding["superseded_by"]:
                        yield f"        by {cut(by['statement'], 100)} ({by['conversation_id']})"
        else:
            source = f"  ({entry['conversation_id']})" if entry["conversation_id"] else ""
            yield f"{clock(entry['at'])}{source}"
            yield from wrapped(entry["words"], "    ")
    if not answer["entries"]:
        yield one_line(answer["message"])


RENDERERS: Renderers = {
    "browse": _browse,
}
