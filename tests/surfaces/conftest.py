"""The command line, called in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from recall.surfaces.cli import main


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command; returns (exit code, stdout, stderr)."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def answer(said: Callable[..., tuple[int, str, str]]) -> Callable[..., Any]:
    """The JSON answer of a command that ends with this exit code."""

    def run(*words: str, code: int = 0) -> Any:
        done, out, err = said(*words, "--json")
        assert done == code, (out, err)
        return json.loads(out)

    return run
