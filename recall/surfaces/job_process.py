"""An index run in a process of its own, as a job: the end that starts it (`job_child` is the other).

A server keeps answering while another process reads, cuts and waits for models; and whatever kills the one leaves the
other and the index whole. The new process says on standard output, a line each, its job's id, its progress and what it
came to. It ends in order when its standard input ends, unless it was started detached: then it goes on alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from recall.errors import RecallError, SourceError, from_json
from recall.run import Progress
from recall.surfaces.answering import Answered, Asked, failed
from recall.surfaces.lending import NO_LENDER, Answer, Lend

# With the import path of this process, and without the working directory in front of it.
_CODE = "import json,sys; s=json.loads(sys.stdin.buffer.readline()); sys.path[:]=s['path']; "
_CODE += "from recall.surfaces.job_child import main; main(s)"


class JobProcess:
    """The process as whoever started it sees it. Made by `start`; all methods may be called from any thread."""

    def __init__(
        self, child: subprocess.Popen[bytes], report: Callable[[Progress], None], lend: Lend | None = None
    ) -> None:
        self.job_id: str | None = None
        self.answered: Answered | None = None
        self._child = child
        self._report = report
        self._lend = lend
        self._sending = threading.Lock()
        self._changed = threading.Condition()

    @classmethod
    def start(
        cls, asked: Asked, report: Callable[[Progress], None], *, detached: bool, lend: Lend | None = None
    ) -> JobProcess:
        """Start it. A detached one cannot be cancelled through this object once it has a job.

        `lend`: where a host lends its model. A detached run may outlive the host and is lent none.
        """
        spec = {
            "path": sys.path,
            "operation": asked.operation.name,
            "arguments": {name: value for name, value in asked.arguments.items() if name != "detach"},
            "overrides": dict(asked.overrides),
            "detached": detached,
        }
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", _CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **_apart(),
        )
        process = cls(child, report, lend)
        process._send(spec)
        threading.Thread(target=process._listen, daemon=True).start()
        return process

    def cancel(self) -> None:
        """End it in order: its input ends. Safe to call again."""
        threading.Thread(target=self._hang_up, daemon=True).start()

    def terminate(self) -> None:
        """End a detached one that has not begun."""
        self._child.terminate()

    def wait(self, patience: float | None, *, until_begun: bool = False) -> Answered | None:
        """Its answer; None where it has not ended after `patience` seconds (or, `until_begun`, when it is a job)."""

        def known() -> bool:
            return self.answered is not None or (until_begun and self.job_id is not None)

        with self._changed:
            self._changed.wait_for(known, patience)
            return self.answered

    def _send(self, message: Mapping[str, object]) -> None:
        if self._child.stdin is None:
            raise TypeError("it is a pipe")
        try:
            with self._sending:
                self._child.stdin.write(json.dumps(message).encode("utf-8") + b"\n")
                self._child.stdin.flush()
        except (OSError, ValueError):
            return  # it has died or was hung up on; its end is noticed where it is listened to

    def _hang_up(self) -> None:
        if self._child.stdin is not None:
            try:
                self._child.stdin.close()
            except OSError:
                return

    def _listen(self) -> None:
        if self._child.stdout is None:
            raise TypeError("it is a pipe")
        for line in self._child.stdout:
            self._take(json.loads(line))
        self._hang_up()
        self._child.stdout.close()
        self._child.wait()
        self._end(failed(_died()))

    def _take(self, said: Mapping[str, Any]) -> None:
        if "progress" in said:
            self._report(Progress(**said["progress"]))
        elif "model" in said:
            identity = said["model"].pop("id")
            reply = partial(self._reply, identity)
            if self._lend is None:
                reply(NO_LENDER)
            else:
                self._lend(said["model"], reply)
        elif "job_id" in said:
            with self._changed:
                self.job_id = said["job_id"]
                self._changed.notify_all()
        else:
            self._end(Answered(said["document"], said["exit_code"], from_json(said["document"])))

    def _reply(self, identity: str, answer: Answer) -> None:
        self._send({**answer, "id": identity})

    def _end(self, answered: Answered) -> None:
        with self._changed:
            if self.answered is None:
                self.answered = answered
            self._changed.notify_all()


def _died() -> RecallError:
    hint = "call it again: it goes on where it was; `history-recall jobs list` shows what was interrupted"
    return SourceError("internal", "The process of the index run ended before its time", hint)


def _apart() -> dict[str, Any]:
    """Out of reach of the terminal and of signals to the process that starts it."""
    if sys.platform == "win32":  # pragma: no cover - exercised on Windows only
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
