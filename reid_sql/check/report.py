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
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.check.masked_checks import MaskedReport
from reid_sql.check.masking import Node, ReportPage, Setting
from reid_sql.check.policy_model import Policy
from reid_sql.check.verdicts import EXIT_CODES, Baseline
from reid_sql.terminal.control_characters import escape_in_json

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
MODELS: Final = ("duckdb", "numpy", "scipy", "pyarrow")

Page = dict[str, Node]


def build_report(
    policy: Policy,
    masked: MaskedReport,
    verdict: str,
    baseline: Baseline | None,
    engines: Sequence[str] = (),
) -> ReportPage:
    """Put the document together; `engines` are those that counted other than DuckDB."""
    page = ReportPage(
        {
            **report_header(policy, engines),
            "verdict": verdict,
            "exit_code": Setting(EXIT_CODES[verdict]),
            "baseline_sha256": baseline.sha256 if baseline else None,
            "baseline_accepted_by": baseline.accepted_by if baseline else None,
            "tables": masked.tables,
            "checks": masked.checks,
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


@cache
def report_schema() -> Mapping[str, Any]:
    """Give the JSON Schema of the document."""
    text = resources.files("reid_sql.check").joinpath("report.schema.json").read_text(encoding="utf-8")
    schema: Mapping[str, Any] = json.loads(text)
    return schema
