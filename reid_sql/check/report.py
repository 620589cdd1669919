"""The report: all content of the JSON, JUnit and HTML files, as one document without a record in it.

The same table, policy and versions give the same document: no clock, no path, figures to twelve digits.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.check.figures import Node, ReportPage, Setting, round_figures, settings
from reid_sql.check.masking import Mask, groups_to_hide, is_ambiguous, round_above
from reid_sql.check.policy_model import Check, Policy, TablePolicy
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
STATUS_MASKED_GROUP: Final = "nothing more is shown of a masked group"
MODELS: Final = ("duckdb", "numpy", "scipy", "pyarrow")

Page = dict[str, Node]
Hidden = Mapping[tuple[str, tuple[str, ...]], set[tuple[str | None, ...]]]


def build_report(  # noqa: PLR0917 - all that a report consists of
    policy: Policy,
    tables: Sequence[Page],
    results: Sequence[CheckResult],
    records: Mapping[str, int],
    baseline: Baseline | None,
    engines: Sequence[str] = (),
) -> ReportPage:
    """Put the document together; `records` are those of each table, `engines` those other than DuckDB."""
    verdict = worst_verdict([each.verdict for each in results])
    mask = Mask(policy.mask_below)
    hidden = find_hidden_groups(results, mask)
    return ReportPage(
        {
            **report_header(policy, engines),
            "verdict": verdict,
            "exit_code": Setting(EXIT_CODES[verdict]),
            "baseline_sha256": baseline.sha256 if baseline else None,
            "baseline_accepted_by": baseline.accepted_by if baseline else None,
            "tables": list(tables),
            "checks": [check_page(each, records[each.table], mask, hidden, baseline) for each in results],
        }
    )


def report_header(policy: Policy, engines: Sequence[str] = ()) -> Page:
    """Return the policy and the versions that measured it."""
    return {
        "format": FORMAT,
        "versions": {"reid-sql": __version__, **{name: version(name) for name in (*MODELS, *engines)}},
        "policy": {
            "name": policy.name,
            "sha256": policy.sha256,
            "seed": Setting(policy.seed),
            "mask_below": Setting(policy.mask_below),
            "cautions": policy.cautions,
        },
    }


def to_json(page: Mapping[str, Any]) -> str:
    """Write a document as JSON, the same bytes for the same document."""
    return escape_in_json(json.dumps(page, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def find_hidden_groups(results: Sequence[CheckResult], mask: Mask) -> Hidden:
    """Return the groups whose size and figures are masked, by table and grouping."""
    tables: dict[str, dict[tuple[str, ...], dict[tuple[str | None, ...], int]]] = {}
    for each in results:
        for judgement in each.findings if each.check.by else ():
            group = judgement.figure.group
            if group.values:
                groups = tables.setdefault(each.table, {}).setdefault(each.check.by, {})
                groups[group_labels(group)] = group.records
    return {
        (table, by): hidden
        for table, groups in tables.items()
        for by, hidden in groups_to_hide(groups, mask.below).items()
    }


def check_page(
    each: CheckResult,
    records: int,
    mask: Mask,
    hidden: Hidden | None = None,
    baseline: Baseline | None = None,
) -> Page:
    """Return the result of a check, group by group, small counts masked; groups without a name come last."""
    of_results = find_hidden_groups([each], mask) if hidden is None else hidden
    labels = of_results.get((each.table, each.check.by), set())
    named: list[Page] = []
    unnamed: list[Judgement] = []
    counts: list[int] = []
    for judgement in each.findings:
        group = judgement.figure.group
        masked = bool(group.values) and group_labels(group) in labels
        counts += [group.records] * masked
        if masked and mask.hides(group.records):
            unnamed.append(judgement)
        else:
            size = group.records if each.check.by else records
            named.append(_group_page(each.check, judgement, size, mask, masked=masked))
    small = [_group_page(each.check, one, one.figure.group.records, mask, masked=True) for one in unnamed]
    small.sort(key=lambda page: (WORST_FIRST.index(str(page["verdict"])), str(page["why"])))
    if small and (len(counts) == len(each.findings) or not is_ambiguous(counts, mask.below)):
        small = small[:1]  # their number would reveal their sizes: the worst is shown for them
    return {
        "table": each.table,
        **describe_question(each.check),
        "verdict": each.verdict,
        "cautions": collect_cautions(each, records, mask, baseline),
        "groups": [*named, *small],
    }


def describe_question(check: Check) -> Page:
    """Return what a check asks."""
    return {
        "measure": check.measure.name,
        "words": check.measure.words,
        "function": check.measure.function,
        "quasi_identifiers": list(check.quasi_identifiers),
        "sensitive": check.sensitive,
        "by": list(check.by),
        "parameters": _parameters(check),
        "bound": check.measure.bound,
        "limit": settings(check.limit),
        "no_worse": check.no_worse,
        "judge_by": check.judge_by if check.measure.interval else None,
    }


def _parameters(check: Check) -> Page:
    """Return the parameters; of a document its name and hash."""
    domains = {name: check.measure.parameters[name].domain for name in check.parameters}
    return {
        name: _document_page(value) if isinstance(domains[name], Document) else settings(value)
        for name, value in check.parameters.items()
    }


def _document_page(given: str) -> Page:
    return {"name": json.loads(given).get("name", ""), "sha256": hashlib.sha256(given.encode()).hexdigest()}


def _group_page(check: Check, judgement: Judgement, records: int, mask: Mask, *, masked: bool) -> Page:
    """Turn the figure of a group into one that is shown or masked; of a masked group, show the verdict.

    Where a figure counts few records, it is masked, and a bound below which it lies is shown.
    """
    figure = judgement.figure
    bound = None if masked else _bound(check, judgement, records, mask)
    exact = not masked and bound is None
    unnamed = not figure.group.values or (masked and mask.hides(records))
    hides_status, hides_reason = figure.status != OK, figure.value is None and judgement.why
    return {
        "group": None if unnamed else dict(zip(check.by, group_labels(figure.group), strict=True)),
        "records": mask.show(records, when=not masked),
        "masked": masked,
        "value": mask.show(figure.value, when=exact),
        "low": mask.show(figure.low, when=exact),
        "high": mask.show(figure.high, when=exact),
        "judged": mask.show(judgement.judged, when=exact),
        "below": mask.show(bound),
        "baseline": mask.show(judgement.baseline.value if judgement.baseline else None),
        "verdict": judgement.verdict,
        "status": STATUS_MASKED_GROUP if masked and hides_status else mask.text(figure.status),
        "why": STATUS_MASKED_GROUP if masked and hides_reason else mask.text(judgement.why),
        "method": figure.method,
        "sentence": figure.sentence if exact and not figure.small else None,
    }


def _bound(check: Check, judgement: Judgement, records: int, mask: Mask) -> float | None:
    """Return the bound that is shown in place of a figure which would reveal a small count."""
    values = [value for value in (judgement.figure.value, judgement.judged) if value is not None]
    if not values or records == 0 or mask.below == 1:
        return None
    value, measure, small = max(values), check.measure, judgement.figure.small
    if measure.unit == "number":
        reveals = small and not measure.extreme and value > 0
        return round_above(value, 10**15, mask.below) if reveals else None
    share = value / records if measure.unit == "count" else value
    within = any(0 < each < (records if measure.unit == "count" else 1) for each in values)
    if not within or measure.extreme:
        return None
    bound = mask.bound_of(share, records) if measure.of_records else None
    if bound is None and small:
        bound = mask.round_share(share, records) if share < 1 else 1.0
    return round(bound * records) if bound is not None and measure.unit == "count" else bound


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
        page, wrong = {}, "a key occurs twice" if "twice" in str(error) else "no JSON"
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
    before = earlier.get(_check_key(ReportPage({"table": table.name, **describe_question(check)})))
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
