# Needs Python 3.11 or newer (with its venv module) and nothing else: `make run`, `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
TABLES := $(subst /,.,$(basename $(wildcard toolsets/*/tables.py)))

.DEFAULT_GOAL := help
.PHONY: help install run demo migrate test e2e faults check lint format typecheck revision lock clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Placet needs Python 3.11 or newer; say which with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "Python's venv module is missing (Debian, Ubuntu: apt install python3-venv)."; exit 1; }

# What is installed is what the lock says: the copy beside it tells whether it has changed since.
define installed
	@cmp -s $(1) $(VENV)/$(1) || { \
	  echo "Installing $(1) into $(VENV) …" \
	  && $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1) \
	  && cp $(1) $(VENV)/$(1); }
endef

.PHONY: runtime
runtime: $(BIN)/python
	$(call installed,requirements.txt)

install: $(BIN)/python ## everything for working on it
	$(call installed,requirements-dev.txt)

run: runtime ## the server with demo data on http://127.0.0.1:8000
	$(BIN)/python -m app serve --demo

demo: runtime ## put the demo data in place, without serving
	$(BIN)/python -m app demo

migrate: runtime ## bring the database's schema up to date
	$(BIN)/python -m app migrate

test: install ## every test, on SQLite and PostgreSQL (which come along)
	$(BIN)/python -m pytest -n $(WORKERS)

e2e: install ## only the real server with real clients
	$(BIN)/python -m pytest -n $(WORKERS) tests/e2e

faults: install ## only kills, replays, races, broken providers
	$(BIN)/python -m pytest -n $(WORKERS) tests/faults

check: lint typecheck ## what must hold before the tests do

lint: install ## style, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

format: install ## lay out the code
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

typecheck: install ## pyright, strict
	$(BIN)/pyright

revision: install ## draft a schema version: make revision VERSION=0002 MESSAGE="what it changes"
	$(BIN)/python -m stores.draft $(VERSION) "$(MESSAGE)" --tables $(TABLES)
	$(BIN)/ruff check --quiet --fix stores/migrations
	$(BIN)/ruff format --quiet stores/migrations

lock: ## pin every dependency anew (needs uv)
	uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --custom-compile-command "make lock" --output-file requirements.txt
	uv pip compile pyproject.toml --group dev --constraint requirements.txt --quiet --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --custom-compile-command "make lock" --output-file requirements-dev.txt

clean: ## remove what was installed and cached; keeps the database
	rm -rf $(VENV) .pytest_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
