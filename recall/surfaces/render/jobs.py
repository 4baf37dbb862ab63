"""Index runs in the background."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recall.surfaces.render.indexing import indexed
from recall.surfaces.render.plain import Answer, Renderers, clock
from recall.surfaces.terminal import one_line


def job_line(job: Answer) -> str:
    """One job, or one source that another run works on."""
    what = f"{job['job_id']} {job['state']}" if job["job_id"] else job["state"]
    if job["source"] is not None:
        return f"{what}: {one_line(job['source'])}, {job['stage']} since {clock(job['progressed_at'])}"
    code = f" ({job['code']})" if job["code"] else ""
    return f"{what}: {one_line(job['words'])}, started {clock(job['started_at'])}{code}"


def _jobs(answer: Answer) -> Iterable[str]:
    for job in answer["jobs"]:
        yield job_line(job)
    if answer["message"]:
        yield one_line(answer["message"])


def _one_job(answer: Answer) -> Iterable[str]:
    yield job_line(answer["job"])
    ended = answer.get("answer")
    if isinstance(ended, Mapping) and "error" not in ended:
        yield from indexed(ended)
    elif isinstance(ended, Mapping):
        yield one_line(ended["error"]["message"])
    yield one_line(answer["message"])


RENDERERS: Renderers = {
    "jobs list": _jobs,
    "jobs follow": _one_job,
    "jobs cancel": _one_job,
}
