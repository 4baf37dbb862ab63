"""`make test-hosts`: each program in its own scratch home, from a first conversation to recalling it in a second.

Prints what each program came to, and fails where one that is installed does not pass. `--only NAME` takes some of them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from recall import brief
from recall.prompts import capability
from recall.surfaces.agent_text import NOTICE
from tests.hosts.real import together
from tests.hosts.real.home import Failed, Home
from tests.hosts.real.programs import PROGRAMS, CannotInstall, Program
from tests.hosts.real.scripted_model import (
    ANSWER,
    MOVE,
    MOVE_HERE,
    MOVED,
    PRINTED,
    PROJECT,
    QUESTION,
    RECALL,
    RECALLED,
    ScriptedModel,
)


def main() -> int:
    """Run them; 0 where every one that is installed passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path("build/hosts"), help="where the programs are installed")
    parser.add_argument("--only", action="append", choices=[program.name for program in PROGRAMS])
    given = parser.parse_args()
    chosen = [program for program in PROGRAMS if given.only is None or program.name in given.only]
    failures = [program.name for program in chosen if not _passes(program, given.cache.resolve())]
    failures += _together(chosen, given.cache.resolve())
    _say(f"{len(chosen) - len(failures)} of {len(chosen)} did not fail" + (f"; failed: {failures}" if failures else ""))
    return 1 if failures else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _together(chosen: list[Program], cache: Path) -> list[str]:
    """Two of those that are installed, at once on one index; what failed."""
    pair = [program for program in chosen if program.is_installed(cache)][:2]
    if len(pair) < 2:
        return []
    names = " and ".join(program.name for program in pair)
    try:
        _say(f"{names}: {together.run(pair[0], pair[1], cache)}")
    except Failed as failure:
        _say(f"{names}: FAILED: {failure}")
        return [names]
    return []


def _passes(program: Program, cache: Path) -> bool:
    try:
        program.install(cache)
    except CannotInstall as reason:
        _say(f"{program.name}: SKIPPED, it cannot be installed here: {reason}")
        return True
    _say(f"{program.name}: {program.version(cache)}")
    scratch = Path(tempfile.mkdtemp(prefix=f"history-recall-{program.name}-"))
    try:
        with ScriptedModel() as model:
            home = Home(scratch, program, cache, model.port)
            for step in (_first_conversation, _resumed, _by_hand, _package):
                _say(f"{program.name}: {step(program, home, model)}")
    except Failed as failure:
        _say(f"{program.name}: FAILED: {failure}")
        return False
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return True


def _first_conversation(program: Program, home: Home, _model: ScriptedModel) -> str:
    said = home.run(program.ask(QUESTION))
    if ANSWER not in said:
        raise Failed(f"the first conversation was not answered: {said[-800:]}")
    listed = home.run(["history-recall", "conversations"])
    if program.name not in listed:
        raise Failed(f"its conversation is not listed: {listed[-800:]}")
    home.run(["history-recall", "index-all"])
    return "a conversation was made, found and indexed"


def _resumed(program: Program, home: Home, model: ScriptedModel) -> str:
    found = json.loads(home.run(["history-recall", "search", "ledger writer", "--json"]).splitlines()[-1])
    command = next(one["resume"] for one in found["conversations"] if one["host"] == program.name)
    if program.resumed is None:
        return f"resume is {command}, which needs a terminal"
    before = len(model.requests)
    home.run(["sh", "-c", program.resumed(command, "'And then?'")])
    asked = [str(request) for _, request in model.requests[before:]]
    if not any(QUESTION in text and "And then?" in text for text in asked):
        raise Failed(f"`{command}` did not go on with the conversation")
    return f"`{command.replace(str(home.folder), '~')}` went on with it"


def _by_hand(program: Program, home: Home, model: ScriptedModel) -> str:
    if program.by_hand is None:
        return "its package is the way in: adding the MCP server by hand was not tried"
    home.run(program.by_hand)
    _recalls(program, home, model)
    home.run(program.taken_back or [])
    return "with the MCP server added by hand a second conversation recalled the first"


def _recalls(program: Program, home: Home, model: ScriptedModel) -> None:
    said = home.run([*program.ask(RECALL), *program.patient])
    if f"{RECALLED} {ANSWER}" not in said:
        raise Failed(f"the second conversation did not recall the first: {said[-1500:]}")
    # The last request holds all of the conversation. It may stand there inside of another JSON.
    asked = json.dumps(model.requests[-1][1], ensure_ascii=False)
    for _ in range(2):
        asked = asked.replace("\\\\", "\\").replace("\\n", "\n").replace('\\"', '"')
    times = asked.count(capability().strip())
    if times != (0 if program.mute else 1):
        raise Failed(f"the static text stands {times} times in what this program sent to the model")


def _package(program: Program, home: Home, model: ScriptedModel) -> str:
    before = home.files()
    home.run(["history-recall", "hosts", "install", program.name])
    home.run(["history-recall", "hosts", "uninstall", program.name])
    if home.files() != before:
        left = sorted(set(home.files().items()) ^ set(before.items()))
        raise Failed(f"uninstalling did not leave the home as it was: {left[:10]}")
    home.run(["history-recall", "hosts", "install", program.name])
    for command, wanted in program.loaded:
        if wanted not in (said := home.run(command)):
            raise Failed(f"`{' '.join(command)}` did not say {wanted!r}: {said[-800:]}")
    _recalls(program, home, model)
    _begins_with_the_brief(program, home, model)
    _answers_slash(program, home)
    _holds(program, home)
    _lends(program, home, model)
    _moves(program, home)
    _moves_itself(program, home)
    _is_not_indexed_again(home)
    home.run(["history-recall", "hosts", "uninstall", program.name])
    return "with its package a second conversation recalled the first, a third moved it; uninstalled without a trace"


