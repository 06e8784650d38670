# Every command a person types. `make` alone prints this list.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CAMPAIGN ?= campaigns/quick.toml
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name fuzz -prune -o \( -name '*.rs' -o -name Cargo.toml \) -print)

.PHONY: help
help: ## this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: tools
tools:
	@command -v $(PYTHON) >/dev/null || { echo "error: Python 3.11 or newer is needed, and \`$(PYTHON)\` is not on the PATH" >&2; echo "hint: install it, or say \`make PYTHON=/path/to/python3\`" >&2; exit 3; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed, \`$(PYTHON)\` is $$($(PYTHON) -V)" >&2; echo "hint: say \`make PYTHON=/path/to/python3\`" >&2; exit 3; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "error: this Python cannot make virtual environments" >&2; echo "hint: on Debian \`apt-get install python3-venv\`" >&2; exit 3; }
	@command -v cargo >/dev/null || { echo "error: Rust is needed, and \`cargo\` is not on the PATH" >&2; echo "hint: install it from https://rustup.rs" >&2; exit 3; }
	@command -v cc >/dev/null || { echo "error: a C compiler is needed to link Rust, and \`cc\` is not on the PATH" >&2; echo "hint: on Debian \`apt-get install gcc\`" >&2; exit 3; }

.PHONY: runtime
runtime: tools $(VENV)/.installed ## .venv and the engine, as users of Plimsoll have them

.PHONY: setup
setup: tools $(VENV)/.developed ## the same, and what tests and checks need

$(VENV)/.created: constraints.txt
	@echo "make: creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

SOURCES := $(VENV)/.created pyproject.toml constraints.txt $(RUST_SOURCES)

define install
echo "make: installing Plimsoll and building its engine (a few minutes the first time)"
$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '$(1)'
$(BIN)/python -m compileall -q python/plimsoll # as pip does where it is not editable
touch $(2)
endef

$(VENV)/.installed: $(SOURCES)
	@$(call install,.,$@)

$(VENV)/.developed: $(SOURCES)
	@$(call install,.[dev],$@ $(VENV)/.installed)

.PHONY: demo
demo: runtime ## set up, run campaigns/quick.toml, print where the report is
	@$(BIN)/plimsoll install --available --campaign $(CAMPAIGN)
	@$(BIN)/plimsoll run $(CAMPAIGN) --available || [ $$? -eq 1 ] # 1: done, and some verdict is void

# Tests of code alone, and tests that start real programs; of these, `alone` ones measure a load.
PURE_TESTS := tests/unit tests/property
REAL_TESTS := tests/cheats tests/contract tests/end_to_end tests/faults

# What failed runs once more, alone and in processes of its own; pytest's exit code 1 is failed tests.
define pytest
$(BIN)/python -m pytest --durations 12 --durations-min 2 $(1) || { [ $$? -eq 1 ] && \
	echo "make: what failed, once more" && $(BIN)/python -m pytest --last-failed --last-failed-no-failures none; }
endef

CHOSEN := not thorough and

.PHONY: test
test: tests ## set up, then the tests that every change must pass; what is skipped is listed

.PHONY: thorough
thorough: CHOSEN :=
thorough: EXAMPLES := --hypothesis-profile thorough
thorough: tests ## all tests: also every framework, every fault and many more examples; an hour

.PHONY: tests
tests: setup test-rust test-python

# Documentation of the crates has no examples to build.
.PHONY: test-rust
test-rust:
	cargo test --workspace --tests --quiet

.PHONY: test-python
test-python: test-code test-programs

# Neighbours of code alone share fixtures, so they stay in one process until another has none left.
.PHONY: test-code
test-code: setup
	$(call pytest,$(EXAMPLES) --numprocesses auto --dist worksteal -m "$(CHOSEN) not alone" $(PURE_TESTS))

# Those that run alone come first: what pytest makes of the files then is ready for six processes. Most
# of these tests wait, for a load to end or a program to start, so six keep two cores busy.
.PHONY: test-programs
test-programs: setup
	$(call pytest,-m "$(CHOSEN) alone" $(REAL_TESTS))
	$(call pytest,--numprocesses 6 --dist loadfile --no-loadscope-reorder -m "$(CHOSEN) not alone" $(REAL_TESTS))

.PHONY: check
check: setup ## format, lint, types, import rules
	@$(MAKE) --jobs 2 --output-sync check-rust check-python

.PHONY: check-rust
check-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

# Both by one build: Clippy's own compiler lints what it builds. After `make check` and `make test` it
# would build everything once more, so it is for a checkout in which nothing is built.
.PHONY: check-and-test-rust
check-and-test-rust: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
check-and-test-rust: export RUSTFLAGS := -D warnings
check-and-test-rust:
	cargo fmt --all --check
	cargo build --workspace --all-targets --quiet
	cargo test --workspace --tests --quiet

.PHONY: check-python
check-python: setup
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyright
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml plimsoll._engine
	$(BIN)/lint-imports

.PHONY: contract
contract: setup ## every framework really started and asked; FRAMEWORK=name for one, "one or other" for more
	$(BIN)/python -m pytest tests/contract $(if $(FRAMEWORK),-m "$(FRAMEWORK)")

FUZZ_SECONDS ?= 60
FUZZ := crates/engine/fuzz
FUZZ_TARGETS ?= response http2 websocket specification schedule
# What `cargo fuzz` sets; without its sanitizer stable Rust will do.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares
FUZZ_HOST = $(shell rustc -vV | sed -n 's/^host: //p')

.PHONY: fuzz
fuzz: setup ## anything for every verb, any bytes into the engine's readers; FUZZ_SECONDS=60 for each
	$(BIN)/python tests/anything.py --seconds $(FUZZ_SECONDS)
	@command -v c++ >/dev/null || { echo "error: a C++ compiler is needed to build libFuzzer, and \`c++\` is not on the PATH" >&2; echo "hint: on Debian \`apt-get install g++\`" >&2; exit 3; }
	RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --release --quiet --manifest-path $(FUZZ)/Cargo.toml --target-dir target/fuzz --target $(FUZZ_HOST)
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p target/fuzz/corpus/$$target && echo "make: fuzzing $$target for $(FUZZ_SECONDS) s" && \
		target/fuzz/$(FUZZ_HOST)/release/$$target target/fuzz/corpus/$$target $$(ls -d $(FUZZ)/seeds/$$target 2>/dev/null) \
			$$(ls $(FUZZ)/dictionaries/$$target 2>/dev/null | sed 's/^/-dict=/') -artifact_prefix=target/fuzz/$$target- \
			-max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 || exit 1; \
	done

.PHONY: false-alarms
false-alarms: setup ## how often the checks doubt clean trials; four minutes on a quiet machine
	$(BIN)/python benches/false_alarms.py

.PHONY: faults
faults: setup ## from which size on each planted fault is found; ten minutes, then `make docs`; FAULT='its name' for one
	$(BIN)/python benches/fault_sizes.py $(if $(FAULT),"$(FAULT)")

.PHONY: ranking-errors
ranking-errors: setup ## how often rankings of simulated tables claim what is not so; two minutes
	$(BIN)/python benches/ranking_errors.py

.PHONY: comparison-coverage
comparison-coverage: setup ## how often intervals of simulated comparisons hold; five minutes
	$(BIN)/python benches/comparison_coverage.py

.PHONY: campaign-coverage
campaign-coverage: setup ## how often intervals of simulated campaigns that stop early hold; half a minute
	$(BIN)/python benches/campaign_coverage.py

.PHONY: line-coverage
line-coverage: setup ## how often intervals of simulated load lines hold; five minutes
	$(BIN)/python benches/line_coverage.py

.PHONY: line-truth
line-truth: setup ## load lines of a real server whose line is known; two hours of a quiet machine, SEARCHES=2 for half of one
	$(BIN)/python benches/line_truth.py $(if $(SEARCHES),--searches $(SEARCHES))

ROWS ?= 10000000

.PHONY: bench
bench: setup ## what a request costs the client, beside the load tools that are installed, and what an import of ROWS costs; PAGE=docs/performance.md puts it there
	$(BIN)/python benches/load_tools.py $(if $(PAGE),--page $(PAGE))
	$(BIN)/python benches/load_tools.py --kind handshakes --connections 64 $(if $(PAGE),--page $(PAGE))
	$(BIN)/python benches/load_tools.py --kind messages --connections 64 $(if $(PAGE),--page $(PAGE))
	$(BIN)/python benches/own_costs.py $(if $(PAGE),--page $(PAGE))
	$(BIN)/python benches/where_the_time_goes.py $(if $(PAGE),--page $(PAGE)) || [ $$? -eq 3 ] # 3: no perf here
	$(BIN)/python benches/importing.py --rows $(ROWS) $(if $(PAGE),--page $(PAGE))
	$(BIN)/python benches/per_trial.py
	@[ ! -e benches/start_up.py ] || $(BIN)/python benches/start_up.py

DEMO_REPORT := results/quick/report/index.html
LINE_REPORT := results/line/report/index.html

.PHONY: docs
docs: setup ## regenerate docs/tables.md, cli.md, outcomes.md, frameworks.md; after `make demo` and `plimsoll run line` README's pictures too
	$(BIN)/python docs/generate.py
	@[ ! -e $(DEMO_REPORT) ] || $(BIN)/python docs/picture.py $(DEMO_REPORT) docs/report.png
	@[ ! -e $(LINE_REPORT) ] || $(BIN)/python docs/picture.py $(LINE_REPORT) docs/line.png

.PHONY: format
format: setup ## format everything
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# glibc 2.17, of 2012: older than what the dependencies need.
MANYLINUX := manylinux_2_17

$(VENV)/.dist: $(VENV)/.installed
	@echo "make: installing what builds and checks a release"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,dist]'
	@touch $@

.PHONY: dist
dist: setup $(VENV)/.dist ## dist/: the sdist, and a wheel made from it, for this architecture and any Linux of today; checked, installed with its dependencies and used
	rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" CARGO_TARGET_DIR="$(CURDIR)/target/dist" $(BIN)/maturin build --release --strip --sdist --zig --compatibility $(MANYLINUX) --out dist
	$(BIN)/auditwheel show dist/*.whl | grep '^"$(MANYLINUX)_'
	$(BIN)/abi3audit --strict --summary dist/*.whl
	$(BIN)/twine check --strict dist/*
	PLIMSOLL_WHEEL="$$(echo dist/*.whl)" $(BIN)/python -m pytest -q -k 'not linked' tests/end_to_end/test_wheel.py

.PHONY: clean
clean: ## remove what was built; results stay
	rm -rf $(VENV) dist target python/plimsoll/_engine*.so frameworks/*/.build* tools/*/.build*
