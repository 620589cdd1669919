"""What data catalogues read of a check: verdicts as an event of OpenLineage, and roles of columns as tags.

Neither has a figure: a check is an assertion that holds or not. One that was not judged does not hold.
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from reid_sql._version import __version__
from reid_sql.check.masking import ReportPage, refuse_unmasked
from reid_sql.check.sentences import (
    checks_of,
    describe_check,
    describe_check_and_columns,
    format_limit,
)
from reid_sql.check.verdicts import PASS
from reid_sql.sources.column_roles import ENTITY, HOUSEHOLD, IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE

PRODUCER: Final = f"https://pypi.org/project/reid-sql/{__version__}"
NAMESPACE: Final = "reid-sql"
SPECIFICATION: Final = "https://openlineage.io/spec/{}#/$defs/{}"
# What YAML refuses, or reads as a line's end, and JSON writes as it is.
NO_YAML: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
EVENT: Final = SPECIFICATION.format("2-0-2/OpenLineage.json", "RunEvent")


def render_openlineage(pages: Sequence[ReportPage], refusals: Sequence[str] = ()) -> str:
    """Write one event of a run of `check`; it failed where a policy was refused, and says why."""
    for page in pages:
        refuse_unmasked(page)
    names = ", ".join(page["policy"]["name"] for page in pages) or "check"
    digests = " ".join(page["digest"] for page in pages)
    now = datetime.now(UTC).isoformat()
    error = {"message": " ".join(refusals), "programmingLanguage": "SQL"}
    event = {
        "eventTime": now,
        "producer": PRODUCER,
        "schemaURL": EVENT,
        "eventType": "FAIL" if refusals else "COMPLETE",
        "run": {
            "runId": str(uuid5(NAMESPACE_URL, f"{now} {digests}")),
            "facets": {"errorMessage": _facet("ErrorMessageRunFacet", "1-0-1", error)}
            if refusals
            else {},
        },
        "job": {"namespace": NAMESPACE, "name": names, "facets": {}},
        "inputs": [_describe_dataset(page, table) for page in pages for table in page["tables"]],
        "outputs": [],
    }
    return json.dumps(event, indent=2, ensure_ascii=False) + "\n"


def _facet(name: str, version: str, fields: dict[str, Any]) -> dict[str, Any]:
    schema = SPECIFICATION.format(f"facets/{version}/{name}.json", name)
    return {"_producer": PRODUCER, "_schemaURL": schema, **fields}


def _describe_dataset(page: ReportPage, table: ReportPage) -> dict[str, Any]:
    """Name the table as OpenLineage does, with a tag for each role and an assertion for each check."""
    assertions = []
    for check in checks_of(page, table["name"]):
        columns = check["quasi_identifiers"]
        column = check["sensitive"] or (columns[0] if len(columns) == 1 else None)
        assertion = {
            "assertion": describe_check(check),
            "success": check["verdict"] == PASS,
            "severity": "error",
            "name": describe_check_and_columns(check),
            "description": f"{check['words']}; verdict: {check['verdict']}",
            "expected": format_limit(check),
            **({"column": column} if column else {}),
        }
        assertions.append(assertion)
    facet = _facet("DataQualityAssertionsDatasetFacet", "1-1-0", {"assertions": assertions})
    namespace, name = name_dataset(table["file"], table["table"])
    tags = [
        {"key": role, "value": "true", "source": NAMESPACE, "field": column}
        for column, role in _list_roles([(page, table)]).items()
    ]
    return {
        "namespace": namespace,
        "name": name,
        "facets": {"tags": _facet("TagsDatasetFacet", "1-0-0", {"tags": tags})},
        "inputFacets": {"dataQualityAssertions": facet},
    }


def render_tags(pages: Sequence[ReportPage]) -> str:
    """Write the roles that policies give to columns as tags in the properties of models, as dbt reads them.

    JSON is YAML, and needs no library to be read again.
    """
    models: dict[str, list[tuple[ReportPage, ReportPage]]] = {}
    for page in pages:
        for table in page["tables"]:
            name = (table["table"] or "").rpartition(".")[2] or Path(table["file"]).stem
            models.setdefault(name, []).append((page, table))
    listed = [
        {
            "name": name,
            "columns": [
                {"name": column, "tags": [role]} for column, role in _list_roles(tables).items()
            ],
        }
        for name, tables in models.items()
    ]
    text = json.dumps({"version": 2, "models": listed}, indent=2, ensure_ascii=False) + "\n"
    return NO_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _list_roles(tables: Sequence[tuple[ReportPage, ReportPage]]) -> dict[str, str]:
    """Give the role of each column in pages and their tables: the first of several, as readers take one."""
    by_role = [
        {
            ENTITY: [table["entity"]],
            QUASI_IDENTIFIER: table["quasi_identifiers"],
            SENSITIVE: table["sensitive"],
            HOUSEHOLD: [
                check["parameters"].get("household") for check in checks_of(page, table["name"])
            ],
            IDENTIFIER: (table["released_columns"] or {}).get("left_out", []),
        }
        for page, table in tables
    ]
    roles: dict[str, str] = {}
    for role in (ENTITY, QUASI_IDENTIFIER, SENSITIVE, HOUSEHOLD, IDENTIFIER):
        for columns in by_role:
            for name in filter(None, columns[role]):
                roles.setdefault(name, role)
    return roles


def name_dataset(file: str, table: str | None) -> tuple[str, str]:
    """Give the namespace and the name of a dataset: a file by its path, a table by its database.

    >>> name_dataset("people.parquet", None)
    ('file', 'people.parquet')
    >>> name_dataset("postgres://reader@db.example:5432/clinic", "public.people")
    ('postgres://db.example:5432', 'clinic.public.people')
    """
    parts = urlsplit(file)
    if not parts.scheme or not parts.hostname:
        return "file", ".".join(filter(None, (file, table)))
    port = "" if parts.port is None else f":{parts.port}"
    path = parts.path.strip("/").replace("/", ".")
    return f"{parts.scheme}://{parts.hostname}{port}", ".".join(filter(None, (path, table)))