def _answers_slash(program: Program, home: Home) -> None:
    if program.in_terminal:
        home.type(program.slash, "/history-recall status", "❯", "text index")
        _say(f"{program.name}: `status` behind its command was answered, in a terminal")
        return
    said = home.run(program.slash)
    if "text index" not in said or (program.skill and PRINTED not in said):
        raise Failed(f"`/history-recall status` was not answered: {said[-1000:]}")
    how = "by its model, which was told to run it" if program.skill else "without its model"
    _say(f"{program.name}: `status` behind its command was answered, {how}")


def _holds(program: Program, home: Home) -> None:
    """What stands between the program and our process: the process may be killed in mid-call."""
    if program.bridge is not None:
        *command, package = program.bridge
        if "the bridge holds" not in (said := home.run([*command, str(home.folder / package)])):
            raise Failed(f"the bridge does not hold: {said[-800:]}")
        _say(f"{program.name}: its process was killed in mid-call; the calls ended, the next ones were answered")


def _lends(program: Program, home: Home, model: ScriptedModel) -> None:
    """An analysis is asked of its own model, after a yes; what that says here is no analysis, and is refused."""
    if not program.lends:
        return
    listed = json.loads(home.run(["history-recall", "conversations", "--host", program.name, "--json"]))
    source = next(row["source"] for row in listed["conversations"] if row["state"] == "new")
    lent = {"HISTORY_RECALL_MODEL": "host"}
    home.type(program.slash, "/history-recall consent grant", "❯", "host at host: given", **lent)
    before = len(model.requests)
    home.type(program.slash, f"/history-recall index {source}", "❯", "invalid_model_output", **lent)
    asked = [str(request) for _, request in model.requests[before:]]
    if not any("You catalogue a recorded conversation" in text for text in asked):
        raise Failed("the program's own model was not asked")
    _say(f"{program.name}: its own model was asked for an analysis, with its own key, and what it said was judged")


def _moves(program: Program, home: Home) -> None:
    """A conversation goes into a project from inside the program, and is searched for there."""
    home.run(["history-recall", "project", "create", PROJECT])
    search = [
        "history-recall",
        "search",
        "ledger writer loses rows",
        "--project",
        PROJECT,
        "--mode",
        "keyword",
        "--json",
    ]
    before = json.loads(home.run(search))["conversations"]
    said = home.run([*program.ask(MOVE), *program.patient])
    after = json.loads(home.run(search))["conversations"]
    if MOVED not in said or before or len(after) != 1:
        raise Failed(f"the conversation was not moved: {said[-1000:]}")


def _moves_itself(program: Program, home: Home) -> None:
    """The running conversation goes into the project; its directory goes along as far as the host lets it."""
    if program.moved_itself is None:
        return
    elsewhere = home.folder / "work" / "ledger-kept"
    elsewhere.mkdir()
    home.run(["history-recall", "project", "bind", str(elsewhere), "--project", PROJECT, "--no-marker"])
    said = home.run(program.ask(MOVE_HERE))
    wanted = program.moved_itself.format(folder=elsewhere)
    if MOVED not in said or wanted not in " ".join(said.split()):
        raise Failed(f"moving the running conversation did not say {wanted!r}: {said[-1000:]}")
    listed = json.loads(home.run(["history-recall", "conversations", "--host", program.name, "--json"]))
    there = [row for row in listed["conversations"] if row["cwd"] == str(elsewhere)]
    if program.name == "hermes" and len(there) != 1:
        raise Failed(f"no conversation of it has the directory {elsewhere}")
    _say(f"{program.name}: the running conversation moved itself: {wanted.replace(str(home.folder), '~')}")


def _begins_with_the_brief(program: Program, home: Home, model: ScriptedModel) -> None:
    """Only where the person turned it on."""
    if not program.brief:
        return
    for words, wanted in ((["--brief"], True), ([], False)):
        home.run(["history-recall", "hosts", "install", program.name, *words])
        before = len(model.requests)
        home.run(program.ask(QUESTION))
        asked = [str(request) for _, request in model.requests[before:]]
        if any(brief.NOTICE in text for text in asked) != wanted:
            raise Failed(f"the brief was {'not ' if wanted else ''}among what the model was sent, {words}")
    _say(f"{program.name}: the brief begins a conversation where it was turned on, and no other")


def _is_not_indexed_again(home: Home) -> None:
    """What our tools answered stands in the second conversation's log, and must not come back as history."""
    home.run(["history-recall", "index-all"])
    listed = json.loads(home.run(["history-recall", "conversations", "--state", "indexed", "--json"]))
    for row in listed["conversations"]:
        text = home.run(["history-recall", "read", row["conversation_id"], "--max-chars", "48000", "--json"])
        if NOTICE in text:
            raise Failed(f"an answer of ours was indexed as history, in {row['source']}")


if __name__ == "__main__":
    sys.exit(main())
