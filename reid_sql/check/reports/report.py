"""The report: everything that the JSON, JUnit and HTML files say, as one document without a record in it.

The same table, policy and versions give the same document: no clock, no path, figures to twelve digits.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from math import isfinite
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.check.judging.finding import EXIT, Checked, Finding, names, worst
from reid_sql.check.judging.masking import few_masked, mask_of_share, masked_counts
from reid_sql.check.policy.policy import Check, Policy
from reid_sql.domains import Document

FORMAT: Final = "reid-sql report 1"
MODELS: Final = ("duckdb", "numpy", "scipy", "pyarrow")
DIGITS: Final = 12

Page = dict[str, Any]


def report(
    policy: Policy,
    tables: Sequence[Page],
    found: Sequence[Checked],
    baseline: str | None,
    engines: Sequence[str] = (),
) -> Page:
    """Put the document together; `baseline` is the hash of the earlier report, `engines` are those beside DuckDB."""
    verdict = worst([each.verdict for each in found])
    records = {table["name"]: table["records"] for table in tables}
    page: Page = rounded(
        {
            **header(policy, engines),
            "verdict": verdict,
            "exit_code": EXIT[verdict],
            "baseline_sha256": baseline,
            "tables": list(tables),
            "checks": [checked_page(each, records[each.table], policy.mask_below) for each in found],
        }
    )
    return page


def header(policy: Policy, engines: Sequence[str] = ()) -> Page:
    """Tell what was asked of which version."""
    return {
        "format": FORMAT,
        "versions": {"reid-sql": __version__, **{name: version(name) for name in (*MODELS, *engines)}},
        "policy": {
            "name": policy.name,
            "sha256": policy.sha256,
            "seed": policy.seed,
            "mask_below": policy.mask_below,
            "cautions": policy.cautions,
        },
    }


def text(page: Mapping[str, Any]) -> str:
    """Write the document as JSON, the same bytes for the same document."""
    return json.dumps(page, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def rounded(value: Any) -> Any:  # noqa: ANN401 - any part of the document
    """Give the document with its figures to twelve digits: sums of many differ beyond, by the order of adding."""
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return (
            float(f"{value:.{DIGITS}g}") if isfinite(value) else None
        )  # JSON has no infinity; the status tells of it
    return value


def checked_page(each: Checked, records: int, below: int) -> Page:
    """Tell what came of a check, group by group, small counts masked."""
    counts = [finding.figure.group.records for finding in each.findings]
    shown: Sequence[int | None] = masked_counts(counts, below) if each.check.by else [records]
    groups = [
        _group(each.check, finding, count if each.check.by else records, told, below)
        for finding, count, told in zip(each.findings, counts, shown, strict=True)
    ]
    return {"table": each.table, **described(each.check), "verdict": each.verdict, "groups": groups}


def described(check: Check) -> Page:
    """Tell what a check asks."""
    return {
        "measure": check.measure.name,
        "words": check.measure.words,
        "function": check.measure.function,
        "quasi_identifiers": list(check.quasi_identifiers),
        "sensitive": check.sensitive,
        "by": list(check.by),
        "parameters": _parameters(check),
        "bound": check.measure.bound,
        "limit": check.limit,
        "no_worse": check.no_worse,
        "judge_by": check.judge_by if check.measure.interval else None,
    }


def _parameters(check: Check) -> Page:
    """Tell the parameters; of a document its name and hash."""
    found = {}
    for name, value in check.parameters.items():
        document = isinstance(check.measure.parameters[name].domain, Document)
        found[name] = _document(value) if document else value
    return found


def _document(given: str) -> Page:
    return {"name": json.loads(given).get("name", ""), "sha256": hashlib.sha256(given.encode()).hexdigest()}


def _group(check: Check, finding: Finding, records: int, told: int | None, below: int) -> Page:
    """Tell a finding; where it counts few records, only below which figure it lies."""
    figure = finding.figure
    bound = _mask(check, figure.value, records, below)
    hidden = told is None and records < below
    return {
        "group": None
        if not figure.group.values or hidden
        else dict(zip(check.by, names(figure.group), strict=True)),
        "records": told,
        "value": None if bound else figure.value,
        "low": figure.low,
        "high": figure.high,
        "judged": None if bound else finding.judged,
        "below": bound,
        "baseline": finding.baseline,
        "verdict": finding.verdict,
        "status": few_masked(figure.status, below),
        "why": few_masked(finding.why, below),
    }


def _mask(check: Check, value: float | None, records: int, below: int) -> float | None:
    if value is None or not check.measure.of_records or records == 0:
        return None
    if check.measure.unit == "count":
        return below if 0 < value < below else None
    return mask_of_share(value, records, below)
