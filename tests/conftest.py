"""What every test stands on: reproducible examples, and nothing of the machine it runs on."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, and no failure because a machine is slow.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
# For a person who looks for more: HYPOTHESIS_PROFILE=search.
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# A shell ignores it for what it starts in the background, and a process that is born so cannot be interrupted.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Our own settings, what the hosts read to find their stores, folders, and keys and addresses of model providers.
_FOREIGN = re.compile(
    r"(HISTORY_RECALL|XDG|CLAUDE|CODEX|HERMES|PI|OMP|OPENCODE"
    r"|LITELLM|OPENAI|ANTHROPIC|AZURE|AWS|GOOGLE|GEMINI|VERTEX|HF|HUGGINGFACE|OLLAMA)_.*|.*_API_KEY|.*_API_BASE"
)


def _without_the_person(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    for name in list(os.environ):
        if _FOREIGN.fullmatch(name):
            monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))


@pytest.fixture(scope="session", autouse=True)
def bare_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For the fixtures that outlive a test: no setting, key, store or home folder of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        _without_the_person(monkeypatch, tmp_path_factory.mktemp("session-home"))
        yield


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for each test, with an empty home folder of its own, which is the value."""
    folder = tmp_path_factory.mktemp("home")
    _without_the_person(monkeypatch, folder)
    return folder
