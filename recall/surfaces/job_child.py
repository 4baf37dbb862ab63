"""An index run in a process of its own: the end that runs it.

It says on standard output, a line each, its job's id, its progress and what it came to. It ends in order when its
standard input ends, unless it was started detached: then it goes on alone.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from recall.jobs import JobRecord
from recall.run import Cancellation, Progress
from recall.surfaces.answering import Answered, Asked, answer
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.lending import Answer, Borrower, Waiting
from recall.surfaces.operations import Operation
from recall.surfaces.progress import Pace
from recall.surfaces.session import signals_cancel
from recall.surfaces.terminal import json_text


def main(spec: Mapping[str, Any]) -> None:
    """The new process."""
    operation = next(one for one in OPERATIONS if one.name == spec["operation"])
    cancellation, teller = Cancellation(), _Teller()
    hung_up = (lambda: None) if spec["detached"] else cancellation.cancel
    threading.Thread(target=teller.listen, args=(hung_up,), daemon=True).start()
    with signals_cancel(cancellation):
        asked = Asked(operation, spec["arguments"], spec["overrides"])
        answered = _as_job(asked, teller, cancellation, detached=spec["detached"])
    teller.say({"document": answered.document, "exit_code": answered.exit_code})


def _as_job(asked: Asked, teller: _Teller, cancellation: Cancellation, *, detached: bool) -> Answered:
    with JobRecord(words(asked), cancellation, detached=detached) as record:

        def step(progress: Progress) -> None:
            if record.job_id is not None:  # its row was written with the first lease, and a step comes after that
                teller.begun(record.job_id)
            teller.report(progress)

        answered = answer(asked, step, cancellation, record, Borrower(teller.lend))
        if record.job_id is not None:
            answered = _with_job(answered, record.job_id)
            record.end(_state(answered), answered.document)
        return answered


class _Teller:
    """Says what happens to who started us. Where nobody listens any more, the work does not depend on it."""

    def __init__(self) -> None:
        self._pace = Pace()
        self._begun = False
        self._deaf = False
        self._waiting = Waiting("")
        self._saying = threading.Lock()

    def listen(self, hung_up: Callable[[], None]) -> None:
        """Answers of the host's model, until who started us closes our input."""
        for line in sys.stdin.buffer:
            answer = json.loads(line)
            self._waiting.answered(answer.pop("id"), answer)
        self._waiting.end()
        hung_up()

    def lend(self, request: Mapping[str, object], reply: Callable[[Answer], None]) -> None:
        """Pass a request to the host's model on to who started us."""
        self.say({"model": {"id": self._waiting.add(reply), **request}})

    def begun(self, job_id: str) -> None:
        if not self._begun:
            self._begun = True
            self.say({"job_id": job_id})

    def report(self, progress: Progress) -> None:
        if self._pace.is_due(progress):
            self.say({"progress": asdict(progress)})

    def say(self, line: Mapping[str, object]) -> None:
        data = json_text(line).encode("utf-8") + b"\n"
        try:
            with self._saying:
                while data and not self._deaf:
                    data = data[os.write(1, data) :]
        except OSError:
            self._deaf = True


def words(asked: Asked) -> str:
    """The words of an operation as they are typed, without what was only for this run."""
    given = {name: value for name, value in asked.arguments.items() if name not in ("confirm", "detach")}
    return shlex.join([*asked.operation.name.split(), *_options(asked.operation, given)])


def _options(operation: Operation, arguments: Mapping[str, object]) -> list[str]:
    typed: list[str] = []
    for parameter in operation.parameters:
        value = arguments.get(parameter.name)
        if value is None or value is False:
            continue
        option = [] if parameter.positional else [f"--{parameter.name.replace('_', '-')}"]
        values = value if isinstance(value, list) else [value]
        typed += option if value is True else [word for one in values for word in (*option, str(one))]
    return typed


def _state(answered: Answered) -> str:
    return {0: "done", 130: "cancelled"}.get(answered.exit_code, "failed")


def _with_job(answered: Answered, job_id: str) -> Answered:
    document = {**answered.document, "job_id": job_id, "state": _state(answered)}
    return Answered(document, answered.exit_code, answered.error)
