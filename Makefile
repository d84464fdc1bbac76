# Every target sets up what it needs: a virtual environment in .venv, from development.lock with hashes. It contains what
# requirements.lock has for running, at the same versions.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
HARPER ?= build/extras/node_modules/harper.js
HARPER_VERSION := 2.10.0
HELD   := install --disable-pip-version-check --quiet --no-deps --require-hashes
LOCKED := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --all-extras
INDEXED = index=$${PIP_INDEX_URL:-$$($(PYTHON) -m pip config get global.index-url 2>/dev/null)}; env $${index:+UV_DEFAULT_INDEX="$$index"}
OWN_PIP := $(BIN)/python -m ensurepip >/dev/null
# The tests start the program many times: without compiled modules, each start would compile all of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint prose acceptance campaign-docs campaign-lies campaign-kill campaign-faults campaign-rotation campaign-history campaign-forgery campaign-host campaign-erasure campaign-visibility campaign-zones campaign-requests campaign-corpora bench campaign-storm campaign-year campaign-properties campaign-words campaign-mutation campaign-power trace lint-slow wheels package docs platforms image sbom audit lock clean help

help:           ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

# uv, installed from the lock, installs the rest several times as fast as pip, which is the fallback. uv ignores pip's
# settings, so the recipe passes it pip's index, if one is set. Installing pip into the environment takes seconds, so that
# happens only if Python's pip cannot install elsewhere (before 22.3), or if uv fails.
$(STAMP): development.lock pyproject.toml
	@echo "==> setting up $(VENV) (once, ten seconds)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Almanac needs Python 3.11 or newer; name it with: make PYTHON=python3.11 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' development.lock > $(VENV)/uv.txt
	@$(PYTHON) -m pip --python $(BIN)/python $(HELD) -r $(VENV)/uv.txt 2>/dev/null \
	  || { $(OWN_PIP) && $(BIN)/python -m pip $(HELD) -r $(VENV)/uv.txt; } || echo "    uv could not be installed"
	@index=$${PIP_INDEX_URL:-$$($(PYTHON) -m pip config get global.index-url 2>/dev/null)}; \
	  env UV_HTTP_TIMEOUT=20 $${index:+UV_DEFAULT_INDEX="$$index"} \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r development.lock \
	  || { echo "    with pip, as uv could not (about a minute)"; $(OWN_PIP) && $(BIN)/python -m pip $(HELD) -r development.lock; }
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e . \
	  || { $(OWN_PIP) && $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .; }
	@touch $@

demo: $(STAMP)  ## the whole bot against a simulated organisation; prints the links
	@$(BIN)/almanac demo $(ARGS)

test: $(STAMP)  ## all the tests
	@$(BIN)/python -m pytest $(ARGS)

acceptance: $(STAMP)  ## the bot against a GitHub emulator written by others (needs Node and npm)
	@$(BIN)/python -m tests.acceptance

campaign-kill: $(STAMP)  ## kill -9 again and again while deliveries arrive; ARGS="KILLS SEED"
	@$(BIN)/python -m tests.campaigns.kill_storm $(ARGS)

campaign-doors: $(STAMP)  ## signed deliveries beside held bodies, half heads and pages; ARGS="--seconds 60 --own-address"
	@$(BIN)/python -m tests.campaigns.flood $(ARGS)

campaign-faults: $(STAMP)  ## the database of a running bot deleted, replaced, locked, full, damaged, stopped, frozen: is /readyz true?
	@$(BIN)/python -m tests.campaigns.faults

campaign-rotation: $(STAMP)  ## each key of a running bot changed while deliveries arrive; ARGS="SECONDS"
	@$(BIN)/python -m tests.campaigns.rotation $(ARGS)

campaign-lies: $(STAMP)  ## a GitHub that hesitates and lies, against a calm one; ARGS="LANDINGS SEED CHANCE"
	@$(BIN)/python -m tests.campaigns.lies $(ARGS)

campaign-forgery: $(STAMP)  ## 10,000 worlds with a forger, equal to those without; ARGS="--worlds 500 --first 0 --minutes 30"
	@$(BIN)/python -m tests.campaigns.forgery $(ARGS)

campaign-erasure: $(STAMP)  ## a person erased at random points of random histories, every byte searched; ARGS="HISTORIES SEED"
	@$(BIN)/python -m tests.campaigns.erasure $(ARGS)

campaign-visibility: $(STAMP)  ## 10,000 worlds with a canary in each private string, every page read; ARGS="--first 1250"
	@$(BIN)/python -m benchmarks.visibility_worlds $(ARGS)

campaign-requests: $(STAMP)  ## requests at GitHub for each way of landing, tokens for many; ARGS="LANDINGS"
	@$(BIN)/python -m tests.campaigns.requests $(ARGS)

campaign-docs: $(STAMP)  ## the documents' pip install lines, commands and queries, typed in a clean environment
	@$(INDEXED) $(BIN)/python -m tests.campaigns.documents

