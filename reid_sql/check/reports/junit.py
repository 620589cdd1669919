"""The report as JUnit XML: a suite a table, a case a check or a group of one, for whatever shows test results."""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from reid_sql.check.reports.words import asked, figure, limit

FORBIDDEN = {code: "�" for code in range(32) if chr(code) not in "\t\n\r"} | {0xFFFE: "�", 0xFFFF: "�"}


def junit(page: Mapping[str, Any]) -> str:
    """Write the report: what fails is a failure, what could not be judged an error."""
    suites = ET.Element("testsuites", name=_clean(page["policy"]["name"]))
    for table in page["tables"]:
        cases = [
            case for check in page["checks"] if check["table"] == table["name"] for case in _cases(check)
        ]
        counted = {
            "name": _clean(table["name"]),
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


def _cases(check: Mapping[str, Any]) -> Iterator[ET.Element]:
    for place, group in enumerate(check["groups"], 1):
        label = "" if not check["by"] else f" [{_label(group['group'], place)}]"
        name = _clean(f"{asked(check)} {limit(check)}{label}")
        case = ET.Element("testcase", classname=_clean(check["table"]), name=name)
        told = f"{figure(group)}, limit {limit(check)}; {group['why']}"
        if group["verdict"] in ("fail", "not judged"):
            ET.SubElement(case, "failure" if group["verdict"] == "fail" else "error", message=_clean(told))
        else:
            ET.SubElement(case, "system-out").text = _clean(told)
        yield case


def _label(group: Mapping[str, Any] | None, place: int) -> str:
    if group is None:
        return f"small group {place}"
    return ", ".join(f"{column}={'NULL' if value is None else value}" for column, value in group.items())


def _clean(text: str) -> str:
    """Give the text without what XML cannot hold."""
    return text.translate(FORBIDDEN)
