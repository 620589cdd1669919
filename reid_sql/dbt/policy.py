"""A policy's checks of a table that dbt has built: a function in SQL, as the tests of dbt are SQL."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import duckdb
from duckdb.func import PythonUDFType

from reid_sql.check import gate
from reid_sql.check.masking import ReportPage
from reid_sql.check.policy import read_policy
from reid_sql.check.policy_model import Policy, TablePolicy, columns_named
from reid_sql.check.sentences import describe_check, describe_columns, format_figure, format_limit
from reid_sql.check.sources import Source
from reid_sql.check.table_engine import POLICY_COLUMNS
from reid_sql.check.verdicts import FAIL, NOT_JUDGED
from reid_sql.errors import ReidError, UnknownNameError, suggestion
from reid_sql.models.columns.identifiers import likely
from reid_sql.parameters import Columns, quoted, sql_text
from reid_sql.sources.spill import spill_folder
from reid_sql.terminal.control_characters import escape_control_characters
from reid_sql.terminal.runner import sentence

NAME: Final = "reid_policy_findings"
FINDING: Final = """STRUCT("table" VARCHAR, measure VARCHAR, "group" VARCHAR, figure DOUBLE, "limit" DOUBLE,
    verdict VARCHAR, why VARCHAR, "check" VARCHAR)"""
ANSWER: Final = f"STRUCT(refusal VARCHAR, findings {FINDING}[])"
# DuckDB does not keep a registered Python function alive
CALLABLES: Final[list[Callable[..., Any]]] = []


def register(con: duckdb.DuckDBPyConnection, tell: Callable[[str], None] = lambda _: None) -> None:
    """Put `reid_policy_findings(policy, table, relation)` into the connection's database; twice is harmless.

    Each check that does not pass, or has a caution, is printed, as dbt itself counts failures only.
    """
    if con.execute(
        "SELECT count(*) FROM duckdb_functions() WHERE function_name = $1", [NAME]
    ).fetchall() != [(0,)]:
        return

    def answer(policy: str, table: str, relation: str) -> dict[str, Any]:
        try:
            judged = findings(con, policy, table, relation)
            for each in judged:
                if each["verdict"] in {FAIL, NOT_JUDGED} or each["why"]:
                    tell(
                        "; ".join(filter(None, [f"{each['table']}: {each['check']}", each["why"]]))
                    )
        # the engine would wrap the sentence in its own
        except (ReidError, duckdb.Error, OSError) as error:
            return {"refusal": sentence(error), "findings": []}
        return {"refusal": None, "findings": judged}

    CALLABLES.append(answer)
    con.create_function(
        NAME, answer, ["VARCHAR"] * 3, ANSWER, type=PythonUDFType.NATIVE, side_effects=True
    )


def findings(
    con: duckdb.DuckDBPyConnection, file: str, table: str, relation: str
) -> list[dict[str, Any]]:
    """Check a relation, in SQL, by the policy's table of this name; one dictionary for each check and group.

    What the policy names of the relation goes through a file, as the gate reads files alone; the file is
    taken away.
    """
    policy = read_policy(file)
    table_policy = _table(policy, table)
    cursor = con.cursor()
    columns = [row[0] for row in cursor.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()]
    named = columns_named(table_policy)
    if named:
        Columns(POLICY_COLUMNS).known(named, columns)
    # the gate sees whether an identifier repeats
    kept = [*named, *likely(columns, [], named)] if named else []
    listed = ", ".join(quoted(name) for name in kept) or "*"
    with spill_folder() as folder:
        written = folder / "relation.parquet"
        cursor.execute(
            f"COPY (SELECT {listed} FROM {relation}) TO {sql_text(str(written))} (FORMAT parquet)"
        ).fetchall()
        alone = replace(
            policy,
            tables=(replace(table_policy, source=Source(table_policy.source.location, written)),),
        )
        with gate.open_tables(alone) as releases:
            page = gate.measure_policy(alone, releases, None, overview=False)
    return [_finding(check, group) for check in page["checks"] for group in check["groups"]]


def _table(policy: Policy, name: str) -> TablePolicy:
    """Give the policy's table of this name; where the policy has but one, no name is needed."""
    names = [table.name for table in policy.tables]
    if not name and len(names) == 1:
        return policy.tables[0]
    if name not in names:
        hint = suggestion(name, names, "tables")
        raise UnknownNameError(
            f"the policy must have a table for the model, got '{name}'; {hint} (pass it as table)"
        )
    return policy.tables[names.index(name)]


def _finding(check: ReportPage, group: ReportPage) -> dict[str, Any]:
    values = group["group"]
    name = " ".join(part for part in (describe_check(check), describe_columns(check)) if part)
    why = "; ".join([part for part in (group["why"], *check["cautions"]) if part])
    return {
        "table": check["table"],
        "measure": check["measure"],
        "group": escape_control_characters(
            ", ".join(f"{column} {value}" for column, value in values.items())
        )
        if values
        else None,
        "figure": group["judged"],
        "limit": check["limit"],
        "verdict": group["verdict"],
        "why": escape_control_characters(why) or None,
        "check": escape_control_characters(
            f"{group['verdict'].upper()}: {name} is {format_figure(group, check)}, "
            f"limit {format_limit(check)}"
        ),
    }
