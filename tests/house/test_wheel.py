"""The wheel is built, looked into, installed in a fresh environment, and run with an empty home folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.shared import ROOT


def _run(*command: str | Path, cwd: Path, home: Path) -> str:
    """The standard output, after looking that the command ended well; a failing one shows what it said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"HOME": str(home), "USERPROFILE": str(home)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without the network by the locked backend."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder, home=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that has the wheel, and what it needs from the one we run in."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    python = Path(paths["scripts"]) / "python"
    # Our own pip works on the new environment: giving it one takes longer than all the rest.
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    _run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder, home=folder)
    # A path, whose own .pth files are not followed: the checkout, which is installed there, does not come along.
    (Path(paths["purelib"]) / "needs.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    return Path(paths["scripts"])


def test_the_wheel_holds_the_packages_the_prompts_and_the_schema_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode("utf-8")
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"recall", "repair"}
    assert {
        "recall/__init__.py",
        "recall/py.typed",
        "repair/py.typed",
        "recall/index/schema.sql",
        "recall/thesaurus.txt",
    } <= names
    prompts = {path.relative_to(ROOT).as_posix() for path in (ROOT / "prompts").rglob("*") if path.is_file()}
    assert prompts
    assert {name.removeprefix("recall/_") for name in names if name.startswith("recall/_prompts/")} == prompts
    assert not [name for name in names if "__pycache__" in name]
    assert "litellm!=1.82.7,!=1.82.8" in metadata.replace(" ", "")


def test_the_command_says_what_it_does(installed: Path, tmp_path: Path, home: Path) -> None:
    assert "Usage" in _run(installed / "history-recall", "--help", cwd=tmp_path, home=home)


def test_the_installed_command_answers_in_an_empty_home(installed: Path, tmp_path: Path, home: Path) -> None:
    status = json.loads(_run(installed / "history-recall", "status", "--json", cwd=tmp_path, home=home))
    assert status["conversations"] == 0
    assert not list(tmp_path.iterdir()), "it wrote into the working directory"


def test_the_code_that_runs_is_the_wheels(installed: Path, tmp_path: Path, home: Path) -> None:
    code = "import recall, repair; print(recall.__file__); print(repair.__file__)"
    files = _run(installed / "python", "-c", code, cwd=tmp_path, home=home).split()
    assert all(Path(file).is_relative_to(installed.parent) for file in files), files
