"""Docs, commands, options, settings and error codes say the same, both ways."""

from __future__ import annotations

import re

from recall import errors, settings
from recall.prompts import capability
from recall.surfaces import mcp_prompts
from recall.surfaces.commands import OPERATIONS
from recall.surfaces.render import RENDERERS
from recall.surfaces.tools import TOOLS
from recall.surfaces.words import cli
from tests.shared import ROOT

COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
TOOL_PAGE = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
ERRORS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
CLASSES = (errors.SourceError, errors.ArgumentError, errors.ModelError, errors.StateError)


def test_each_command_has_its_section_and_each_section_its_command() -> None:
    assert re.findall(r"^## (.+)$", COMMANDS, re.M) == [operation.name for operation in OPERATIONS]


def test_each_option_is_documented_and_no_other() -> None:
    known = {f"--{p.name.replace('_', '-')}" for o in OPERATIONS for p in o.parameters if not p.positional}
    everywhere = {"--json", "--profile", "--current", "--cwd", "--help"}
    assert set(re.findall(r"--[a-z][a-z-]*", COMMANDS)) == known | everywhere


def test_each_section_names_the_options_of_its_command() -> None:
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", COMMANDS, re.M | re.S))
    for operation in OPERATIONS:
        for parameter in operation.parameters:
            if not parameter.positional and "as above" not in sections[operation.name]:
                assert f"--{parameter.name.replace('_', '-')}" in sections[operation.name], operation.name


def test_each_command_can_be_rendered_and_called() -> None:
    names = {operation.name for operation in OPERATIONS}
    assert set(RENDERERS) == {operation.name for operation in OPERATIONS if not operation.on_stdio}
    assert set(cli.commands) == {name.split()[0] for name in names}


def test_each_tool_and_argument_is_documented_and_no_other() -> None:
    sections = dict(re.findall(r"^## (history_recall_\w+)\n(.*?)(?=^#)", TOOL_PAGE, re.M | re.S))
    assert list(sections) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        named = set(re.findall(r"`([a-z_]+)`", sections[tool.name]))
        assert {argument.name for argument in tool.arguments} <= named, tool.name


def test_each_prompt_is_documented() -> None:
    for prompt in mcp_prompts.listed():
        assert f"`{prompt.name}`" in TOOL_PAGE


def test_the_capability_text_names_the_tools_that_there_are() -> None:
    assert set(re.findall(r"`(history_recall_[a-z_]+)`", capability())) <= {tool.name for tool in TOOLS}


def test_each_setting_is_documented_and_no_other() -> None:
    source = (ROOT / "recall" / "settings.py").read_text(encoding="utf-8")
    read = set(re.findall(r'values\.get\("([a-z_]+)"', source)) | set(settings._NUMBERS)
    documented = {name.lower() for name in re.findall(r"HISTORY_RECALL_([A-Z_]+)", SETTINGS)}
    assert documented == read


def test_each_error_code_is_documented_and_no_other() -> None:
    codes = {code for each in CLASSES for code in each.codes}
    rows = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", ERRORS, re.M)
    documented = {code for row in rows for code in re.findall(r"`(.+?)`", row)}
    assert documented == codes


def test_each_code_belongs_to_one_class() -> None:
    total = sum(len(each.codes) for each in CLASSES)
    assert total == len({code for each in CLASSES for code in each.codes})


def test_the_free_codes_are_those_that_the_docs_do_not_count() -> None:
    free = {code for each in CLASSES for code in each.free_codes}
    documented = {
        code for row in re.findall(r"^\| (.+?) \|.*\| no \|$", ERRORS, re.M) for code in re.findall(r"`(.+?)`", row)
    }
    assert documented == free
