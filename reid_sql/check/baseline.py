"""An earlier report as a baseline: read, held to its schema, its seal and its own verdicts."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, Final, TypeAlias

from reid_sql._version import __version__
from reid_sql.check.catalogue import MEASURES
from reid_sql.check.masked_checks import describe_question
from reid_sql.check.masking import ReportPage, round_figures
from reid_sql.check.policy_model import Check, Policy, TablePolicy
from reid_sql.check.report import (
    FORMAT,
    FORMAT_OF_SEVERAL,
    Document,
    broken_seal,
    report_schema,
)
from reid_sql.check.sources import OTHER_TABLES, PUBLISHED, ROLES, Evidence
from reid_sql.check.verdicts import (
    EXIT_CODES,
    FAIL,
    NO_WORSE,
    NOT_JUDGED,
    PASS,
    Baseline,
    BaselineFigure,
    worst_verdict,
)
from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.parameters.document import parsed

WRITE_ONE: Final = "write one with: reid-sql check POLICY.toml --json-report FILE"
CAUTION_OTHER_POLICY: Final = "the baseline was measured by another policy file"
OTHER_REFERENCE: Final = "the baseline was measured against another {} table"
ACCEPTED_FOR_RUN: Final = "named for this run"


def read_baseline(
    path: Path, policy: Policy, files: Mapping[str, Evidence], *, named: bool = True
) -> Baseline:
    """Read an earlier report: the figures of the policy's checks, group by group, and the hash of the report.

    Only figures that were measured with the same treatment of NULL, mask and columns count. Where the policy
    itself names the report, a figure that failed there counts only if the policy says who accepts it;
    naming a report for a run accepts it. No figure counts that was measured against another population,
    original, holdout, former release or published table. A masked figure is only known to be above 0,
    unless the files are the same.
    """
    content, page = _read_report(path, policy.name)
    accepted = policy.baseline_accepted_by or (ACCEPTED_FOR_RUN if named else None)
    earlier = {_check_key(each): each for each in page["checks"]}
    tables = {each["name"]: each for each in page["tables"]}
    figures: dict[tuple[Any, ...], BaselineFigure] = {}
    left_out: dict[tuple[Any, ...], str] = {}
    for table in policy.tables:
        before, now = tables.get(table.name), files[table.name]
        # Only a table that was measured by the same rules is comparable.
        if before is None or page["policy"]["mask_below"] != policy.mask_below:
            continue
        if (before["nulls"], before.get("entity")) != (table.nulls, table.entity):
            continue
        is_same = _is_same_file(now, before, page)
        for check in table.checks:
            if roles := _find_other_roles(table, check, now, before):
                reason = OTHER_REFERENCE.format(" and ".join(roles))
                left_out[table.name, *check.without_limit] = reason
                continue
            has_approval = accepted is not None
            figures |= _baseline_figures(table, check, earlier, accepted=has_approval, same=is_same)
    caution = "" if page["policy"]["sha256"] == policy.sha256 else CAUTION_OTHER_POLICY
    return Baseline(figures, hashlib.sha256(content).hexdigest(), caution, accepted, left_out)


def _read_report(path: Path, policy: str) -> tuple[bytes, Document]:
    """Read the report, of several that of this policy, or refuse what is none by its schema."""
    if not path.is_file():
        neighbours = sorted(other.name for other in path.parent.glob("*.json"))
        raise UnknownNameError(
            f"baseline must be an existing report, got '{path}'; "
            f"{suggestion(path.name, neighbours, 'files beside it')}"
        )
    content = path.read_bytes()
    try:
        page = parsed("baseline", ".json", content.decode("utf-8"))
        if page.get("format") == FORMAT_OF_SEVERAL:
            page = _find_report(path, page, policy)
        wrong = broken_rule(page, report_schema())
    except UnknownNameError:
        raise
    except ValueError as error:  # a ReidError is one
        page, wrong = {}, "a key occurs twice" if "twice" in str(error) else "no JSON"
    if wrong:
        raise OutOfDomainError(
            f"baseline must be a JSON report of reid-sql check ({FORMAT}), got '{path}': {wrong}; {WRITE_ONE}"
        )
    wrong = _broken_content(page)
    if wrong:
        raise OutOfDomainError(
            f"baseline must be a report as it was written, got '{path}': {wrong}; {WRITE_ONE}"
        )
    return content, page


def _find_report(path: Path, page: Document, policy: str) -> Any:  # noqa: ANN401 - a part of a document
    """Return the report of a policy among those of a run, which has a seal of its own."""
    reports = [each.get("report") for each in page.get("policies", [])]
    of_policy = [each for each in reports if each and each.get("policy", {}).get("name") == policy]
    if len(of_policy) != 1:
        raise UnknownNameError(
            f"baseline must have one report of the policy '{policy}', got {len(of_policy)} in '{path}'; "
            f"give each policy a name of its own, or {WRITE_ONE}"
        )
    return of_policy[0]


def broken_report(page: Document) -> str:
    """Say why a document is no report as it was written; nothing if it is one."""
    return broken_rule(page, report_schema()) or _broken_content(page)


def _broken_content(page: Document) -> str:
    """Say how the seal or a verdict of a report does not match its content."""
    return broken_seal(page) or next(_broken_verdicts(page), "")


def _broken_verdicts(page: Document) -> Iterator[str]:
    """Yield each verdict that does not follow from figure and limit, or from the verdicts below it."""
    for check in page["checks"]:
        for group in check["groups"]:
            if not _follows(check, group):
                yield f"{check['measure']} of {check['table']} cannot have the verdict {group['verdict']}"
        if check["verdict"] != worst_verdict([group["verdict"] for group in check["groups"]]):
            yield f"the verdict on {check['measure']} of {check['table']} is not the worst of its groups"
    for recipient in page.get("recipients", ()):
        verdicts = [
            each["verdict"] for each in page["checks"] if each["recipient"] == recipient["name"]
        ]
        if not verdicts or recipient["verdict"] != worst_verdict(verdicts):
            yield f"the verdict for {recipient['name']} is not the worst of the checks for them"
    verdict = worst_verdict([check["verdict"] for check in page["checks"]])
    if (page["verdict"], page["exit_code"]) != (verdict, EXIT_CODES[verdict]):
        yield "its verdict is not the worst of its checks"


def _follows(check: Document, group: Document) -> bool:
    """Whether a group's verdict may follow: what is judged must be within the limit to pass.

    Of a masked figure only a bound is known; it is above 0.
    """
    verdict, limit = group["verdict"], check["limit"]
    measure = MEASURES.get(check["measure"])
    if measure is None or measure.bound != check["bound"]:
        return False
    if verdict == NOT_JUDGED or group["masked"]:
        return True
    if group["judged"] is None:
        positive = group["below"] is not None
        return positive and not (verdict == PASS and limit == 0 and not measure.at_least)
    broken = limit is not None and measure.worse(group["judged"], limit)
    if verdict == PASS:
        return not broken and (limit is not None or check["no_worse"])
    return broken or (check["no_worse"] and verdict == FAIL)


def _is_same_file(now: Evidence, before: Document, page: Document) -> bool:
    """Whether the same version measured the very same files."""
    files = {role: before.get(f"{role}_file") for role in ROLES}
    role_hashes = {role: file["sha256"] for role, file in files.items() if file}
    return (
        now.sha256 is not None
        and (before["sha256"], role_hashes) == (now.sha256, now.role_hashes)
        and page["versions"]["reid-sql"] == __version__
    )


def _find_other_roles(
    table: TablePolicy, check: Check, now: Evidence, before: Document
) -> list[str]:
    """List the tables that the check compares with, and that were others in the earlier report.

    A file is the same if its content is; a table of a warehouse, if its name is.
    """
    parameters = [parameter.name for parameter in check.measure.declared.parameters]
    roles = [role for name, role in OTHER_TABLES.items() if name in parameters]
    roles += PUBLISHED * check.measure.takes("tables")
    other_roles = []
    for role in roles:
        source, file = table.role_sources.get(role), before.get(f"{role}_file")
        compared = source and (now.role_hashes[role] or source.location, source.table)
        earlier = file and (file["sha256"] or file["file"], file["table"])
        if compared != earlier:
            other_roles.append(role)
    return other_roles


def _baseline_figures(
    table: TablePolicy, check: Check, earlier: Document, *, accepted: bool, same: bool
) -> Iterator[tuple[tuple[Any, ...], BaselineFigure]]:
    """Find a check of the policy in the earlier report, group by group."""
    before = earlier.get(_check_key(ReportPage({"table": table.name, **describe_question(check)})))
    for group in before["groups"] if before else ():
        if group["verdict"] == NOT_JUDGED or (
            group["verdict"] in (FAIL, NO_WORSE) and not accepted
        ):
            continue
        value = group["judged"]
        if group["group"] is not None or not check.by:
            key = (table.name, *check.without_limit, tuple((group["group"] or {}).values()))
            yield key, BaselineFigure(value, same=same)


def _check_key(each: Document) -> str:
    fields = ("table", "measure", "quasi_identifiers", "sensitive", "by", "parameters", "judge_by")
    # reports before had no recipients
    named = [*(each[name] for name in fields), each.get("recipient")]
    return json.dumps(round_figures(named), sort_keys=True)


# Holding a report to its schema

Schema: TypeAlias = Document
KINDS: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}


def broken_rule(value: object, schema: Schema) -> str:
    """Say the first rule that the document breaks, and where; nothing where it keeps all.

    >>> broken_rule({"k": 0}, {"type": "object", "properties": {"k": {"type": "integer", "minimum": 1}}})
    '$.k is below 1'
    """
    return next(_broken_rules(value, schema, schema, "$"), "")


def _broken_rules(value: Any, schema: Schema, root: Schema, at: str) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield each rule that a value breaks; one of a wrong type is not looked at further."""
    if "$ref" in schema:
        names = schema["$ref"].removeprefix("#/").split("/")
        yield from _broken_rules(value, reduce(getitem, names, root), root, at)
        return
    if "anyOf" in schema and all(
        next(_broken_rules(value, each, root, at), "") for each in schema["anyOf"]
    ):
        yield f"{at} is none of what it may be"
    words = [schema["const"]] if "const" in schema else schema.get("enum", [value])
    if value not in words:
        yield f"{at} is no word that it may be"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_kind(value, kind) for kind in kinds):
        yield f"{at} is no {' or '.join(kinds)}"
        return
    for types, broken in RULES_OF_TYPES:
        if isinstance(value, types):
            yield from broken(value, schema, root, at)


