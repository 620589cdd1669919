"""Spark Connect: functions of every shape and the gate, in a process of their own beside a local server."""

import json
import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytest.importorskip("pyspark", reason="no Java 17 or no pyspark for the Spark tests")
pytest.importorskip("grpc", reason="no grpcio for Spark Connect (pip install 'pyspark[connect]')")

pytestmark = pytest.mark.spark


def test_functions_of_every_shape_and_the_gate_answer_through_spark_connect() -> None:
    call = [sys.executable, "-m", "tests.all.engines.spark.connect_session"]
    where = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "udfs")])}
    done = subprocess.run(
        call, cwd=ROOT, env=where, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) > 35
    assert {name: reported for name, reported in found.items() if reported != "ok"} == {}
