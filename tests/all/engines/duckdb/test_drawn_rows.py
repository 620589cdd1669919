"""What the first tier leaves of tests/engines/duckdb/test_drawn_rows.py."""

from tests.engines.duckdb.test_drawn_rows import *
