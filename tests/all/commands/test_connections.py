"""What the first tier leaves of tests/commands/test_connections.py."""

from tests.commands.test_connections import *
