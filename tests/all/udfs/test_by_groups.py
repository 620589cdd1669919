"""What the first tier leaves of tests/udfs/test_by_groups.py."""

from tests.udfs.test_by_groups import *
