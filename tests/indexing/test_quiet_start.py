"""litellm is loaded when something is sent, and by nothing else: in a fresh process, with every socket refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.indexing.product import Product, short
from tests.shared import ROOT

# Runs the commands given as JSON, one after another, and says of each: exit code, what it printed, what is loaded.
_DRIVER = """
import contextlib, io, json, socket, sys

def refused(*_args, **_named):
    raise OSError("no sockets in this test")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refused
from recall.surfaces.cli import main

for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    heavy = sorted({"litellm", "openai", "httpx", "aiohttp", "tiktoken", "pydantic"} & set(sys.modules))
    print(json.dumps([words, code, out.getvalue(), err.getvalue(), heavy]))
"""


def test_what_sends_nothing_loads_nothing(product: Product) -> None:
    product.done("index", product.add(short("a901", "mill"), "one"))
    second = product.add(short("a902", "ferry"), "two")
    conversation = product.rows("SELECT conversation_id FROM conversations")[0][0]
    topic = product.rows("SELECT topic_id FROM topics")[0][0]
    commands = [
        ["--help"],
        ["--version"],
        ["index", "--help"],
        ["status"],
        ["status", "--cost"],
        ["conversations"],
        ["sources", "list"],
        ["search", "mill", "queue", "--mode", "keyword"],
        ["read", conversation],
        ["browse"],
        ["browse", topic],
        ["browse", topic, "--history"],
        ["consent", "show"],
        ["consent", "grant"],
        ["consent", "revoke"],
        ["doctor", "--deep"],
        ["rebuild"],
    ]
    here = [["index", str(second), "--dry-run"], ["index-all", "--dry-run"], *commands]
    for words, code, _, err, heavy in _fresh(product, here, model="openai/local", api_base=product.server.url):
        assert (code, heavy, err) == (0, [], ""), words
    commands.append(["search", "mill", "queue"])  # hybrid, and nobody agreed to a rewrite there
    for words, code, _, err, heavy in _fresh(product, commands, model="anthropic/claude-x", api_base=""):
        assert (code, heavy, err) == (0, [], ""), words


def test_a_spent_cap_loads_nothing(product: Product) -> None:
    product.done("index", product.add(short("a907", "mill"), "one"))
    asked = [["search", "mill", "queue", "--json"]]
    spent = {"model": "openai/local", "api_base": product.server.url, "daily_calls": "1"}
    for _, code, out, err, heavy in _fresh(product, asked, **spent):
        answer = json.loads(str(out))
        assert (code, heavy, err, answer["rewrite_status"]) == (0, [], "", "budget")
        assert answer["conversations"]


def test_offline_indexes_without_it(product: Product) -> None:
    source = product.add(short("a903", "mill"), "one")

    for words, code, _, err, heavy in _fresh(
        product, [["index", str(source), "--dry-run"], ["index", str(source)], ["index-all"]], model="offline"
    ):
        assert (code, heavy, err) == (0, [], ""), words


def test_asking_for_consent_reaches_nobody(product: Product) -> None:
    """Measuring for a model that litellm knows loads it; it has to do so without a socket."""
    source = product.add(short("a904", "mill"), "one")

    commands = [["index", str(source), "--json"], ["index-all", "--json"]]
    for words, code, out, _, _ in _fresh(product, commands, model="openai/gpt-4.1-mini", api_base=""):
        assert code == 3, words
        assert "consent_required" in str(out)


def test_a_run_prints_only_its_own_lines(product: Product) -> None:
    """Whatever litellm and what it brings warn of or log, stderr holds progress lines and stdout one document."""
    source = product.add(short("a905", "mill"), "one")

    ran = _process(product, "index", str(source), "--json", PYTHONWARNINGS="always")

    assert ran.returncode == 0
    assert json.loads(ran.stdout)["calls"] == 1
    for line in ran.stderr.splitlines():
        assert "progress" in json.loads(line)


def test_a_failing_run_prints_only_its_own_lines(product: Product) -> None:
    source = product.add(short("a906", "mill"), "one")

    ran = _process(product, "index", str(source), "--json", HISTORY_RECALL_API_BASE="http://127.0.0.1:9/v1")

    assert ran.returncode == 1
    assert json.loads(ran.stdout)["error"]["code"] == "model_unavailable"
    for line in ran.stderr.splitlines():
        assert "progress" in json.loads(line)


def _fresh(product: Product, commands: list[list[str]], **settings: str) -> list[list[object]]:
    names = {f"HISTORY_RECALL_{name.upper()}": value for name, value in settings.items()}
    ran = subprocess.run(
        [sys.executable, "-c", _DRIVER, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "HISTORY_RECALL_API_BASE": "", **names},
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


def _process(product: Product, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "recall", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(ROOT),
        env={**os.environ, **environment},
    )
