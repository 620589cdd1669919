"""The cells of tests/conformance/test_contract.py that the first tier leaves."""

from tests.conformance.test_contract import *
