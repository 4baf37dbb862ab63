"""A listing of sources, chosen and cut into pages in SQL: what the catalogue sees has no table, so it comes as JSON.

Plain functions on an open connection; none writes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from recall.index.catalogue import Within


@dataclass(frozen=True, slots=True)
class Line:
    """What one source of a listing is chosen by: `project_no` and `git_group` of where it is, or is going to be."""

    host: str
    state: str
    project_no: int | None
    git_group: str | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """`places` of the lines on a page, in their order; of all pages how many lines are in scope, and how many of these
    were asked for."""

    places: tuple[int, ...]
    in_scope: int
    total: int


_CHOSEN = """
WITH listed AS (
    SELECT key AS place,
           json_extract(value, '$[0]') AS host, json_extract(value, '$[1]') AS state,
           json_extract(value, '$[2]') AS project_no, json_extract(value, '$[3]') AS git_group
    FROM json_each(:lines)
), in_scope AS (
    SELECT * FROM listed
    WHERE NOT :only OR CASE WHEN :git_group IS NULL THEN project_no = :project_no ELSE git_group = :git_group END
), chosen AS (
    SELECT * FROM in_scope WHERE (:host IS NULL OR host = :host) AND (:state IS NULL OR state = :state)
)
"""


def choose(
    connection: sqlite3.Connection,
    lines: Sequence[Line],
    within: Within,
    *,
    host: str | None,
    state: str | None,
    first: int,
    limit: int,
) -> Chosen:
    """One page of what is in scope, of this host and in this state (None: of any), from place `first` on."""
    values = {
        "lines": json.dumps([(one.host, one.state, one.project_no, one.git_group) for one in lines]),
        "only": within.only,
        "project_no": within.project_no,
        "git_group": within.group,
        "host": host,
        "state": state,
        "first": first,
        "limit": limit,
    }
    counts = connection.execute(
        f"{_CHOSEN} SELECT (SELECT count(*) FROM in_scope), (SELECT count(*) FROM chosen)", values
    ).fetchone()
    page = connection.execute(
        f"{_CHOSEN} SELECT place FROM chosen WHERE place >= :first ORDER BY place LIMIT :limit", values
    )
    return Chosen(tuple(row[0] for row in page), counts[0], counts[1])
