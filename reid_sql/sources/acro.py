"""Files of ACRO 1.0: the risk appetite of an organization, and results for its output checkers.

Only what means the same there and here is read or written; the rest is listed, or refused.
"""

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, Final

from reid_sql._version import __version__
from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError, suggestion
from reid_sql.models.tables.audit import LEAST_COUNT
from reid_sql.parameters import fold_case
from reid_sql.reductions.tables import DOMINANCE_RULE, P_SHARE, ROUND_TO
from reid_sql.sql.cells import DETERMINED, DOMINANCE, FEW_PEOPLE, NOBODY, ONE_CELL, P_PERCENT
from reid_sql.terminal.control_characters import escape_in_csv

K, NK_N, NK_K, P_RATIO = "safe_threshold", "safe_nk_n", "safe_nk_k", "safe_pratio_p"
ROUND_BASE: Final = "safe_round_base"
NOT_USED: Final[Mapping[str, str]] = {
    "safe_dof_threshold": "of regressions",
    "survival_safe_threshold": "of survival tables",
    "check_missing_values": "NULL is a category here",
    "zeros_are_disclosive": "see zeros := 'list'",
    "federated": "of sites that share evidence",
    "blocked_extensions": "of other files",
}
UNKNOWN_KEY: Final = "no rule of tables is known by it"
NEAR: Final = 0.8  # likeness of two names above which one is the other with a slip
VERSION: Final = "1.0.2"  # whose loader accepts the results of no other version
UID, TOTAL, RESULTS = "output_0", "All", "results.json"
# The words of ACRO for what makes a cell unsafe, those of its ontology, and what no rule here corresponds to.
THRESHOLD, P_PERCENT_CHECK, NK = "MinimumThresholdCheck", "PPercentCheck", "NKCheck"
CHECKS: Final = {THRESHOLD: FEW_PEOPLE, P_PERCENT_CHECK: P_PERCENT, NK: DOMINANCE}
LINKED, ZEROS_NEEDED, ZEROS = (
    "PresenceOfLinkedTableCheck",
    "RequiredZeroCheck",
    "PresenceOfZeroCheck",
)
OF_COUNTS: Final = (ZEROS_NEEDED, ZEROS, LINKED, THRESHOLD)
OF_SUMS: Final = (NK, P_PERCENT_CHECK, LINKED, THRESHOLD)
ROUNDED_STATUSES: Final = ("rounded", "beyond_base")  # of safe_table
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RiskAppetite:
    """Parameters of safe_table from a file, and the keys of the file that none of them corresponds to."""

    parameters: dict[str, Any]
    not_used: dict[str, str]  # by key, the reason

    def summary(self) -> str:
        """Say what was read and what was not, in a sentence each."""
        read = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        unread = ", ".join(f"{key} ({reason})" for key, reason in self.not_used.items())
        lines = [f"Rules of the risk appetite: {read or 'none'}."]
        return " ".join([*lines, *([f"Not used: {unread}."] if unread else [])])


def read_risk_appetite(path: str | Path) -> RiskAppetite:
    """Read the thresholds of a risk appetite, YAML, as parameters of safe_table.

    `safe_threshold` is k, `safe_nk_n` and `safe_nk_k` are the dominance rule, `safe_pratio_p` is p_percent,
    `safe_round_base` is base.
    Refuses a key that differs from one of these by a slip.
    """
    given = _read_yaml(Path(path))
    used = (K, NK_N, NK_K, P_RATIO, ROUND_BASE)
    for key in given:
        if key not in (*used, *NOT_USED) and get_close_matches(str(key), used, cutoff=NEAR):
            rule = f"the risk appetite must have the keys of ACRO, got '{key}'"
            raise UnknownNameError(f"{rule}; {suggestion(str(key), list(used), 'keys')}")
    parameters: dict[str, Any] = {}
    if K in given:
        parameters["k"] = int(LEAST_COUNT.check(K, _number(K, given[K])))
    if (NK_N in given) != (NK_K in given):
        missing, other = (NK_N, NK_K) if NK_K in given else (NK_K, NK_N)
        raise OutOfDomainError(
            f"the risk appetite must have both {other} and {missing}, got one; add {missing}"
        )
    if NK_N in given:
        parameters["dominance"] = [
            float(DOMINANCE_RULE.each.check(name, _number(name, given[name])))
            for name in (NK_N, NK_K)
        ]
    if P_RATIO in given:
        parameters["p_percent"] = float(P_SHARE.check(P_RATIO, _number(P_RATIO, given[P_RATIO])))
    if ROUND_BASE in given:
        parameters["base"] = int(ROUND_TO.check(ROUND_BASE, _number(ROUND_BASE, given[ROUND_BASE])))
    not_used = {str(key): NOT_USED.get(key, UNKNOWN_KEY) for key in given if key not in used}
    return RiskAppetite(parameters, not_used)


