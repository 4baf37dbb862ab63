"""litellm in a process of its own: nothing fetched, no `.env` read, nothing printed, no proxy (case B082)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.servers.chat_server import ChatServer, Turn
from tests.models.setting import GOOD
from tests.shared import ROOT

_LIGHT = """
import sys
import recall.models.calls, recall.models.choose, recall.models.tokens, recall.models.litellm_model, recall.models.gate
from recall.models.choose import choose_model
from recall.models.tokens import meter_for
from recall.settings import load
for model, base in (("offline", ""), ("openai/x", "http://127.0.0.1:1/v1"), ("openai/gpt-4.1", "")):
    settings = load({"HOME": "/", "HISTORY_RECALL_MODEL": model} | ({"HISTORY_RECALL_API_BASE": base} if base else {}))
    choose_model(settings)
    meter_for(settings)
print(sorted(name for name in ("litellm", "openai", "httpx", "aiohttp", "tiktoken") if name in sys.modules))
"""

_WHOLE = """
import asyncio, json, logging, os, socket, sys
from pathlib import Path

asked = []
really_connect, really_resolve = socket.socket.connect, socket.getaddrinfo

def connect(self, address):
    if self.family != socket.AF_UNIX:
        asked.append(str(address[:2]))
        if address[0] != "127.0.0.1":
            raise OSError("no network in this test")
    return really_connect(self, address)

def resolve(host, *rest, **more):
    if host not in ("127.0.0.1", b"127.0.0.1"):
        asked.append(str(host))
        raise OSError("no network in this test")
    return really_resolve(host, *rest, **more)

socket.socket.connect, socket.getaddrinfo = connect, resolve

from recall.models.choose import choose_model
from recall.models.tokens import meter_for
from recall.settings import load
from tests.models.setting import open_setting, question, word

settings = load()
setting = open_setting(Path("index").absolute())
road = setting.road(choose_model(settings, setting.database))

async def work():
    answers = [await road.ask(question("one"), word)]
    answers.append((await asyncio.gather(road.ask(question("two"), word), return_exceptions=True))[0].code)
    await road.close()
    return answers

answers = asyncio.run(work())
known = meter_for(load({"HOME": "/", "HISTORY_RECALL_MODEL": "openai/gpt-4.1"}))
other = meter_for(load({"HOME": "/", "HISTORY_RECALL_MODEL": "anthropic/claude-sonnet-4-5"}))
small = meter_for(load({"HOME": "/", "HISTORY_RECALL_MODEL": "openai/gpt-4"}))
stranger = meter_for(load({"HOME": "/", "HISTORY_RECALL_MODEL": "ollama/not-in-the-table"}))
meters = [(m.name, m.limit, m.measure("一个 word <|endoftext|>")) for m in (known, other, small, stranger)]
print(json.dumps({
    "answers": answers, "asked": sorted(set(asked)), "meters": meters, "poison": os.environ.get("POISON"),
    "rows": len(setting.rows()),
}))
"""


def _python(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=inherited | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_choosing_a_model_loads_nothing(tmp_path: Path) -> None:
    done = _python(_LIGHT, tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_a_run_through_litellm_is_quiet(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("POISON=yes\nOPENAI_API_BASE=http://192.0.2.1\n", encoding="utf-8")
    with ChatServer([Turn(text=GOOD), Turn("refusal", text="no")]) as server, ChatServer() as proxy:
        address = f"http://127.0.0.1:{proxy.port}"
        done = _python(
            _WHOLE,
            tmp_path,
            HISTORY_RECALL_MODEL="openai/scripted",
            HISTORY_RECALL_API_BASE=server.url,
            HTTP_PROXY=address,
            HTTPS_PROXY=address,
            ALL_PROXY=address,
            NO_PROXY="example.com",
        )
        assert (done.returncode, done.stderr) == (0, "")
        found = json.loads(done.stdout)
        assert found["answers"] == ["lantern", "model_refused"]
        assert found["asked"] == [str(("127.0.0.1", server.port))]
        assert (len(server.requests), len(proxy.requests), found["rows"]) == (2, 0, 2)
        assert found["poison"] is None
        text = len("一个 word <|endoftext|>".encode())
        known, other, small, stranger = found["meters"]
        assert (known[:2], small[:2]) == (["tokens", 24_000], ["tokens", 8192 - 4608])
        assert 3 < known[2] < text
        assert (other, stranger) == (["bytes", 48_000, text], ["bytes", 24_000, text])
