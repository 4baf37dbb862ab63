"""What state the profile is in."""

from __future__ import annotations

from collections.abc import Iterable

from recall.counting import count, many
from recall.surfaces.render.consent import consent_line
from recall.surfaces.render.jobs import job_line
from recall.surfaces.render.plain import Answer, Renderers, mapping, size, warnings
from recall.surfaces.terminal import one_line


def _status(answer: Answer) -> Iterable[str]:
    database, index, queue = answer["database"], answer["text_index"], answer["queue"]
    yield f"profile     {one_line(answer['profile'])}"
    where = one_line(database["path"])
    if database["exists"]:
        yield f"index       {where} ({size(database['bytes'])}, schema {answer['schema']}, {database['journal_mode']})"
    else:
        yield f"index       none yet ({where})"
    if answer["current_project"]:
        project = answer["current_project"]
        yield f"project     {project['project_id']} {one_line(project['name'])}"
    elif answer["project_hint"]:
        yield f"project     {one_line(answer['project_hint']['message'])}"
    parts = ("conversation", "entry", "facet", "finding", "topic")
    yield "indexed     " + ", ".join(count(answer[many(part)], part) for part in parts)
    yield f"queue       {queue['waiting']} waiting"
    for failed in queue["failed"]:
        yield f"              {one_line(failed['source'])}: {one_line(failed['message'])} ({failed['code']})"
    for job in answer["jobs"]:
        yield f"job         {job_line(job)}"
    model = answer["model"]
    if model["endpoint"] is None:
        yield "model       offline: the built-in extractive analyser; nothing leaves this machine"
    else:
        caps = answer["caps"]
        yield f"model       {one_line(model['name'])} at {one_line(model['endpoint'])}"
        yield f"calls       {answer['calls_today']} of {caps['daily_calls']} today; at most {caps['batch_calls']} a run"
        yield f"consent     {consent_line(answer['consent'])}"
    problems = f"{one_line('; '.join(index['problems']))}; see `history-recall doctor`"
    health = "healthy" if index["healthy"] else f"damaged: {problems}"
    yield f"text index  {health}" + (f" ({index['engine']})" if index["engine"] else "")
    for host, states in answer["coverage"].items():
        yield f"sources     {host}: {mapping(states)}"
    if not answer["coverage"]:
        yield "sources     none found; see `history-recall sources list`"
    yield f"redacted    {mapping(answer['redactions'])}"
    if answer["skipped_lines"]:
        yield f"skipped     {mapping(answer['skipped_lines'])}"
    yield from warnings(answer)
    if answer.get("cost") == []:
        yield "spent       nothing: no model was asked yet"
    for spent in answer.get("cost", []):
        cost = "unknown price" if spent["cost_usd"] is None else f"{spent['cost_usd']:.4f} USD"
        tokens = f"{spent['prompt_tokens']} + {spent['completion_tokens']} tokens"
        calls = f"{count(spent['calls'], 'call')} ({spent['failed']} failed)"
        yield f"spent       {one_line(spent['model'])}: {calls}, {tokens}, {cost}"


RENDERERS: Renderers = {
    "status": _status,
}
