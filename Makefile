# Every target sets up what it needs: a virtual environment in .venv, from requirements.lock with hashes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.PHONY: demo test lint acceptance campaign-kill bench lock clean help

help:           ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMP): requirements.lock pyproject.toml
	@echo "==> setting up $(VENV) (once, about a minute)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Almanac needs Python 3.11 or newer; name it with: make PYTHON=python3.11 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --require-hashes -r requirements.lock | sed -u -n 's/^Collecting /    /p; s/^Installing collected.*/    installing/p'
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP)  ## the whole bot against a simulated organisation; prints the links
	@$(BIN)/almanac demo $(ARGS)

test: $(STAMP)  ## all the tests
	@$(BIN)/python -m pytest $(ARGS)

acceptance: $(STAMP)  ## the bot against a GitHub emulator written by others (needs Node and npm)
	@$(BIN)/python -m tests.acceptance

campaign-kill: $(STAMP)  ## kill -9 again and again while deliveries arrive; ARGS="KILLS SEED"
	@$(BIN)/python -m tests.campaigns.kill_storm $(ARGS)

lint: $(STAMP)  ## ruff, mypy and the import contract
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

lock:           ## refresh requirements.lock (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-annotate --no-header --all-extras --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) build dist
