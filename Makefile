# The few commands there are. All run in this folder's own .venv: your Python is never touched.

PYTHON ?= python3
BIN    := .venv/bin
PEERS  := .venv-peers/bin
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
.PHONY: help build demo test lint fuzz cross-test interpreters golden kills memcheck bench bench-peers accuracy settings pareto paper hostile-peers probabilities device-deps device-test device-report misra dependencies docs pictures wheel wheel-test lines clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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
	cargo clippy --locked --lib --no-default-features -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd python && $(CURDIR)/$(BIN)/python -m mypy.stubtest --mypy-config-file ../pyproject.toml binfm._core

fuzz: ## load and score damaged and hostile files, FUZZ_SECONDS=60 of random ones on FUZZ_THREADS=2
	FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) FUZZ_SEED=$(or $(FUZZ_SEED),$$(date +%s)) \
	  cargo test --locked --test fuzz -- --nocapture --test-threads=1

# Big-endian and of 32 bits, and with the registers of ARM: what this machine is not.
CROSS ?= powerpc aarch64

cross-test: export CARGO_TARGET_POWERPC_UNKNOWN_LINUX_GNU_LINKER := powerpc-linux-gnu-gcc
cross-test: export CARGO_TARGET_POWERPC_UNKNOWN_LINUX_GNU_RUNNER := qemu-ppc -L /usr/powerpc-linux-gnu
cross-test: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER := aarch64-linux-gnu-gcc
cross-test: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER := qemu-aarch64 -L /usr/aarch64-linux-gnu
cross-test: ## run the core's tests on emulated processors: CROSS="powerpc aarch64"
	@for tool in $(CROSS:=-linux-gnu-gcc) qemu-ppc; do \
	  command -v $$tool >/dev/null || { echo "cross-test needs Debian's qemu-user, gcc-powerpc-linux-gnu," \
	    "libc6-dev-powerpc-cross, gcc-aarch64-linux-gnu and libc6-dev-arm64-cross"; exit 1; }; \
	done
	for machine in $(CROSS); do \
	  target=$$machine-unknown-linux-gnu; \
	  rustc --print target-libdir --target $$target | xargs test -d || rustup target add $$target || exit 1; \
	  cargo test --locked --target $$target --lib --test golden --test file --test single_row --test training \
	    --test kernels --test fuzz -- --skip worst || exit 1; \
	done

kills: build .venv/group-test ## kill a process in the middle of a save, 1,000 times
	BINFM_KILLS=1000 $(BIN)/python -m pytest -s tests/python/test_nothing_lost.py -k killed

# Every Python that pyenv has; others by name.
PYTHONS ?= $(wildcard $(HOME)/.pyenv/versions/3.1[0-9].*/bin/python)

interpreters: build ## train the golden models in every Python of PYTHONS and compare their bytes
	@test -n "$(PYTHONS)" || { echo "interpreters needs PYTHONS='python3.10 python3.13 …'"; exit 1; }
	@for python in $(PYTHONS); do \
	  own=.venv-interpreters/$$($$python -c 'import platform; print(platform.python_version())'); \
	  $$python -m venv $$own && $$own/bin/python -m pip install --quiet numpy scipy && \
	    PYTHONPATH=python $$own/bin/python tests/golden/check.py || exit 1; \
	done

golden: build .venv/group-test ## write the golden models of this version that are not there yet, and the hashes of all
	$(BIN)/python tests/golden/make.py

memcheck: ## run the kernels' tests, all tiers of this CPU, under valgrind
	@command -v valgrind >/dev/null || { echo "memcheck needs valgrind (Debian: apt-get install valgrind)"; exit 1; }
	cargo test --locked --test kernels --test single_row \
	  --config 'target."cfg(all())".runner=["valgrind", "--quiet", "--error-exitcode=9"]' -- --nocapture

bench: ## time kernels, training and scoring
	cargo bench --locked

bench-peers: .venv-peers/binfm ## compare speed and memory with other systems; QUICK=1 for a smoke run
	cd benches && ../$(PEERS)/python -m compare

accuracy: build .venv/group-bench ## measure accuracy over 5 splits; BINFM_DATA names a folder of .npz files
	$(BIN)/python benches/accuracy.py

settings: build .venv/group-bench ## measure accuracy by m, b and tilings, write benches/results/settings.md
	cd benches && ../$(BIN)/python settings.py

pareto: build .venv-pareto/ready ## measure accuracy by model bytes against other packages; ONLY=binfm measures binfm again
	PYTHONPATH=python:benches .venv-pareto/bin/python -m pareto $(if $(ONLY),--only $(ONLY)) $(if $(DATA),--data $(DATA))