def _number(name: str, value: Any) -> float:  # noqa: ANN401 - as YAML has it
    if isinstance(value, bool) or not isinstance(value, int | float):
        rule = f"{name} must be a number, got {type(value).__name__}"
        raise OutOfDomainError(f"{rule}; write it with digits, such as 10")
    return float(value)


def _read_yaml(path: Path) -> dict[Any, Any]:
    if find_spec("yaml") is None:
        rule = "a risk appetite must be read by PyYAML, which is not installed"
        raise UnavailableError(f"{rule}, got {path.name}; run pip install 'reid-sql[acro]'")
    import yaml  # noqa: PLC0415 - optional

    try:
        parsed = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        rule = (
            f"the risk appetite must be a file that can be read, got {path.name}: {error.strerror}"
        )
        raise UnavailableError(f"{rule}; pass the path of a YAML file") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        parsed = None
    if not isinstance(parsed, dict):
        rule = f"the risk appetite must be YAML with a key and a value a line, got another text in {path.name}"
        raise OutOfDomainError(f"{rule}; write it like safe_threshold: 10")
    return parsed


def write_results(folder: str | Path, rows: Sequence[Row], by: Sequence[str], command: str) -> Path:
    """Write the cells of safe_table as a results file of ACRO and a CSV file of the counts.

    The CSV file has the columns of `by`, All for a total, `records`, and `value_sum` if there is one; what
    is hidden is empty. The results name the unsafe cells by their rows, for an output checker: do not publish
    them. Refuses to replace a file.
    """
    place = Path(folder)
    names = {fold_case(name): name for name in (rows[0] if rows else {})}
    columns = [names.get(fold_case(name), name) for name in by]
    _refuse_category_of_total(rows, columns)
    file = f"{UID}_0.csv"
    texts = {
        place / file: _csv(rows, columns),
        place / RESULTS: _results(rows, columns, file, command),
    }
    for path in texts:
        if path.exists():
            rule = f"the folder must be without results, got one with {path.name}"
            raise OutOfDomainError(f"{rule}; pass a new folder")
    try:
        place.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            with path.open("x", encoding="utf-8", newline="") as written:
                written.write(text)
    except OSError as error:
        rule = (
            f"results must go to a folder that can be written, got {place.name}: {error.strerror}"
        )
        raise UnavailableError(f"{rule}; pass another folder") from None
    return place / RESULTS


def shows_unsafe(rows: Sequence[Row]) -> bool:
    """Whether a cell is shown, and not rounded, that breaks a rule of ACRO."""
    shown = (
        row for row in rows if row["records"] is not None and row["status"] not in ROUNDED_STATUSES
    )
    return any(set(row["unsafe"]) & {*CHECKS.values()} for row in shown)


