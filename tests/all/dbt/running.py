"""Run dbt as its users do, in the environment that has it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

PYTHON: Final = os.environ.get("REID_SQL_DBT_PYTHON")
Results = dict[str, dict[str, Any]]


def dbt(folder: Path, root: Path, *words: str, **settings: str) -> Results:
    """Run dbt in the project's folder; what it says of each model or test, by name."""
    environment = os.environ | {
        "PYTHONPATH": f"{root}{os.pathsep}{root / 'udfs'}",
        "REID_SQL_DBT_PACKAGE": str(root / "reid_sql" / "dbt"),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        **settings,
    }
    command = [PYTHON or "", "-m", "dbt.cli.main", *words, "--profiles-dir", "."]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr
    results = folder / "target" / "run_results.json"
    if not results.exists():
        assert done.returncode == 0, done.stdout
        return {}
    found = json.loads(results.read_text(encoding="utf-8"))["results"]
    return {each["unique_id"].split(".")[2]: each for each in found}