paper: build .venv-paper/ready ## measure all tables and figures of the paper, write benches/results/paper/; QUICK=1 for minutes
	PYTHONPATH=python:benches .venv-paper/bin/python -m paper $(if $(QUICK),--quick)

hostile-peers: build .venv-hostile/ready ## damage model files of other packages and load them, write benches/results/hostile.md
	PYTHONPATH=python:benches .venv-hostile/bin/python -m hostile

probabilities: build .venv-pareto/ready ## measure calibration and rare categories, write benches/results/probabilities.md
	PYTHONPATH=python:benches .venv-pareto/bin/python benches/probabilities.py

# Compilers, emulators and linters for tests/c, as Debian 12 calls them.
DEVICE_PACKAGES := gcc g++ libc6-dev clang libclang-rt-dev cppcheck \
	gcc-arm-none-eabi qemu-system-arm gcc-riscv64-unknown-elf qemu-system-misc \
	gcc-avr avr-libc libsimavr-dev libelf-dev gcc-powerpc-linux-gnu libc6-dev-powerpc-cross qemu-user

device-deps: ## install cross compilers and emulators (Debian, as root)
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $(DEVICE_PACKAGES)

device-test: build .venv/group-test ## run the C runtime on all compilers and emulators that are installed
	$(BIN)/python -m pytest tests/c -m "device or not device" -rs

device-report: build .venv/group-test .venv/group-bench ## measure the runtime on devices, write benches/results/devices.md
	$(BIN)/python benches/devices.py

misra: ## list what cppcheck's MISRA add-on finds in the C runtime
	cppcheck --quiet --addon=misra --std=c99 --enable=warning,style,performance,portability \
		-Ipython/binfm/include tests/c/firmware/all.c

dependencies: ## write docs/dependencies.md: every crate and package, its licence and reason
	$(PYTHON) docs/dependencies.py

docs: build .venv/group-docs .venv/group-test ## build the documentation into site/; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d .venv/doctrees docs site

pictures: build .venv/group-test ## draw the pictures of docs/reading.md
	$(BIN)/python docs/pictures.py > /dev/null

# zig links against glibc 2.17, which is as old as manylinux2014, and for processors other than this one.
WHEELS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu

wheel: .venv/group-wheel ## build wheels for Linux on x86-64 and aarch64, and an sdist, into dist/
	rm -rf dist
	for target in $(WHEELS); do \
	  rustc --print target-libdir --target $$target | xargs test -d || rustup target add $$target || exit 1; \
	  PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --locked --strip --zig \
	    --compatibility manylinux2014 --target $$target --out dist || exit 1; \
	done
	$(BIN)/maturin sdist --out dist
	@wc -c dist/*

wheel-test: .venv/group-test ## install what make wheel built into empty environments and run the README's example
	$(BIN)/python -m pytest tests/wheel

lines: ## count lines per file and per function
	@$(PYTHON) benches/lines.py

clean: ## remove everything that was built
	rm -rf .venv .venv-peers .venv-pareto .venv-paper .venv-hostile .venv-interpreters target site dist demo.png .hypothesis .mypy_cache .pytest_cache .ruff_cache $(EXTENSION)
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
.venv-pareto/ready .venv-hostile/ready: .venv-%/ready: pyproject.toml
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-$*/bin/python -m pip install --quiet --group $*
	@touch $@

# JAX and other people's FMs stay out of .venv as well.
.venv-paper/ready: pyproject.toml
	$(PYTHON) -m venv .venv-paper
	.venv-paper/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-paper/bin/python -m pip install --quiet --group paper
	@touch $@

.venv/group-%: pyproject.toml .venv/ready
	$(PIP) install --quiet --group $*
	@touch $@

# The peers stay out of .venv. One that cannot be installed here is left out, and the benchmark says so.
.venv-peers/%: export VIRTUAL_ENV := $(CURDIR)/.venv-peers
.venv-peers/%: export PYO3_PYTHON := $(CURDIR)/$(PEERS)/python

.venv-peers/ready: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	$(PEERS)/python -m pip install --quiet --upgrade 'pip>=25.1' 'dependency-groups[cli]>=1.3'
	$(PEERS)/python -m pip install --quiet --group peers || \
	  $(PEERS)/python -m dependency_groups peers | while read -r peer; do \
	    $(PEERS)/python -m pip install --quiet "$$peer" || echo "$$peer: not installed"; \
	  done
	@touch $@

.venv-peers/binfm: .venv-peers/ready $(RUST) $(wildcard python/binfm/*.py)
	$(PEERS)/python -m pip install --quiet --force-reinstall --no-deps .
	@touch $@
