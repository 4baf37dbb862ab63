"""What the user allowed to be sent, to whom: recorded yeses, and the check of one against what is about to go out.

A grant is for one provider, endpoint, model and profile, and for all projects or a set of them; history and what is
added later are both in it. Grants add up. A wider set of projects than was granted is a new question. `UNPLACED` stands
in a set for the conversations that are in no project.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from recall import project_names
from recall.hashing import canonical_json, derived_id

ALL, UNPLACED = "all", project_names.NONE


@dataclass(frozen=True, slots=True)
class Destination:
    """To whom something would go, and what of: `projects` is None for all of them."""

    profile_no: int
    provider: str
    endpoint: str
    model: str
    projects: frozenset[str] | None = None

    @property
    def token(self) -> str:
        """Carries the user's yes back: it stands for exactly this destination."""
        scope = _stored(self.projects)
        return derived_id("y", str(self.profile_no), self.provider, self.endpoint, self.model, scope)


@dataclass(frozen=True, slots=True)
class Grant:
    """One recorded yes; `revoked_at` is None while it holds."""

    destination: Destination
    granted_at: int
    revoked_at: int | None


def grant(connection: sqlite3.Connection, destination: Destination, now: int) -> None:
    """Record the user's yes."""
    connection.execute(
        """
        INSERT INTO consents (profile_no, provider, endpoint, model, projects, granted_at)
        VALUES (?, ?, ?, ?, ?, ?)
        """,
        (
            destination.profile_no,
            destination.provider,
            destination.endpoint,
            destination.model,
            _stored(destination.projects),
            now,
        ),
    )


def revoke(connection: sqlite3.Connection, profile_no: int, now: int, *, endpoint: str | None = None) -> int:
    """Take back every yes of the profile, or those for one endpoint; how many there were."""
    return connection.execute(
        """
        UPDATE consents SET revoked_at = ?
         WHERE profile_no = ? AND revoked_at IS NULL AND (? IS NULL OR endpoint = ?)
        """,
        (now, profile_no, endpoint, endpoint),
    ).rowcount


def covers(connection: sqlite3.Connection, destination: Destination) -> bool:
    """Whether the recorded yeses cover the destination with all of its projects."""
    granted = allowed(connection, destination)
    if granted is None or not granted:
        return granted is None
    return destination.projects is not None and destination.projects <= granted


def allowed(connection: sqlite3.Connection, destination: Destination) -> frozenset[str] | None:
    """The projects of which something may be sent there; None for all of them."""
    rows = connection.execute(
        """
        SELECT projects FROM consents
         WHERE profile_no = ? AND provider = ? AND endpoint = ? AND model = ? AND revoked_at IS NULL
        """,
        (destination.profile_no, destination.provider, destination.endpoint, destination.model),
    )
    granted: frozenset[str] = frozenset()
    for row in rows:
        projects = _read(row["projects"])
        if projects is None:
            return None
        granted |= projects
    return granted


def show(connection: sqlite3.Connection, profile_no: int) -> tuple[Grant, ...]:
    """Every yes of the profile, the newest first, with those taken back."""
    rows = connection.execute(
        """
        SELECT provider, endpoint, model, projects, granted_at, revoked_at FROM consents
         WHERE profile_no = ? ORDER BY consent_no DESC
        """,
        (profile_no,),
    )
    return tuple(
        Grant(
            Destination(profile_no, row["provider"], row["endpoint"], row["model"], _read(row["projects"])),
            int(row["granted_at"]),
            row["revoked_at"],
        )
        for row in rows
    )


def _stored(projects: frozenset[str] | None) -> str:
    return ALL if projects is None else canonical_json(sorted(projects))


def _read(stored: str) -> frozenset[str] | None:
    return None if stored == ALL else frozenset(json.loads(stored))
