"""How long a request to a server on this machine may be: half as long after a run in which one missed its deadline.

A model on a processor reads some tens of tokens a second, and nobody can know how many before it was tried. What was
seen is kept for each endpoint and model, so the next run asks about less at a time.
"""

from __future__ import annotations

import sqlite3

from recall.index import traits
from recall.index.database import Database
from recall.models.endpoints import endpoint_of, is_loopback
from recall.settings import Settings

MOST_HALVINGS = 2
_TRAIT = "halvings"


def halvings(database: Database, settings: Settings) -> int:
    """How often requests to the settings' model have to be halved: 0 to 2; always 0 where it is not on this machine."""
    endpoint = endpoint_of(settings.model, settings.api_base)
    if settings.offline or not is_loopback(endpoint):
        return 0
    with database.read() as connection:
        return _seen(connection, endpoint, settings.model)


def note_slow(connection: sqlite3.Connection, endpoint: str, model: str, now: int) -> None:
    """A request missed its deadline: from the next run on they are half as long, to a bound."""
    if is_loopback(endpoint):
        wanted = min(MOST_HALVINGS, _seen(connection, endpoint, model) + 1)
        traits.put(connection, endpoint, model, _TRAIT, str(wanted), now)


def _seen(connection: sqlite3.Connection, endpoint: str, model: str) -> int:
    value = traits.get(connection, endpoint, model, _TRAIT)
    return int(value) if value in ("1", "2") else 0
