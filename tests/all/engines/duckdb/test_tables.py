"""What the first tier leaves of tests/engines/duckdb/test_tables.py."""

from tests.engines.duckdb.test_tables import *
