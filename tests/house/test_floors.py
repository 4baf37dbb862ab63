"""A module imports only from its own floor or lower ones (docs/design.md).

The tables below are the floors. A new module in a listed folder needs nothing; one elsewhere gets a line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

# A module by its dotted name; a folder by its name and ".*". The longest match counts.
FLOORS: dict[str, int] = {
    # 0 words
    "recall.types": 0,
    "recall.errors": 0,
    "recall.counting": 0,
    "recall.extras": 0,
    "recall.hashing": 0,
    "recall.plans": 0,
    # 1 tools
    "recall.redact.*": 1,
    "recall.cursor": 1,
    "recall.labels": 1,
    "recall.segment": 1,
    "recall.segment_ranges": 1,
    "recall.stem": 1,
    "recall.query": 1,
    "recall.borders": 1,
    "recall.thesaurus": 1,
    "recall.cut": 1,
    "recall.shown": 1,
    "recall.snippet": 1,
    "recall.timewindow": 1,
    "recall.moments": 1,
    "recall.nothing": 1,
    "recall.near": 1,
    "recall.weights": 1,
    "recall.settings": 1,
    "recall.prompts": 1,
    "recall.folders": 1,
    "recall.mentions": 1,
    "recall.project_names": 1,
    # 2 hosts
    "recall.hosts.*": 2,
    # 3 index
    "recall.index.*": 3,
    # 4 models
    "recall.models.*": 4,
    # 5 steps
    "recall.steps.*": 5,
    "recall.fence": 5,
    "recall.chunk": 5,
    # 6 repair
    "repair.*": 6,
    # 7 workflows
    "recall.run": 7,
    "recall.roads": 7,
    "recall.consents": 7,
    "recall.freshness": 7,
    "recall.wholes": 7,
    "recall.conversations": 7,
    "recall.sources": 7,
    "recall.status": 7,
    "recall.doctor": 7,
    "recall.curation": 7,
    "recall.dryrun": 7,
    "recall.originals": 7,
    "recall.origins": 7,
    "recall.ranking": 7,
    "recall.repairing": 7,
    "recall.ranked": 7,
    "recall.scoring": 7,
    "recall.rewriting": 7,
    "recall.indexer": 7,
    "recall.index_report": 7,
    "recall.rebuilding": 7,
    "recall.retelling": 7,
    "recall.jobs": 7,
    "recall.search_request": 7,
    "recall.candidates": 7,
    "recall.found": 7,
    "recall.searcher": 7,
    "recall.reader": 7,
    "recall.topic_life": 7,
    "recall.browser": 7,
    "recall.lookaround": 7,
    "recall.projects": 7,
    "recall.binding": 7,
    "recall.offering": 7,
    "recall.moving": 7,
    "recall.assigning": 7,
    "recall.journal": 7,
    "recall.forgetting": 7,
    "recall.brief": 7,
    "recall.answered": 7,
    "recall.exporting": 7,
    "recall.importing": 7,
    "recall.bundle": 7,
    "recall.bundle_rules": 7,
    "recall.bundle_file": 7,
    "recall.scope": 7,
    "recall.tiers": 7,
    "recall.latest": 7,
    # 8 surfaces
    "recall.surfaces.*": 8,
    "recall.__main__": 8,
    "benchmarks.*": 8,
    # The package itself: everything imports it by importing anything in it, so it may import only words.
    "recall": 0,
}

# What only one module may do, or a few.
READS_THE_ENVIRONMENT = {"recall.settings"}
# litellm takes some of its settings from there only, at its import.
SETS_THE_ENVIRONMENT = {"recall.models.litellm_model"}
IMPORTS_LITELLM = {"recall.models.litellm_model"}

PACKAGES = ("recall", "repair", "benchmarks")
_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}


def _modules() -> dict[str, Path]:
    """Every module of ours by its dotted name; a package by the name of its folder."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            # What is installed into a host program runs there, with the host's imports.
            if parts[:3] != ("recall", "hosts", "packages"):
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


def _floor(module: str) -> int | None:
    if module in FLOORS:
        return FLOORS[module]
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        floor = FLOORS.get(".".join(parts[:length]) + ".*")
        if floor is not None:
            return floor
    return None


def _imports(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of each import of ours, wherever it stands; `from package import module` is the module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module.split(".") if MODULES[module].name == "__init__.py" else module.split(".")[:-1]
                base = ".".join(package[: len(package) - node.level + 1] + ([base] if base else []))
            full = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else base for name in full]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] in PACKAGES)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_its_own_floor_or_below(module: str) -> None:
    floor = _floor(module)
    assert floor is not None, f"{module} stands on no floor: put it in FLOORS in tests/house/test_floors.py"
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for line, name in _imports(tree, module):
        other = _floor(name)
        assert other is not None, f"{module}:{line} imports {name}, which stands on no floor: put it in FLOORS"
        assert other <= floor, f"{module}:{line} (floor {floor}) imports {name} (floor {other})"


@pytest.mark.parametrize("module", MODULES)
def test_only_the_model_layer_imports_litellm_and_only_in_a_function(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    everywhere = set(_litellm(tree))
    in_functions = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in _litellm(node)
    }
    if module not in IMPORTS_LITELLM:
        assert not everywhere, f"{module}:{min(everywhere)} imports litellm; only {IMPORTS_LITELLM} may"
    assert everywhere == in_functions, f"{module} imports litellm outside a function: it takes seconds at every start"


def _litellm(tree: ast.AST) -> Iterator[int]:
    """The lines that import litellm, by a statement or by a call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            names = [str(value.value) for value in node.args if isinstance(value, ast.Constant)]
        else:
            continue
        if any(name.split(".")[0] == "litellm" for name in names):
            yield node.lineno


@pytest.mark.parametrize("module", [name for name in MODULES if name.split(".")[0] != "benchmarks"])
def test_only_settings_reads_the_environment(module: str) -> None:
    for line, sets in _environment(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        allowed = module in READS_THE_ENVIRONMENT or (sets and module in SETS_THE_ENVIRONMENT)
        assert allowed, f"{module}:{line} uses the environment; only {READS_THE_ENVIRONMENT} may"


def _environment(tree: ast.AST) -> Iterator[tuple[int, bool]]:
    """(line, whether a variable is only set there) of each use of the environment."""
    set_here = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.module == "os" and any(alias.name in _ENVIRONMENT for alias in node.names):
                yield node.lineno, False
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in {f"os.{name}" for name in _ENVIRONMENT}:
            yield node.lineno, id(node) in set_here


def test_the_table_names_only_what_can_be_there() -> None:
    """Every folder named in the table exists, so that a renamed one does not leave a line behind that holds nothing."""
    folders = [name.removesuffix(".*") for name in FLOORS if name.endswith(".*")]
    missing = [name for name in folders if not (ROOT / Path(*name.split("."))).is_dir()]
    assert not missing