campaign-host: $(STAMP)  ## what deals with GitHub, with the simulator as an Enterprise Server; ARGS="tests/path -k landing"
	@SIMULATED_HOST=$${SIMULATED_HOST:-ghe.example.com} $(BIN)/python -m pytest $(if $(ARGS),$(ARGS),tests/path tests/services tests/github tests/handlers tests/web tests/setup tests/simulator)

campaign-zones: $(STAMP)  ## 36 months in every time zone, two processes, restarts: one digest each; ARGS="EVERY"
	@$(BIN)/python -m tests.campaigns.zones $(ARGS)

campaign-corpora: $(STAMP)  ## hostile texts through everything the bot posts; ARGS="FOLDER" adds more texts
	@$(BIN)/python -m tests.campaigns.corpora $(ARGS)

campaign-history: $(STAMP)  ## a public history through kills and deliveries; ARGS="CLONE PULLS KILLS SEED"
	@$(BIN)/python -m tests.campaigns.history $(ARGS)

campaign-storm: $(STAMP)  ## workers killed and frozen, PostgreSQL restarted, five processes; ARGS="DELIVERIES SEED"
	@$(BIN)/python -m tests.campaigns.worker_storm $(ARGS)

campaign-year: $(STAMP)  ## a year of a large organisation on PostgreSQL, cost a landing by month; ARGS="LANDINGS BATCH"
	@$(BIN)/python -m benchmarks.speed.year $(ARGS)

campaign-words: $(STAMP)  ## every quotation of public histories in what it cites; ARGS="OWNER/NAME=CLONE..."
	@$(BIN)/python -m tests.campaigns.words $(ARGS)

campaign-power: $(STAMP)  ## the power cut at a random write, on a simulated disk; ARGS="CUTS SEED"
	@$(BIN)/python -m tests.campaigns.power_cut $(ARGS)

campaign-mutation: $(STAMP)  ## one line changed at a time: which change does no test notice? ARGS="--rooms tokens --most 40"
	@$(BIN)/python -m tests.campaigns.mutation $(ARGS)

campaign-properties: $(STAMP)  ## each property with a thousand examples, others each time; ARGS="tests/landing"
	@EXAMPLES=$${EXAMPLES:-1000} $(BIN)/python -m pytest -m hypothesis $(ARGS)

bench: $(STAMP)  ## how fast, beside a floor in the same run; ARGS="accept landings totals starts tokens"
	@$(BIN)/python -m benchmarks.speed $(ARGS)

trace: $(STAMP)  ## files and functions that a landing and a page run through; ARGS="landing --list"
	@$(BIN)/python -m scripts.trace $(ARGS)

lint: $(STAMP)  ## ruff, mypy and the import contract
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

prose: $(STAMP) ## the English of documents, help and pages, by Harper (needs Node; installs it with npm)
	@test -d $(HARPER) || npm install --silent --no-save --no-package-lock --prefix build/extras harper.js@$(HARPER_VERSION)
	@$(BIN)/python -m scripts.prose_texts | HARPER=$(HARPER) node scripts/check_prose.mjs

lint-slow: lint wheels  ## lint, and whether all installs without a compiler

wheels: $(STAMP)  ## whether each runtime dependency has a binary wheel for every system and Python (two minutes)
	@$(INDEXED) $(BIN)/python scripts/check_wheels.py

package: $(STAMP)  ## sdist and wheel in dist/, checked, installed in a clean environment and used
	@$(INDEXED) $(BIN)/python scripts/check_package.py

build/ci/.ready: ci.lock | $(STAMP)
	@$(PYTHON) -m venv --clear --without-pip build/ci
	@$(INDEXED) $(BIN)/uv pip install --quiet --python build/ci/bin/python --no-deps --require-hashes -r ci.lock
	@touch $@

docs: $(STAMP) build/ci/.ready  ## the documentation site in build/site; fails on a link that leads nowhere
	@$(BIN)/python -m scripts.docs_site stage
	@NO_MKDOCS_2_WARNING=1 build/ci/bin/mkdocs build --quiet --strict
	@$(BIN)/python -m scripts.docs_site finish

platforms: $(STAMP) build/ci/.ready  ## lints deploy/, and runs the processes of each platform under its conventions
	@$(BIN)/python -m tests.campaigns.platforms build/ci/bin

image:          ## the container image, with docker, podman, or buildah from Debian packages as root
	@scripts/build_image.sh

sbom: $(STAMP)  ## build/sbom.json: every package that Almanac runs with, as CycloneDX
	@mkdir -p build
	@$(BIN)/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible -o build/sbom.json

audit: $(STAMP)  ## known vulnerabilities of every package of the lock; fails if one could not be checked
	@PATH="$(BIN):$$PATH" $(BIN)/python -m scripts.audit_lock $(ARGS)

lock:           ## refresh development.lock and requirements.lock (needs uv)
	uv pip compile $(LOCKED) --group dev pyproject.toml -o development.lock
	uv pip compile $(LOCKED) --group build -c development.lock pyproject.toml -o requirements.lock
	uv pip compile $(filter-out --all-extras,$(LOCKED)) --group pyproject.toml:ci -o ci.lock

clean:
	rm -rf $(VENV) build dist
