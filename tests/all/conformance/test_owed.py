"""What the first tier leaves of tests/conformance/test_owed.py."""

from tests.conformance.test_owed import *
