"""What the first tier leaves of tests/conformance/test_functions.py."""

from tests.conformance.test_functions import *
