"""What the first tier leaves of tests/test_documents.py."""

from tests.test_documents import *
