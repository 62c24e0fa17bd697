# `make` alone lists the targets. Everything that is installed goes into .venv, but for the browser of the tests.

VENV := .venv
BIN  := $(VENV)/bin
PORT ?= 8501

# Tried in this order; the first of a version that the pins have wheels for (`make check-pins`) makes the virtual
# environment. `make run PYTHON=...` puts one first.
PYTHON  ?=
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11

# Few retries: requirements.txt names a second place to look for torch, and where that place cannot be reached
# pip would otherwise wait for it again at every package.
# Its words go to a file, whose end is shown if it fails.
PIP_LOG     := $(VENV)/pip.log
PIP_INSTALL := $(BIN)/python -m pip install -q --disable-pip-version-check --retries 2 >$(PIP_LOG) 2>&1
PIP_FAILED  := { tail -n 20 $(PIP_LOG) >&2; echo "pip failed; all it said is in $(PIP_LOG)." >&2; exit 1; }

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run test bench fuzz lint audit check-pins clean

help: ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

run: $(VENV)/requirements.stamp ## Serve the dashboard on http://localhost:8501 (PORT=8502 for another port)
	@echo "Serving the dashboard on http://localhost:$(PORT) (for this computer only; Ctrl+C stops it)"
	@$(BIN)/streamlit run streamlit_app.py --server.address localhost --server.port $(PORT)

test: $(VENV)/requirements-dev.stamp ## Check format, types and lint, then run every test, those in a real browser too
	@$(BIN)/python -m tests.browser.chromium --install
	@$(BIN)/python -m tests.deploy.nginx --install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(BIN)/python -m pip check
	@$(BIN)/python tests/audit.py --or-warn
	$(BIN)/pytest -n 2 --dist loadfile

bench: $(VENV)/requirements-dev.stamp ## Measure speed, memory and a full lecture hall; writes docs/benchmarks.md (PARTS="slider" for some of it)
	@$(BIN)/python -m tests.browser.chromium --install
	@$(BIN)/python -m tests.deploy.nginx --install
	@$(BIN)/python -m tests.benchmarks $(PARTS)

fuzz: $(VENV)/requirements-dev.stamp ## Open links and change controls at random until something is wrong (LINKS=100 SEQUENCES=10 SEED=2)
	@$(BIN)/python -m tests.fuzz $(if $(LINKS),--links $(LINKS)) $(if $(SEQUENCES),--sequences $(SEQUENCES)) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/requirements-dev.stamp ## The first half of `make test`: ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

audit: $(VENV)/requirements-dev.stamp ## Ask whether a weakness is known of what is installed; ends badly too where nobody answers
	@$(BIN)/python tests/audit.py

check-pins: $(BIN)/pip ## Ask the package index whether each pin has a wheel for each Python and system
	@$(BIN)/python tests/check_pins.py

clean: ## Remove .venv and what the tools left behind
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/browser/screenshots
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip is the last thing that venv writes, so a half-made environment is made again.
$(BIN)/pip:
	@for python in $(PYTHONS); do \
		if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then \
			echo "Creating $(VENV) with $$("$$python" --version)"; \
			rm -rf $(VENV) && exec "$$python" -m venv $(VENV); \
		fi; \
	done; \
	echo "Python 3.11, 3.12, 3.13 or 3.14 is needed, and none of these is: $(strip $(PYTHONS))." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; \
	exit 1

$(VENV)/requirements.stamp: requirements.txt | $(BIN)/pip
	@echo "Installing what the dashboard needs (PyTorch is about 200 MB: this takes some minutes, once)"
	@$(PIP_INSTALL) -r requirements.txt || $(PIP_FAILED)
	@touch $@

$(VENV)/requirements-dev.stamp: requirements-dev.txt requirements.txt | $(BIN)/pip
	@echo "Installing what the dashboard and its tests need (PyTorch is about 200 MB: this takes some minutes, once)"
	@$(PIP_INSTALL) -r requirements-dev.txt || $(PIP_FAILED)
	@touch $(VENV)/requirements.stamp $@
