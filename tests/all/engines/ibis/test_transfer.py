"""What the first tier leaves of tests/engines/ibis/test_transfer.py."""

from tests.engines.ibis.test_transfer import *
