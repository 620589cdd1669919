"""What the first tier leaves of tests/udfs/test_tolerance.py."""

from tests.udfs.test_tolerance import *
