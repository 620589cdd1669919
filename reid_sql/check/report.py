"""The report: everything that the JSON, JUnit and HTML files say, as one document without a record in it.

The same table, policy and versions give the same document: no clock, no path, figures to twelve digits.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.check.masking import (
    bound_of_share,
    groups_to_hide,
    is_ambiguous,
    mask_counts_in_text,
    round_above,
)
from reid_sql.check.policy import Check, Policy, TablePolicy
from reid_sql.check.schema import broken_rule
from reid_sql.check.sources import Evidence
from reid_sql.check.verdicts import (
    EXIT_CODES,
    FAIL,
    NO_WORSE,
    NOT_JUDGED,
    WORST_FIRST,
    Baseline,
    BaselineFigure,
    CheckResult,
    Judgement,
    collect_cautions,
    group_labels,
    worst_verdict,
)
from reid_sql.control_characters import escape_in_json
from reid_sql.document import parsed
from reid_sql.errors import OutOfDomainError, UnknownNameError
from reid_sql.models.classes.disclosure import OK
from reid_sql.parameters import Document
from reid_sql.suggestion import suggestion

FORMAT: Final = "reid-sql report 2"
STATUS_MASKED_GROUP: Final = "there is no more to be told of a masked group"
MODELS: Final = ("duckdb", "numpy", "scipy", "pyarrow")
DIGITS: Final = 12

Page = dict[str, Any]


def build_report(
    policy: Policy,
    tables: Sequence[Page],
    found: Sequence[CheckResult],
    baseline: Baseline | None,
    engines: Sequence[str] = (),
) -> Page:
    """Put the document together; `engines` are those beside DuckDB."""
    verdict = worst_verdict([each.verdict for each in found])
    records = {table["name"]: table["records"] for table in tables}
    hidden = find_hidden_groups(found, policy.mask_below)
    page: Page = round_figures(
        {
            **report_header(policy, engines),
            "verdict": verdict,
            "exit_code": EXIT_CODES[verdict],
            "baseline_sha256": baseline.sha256 if baseline else None,
            "baseline_accepted_by": baseline.accepted_by if baseline else None,
            "tables": list(tables),
            "checks": [
                check_page(each, records[each.table], policy.mask_below, hidden, baseline) for each in found
            ],
        }
    )
    return page


def report_header(policy: Policy, engines: Sequence[str] = ()) -> Page:
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


def to_json(page: Mapping[str, Any]) -> str:
    """Write the document as JSON, the same bytes for the same document."""
    return escape_in_json(json.dumps(page, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def round_figures(value: Any) -> Any:  # noqa: ANN401 - any part of the document
    """Give the document with figures to twelve digits: sums differ beyond, by the order of adding."""
    if isinstance(value, Mapping):
        return {key: round_figures(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [round_figures(each) for each in value]
    if isinstance(value, float):
        return (
            float(f"{value:.{DIGITS}g}") if isfinite(value) else None
        )  # JSON has no infinity; the status tells of it
    return value


Hidden = Mapping[tuple[str, tuple[str, ...]], set[tuple[str | None, ...]]]


def find_hidden_groups(found: Sequence[CheckResult], below: int) -> Hidden:
    """Give the groups whose size and figures are not told, by table and grouping."""
    tables: dict[str, dict[tuple[str, ...], dict[tuple[str | None, ...], int]]] = {}
    for each in found:
        for finding in each.findings if each.check.by else ():
            if finding.figure.group.values:
                groups = tables.setdefault(each.table, {}).setdefault(each.check.by, {})
                groups[group_labels(finding.figure.group)] = finding.figure.group.records
    return {
        (table, by): hidden
        for table, groups in tables.items()
        for by, hidden in groups_to_hide(groups, below).items()
    }


def check_page(
    each: CheckResult,
    records: int,
    below: int,
    hidden: Hidden | None = None,
    baseline: Baseline | None = None,
) -> Page:
    """Tell what came of a check, group by group, small counts masked; groups without a name come last."""
    kept = (find_hidden_groups([each], below) if hidden is None else hidden).get(
        (each.table, each.check.by), set()
    )
    told: list[Page] = []
    small: list[Page] = []
    for finding in each.findings:
        group = finding.figure.group
        masked = bool(group.values) and group_labels(group) in kept
        page = _group_page(
            each.check, finding, group.records if each.check.by else records, below, masked=masked
        )
        (small if masked and group.records < below else told).append(page)
    small.sort(key=lambda page: (WORST_FIRST.index(page["verdict"]), page["why"]))
    counts = [
        finding.figure.group.records
        for finding in each.findings
        if group_labels(finding.figure.group) in kept
    ]
    if small and (len(counts) == len(each.findings) or not is_ambiguous(counts, below)):
        small = small[:1]  # their number would tell their sizes: the worst stands for them
    cautions = collect_cautions(each, records, below, baseline)
    described_ = describe_question(each.check)
    return {
        "table": each.table,
        **described_,
        "verdict": each.verdict,
        "cautions": cautions,
        "groups": [*told, *small],
    }


def describe_question(check: Check) -> Page:
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
        found[name] = _document_page(value) if document else value
    return found


def _document_page(given: str) -> Page:
    return {"name": json.loads(given).get("name", ""), "sha256": hashlib.sha256(given.encode()).hexdigest()}


def _group_page(check: Check, finding: Judgement, records: int, below: int, *, masked: bool) -> Page:
    """Tell a finding; where it counts few, only its bound; of a masked group, the verdict.

    The bound is the figure below which it lies; few are few records.
    """
    figure = finding.figure
    bound = None if masked else _mask(check, finding, records, below)
    exact = not masked and bound is None
    unnamed = not figure.group.values or (masked and records < below)
    refused = figure.value is None and finding.why
    return {
        "group": None if unnamed else dict(zip(check.by, group_labels(figure.group), strict=True)),
        "records": None if masked else records,
        "masked": masked,
        "value": figure.value if exact else None,
        "low": figure.low if exact else None,
        "high": figure.high if exact else None,
        "judged": finding.judged if exact else None,
        "below": bound,
        "baseline": finding.baseline.value if finding.baseline else None,
        "verdict": finding.verdict,
        "status": STATUS_MASKED_GROUP
        if masked and figure.status != OK
        else mask_counts_in_text(figure.status, below),
        "why": STATUS_MASKED_GROUP if masked and refused else mask_counts_in_text(finding.why, below),
        "method": figure.method,
        "sentence": figure.sentence if exact and not figure.small else None,
    }


def _mask(check: Check, finding: Judgement, records: int, below: int) -> float | None:
    """Give the bound that is told in place of a figure which would tell a small count."""
    found = [value for value in (finding.figure.value, finding.judged) if value is not None]
    if not found or records == 0 or below == 1:
        return None
    value, measure = max(found), check.measure
    if measure.unit == "number":
        return (
            round_above(value, 10**15, below)
            if finding.figure.small and not measure.extreme and value > 0
            else None
        )
    share = value / records if measure.unit == "count" else value
    within = any(0 < each < (records if measure.unit == "count" else 1) for each in found)
    if not within or measure.extreme:
        return None
    bound = bound_of_share(share, records, below) if measure.of_records else None
    if bound is None and finding.figure.small:
        bound = min(1.0, round_above(share, records, below)) if share < 1 else 1.0
    if bound is None:
        return None
    return round(bound * records) if measure.unit == "count" else bound


@cache
def report_schema() -> Mapping[str, Any]:
    """Give the JSON Schema of the document."""
    text = resources.files("reid_sql.check").joinpath("report.schema.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


CAUTION_OTHER_POLICY: Final = "the baseline was measured by another policy file"
ACCEPTED_FOR_RUN: Final = "named for this run"


def read_baseline(
    path: Path, policy: Policy, files: Mapping[str, Evidence], *, named: bool = True
) -> Baseline:
    """Read an earlier report: the figures of the policy's checks, group by group, and the hash of the report.

    Only figures that were measured with the same treatment of NULL, mask and columns count. Where the policy
    itself names the report, a figure that failed there counts only if the policy says who accepts it;
    naming a report for a run accepts it. A masked figure is only known to lie below its bound,
    unless the files are the same.
    """
    content, page = _read_report(path)
    accepted = policy.baseline_accepted_by or (ACCEPTED_FOR_RUN if named else None)
    earlier = {_check_key(each): each for each in page["checks"]}
    tables = {each["name"]: each for each in page["tables"]}
    figures = {
        key: before
        for table in policy.tables
        if _is_comparable(table, tables.get(table.name), page, policy)
        for check in table.checks
        for key, before in _baseline_figures(
            table,
            check,
            earlier,
            accepted=accepted is not None,
            same=_is_same_file(files[table.name], tables[table.name], page),
        )
    }
    caution = "" if page["policy"]["sha256"] == policy.sha256 else CAUTION_OTHER_POLICY
    return Baseline(figures, hashlib.sha256(content).hexdigest(), caution, accepted)


def _read_report(path: Path) -> tuple[bytes, Mapping[str, Any]]:
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


def _is_comparable(
    table: TablePolicy, before: Mapping[str, Any] | None, page: Mapping[str, Any], policy: Policy
) -> bool:
    """Whether the earlier table was measured by the same rules."""
    return (
        before is not None
        and before["nulls"] == table.nulls
        and before.get("entity") == table.entity
        and page["policy"]["mask_below"] == policy.mask_below
    )


def _is_same_file(now: Evidence, before: Mapping[str, Any], page: Mapping[str, Any]) -> bool:
    """Whether the same version measured the very same files."""
    population = before["population_file"]["sha256"] if before["population_file"] else None
    hashes = (before["sha256"], population)
    return (
        now.sha256 is not None
        and hashes == (now.sha256, now.population_sha256)
        and page["versions"]["reid-sql"] == __version__
    )


def _baseline_figures(
    table: TablePolicy, check: Check, earlier: Mapping[str, Any], *, accepted: bool, same: bool
) -> Iterator[tuple[tuple[Any, ...], BaselineFigure]]:
    """Find a check of the policy in the earlier report, group by group."""
    before = earlier.get(_check_key({"table": table.name, **describe_question(check)}))
    for group in before["groups"] if before else ():
        if group["verdict"] == NOT_JUDGED or (group["verdict"] in (FAIL, NO_WORSE) and not accepted):
            continue
        value = group["below"] if group["judged"] is None else group["judged"]
        if value is not None and (group["group"] is not None or not check.by):
            key = (table.name, *check.without_limit, tuple((group["group"] or {}).values()))
            yield key, BaselineFigure(float(value), masked=group["judged"] is None, same=same)


def _check_key(each: Mapping[str, Any]) -> str:
    asked = ("table", "measure", "quasi_identifiers", "sensitive", "by", "parameters", "judge_by")
    return json.dumps(round_figures([each[name] for name in asked]), sort_keys=True)
