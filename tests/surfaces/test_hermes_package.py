"""The Hermes plugin as Hermes loads it, with a real `history-recall serve` behind it."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recall.prompts import capability
from recall.surfaces.cli import main
from tests.hosts import stores
from tests.process.world import PATIENCE
from tests.shared import ROOT

SESSION = "20260407_100000_abc123"


@dataclass
class Context:
    """What Hermes hands to a plugin, as far as ours uses it."""

    profile_name: str = "default"
    llm: Any = None
    tools: dict[str, Callable[..., str]] = field(default_factory=dict)
    commands: dict[str, Callable[[str], str]] = field(default_factory=dict)
    hooks: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def register_tool(self, *, name: str, handler: Callable[..., str], schema: dict[str, Any], **_more: Any) -> None:
        assert schema["name"] == name
        assert schema["parameters"]["type"] == "object"
        self.tools[name] = handler

    def register_command(self, name: str, handler: Callable[[str], str], **_more: Any) -> None:
        self.commands[name] = handler

    def register_hook(self, name: str, handler: Callable[..., Any]) -> None:
        self.hooks[name] = handler


class Load:
    """Registers the installed plugin with a context; `module` is the plugin, `served` what it keeps."""

    def __init__(self, home: Path) -> None:
        self._file = home / ".hermes/plugins/history-recall/__init__.py"
        self.module: Any = None
        self.served: list[Any] = []

    def __call__(self, context: Context, *words: str) -> Context:
        assert main(["hosts", "install", "hermes", *words]) == 0
        spec = importlib.util.spec_from_file_location("plugin", self._file)
        assert spec is not None
        assert spec.loader is not None
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        real = self.module.Served

        def kept(*given: Any) -> Any:
            self.served.append(real(*given))
            return self.served[-1]

        self.module.Served = kept
        self.module.register(context)
        return context


@pytest.fixture
def load(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """What its processes are, they end with the test."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(home)
    made = Load(home)
    yield made
    for served in made.served:
        process = served._process
        served.stop()
        if process is not None:
            process._process.wait(60)


def test_tools_command_and_text(home: Path, load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    stores.hermes(home)
    stores.pi(home)
    assert main(["index-all"]) == 0
    context = load(Context())
    found = context.tools["history_recall_search"]({"queries": ["kiln-debug"]}, session_id="other", task_id="t")
    assert json.loads(found)["answer"].startswith("2 conversations")
    mine = context.tools["history_recall_search"]({"queries": ["kiln-debug"]}, session_id=SESSION)
    assert json.loads(mine)["answer"].startswith("1 conversation;"), "the running one is left out"
    wrong = json.loads(context.tools["history_recall_search"]({"words": "x"}))
    assert "words" in wrong["error"]
    assert "conversations" in context.commands["history-recall"]("status")
    assert context.hooks["pre_llm_call"](is_first_turn=True) == {"context": capability()}
    assert context.hooks["pre_llm_call"](is_first_turn=False) is None
    capsys.readouterr()


def test_the_hosts_model_is_lent(
    home: Path, load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stores.pi(home)
    asked: list[list[dict[str, str]]] = []

    def complete(messages: list[dict[str, str]], **_more: Any) -> Any:
        asked.append(messages)
        raise RuntimeError("the model is asleep")

    monkeypatch.setenv("HISTORY_RECALL_MODEL", "host")
    context = load(Context(llm=SimpleNamespace(complete=complete)))
    line = context.commands["history-recall"]
    line("consent grant")
    line(f"index {stores.pi(home)}")
    give_up = time.monotonic() + PATIENCE
    while "running" in (said := line("jobs list")):  # on a busy machine the run outlasts the call
        assert time.monotonic() < give_up, said
    assert any("kiln" in str(message["content"]) for message in asked[0])
    assert "model_request_failed" in line("status") + said
    capsys.readouterr()


Break = Callable[[Any], None]


def killed(process: Any) -> None:
    process.kill()


@pytest.mark.parametrize("broken", [killed, lambda process: process.stdin.close()], ids=["killed", "closed"])
def test_when_the_process_ends_the_calls_end_and_the_next_one_starts_it_again(
    broken: Break, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    context = load(Context())
    command = context.commands["history-recall"]
    served = load.served[-1]
    assert "conversations" in command("status")
    first = served._process._process
    slot = served._process.ask(99, "line", {"line": "doctor --deep"})
    broken(first)
    assert slot.done.wait(PATIENCE)
    first.wait(PATIENCE)
    said = [command("status") for _ in range(2)]
    assert all("conversations" in one for one in said), said
    assert served._process._process.pid != first.pid
    capsys.readouterr()


def test_what_is_no_message_of_its_process_hangs_nothing(load: Load, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that was cut off, words of somebody else's, an answer to nobody; then it is gone in mid-call."""
    context = load(Context())
    code = (
        "import sys\nsys.stdin.readline()\nsys.stdin.readline()\n"
        "print('words'); print('[]'); print('{\"id\": 77, \"result\": {}}'); sys.stdout.write('{\"id\": 1, \"res')"
    )
    served = load.served[-1]
    load.module.PACKAGE["command"] = [sys.executable, "-c", code]
    with pytest.raises(RuntimeError, match="ended in the middle of the call"):
        served.call("line", {"line": "status"})
    load.module.PACKAGE["command"] = ["/nowhere/history-recall"]
    assert "cannot be started" in context.commands["history-recall"]("status")
    capsys.readouterr()


def test_the_brief_stands_behind_the_text_where_it_was_turned_on(
    home: Path, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    context = load(Context(), "--brief")
    first = context.hooks["pre_llm_call"]
    assert first(is_first_turn=True, session_id="s") == {"context": capability()}, "nothing is indexed yet"
    stores.pi(home)
    assert main(["index-all"]) == 0
    said = first(is_first_turn=True, session_id="s")["context"]
    assert said.startswith(capability() + "\n<<<HISTORY ")
    assert first(is_first_turn=False, session_id="s") is None
    capsys.readouterr()


def test_disabled_it_registers_nothing(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HISTORY_RECALL_DISABLED", "1")
    context = load(Context())
    assert (context.tools, context.commands, context.hooks) == ({}, {}, {})
    assert os.environ["HISTORY_RECALL_DISABLED"] == "1"
