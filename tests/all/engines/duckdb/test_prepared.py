"""What the first tier leaves of tests/engines/duckdb/test_prepared.py."""

from tests.engines.duckdb.test_prepared import *
