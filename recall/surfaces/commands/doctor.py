"""The command that checks the index and says how to mend it."""

from __future__ import annotations

from recall.errors import StateError
from recall.surfaces.operations import Answer, Arguments, Operation, Parameter
from recall.surfaces.session import Session


def _doctor(session: Session, arguments: Arguments) -> Answer:
    from recall import doctor

    if arguments.get("rebuild_text_index"):
        return doctor.rebuild_text_index(session.settings, session.for_work())
    try:
        database = session.for_reading()
    except StateError as error:
        if error.code != "index_damaged":
            raise
        return doctor.of_damaged(session.settings, error)
    return doctor.doctor(session.settings, database, deep=bool(arguments.get("deep")))


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "doctor",
        "Check the index, its permissions and the hosts; say how to mend what is wrong.",
        _doctor,
        (
            Parameter("deep", "Also read every page and verify every quote.", "flag"),
            Parameter("rebuild_text_index", "Build the text index again from the stored text.", "flag"),
        ),
        lambda answer: 0 if answer.get("ok") else 1,
    ),
)
