"""What may be sent where: the user's yes to the destination that the settings name, shown, given and taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from recall import scope
from recall.errors import ArgumentError
from recall.index import consent, projects
from recall.index.consent import UNPLACED, Destination, Grant
from recall.index.database import Database, ensure_profile, profile_number
from recall.models.endpoints import endpoint_of, is_loopback, provider_of
from recall.models.gate import question
from recall.run import Run
from recall.scope import Here
from recall.settings import Settings
from recall.timewindow import iso


def destination_of(settings: Settings, profile_no: int, only: frozenset[str] | None = None) -> Destination:
    """Where the settings' model is, as a consent names it."""
    endpoint = endpoint_of(settings.model, settings.api_base)
    return Destination(profile_no, provider_of(settings.model), endpoint, settings.model, only)


def consents(settings: Settings, connection: sqlite3.Connection, profile_no: int) -> dict[str, object]:
    """Whether a consent is needed for the settings' model, whether it is there, and every one that was given."""
    given = [_grant(one) for one in consent.show(connection, profile_no)]
    if settings.offline:
        nothing = {"needed": False, "granted": False, "projects": [], "endpoint": None, "question": None}
        return nothing | {"grants": given}
    wanted = destination_of(settings, profile_no)
    needed = not is_loopback(wanted.endpoint)
    allowed = consent.allowed(connection, wanted)
    return {
        "needed": needed,
        "granted": allowed is None,
        "projects": "all" if allowed is None else sorted(allowed),
        "endpoint": wanted.endpoint,
        "question": question(settings.model, wanted.endpoint) if needed else None,
        "grants": given,
    }


def show(settings: Settings, database: Database) -> dict[str, object]:
    """The `consent show` answer."""
    with database.read() as connection:
        number = profile_number(connection, settings.profile)
        return consents(settings, connection, -1 if number is None else number)


def grant(run: Run, here: Here, only: Sequence[str] = ()) -> dict[str, object]:
    """Record the yes for the settings' model and endpoint; with `only`, for these projects (`none`: those in none).

    Raises ArgumentError `usage`, `unknown_project`, `no_project`.
    """
    if run.settings.offline:
        hint = "set HISTORY_RECALL_MODEL first"
        raise ArgumentError("usage", "The model is offline: nothing is sent, so nothing is to be allowed", hint)
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        named = [one if one == UNPLACED else scope.find(connection, number, one, here).project_id for one in only]
        wanted = destination_of(run.settings, number, frozenset(named) if named else None)
        if not consent.covers(connection, wanted):
            consent.grant(connection, wanted, run.clock())
        return consents(run.settings, connection, number)


def confirm(run: Run, token: str) -> None:
    """Record the yes that the token of a `consent_required` answer carries back.

    Raises ArgumentError `not_found` where it is not for what the settings name now: nobody was asked about that.
    """
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        open_now = () if run.settings.offline else _questions(run.settings, connection, number)
        wanted = next((one for one in open_now if one.token == token), None)
        if wanted is None:
            hint = "ask without it; the answer carries the question that is open now, if there is one"
            raise ArgumentError("not_found", "The token belongs to no question that is open", hint)
        if not consent.covers(connection, wanted):
            consent.grant(connection, wanted, run.clock())


def revoke(run: Run) -> dict[str, object]:
    """Take back every yes of the profile."""
    with run.database.write() as connection:
        number = ensure_profile(connection, run.settings.profile, run.clock())
        taken = consent.revoke(connection, number, run.clock())
        return consents(run.settings, connection, number) | {"revoked": taken}


def _questions(settings: Settings, connection: sqlite3.Connection, number: int) -> Iterator[Destination]:
    """What the user can have been asked: for everything, or for one project more."""
    yield destination_of(settings, number)
    for name in (UNPLACED, *(project.project_id for project in projects.all_of(connection, number))):
        yield destination_of(settings, number, frozenset((name,)))


def _grant(one: Grant) -> dict[str, object]:
    to = one.destination
    granted = "all" if to.projects is None else sorted(to.projects)
    return {
        "provider": to.provider,
        "endpoint": to.endpoint,
        "model": to.model,
        "projects": granted,
        "granted_at": iso(one.granted_at),
        "revoked_at": iso(one.revoked_at),
    }
