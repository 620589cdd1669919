"""The best different transformations of a table that meet the policy, ranked by what they retain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from reid_sql.charts.svg import escape
from reid_sql.check import gate
from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.evaluation import ShowProgress
from reid_sql.check.html_parts import render_table
from reid_sql.check.policy_model import Policy
from reid_sql.check.sentences import describe_check, explain_verdict, format_figure
from reid_sql.models.generalization.search import CountedNode
from reid_sql.models.numerics.quantiles import percent
from reid_sql.parameters import Row, Rows
from reid_sql.prepare.files import sql_file
from reid_sql.prepare.page import page
from reid_sql.prepare.problem import limit_time
from reid_sql.prepare.transformation import Outcome, TableRelease, Transformation, transform

MAX_CHOICES: Final = 10
MAX_MEASURED: Final = 40  # transformations that the gate measures for them
# characters of a query in a row; local recoding of many classes is better in a file
MAX_SQL: Final = 200_000
WITHHELD: Final = "withheld"
CAPTION: Final = (
    "Each of these {} transformations meets the policy, measured by the gate on what its query returns. Each "
    "leaves a column finer than every other one does. reid-sql prepare --json prints their queries."
)


def choose_transformations(
    policy: Policy,
    original: DuckDBTableCounts,
    table: TableRelease,
    baseline: Path | None,
    tell: ShowProgress,
) -> TableRelease:
    """Measure the transformations of least loss by the gate, until enough different ones meet the policy.

    A transformation that is as coarse as a chosen one in every column retains nothing more. Two of which one
    is the coarser would also show by their suppressed shares how many records the coarser levels rescue.
    """
    alone = replace(policy, tables=(original.table,))
    is_over, measured = limit_time(policy.preparing.time_limit), 0
    chosen: list[dict[str, Any]] = []
    levels: list[Sequence[int]] = []
    for variant in _variants(table):
        node = (
            variant.transformation.node if variant.transformation and not variant.is_local else ()
        )
        if variant.form is None or any(_is_coarser(node, other) for other in levels):
            continue
        if len(chosen) == MAX_CHOICES or measured == MAX_MEASURED or is_over():
            break
        tell(
            f"{original.table.name}: {len(chosen) + 1} of {MAX_CHOICES} transformations to choose from"
        )
        release = transform(original, variant.form)
        report = gate.measure_policy(alone, [release], baseline)
        release.engine.drop()
        measured += 1
        outcome = Outcome(alone, (variant,), report)
        if outcome.passed:
            levels += [node] if node else []
            chosen.append(_describe(outcome, is_release=variant.form == table.form))
    ranked = sorted(chosen, key=lambda row: row["losses"]["entropy"])
    return replace(table, choices=tuple({"rank": rank} | row for rank, row in enumerate(ranked, 1)))


def _variants(table: TableRelease) -> Iterator[TableRelease]:
    """List the transformations that may be released, the one of least loss first."""
    searched = table.result
    variants = [
        (
            node.loss,
            replace(
                table,
                method="global",
                local=None,
                transformation=_form_of(table, node),
                result=replace(
                    searched, best=node, optimal=searched.optimal and node == searched.best
                ),
            ),
        )
        for node in searched.counted
        if node.outcome.cut
    ]
    if table.local is not None:
        variants.append((table.local.losses[table.preparing.loss], replace(table, method="local")))
    yield from (variant for _, variant in sorted(variants, key=lambda each: each[0]))


def _form_of(table: TableRelease, node: CountedNode) -> Transformation | None:
    """Return the transformation of a node; that of the best one may have blank values."""
    form = table.transformation
    if form is None or node == table.result.best:
        return form
    return form.at(node.node, node.outcome)


def _is_coarser(levels: Sequence[int], other: Sequence[int]) -> bool:
    """Whether no column is finer; local recoding has no levels."""
    return bool(levels) and all(level >= than for level, than in zip(levels, other, strict=True))


def _describe(outcome: Outcome, *, is_release: bool) -> dict[str, Any]:
    """Describe a transformation: what it retains, its columns, the gate's checks and its query."""
    described, query = page(outcome)["tables"][0], sql_file(outcome)
    columns = [
        {key: each[key] for key in ("column", "form", "loss")} for each in described["columns"]
    ]
    report = outcome.report
    return {
        "is_release": is_release,
        "method": described["method"],
        "retained": 1 - described["losses"]["entropy"],
        **{key: described[key] for key in ("losses", "suppressed_share", "target", "cross_tables")},
        "columns": columns,
        "checks": list(report["checks"]) if report else [],
        "sql": query if len(query) <= MAX_SQL else None,
    }


def render_choices(tables: Rows) -> str:
    """Write the transformations of each table as rows, for the HTML page of the release."""
    return "".join(_table(table) for table in tables if table["choices"])


def _table(table: Mapping[str, Any]) -> str:
    rows = [dict(_cells(row)) for row in table["choices"]]
    body = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in rows)
    return (
        f"<h3>{escape(table['name'])}: transformations to choose from</h3>"
        f"<p>{escape(CAPTION.format(len(rows)))}</p>{render_table(list(rows[0]), body)}"
    )


def _cell(lines: Sequence[str]) -> str:
    return f"<td>{'<br>'.join(escape(line).replace(' %', '&nbsp;%') for line in lines)}</td>"


def _cells(row: Row) -> Iterator[tuple[str, list[str]]]:
    """List the label and the lines of each cell of a row."""
    yield "rank", [str(row["rank"])]
    yield "retained", [percent(row["retained"])]
    yield (
        "transformation",
        [
            f"{row['method']} recoding{' (this release)' if row['is_release'] else ''}",
            *(
                f"{each['form']} ({percent(each['loss'])} lost)" if each["loss"] else each["form"]
                for each in row["columns"]
            ),
        ],
    )
    yield "left out", [_share(row["suppressed_share"])]
    yield (
        "measured",
        [
            f"{describe_check(check)}: {format_figure(explain_verdict(check).group, check)}"
            for check in row["checks"]
        ],
    )
    useful = [
        f"cross table of {' and '.join(each['columns'])}: {_share(each['variation'])} of the records moved"
        for each in row["cross_tables"]
    ]
    if row["target"] is not None:
        share = _share(row["target"]["information_kept"])
        useful.insert(0, f"information kept about {row['target']['column']}: {share}")
    if useful:
        yield "usefulness", useful


def _share(share: float | None) -> str:
    return WITHHELD if share is None else percent(share)
