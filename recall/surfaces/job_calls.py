"""Index runs as a client starts them: detached, or tied to the client and answered in time while they go on.

A tied one ends when its client goes away or the call that asked for it is cancelled; what was paid for is cached and
the source stays in the queue, so the same call goes on with it. A detached one ends only by itself or by `jobs cancel`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from recall.run import Cancellation, Progress
from recall.surfaces.answering import Answered, Asked, answer
from recall.surfaces.job_process import JobProcess
from recall.surfaces.lending import Borrower, Lend
from recall.surfaces.operations import Operation
from recall.surfaces.session import Session

PATIENCE = 20.0  # seconds: the shortest time-out of a host's tool call is 30
_INDEXING = frozenset({"index", "index-all"})
_CANCEL_SECONDS = 20.0  # a run that was cancelled ends within 5; a machine under load may take longer


def detach(session: Session, operation: Operation, arguments: Mapping[str, object]) -> dict[str, object]:
    """Start a detached run, and answer with its `job_id`; with what it came to, where it ended before it had one.

    Raises what it raised in that case. A cancel before it has begun ends it.
    """
    asked = Asked(operation, arguments, session.settings.as_overrides())
    process = JobProcess.start(asked, session.report, detached=True)
    while (answered := process.wait(0.1, until_begun=True)) is None and process.job_id is None:
        if session.cancellation():
            process.terminate()
            session.cancellation.check()
    if answered is not None and answered.error is not None:
        raise answered.error
    return running(process) if answered is None else dict(answered.document)


class Jobs:
    """The index runs that are tied to one client."""

    def __init__(self, lend: Lend | None = None) -> None:
        self._lend = lend
        self._running: set[JobProcess] = set()
        self._lock = threading.Lock()

    def perform(
        self,
        asked: Asked,
        report: Callable[[Progress], None],
        cancellation: Cancellation,
        patience: float | None = None,
    ) -> Answered:
        """Run an operation. An index run that has not ended after `patience` seconds is answered as a running job;
        None waits for its end.
        """
        if asked.operation.name not in _INDEXING or asked.arguments.get("dry_run") or asked.arguments.get("detach"):
            lender = None if self._lend is None else Borrower(self._lend)
            return answer(asked, report, cancellation, lender=lender)
        process = JobProcess.start(asked, report, detached=False, lend=self._lend)
        with self._lock:
            self._running = {one for one in self._running if one.answered is None} | {process}
        cancellation.listen(process.cancel)
        if cancellation():
            process.cancel()
        answered = process.wait(patience) or process.wait(None, until_begun=True)
        return answered or Answered(running(process), 0)

    def close(self) -> None:
        """The client has gone: end what is tied to it, and see it end."""
        with self._lock:
            left = [one for one in self._running if one.answered is None]
        for process in left:
            process.cancel()
        for process in left:
            process.wait(_CANCEL_SECONDS)


def running(process: JobProcess) -> dict[str, object]:
    """The `index` answer of a run that goes on."""
    job_id = process.job_id
    return {
        "requested": 1,
        "completed": [],
        "skipped": [],
        "failed": [],
        "calls": 0,
        "redactions": {},
        "aborted": None,
        "left": 0,
        "job_id": job_id,
        "state": "running",
        "message": f"The job {job_id} is running: status says how far it is, `jobs follow {job_id}` waits for its end",
    }
