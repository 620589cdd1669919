"""What the first tier leaves of tests/test_python_api.py."""

from tests.test_python_api import *
