# Every target does all its own set-up: a virtual environment in .venv is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-docker test-docker-all engine lint mutations fuzz determinism crashes soak bench fields pictures docs clean help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(STAMP): pyproject.toml
	@echo "setting up $(VENV) first: once, for a minute or so"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $(STAMP)

demo: $(STAMP) ## run a Job with a sidecar, on Docker where an engine answers
	$(BIN)/kubelet-emu demo

test: $(STAMP) ## run the tests; those that need an engine only where one answers
	$(BIN)/python tests/run_all.py $(TEST_OPTIONS)

test-docker-all: $(STAMP) ## run every scenario and long test on Docker
	$(BIN)/python tests/run_all.py --docker-all

engine: ## install and start a Docker engine on a Debian-like machine; asks first (YES=1 answers)
	sh .ci/engine.sh

lint: $(STAMP) ## formatting, lint, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

mutations: $(STAMP) ## break every recorded trace in every way that verify must find; prints the figures; judges a thousand runs at random
	KUBELET_EMU_ALL_MUTATIONS=1 $(BIN)/pytest -q -s tests/test_verification_mutations.py tests/test_verification_own_runs.py

fuzz: $(STAMP) ## a hundred thousand odd manifests, and new examples of each property: no traceback, no hang
	KUBELET_EMU_FUZZ=100000 $(BIN)/pytest -q -n auto tests/test_manifests_odd.py tests/test_advice_fuzz.py tests/test_manifests_reading.py tests/test_config.py tests/test_properties_jobs.py tests/test_properties_lifecycle.py tests/test_simulation_recording.py

determinism: $(STAMP) ## run every scenario six times in virtual time: one journal each
	KUBELET_EMU_ALL_SCENARIOS=1 $(BIN)/pytest -q -n auto tests/test_scenarios_determinism.py

crashes: $(STAMP) ## kill a run at every record of every scenario in virtual time, and go on with it
	KUBELET_EMU_ALL_CRASHES=1 $(BIN)/pytest -q -n auto tests/test_crashes.py

soak: $(STAMP) ## live a day of virtual time with two hundred pods and all that may go wrong (HOURS=24)
	KUBELET_EMU_SOAK=$(or $(HOURS),24) $(BIN)/pytest -q -s -n 0 tests/test_soak.py -k days

bench: $(STAMP) ## measure; prints ratios
	$(BIN)/python benchmarks/virtual.py
	$(BIN)/python benchmarks/run.py

fields: $(STAMP) ## make docs/FIELDS.md, the page of every field of a pod, from its table
	mkdir -p build
	$(BIN)/python -m kubelet_emu.manifests.field_page > build/FIELDS.md
	mv build/FIELDS.md docs/FIELDS.md

pictures: $(STAMP) ## make the picture of the live view from a run in virtual time
	$(BIN)/python docs/pictures/make_live.py

docs: $(STAMP) ## make the site of the documents in build/site; a broken link is an error
	$(BIN)/sphinx-build -q -W --keep-going -c docs . build/site
	@echo "build/site/index.html"

clean: ## remove what the targets made here
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
