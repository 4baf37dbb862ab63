"""Answers as a person reads them. Everything that came from a log goes through `visible` or `one_line`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from recall.errors import RecallError
from recall.surfaces import render_hosts, render_keeping, render_projects
from recall.surfaces.blocks import with_messages
from recall.surfaces.counting import count, many
from recall.surfaces.terminal import one_line, visible

Answer = Mapping[str, Any]
_WIDTH = 100
_WARNINGS_SHOWN = 5


def text(operation: str, answer: Answer, command: str = "") -> str:
    """The answer of an operation as text without a trailing line break. `command` is how to ask for the next page."""
    lines = list(_RENDERERS[operation](answer))
    if operation != "status" and answer.get("project_hint"):
        lines.append(f"hint: {one_line(answer['project_hint']['message'])}")
    if answer.get("next_cursor"):
        lines.append(f"more: {one_line(command)} --cursor {answer['next_cursor']}")
    return "\n".join(lines)


def again(command: Sequence[str]) -> list[str]:
    """The words of a command without its cursor: what the next page is asked with."""
    words = list(command)
    if "--cursor" in words:
        place = words.index("--cursor")
        del words[place : place + 2]
    return [word for word in words if not word.startswith("--cursor=")]


def error(wrong: RecallError) -> list[str]:
    """An error as a person reads it: what happened, the question where one is open, what to do."""
    lines = [visible(f"error: {wrong.message} ({wrong.code})")]
    if "question" in wrong.data:
        lines.append(visible(f"  {wrong.data['question']}"))
    if wrong.hint:
        lines.append(visible(f"  {wrong.hint}"))
    return lines


def _size(number: int) -> str:
    amount, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"


def _clock(iso: str | None) -> str:
    return "unknown time" if not iso else iso[:16].replace("T", " ") + " UTC"


def _cut(value: str, width: int) -> str:
    line = one_line(value)
    return line if len(line) <= width else line[: width - 1] + "…"


def _wrapped(value: str, indent: str) -> list[str]:
    lines: list[str] = []
    for line in visible(value).split("\n"):
        lines += textwrap.wrap(line, _WIDTH, initial_indent=indent, subsequent_indent=indent) or [""]
    return lines


def _mapping(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def _status(answer: Answer) -> Iterable[str]:
    database, index, queue = answer["database"], answer["text_index"], answer["queue"]
    yield f"profile     {one_line(answer['profile'])}"
    where = one_line(database["path"])
    if database["exists"]:
        yield f"index       {where} ({_size(database['bytes'])}, schema {answer['schema']}, {database['journal_mode']})"
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
        yield f"job         {_job(job)}"
    model = answer["model"]
    if model["endpoint"] is None:
        yield "model       offline: the built-in extractive analyser; nothing leaves this machine"
    else:
        caps = answer["caps"]
        yield f"model       {one_line(model['name'])} at {one_line(model['endpoint'])}"
        yield f"calls       {answer['calls_today']} of {caps['daily_calls']} today; at most {caps['batch_calls']} a run"
        yield f"consent     {_consent_line(answer['consent'])}"
    problems = f"{one_line('; '.join(index['problems']))}; see `history-recall doctor`"
    health = "healthy" if index["healthy"] else f"damaged: {problems}"
    yield f"text index  {health}" + (f" ({index['engine']})" if index["engine"] else "")
    for host, states in answer["coverage"].items():
        yield f"sources     {host}: {_mapping(states)}"
    if not answer["coverage"]:
        yield "sources     none found; see `history-recall sources list`"
    yield f"redacted    {_mapping(answer['redactions'])}"
    if answer["skipped_lines"]:
        yield f"skipped     {_mapping(answer['skipped_lines'])}"
    yield from _warnings(answer)
    if answer.get("cost") == []:
        yield "spent       nothing: no model was asked yet"
    for spent in answer.get("cost", []):
        cost = "unknown price" if spent["cost_usd"] is None else f"{spent['cost_usd']:.4f} USD"
        tokens = f"{spent['prompt_tokens']} + {spent['completion_tokens']} tokens"
        calls = f"{count(spent['calls'], 'call')} ({spent['failed']} failed)"
        yield f"spent       {one_line(spent['model'])}: {calls}, {tokens}, {cost}"


def _job(job: Answer) -> str:
    """One job, or one source that another run works on."""
    what = f"{job['job_id']} {job['state']}" if job["job_id"] else job["state"]
    if job["source"] is not None:
        return f"{what}: {one_line(job['source'])}, {job['stage']} since {_clock(job['progressed_at'])}"
    code = f" ({job['code']})" if job["code"] else ""
    return f"{what}: {one_line(job['words'])}, started {_clock(job['started_at'])}{code}"


def _jobs(answer: Answer) -> Iterable[str]:
    for job in answer["jobs"]:
        yield _job(job)
    if answer["message"]:
        yield one_line(answer["message"])


def _one_job(answer: Answer) -> Iterable[str]:
    yield _job(answer["job"])
    ended = answer.get("answer")
    if isinstance(ended, Mapping) and "error" not in ended:
        yield from _index(ended)
    elif isinstance(ended, Mapping):
        yield one_line(ended["error"]["message"])
    yield one_line(answer["message"])


def _consent_line(consent: Mapping[str, Any]) -> str:
    if consent["endpoint"] is None:
        return "not needed (offline: there is no endpoint, nothing is sent)"
    if not consent["needed"]:
        return "not needed (the endpoint is on this machine)"
    if consent["granted"]:
        return "given"
    if consent["projects"]:
        return f"given for {_of_projects(consent['projects'])} only"
    return "missing; allow it with `history-recall consent grant`"


def _of_projects(projects: Iterable[str]) -> str:
    return ", ".join("what is in no project" if one == "none" else one_line(one) for one in projects)


def _warnings(answer: Answer) -> Iterable[str]:
    for warning in answer.get("warnings") or []:
        yield f"warning     {one_line(warning['message'])}"


def _conversations(answer: Answer) -> Iterable[str]:
    for row in answer["conversations"]:
        name = row["title"] or row["cwd"] or ""
        marks = " (running)" if row["running"] else " (subagent)" if row["sidechain"] else ""
        marks += " (a copy)" if row["copy_of"] else ""
        head = f"{row['state']:<10} {row['host']:<11} {_clock(row['active_at'])}  {_size(row['size_bytes']):>9}"
        yield f"{head}  {row['conversation_id'] or '-':<14}  {_cut(name, 48)}{marks}"
        yield f"           {one_line(row['source'])}"
        if row["problem"]:
            yield f"           {one_line(row['problem'])}"
    if answer["message"]:
        yield one_line(answer["message"])
    yield from _warnings(answer)


def _sources(answer: Answer) -> Iterable[str]:
    for root in answer["roots"]:
        yield f"{root['host']:<11} {one_line(root['path'])}" + ("" if root["exists"] else "  (not there)")
    for added in answer["added"]:
        yield f"added       {one_line(added['path'])}  ({added['kind']})"


def _added(answer: Answer) -> Iterable[str]:
    verb = "added" if "added" in answer else "removed"
    row = answer[verb]
    logs = f"  ({count(row['logs'], 'log')})" if row.get("logs") else ""
    yield f"{verb} {row['kind']} {one_line(row['path'])}{logs}"
    if answer.get("message"):
        yield one_line(answer["message"])


def _index(answer: Answer) -> Iterable[str]:
    if "would_send" in answer:
        yield from _dry_run(answer)
        return
    if answer.get("state") == "running":
        yield one_line(answer["message"])
        return
    for done in answer["completed"]:
        if done["unchanged"]:
            yield f"unchanged  {done['conversation_id']}  {one_line(done['source'])}"
            continue
        topics = done["topics"]
        new, updated = len(topics["created"]), len(topics["updated"])
        found = f"{count(done['facets'], 'facet')}, {count(new, 'new topic')}, {count(updated, 'topic')} updated"
        yield f"indexed    {done['conversation_id']}  {found}  {one_line(done['source'])}"
        yield from _repaired(done["repair"], topics)
        yield from _source_warnings(done["warnings"])
    for row in answer["skipped"]:
        yield f"skipped    {one_line(row['source'])}: {one_line(row['message'])} ({row['code']})"
    if not any(answer.get(what) for what in ("completed", "skipped", "failed", "aborted", "left")):
        yield "Nothing is new or changed; `history-recall conversations` lists what there is"
    wall = answer["aborted"]
    for row in answer["failed"]:
        if wall is None or row["code"] != wall["code"]:
            yield f"failed     {one_line(row['source'])}: {one_line(row['message'])} ({row['code']})"
    if wall:
        yield f"stopped    {one_line(wall['message'])} ({wall['code']})"
        if wall["hint"]:
            yield f"           {one_line(wall['hint'])}"
    if answer.get("maintenance"):
        yield from _repaired(answer["maintenance"]["repair"], answer["maintenance"]["topics"])
    totals = [count(len(answer["completed"]), "conversation"), count(answer["calls"], "model call")]
    totals.append(f"redacted: {_mapping(answer['redactions'])}")
    yield ", ".join(totals)
    if answer.get("left"):
        yield f"{answer['left']} still queued" + ("" if wall else "; run index-all again to go on")


def _repaired(repair: Mapping[str, Any], topics: Mapping[str, Any]) -> Iterable[str]:
    """What topic repair came to, where it ran."""
    if repair["state"] in ("none", "not_due"):
        return
    said = {
        "done": "topics mended",
        "nothing": "topics looked at, nothing to mend",
        "deferred": "topics are looked at later",
        "skipped": "topics not looked at",
        "unsupported": "this model cannot repair topics",
    }[repair["state"]]
    changes = [f"{len(topics[what])} {what}" for what in ("moved", "merged", "created", "retired") if topics[what]]
    if repair["state"] == "done" and changes:
        said += f": {', '.join(changes)}"
    if repair["audited"]:
        said += f" ({count(repair['audited'], 'facet')} audited, {count(repair['receipts'], 'receipt')})"
    yield f"           {said}"
    for row in repair["deferred"]:
        yield f"           left alone: {one_line(row['conversation_id'])} ({row['code']})"


def _repair(answer: Answer) -> Iterable[str]:
    for one in answer["runs"]:
        yield from (line.strip() for line in _repaired(one["repair"], one["topics"]))
    yield count(answer["calls"], "model call")
    if answer["left"]:
        yield f"{count(answer['left'], 'topic')} still waiting; run repair again to go on"


def _source_warnings(warnings: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for warning in warnings[:_WARNINGS_SHOWN]:
        line = f"line {warning['line']}: " if warning["line"] else ""
        yield f"           {line}{one_line(warning['message'])} ({warning['code']})"
    if len(warnings) > _WARNINGS_SHOWN:
        yield f"           and {count(len(warnings) - _WARNINGS_SHOWN, 'more warning')}"


def _dry_run(answer: Answer) -> Iterable[str]:
    would = answer["would_send"]
    yield f"{count(answer['sources'], 'conversation')} would be indexed with {one_line(would['model'])}"
    if not would["calls"]:
        yield "nothing would be sent"
    else:
        least = would["at_least"]
        what = f"{count(would['calls'], 'request')}, {_size(would['bytes'])}"
        if not would["exact"]:
            what = f"at least {count(least['calls'], 'request')}, {_size(least['bytes'])}; at most {what}"
        yield f"would send {what}, to {one_line(would['endpoint'])}"
    yield f"would redact: {_mapping(answer['redactions'])}"
    for row in answer["failed"]:
        yield f"cannot be read: {one_line(row['source'])}: {one_line(row['message'])} ({row['code']})"


def _rebuild(answer: Answer) -> Iterable[str]:
    dropped = count(answer["cached_replies_dropped"], "cached reply")
    would = "would be " if answer["text_index"] == "unchanged" else ""
    yield f"{count(answer['queued'], 'source')} {would}queued, {dropped} {would}dropped"
    yield from _wrapped(answer["message"], "")


_UNDONE = ("abandoned_branch", "rewound", "rolled_back")  # what was said there did not stay


def _search(answer: Answer) -> Iterable[str]:
    if answer.get("message"):
        yield one_line(answer["message"])
    for place, conversation in enumerate(answer["conversations"], start=1):
        title = conversation["title"] or "(untitled)"
        yield f"{place}. {_cut(title, 70)}  [{conversation['host']}, {_clock(conversation['last_active_at'])}]"
        state = conversation["source_state"]
        project = f"  project: {one_line(conversation['project_name'])}" if conversation["project_name"] else ""
        yield f"   {conversation['conversation_id']}{project}" + ("" if state == "ok" else f"  source: {state}")
        for entry in conversation["entries"]:
            near = "" if {"keyword", "literal"} & set(entry["found_by"]) else "  (beside or behind a hit)"
            undone = [mark for mark in entry["status"] or () if mark in _UNDONE]
            given_up = f"  [{', '.join(undone)}]" if undone else ""
            said = f"{entry['role']} {entry['entry_id']}  {_clock(entry['timestamp'])}"
            yield f"   - {said}{given_up}{_facet_of(entry)}{near}"
            if by := entry.get("superseded_by"):
                now = f"{_cut(by['statement'], 90)} ({by['conversation_id']}, {_clock(by['timestamp'])})"
                yield f"     superseded: {now}"
            quote = " ".join(entry["snippet"].split())
            quote = f"{'… ' if entry['cut_before'] else ''}{quote}{' …' if entry['cut_after'] else ''}"
            yield from _wrapped(quote, "     ")
            if entry.get("explain"):
                yield f"     {_explained(entry['explain'])}"
        if conversation.get("truncated"):
            yield f"   (more in this conversation: --conversation {conversation['conversation_id']})"
    if answer["conversations"]:
        first = answer["conversations"][0]
        entry = first["entries"][0]["entry_id"] if first["entries"] else ""
        yield f"read on: history-recall read {first['conversation_id']} --entry {one_line(entry)}"


def _facet_of(entry: Mapping[str, Any]) -> str:
    facet = entry.get("facet")
    title = facet["title"] if isinstance(facet, Mapping) else facet
    return f"  ({_cut(str(title), 50)})" if title else ""


def _explained(explain: Mapping[str, Any]) -> str:
    parts = ", ".join(f"{name} {value:.3f}" for name, value in explain["parts"].items())
    return f"score {explain['score']:.3f} ({parts})"


def _read(answer: Answer) -> Iterable[str]:
    state = answer["source_state"]
    title = f"  {_cut(answer['title'], 70)}" if answer["title"] else ""
    yield f"{answer['conversation_id']}{title}  [{answer['host']}]" + ("" if state == "ok" else f"  (source: {state})")
    if answer.get("resume"):
        yield f"go on with it: {one_line(answer['resume'])}"
    if answer["graph_damaged"]:
        yield "(its entries do not hang together: some name a parent that is not there)"
    for fragment, before, adjoins in with_messages(answer["fragments"]):
        status = fragment["status"]
        marks = [mark for mark in status if mark != "active"] if isinstance(status, Sequence) else []
        label = f"  [{', '.join(marks)}]" if marks else ""
        yield ""
        if fragment["broken"]:
            yield "(the chain is broken here: what this entry answers is not in the log)"
        if fragment["stands"] is False:
            yield "(as it was indexed: the log holds something else at this place now)"
        name = one_line(fragment["entry_id"])
        if adjoins:  # a further block of the message above
            yield f"--- {name}{label}"
        else:
            after = f"  (goes on with the message of {one_line(before)})" if before is not None else ""
            yield f"--- {fragment['role']} {name}  {_clock(fragment['timestamp'])}{label}{after}"
        if fragment["offset"]:
            yield f"(goes on at character {fragment['offset']} of {fragment['total_chars']})"
        yield visible(fragment["text"])
    context = answer.get("context") or {}
    for other in context.get("alternate_children") or []:
        yield f"other branch here: {one_line(str(other if isinstance(other, str) else other.get('entry_id')))}"


def _browse(answer: Answer) -> Iterable[str]:
    for entry in answer["entries"]:
        if answer["level"] == "topics":
            when = f"{_clock(entry['first_at'])[:10]} to {_clock(entry['last_at'])[:10]}"
            held = count(entry["conversations"], "conversation")
            yield f"{entry['topic_id']}  {_cut(entry['title'], 70)}  ({held}, {when})"
            yield from _wrapped(entry["description"], "    ")
        elif answer["level"] == "conversations":
            title = _cut(entry["title"] or "(untitled)", 70)
            yield f"{entry['conversation_id']}  {title}  {_clock(entry['last_active_at'])}"
            yield from _wrapped(entry["summary"], "    ")
            for membership in entry["memberships"]:
                given_up = "  (a branch that was given up)" if membership["abandoned"] else ""
                yield f"    {_cut(membership['facet'], 80)}{given_up}"
                for finding in membership["findings"]:
                    yield f"      {finding['status']}: {_cut(finding['statement'], 120)}"
                    if by := finding["superseded_by"]:
                        yield f"        by {_cut(by['statement'], 100)} ({by['conversation_id']})"
        else:
            source = f"  ({entry['conversation_id']})" if entry["conversation_id"] else ""
            yield f"{_clock(entry['at'])}{source}"
            yield from _wrapped(entry["words"], "    ")
    if not answer["entries"]:
        yield one_line(answer["message"])


def _consent(answer: Answer) -> Iterable[str]:
    yield f"consent: {_consent_line(answer)}"
    if answer["question"]:
        yield from _wrapped(answer["question"], "  ")
    for grant in answer["grants"]:
        until = f", taken back {_clock(grant['revoked_at'])}" if grant["revoked_at"] else ""
        given = _clock(grant["granted_at"])
        only = "" if grant["projects"] == "all" else f" for {_of_projects(grant['projects'])}"
        yield f"  {one_line(grant['model'])} at {one_line(grant['endpoint'])}: given{only} {given}{until}"


def _doctor(answer: Answer) -> Iterable[str]:
    for check in answer["checks"]:
        sign = {True: "ok  ", False: "FAIL", None: "-   "}[check["ok"]]
        yield f"{sign}  {check['name']:<12} {one_line(check['detail'])}"
        if check["hint"]:
            yield f"        {one_line(check['hint'])}"


_RENDERERS: dict[str, Callable[[Answer], Iterable[str]]] = {
    "status": _status,
    "conversations": _conversations,
    "sources list": _sources,
    "sources add": _added,
    "sources remove": _added,
    "index": _index,
    "index-all": _index,
    "jobs list": _jobs,
    "jobs follow": _one_job,
    "jobs cancel": _one_job,
    "repair": _repair,
    "rebuild": _rebuild,
    "search": _search,
    "read": _read,
    "browse": _browse,
    **render_projects.RENDERERS,
    **render_keeping.RENDERERS,
    **render_hosts.RENDERERS,
    "consent show": _consent,
    "consent grant": _consent,
    "consent revoke": _consent,
    "doctor": _doctor,
}
