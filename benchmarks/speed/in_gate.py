"""A policy, checked by the gate from the file to the verdicts."""

from pathlib import Path
from tempfile import TemporaryDirectory

import reid_sql
from benchmarks.speed.stopwatch import Stopwatch


def run(policy: str, measure: str) -> tuple[Stopwatch, dict[str, int]]:
    """Check it, and say how long that took and what the named measure came to, check by check."""
    with TemporaryDirectory(prefix="reid-sql-bench-") as folder:
        file = Path(folder, "policy.toml")
        file.write_text(policy, encoding="utf-8")
        with Stopwatch() as took:
            page = reid_sql.check(file).page
    asked = [check for check in page["checks"] if check["measure"] == measure]
    return took, {
        f"figure_{place}": min(group["value"] for group in check["groups"])
        for place, check in enumerate(asked)
    }
