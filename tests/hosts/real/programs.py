"""The host programs: how each is installed, pointed at the scripted model, asked something, given the tools by hand.

Facts of the programs were found by running them; versions are pinned where newer ones do not install. A program that
cannot be installed here is skipped with its reason, one that is installed has to pass.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Environment = dict[str, str]
INSTALL_SECONDS = 1800
BRIDGE = str(Path(__file__).with_name("bridge.ts"))


class CannotInstall(Exception):
    """The package index does not give the program here."""


@dataclass(frozen=True)
class Program:
    """One program.

    `by_hand` adds the tools over MCP, as docs/tools.md says, and `taken_back` takes them away. `patient` are words for
    a question whose answer needs the tools: on a busy machine a server starts slowly. `slash` asks for
    `/history-recall status` without a terminal, or is how the program is started in one (`in_terminal`). Where the
    command is a skill or a prompt, the model is told what to do, and does it (`skill`). `mute`: it gives the model no
    server's instructions. `resumed`: the command that a hit gives, with a text
    said in it without a terminal. `loaded`: commands of its own that see our package, and what they then say. `brief`:
    it can begin a conversation with the brief. `moved_itself`: what the move of the running conversation says of its
    directory, with {folder} in it. `bridge`: what runs a script against our installed package (a path in the home).
    `lends`: its own model can be asked for an analysis, in a terminal.
    """

    name: str
    packages: tuple[str, ...]
    configure: Callable[[Path, int], None]
    variables: Callable[[Path, int], Environment]
    ask: Callable[[str], list[str]]
    by_hand: list[str] | None = None
    taken_back: list[str] | None = None
    patient: tuple[str, ...] = ()
    slash: tuple[str, ...] = ()
    in_terminal: bool = False
    skill: bool = False
    mute: bool = False
    python: bool = False
    resumed: Callable[[str, str], str] | None = None
    loaded: tuple[tuple[tuple[str, ...], str], ...] = ()
    brief: bool = False
    moved_itself: str | None = None
    bridge: tuple[str, str, str] | None = None
    lends: bool = False

    def folder(self, cache: Path) -> Path:
        """Where its commands are, once it is installed."""
        return cache / self.name / ("bin" if self.python else "node_modules/.bin")

    def is_installed(self, cache: Path) -> bool:
        """Whether it was installed, by this run or an earlier one."""
        return (cache / self.name / ".installed").exists()

    def version(self, cache: Path) -> str:
        """What is installed."""
        if self.python:
            name = self.packages[0].partition("==")[0]
            (found,) = (cache / self.name).glob(f"lib/python*/site-packages/{name.replace('-', '_')}-*.dist-info")
            return f"{name} {found.name.removesuffix('.dist-info').rpartition('-')[2]}"
        name = self.packages[-1][:1] + self.packages[-1][1:].partition("@")[0]
        said = json.loads((cache / self.name / "node_modules" / name / "package.json").read_text())
        return f"{name} {said['version']}"

    def install(self, cache: Path) -> None:
        """Install it, unless it is there. Raises CannotInstall."""
        if self.is_installed(cache):
            return
        done = cache / self.name / ".installed"
        shutil.rmtree(done.parent, ignore_errors=True)  # what a stopped installation left looks whole to npm
        done.parent.mkdir(parents=True, exist_ok=True)
        if self.python:
            _run([sys.executable, "-m", "venv", str(done.parent)], done.parent)
            _run([str(done.parent / "bin/pip"), "install", "--quiet", *self.packages], done.parent)
        else:
            (done.parent / "package.json").write_text('{"private": true}')
            _run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *self.packages], done.parent)
            bun = done.parent / "node_modules/bun/install.js"
            if bun.exists():
                _run(["node", str(bun)], done.parent)
        done.touch()


def _run(command: list[str], folder: Path) -> None:
    try:
        subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=True,
        )
    except FileNotFoundError as error:
        raise CannotInstall(f"there is no {command[0]} here") from error
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(f"{command[0]} did not end in {INSTALL_SECONDS} seconds") from error
    except subprocess.CalledProcessError as error:
        raise CannotInstall(f"{command[0]} said: {error.stderr.strip()[-300:]}") from error


def _nothing(_home: Path, _port: int) -> None:
    """It is configured by its environment."""


def _plain(_home: Path, _port: int) -> Environment:
    return {}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _provider(port: int) -> Mapping[str, object]:
    model = {"id": "scripted", "name": "Scripted", "contextWindow": 128_000, "maxTokens": 8000}
    return {
        "scripted": {
            "baseUrl": f"http://127.0.0.1:{port}/v1",
            "api": "openai-completions",
            "apiKey": "sk-local",
            "models": [model],
        }
    }


def _omp(home: Path, port: int) -> None:
    # JSON is YAML too.
    _write(home / ".omp/agent/models.yml", json.dumps({"providers": _provider(port)}))


def _pi(home: Path, port: int) -> None:
    _write(home / ".pi/agent/models.json", json.dumps({"providers": _provider(port)}))


def _codex(home: Path, port: int) -> None:
    _write(
        home / ".codex/config.toml",
        '# made for this test\nmodel = "scripted"\nmodel_provider = "local"\n\n'
        '[model_providers.local]\nname = "local"\n'
        f'base_url = "http://127.0.0.1:{port}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n',
    )


def _opencode(home: Path, port: int) -> None:
    options = {"baseURL": f"http://127.0.0.1:{port}/v1", "apiKey": "sk-local"}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": options,
        "models": {"scripted": {"name": "Scripted"}},
    }
    config = {"$schema": "https://opencode.ai/config.json", "provider": {"scripted": provider}, "autoupdate": False}
    _write(home / ".config/opencode/opencode.json", json.dumps(config, indent=2))


def _hermes(home: Path, port: int) -> None:
    _write(
        home / ".hermes/config.yaml",
        "model:\n  default: scripted\n  provider: custom\n"
        f"  base_url: http://127.0.0.1:{port}/v1\n  api_key: sk-local\n",
    )


def _claude(_home: Path, port: int) -> Environment:
    return {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "sk-local",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
        "MCP_TIMEOUT": "300000",
        "MCP_TOOL_TIMEOUT": "300000",
    }


def _gemini(home: Path, _port: int) -> None:
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    _write(home / ".gemini/settings.json", json.dumps(chosen, indent=4) + "\n")


def _gemini_variables(_home: Path, port: int) -> Environment:
    return {
        "GEMINI_API_KEY": "sk-local",
        "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


_GEMINI = ("gemini", "-m", "gemini-2.5-flash", "--yolo")

# As the server is called when it was added by hand, and as a plugin's.
_CLAUDE_TOOLS = "mcp__history-recall,mcp__plugin_history-recall_history-recall"
_CODEX_SERVER = "mcp_servers.history-recall"

PROGRAMS: tuple[Program, ...] = (
    Program(
        "claude-code",
        ("@anthropic-ai/claude-code",),
        _nothing,
        _claude,
        lambda text: ["claude", "-p", text, "--output-format", "json", "--allowedTools", _CLAUDE_TOOLS],
        ["claude", "mcp", "add", "--scope", "user", "history-recall", "--", "history-recall", "mcp", "--text"],
        ["claude", "mcp", "remove", "--scope", "user", "history-recall"],
        resumed=lambda command, text: f"{command} -p {text} --output-format json",
        slash=("claude", "-p", "/history-recall status", "--allowedTools", "Bash"),
        skill=True,
        loaded=(
            (("sh", "-c", "claude plugin validate ~/.claude/skills/history-recall"), "Validation passed\n"),
            (("claude", "plugin", "list"), "history-recall@skills-dir"),
            (("claude", "plugin", "details", "history-recall@skills-dir"), "MCP servers (1)  history-recall"),
        ),
        brief=True,
    ),
    Program(
        "codex",
        ("@openai/codex",),
        _codex,
        lambda home, port: {"OPENAI_API_KEY": "sk-local"},
        lambda text: ["codex", "exec", "--skip-git-repo-check", text],
        ["codex", "mcp", "add", "history-recall", "--", "history-recall", "mcp", "--text"],
        ["codex", "mcp", "remove", "history-recall"],
        # `codex exec` waits only for servers that are required.
        ("-c", f"{_CODEX_SERVER}.required=true", "-c", f"{_CODEX_SERVER}.startup_timeout_sec=300"),
        resumed=lambda command, text: (
            command.replace("codex resume", "codex exec resume --skip-git-repo-check") + f" {text}"
        ),
        slash=("codex", "exec", "--skip-git-repo-check", "$history-recall status"),
        skill=True,
    ),
    Program(
        "omp",
        ("bun@1.3", "@oh-my-pi/pi-coding-agent@18.2.3"),
        _omp,
        _plain,
        lambda text: ["omp", "--model", "scripted/scripted", "-p", text, "--no-lsp", "--auto-approve"],
        resumed=lambda command, text: f"{command} --model scripted/scripted -p {text} --no-lsp --auto-approve",
        slash=("omp", "--model", "scripted/scripted", "-p", "/history-recall status", "--no-lsp", "--auto-approve"),
        brief=True,
        moved_itself="`/move {folder}`",
        bridge=("bun", BRIDGE, ".omp/agent/extensions/history-recall.ts"),
    ),
    Program(
        "pi",
        ("@earendil-works/pi-coding-agent",),
        _pi,
        _plain,
        lambda text: ["pi", "--provider", "scripted", "--model", "scripted", "-p", text],
        resumed=lambda command, text: f"{command} --provider scripted --model scripted -p {text}",
        slash=("pi", "--provider", "scripted", "--model", "scripted", "-p", "/history-recall status"),
        brief=True,
    ),
    Program(
        "opencode",
        ("opencode-ai",),
        _opencode,
        _plain,
        lambda text: ["opencode", "run", "-m", "scripted/scripted", text],
        resumed=lambda command, text: command.replace(
            "opencode --session", f"opencode run -m scripted/scripted {text} --session"
        ),
        slash=("opencode", "run", "-m", "scripted/scripted", "--command", "history-recall", "status"),
        skill=True,
        mute=True,
    ),
    Program(
        "gemini",
        ("@google/gemini-cli",),
        _gemini,
        _gemini_variables,
        lambda text: [*_GEMINI, "-p", text],
        ["gemini", "mcp", "add", "--scope", "user", "history-recall", "history-recall", "mcp"],
        ["gemini", "mcp", "remove", "--scope", "user", "history-recall"],
        resumed=lambda command, text: command.replace("gemini --", f"{' '.join(_GEMINI)} -p {text} --", 1),
        slash=(*_GEMINI, "-p", "/history-recall status"),
        skill=True,
    ),
    Program(
        "hermes",
        ("hermes-agent==0.19.0",),
        _hermes,
        lambda home, port: {"HERMES_HOME": str(home / ".hermes")},
        lambda text: ["hermes", "chat", "-Q", "--yolo", "-q", text],
        resumed=lambda command, text: command.replace("hermes", f"hermes chat -Q --yolo -q {text}", 1),
        slash=("hermes", "chat"),
        in_terminal=True,
        brief=True,
        moved_itself="Hermes works in {folder}",
        lends=True,
        python=True,
    ),
)
