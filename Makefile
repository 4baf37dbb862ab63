# Needs Python 3.11 to 3.14 with pip, and make. `make demo` shows the product, `make test` is what CI runs.
#
# Two environments, each made from its hash-locked file and made again when that file changes:
#   .venv       everything, with the project installed from this checkout
#   .venv-demo  only what the product runs on; the checkout is put on its path, so nothing is built

PYTHON ?= python3
DATA ?= fixtures/coding

PY := .venv/bin/python
DEMO_PY := .venv-demo/bin/python

# Bytecode is made for what is imported, when it is imported: compiling everything takes longer than downloading it.
PIP_INSTALL := -m pip install -qq --disable-pip-version-check --no-compile

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: bench-offline help demo test test-hosts lint types pytest bench lock clean python-is-good

# A path of the caller's would put other code in front of what is locked here.
unexport PYTHONPATH

help:
	@echo "make demo    the product on invented conversations (installs into .venv-demo)"
	@echo "make test    lint, types, and all tests (installs into .venv)"
	@echo "make test-hosts   the real host programs, installed from the package indexes into build/ and scratch homes"
	@echo "make lint    ruff"
	@echo "make types   mypy, strict"
	@echo "make bench   retrieval and topics on the public set; DATA=FOLDER takes another"
	@echo "make bench-offline   the benchmarks that need no data: costs and checks against a scripted provider; planted topic faults"
	@echo "make lock    make requirements/*.txt again; UPGRADE=--upgrade takes newer versions"
	@echo "make clean   remove what make made"
	@echo "make … PYTHON=python3.12 takes another Python"

demo: .venv-demo/.ready
	@test -f fixtures/demo.py || { echo "make demo: fixtures/demo.py is not there yet" >&2; exit 1; }
	@$(DEMO_PY) fixtures/demo.py

test: lint types pytest

test-hosts: .venv/.ready
	$(PY) -m tests.hosts.real

lint: .venv/.ready
	$(PY) -m ruff check .

types: .venv/.ready
	$(PY) -m mypy

# By file, so that what a file sets up once is set up once.
pytest: .venv/.ready
	$(PY) -m pytest -n auto --dist loadfile

bench: .venv/.ready
	$(PY) -m benchmarks.retrieval --data $(abspath $(DATA)) --layers keyword,neighbours,offline,curated,vocabulary,rewrite
	@for topics in $$(find $(abspath $(DATA)) -name topics.json); do $(PY) -m benchmarks.topics --data $$(dirname $$topics); done
	$(PY) -m benchmarks.redaction --data $(abspath $(DATA))

bench-offline: .venv/.ready
	$(PY) -m benchmarks.offline --conversations 64
	$(PY) -m benchmarks.offline --conversations 64 --sessions 4
	$(PY) -m benchmarks.repair --conversations 32 128

# uv makes one file for every Python and system we support. It is a tool of this target only, in a folder that goes again.
LOCK_ENV := .venv-lock
LOCK := UV_CUSTOM_COMPILE_COMMAND="make lock" $(LOCK_ENV)/bin/uv pip compile pyproject.toml --quiet --universal \
	--python-version 3.11 --generate-hashes --only-binary :all: --no-emit-index-url --no-emit-find-links --no-annotate $(UPGRADE)

lock: python-is-good
	@echo "locking requirements/runtime.txt and requirements/dev.txt"
	@$(PYTHON) -m venv --clear $(LOCK_ENV)
	@$(LOCK_ENV)/bin/python $(PIP_INSTALL) "uv>=0.13,<0.14"
	@$(LOCK) --output-file requirements/runtime.txt
	@$(LOCK) --output-file requirements/dev.txt --group dev --extra mcp --constraint requirements/runtime.txt
	@rm -rf $(LOCK_ENV)

clean:
	rm -rf .venv .venv-demo .venv-lock build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find recall repair benchmarks fixtures tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.ready: .venv/.locked pyproject.toml
	@echo "installing the project from this checkout"
	@$(PY) $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.locked: requirements/dev.txt | python-is-good
	@echo "installing requirements/dev.txt into .venv (about half a minute)"
	@$(PYTHON) -m venv --clear .venv
	@$(PY) $(PIP_INSTALL) --require-hashes --only-binary :all: --requirement $<
	@touch $@

.venv-demo/.ready: requirements/runtime.txt | python-is-good
	@echo "installing requirements/runtime.txt into .venv-demo (about twenty seconds)"
	@$(PYTHON) -m venv --clear .venv-demo
	@$(DEMO_PY) $(PIP_INSTALL) --require-hashes --only-binary :all: --requirement $<
	@$(DEMO_PY) -c 'import os, site; open(os.path.join(site.getsitepackages()[0], "checkout.pth"), "w").write(os.getcwd() + "\n")'
	@touch $@

python-is-good:
	@command -v "$(PYTHON)" >/dev/null || { echo "make: no $(PYTHON) here; name a Python with PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || \
		{ echo "make: $$("$(PYTHON)" --version 2>&1) is not 3.11 to 3.14; name another with PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "make: $(PYTHON) has no venv with pip in it (on Debian: the package python3-venv)" >&2; exit 1; }
