"""What the first tier leaves of tests/engines/duckdb/test_settings.py."""

from tests.engines.duckdb.test_settings import *
