"""A scratch home folder of one program: what is run in it, and what is in it."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.hosts.real.programs import Program
from tests.shared import ROOT

SECONDS = 900


class Failed(Exception):
    """A step of a program did not come to what it has to."""


class Home:
    """The folder, with a project in it and `history-recall` on the path of everything that runs there."""

    def __init__(self, folder: Path, program: Program, cache: Path, port: int) -> None:
        self.folder = folder
        self.work = folder / "work" / "ledger"
        self.work.mkdir(parents=True, exist_ok=True)  # two programs can share a home
        command = folder / "bin" / "history-recall"
        command.parent.mkdir(exist_ok=True)
        command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m recall "$@"\n')
        command.chmod(0o755)
        path = [str(command.parent), str(program.folder(cache)), os.environ["PATH"]]
        self._environment = {
            "HOME": str(folder),
            "PATH": os.pathsep.join(path),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            **program.variables(folder, port),
        }
        program.configure(folder, port)

    def run(self, command: Sequence[str], *, fails: bool = False) -> str:
        """What a command wrote to both streams. Raises Failed where it ends otherwise than it has to."""
        try:
            done = subprocess.run(
                list(command),
                cwd=self.work,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise Failed(f"`{shlex.join(command)}` did not end in {SECONDS} seconds") from error
        said = done.stdout + done.stderr
        if (done.returncode != 0) != fails:
            raise Failed(f"`{shlex.join(command)}` ended with {done.returncode}: {said[-1500:]}")
        return said

    def type(self, command: Sequence[str], line: str, ready: str, wanted: str, **variables: str) -> str:
        """Start a program in a terminal of tmux, type a line once `ready` is on the screen, and wait for `wanted`."""
        socket = str(self.folder / "terminal")

        def tmux(*words: str) -> str:
            environment = self._environment | {"TERM": "xterm-256color"} | variables
            given = {"cwd": self.work, "env": environment, "capture_output": True, "text": True, "check": False}
            return str(subprocess.run(["tmux", "-S", socket, *words], **given).stdout)  # type: ignore[call-overload]

        def until(words: str) -> str:
            give_up = time.monotonic() + SECONDS
            while words not in (screen := tmux("capture-pane", "-p", "-S", "-200")):
                if time.monotonic() > give_up:
                    raise Failed(f"{words!r} never came: {screen.strip()[-1500:]}")
                time.sleep(1)
            return screen

        try:
            tmux("new-session", "-d", "-x", "160", "-y", "50", *command)
            until(ready)
            tmux("send-keys", "-l", line)
            until(line)
            tmux("send-keys", "Enter")
            return until(wanted)
        finally:
            tmux("kill-server")

    def files(self) -> dict[str, str]:
        """Every file in it with a digest, but our own index and log."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and not path.is_symlink() and ".local/share/history-recall" not in str(path)
        }
