# Every target works through .venv, so a fresh machine needs Python 3.11 or newer and make, nothing else.

PYTHON ?= python3
WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
FAST := not powercut and not strace and not slow and not clients and not browser
SOURCES := src tests scripts examples $(if $(wildcard bench/*.py),bench)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The build backend comes first and from the pinned versions too; an isolated build would fetch whatever is newest.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: $(PYTHON) is older than Python 3.11; try make PYTHON=/path/to/python3.12" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt hatchling editables
	$(BIN)/python -m pip install --quiet --no-build-isolation -c constraints.txt -e '.[dev]'
	@# Packages may ship files of another Python as data; those need not compile.
	-@$(BIN)/python -m compileall -qq "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
	@scripts/system-tools --install
	@touch $(STAMP)

.PHONY: setup
setup: $(STAMP) ## Make .venv with pinned versions, compile bytecode, look for system tools
	@$(BIN)/python -m compileall -q src
	@scripts/system-tools

.PHONY: run
run: setup ## Show the program at work
	$(BIN)/hindbrain demo

# 5 is pytest's code for "no test selected"; a tier without tests is no failure.
.PHONY: test
test: setup check ## Run every check and every test
	$(BIN)/python -m pytest -n $(WORKERS) -m "not powercut and not clients"
	$(BIN)/python -m pytest -m powercut || test $$? -eq 5

.PHONY: test-fast
test-fast: setup ## Run the fast tests only
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "$(FAST)"

.PHONY: test-versions
test-versions: ## Run the fast tests on each supported Python found here
	@scripts/test-versions "$(FAST)" $(WORKERS)

.PHONY: test-clients
test-clients: setup ## Run the tests with the real agents, fetched once and kept outside the clone
	@scripts/clients >/dev/null
	TEST_REQUIRE_TOOLS=1 $(BIN)/python -m pytest -n $(WORKERS) -m clients tests/clients
	@$(MAKE) --no-print-directory test-adapters

# The frameworks bring some hundred packages, which the development environment does without.
ADAPTERS := .venv-adapters
$(ADAPTERS)/.installed: pyproject.toml constraints-adapters.txt
	test -x $(ADAPTERS)/bin/python || $(PYTHON) -m venv $(ADAPTERS)
	$(ADAPTERS)/bin/python -m pip install --quiet -c constraints-adapters.txt hatchling editables
	$(ADAPTERS)/bin/python -m pip install --quiet --no-build-isolation -c constraints-adapters.txt \
	  -e '.[langgraph,llama-index,openai-agents,pydantic-ai]' langgraph hypothesis pytest pytest-timeout pytest-xdist
	@touch $(ADAPTERS)/.installed

.PHONY: test-adapters
test-adapters: $(ADAPTERS)/.installed ## Run the adapters and their examples with the real frameworks, in an environment of their own
	TEST_ADAPTERS=1 $(ADAPTERS)/bin/python -m pytest -q -n $(WORKERS) -p no:cacheprovider tests/adapters tests/test_examples.py

.PHONY: check
check: setup ## Lint, types, layer rules, words that must not appear
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/scan_words.py

.PHONY: docs
docs: setup ## Rewrite the tables in the documents that are made from code
	$(BIN)/python scripts/docs_tables.py

.PHONY: bench-hook
bench-hook: setup ## Measure what a hook call costs the agent
	$(BIN)/python bench/hook.py

.PHONY: bench-journal
bench-journal: setup ## Measure durable appends
	$(BIN)/python bench/journal.py

.PHONY: bench-ingest
bench-ingest: setup ## Measure journal lines into the ledger
	$(BIN)/python bench/ingest.py

# The queues it is held against are no part of the development environment.
.PHONY: bench-queue
bench-queue: setup ## Measure jobs a second, against bare tables and two other queues
	@$(BIN)/python -c 'import asyncpg, pgqueuer, procrastinate' 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --no-build-isolation -c constraints.txt -e '.[bench]'
	$(BIN)/python bench/jobs.py

.PHONY: bench-scale
bench-scale: setup ## Measure a million turns on each engine (TURNS=20000 for fewer)
	$(BIN)/python bench/scale.py $(if $(TURNS),--turns $(TURNS))

.PHONY: bench-quality
bench-quality: setup ## Measure how often recall finds what was said, on public conversations (ABLATION=1: without each part)
	$(BIN)/python bench/quality.py $(if $(ABLATION),--ablation)

.PHONY: bench-long
bench-long: setup ## Measure the same where replies are thousands of letters long
	$(BIN)/python bench/long_messages.py

.PHONY: bench-recall
bench-recall: setup ## Measure how long a question takes at 100,000 turns (BIG=1: a million, both engines)
	$(BIN)/python bench/recall.py

.PHONY: bench-reason
bench-reason: setup ## Measure what reasoning without a model finds, on labelled sessions nothing was tuned on
	$(BIN)/python bench/reason.py --part held --whole --write

.PHONY: bench-wiki
bench-wiki: setup ## Measure compiling 2,000 pages, compiling again after one change, and lint
	$(BIN)/python bench/wiki.py

# Each peer gets an environment of its own in a cache outside the clone, on the first run.
.PHONY: bench-peers
bench-peers: setup ## Measure Hindbrain next to other memories; writes the table in docs/benchmarks.md
	$(BIN)/python bench/peers/run.py

.PHONY: bench-conversation
bench-conversation: setup ## Measure what a turn costs a backend's memory after 10 turns and after 10,000
	$(BIN)/python bench/conversation.py

.PHONY: bench-client
bench-client: setup ## Measure what a headless prompt of Claude Code takes with and without Hindbrain
	$(BIN)/python bench/client.py

.PHONY: lock
lock: setup ## Pin the versions now in .venv in constraints.txt
	$(BIN)/python -m pip freeze --all --exclude hindbrain --exclude pip --exclude setuptools | grep -v -e '^-e' -e ' @ ' > constraints.txt.new
	mv constraints.txt.new constraints.txt

.PHONY: clean
clean: ## Remove everything setup and the tests made
	rm -rf $(VENV) $(ADAPTERS) .venv-3.* build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests bench scripts -name __pycache__ -type d -prune -exec rm -rf {} +
