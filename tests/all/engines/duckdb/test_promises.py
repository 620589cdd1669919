"""What the first tier leaves of tests/engines/duckdb/test_promises.py."""

from tests.engines.duckdb.test_promises import *
