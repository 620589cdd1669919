"""What the first tier leaves of tests/conformance/test_tables.py."""

from tests.conformance.test_tables import *
