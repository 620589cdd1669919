"""What the first tier leaves of tests/conformance/test_missing_codes.py."""

from tests.conformance.test_missing_codes import *
