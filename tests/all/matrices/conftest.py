"""The engines of tests/matrices."""

from tests.matrices.conftest import *
