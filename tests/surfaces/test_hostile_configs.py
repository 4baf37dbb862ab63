"""Configurations in every form that a person or a host may leave them in: the entry goes in and out, or is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # comes with litellm

from recall.hosts import edits

Answer = Callable[..., Any]
NAME = "history-recall"
PATHS = {
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "hermes": ".hermes/config.yaml",
    "opencode": ".config/opencode/opencode.json",
}
TEXTS = {
    "codex": '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # why\n',
    "gemini": '{\n  // mine\n  "theme": "a, b",\n  "mcpServers": {\n    "other": {"url": "a//b"}, // why\n  },\n}\n',
    "hermes": "# mine\nmodel:\n  default: x\nplugins:\n  enabled:\n  # why\n  - other\n",
    "opencode": '{"theme": "system", /* mine */ "mcp": {"other": {"type": "local"}}}',
}


def has_ours(host: str, text: str) -> bool:
    """Whether the host's own reader sees our entry, and the other one."""
    text = text.removeprefix("\ufeff")
    if host == "codex":
        names = list(tomllib.loads(text)["mcp_servers"])
    elif host == "hermes":
        names = yaml.safe_load(text)["plugins"]["enabled"]
    else:
        where = "mcpServers" if host == "gemini" else "mcp"
        names = [name for name in (NAME, "other") if edits.has_member(text, (where, name))]
    assert "other" in names
    return NAME in names


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "BOM": lambda text: "\ufeff" + text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "BOM and CRLF": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "no line end": lambda text: text.rstrip("\n"),
    "spaces behind": lambda text: text + "\n \n\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("host", PATHS)
def test_the_entry_goes_in_and_out(host: str, form: str, home: Path, answer: Answer) -> None:
    path = home / PATHS[host]
    path.parent.mkdir(parents=True)
    before = FORMS[form](TEXTS[host]).encode()
    path.write_bytes(before)
    answer("hosts", "install", host)
    text = path.read_bytes().decode()
    assert has_ours(host, text)
    assert [line for line in before.decode().splitlines() if line.rstrip(" }") not in text] == [], "theirs stays"
    if "CRLF" in form:
        assert "\n" not in text.replace("\r\n", "")
    # The person writes in it: the way back is not the journal's.
    marked = text.replace("mine", "still mine")
    path.write_bytes(marked.encode())
    answer("hosts", "uninstall", host)
    left = path.read_bytes().decode()
    assert not has_ours(host, left)
    assert left.rstrip() == before.decode().replace("mine", "still mine").rstrip()
    path.write_bytes(before)
    answer("hosts", "install", host)
    answer("hosts", "uninstall", host)
    assert path.read_bytes() == before


@pytest.mark.parametrize("host", PATHS)
def test_a_link_into_another_folder_stays_one(host: str, home: Path, answer: Answer) -> None:
    kept, path = home / "dotfiles" / "kept", home / PATHS[host]
    kept.parent.mkdir()
    path.parent.mkdir(parents=True)
    kept.write_text(TEXTS[host])
    path.symlink_to(kept)
    answer("hosts", "install", host)
    assert has_ours(host, kept.read_text())
    answer("hosts", "uninstall", host)
    assert path.is_symlink()
    assert kept.read_text() == TEXTS[host]
    assert list(kept.parent.iterdir()) == [kept]


@pytest.mark.parametrize("host", PATHS)
def test_what_is_read_only_is_left(host: str, home: Path, answer: Answer) -> None:
    path = home / PATHS[host]
    path.parent.mkdir(parents=True)
    path.write_text(TEXTS[host])
    path.chmod(0o444)
    refused = answer("hosts", "install", host, code=1)["error"]
    assert (refused["code"], "read-only" in refused["message"], str(path) in refused["message"]) == (
        "host_config",
        True,
        True,
    )
    assert path.read_text() == TEXTS[host]
    path.chmod(0o644)
    answer("hosts", "install", host)


TWICE = {
    "codex": '[[mcp_servers]]\nname = "other"\n',
    "gemini": '{"mcpServers": {"other": {}}, "mcpServers": {"more": {}}}',
    "hermes": "plugins:\n  enabled: [other]\nplugins:\n  enabled: [more]\n",
    "opencode": '{"mcp": {"other": {}, "other": {}}, "mcp": {}}',
}


@pytest.mark.parametrize("host", TWICE)
def test_where_the_place_is_not_one_place_nothing_is_written(host: str, home: Path, answer: Answer) -> None:
    path = home / PATHS[host]
    path.parent.mkdir(parents=True)
    path.write_text(TWICE[host])
    refused = answer("hosts", "install", host, code=1)["error"]
    assert (refused["code"], str(path) in refused["message"]) == ("host_config", True)
    assert path.read_text() == TWICE[host]
    assert [one for one in home.rglob("*history-recall*") if ".local" not in one.parts] == []


def test_what_codex_makes_of_its_configuration_is_undone(home: Path, answer: Answer) -> None:
    """`codex mcp add` and `codex mcp remove` write tables anew, and move comments."""
    path = home / PATHS["codex"]
    answer("hosts", "install", "codex")
    entry = path.read_text()
    note, _, table = entry.partition("\n")
    assert note.startswith("#")
    rewritten = table.replace("= 300\n", "= 300.0\n") + '\n[mcp_servers.other]\ncommand = "y"\n' + note + "\n"
    path.write_text(rewritten)
    answer("hosts", "install", "codex")
    assert has_ours("codex", path.read_text())
    path.write_text(rewritten)
    assert "entry_removed" in {row["action"] for row in answer("hosts", "uninstall", "codex")["files"]}
    assert tomllib.loads(path.read_text()) == {"mcp_servers": {"other": {"command": "y"}}}


def test_a_server_of_the_persons_in_the_place_of_ours_stays(home: Path, answer: Answer) -> None:
    path = home / PATHS["codex"]
    answer("hosts", "install", "codex")
    own = '[mcp_servers.history-recall]\ncommand = "mine"\n'
    path.write_text(own)
    assert "by_hand" in {row["action"] for row in answer("hosts", "install", "codex")["files"]}
    answer("hosts", "uninstall", "codex")
    assert path.read_text() == own
