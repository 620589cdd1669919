"""What the first tier leaves of tests/conformance/test_refusals.py."""

from tests.conformance.test_refusals import *
