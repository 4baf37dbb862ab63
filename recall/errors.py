"""Every way this product says no.

    RecallError                 code, message, hint, data; `counts_as_attempt`
      SourceError               invalid_source unsupported_source source_too_large source_busy source_missing
                                source_unreadable not_authorised source_identity_changed duplicate_conversation
                                stale_evidence source_empty current_conversation forgotten internal
      ArgumentError             usage invalid_time invalid_limit invalid_query invalid_cursor stale_cursor not_found
                                unknown_project no_project name_taken bind_refused scope_forbidden
                                host_config invalid_bundle
      ModelError                model_unavailable auth_unavailable model_request_failed model_output_truncated
                                invalid_model_output model_context_too_small unsupported_repair_model
                                repair_incomplete model_refused rate_limited model_reduce_not_shrinking
      StateError                consent_required work_budget daily_budget lease_lost lease_held topic_state_changed
                                unsupported_index index_damaged index_unavailable disk_full cancelled
                                project_not_empty confirmation_required

A code is stable and belongs to one class. `message` says what happened and where, `hint` what to do. No text of a
conversation and no key may stand in either. The cause is kept with `raise ... from`.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar


class RecallError(Exception):
    """A failure with a stable code. `data` is JSON-ready; `counts_as_attempt` is False where nobody did wrong."""

    codes: ClassVar[frozenset[str]] = frozenset()
    free_codes: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, code: str, message: str, hint: str = "", data: Mapping[str, object] | None = None) -> None:
        if code not in self.codes:
            raise ValueError(f"{type(self).__name__} has no code {code!r}")
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.hint = hint
        self.data: Mapping[str, object] = dict(data or {})

    def __str__(self) -> str:
        return f"{self.message} ({self.code})" + (f" - {self.hint}" if self.hint else "")

    @property
    def counts_as_attempt(self) -> bool:
        """False for cancellation, a changed incoming source, a concurrent topic change and a spent budget."""
        return self.code not in self.free_codes

    def as_json(self) -> dict[str, object]:
        """The error document of the contract."""
        body: dict[str, object] = {"code": self.code, "message": self.message, "hint": self.hint}
        return {"error": body | ({"data": dict(self.data)} if self.data else {})}


class SourceError(RecallError):
    """A source cannot be read, is not authorised, or is not what it was."""

    codes = frozenset(
        {
            "invalid_source",
            "unsupported_source",
            "source_too_large",
            "source_busy",
            "source_missing",
            "source_unreadable",
            "source_empty",
            "not_authorised",
            "source_identity_changed",
            "duplicate_conversation",
            "stale_evidence",
            "current_conversation",
            "forgotten",
            "internal",
        }
    )
    free_codes = frozenset(
        {"source_busy", "source_identity_changed", "stale_evidence", "current_conversation", "forgotten"}
    )


class ArgumentError(RecallError):
    """What the caller asked for is not of the operation's form, or not there."""

    codes = frozenset(
        {
            "usage",
            "invalid_time",
            "invalid_limit",
            "invalid_query",
            "invalid_cursor",
            "stale_cursor",
            "not_found",
            "unknown_project",
            "no_project",
            "name_taken",
            "bind_refused",
            "scope_forbidden",
            "host_config",
            "invalid_bundle",
        }
    )


class ModelError(RecallError):
    """A model did not answer, or did not answer in the form asked for."""

    codes = frozenset(
        {
            "model_unavailable",
            "auth_unavailable",
            "model_request_failed",
            "model_output_truncated",
            "invalid_model_output",
            "model_context_too_small",
            "unsupported_repair_model",
            "repair_incomplete",
            "model_refused",
            "rate_limited",
            "model_reduce_not_shrinking",
        }
    )


class StateError(RecallError):
    """The index, the queue, a budget or a permission is not in the state that the operation needs."""

    codes = frozenset(
        {
            "consent_required",
            "work_budget",
            "daily_budget",
            "lease_lost",
            "lease_held",
            "topic_state_changed",
            "unsupported_index",
            "index_damaged",
            "index_unavailable",
            "disk_full",
            "cancelled",
            "project_not_empty",
            "confirmation_required",
        }
    )
    free_codes = frozenset(
        {
            "consent_required",
            "work_budget",
            "daily_budget",
            "lease_held",
            "topic_state_changed",
            "cancelled",
            "project_not_empty",
            "confirmation_required",
        }
    )


def from_json(document: Mapping[str, object]) -> RecallError | None:
    """The error of an error document of ours (another process wrote it); None for any other document."""
    body = document.get("error")
    if not isinstance(body, Mapping):
        return None
    code, data = str(body.get("code")), body.get("data")
    kind = next((each for each in (SourceError, ArgumentError, ModelError, StateError) if code in each.codes), None)
    if kind is None:
        return None
    return kind(code, str(body.get("message")), str(body.get("hint")), data if isinstance(data, Mapping) else None)


def unforeseen(error: BaseException, outcome: str) -> SourceError:
    """A fault of ours, by its type and place only: its own words may be text of a conversation."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    message = f"Internal fault: {type(error).__name__} at {where}; {outcome}"
    return SourceError("internal", message, "please report it with this line")
