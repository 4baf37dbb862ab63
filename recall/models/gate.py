"""May this model be sent anything? Yes on this machine; elsewhere only with a yes of the user's that covers it.

A yes can be for some projects only. What a request is about is therefore asked anew before each one: a conversation
can be moved while a run is under way.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from recall.errors import StateError
from recall.index import consent
from recall.index.consent import UNPLACED, Destination
from recall.index.database import Database
from recall.index.projects import all_of
from recall.models.endpoints import is_loopback
from recall.models.request import LocalModel, RemoteModel

_QUESTION = (
    "Indexing with {model} sends to {endpoint}: the whole extracted text of every conversation{which} that you index, "
    "now and later, with what the redaction rules find taken out. No pattern finds every secret. {more}"
)
_ALL = "Repair would also send originals and its notes, a search with rewriting its queries."
_SOME = "A search with rewriting from there sends its queries. No repair, and no topic that holds anything else."
About = Callable[[sqlite3.Connection], frozenset[str] | None]
"""The projects of which something is in a request; None where it can be of any."""


def question(model: str, endpoint: str, projects: Iterable[str] | None = None) -> str:
    """What the user is asked. `projects`: as they are called; None for all."""
    named = None if projects is None else ", ".join(map(_called, projects))
    which = "" if named is None else f" of {named}"
    return _QUESTION.format(model=model, endpoint=endpoint, which=which, more=_ALL if named is None else _SOME)


def _called(project: str) -> str:
    return "no project" if project == UNPLACED else project


def anything(_connection: sqlite3.Connection) -> frozenset[str] | None:
    """A request can be about any project."""
    return None


class ConsentGate:
    """Asked before each request. `about` says which projects the next requests are about."""

    def __init__(self, database: Database, profile_no: int, about: About = anything) -> None:
        self.about = about
        self._database = database
        self._profile_no = profile_no

    def __call__(self, model: RemoteModel) -> None:
        """StateError `consent_required`, with the token that carries a yes back, where there is none yet."""
        if is_loopback(model.endpoint):
            return
        with self._database.read() as connection:
            to = self._destination(model, self.about(connection))
            if consent.covers(connection, to):
                return
            granted = consent.allowed(connection, to)
            names = {one.project_id: f"{one.name} ({one.project_id})" for one in all_of(connection, self._profile_no)}
        if granted and to.projects is not None:
            to = self._destination(model, to.projects - granted)
        elif not granted:
            to = self.destination(model)
        asked = None if to.projects is None else sorted(to.projects)
        called = None if asked is None else [names.get(one, one) for one in asked]
        named: dict[str, object] = {"provider": to.provider, "endpoint": to.endpoint, "model": to.model}
        named |= {"token": to.token, "question": question(to.model, to.endpoint, called)}
        named |= {} if asked is None else {"projects": asked}
        only = "".join(f" --project {one}" for one in asked or ())
        hint = f"say yes with `history-recall consent grant{only}`, or set HISTORY_RECALL_MODEL to offline"
        of = "" if called is None else f" of {', '.join(map(_called, called))}"
        raise StateError("consent_required", f"Nothing{of} may be sent to {to.endpoint} ({to.model}) yet", hint, named)

    def limits(self, model: RemoteModel | LocalModel) -> frozenset[str] | None:
        """The projects to which the yes is limited; None where it is for all of them, or where none is needed."""
        if isinstance(model, LocalModel) or is_loopback(model.endpoint):
            return None
        with self._database.read() as connection:
            return consent.allowed(connection, self.destination(model))

    def destination(self, model: RemoteModel) -> Destination:
        """What a yes to everything would have to be for."""
        return self._destination(model, None)

    def _destination(self, model: RemoteModel, projects: frozenset[str] | None) -> Destination:
        return Destination(self._profile_no, model.provider, model.endpoint, model.name, projects)
