# Every target works in a fresh clone: the virtual environment is made on first use and
# again only when pyproject.toml changes. It needs Python 3.11 or later; to choose one:
# make PYTHON=python3.12 test

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready

.PHONY: help demo test test-slow lint format bench results clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: $(READY)  ## compare reductions on scikit-learn's digits and write a report
	@mkdir -p build
	$(BIN)/polychotomy compare --protocol cv3 --report build/digits.html

test: $(READY)  ## run the tests, with coverage
	$(BIN)/python -m pytest -n 2 -m 'not slow' --cov --cov-report=term

test-slow: $(READY)  ## run the long simulations and sweeps
	$(BIN)/python -m pytest -n 2 -m slow

lint: $(READY)  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## mend style where that is automatic
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## measure against scikit-learn, SciPy and LIBSVM
	$(BIN)/python benchmarks/reductions.py
	$(BIN)/python benchmarks/probabilities.py speed
	$(BIN)/python benchmarks/trees.py

results: $(READY)  ## write docs/results.md from results/
	$(BIN)/python docs/make_results.py

clean:  ## remove everything that was made
	rm -rf $(VENV) .coverage .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
