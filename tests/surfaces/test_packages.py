"""`hosts install` writes what it says and nothing else, keeps what is the person's, and undoes exactly."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recall import __version__
from recall.extras import how_to_install
from recall.hosts.names import HOSTS
from recall.prompts import capability
from tests.hosts import stores
from tests.shared import ROOT

Answer = Callable[..., Any]
CONFIGS = {
    "codex": (".codex/config.toml", '# mine\nmodel = "x"\n'),
    "gemini": (".gemini/settings.json", '{"theme": "GitHub"}'),
    "hermes": (".hermes/config.yaml", "model:\n  default: x # mine\nplugins:\n  enabled: [other]\n"),
    "opencode": (".config/opencode/opencode.jsonc", '{\n  // mine\n  "theme": "system",\n}\n'),
}


def files(home: Path) -> dict[str, tuple[bytes, int]]:
    """Every file but our own, with its permissions; and every folder."""
    found = {}
    for path in home.rglob("*"):
        if ".local/share/history-recall" not in str(path) and path.name not in (".local", "share"):
            mode = stat.S_IMODE(path.stat().st_mode)
            found[str(path.relative_to(home))] = (path.read_bytes() if path.is_file() else b"", mode)
    return found


def written(home: Path, host: str) -> str | None:
    name, text = CONFIGS.get(host, (None, ""))
    if name is not None:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
        (home / name).chmod(0o600)
    return name


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("host", HOSTS)
def test_in_and_out(host: str, there: bool, home: Path, answer: Answer) -> None:
    config = written(home, host) if there else None
    before = files(home)
    planned = answer("hosts", "install", host, "--dry-run")
    assert files(home) == before
    done = answer("hosts", "install", host)
    assert done["files"] == planned["files"]
    after = files(home)
    assert {name for name, (content, _) in after.items() if content and after[name] != before.get(name)} == {
        str(Path(row["path"]).relative_to(home)) for row in done["files"]
    }
    if config is not None:
        assert after[config][1] == 0o600
        assert all(line.strip(" ,]}") in after[config][0].decode() for line in before[config][0].decode().splitlines())
    again = answer("hosts", "install", host)
    assert {row["action"] for row in again["files"]} == {"unchanged"}
    assert files(home) == after
    listed = {row["host"]: row for row in answer("hosts", "list")["hosts"]}
    assert [name for name, row in listed.items() if row["installed"]] == [host]
    assert not listed[host]["outdated"]
    answer("hosts", "uninstall", host)
    assert files(home) == before
    assert answer("hosts", "uninstall", host)["files"] == []


def _edit(path: Path) -> None:
    """The person changes what is theirs in a configuration."""
    text = path.read_text()
    path.write_text(text.replace("mine", "still mine").replace("GitHub", "still mine").replace('"x"', '"still mine"'))


@pytest.mark.parametrize("host", CONFIGS)
def test_what_changed_since_loses_our_entry_only(host: str, home: Path, answer: Answer) -> None:
    name = written(home, host)
    assert name is not None
    answer("hosts", "install", host)
    path = home / name
    _edit(path)
    done = answer("hosts", "uninstall", host)
    assert "entry_removed" in {row["action"] for row in done["files"]}
    assert "history-recall" not in path.read_text()
    assert "still mine" in path.read_text()


@pytest.mark.parametrize("host", HOSTS)
def test_without_the_sdk_no_host_is_told_of_a_server(
    host: str, home: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)  # importing it fails from now on
    if host in ("omp", "pi", "hermes"):
        assert answer("hosts", "install", host)["files"]
        return
    before = files(home)
    for words in ([], ["--dry-run"]):
        refused = answer("hosts", "install", host, *words, code=2)["error"]
        assert refused["code"] == "usage"
        assert "MCP SDK is not installed" in refused["message"]
        assert refused["hint"] == how_to_install("mcp")
    assert files(home) == before


def test_a_server_that_the_person_added_is_the_persons(home: Path, answer: Answer) -> None:
    path = home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"history-recall": {"command": "mine"}}}')
    done = answer("hosts", "install", "gemini")
    assert {row["action"] for row in done["files"]} == {"create", "by_hand"}
    answer("hosts", "uninstall", "gemini")
    assert json.loads(path.read_text())["mcpServers"]["history-recall"] == {"command": "mine"}


@pytest.mark.parametrize("own", ['{"command": "mine"}', '{"httpUrl": "http://127.0.0.1:1/mcp"}'])
@pytest.mark.parametrize("again", [True, False])
def test_so_is_one_that_they_put_in_the_place_of_ours(own: str, again: bool, home: Path, answer: Answer) -> None:
    path = home / ".gemini/settings.json"
    answer("hosts", "install", "gemini")
    text = f'{{"mcpServers": {{"history-recall": {own}}}}}'
    path.write_text(text)
    if again:
        assert "by_hand" in {row["action"] for row in answer("hosts", "install", "gemini")["files"]}
    assert path.read_text() == text
    answer("hosts", "uninstall", "gemini")
    assert path.read_text() == text


def test_our_entry_is_ours_when_the_host_has_written_it_anew(home: Path, answer: Answer) -> None:
    path = home / ".gemini/settings.json"
    answer("hosts", "install", "gemini")
    settings = json.loads(path.read_text())
    settings["mcpServers"]["history-recall"]["trust"] = True
    path.write_text(json.dumps(settings | {"theme": "GitHub"}, indent=4))
    answer("hosts", "uninstall", "gemini")
    assert json.loads(path.read_text()) == {"theme": "GitHub"}


def test_what_is_not_understood_is_not_touched(home: Path, answer: Answer) -> None:
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text("not [toml")
    refused = answer("hosts", "install", "codex", code=1)["error"]
    assert (refused["code"], str(path) in refused["message"]) == ("host_config", True)
    assert path.read_text() == "not [toml"
    assert not (home / ".agents").exists()
    skill = home / ".claude/skills/history-recall/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("the person's own")
    assert answer("hosts", "install", "claude-code", code=1)["error"]["code"] == "host_config"
    assert skill.read_text() == "the person's own"


def test_what_the_person_wrote_between_two_installations_is_what_comes_back(home: Path, answer: Answer) -> None:
    path = home / ".gemini/settings.json"
    answer("hosts", "install", "gemini")
    path.unlink()
    for text in ('{"theirs": 1}', '{"theirs": 2}\n', "{}\n"):
        path.write_text(text)
        answer("hosts", "install", "gemini")
        assert "history-recall" in path.read_text()
    path.write_text('{"theirs": 3}')
    answer("hosts", "install", "gemini")
    kept = path.read_text()
    assert {row["action"] for row in answer("hosts", "install", "gemini")["files"]} == {"unchanged"}
    assert path.read_text() == kept
    answer("hosts", "uninstall", "gemini")
    assert path.read_text() == '{"theirs": 3}'


@pytest.mark.parametrize("host", CONFIGS)
def test_what_the_person_wrote_beside_our_entry_is_kept_by_the_next_installation(
    host: str, home: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = written(home, host)
    assert name is not None
    answer("hosts", "install", host)
    path = home / name
    _edit(path)
    monkeypatch.setattr("recall.surfaces.host_packages.command", lambda: ["/elsewhere/history-recall"])
    answer("hosts", "install", host)
    assert "history-recall" in path.read_text()
    answer("hosts", "uninstall", host)
    assert "history-recall" not in path.read_text()
    assert "still mine" in path.read_text()


def test_what_the_person_made_of_a_file_of_ours_comes_back(home: Path, answer: Answer) -> None:
    skill = home / ".agents/skills/history-recall/SKILL.md"
    answer("hosts", "install", "codex")
    ours = skill.read_text()
    skill.write_text("mine")
    answer("hosts", "install", "codex")
    assert skill.read_text() == ours
    skill.write_text("mine too")
    refused = answer("hosts", "install", "codex", code=1)["error"]
    assert (refused["code"], str(skill) in refused["message"]) == ("host_config", True)
    assert skill.read_text() == "mine too"
    assert next(row for row in answer("hosts", "list")["hosts"] if row["host"] == "codex")["outdated"]
    skill.write_text(ours)
    answer("hosts", "uninstall", "codex")
    assert skill.read_text() == "mine"


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to a fifo"])
@pytest.mark.parametrize("host", CONFIGS)
def test_what_is_no_regular_file_is_refused(host: str, kind: str, home: Path, answer: Answer) -> None:
    path = home / CONFIGS[host][0]
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        os.mkfifo(home / "pipe")
        path.symlink_to(home / "pipe")
    before = files(home)
    refused = answer("hosts", "install", host, code=1)["error"]
    assert (refused["code"], str(path) in refused["message"]) == ("host_config", True)
    assert files(home) == before
    assert not any(row["installed"] for row in answer("hosts", "list")["hosts"])
    if kind == "folder":
        path.rmdir()
    else:
        path.unlink()
    path.write_text(CONFIGS[host][1])
    answer("hosts", "install", host)
    answer("hosts", "uninstall", host)
    assert path.read_text() == CONFIGS[host][1]


def test_an_installation_that_fails_half_way_leaves_nothing(home: Path, answer: Answer) -> None:
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.symlink_to(home / "nowhere" / "config.toml")
    before = {one: one.lstat().st_mode for one in home.rglob("*") if ".local" not in one.parts}
    refused = answer("hosts", "install", "codex", code=1)["error"]
    assert (refused["code"], str(path) in refused["message"], "put back" in refused["hint"]) == (
        "host_config",
        True,
        True,
    )
    assert {one: one.lstat().st_mode for one in home.rglob("*") if ".local" not in one.parts} == before
    assert not any(row["installed"] for row in answer("hosts", "list")["hosts"])
    (home / "nowhere").mkdir()
    answer("hosts", "install", "codex")
    assert path.is_symlink()
    assert "history-recall" in (home / "nowhere/config.toml").read_text()
    answer("hosts", "uninstall", "codex")
    assert path.is_symlink(), "the link is the person's"
    assert list((home / "nowhere").iterdir()) == []


def test_an_upgrade_that_fails_half_way_leaves_the_older_one(
    home: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / ".codex/config.toml"
    written(home, "codex")
    first = files(home)
    answer("hosts", "install", "codex")
    before = files(home)
    monkeypatch.setattr("recall.surfaces.host_packages.command", lambda: ["/elsewhere/history-recall"])
    in_the_way = path.with_name(".config.toml.history-recall")
    in_the_way.mkdir()
    assert answer("hosts", "install", "codex", code=1)["error"]["code"] == "host_config"
    in_the_way.rmdir()
    assert files(home) == before
    answer("hosts", "uninstall", "codex")
    assert files(home) == first


def test_a_broken_journal_is_named_and_the_other_hosts_are_listed(home: Path, answer: Answer) -> None:
    answer("hosts", "install", "hermes")
    answer("hosts", "install", "pi")
    journal = home / ".local/share/history-recall/hosts/hermes.json"
    assert journal.exists()
    journal.write_text("{")
    listed = answer("hosts", "list")
    assert [row["host"] for row in listed["hosts"] if row["installed"]] == ["pi", "hermes"]
    assert [(row["host"], row["outdated"]) for row in listed["hosts"] if row["installed"]] == [
        ("pi", False),
        ("hermes", True),
    ]
    (warning,) = [one for one in listed["warnings"] if one["code"] == "host_config"]
    assert str(journal) in warning["message"]
    for words in ("install", "uninstall"):
        assert answer("hosts", words, "hermes", code=1)["error"]["code"] == "host_config"


def test_what_stands_in_them(home: Path, answer: Answer) -> None:
    for host in HOSTS:
        answer("hosts", "install", host)
    text = capability().strip()
    for path in (".claude/skills/history-recall/SKILL.md", ".agents/skills/history-recall/SKILL.md"):
        assert text in (home / path).read_text()
    assert text in tomllib.loads((home / ".gemini/commands/history-recall.toml").read_text())["prompt"]
    assert text in (home / ".config/opencode/command/history-recall.md").read_text()
    package = json.loads((home / ".hermes/plugins/history-recall/package.json").read_text())
    assert package["capability"].strip() == text
    assert "history_recall_search" in [tool["name"] for tool in package["tools"]]
    server = tomllib.loads((home / ".codex/config.toml").read_text())["mcp_servers"]["history-recall"]
    assert os.path.isabs(server["command"])
    plugin = home / ".claude/skills/history-recall"
    served = json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["history-recall"]
    assert served["args"][-2:] == ["mcp", "--text"]
    manifest = json.loads((plugin / ".claude-plugin/plugin.json").read_text())
    assert (manifest["name"], manifest["version"], manifest["skills"]) == ("history-recall", __version__, ["./"])
    extension = (home / ".omp/agent/extensions/history-recall.ts").read_text()
    assert "__PACKAGE__" not in extension
    assert "history_recall_move" in extension
    assert "plugins:\n  enabled:\n    - history-recall\n" in (home / ".hermes/config.yaml").read_text()


BRIEFS = {
    "claude-code": ".claude/skills/history-recall/hooks/hooks.json",
    "omp": ".omp/agent/extensions/history-recall.ts",
    "pi": ".pi/agent/extensions/history-recall.ts",
    "hermes": ".hermes/plugins/history-recall/package.json",
}


def turned_on(host: str, text: str) -> bool:
    if host == "claude-code":
        return "SessionStart" in json.loads(text)["hooks"]
    return '"brief": true' in text


@pytest.mark.parametrize("host", HOSTS)
def test_nothing_is_said_at_the_start_unless_the_person_turns_it_on(host: str, home: Path, answer: Answer) -> None:
    if host not in BRIEFS:
        refused = answer("hosts", "install", host, "--brief", code=2)["error"]
        assert (refused["code"], host in refused["message"]) == ("usage", True)
        assert answer("hosts", "install", host)["brief"] is False
        return
    before = files(home)
    path = home / BRIEFS[host]
    answer("hosts", "install", host)
    assert not turned_on(host, path.read_text())
    answer("hosts", "install", host, "--brief")
    assert turned_on(host, path.read_text())
    row = next(row for row in answer("hosts", "list")["hosts"] if row["host"] == host)
    assert (row["installed"], row["brief"], row["outdated"]) == (True, True, False)
    answer("hosts", "install", host)
    assert not turned_on(host, path.read_text())
    answer("hosts", "install", host, "--brief")
    answer("hosts", "uninstall", host)
    assert files(home) == before


def test_the_hook_of_claude_code_prints_the_brief_or_nothing(
    home: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    answer("hosts", "install", "claude-code", "--brief")
    hooks = json.loads((home / BRIEFS["claude-code"]).read_text())["hooks"]["SessionStart"]
    command = hooks[0]["hooks"][0]["command"]

    def said(**environment: str) -> str:
        done = subprocess.run(
            ["sh", "-c", command], cwd=home, env=os.environ | environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert said() == "", "nothing is indexed, and nothing is said of it"
    stores.pi(home)
    answer("index-all")
    assert said().startswith("<<<HISTORY ")
    assert "untrusted data" in said()
    assert said(HISTORY_RECALL_DISABLED="1") == ""
