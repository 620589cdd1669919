"""What the first tier leaves of tests/engines/duckdb/test_columns.py."""

from tests.engines.duckdb.test_columns import *
