"""What the quick commands import: nothing that only an analysis, a model or a redaction needs.

The time that a command takes to start is that of its imports, so what these load is held here, by a real process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT

# The rules of redaction, the models, the analysis and the repair, and the packages that stand behind them.
HEAVY = (
    *(
        "recall.redact.",
        "recall.models",
        "recall.steps",
        "recall.curation",
        "recall.indexer",
        "recall.rebuilding",
        "repair",
    ),
    *("asyncio", "concurrent", "email", "http", "importlib.metadata", "jsonschema", "litellm", "mcp", "pydantic"),
    *("referencing", "rich", "sqlite_fts4", "subprocess", "tenacity", "urllib.request"),
)
# What looks at sources redacts their titles as it sees them; `status` names the endpoint that a request would go to.
ALLOWED = {
    "status": ("recall.redact.", "recall.models"),
    "conversations": ("recall.redact.",),
    "read": ("recall.redact.",),
}
_PROGRAM = """
import contextlib, io, json, sys
from recall.surfaces.cli import main
with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
    code = main(sys.argv[1:])
print(json.dumps([code, said.getvalue(), sorted(sys.modules)]))
"""


def _run(home: Path, *words: str) -> tuple[int, str, list[str]]:
    environment = {"HOME": str(home), "HISTORY_RECALL_DB": str(home / "index.db"), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    code, said, modules = json.loads(done.stdout)
    return code, said, modules


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one indexed conversation."""
    folder = tmp_path_factory.mktemp("home")
    log = folder / "logs" / "talk.jsonl"
    log.parent.mkdir()
    at = "2026-03-02T09:00:0{}.000Z"
    said = ["why does the heron stand on one leg", "it keeps the other one warm"]
    lines: list[dict[str, object]] = [
        {"type": "session", "version": 3, "id": "one", "timestamp": at.format(0), "cwd": "/w"}
    ]
    for place, text in enumerate(said):
        message = {"role": ("user", "assistant")[place], "content": [{"type": "text", "text": text}]}
        lines.append({"type": "message", "id": f"m{place}", "timestamp": at.format(place), "message": message})
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert _run(folder, "sources", "add", str(log.parent))[0] == 0
    assert _run(folder, "index-all")[0] == 0
    return folder


@pytest.mark.parametrize(
    "words",
    [("search", "heron leg"), ("browse",), ("read", "pi:one"), ("status",), ("conversations",), ("--help",)],
    ids=lambda words: words[0],
)
def test_a_quick_command_imports_what_it_needs(home: Path, words: tuple[str, ...]) -> None:
    code, said, modules = _run(home, *words)
    assert (code, bool(said)) == (0, True)
    allowed = ALLOWED.get(words[0], ("-",))
    assert [name for name in modules if name.startswith(HEAVY) and not name.startswith(allowed)] == []


def test_redaction_is_there_when_it_is_asked_for() -> None:
    program = "from recall.redact import Redactor, redact_text; print(Redactor is not None, redact_text('plain'))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "plain"]
