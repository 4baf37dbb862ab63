"""Product processes without the second that an interpreter needs to import the product.

One server process imports everything once and forks a child for each command: a process of its own, with its own
environment, files and end, which can be killed at any moment without anybody else noticing. Between the server and a
child stands a watcher that waits for the child's end and writes it down.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.shared import ROOT


class Child:
    """A started command, known by the folder where its output, its process id and its end are written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def pid(self) -> int:
        path = self._folder / "pid"
        while not path.exists():
            time.sleep(0.002)
        return int(path.read_text())

    @property
    def code(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        path = self._folder / "code"
        return int(path.read_text()) if path.exists() else None

    @property
    def ended_at(self) -> float:
        """When it ended, on the clock that all processes share."""
        return float((self._folder / "ended").read_text())

    @property
    def out(self) -> str:
        return (self._folder / "out").read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return (self._folder / "err").read_text(encoding="utf-8")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if it still runs."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass


def start(environment: Mapping[str, str], words: Sequence[str], spec: Mapping[str, Any]) -> Child:
    """Run the command line in a new process."""
    folder = Path(tempfile.mkdtemp(dir=_scratch()))
    for name in ("out", "err"):
        (folder / name).touch()
    request = {"folder": str(folder), "environment": dict(environment), "words": list(words), "spec": dict(spec)}
    pipe = _server().stdin
    assert pipe is not None
    pipe.write(json.dumps(request) + "\n")
    pipe.flush()
    return Child(folder)


@functools.cache
def _scratch() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="history-recall-processes-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


@functools.cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.process.forks"],
        cwd=ROOT,
        env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    atexit.register(_stop, server)
    return server


def _stop(server: subprocess.Popen[str]) -> None:
    server.kill()
    server.communicate()


def _serve() -> None:
    from tests.process import driver  # noqa: F401 - imported once, before the forks

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            _watch(json.loads(line))


def _watch(request: Mapping[str, Any]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until the command has a handler of its own
    folder = Path(request["folder"])
    pid = os.fork()
    if pid == 0:
        _command(request, folder)
    _write(folder / "pid", str(pid))
    _, status = os.waitpid(pid, 0)
    _write(folder / "ended", repr(time.monotonic()))
    _write(folder / "code", str(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _command(request: Mapping[str, Any], folder: Path) -> None:
    from tests.process import driver

    code = 70
    try:
        for number, name in ((0, os.devnull), (1, folder / "out"), (2, folder / "err")):
            os.dup2(os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY), number)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.umask(int(request["spec"].get("umask", 0o077)))
        code = driver.run(request["spec"], request["words"])
    except BaseException:  # noqa: BLE001 - whatever it is, the test has to see it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _write(path: Path, text: str) -> None:
    """All of it or nothing, for whoever looks at the same time."""
    part = path.with_suffix(".part")
    part.write_text(text)
    part.rename(path)


if __name__ == "__main__":
    _serve()
