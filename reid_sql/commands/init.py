"""Write a starter policy and a starter scenario for a file, from the profile of its columns."""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from reid_sql.check.remarks import declare_missing
from reid_sql.commands.measure import describe_profile, profile_columns
from reid_sql.commands.options import PASSED
from reid_sql.commands.output import print_answer
from reid_sql.commands.tables import open_file
from reid_sql.errors import OutOfDomainError
from reid_sql.models.columns.column_profile import (
    CATEGORY,
    CODE,
    DATE,
    FREE_TEXT,
    IDENTIFIER,
    NUMBER,
    REPEATED_IDENTIFIER,
)
from reid_sql.parameters import MAX_COLUMNS
from reid_sql.parameters.document import toml_text, toml_texts
from reid_sql.terminal.console import Text

KNOWABLE: Final = (CATEGORY, CODE, DATE, NUMBER)  # what others may know about a person
POLICY: Final = """# A starter policy. Check the table against it: reid-sql check {policy}
# reid-sql proposes columns from their values; only you know what others can know. Review each line.
cautions = "refuse"     # a result that comes with a caution is not judged

[[tables]]
file = {file}
# Columns whose values others can know about a person. Remove a column only if nobody outside can know it.
quasi_identifiers = {known}
{entity}{missing}
# Columns that nobody should learn about a person, such as a diagnosis; remove them from the list above.
# sensitive = ["diagnosis"]
# The number of people that the table is a sample of. Its checks are at the end.
# population = 67_000_000
{omitted}
[[tables.checks]]
measure = "k"
at_least = 5            # each person shares these values with at least four others

[[tables.checks]]
measure = "average_risk"
at_most = 0.05          # the expected share of people that an attacker identifies

# [[tables.checks]]
# measure = "population_correctness"   # the chance that a match names the right person; needs population
# at_most = 0.05
"""
SCENARIO: Final = """# A starter scenario: what an attacker may know. Measure it:
#     reid-sql adversary {file} --scenario {scenario}
# Each probability is a placeholder: replace it by what you know about your attackers.
name = "starter"
# The people among whom the attacker looks; those of the table alone are the worst case.
population = {people}

{groups}"""
GROUP: Final = """[[groups]]
columns = [{column}]
probability = 0.5       # the chance that the attacker knows this column of a person
"""
ENTITY: Final = """# Column {0} looks like the identifier of a person and repeats: each person counts once.
entity = {0}"""
MISSING: Final = """
# Values that look like codes for "missing". If a line is right, remove its #. If all of them are real values,
# write accept = ["missing_codes"] at the top instead.
{}"""
NO_ENTITY: Final = """# The column that identifies a person, if a person can have several rows.
# entity = "person_id\""""


def run_init(options: argparse.Namespace) -> int:
    """Write both documents into the current folder; refuse to replace a file."""
    rows = profile_columns(*open_file(options), [])
    stem = re.sub(r"\W+", "_", Path(options.file).stem) or "table"
    targets = {kind: Path(f"{stem}.{kind}.toml") for kind in ("policy", "scenario")}
    for path in targets.values():
        if path.exists():
            rule = f"init must not replace a file, got '{path}', which exists"
            raise OutOfDomainError(f"{rule}; move it away, or run init in another folder")
    known = [row["column_name"] for row in rows if row["looks_like"] in KNOWABLE][:MAX_COLUMNS]
    if not known:
        rule = "FILE must have a column that others can know about a person, got none that looks like one"
        raise OutOfDomainError(f"{rule}; see reid-sql profile {options.file}")
    texts = {
        "policy": _policy(options.file, rows, known, targets),
        "scenario": _scenario(options.file, known, targets, people=rows[0]["records"]),
    }
    for kind, path in targets.items():
        path.write_text(texts[kind], encoding="utf-8")
    page = {kind: str(path) for kind, path in targets.items()}
    words = (
        f"Wrote {page['policy']} and {page['scenario']}. Review them, then: reid-sql check {page['policy']}"
    )
    print_answer(options, page, [page], lambda: Text(words), describe_profile(rows))
    return PASSED


def _policy(file: str, rows: Sequence[dict[str, Any]], known: Sequence[str], targets: dict[str, Path]) -> str:
    repeated = [row["column_name"] for row in rows if row["looks_like"] == REPEATED_IDENTIFIER]
    omitted = [row["column_name"] for row in rows if row["looks_like"] in (IDENTIFIER, FREE_TEXT)]
    leave = f"# Leave out of the release: {toml_texts(omitted)} (identifiers and free text).\n"
    note = leave if omitted else ""
    entity = ENTITY.format(toml_text(repeated[0])) if repeated else NO_ENTITY
    coded = [declare_missing(row["column_name"], row["sentinels"]) for row in rows if row["sentinels"]]
    return POLICY.format(
        policy=targets["policy"],
        file=toml_text(file),
        known=toml_texts(known),
        entity=entity,
        missing=MISSING.format("\n".join(f"# {line}" for line in coded)) if coded else "",
        omitted=note,
    )


def _scenario(file: str, known: Sequence[str], targets: dict[str, Path], *, people: int) -> str:
    groups = "\n".join(GROUP.format(column=toml_text(name)) for name in known)
    return SCENARIO.format(file=toml_text(file), scenario=targets["scenario"], people=people, groups=groups)
