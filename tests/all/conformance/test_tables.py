"""The cells of tests/conformance/test_tables.py that the first tier leaves."""

from tests.conformance.test_tables import *
