"""What the first tier leaves of tests/conformance/test_people.py."""

from tests.conformance.test_people import *