def _refuse_category_of_total(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Refuse a category that reads like a total in the file."""
    if not any(row["total_over"] for row in rows):
        return
    for name in columns:
        if any(row[name] is not None and str(row[name]) == TOTAL for row in rows):
            rule = f"a table with totals must have no category '{TOTAL}', got one in '{name}'"
            raise OutOfDomainError(f"{rule}; rename it in a view, as ACRO calls totals so")


def _csv(rows: Sequence[Row], columns: Sequence[str]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    figures = [
        "records",
        *(["value_sum"] if any(row["value_sum"] is not None for row in rows) else []),
    ]
    writer.writerow([*map(escape_in_csv, columns), *figures])
    for row in rows:
        over = {fold_case(name) for name in row["total_over"]}
        cells = [TOTAL if fold_case(name) in over else row[name] for name in columns]
        shown = [escape_in_csv(cell) if isinstance(cell, str) else cell for cell in cells]
        writer.writerow([*shown, *(row[name] for name in figures)])
    return text.getvalue()


def _results(rows: Sequence[Row], columns: Sequence[str], file: str, command: str) -> str:
    value = any(row["value_sum"] is not None for row in rows)
    needed = OF_SUMS if value else OF_COUNTS
    cells = {check: _places(rows, CHECKS[check]) if check in CHECKS else [] for check in needed}
    hidden = any(row["records"] is None for row in rows)
    rounded = any(row["status"] in ROUNDED_STATUSES for row in rows)
    mitigation = "suppress" if hidden else "round" if rounded else "none"
    one_cell, determined = (len(_places(rows, rule)) for rule in (ONE_CELL, DETERMINED))
    status = (
        "fail"
        if shows_unsafe(rows)
        else "review"
        if hidden or rounded or one_cell or determined
        else "pass"
    )
    found = [f"{name}: {len(places)} cells" for name, places in cells.items() if places]
    not_checked = [check for check in needed if check not in CHECKS]
    comments = [f"Not checked: {', '.join(not_checked)}."]
    comments += (
        [f"{one_cell} cells have everybody of a row or column (all_in_one_cell)."]
        if one_cell
        else []
    )
    comments += [f"{determined} finer cells repeat such a fact (determined)."] if determined else []
    zeros = len(_places(rows, NOBODY))
    comments += (
        [f"{zeros} cells have nobody, though their row and column have people."] if zeros else []
    )
    counts = Counter(row["status"] for row in rows)
    comments += [f"{counts['secondary']} cells are secondary."] if counts["secondary"] else []
    broken = ([check for check, rule in CHECKS.items() if rule in row["unsafe"]] for row in rows)
    outcome = {
        str(place): "".join(f"{check}; " for check in checks) or "ok"
        for place, checks in enumerate(broken)
    }
    summary = {name: len(places) for name, places in cells.items()}
    result = {
        "uid": UID,
        "status": status,
        "type": "table",
        "properties": {"method": "safe_table", "mitigation": mitigation},
        "files": [{"name": file, "sdc": {"summary": summary, "cells": cells}}],
        "outcome": {"records": outcome},
        "command": command,
        "summary": "; ".join([status, *found]),
        "timestamp": datetime.now().isoformat(),  # noqa: DTZ005 - as ACRO writes it
        "comments": comments,
        "exception": "",
        "fair": _describe_checks(cells, columns, is_sum=value),
    }
    tool = {"@type": "SoftwareApplication", "name": "reid-sql", "version": __version__}
    return json.dumps({"version": VERSION, "tool": tool, "results": {UID: result}}, indent=4) + "\n"


def _describe_checks(
    cells: Mapping[str, list[list[int]]], columns: Sequence[str], *, is_sum: bool
) -> dict[str, Any]:
    """The kind of table, its risks and its checks by the ontology of output checkers; unchecked is review."""
    return {
        "context": "https://w3id.org/statbarnsdc#",
        "statbarn": "LinearAggregations" if is_sum else "Frequencies",
        "risks": ["Dominance" if is_sum else "ClassDisclosure", "Differencing", "LowCount"],
        "checks_needed": list(cells),
        "common_mitigations": ["Noise", "Suppression"],
        "check_status": {
            check: "review" if check not in CHECKS else "fail" if places else "pass"
            for check, places in cells.items()
        },
        "dependent": "value_sum" if is_sum else "unknown",
        "independent": list(columns),
    }


def _places(rows: Sequence[Row], rule: str) -> list[list[int]]:
    """The cells that break the rule, as rows of the only column of counts."""
    return [[place, 0] for place, row in enumerate(rows) if rule in row["unsafe"]]
