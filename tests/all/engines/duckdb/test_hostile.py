"""What the first tier leaves of tests/engines/duckdb/test_hostile.py."""

from tests.engines.duckdb.test_hostile import *
