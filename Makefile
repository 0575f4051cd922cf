# Every target works in a fresh clone: the virtual environment is made on first use and
# again only when pyproject.toml changes. It needs Python 3.11 or later; to choose one:
# make PYTHON=python3.12 test

PYTHON ?= python3
FUZZ_SECONDS ?= 60
VENV ?= .venv
BIN = $(VENV)/bin
READY = $(VENV)/.ready
READY_DOCS = $(VENV)/.ready-docs

.PHONY: help demo test test-all test-nojit fuzz test-gpu lint format docs docs-fast docs-links test-oldest release-check bench comparison results clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: $(READY)  ## compare reductions on scikit-learn's digits and write a report
	@mkdir -p build
	$(BIN)/polychotomy compare --protocol cv3 --report build/digits.html

test: $(READY)  ## run the fast tests, in a few minutes
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow' -q

test-all: $(READY)  ## run all tests with coverage, as CI does
	$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile thorough -q --cov --cov-report=term

test-nojit: $(READY)  ## run the tests of compiled code without compiling it
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m nojit tests

fuzz: $(READY)  ## try damaged and random input for FUZZ_SECONDS (60) of each kind
	$(BIN)/python tests/fuzz.py --seconds $(FUZZ_SECONDS)

test-gpu: $(READY)  ## run the tests of the GPU engine, where there is a GPU
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,gpu]'
	$(BIN)/python -m pytest -q -rs tests/kernel/test_device.py

lint: $(READY)  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)  ## fix style where that is automatic
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(READY_DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	@touch $(READY_DOCS)

SITE = $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -d build/doctrees

docs: $(READY_DOCS)  ## build the documentation and run its gallery: build/site/index.html
	$(SITE) docs build/site

docs-fast: $(READY_DOCS)  ## build the documentation without running the gallery
	$(SITE) -D plot_gallery=0 docs build/site

docs-links: $(READY_DOCS)  ## check that the links to other sites work; needs a network
	$(SITE) -D plot_gallery=0 -b linkcheck docs build/links

OLDEST = build/oldest/bin/python

test-oldest:  ## run the fast tests with the oldest versions of all dependencies
	$(PYTHON) -m venv --clear build/oldest
	$(OLDEST) -m pip install --quiet --constraint .ci/oldest.txt --editable '.[all,dask,onnx]' hypothesis polars pytest
	$(OLDEST) -m pytest -q -m 'not slow' -o filterwarnings=default --disable-warnings \
		--deselect tests/classifiers/test_further_training.py::test_a_warning_turned_into_an_error_leaves_the_earlier_fit \
		tests/codes tests/structures tests/decoding tests/probability tests/readout tests/training \
		tests/classifiers tests/datasets tests/cli tests/export tests/linear tests/plot tests/report \
		tests/test_saving.py

RELEASE = build/release/bin/python

release-check: $(READY_DOCS)  ## do everything for a release, short of uploading
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build 'sp-repo-review[cli]'
	rm -rf dist
	$(MAKE) lint test docs
	$(BIN)/repo-review .
	$(BIN)/python -m build --quiet
	for archive in dist/*.whl dist/*.tar.gz; do \
		$(PYTHON) -m venv --clear build/release && \
		$(RELEASE) -m pip install --quiet --disable-pip-version-check "$$archive[all]" && \
		$(RELEASE) -I .ci/smoke.py || exit 1; \
	done
	@ls dist
	@$(BIN)/python -c 'import polychotomy as p; v = p.__version__; print(f"{v} is ready to be uploaded" if "dev" not in v else f"All is well. {v} is a development version: set __version__ in src/polychotomy/__init__.py, and the date in CHANGES.md, before the release.")'

bench: $(READY)  ## measure against scikit-learn, SciPy and LIBSVM
	$(BIN)/python benchmarks/reductions.py
	$(BIN)/python benchmarks/probabilities.py speed
	$(BIN)/python benchmarks/trees.py

comparison: $(READY)  ## compare all reductions on all data sets: 40 hours, can be interrupted
	for base in logistic svm boosting; do \
		$(BIN)/python benchmarks/comparison.py run --base $$base --hours 13 || exit 1; \
	done
	$(BIN)/python benchmarks/comparison.py export
	for base in logistic svm; do \
		$(BIN)/python benchmarks/learning_curves.py samples --base $$base || exit 1; \
		$(BIN)/python benchmarks/learning_curves.py classes --base $$base || exit 1; \
	done

results: $(READY)  ## write docs/results.md and docs/comparison.md from results/
	$(BIN)/python docs/make_results.py
	$(BIN)/python docs/make_comparison.py

clean:  ## remove everything that was made
	rm -rf docs/api docs/gallery
	rm -rf $(VENV) .coverage .pytest_cache .ruff_cache .mypy_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
