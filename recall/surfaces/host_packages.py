"""What is put into each host program: which files, with what in them, and which entries of its configuration."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from recall import __version__
from recall.hosts import edits, edits_toml, edits_yaml, roots
from recall.hosts.hermes import hermes_home
from recall.hosts.installed import Write
from recall.prompts import capability
from recall.settings import Settings

NAME = "history-recall"
PROGRAMS: Mapping[str, str] = {
    "omp": "omp",
    "pi": "pi",
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "hermes": "hermes",
    "opencode": "opencode",
}
# Claude Code and Codex show their model the document where there is one; the text is a third of it, and fenced.
_MCP = ("mcp", "--text")
SERVED_OVER_MCP = frozenset({"claude-code", "codex", "gemini", "opencode"})
_PACKAGES = Path(__file__).resolve().parent.parent / "hosts" / "packages"


def command() -> list[str]:
    """How a host starts this program: by its whole path, so that it does not depend on the host's PATH."""
    found = shutil.which(NAME)
    return [os.path.abspath(found)] if found else [sys.executable, "-m", "recall"]


def writes(host: str, settings: Settings, *, brief: bool = False) -> Sequence[Write]:
    """Everything that installing writes for a host. `brief`: conversations there begin with the block of `brief`."""
    if host in BRIEFED:
        return BRIEFED[host](settings, brief)
    return _HOSTS[host](settings)


def _extension(host: str) -> Callable[[Settings, bool], Sequence[Write]]:
    def package(settings: Settings, brief: bool) -> Sequence[Write]:
        folder = roots.omp_agent(settings) if host == "omp" else roots.pi_agent(settings)
        template = (_PACKAGES / "pi" / "history-recall.ts").read_text(encoding="utf-8")
        data = json.dumps(_described() | {"host": host, "brief": brief}, ensure_ascii=False)
        return [Write(folder / "extensions" / "history-recall.ts", template.replace("__PACKAGE__", data))]

    return package


def _described() -> dict[str, object]:
    """What a package needs to register everything without asking: it is the same each time."""
    from recall.surfaces.serve import hello  # made from the table of operations, which these are rows of

    said = hello(disabled=False)
    found = said["command"]
    description = found["description"] if isinstance(found, dict) else ""
    named = {key: said[key] for key in ("tools", "commands", "capability", "protocol")}
    return named | {"command": command(), "description": description}


def _hermes(settings: Settings, brief: bool) -> Sequence[Write]:
    home = hermes_home(settings) or settings.home / ".hermes"
    folder = home / "plugins" / NAME
    return [
        Write(folder / "plugin.yaml", (_PACKAGES / "hermes" / "plugin.yaml").read_text(encoding="utf-8")),
        Write(folder / "__init__.py", (_PACKAGES / "hermes" / "__init__.py").read_text(encoding="utf-8")),
        Write(folder / "package.json", _json(_described() | {"brief": brief})),
        Write(
            home / "config.yaml",
            put=lambda text: edits_yaml.enabling(text, NAME),
            take=lambda text: edits_yaml.disabling(text, NAME),
            present=lambda text: edits_yaml.enables(text, NAME),
        ),
    ]


def _claude_code(settings: Settings, brief: bool) -> Sequence[Write]:
    """A plugin where Claude Code loads it without a marketplace; the skill at its root is plain `/history-recall`."""
    folder = roots.folder(settings, "CLAUDE_CONFIG_DIR", ".claude") / "skills" / NAME
    manifest = (_PACKAGES / "claude" / "plugin.json").read_text(encoding="utf-8")
    server = {"type": "stdio", "command": command()[0], "args": [*command()[1:], *_MCP]}
    # Of a conversation that goes on, the program has shown it already.
    said = f'[ "$HISTORY_RECALL_DISABLED" = 1 ] || {shlex.join([*command(), "brief", "--quiet"])}'
    start = {"matcher": "startup|clear", "hooks": [{"type": "command", "command": said, "timeout": 60}]}
    return [
        Write(folder / ".claude-plugin" / "plugin.json", manifest.replace("__VERSION__", __version__)),
        Write(folder / "SKILL.md", _filled("skill.md")),
        Write(folder / ".mcp.json", _json({"mcpServers": {NAME: server}})),
        Write(folder / "hooks" / "hooks.json", _json({"hooks": {"SessionStart": [start]} if brief else {}})),
    ]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _codex(settings: Settings) -> Sequence[Write]:
    program, *words = command()
    where = ("mcp_servers", NAME)
    lines = (
        f"command = {json.dumps(program, ensure_ascii=False)}",
        f"args = {json.dumps([*words, *_MCP], ensure_ascii=False)}",
        "required = true",  # `codex exec` waits for no other: its first turn would be without the tools
        "startup_timeout_sec = 300",
        "tool_timeout_sec = 600",
    )

    def mark(text: str) -> str | None:
        found = edits_toml.table(text, where)
        return None if found is None else json.dumps(found.get("command"))

    return [
        Write(settings.home / ".agents" / "skills" / NAME / "SKILL.md", _filled("skill.md")),
        Write(
            roots.folder(settings, "CODEX_HOME", ".codex") / "config.toml",
            put=lambda text: edits_toml.with_table(text, where, lines),
            take=lambda text: edits_toml.without_table(text, where),
            present=lambda text: edits_toml.table(text, where) is not None,
            mark=mark,
        ),
    ]


def _gemini(settings: Settings) -> Sequence[Write]:
    folder = roots.folder(settings, "GEMINI_CLI_HOME") / ".gemini"
    # Gemini makes a command of each prompt, and renames two of one name: there would be no `/history-recall`.
    server = {"command": command()[0], "args": [*command()[1:], *_MCP, "--no-prompts"], "timeout": 600_000}
    return [
        Write(folder / "commands" / "history-recall.toml", _filled("gemini.toml")),
        _member(folder / "settings.json", ("mcpServers", NAME), server),
    ]


def _opencode(settings: Settings) -> Sequence[Write]:
    given = settings.host_variables.get("XDG_CONFIG_HOME")
    base = Path(given) if given and Path(given).is_absolute() else settings.home / ".config"
    folder = base / "opencode"
    commented = folder / "opencode.jsonc"
    config = commented if commented.exists() else folder / "opencode.json"
    server = {"type": "local", "command": [*command(), *_MCP], "enabled": True}
    return [
        Write(folder / "command" / "history-recall.md", _filled("opencode.md")),
        _member(config, ("mcp", NAME), server),
    ]


def _member(path: Path, where: tuple[str, ...], value: object) -> Write:
    def mark(text: str) -> str | None:
        """The command: the rest of an entry of ours a person or the host may have set to their liking."""
        if not text.strip() or not edits.has_member(text, where):
            return None
        return edits.member(text, (*where, "command")) or ""

    return Write(
        path,
        put=lambda text: edits.with_member(text, where, value),
        take=lambda text: edits.without_member(text, where),
        present=lambda text: bool(text.strip()) and edits.has_member(text, where),
        mark=mark,
    )


def _filled(name: str) -> str:
    text = (_PACKAGES / "skills" / name).read_text(encoding="utf-8")
    return text.replace("__COMMAND__", shlex.join(command())).replace("__CAPABILITY__", capability().strip())


# Those that can begin a conversation with the brief, where the user turns it on.
BRIEFED: Mapping[str, Callable[[Settings, bool], Sequence[Write]]] = {
    "omp": _extension("omp"),
    "pi": _extension("pi"),
    "claude-code": _claude_code,
    "hermes": _hermes,
}
_HOSTS: Mapping[str, Callable[[Settings], Sequence[Write]]] = {
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
}
