"""The cells of tests/conformance/test_refusals.py that the first tier leaves."""

from tests.conformance.test_refusals import *
