"""The report: all content of the JSON, JUnit and HTML files, as one document without a record; its files.

The same table, policy and versions give the same document: no clock, no path, figures to twelve digits.
"""

import errno
import hashlib
import hmac
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from reid_sql._version import __version__
from reid_sql.check.masked_checks import MaskedReport
from reid_sql.check.masking import Page, ReportPage, Setting, refuse_unmasked, settings
from reid_sql.check.policy_model import Policy
from reid_sql.check.sentences import (
    checks_of,
    describe_check,
    describe_columns,
    describe_released_columns,
    format_figure,
    format_limit,
)
from reid_sql.check.sources import files_of, logs_of
from reid_sql.check.verdicts import EXIT_CODES, Baseline, worst_verdict
from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError
from reid_sql.terminal.control_characters import escape_control_characters, escape_in_json

KEY_VARIABLE: Final = "REID_SQL_REPORT_KEY"
SEALS: Final = ("digest", "signature")
Document = Mapping[str, Any]  # of JSON, or a part of one


def seal(page: ReportPage) -> ReportPage:
    """Add the digest of all that the report contains, and its signature if the environment has a key.

    Whoever edits a report can write a new digest; a signature needs the key. An earlier seal is replaced.
    """
    digest = digest_of(page)
    page.update(zip(SEALS, (digest, sign(digest)), strict=True))
    return page


def digest_of(page: Document) -> str:
    """Return the SHA-256 of a report without its seal, as JSON with sorted keys and no spaces."""
    content = {key: value for key, value in page.items() if key not in SEALS}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def sign(digest: str) -> str | None:
    """Return the HMAC-SHA-256 of a digest (RFC 2104); None without a key."""
    key = os.environ.get(KEY_VARIABLE)
    return hmac.new(key.encode(), digest.encode(), hashlib.sha256).hexdigest() if key else None


def broken_seal(page: Document) -> str:
    """Say why a report is not as it was written; nothing if it is."""
    digest = digest_of(page)
    if not hmac.compare_digest(digest, str(page["digest"])):
        return "its digest is not that of its content"
    wanted = sign(digest)
    if wanted is not None and not hmac.compare_digest(wanted, str(page["signature"])):
        return f"its signature is not made with the key in {KEY_VARIABLE}"
    return ""


FORMAT: Final = "reid-sql report 3"
FORMAT_OF_SEVERAL: Final = "reid-sql reports 1"
MODELS: Final = ("duckdb", "numpy", "scipy", "pyarrow")


def build_report(
    policy: Policy,
    masked: MaskedReport,
    verdict: str,
    baseline: Baseline | None,
    engines: Sequence[str] = (),
) -> ReportPage:
    """Put the document together; `engines` are those that counted other than DuckDB."""
    verdicts: dict[str, list[str]] = {}  # by whom they are for
    for check in masked.checks:
        verdicts.setdefault(str(check["recipient"]), []).append(str(check["verdict"]))
    page = ReportPage(
        {
            **report_header(policy, engines),
            "verdict": verdict,
            "exit_code": Setting(EXIT_CODES[verdict]),
            "baseline_sha256": baseline.sha256 if baseline else None,
            "baseline_accepted_by": baseline.accepted_by if baseline else None,
            "recipients": [
                settings(each.page | {"verdict": worst_verdict(verdicts[each.name])})
                for each in policy.recipients
            ],
            "tables": masked.tables,
            "checks": masked.checks,
        }
    )
    return seal(page)


def report_header(policy: Policy, engines: Sequence[str] = ()) -> Page:
    """Return the policy and the versions that measured it."""
    return {
        "format": FORMAT,
        "versions": {
            "reid-sql": __version__,
            **{name: _version(name) for name in (*MODELS, *engines)},
        },
        "policy": {
            "name": policy.name,
            "sha256": policy.sha256,
            "seed": Setting(policy.seed),
            "mask_below": Setting(policy.mask_below),
            "cautions": policy.cautions,
        },
    }


