"""What the first tier leaves of tests/engines/duckdb/test_collations.py."""

from tests.engines.duckdb.test_collations import *
