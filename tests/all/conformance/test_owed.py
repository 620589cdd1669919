"""The cells of tests/conformance/test_owed.py that the first tier leaves."""

from tests.conformance.test_owed import *