def _version(package: str) -> str:
    """Return a package's version: of one that is loaded, without reading its description."""
    return getattr(sys.modules.get(package), "__version__", None) or version(package)


def to_json(page: Document) -> str:
    """Write a document as JSON, the same bytes for the same document."""
    return escape_in_json(json.dumps(page, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


@cache
def report_schema() -> Document:
    """Give the JSON Schema of the document."""
    text = (
        resources.files("reid_sql.check").joinpath("report.schema.json").read_text(encoding="utf-8")
    )
    schema: Document = json.loads(text)
    return schema


# How a report begins: what begins otherwise is something else, and is not written over.
# Report files: JUnit XML, rows for CSV, and writing a file whole and never over anything else.

BEGINNINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "--json-report": ('{\n  "format": "reid-sql report',),
    "--junit": ('<?xml version="1.0" encoding="utf-8"?>\n<testsuites',),
    "--html": ("<!doctype html>",),
    "--openlineage": ('{\n  "eventTime"',),
    "--tags": ('{\n  "version": 2,\n  "models"',),
    "--sql": ("-- A release by reid-sql",),
    "--polars": ('"""A release by reid-sql',),
    "--write-hierarchies": (),  # a person edits it
    "--release": (),  # somebody may have it
    "--publish": (),  # the same
}
HEAD_BYTES: Final = 64


def files_read(policy: Policy, baseline: Path | None) -> list[Path]:
    """Give the files that a run reads: the policy and what it points to, the data, the baseline."""
    sources = [each for table in policy.tables for each in table.sources]
    data = [file for source in sources for file in (*source.paths, *files_of(source))]
    logs = [log for file in data for log in logs_of(file)]
    return [*policy.files, *data, *logs, *(each for each in (baseline, policy.baseline) if each)]


def refuse_to_overwrite(wanted: Mapping[str, Path], inputs: Sequence[Path]) -> None:
    """Refuse, before any counting, a report that could not be written, or only over something else."""
    taken: list[tuple[str, Path]] = []
    for option, file in wanted.items():
        _refuse_unwritable(option, file)
        for other in inputs:
            if _is_same_file(file, other):
                raise OutOfDomainError(
                    f"{option} must not be a file that the run reads, got '{file}'; name another file"
                )
        for name, other in taken:
            if _is_same_file(file, other):
                raise OutOfDomainError(
                    f"{option} must be another file than {name}, got '{file}' for both; name two files"
                )
        if file.is_file() and not _is_report(option, file):
            rule = f"{option} must be a new file, got '{file}', which exists"
            if BEGINNINGS[option]:
                rule = f"{option} must be a new file or an earlier report of its kind"
                rule = f"{rule}, got '{file}', which is something else"
            raise OutOfDomainError(f"{rule}; name another file, or remove that one")
        taken.append((option, file))


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, whatever the links."""
    with suppress(OSError):
        if one.samefile(other):
            return True
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())


def _is_report(option: str, file: Path) -> bool:
    with file.open("rb") as content:
        head = content.read(HEAD_BYTES)
    return not head or any(head.startswith(each.encode()) for each in BEGINNINGS[option])


def _refuse_unwritable(option: str, file: Path) -> None:
    """Refuse a report that has no place."""
    if not file.parent.is_dir():
        raise UnknownNameError(
            f"{option} must be in an existing folder, got '{file}'; make the folder '{file.parent}' first"
        )
    if file.is_dir():
        raise OutOfDomainError(
            f"{option} must be a file, got the folder '{file}'; name a file in it"
        )


def write_report(file: Path, text: str) -> None:
    """Write a report as a whole or not at all; what is no plain file, such as a pipe, is written to."""
    try:
        _write(file, text)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise UnavailableError(
            f"a report must have space to be written, got none for '{file}'; free some, or name a file elsewhere"
        ) from None


def _write(file: Path, text: str) -> None:
    if file.exists() and not file.is_file():
        file.write_text(text, encoding="utf-8", newline="\n")
        return
    place = file.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:64]}.", dir=place.parent)
    written = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as content:
            content.write(text)
            content.flush()
            os.fsync(content.fileno())
        mask = os.umask(0)
        os.umask(mask)
        written.chmod(place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~mask)
        written.replace(place)
    except BaseException:
        written.unlink(missing_ok=True)
        raise


def render_junit(page: ReportPage) -> str:
    """Write the report: what fails is a failure, what could not be judged an error."""
    refuse_unmasked(page)
    suites = ET.Element("testsuites", name=escape_control_characters(page["policy"]["name"]))
    add_junit_suites(suites, page)
    return junit_document(suites)


def add_junit_suites(suites: ET.Element, page: ReportPage, before: str = "") -> None:
    """Add a suite for each table; `before` precedes its name, such as the policy."""
    for table in page["tables"]:
        seen: Counter[str] = Counter()
        cases = [
            case
            for check in checks_of(page, table["name"])
            for case in _test_cases(check, seen, before)
        ]
        counted = {
            "name": escape_control_characters(before + table["name"]),
            "tests": str(len(cases)),
            "failures": str(_count_cases(cases, "failure")),
            "errors": str(_count_cases(cases, "error")),
        }
        suite = ET.SubElement(suites, "testsuite", counted)
        suite.extend(cases)
        if columns := describe_released_columns(table):
            ET.SubElement(suite, "system-out").text = escape_control_characters(" ".join(columns))


def junit_document(suites: ET.Element) -> str:
    """Write suites as a document."""
    ET.indent(suites)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"
    )


def _count_cases(cases: list[ET.Element], kind: str) -> int:
    return sum(case.find(kind) is not None for case in cases)


def _test_cases(check: ReportPage, seen: Counter[str], before: str) -> Iterator[ET.Element]:
    """Give a case for each group, with all that decides it in its name; the same again is numbered."""
    for place, group in enumerate(check["groups"], 1):
        label = "" if not check["by"] else f" [{_group_label(group['group'], place)}]"
        name = escape_control_characters(
            " ".join(
                part
                for part in (describe_check(check), describe_columns(check), format_limit(check))
                if part
            )
            + label
        )
        seen[name] += 1
        message = escape_control_characters(
            "; ".join(
                [
                    f"{format_figure(group, check)}, limit {format_limit(check)}",
                    group["why"],
                    *check["cautions"],
                    *filter(None, [group["sentence"]]),
                ]
            )
        )
        numbered = name if seen[name] == 1 else f"{name} #{seen[name]}"
        case = ET.Element(
            "testcase", classname=escape_control_characters(before + check["table"]), name=numbered
        )
        if group["verdict"] in ("fail", "not judged"):
            ET.SubElement(
                case, "failure" if group["verdict"] == "fail" else "error", message=message
            )
        else:
            ET.SubElement(case, "system-out").text = message
        yield case


def _group_label(group: ReportPage | None, place: int) -> str:
    if group is None:
        return f"small group {place}"
    return ", ".join(
        f"{column}={'NULL' if value is None else value}" for column, value in group.items()
    )


Row = dict[str, Any]
CHECK_VERDICT: Final = "check_verdict"  # next to the verdict of the group


def check_columns() -> list[str]:
    """Name the fields of a check, then those of a group of it, as the report's schema has them."""
    check = dict(report_schema()["$defs"]["check"]["properties"])
    group = check.pop("groups")["items"]["properties"]
    return [*_check_fields(check), *group]


def check_rows(page: ReportPage) -> list[Row]:
    """Give a row for each group of each check, in the order of the report."""
    refuse_unmasked(page)
    return [
        {**_check_fields(check), **group} for check in page["checks"] for group in check["groups"]
    ]


def _check_fields(check: Document) -> Row:
    """The fields of the check itself."""
    fields = {CHECK_VERDICT if name == "verdict" else name: value for name, value in check.items()}
    fields.pop("groups", None)
    return fields
