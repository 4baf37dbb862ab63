"""Two programs at once in one home, on one index, while a third process indexes: both recall what was found out."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.hosts.real.home import Failed, Home
from tests.hosts.real.programs import Program
from tests.hosts.real.scripted_model import ANSWER, QUESTION, RECALL, RECALLED, ScriptedModel


def run(one: Program, other: Program, cache: Path) -> str:
    """What it came to. Raises Failed."""
    scratch = Path(tempfile.mkdtemp(prefix="history-recall-together-"))
    try:
        with ScriptedModel() as model:
            homes = [Home(scratch, program, cache, model.port) for program in (one, other)]
            for home, program in zip(homes, (one, other), strict=True):
                home.run(program.ask(QUESTION))
                home.run(["history-recall", "hosts", "install", program.name])
            homes[0].run(["history-recall", "index-all"])

            def recalls(home: Home, program: Program) -> str:
                return home.run([*program.ask(RECALL), *program.patient])

            with ThreadPoolExecutor(3) as pool:
                asked = [pool.submit(recalls, homes[0], one), pool.submit(recalls, homes[1], other)]
                indexing = pool.submit(homes[0].run, ["sh", "-c", "history-recall rebuild && history-recall index-all"])
                said = [future.result() for future in asked]
                indexing.result()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for program, text in zip((one, other), said, strict=True):
        if f"{RECALLED} {ANSWER}" not in text:
            raise Failed(f"{program.name} did not recall: {text[-1000:]}")
    return "both recalled at once, on one index that a third process was writing"
