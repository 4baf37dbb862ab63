"""The road to the model of a run: consent, caps, ledger and cache put together in one place."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from recall.models.calls import CallLimits, Road
from recall.models.choose import choose_model
from recall.models.gate import ConsentGate
from recall.run import Run


@contextlib.asynccontextmanager
async def road_of(
    run: Run,
    profile_no: int,
    *,
    gate: ConsentGate | None = None,
    batch_calls: int | None = None,
    since: float | None = None,
) -> AsyncIterator[Road]:
    """The road, closed when the work on it ends. A cancel of the run ends what is under way on it.

    `gate`: one that is told which projects the requests are about. `batch_calls`: the cap of this run, where it is not
    that of the settings. `since`: when the search that waits for a rewrite began, on the monotonic clock.
    """
    road = Road(
        run.database,
        profile_no,
        run.run_id,
        (run.choose or choose_model)(run.settings, run.database),
        CallLimits.of(run.settings, batch_calls=batch_calls),
        consent=gate or ConsentGate(run.database, profile_no),
        clock=run.clock,
        cancelled=run.cancellation,
        since=since,
    )
    run.cancellation.listen(road.cancel)
    try:
        yield road
    finally:
        await road.close()
