"""The operations table: a module for what belongs together, each row calling one workflow.

A workflow is imported when it is called: a search needs no analyser, and starts in the time that searching takes.
"""

from __future__ import annotations

from recall.surfaces.commands import (
    brief,
    browsing,
    carrying,
    consent,
    conversations,
    doctor,
    forgetting,
    hosts,
    indexing,
    jobs,
    projects,
    reading,
    searching,
    serving,
    status,
    upkeep,
)
from recall.surfaces.operations import Operation

# In the order of docs/commands.md.
OPERATIONS: tuple[Operation, ...] = (
    *status.OPERATIONS,
    *conversations.OPERATIONS,
    *indexing.OPERATIONS,
    *jobs.OPERATIONS,
    *upkeep.OPERATIONS,
    *searching.OPERATIONS,
    *reading.OPERATIONS,
    *browsing.OPERATIONS,
    *projects.OPERATIONS,
    *brief.OPERATIONS,
    *forgetting.OPERATIONS,
    *carrying.OPERATIONS,
    *hosts.OPERATIONS,
    *consent.OPERATIONS,
    *doctor.OPERATIONS,
    *serving.OPERATIONS,
)
