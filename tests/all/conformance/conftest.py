"""The engines of tests/conformance."""

from tests.conformance.conftest import *
