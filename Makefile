# Everything that is needed comes into .venv; the machine needs Python 3.11 or newer and make.
PYTHON ?= python3
# Another environment, such as one for each Python: make test PYTHON=python3.13 VENV=/tmp/3.13
VENV := .venv
ifneq ($(word 2,$(VENV)),)
$(error VENV: expected a folder without blanks in its name, got '$(VENV)')
endif
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ABSOLUTE_BIN := $(if $(filter /%,$(VENV)),,$(CURDIR)/)$(BIN)
# An environment works only in the folder it was made in and for these sources, which the stamp names, and while its Python is there.
PLACE := $(CURDIR)$(if $(filter-out .venv,$(VENV)), $(VENV))
CLEAR := $(shell test ! -e $(STAMP) || { test -x $(BIN)/python && { test ! -s $(STAMP) || grep -qxF "$(PLACE)" $(STAMP); }; } || echo --clear)
# The versions that were tested, from uv.lock. Without them, the newest that pyproject.toml allows: make CONSTRAINTS=
CONSTRAINTS ?= --constraint config/constraints.txt
# What makes the site.
DOCS = @$(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS) --editable ./protocol --editable '.[docs]'
# What builds the libraries of the engine's machine code.
KERNELS = @$(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS) --editable ./protocol --editable '.[kernels]'
# What makes a release, besides.
RELEASE = @$(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS) --editable ./protocol --editable '.[kernels,release]'

.PHONY: demo test test-fast test-thorough test-wheel test-oldest test-pythons kernels wheels release coverage lint format docs bench lock clean help

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

ifneq ($(CLEAR),)
.PHONY: $(STAMP)
endif

$(STAMP): pyproject.toml protocol/pyproject.toml config/constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "fibsbot needs Python 3.11 or newer, which '$(PYTHON)' is not; say 'make PYTHON=python3.11'" >&2; exit 2; }
	@echo "Installing into $(VENV) (once) ..."
	@said=$$("$(PYTHON)" -m venv $(CLEAR) $(VENV) 2>&1) || case "$$said" in \
		*"ensurepip is not"* | *"No module named ensurepip"*) echo "'$(PYTHON)' cannot make environments, as it lacks ensurepip; on Debian: apt-get install python3-venv" >&2; exit 2 ;; \
		*) echo "$$said" >&2; exit 1 ;; \
	esac
	@while sleep 10 >/dev/null 2>&1; do echo "... $$(du -sm $(VENV) | cut -f1) MB so far"; done & ticking=$$!; \
	trap 'kill $$ticking 2>/dev/null' EXIT; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS) --editable ./protocol --editable '.[dev]' || { echo "The installation failed: it needs a network. To continue it, run make again." >&2; exit 1; }
	@echo "$(PLACE)" > $@

demo: $(STAMP) ## Play a whole match on an embedded server
	@$(BIN)/fibsbot demo

test: $(STAMP) ## Run all tests but those that try more of the same
	$(BIN)/pytest -n auto --dist worksteal -m "not thorough"

test-fast: $(STAMP) ## Run the quick tests, with few examples of each property
	$(BIN)/pytest -n auto --dist worksteal -m "not slow" --hypothesis-profile quick

test-thorough: $(STAMP) ## Run all tests, with every game and many more examples of each property
	$(BIN)/pytest -n auto --dist worksteal --hypothesis-profile thorough

test-wheel: $(STAMP) ## Build the wheels for this platform, install them into an empty environment and play from there
	$(KERNELS)
	PYTHON="$(ABSOLUTE_BIN)/python" MYPY="$(ABSOLUTE_BIN)/mypy" .ci/wheel

test-oldest: ## Run the quick tests with the oldest versions that pyproject.toml allows
	PYTHON="$(PYTHON)" .ci/oldest

test-pythons: ## Run all tests with the oldest Python of this machine, the quick ones with the others, and the engine's with each target
	@"$(PYTHON)" .ci/pythons.py

kernels: $(STAMP) ## Compile the engine ahead, for all platforms
	$(KERNELS)
	$(BIN)/python -m fibsbot.engine.kernel_builder

wheels: $(STAMP) ## Build a wheel for each platform and one for all others, into dist/; PLATFORMS names some
	$(KERNELS)
	PYTHON="$(ABSOLUTE_BIN)/python" .ci/wheels $(PLATFORMS)

release: $(STAMP) ## Build all that a release has into dist/, install it and play; PLATFORMS names some; to try: DRAFT=yes IMAGE=no
	$(RELEASE)
	@$(BIN)/python .ci/release.py $(if $(DRAFT),--draft) $(if $(IMAGE),--image $(IMAGE)) $(PLATFORMS)

coverage: $(STAMP) ## Run all tests and list what they never reach; takes about twice as long
	$(BIN)/pytest -n auto --dist worksteal --cov --cov-report=term

lint: $(STAMP) ## Check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP) ## Format the code and apply safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP) ## Make the site, into build/site; any warning is an error
	$(DOCS)
	$(BIN)/python -m sphinx -c docs -b html -d build/doctrees -W --keep-going -q . build/site
	@echo "The site is build/site/index.html"

# These need another program or an argument.
MANUAL_BENCHES = bench/bench_cluster.py bench/bench_plakoto.py bench/bench_sage.py

bench: $(STAMP) ## Measure; each figure beside its limit or peer
	@set -e; for b in $(filter-out $(MANUAL_BENCHES), $(wildcard bench/bench_*.py)); do echo "== $$b"; $(BIN)/python $$b; done

lock: ## Take the newest versions that pyproject.toml allows; needs uv
	uv lock --upgrade
	uv export --quiet --frozen --extra dev --extra docs --extra kernels --extra release --no-emit-workspace --no-hashes --no-annotate --no-header --output-file config/constraints.txt

clean: ## Remove what make made
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
