"""The baseline: the figures of an earlier report, to fail only on what got worse."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.check.judging.finding import FAIL, NO_WORSE, NOT_JUDGED, Baseline, Before
from reid_sql.check.measures.evidence import Evidence
from reid_sql.check.policy.policy import Check, Policy, TablePolicy
from reid_sql.check.policy.schema import broken_rule
from reid_sql.check.reports.report import FORMAT, described, report_schema, rounded
from reid_sql.document import parsed
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.suggestion import suggestion

OTHER: Final = "the baseline was measured by another policy file"
ACCEPTED: Final = "named for this run"


def read_baseline(
    path: Path, policy: Policy, files: Mapping[str, Evidence], *, named: bool = True
) -> Baseline:
    """Read an earlier report: the figures of the policy's checks, group by group, and the hash of the report.

    Only figures that were measured with the same treatment of NULL, mask and columns count. Where the policy
    itself names the report, a figure that failed there counts only if the policy says who accepts it;
    naming a report for a run accepts it. A masked figure is only known to lie below its bound,
    unless the files are the same.
    """
    content, page = _read(path)
    accepted = policy.baseline_accepted_by or (ACCEPTED if named else None)
    earlier = {_key(each): each for each in page["checks"]}
    tables = {each["name"]: each for each in page["tables"]}
    figures = {
        key: before
        for table in policy.tables
        if _comparable(table, tables.get(table.name), page, policy)
        for check in table.checks
        for key, before in _figures(
            table,
            check,
            earlier,
            accepted=accepted is not None,
            same=_same(files[table.name], tables[table.name], page),
        )
    }
    caution = "" if page["policy"]["sha256"] == policy.sha256 else OTHER
    return Baseline(figures, hashlib.sha256(content).hexdigest(), caution, accepted)


def _read(path: Path) -> tuple[bytes, Mapping[str, Any]]:
    """Read the report, or refuse what is none by its schema."""
    if not path.is_file():
        known = sorted(other.name for other in path.parent.glob("*.json")) if path.parent.is_dir() else []
        raise UnknownNameError(
            f"baseline must be an existing report, got '{path}'; "
            f"{suggestion(path.name, known, 'files beside it')}"
        )
    content = path.read_bytes()
    try:
        page = parsed("baseline", ".json", content.decode("utf-8"))
        wrong = broken_rule(page, report_schema())
    except ValueError as error:  # a ReidError is one
        page, wrong = {}, "a key stands twice" if "twice" in str(error) else "no JSON"
    if wrong:
        rule = f"baseline must be a JSON report of reid-sql check ({FORMAT}), got '{path}': {wrong}"
        raise OutOfDomainError(f"{rule}; write one with: reid-sql check POLICY.toml --json-report FILE")
    return content, page


def _comparable(
    table: TablePolicy, before: Mapping[str, Any] | None, page: Mapping[str, Any], policy: Policy
) -> bool:
    """Whether the earlier table was measured by the same rules."""
    return (
        before is not None
        and before["nulls"] == table.nulls
        and before.get("entity") == table.entity
        and page["policy"]["mask_below"] == policy.mask_below
    )


def _same(now: Evidence, before: Mapping[str, Any], page: Mapping[str, Any]) -> bool:
    """Whether the same version measured the very same files."""
    population = before["population_file"]["sha256"] if before["population_file"] else None
    hashes = (before["sha256"], population)
    return (
        now.sha256 is not None
        and hashes == (now.sha256, now.population_sha256)
        and page["versions"]["reid-sql"] == __version__
    )


def _figures(
    table: TablePolicy, check: Check, earlier: Mapping[str, Any], *, accepted: bool, same: bool
) -> Iterator[tuple[tuple[Any, ...], Before]]:
    """Find a check of the policy in the earlier report, group by group."""
    before = earlier.get(_key({"table": table.name, **described(check)}))
    for group in before["groups"] if before else ():
        if group["verdict"] == NOT_JUDGED or (group["verdict"] in (FAIL, NO_WORSE) and not accepted):
            continue
        value = group["below"] if group["judged"] is None else group["judged"]
        if value is not None and (group["group"] is not None or not check.by):
            key = (table.name, *check.without_limit, tuple((group["group"] or {}).values()))
            yield key, Before(float(value), masked=group["judged"] is None, same=same)


def _key(each: Mapping[str, Any]) -> str:
    asked = ("table", "measure", "quasi_identifiers", "sensitive", "by", "parameters", "judge_by")
    return json.dumps(rounded([each[name] for name in asked]), sort_keys=True)
