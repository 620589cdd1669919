"""What the first tier leaves of tests/udfs/test_individuals.py."""

from tests.udfs.test_individuals import *
