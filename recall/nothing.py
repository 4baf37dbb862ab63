"""What may be asked instead where a search found nothing: without the quotes, or for the time that was named."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import MAXYEAR, UTC, date, datetime, timedelta

from recall import moments
from recall.moments import Moment
from recall.query import Query

_LEAP = 8  # years within which every day of the calendar comes again, but for 1900 and its like
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_QUOTED = (
    "Words in double quotes are looked for side by side as they stand, and nothing else is then; without the quotes "
    "all the words are looked for."
)


def advice(queries: Sequence[Query], newest: int | None) -> Iterator[str]:
    """Sentences. `newest`: the time of the newest entry in UTC milliseconds; None: say nothing of times."""
    if any(query.required for query in queries):
        yield _QUOTED
    named = dict.fromkeys(moment for query in queries for moment in moments.named(query.text))
    spans = [span for moment in named for span in [days(moment, newest)] if span] if newest is not None else []
    if spans:
        windows = ", or ".join(f"--from {first} --to {behind}" for first, behind in spans)
        yield (
            "A date in a question filters nothing. To see what was said then, browse, or search in other words, with "
            f"{windows} (for a tool its arguments `from` and `to`)."
        )


def days(moment: Moment, newest: int) -> tuple[date, date] | None:
    """The first day of a moment and the day behind its last; of any year: the latest that begins by `newest`."""
    today = (_EPOCH + timedelta(milliseconds=newest)).date()
    years = range(today.year, today.year - _LEAP - 1, -1) if moment.year is None else (moment.year,)
    for year in years:
        if not 1 <= year < MAXYEAR or moment.first > monthrange(year, moment.month)[1]:
            continue
        first = date(year, moment.month, moment.first)
        if moment.year is not None or first <= today:
            last = min(moment.last, monthrange(year, moment.month)[1])
            return first, date(year, moment.month, last) + timedelta(days=1)
    return None
