"""The report: all content of the JSON, JUnit and HTML files, as one document without a record in it.

The same table, policy and versions give the same document: no clock, no path, figures to twelve digits.
"""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.metadata import version
from math import ceil, exp, isfinite, log
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.check.audit import groups_to_hide
from reid_sql.check.masking import DIGITS, Mask, Node, ReportPage, Setting, round_above, settings
from reid_sql.check.policy_model import Check, Policy
from reid_sql.check.verdicts import (
    EXIT_CODES,
    WORST_FIRST,
    Baseline,
    CheckResult,
    Judgement,
    collect_cautions,
    group_labels,
    worst_verdict,
)
from reid_sql.control_characters import escape_in_json
from reid_sql.models.classes.disclosure import OK

KEY_VARIABLE: Final = "REID_SQL_REPORT_KEY"
SEALS: Final = ("digest", "signature")


def seal(page: ReportPage) -> ReportPage:
    """Add the digest of all that the report contains, and its signature if the environment has a key.

    Whoever edits a report can write a new digest; a signature needs the key. An earlier seal is replaced.
    """
    digest = digest_of(page)
    page.update(zip(SEALS, (digest, sign(digest)), strict=True))
    return page


def digest_of(page: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a report without its seal, as JSON with sorted keys and no spaces."""
    content = {key: value for key, value in page.items() if key not in SEALS}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sign(digest: str) -> str | None:
    """Return the HMAC-SHA-256 of a digest (RFC 2104); None without a key."""
    key = os.environ.get(KEY_VARIABLE)
    return hmac.new(key.encode(), digest.encode(), hashlib.sha256).hexdigest() if key else None


def broken_seal(page: Mapping[str, Any]) -> str:
    """Say why a report is not as it was written; nothing if it is."""
    digest = digest_of(page)
    if not hmac.compare_digest(digest, str(page["digest"])):
        return "its digest is not that of its content"
    wanted = sign(digest)
    if wanted is not None and not hmac.compare_digest(wanted, str(page["signature"])):
        return f"its signature is not made with the key in {KEY_VARIABLE}"
    return ""


FORMAT: Final = "reid-sql report 3"
STATUS_MASKED_GROUP: Final = "nothing more is shown of a masked group"
MANY: Final = 10**9  # cells, of which a bound counts in round numbers
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
    page = ReportPage(
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
    return seal(page)


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
    for judgement in each.findings:
        group = judgement.figure.group
        masked = bool(group.values) and group_labels(group) in labels
        if masked and mask.hides(group.records):
            unnamed.append(judgement)
        else:
            size = group.records if each.check.by else records
            named.append(
                _group_page(each.check, judgement, size, mask, masked=masked, withheld=each.withheld)
            )
    small = [_group_page(each.check, one, one.figure.group.records, mask, masked=True) for one in unnamed]
    small.sort(key=lambda page: (WORST_FIRST.index(str(page["verdict"])), str(page["why"])))
    return {
        "table": each.table,
        **describe_question(each.check),
        "verdict": each.verdict,
        "cautions": collect_cautions(each, records, mask, baseline),
        "groups": [*named, *small[:1]],  # the worst for all: their number would reveal their sizes
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
        name: _document_page(value) if domains[name].form == "document" else settings(value)
        for name, value in check.parameters.items()
    }


def _document_page(given: str) -> Page:
    return {"name": json.loads(given).get("name", ""), "sha256": hashlib.sha256(given.encode()).hexdigest()}


def _group_page(
    check: Check,
    judgement: Judgement,
    records: int,
    mask: Mask,
    *,
    masked: bool,
    withheld: bool = False,
) -> Page:
    """Turn the figure of a group into one that is shown or masked; of a masked group, show the verdict.

    Where a figure counts few records, it is masked, and a bound below which it lies is shown.
    """
    figure = judgement.figure
    bound = None if masked else bound_of_figure(check, judgement, records, mask)
    counts = figure.small and figure.value and not check.measure.extreme  # 1 says that all are counted
    masked = masked or (withheld and bool(bound is not None or counts))
    bound = None if masked else bound
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
        "baseline": mask.show(judgement.baseline.value if judgement.baseline else None, when=exact),
        "verdict": judgement.verdict,
        "status": STATUS_MASKED_GROUP if masked and hides_status else mask.text(figure.status),
        "why": STATUS_MASKED_GROUP if masked and hides_reason else mask.text(judgement.why),
        "method": figure.method,
        "sentence": figure.sentence if exact and not figure.small else None,
    }


def bound_of_figure(check: Check, judgement: Judgement, records: int, mask: Mask) -> float | None:
    """Return the bound that is shown in place of a figure which would reveal a small count."""
    values = [value for value in (judgement.figure.value, judgement.judged) if value is not None]
    if not values or records == 0 or mask.below == 1 or not all(map(isfinite, values)):
        return None
    value, measure, small = max(values), check.measure, judgement.figure.small
    if measure.relative is not None:
        return _bound_relative(measure.relative, value, records, mask)
    if measure.cells is not None:
        return round(mask.round_share(value / MANY, MANY) * MANY) if small and value > 0 else None
    if measure.unit == "number":
        reveals = small and not measure.extreme and value > 0
        return round_above(value, 10**15, mask.below) if reveals else None
    share = value / records if measure.unit == "count" else value
    within = any(0 < each < (records if measure.unit == "count" else 1) for each in values)
    if not within or measure.extreme:
        return None
    bound = mask.bound_of(share, records) if measure.of_records else None
    if bound is None and small:  # a mean over the classes is a multiple of no share of the records
        bound = mask.round_share(share, records) if share < 1 and not measure.of_classes else 1.0
    return round(bound * records) if bound is not None and measure.unit == "count" else bound


def _bound_relative(kind: str, value: float, records: int, mask: Mask) -> float | None:
    """Return the bound of a figure that compares a class with the table.

    From an exact one the share of a rare value in the table follows: q is 1 − t where a class has that value
    alone, 1/(β + 1), or exp(−δ). The bound leaves q as open as a round share.
    """
    if kind == "distance":
        return 1 - mask.round_down(round(1 - value, DIGITS), records) if 0 < value < 1 else None
    factor = mask.bound_ratio(value + 1 if kind == "gain" else exp(value), records)
    if factor is None:
        return None
    return factor if kind == "gain" else ceil(100 * log(factor)) / 100


@cache
def report_schema() -> Mapping[str, Any]:
    """Give the JSON Schema of the document."""
    text = resources.files("reid_sql.check").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: Mapping[str, Any] = json.loads(text)
    return schema
