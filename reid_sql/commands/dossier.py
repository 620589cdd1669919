"""Write one run of the gate as a document that a person can sign, or verify such a document."""

import sys
from argparse import Namespace
from datetime import date
from pathlib import Path
from typing import Final

from reid_sql.check import gate
from reid_sql.check.masking import ReportPage
from reid_sql.check.policy import read_policy
from reid_sql.commands.gate import print_verdict, report_files
from reid_sql.commands.options import PASSED, printed
from reid_sql.dossier.content import build_dossier, refuse_absolute_paths, require_assessment
from reid_sql.dossier.envelope import (
    check_folder,
    find_inconsistencies,
    find_signer,
    read_dossier,
    sign_folder,
    write_folder,
)
from reid_sql.errors import OutOfDomainError
from reid_sql.terminal import progress

NOT_CONSISTENT: Final = 1
CONSISTENT: Final = "consistent: hashes match, and verdicts follow from figures and limits. This does not show who wrote it."
EXPIRED: Final = (
    "expired: this dossier is valid until {}, which has passed; assess again, and write a new one"
)


def run_dossier(options: Namespace) -> int:
    """Write the dossier and return the verdict's exit code; or verify one, and return 0 or 1."""
    named = report_files(options, ("out", "since", "sign", "verify", "signature"))
    if "verify" in named:
        return _verify(options, named)
    if options.policy is None or "out" not in named or "signature" in named:
        raise OutOfDomainError(
            "dossier must have POLICY.toml and --out FOLDER, or --verify FOLDER, got neither; name the policy and the folder"
        )
    return _write(options, named)


def _write(options: Namespace, named: dict[str, Path]) -> int:
    policy, folder = read_policy(options.policy), named["out"]
    require_assessment(policy)
    refuse_absolute_paths(policy)
    check_folder(folder)
    since = read_dossier(named["since"]) if "since" in named else None
    with gate.open_with_engine(
        options.engine, policy, options.memory_limit, progress.report
    ) as releases:
        page = gate.measure_policy(policy, releases, None, show_progress=progress.report)
    write_folder(folder, build_dossier(policy, page, since))
    if "sign" in named:
        sign_folder(folder, named["sign"])
    print_verdict(options, page, options.policy)
    if expired := _describe_expiry(read_dossier(folder)):
        printed(f"reid-sql: {expired}\n", sys.stderr)
    return int(page["exit_code"])


def _describe_expiry(dossier: ReportPage) -> str:
    """Say that the assessment's last day has passed; the document itself knows no clock."""
    until = dossier["assessment"]["valid_until"]
    return EXPIRED.format(until) if until and date.fromisoformat(until) < date.today() else ""  # noqa: DTZ011 - the day where it is read


def _verify(options: Namespace, named: dict[str, Path]) -> int:
    """Print whether the dossier is consistent and still valid, and who signed it if that is asked."""
    if options.policy is not None or named.keys() & {"out", "since", "sign"}:
        raise OutOfDomainError(
            "--verify must come with no policy, --out, --since or --sign, got one; leave them away"
        )
    wrong = list(find_inconsistencies(named["verify"]))
    lines = [f"not consistent: {each}" for each in wrong] or [CONSISTENT]
    expired = "" if wrong else _describe_expiry(read_dossier(named["verify"]))
    lines += [expired] if expired else []
    for line in lines:
        printed(f"{line}\n")
    signer: str | None = ""
    if "signature" in named:
        signer = find_signer(named["verify"], named["signature"])
        printed(f"signed by {signer}\n" if signer else "not signed by an allowed signer\n")
    return NOT_CONSISTENT if wrong or expired or signer is None else PASSED
