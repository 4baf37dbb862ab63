"""The top level is a closed list, and no file tells whose machine it was written on."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.shared import ROOT

TOP_LEVEL = {
    "recall",
    "prompts",
    "repair",
    "benchmarks",
    "fixtures",
    "tests",
    "docs",
    "requirements",
    ".ci",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    ".gitignore",
}

# In two parts, so that this file does not hold what it looks for.
REGISTRY_HOSTS = ["py" + "pi.org", "python" + "hosted.org", "registry.npm" + "js"]

# Where this checkout lies and whose home it is, as found now: tests/conftest.py hides the home later.
MACHINE = {ROOT, ROOT.parent, Path.home()}
# Too common in texts, or invented on purpose in the fixtures: a checkout there is no finding.
ANYBODYS = {Path(name) for name in ("/", "/tmp", "/home", "/Users", "/opt", "/src", "/home/dev", "/Users/dev")}


def _tracked() -> list[Path]:
    """The files in git, or in a copy without it (an unpacked sdist) a reason to skip."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a git checkout, to know which files are tracked")
    # -c: a clone made by another user, as CI may, is still ours to list
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_the_top_level_is_the_allowed_list() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in _tracked()}
    assert names <= TOP_LEVEL, f"not allowed at the top level: {sorted(names - TOP_LEVEL)}"
    assert names >= TOP_LEVEL, f"missing at the top level: {sorted(TOP_LEVEL - names)}"


def test_no_file_holds_a_path_of_this_machine_or_a_registry_host() -> None:
    # The whole folder, and not the end of a longer path: "/a/b" is neither in "~/a/b" nor in "/a/bc".
    paths = [rf"(?<![\w.~-]){re.escape(str(folder))}(?![\w.-])" for folder in MACHINE - ANYBODYS]
    forbidden = re.compile("|".join([*map(re.escape, REGISTRY_HOSTS), *paths]).encode())
    held = [
        f"{path.relative_to(ROOT)} holds {found.group().decode()}"
        for path in _tracked()
        if (found := forbidden.search(path.read_bytes()))
    ]
    assert not held
