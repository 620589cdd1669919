"""The content of a dossier: the gate's report, what people wrote, attacks, gaps and changes."""

import json
import shlex
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from reid_sql.check.assessment import Assessment
from reid_sql.check.masking import Page, ReportPage, settings
from reid_sql.check.policy_model import Policy
from reid_sql.check.remarks import without_codes
from reid_sql.check.report import seal
from reid_sql.check.sentences import (
    checks_of,
    deciding_group,
    describe_check,
    describe_check_and_columns,
    format_figure,
    format_limit,
    group_label,
)
from reid_sql.check.sources import OTHER_TABLES, PUBLISHED
from reid_sql.dossier.clauses import (
    answer_standard,
    describe_figure,
    read_standards,
    refuse_unknown_answers,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.function import output_of
from reid_sql.parameters.document import read_document
from reid_sql_udfs import declared

FORMAT: Final = "reid-sql dossier 1"
ATTACKS: Final = Path(__file__).with_name("attacks.toml")
FLOOR: Final = (
    "Figures of exact matching are a floor: an attacker who also matches values that are only similar "
    "identifies at least as many people."
)
NEVER_MEASURED: Final = (
    "What free text and images say of people was not measured.",
    "Figures hold for the files that were measured, not for later releases of the same people.",
    "No environment and no control of a recipient lowers a figure: they are words of the policy.",
)


def require_assessment(policy: Policy) -> Assessment:
    """Return the assessment; refuse a policy without one, as nobody could sign."""
    if policy.assessment is None:
        below = f'assessor = "your name" and date = "{date.today()}"'  # noqa: DTZ011 - where it is signed
        raise OutOfDomainError(
            "policy must have an [assessment] for a dossier, got none; "
            f"write at its end a line [assessment], and below it, each in a line, {below}"
        )
    return policy.assessment


def refuse_absolute_paths(policy: Policy) -> None:
    """Refuse a policy whose paths would show a folder of this machine to whoever gets the document."""
    locations = [each.location for table in policy.tables for each in table.sources if each.of_file]
    if any(Path(each).is_absolute() for each in locations):
        raise OutOfDomainError(
            "policy must name files as seen from its folder for a dossier, got an absolute path; "
            "move the policy or the file, and write the path without folders"
        )


def build_dossier(policy: Policy, page: ReportPage, since: ReportPage | None = None) -> ReportPage:
    """Put the dossier together from the gate's report; `since` is the dossier before this one."""
    assessment = require_assessment(policy)
    file = policy.files[0]
    standards = read_standards(assessment.standards, file.parent)
    refuse_unknown_answers(standards, assessment)
    run = f"reid-sql check {shlex.quote(file.name)}"
    # each with its figures and the command that was run, or the one that would
    attacks: list[Page] = []
    for each in read_document("attacks", ATTACKS, None, {})[0].tables("attacks"):
        tried = each.texts("functions")
        figures = [
            describe_figure(page, number)
            for number, check in enumerate(page["checks"])
            if check["function"] in tried
        ]
        attack: Page = {
            "attack": each.text("name"),
            "tried": bool(figures),
            "command": run if figures else each.text("command"),
            "figures": figures,
        }
        attacks.append(attack)
    return seal(
        ReportPage(
            {
                "format": FORMAT,
                "assessment": settings(assessment.page),
                "standards": [answer_standard(each, page, assessment) for each in standards],
                "attacks": attacks,
                "not_measured": [*_list_gaps(page), *NEVER_MEASURED],
                "floor": FLOOR,
                "since": since and since["digest"],
                "changes": list(_list_changes(since, page, assessment)) if since else [],
                "report": page,
            }
        )
    )


def _list_gaps(page: ReportPage) -> Iterator[str]:
    """Yield what this run left open: checks without a verdict, columns and links that nobody measured."""
    for check in page["checks"]:
        if check["verdict"] == "not judged":
            why = without_codes(deciding_group(check)["why"]).rstrip(".")
            yield f"{check['table']}: {describe_check(check)} was not judged: {why}."
    for recipient in page["recipients"]:
        yield from _list_gaps_for(page, recipient)
    for table in page["tables"]:
        named = {each["sensitive"] for each in checks_of(page, table["name"])}
        columns = table.get("released_columns")
        if columns and columns["unmeasured"]:
            yield f"{table['name']}: {columns['sentences'][0]}"
        for column in table["sensitive"]:
            if column not in named:
                yield f"{table['name']}: no check measures what classes reveal of {column}."


def _list_gaps_for(page: ReportPage, recipient: Mapping[str, Any]) -> Iterator[str]:
    """Yield the quasi-identifiers that no check for the recipient counts, and the links that none tries."""
    checks = [each for each in page["checks"] if each["recipient"] == recipient["name"]]
    for table in page["tables"]:
        of_table = [each for each in checks if each["table"] == table["name"]]
        counted = {name for each in of_table for name in each["quasi_identifiers"]}
        left = [name for name in table["quasi_identifiers"] if name not in counted]
        if of_table and left:
            listed = ", ".join(left)
            yield f"{recipient['name']}: no check counts {listed} of {table['name']}, which they receive."
    for role in recipient["links"]:
        if not any(role in _linked_roles(check["function"]) for check in checks):
            yield f"{recipient['name']}: no check links with the {role} table."


def _linked_roles(function: str) -> set[str]:
    """Return the roles of the tables that a function links with."""
    parameters = {parameter.name for parameter in output_of(function, declared()).parameters}
    roles = {role for name, role in OTHER_TABLES.items() if name in parameters}
    return roles | ({*PUBLISHED} if "tables" in parameters else set())


def _list_changes(since: ReportPage, page: ReportPage, assessment: Assessment) -> Iterator[Page]:
    """Yield what is otherwise than in the dossier before: figures, limits, verdicts, tables, words."""
    before = {**_facts_of(since["report"]), **_words_of(since["assessment"])}
    now = {**_facts_of(page), **_words_of(json.loads(json.dumps(assessment.page)))}
    for what in dict.fromkeys([*before, *now]):
        if before.get(what) != now.get(what):
            yield {"what": what, "before": before.get(what), "now": now.get(what)}


def _facts_of(page: ReportPage) -> dict[str, str]:
    """Return by name what may change between two reports, each figure as it is shown."""
    facts = {"policy": f"sha256 {page['policy']['sha256']}", "verdict": str(page["verdict"])}
    facts |= {f"version of {name}": version for name, version in page["versions"].items()}
    facts |= {f"{each['name']}: file": str(each["sha256"]) for each in page["tables"]}
    facts |= {f"{each['name']}: verdict": each["verdict"] for each in page["recipients"]}
    for check in page["checks"]:
        name = f"{check['table']}: {describe_check_and_columns(check)}"
        for group in check["groups"]:
            shown = (
                f"{format_figure(group, check)}, limit {format_limit(check)}: {group['verdict']}"
            )
            facts[" ".join(filter(None, (name, group_label(group))))] = shown
    return facts


def _words_of(assessment: Mapping[str, Any]) -> dict[str, str]:
    """Return what people wrote by its key."""
    return {f"assessment.{key}": str(value) for key, value in assessment.items() if value}
