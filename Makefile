# The everyday commands; `make` lists them. Everything is installed into .venv, never into your own Python.
# Measurements and rarely needed checks are in benches/Makefile: `make -C benches` lists those.

PYTHON ?= python3
BIN    := .venv/bin
PIP    := $(BIN)/python -m pip
# The built extension doubles as the stamp file: it is rebuilt when the Rust code or the .venv changes.
EXTENSION := python/binfm/_core.abi3.so
RUST      := $(shell find src -name '*.rs') Cargo.toml $(wildcard Cargo.lock)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONNOUSERSITE := 1
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
unexport CONDA_PREFIX PYTHONHOME PYTHONPATH

# Two pip processes must not install into one .venv at a time; cargo uses all cores on its own.
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help build demo test lint bench fuzz fuzz-runtime device-test docs wheel clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  $(or $(INVOKED_AS),make) %-13s %s\n", $$1, $$2}' \
	  $(firstword $(MAKEFILE_LIST))

demo: build .venv/group-demo ## train on four small data sets, print a table, draw demo.png
	$(BIN)/python -m binfm.demo

test: build .venv/group-test ## run all tests, and the core ones again with the portable kernels
	cargo test --locked
	$(BIN)/python -m pytest
	BINFM_ISA=portable $(BIN)/python -m pytest tests/python/test_oracle.py tests/python/test_determinism.py

lint: build .venv/group-lint ## check formatting, lints and types
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --all-targets --features python -- -D warnings
	cargo clippy --locked --lib --no-default-features -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd python && $(CURDIR)/$(BIN)/python -m mypy.stubtest --mypy-config-file ../pyproject.toml binfm._core

bench: ## time the kernels, training and scoring
	cargo bench --locked

fuzz: fuzz-runtime ## load and score damaged model files, in C and in Rust, FUZZ_SECONDS=60 each, on FUZZ_THREADS=2
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) FUZZ_SEED=$(or $(FUZZ_SEED),$$(date +%s)) \
	  cargo test --locked --test fuzz -- --nocapture --test-threads=1

# libFuzzer, guided by coverage, begins with the golden files; what it finds is kept in target/fuzz.
fuzz-runtime:
	mkdir -p target/fuzz/runtime target/fuzz/seeds
	clang -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -Ipython/binfm/include \
	  -o target/fuzz-runtime $(wildcard tests/fuzz/coverage/*.c)
	for file in tests/golden/*/*.binfm; do \
	  head -c 64 Cargo.lock | cat - $$file > target/fuzz/seeds/$$(basename $$file); \
	done
	target/fuzz-runtime -max_total_time=$(or $(FUZZ_SECONDS),60) -max_len=8192 -print_final_stats=1 \
	  -artifact_prefix=target/fuzz/ target/fuzz/runtime target/fuzz/seeds

device-test: build .venv/group-test ## test the C runtime with every cross compiler and emulator installed (see .ci/run)
	$(BIN)/python -m pytest tests/c -m "device or not device" -rs

docs: build .venv/group-docs .venv/group-test ## build the documentation into site/; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d .venv/doctrees docs site

# zig links against glibc 2.17, the version of manylinux2014, and cross-compiles.
WHEELS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu

wheel: .venv/group-wheel ## build an sdist, and wheels for Linux on x86-64 and aarch64, into dist/
	rm -rf dist
	for target in $(WHEELS); do \
	  rustc --print target-libdir --target $$target | xargs test -d || rustup target add $$target || exit 1; \
	  PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --locked --strip --zig \
	    --compatibility manylinux2014 --target $$target --out dist || exit 1; \
	done
	$(BIN)/maturin sdist --out dist
	@wc -c dist/*

clean: ## remove everything that was built
	rm -rf .venv .venv-peers .venv-pareto .venv-paper .venv-defaults .venv-hostile .venv-interpreters target site dist demo.png .hypothesis .mypy_cache .pytest_cache .ruff_cache $(EXTENSION)
	find python tests benches -name __pycache__ -prune -exec rm -rf {} +

build: $(EXTENSION)

$(EXTENSION): .venv/ready pyproject.toml $(RUST)
	$(BIN)/maturin develop --release --locked
	@touch $@

# pip reads dependency groups since version 25.1.
.venv/ready:
	@$(PYTHON) -c 'import sys; sys.exit("binfm needs Python 3.10 or newer" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv .venv
	$(PIP) install --quiet --upgrade 'pip>=25.1' 'maturin>=1.9.4,<2'
	@touch $@

.venv/group-%: pyproject.toml .venv/ready
	$(PIP) install --quiet --group $*
	@touch $@
