"""What the first tier leaves of tests/conformance/test_values_of_columns.py."""

from tests.conformance.test_values_of_columns import *
