"""Choose the forms of a table to show side by side: those of least loss that the gate passes."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from reid_sql.check import gate
from reid_sql.check.duckdb_table import DuckDBRelease
from reid_sql.check.measuring import ShowProgress
from reid_sql.check.policy_model import Policy
from reid_sql.models.release.search import CountedNode
from reid_sql.release.choices import MAX_CHOICES, MAX_TRIES, Choice
from reid_sql.release.files import sql_file
from reid_sql.release.page import page
from reid_sql.release.transformation import Outcome, TableRelease, Transformation, transform


def choose_forms(
    policy: Policy,
    release: DuckDBRelease,
    table: TableRelease,
    baseline: Path | None,
    tell: ShowProgress,
) -> TableRelease:
    """Measure the forms of least loss by the gate, until enough of them meet the policy."""
    alone = replace(policy, tables=(release.table,))
    choices: list[Choice] = []
    for variant in islice(_variants(table), MAX_TRIES):
        if len(choices) == MAX_CHOICES or variant.form is None:
            break
        tell(f"{release.table.name}: form {len(choices) + 1} of {MAX_CHOICES} to choose from")
        made = transform(release, variant.form)
        report = gate.measure_policy(alone, [made], baseline)
        made.engine.drop()
        outcome = Outcome(alone, (variant,), report)
        if outcome.passed:
            choices.append(Choice(page(outcome)["tables"][0], report["checks"], sql_file(outcome)))
    return replace(table, choices=tuple(choices))


def _variants(table: TableRelease) -> Iterator[TableRelease]:
    """List the forms that may be released, the one of least loss first."""
    searched = table.result
    counted = sorted((each for each in searched.counted if each.outcome.cut), key=lambda each: each.loss)
    variants = [
        (
            node.loss,
            replace(
                table,
                method="global",
                local=None,
                transformation=_form_of(table, node),
                result=replace(searched, best=node, optimal=searched.optimal and node == searched.best),
            ),
        )
        for node in counted
    ]
    if table.local is not None:
        variants.append((table.local.losses[table.loss], replace(table, method="local")))
    yield from (variant for _, variant in sorted(variants, key=lambda each: each[0]))


def _form_of(table: TableRelease, node: CountedNode) -> Transformation | None:
    """Return the transformation of a node; that of the best one may have blank values."""
    form = table.transformation
    if form is None or node == table.result.best:
        return form
    rounds = max(node.outcome.rounds, 1) if form.rules or form.person is not None else 0
    levels = node.node[: len(form.hierarchies)]
    return replace(form, node=levels, cut=node.outcome.cut or 1, rounds=rounds, stages=())
