"""May this model be sent anything? Yes on this machine; elsewhere only with a yes of the user's that covers it."""

from __future__ import annotations

from recall.errors import StateError
from recall.index import consent
from recall.index.consent import Destination
from recall.index.database import Database
from recall.models.endpoints import is_loopback
from recall.models.request import RemoteModel

QUESTION = (
    "Indexing with {model} sends to {endpoint}: the whole extracted text of every conversation that you index, now and "
    "later, with what the redaction rules find taken out. No pattern finds every secret. Repair would also send "
    "originals and its notes, a search with rewriting its queries."
)


class ConsentGate:
    """Asked before each request. `projects` is None where the run may touch conversations of any project."""

    def __init__(self, database: Database, profile_no: int, projects: frozenset[str] | None = None) -> None:
        self._database = database
        self._profile_no = profile_no
        self._projects = projects

    def __call__(self, model: RemoteModel) -> None:
        """StateError `consent_required`, with the token that carries a yes back, where there is none yet."""
        if not self.allows(model):
            to = self.destination(model)
            question = QUESTION.format(model=to.model, endpoint=to.endpoint)
            named = {"provider": to.provider, "endpoint": to.endpoint, "model": to.model, "token": to.token}
            data = named | {"question": question}
            hint = "say yes with `history-recall consent grant`, or set HISTORY_RECALL_MODEL to offline"
            raise StateError("consent_required", f"Nothing may be sent to {to.endpoint} ({to.model}) yet", hint, data)

    def allows(self, model: RemoteModel) -> bool:
        """Whether a request may go out, without raising."""
        if is_loopback(model.endpoint):
            return True
        with self._database.read() as connection:
            return consent.covers(connection, self.destination(model))

    def destination(self, model: RemoteModel) -> Destination:
        """What a yes would have to be for."""
        return Destination(self._profile_no, model.provider, model.endpoint, model.name, self._projects)
