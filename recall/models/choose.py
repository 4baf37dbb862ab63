"""The model that the settings name."""

from __future__ import annotations

from recall.index.database import Database
from recall.models.endpoints import endpoint_of
from recall.models.formats import StoredFormats
from recall.models.host_model import HostModel, Lender
from recall.models.litellm_model import LitellmModel
from recall.models.offline import OfflineModel
from recall.models.request import LocalModel, RemoteModel
from recall.settings import HOST, Settings


def choose_model(
    settings: Settings, database: Database | None = None, lender: Lender | None = None
) -> RemoteModel | LocalModel:
    """The built-in analyser, or a model behind an endpoint; nothing is loaded, checked or sent yet.

    With a database, what the endpoint was seen to take is remembered there. `lender`: the host that lends its own.
    """
    if settings.offline:
        return OfflineModel()
    if settings.model == HOST:
        return HostModel(lender)
    endpoint = endpoint_of(settings.model, settings.api_base)
    formats = StoredFormats(database, endpoint, settings.model) if database is not None else None
    return LitellmModel(settings.model, settings.api_base, formats=formats)
