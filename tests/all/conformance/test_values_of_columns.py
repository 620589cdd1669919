"""The cells of tests/conformance/test_values_of_columns.py that the first tier leaves."""

from tests.conformance.test_values_of_columns import *
