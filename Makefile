# Everything starts here: `make report`, `make test`. A fresh machine needs python3 and make.
# Rule of this file: no package without a hash in constraints.txt, and no package is installed
# twice (the stamp is written last, so a broken install leaves no stamp).

PYTHON  ?= python3
BIN     := .venv/bin
STAMP   := .venv/.installed
PIP     := $(BIN)/python -m pip install -qq --no-input --disable-pip-version-check
# setuptools comes first: it builds the one dependency that is published as source only.
LOCKED  := $(PIP) --require-hashes --no-build-isolation --use-pep517
# The folders that the type checker reads; a folder counts as soon as it exists.
CHECKED := $(wildcard asif model proofs sim engine_check flink_check spark_check reports tests benchmarks)
# Only `make lock` needs uv: pip-tools cannot lock for several versions of Python at once.
UV      := uv==0.13.8

# pytest uses three processes, since a process that waits for Spark leaves a core idle. Tests of one
# file share slow set-up, so one process runs them, and the files stay in their order.
PYTEST  := $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

# Hundreds of processes import the project; without this, where it is set, each compiles it anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help report test test-core test-all lint spark flink bench docs setup lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

report: $(STAMP) ## write the correctness report, quick profile, to build/report
	@$(BIN)/asif report --profile quick --out build/report

test: $(STAMP) ## run all tests but those that only test-core or test-all runs
	@$(PYTEST) -m "not exhaustive and not core" --durations 25 --durations-min 10

test-core: $(STAMP) ## run the tests that are quick and start no engine
	@$(PYTEST) -m "not slow and not spark and not flink and not exhaustive" --durations 10 --durations-min 1.5

test-all: $(STAMP) ## run all tests with 20 times the examples (hours)
	@HYPOTHESIS_PROFILE=full $(PYTEST) --timeout 7200

lint: $(STAMP) ## check style, format, types, import rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy $(CHECKED)
	@$(BIN)/lint-imports --no-logo --cache-dir build/import-linter

spark: $(STAMP) ## crash real Spark: all checks, full profile
	@$(BIN)/asif spark --all --profile full --json build/spark/checks.json

flink: $(STAMP) ## crash real Flink: all checks, full profile; the first time 460 MB are set up
	@$(BIN)/asif flink --setup
	@$(BIN)/asif flink --all --profile full --json build/flink/checks.json

bench: $(STAMP) ## measure speed, memory, and faults that tests find (PART=kernel: one part)
	@$(BIN)/python -m benchmarks $(PART)

docs: $(STAMP) ## renew the generated pages in docs/: protocols, plans, findings, proved, pictures
	@$(BIN)/python -m reports.docs
	@$(BIN)/python -m reports.engines
	@$(BIN)/python -m asif.engine_pictures
	@$(BIN)/python -m asif.reduction_picture
	@$(BIN)/python -m asif.duties.page
	@$(BIN)/python -m asif.coverage_page
	@$(BIN)/python -m proofs.prove.lemma_page
	@$(BIN)/python -m reports.architecture
	@$(BIN)/asif check micro-batch:commit-first --out build/docs > /dev/null; test $$? -eq 1
	@cp build/docs/micro-batch-commit-first.svg docs/pictures/
	@$(BIN)/asif plan docs/plans/priorities.toml --out build/docs > /dev/null
	@cp build/docs/priorities.svg docs/pictures/plan-priorities.svg
	@$(BIN)/asif reproduce logio-crossing --out build/docs > /dev/null
	@cp build/docs/logio-crossing.svg docs/pictures/
	@$(BIN)/asif prove --mutants --markdown build/docs/proved.md > /dev/null

setup: $(STAMP) ## set up .venv (the targets above do so by themselves)

$(STAMP): constraints.txt pyproject.toml
	@$(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "asif needs Python 3.11 or newer, and $(PYTHON) is %d.%d: run make PYTHON=python3.11" \
	    % sys.version_info[:2])' && \
	  { $(PYTHON) -m venv --clear .venv >/dev/null || { rm -rf .venv; echo >&2 \
	    "$(PYTHON) could not make .venv (Debian and Ubuntu: apt install python3-venv)"; exit 1; }; }; }
	@echo "Installing what constraints.txt locks into .venv (two or three minutes, once) ..."
	@rm -f $@
	@sed -n '/^setuptools==/,/[^\\]$$/p' constraints.txt > .venv/build-tools.txt
	@$(LOCKED) -r .venv/build-tools.txt
	@$(LOCKED) -r constraints.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@$(BIN)/python -m proofs.explore.rehearsal & \
	  $(BIN)/python -m spark_check.training || echo >&2 "Java has not learned to start Spark: it starts slower"; \
	  wait $$! || echo >&2 "The explorer's search is not compiled: the first exploration starts slower"
	@touch $@

lock: ## renew constraints.txt from pyproject.toml (UPGRADE=1: newest versions of all)
	@test -x build/lock/bin/uv || $(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip install -qq --disable-pip-version-check $(UV)
	@build/lock/bin/uv --no-config --quiet pip compile pyproject.toml --extra fast --group dev --group build \
	  --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	  $(if $(UPGRADE),--upgrade) --output-file constraints.txt

clean: ## remove the build folders, and Flink with them (.venv stays)
	@rm -rf build dist .hypothesis
	@find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +
