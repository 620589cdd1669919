"""What the first tier leaves of tests/engines/ibis/test_databases.py."""

from tests.engines.ibis.test_databases import *