def _is_kind(value: object, kind: str) -> bool:
    """Whether a value is of a type of JSON: to Python, truth values are whole numbers."""
    return isinstance(value, KINDS[kind]) and (not isinstance(value, bool) or kind == "boolean")


def _broken_number(value: float, schema: Schema, root: Schema, at: str) -> Iterator[str]:  # noqa: ARG001 - as every rule
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{at} is not finite"
    if value < schema.get("minimum", -math.inf):
        yield f"{at} is below {schema['minimum']}"
    if value > schema.get("maximum", math.inf):
        yield f"{at} is above {schema['maximum']}"


def _broken_text(value: str, schema: Schema, root: Schema, at: str) -> Iterator[str]:  # noqa: ARG001 - as every rule
    if not re.search(schema.get("pattern", ""), value):
        yield f"{at} is not written as it must be"


def _broken_list(value: list[Any], schema: Schema, root: Schema, at: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{at} has too few entries"
    for place, each in enumerate(value):
        yield from _broken_rules(each, schema.get("items", {}), root, f"{at}[{place}]")


def _broken_object(value: Document, schema: Schema, root: Schema, at: str) -> Iterator[str]:
    yield from (f"{at} lacks {key}" for key in schema.get("required", []) if key not in value)
    for key, each in value.items():
        inside = schema.get("properties", {}).get(key, schema.get("additionalProperties", True))
        if inside is False:
            yield f"{at} has the unknown key {key}"
        elif isinstance(inside, Mapping):
            yield from _broken_rules(each, inside, root, f"{at}.{key}")


# The rules of a type that its values are held to.
RULES_OF_TYPES: Final[Sequence[tuple[tuple[type, ...], Callable[..., Iterator[str]]]]] = (
    ((int, float), _broken_number),
    ((str,), _broken_text),
    ((list,), _broken_list),
    ((dict,), _broken_object),
)
