"""What the first tier leaves of tests/test_visits.py."""

from tests.test_visits import *
