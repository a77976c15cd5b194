# The few commands there are. All run in this folder's own .venv: your Python is never touched.

PYTHON ?= python3
BIN    := .venv/bin
PIP    := $(BIN)/python -m pip
# The extension is its own stamp: built again when the core changes or the .venv is new.
EXTENSION := python/binfm/_core.abi3.so
RUST      := $(shell find src -name '*.rs') Cargo.toml $(wildcard Cargo.lock)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONNOUSERSITE := 1
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
unexport CONDA_PREFIX PYTHONHOME PYTHONPATH

# Two installers at once would race in one .venv; cargo uses all cores by itself.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help build demo test lint bench accuracy pareto lines clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(EXTENSION) ## build binfm into .venv

demo: build .venv/group-demo ## train on four small data sets, print a table, draw demo.png
	$(BIN)/python -m binfm.demo

test: build .venv/group-test ## run all tests, and the core ones again with the portable kernels
	cargo test --locked
	$(BIN)/python -m pytest
	BINFM_ISA=portable $(BIN)/python -m pytest tests/python/test_oracle.py tests/python/test_determinism.py

lint: build .venv/group-lint ## check format, lints and types
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --all-targets --features python -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd python && $(CURDIR)/$(BIN)/python -m mypy.stubtest --mypy-config-file ../pyproject.toml binfm._core

bench: ## time kernels, training and scoring
	cargo bench --locked

accuracy: build .venv/group-bench ## measure accuracy over 5 splits; BINFM_DATA names a folder of .npz files
	$(BIN)/python benches/accuracy.py

pareto: build .venv-pareto/ready ## measure accuracy by model bytes against other packages; ONLY=binfm measures binfm again
	PYTHONPATH=python:benches .venv-pareto/bin/python -m pareto $(if $(ONLY),--only $(ONLY)) $(if $(DATA),--data $(DATA))

lines: ## count lines per file and per function
	@$(PYTHON) benches/lines.py

clean: ## remove everything that was built
	rm -rf .venv .venv-pareto target demo.png .hypothesis .mypy_cache .pytest_cache .ruff_cache $(EXTENSION)
	find python tests benches -name __pycache__ -prune -exec rm -rf {} +

$(EXTENSION): .venv/ready pyproject.toml $(RUST)
	$(BIN)/maturin develop --release --locked
	@touch $@

# pip reads dependency groups since 25.1.
.venv/ready:
	@$(PYTHON) -c 'import sys; sys.exit("binfm needs Python 3.10 or newer" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv .venv
	$(PIP) install --quiet --upgrade 'pip>=25.1' 'maturin>=1.9.4,<2'
	@touch $@

# The other packages bring numpy, pandas and more of their own choice: they never meet those of the tests.
.venv-pareto/ready: pyproject.toml
	$(PYTHON) -m venv .venv-pareto
	.venv-pareto/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-pareto/bin/python -m pip install --quiet --group pareto
	@touch $@

.venv/group-%: pyproject.toml .venv/ready
	$(PIP) install --quiet --group $*
	@touch $@
