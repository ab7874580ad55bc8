# Everything starts here: `make report`, `make test`. A fresh machine needs python3 and make.
# One rule: nothing is installed that constraints.txt does not name with its hash, and
# nothing is installed twice (the stamp is written last, so a broken install leaves none).

PYTHON  ?= python3
BIN     := .venv/bin
STAMP   := .venv/.installed
PIP     := $(BIN)/python -m pip install -qq --no-input --disable-pip-version-check
# setuptools first: it builds the one dependency that comes as source only.
LOCKED  := $(PIP) --require-hashes --no-build-isolation --use-pep517
# What the type checker reads; a folder counts from the moment it exists.
CHECKED := $(wildcard asif model proofs sim spark_check reports tests benchmarks)
# Only `make lock` needs uv: pip-tools cannot lock for several versions of Python at once.
UV      := uv==0.13.8

# Three processes, since those that wait for Spark leave a core idle; tests of one file share what
# takes long, so one process runs them, and files stay in their order.
PYTEST  := $(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help report test test-core lint spark bench docs setup lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

report: $(STAMP) ## the correctness report, quick profile, in build/report
	@$(BIN)/asif report --profile quick --out build/report

test: $(STAMP) ## all tests
	@$(PYTEST)

test-core: $(STAMP) ## all tests but the slow ones and those that start Spark
	@$(PYTEST) -m "not slow and not spark"

lint: $(STAMP) ## style, format, types, import rules
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy $(CHECKED)
	@$(BIN)/lint-imports --no-logo --cache-dir build/import-linter

spark: $(STAMP) ## real Spark, really crashed: all checks, full profile
	@$(BIN)/asif spark --all --profile full --json build/spark/checks.json

bench: $(STAMP) ## speed and memory of checkers, simulator and kernel
	@$(BIN)/python -m benchmarks

docs: $(STAMP) ## renew what is generated in docs/: protocols.md, proved.md, pictures
	@$(BIN)/python -m reports.docs
	@$(BIN)/python -m reports.architecture
	@$(BIN)/asif check micro-batch:commit-first --out docs/pictures > /dev/null; test $$? -eq 1
	@$(BIN)/asif prove --mutants --markdown docs/proved.md > /dev/null

setup: $(STAMP) ## set up .venv (the targets above do so by themselves)

$(STAMP): constraints.txt pyproject.toml
	@$(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "asif needs Python 3.11 or newer, and $(PYTHON) is %d.%d: say make PYTHON=python3.11" \
	    % sys.version_info[:2])' && \
	  { $(PYTHON) -m venv --clear .venv >/dev/null || { rm -rf .venv; echo >&2 \
	    "$(PYTHON) could not make .venv (Debian and Ubuntu: apt install python3-venv)"; exit 1; }; }; }
	@echo "Installing what constraints.txt locks into .venv (a minute or two, once) ..."
	@rm -f $@
	@sed -n '/^setuptools==/,/[^\\]$$/p' constraints.txt > .venv/build-tools.txt
	@$(LOCKED) -r .venv/build-tools.txt
	@$(LOCKED) -r constraints.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

lock: ## renew constraints.txt from pyproject.toml (UPGRADE=1: newest versions of all)
	@test -x build/lock/bin/uv || $(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip install -qq --disable-pip-version-check $(UV)
	@build/lock/bin/uv --no-config --quiet pip compile pyproject.toml --extra fast --group dev --group build \
	  --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	  $(if $(UPGRADE),--upgrade) --output-file constraints.txt

clean: ## remove what was built (.venv stays)
	@rm -rf build dist .hypothesis
	@find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +
