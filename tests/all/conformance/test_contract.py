"""What the first tier leaves of tests/conformance/test_contract.py."""

from tests.conformance.test_contract import *
