# make demo · test · serve · check · bench · acceptance · client · rootfs · clean. Each creates what it lacks.

SHELL := /bin/sh
# Nothing of a caller's Python environment may leak in: the source roots are on the environment's own path.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
# The oldest interpreter that will do: `python3` unless it is older than 3.11.
PYTHON ?= $(shell for name in python3 python3.11 python3.12 python3.13; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)
RUN := .venv/bin/python

.PHONY: demo test serve check bench acceptance client rootfs rootfs-lock clean setup setup-dev lock
.DEFAULT_GOAL := demo

setup: ## what `demo` and `serve` need
	@$(if $(PYTHON),,echo "setup: Python 3.11 or newer is needed" >&2; exit 1)
	@$(PYTHON) deploy/prepare.py

setup-dev: ## and what tests and checks need
	@$(if $(PYTHON),,echo "setup: Python 3.11 or newer is needed" >&2; exit 1)
	@$(PYTHON) deploy/prepare.py --dev

demo: ## one submission from registration to result, over HTTP
	@started=$$(date +%s); $(MAKE) --no-print-directory setup && LINGEE_SETUP_STARTED=$$started exec $(RUN) manage.py demo $(ARGS)

serve: setup ## the site, to look at
	@exec $(RUN) manage.py serve $(ARGS)

test: setup-dev ## everything but the slow ones; those that kill or measure run alone, after the others
	@worst=0; \
	$(RUN) -m pytest -q -n 2 --dist loadgroup -m "not serial and not slow and not llm" $(ARGS) || { code=$$?; [ $$code -eq 5 ] || worst=$$code; }; \
	$(RUN) -m pytest -q -m "serial and not slow and not llm" $(ARGS) || { code=$$?; [ $$code -eq 5 ] || worst=$$code; }; \
	exit $$worst

check: setup-dev ## style, types, layers, templates, migrations, translations
	@exec $(RUN) deploy/check.py $(ONLY)

bench: setup-dev ## every bar, or those of one slug: make bench ONLY=main-job
	@exec $(RUN) -m tests.benchmarks $(if $(ONLY),--only $(ONLY))

acceptance: setup-dev ## every acceptance line of one area: make acceptance AREA=main-job
	@exec $(RUN) -m tests.acceptance $(AREA)

client: setup ## dist/: lgbench and the offline verifier as wheels, to hand on
	@exec $(RUN) deploy/client_wheel.py

rootfs: setup ## the contract's base root from pinned Debian packages (2 min; needs mmdebstrap)
	@exec $(RUN) deploy/rootfs

rootfs-lock: setup ## resolve those packages again
	@exec $(RUN) deploy/rootfs lock

lock: ## resolve the requirements again
	@uv pip compile -q --universal --python-version 3.11.0 --generate-hashes --no-annotate requirements/base.in -o requirements/base.txt
	@uv pip compile -q --universal --python-version 3.11.0 --generate-hashes --no-annotate requirements/dev.in -o requirements/dev.txt

clean: ## stop what `services start` runs here and remove everything that was made
	@if [ -x $(RUN) ]; then $(RUN) -m embedded stop || true; fi
	@rm -rf .venv .embedded .setup dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -prune -exec rm -rf {} + ; find locale -name '*.mo' -delete 2>/dev/null || true
