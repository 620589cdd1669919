"""The cells of tests/conformance/test_functions.py that the first tier leaves."""

from tests.conformance.test_functions import *
