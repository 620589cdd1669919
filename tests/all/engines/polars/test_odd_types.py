"""What the first tier leaves of tests/engines/polars/test_odd_types.py."""

from tests.engines.polars.test_odd_types import *
