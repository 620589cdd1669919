"""The baseline: the figures of an earlier report, to fail only on what got worse."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reid_sql.check.judging.finding import Baseline
from reid_sql.check.policy.policy import Policy
from reid_sql.check.reports.report import FORMAT, described, rounded
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.suggestion import suggestion


def read_baseline(path: Path, policy: Policy) -> tuple[Baseline, str]:
    """Read an earlier report: the figures of the policy's checks, group by group, and the hash of the report.

    A masked figure counts as the one it lies below, which the report that rests on it says.
    """
    if not path.is_file():
        known = sorted(other.name for other in path.parent.glob("*.json")) if path.parent.is_dir() else []
        raise UnknownNameError(
            f"baseline must be an existing report, got '{path}'; {suggestion(path.name, known, 'files beside it')}"
        )
    content = path.read_bytes()
    try:
        page = json.loads(content)
        earlier = {_key(each): each for each in page["checks"]} if page["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError):
        earlier = None
    if earlier is None:
        rule = f"baseline must be a JSON report of reid-sql check ({FORMAT}), got '{path}'"
        raise OutOfDomainError(f"{rule}; write one with: reid-sql check POLICY.toml --json-report FILE")
    return _figures(earlier, policy), hashlib.sha256(content).hexdigest()


def _figures(earlier: Mapping[str, Any], policy: Policy) -> Baseline:
    """Find each check of the policy in the earlier report."""
    found = {}
    for table in policy.tables:
        for check in table.checks:
            before = earlier.get(_key({"table": table.name, **described(check)}))
            for group in before["groups"] if before else ():
                value = group["below"] if group["judged"] is None else group["judged"]
                named = group["group"] is not None or not check.by
                if value is not None and named:
                    found[(table.name, *check.without_limit, tuple((group["group"] or {}).values()))] = float(
                        value
                    )
    return found


def _key(each: Mapping[str, Any]) -> str:
    asked = ("table", "measure", "quasi_identifiers", "sensitive", "by", "parameters", "judge_by")
    return json.dumps(rounded([each[name] for name in asked]), sort_keys=True)
