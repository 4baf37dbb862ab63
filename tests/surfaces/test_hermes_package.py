"""The Hermes plugin as Hermes loads it, with a real `history-recall serve` behind it."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recall.prompts import capability
from recall.surfaces.cli import main
from tests.hosts import stores
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


@pytest.fixture
def load(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Context]]:
    """A function that registers the installed plugin with a context; its process ends with the test."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(home)
    made: list[Any] = []

    def loaded(context: Context, *words: str) -> Context:
        assert main(["hosts", "install", "hermes", *words]) == 0
        spec = importlib.util.spec_from_file_location("plugin", home / ".hermes/plugins/history-recall/__init__.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        real = module.Served

        def kept(*given: Any) -> Any:
            made.append(real(*given))
            return made[-1]

        monkeypatch.setattr(module, "Served", kept)
        module.register(context)
        return context

    yield loaded
    for served in made:
        process = served._process
        served.stop()
        if process is not None:
            process.wait(60)
            process.stdout.close()


def test_tools_command_and_text(
    home: Path, load: Callable[[Context], Context], capsys: pytest.CaptureFixture[str]
) -> None:
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
    home: Path, load: Callable[[Context], Context], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
    path = stores.pi(home)
    said = line(f"index {path}")
    assert asked, said
    assert any("kiln" in str(message["content"]) for message in asked[0])
    assert "the model is asleep" in said or "model" in said
    capsys.readouterr()


def test_the_brief_stands_behind_the_text_where_it_was_turned_on(
    home: Path, load: Callable[..., Context], capsys: pytest.CaptureFixture[str]
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


def test_disabled_it_registers_nothing(load: Callable[[Context], Context], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HISTORY_RECALL_DISABLED", "1")
    context = load(Context())
    assert (context.tools, context.commands, context.hooks) == ({}, {}, {})
    assert os.environ["HISTORY_RECALL_DISABLED"] == "1"
