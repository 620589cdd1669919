"""What the first tier leaves of tests/engines/polars/test_arrow_tables.py."""

from tests.engines.polars.test_arrow_tables import *
