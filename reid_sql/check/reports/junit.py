"""The report as JUnit XML, for whatever shows test results: a suite a table, a case a check or group."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from reid_sql.check.reports.words import asked, counted, figure, limit
from reid_sql.control_characters import escape_control_characters


def junit(page: Mapping[str, Any]) -> str:
    """Write the report: what fails is a failure, what could not be judged an error."""
    suites = ET.Element("testsuites", name=escape_control_characters(page["policy"]["name"]))
    for table in page["tables"]:
        seen: Counter[str] = Counter()
        cases = [
            case
            for check in page["checks"]
            if check["table"] == table["name"]
            for case in _cases(check, seen)
        ]
        counted = {
            "name": escape_control_characters(table["name"]),
            "tests": str(len(cases)),
            "failures": str(_number(cases, "failure")),
            "errors": str(_number(cases, "error")),
        }
        suite = ET.SubElement(suites, "testsuite", counted)
        suite.extend(cases)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _number(cases: list[ET.Element], kind: str) -> int:
    return sum(case.find(kind) is not None for case in cases)


def _cases(check: Mapping[str, Any], seen: Counter[str]) -> Iterator[ET.Element]:
    """Give a case for each group, with all that decides it in its name; the same again is numbered."""
    for place, group in enumerate(check["groups"], 1):
        label = "" if not check["by"] else f" [{_label(group['group'], place)}]"
        name = escape_control_characters(
            " ".join(part for part in (asked(check), counted(check), limit(check)) if part) + label
        )
        seen[name] += 1
        told = escape_control_characters(
            "; ".join(
                [
                    f"{figure(group, check)}, limit {limit(check)}",
                    group["why"],
                    *check["cautions"],
                    *filter(None, [group["sentence"]]),
                ]
            )
        )
        numbered = name if seen[name] == 1 else f"{name} #{seen[name]}"
        case = ET.Element("testcase", classname=escape_control_characters(check["table"]), name=numbered)
        if group["verdict"] in ("fail", "not judged"):
            ET.SubElement(case, "failure" if group["verdict"] == "fail" else "error", message=told)
        else:
            ET.SubElement(case, "system-out").text = told
        yield case


def _label(group: Mapping[str, Any] | None, place: int) -> str:
    if group is None:
        return f"small group {place}"
    return ", ".join(f"{column}={'NULL' if value is None else value}" for column, value in group.items())
