"""What the first tier leaves of tests/engines/polars/test_names.py."""

from tests.engines.polars.test_names import *
