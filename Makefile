# make run   sets everything up, ingests the samples and serves on http://127.0.0.1:8000
# make test  sets everything up and runs all checks

PYTHON ?= python3
BIN := .venv/bin
# The lock files name every package: nothing is to be resolved. What is installed is compiled on all cores.
LOCKED := --quiet --disable-pip-version-check --no-deps --no-compile
COMPILE = $(BIN)/python -W ignore -m compileall -q -j 0 .venv/lib >/dev/null 2>&1 || true # some packages ship files of Python 2
# Each of many processes would compile all that it imports, where nothing compiled may be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test lint lock samples clean

run: .venv/installed
	$(BIN)/kb-qa prepare
	$(BIN)/kb-qa ingest data/samples
	@printf '\nThree questions to try on the page http://127.0.0.1:8000 (or with: %s ask "…"):\n' '$(BIN)/kb-qa'
	@printf '  P5 的基本工资是多少？\n  What were net sales in 2024?\n  年假有多少天？\n\n'
	$(BIN)/kb-qa serve

# Tests write in memory where there is room to: on a disk they wait for each transaction. `conftest` orders the files.
MEMORY := $(shell grep -qs ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts || df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 { print $$6 }')

test: .venv/installed-dev lint
	PYTEST_DEBUG_TEMPROOT=$(MEMORY) $(BIN)/pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The lock files: exact pins, no index addresses. Needs pip-tools.
lock:
	$(PYTHON) scripts/lock.py

samples: .venv/installed
	$(BIN)/python scripts/make_samples.py

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kb-qa needs Python 3.11 or newer: make PYTHON=/path/to/python3")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/created requirements.lock pyproject.toml
	$(BIN)/pip install $(LOCKED) -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	$(COMPILE)
	touch $@

.venv/installed-dev: .venv/installed requirements-dev.lock
	$(BIN)/pip install $(LOCKED) -r requirements-dev.lock
	$(COMPILE)
	touch $@

clean:
	rm -rf .venv data/kb
