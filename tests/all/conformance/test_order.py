"""The cells of tests/conformance/test_order.py that the first tier does not ask."""

from tests.conformance.test_order import *
