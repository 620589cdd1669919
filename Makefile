# Everything runs in an environment that make keeps in .venv; all it needs is Python >= 3.11 and make.
PYTHON ?= python3
FILE ?= reid_sql/demo/people.csv
QI ?= age,sex,postcode
BIN := .venv/bin
# Most modules of a test environment are never imported, and compiling all of them takes a third of its time.
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile --editable
# A worker for each core takes whole files; one takes all of Spark's tests, and starts one JVM.
PARALLEL := -n auto --dist loadfile
# Drawn tests draw the same examples each time: once is enough.
ALL := tests -m all --override-ini norecursedirs=.*
test test-all: export OMP_NUM_THREADS = 1
test test-all: export PYTHONDONTWRITEBYTECODE =  # set, each process that tests start compiles all modules anew

.PHONY: demo test test-all lint types docs site wheel catalogue extension dbt-package publish-check bench accuracy clean

demo: .venv/.installed
	$(BIN)/reid-sql risk "$(FILE)" --qi "$(QI)" --stand-out 5

# What a newcomer runs and trusts: about 12 minutes on two cores.
test: .venv/.dev lint types
	$(BIN)/python -m pytest $(PARALLEL)

# Everything else, after `make test`: longer than it.
test-all: .venv/.dev .venv/.dbt .venv/.workbenches .venv/.oldest
	.venv/oldest/bin/python -m pytest -q $(PARALLEL) tests/engines/duckdb tests/engines/polars -m "not newest and not all"
	REID_SQL_DBT_PYTHON=$(CURDIR)/.venv/dbt/bin/python \
	REID_SQL_SERVE_PYTHON=$(CURDIR)/.venv/oldest/bin/python \
	REID_SQL_WORKBENCHES_PYTHON=$(CURDIR)/.venv/workbenches/bin/python $(BIN)/python -m pytest $(PARALLEL) $(ALL)

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

docs: .venv/.dev .venv/.dbt
	$(BIN)/python -m tools.generate
	$(BIN)/python -m tools.prepared
	$(BIN)/python -m tools.plans
	.venv/dbt/bin/python -m tools.dbt_dialects

# The same pages as a site to be read without a network: build/site/index.html
site: .venv/.dev
	$(BIN)/python -m tools.site

# What `pip install dist/*.whl` needs on another machine, and the source distribution.
wheel: .venv/.publish
	rm -rf dist
	.venv/publish/bin/python -m build --quiet --outdir dist

# The functions that need no Python, as a database file that any client of DuckDB 1.5 or later attaches.
catalogue: .venv/.installed
	mkdir -p dist
	rm -f dist/reid.duckdb
	$(BIN)/reid-sql sql --file dist/reid.duckdb

# The same functions as a loadable extension of DuckDB for this platform, and sources that need a compiler of C alone.
extension: .venv/.installed
	$(BIN)/python -m tools.extension build/extension

# The repository that the hub of dbt wants: the macros, the licence, and a project that tries them.
DBT_PACKAGE ?= dist/dbt-reid-sql
dbt-package:
	rm -rf "$(DBT_PACKAGE)"
	mkdir -p "$(DBT_PACKAGE)"
	cp -R reid_sql/dbt/macros reid_sql/dbt/dbt_project.yml LICENSE NOTICE tools/dbt_package/. "$(DBT_PACKAGE)"

# What docs/publishing.md asks before a release: metadata, and the demo in an environment with the wheel alone.
publish-check: wheel catalogue dbt-package
	.venv/publish/bin/python -m twine check --strict dist/*.whl dist/*.gz
	rm -rf .venv/wheel
	$(PYTHON) -m venv .venv/wheel
	.venv/wheel/bin/python -m pip install --quiet --disable-pip-version-check --no-compile dist/*.whl
	cd dist && ../.venv/wheel/bin/reid-sql risk "$$(../.venv/wheel/bin/python -c \
	  'import reid_sql; print(reid_sql.demo.people())')" --qi age,sex,postcode
	@grep -q '^\[project.urls\]' pyproject.toml || echo "To do by a person: [project.urls] in pyproject.toml."

bench: .venv/.dev .venv/.rivals
	$(BIN)/python -m benchmarks.speed --page --rows 1000000

accuracy: .venv/.dev
	$(BIN)/python -m benchmarks.accuracy

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "reid-sql needs Python >= 3.11, got $$($(PYTHON) --version 2>&1);" \
	    "name one with: make PYTHON=python3.12"; exit 2; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: .venv/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.dev: .venv/.installed
	$(BIN)/python $(INSTALL) ".[dev]"
	@touch $@

# dbt has an environment of its own: it holds back libraries that the type checker wants newer.
.venv/.dbt: .venv/.made pyproject.toml
	$(PYTHON) -m venv .venv/dbt
	.venv/dbt/bin/python $(INSTALL) ".[dbt]"
	@touch $@

.venv/.publish: .venv/.made
	$(PYTHON) -m venv .venv/publish
	.venv/publish/bin/python -m pip install --quiet --disable-pip-version-check build twine
	@touch $@

# The oldest DuckDB and Polars that pyproject.toml allows, with the latest of all else.
.venv/.oldest: .venv/.made pyproject.toml
	$(PYTHON) -m venv .venv/oldest
	.venv/oldest/bin/python $(INSTALL) ".[test]" "duckdb==1.5.*" "polars==1.36.*"
	.venv/oldest/bin/python $(INSTALL) ".[serve]" "duckdb==1.5.*" "polars==1.36.*"
	@touch $@

# The workbenches of docs/workbenches.md too: they bring many libraries that nothing else needs.
.venv/.workbenches: .venv/.made pyproject.toml
	$(PYTHON) -m venv .venv/workbenches
	.venv/workbenches/bin/python $(INSTALL) ".[workbenches]"
	@touch $@

# What people use today, for `make bench`; anonymeter wants an older numpy than the others.
.venv/.rivals: .venv/.made
	$(PYTHON) -m venv .venv/rivals
	.venv/rivals/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  "pycanon==1.3.*" "desbordante==2.5.*" "pytauargus==0.6.*" pandas pyarrow
	$(PYTHON) -m venv .venv/anonymeter
	.venv/anonymeter/bin/python -m pip install --quiet --disable-pip-version-check --no-compile "anonymeter==1.1.*" pyarrow
	@touch $@

clean:
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
