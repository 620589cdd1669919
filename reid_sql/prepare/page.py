"""The outcome of preparing: a dictionary without small counts, CSV rows, sentences, a terminal page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rich.console import Group, RenderableType

from reid_sql.check.masked_tables import STATUS_WITHHELD
from reid_sql.check.masking import round_figures
from reid_sql.check.terminal import verdict_page
from reid_sql.models.generalization.lattice import LOSS_LABELS, DistinctRecords, Entropy, make_loss
from reid_sql.models.generalization.search import MAX_NODES, CountedNode
from reid_sql.models.generalization.suppression import (
    CellSuppression,
    PeopleRules,
    SizeRules,
    apply_suppression,
    merge_people,
    suppress_cells,
)
from reid_sql.models.numerics.quantiles import percent
from reid_sql.prepare.local_page import (
    limit_words,
    local_columns,
    local_cross_tables,
    local_losses,
    local_target,
)
from reid_sql.prepare.usefulness import cross_table_words, describe_global, describe_target
from reid_sql.terminal.console import ONE_ROW_ONE_PERSON, FigureTable, Text

if TYPE_CHECKING:
    from reid_sql.prepare.transformation import Outcome, TableRelease

Page = dict[str, Any]
FORMAT: Final = "reid-sql release 1"
ENTROPY: Final = "entropy"
SUPPRESSION: Final = (
    *("suppressed_share", "suppressed_below", "suppressed_for", "entity"),
    *("blank_share", "blank_columns"),
)
DIGITS: Final = 4  # of a loss
OF_CLASS_SIZES: Final = ("discernibility", "class_size")  # losses that are sums over the classes
# In the JSON alone: lists of the table's own, and what a row has under another name.
LEFT_OUT: Final = {
    *("name", "loss", "columns", "columns_released", "columns_left_out"),
    *("columns_blank", "columns_numbered"),
    *("frontier", "cross_tables", "choices"),
}
COMPLETE, OTHER_NULLS, TOO_LARGE, TIME_LIMIT = "complete", "other_nulls", "too_large", "time_limit"
UNPROVED: Final = {
    OTHER_NULLS: "Less may be possible: the search takes NULL for a value, and the policy does not.",
    TOO_LARGE: (
        "{forms:,} transformations are too many to search all: columns became finer one by one, as long as "
        "the policy is met. Fewer quasi-identifiers or shorter hierarchies allow a proof."
    ),
}
OMITTED: Final = (
    "Left out of the release, as no check names them or the policy leaves them out: {} (prepare.keep lists "
    "columns to keep)."
)
NUMBERED: Final = (
    "In place of {}, the release has random numbers, one for each person, drawn when its query runs; no key "
    'leads back. Write prepare.keep = ["{}"] to release the identifier itself.'
)
NONE: Final = (
    "No transformation of the table was found that meets the policy. Allow more suppression, more time, "
    "other hierarchies or a less strict limit."
)


def page(made: "Outcome") -> Page:
    """Describe the release of each table, with the gate's report on it."""
    described: Page = round_figures(
        {
            "format": FORMAT,
            "policy": made.policy.name,
            "policy_sha256": made.policy.sha256,
            "verdict": made.verdict,
            "exit_code": made.exit_code,
            "tables": [_table_page(made, table) for table in made.tables],
            "report": made.report,
        }
    )
    return described


def _table_page(made: "Outcome", table: "TableRelease") -> Page:
    best, below = table.result.best, made.policy.mask_below
    losses: dict[str, Page | None] = {
        "global": _losses(table, best, below) if best else None,
        "local": local_losses(table.local) if table.local else None,
    }
    if _hides_class_sizes(made, table.table.name):
        losses = {
            name: each and each | dict.fromkeys(OF_CLASS_SIZES) for name, each in losses.items()
        }
    minimized = {name: None if each is None else each[table.loss] for name, each in losses.items()}
    bound = minimized["global"]
    shipped = table.shipped
    return {
        "name": table.table.name,
        "loss": table.loss,
        "method": "local" if table.is_local else "global",
        "global_loss": minimized["global"],
        "local_loss": minimized["local"],
        "partition": table.local.strategy if table.is_local and table.local else None,
        "recovered": _few(table.local.recovered_share) if table.is_local and table.local else None,
        "optimal": table.proved and best is not None and not table.is_local,
        "none_meets": table.proved and best is None and not table.is_local,
        "least_possible_loss": None
        if bound is None or table.is_local
        else min(_few(table.result.bound), bound),
        "search_ended": _search_end(table),
        "forms": table.result.nodes,
        "forms_counted": len(table.result.counted),
        "seconds": round(table.seconds, 1),
        "measured_on_the_release": sorted(set(table.left_to_gate)),
        **(_global_release(table, best, below)),
        **(_local_release(table, below) if table.is_local else {}),
        "losses": losses["local" if table.is_local else "global"],
        "columns_released": shipped if table.form else [],
        "columns_left_out": table.omitted,
        "columns_blank": table.blank,
        "columns_numbered": [table.numbered] if table.form and table.numbered else [],
        "k": max(2, table.requirement.k),  # the size below which classes are small
        "frontier": frontier_of(table, below),
        "choices": [dict(each) for each in table.choices],
        "cautions": list(table.cautions),
    }


def _global_release(table: "TableRelease", best: CountedNode | None, below: int) -> Page:
    """Describe what global recoding leaves out, how well it predicts the target, and its columns."""
    described: Page = dict.fromkeys(SUPPRESSION) | {"target": None, "cross_tables": []}
    if best:
        suppressed = _shown_suppression(table, best, below)
        described = _suppression(table, best, below) | {
            "target": describe_target(table.target, table.lattice, best.node, suppressed, below),
            "cross_tables": describe_global(
                table.cross, table.lattice, best.node, suppressed, below
            ),
        }
    return described | {"columns": _column_pages(table)}


def _local_release(table: "TableRelease", below: int) -> Page:
    """Describe local recoding, which leaves out no record."""
    if table.local is None:
        without = [
            each | {"level": None, "form": None, "loss": None} for each in _column_pages(table)
        ]
        return dict.fromkeys(SUPPRESSION) | {"target": None, "cross_tables": [], "columns": without}
    nothing = {
        "suppressed_share": 0.0,
        "blank_share": 0.0,
        "suppressed_for": [],
        "blank_columns": [],
    }
    return nothing | {
        "suppressed_below": None,
        "entity": None,
        "target": local_target(table, table.local, below),
        "cross_tables": local_cross_tables(table, table.local, below),
        "columns": local_columns(table, table.local, below),
    }


def _hides_class_sizes(made: "Outcome", name: str) -> bool:
    """Whether the report on the release masks how many classes or records are of some size.

    The number of classes and the sum of their squares, next to what is shown, would give them.
    """
    reported = (
        [each for each in made.report["tables"] if each["name"] == name] if made.report else []
    )
    sizes = [part["records"] for each in reported for part in each["class_sizes"]]
    return None in sizes or any(each["classes"] is None for each in reported)


def _few(loss: float) -> float:
    return float(f"{loss:.{DIGITS}g}")


def _share(records: int, table: "TableRelease", below: int) -> float | None:
    """Return the share of records that are suppressed or blank; None masks a small number."""
    return None if 0 < records < below else records / table.records


def _cell_suppression(table: "TableRelease", best: CountedNode) -> CellSuppression:
    """Return the blank cells and suppressed classes of the transformation."""
    distinct = table.lattice.records_at(best.node)
    if table.transformation is not None and table.transformation.stages:
        return suppress_cells(distinct, best.outcome.cut or 1, table.protected)
    away = (table.rules or SizeRules()).gone(best.node, distinct, best.outcome)
    return CellSuppression((), np.zeros(distinct.codes.shape, dtype=np.bool_), away)


def _suppression(table: "TableRelease", best: CountedNode, below: int) -> Page:
    """Describe the suppressed records, those with blank values, and the blank columns."""
    distinct, made = table.lattice.records_at(best.node), _cell_suppression(table, best)
    form = table.transformation
    return {
        "suppressed_share": _suppressed_share(table, distinct, made, below),
        "suppressed_below": None if form is None or form.cut <= 1 else form.cut,
        "entity": table.table.entity,
        "blank_share": _share(int(distinct.counts[made.blank.any(axis=0)].sum()), table, below),
        "suppressed_for": [f"{rule.label} of {column}" for column, rule in form.rules]
        if form
        else [],
        "blank_columns": [list(stage) for stage in form.stages] if form else [],
    }


def _suppressed_share(
    table: "TableRelease", distinct: DistinctRecords, made: CellSuppression, below: int
) -> float | None:
    """Return the share of records that are left out; None masks few records, or those of few people."""
    few = (
        table.table.entity is not None and 0 < PeopleRules.count_people(distinct, made.gone) < below
    )
    return None if few else _share(int(distinct.counts[made.gone].sum()), table, below)


def _shown_suppression(table: "TableRelease", best: CountedNode, below: int) -> CellSuppression:
    """Return what is blank and suppressed; nothing if it is of few records, whose number would follow."""
    distinct, made = table.lattice.records_at(best.node), _cell_suppression(table, best)
    shares = _suppressed_share(table, distinct, made, below)
    blank = int(distinct.counts[made.blank.any(axis=0)].sum())
    if shares is None or 0 < blank < below:
        return CellSuppression((), np.zeros_like(made.blank), np.zeros_like(made.gone))
    return made


def _losses(table: "TableRelease", best: CountedNode, below: int) -> Page:
    """Return the losses; those of the levels alone where few records are suppressed or have blank values."""
    distinct, made = table.lattice.records_at(best.node), _shown_suppression(table, best, below)
    after = apply_suppression(distinct, made)
    after = after if table.table.entity is None else merge_people(after)
    none = np.zeros(len(after.counts), dtype=np.bool_)
    others = {
        word: make_loss(word, table.lattice).of(best.node, after, none)
        for word in LOSS_LABELS
        if word != ENTROPY
    }
    entropy = Entropy(table.lattice)
    lost = entropy.of_cells(best.node, distinct, made.blank | made.gone)
    return {
        word: _few(each)
        for word, each in {ENTROPY: entropy.least(best.node) + lost, **others}.items()
    }


def _column_pages(table: "TableRelease") -> list[Page]:
    """Describe each column: its hierarchy, its level, and the share of its bits that the level loses."""
    many = len(table.hierarchies)  # people are one more column of the lattice
    bits = Entropy(table.lattice).columns[:many]
    node = table.transformation.node if table.transformation else (0,) * len(table.hierarchies)
    return [
        {
            "column": hierarchy.column,
            "level": level if table.transformation else None,
            "form": hierarchy.words(level) if table.transformation else None,
            "loss": _few(lost[level] / lost[-1]) if table.transformation and lost[-1] else None,
            "weight": weight,
            "limit": limit_words(table, hierarchy.column),
            "hierarchy": (names := [hierarchy.words(at) for at in range(hierarchy.levels)]),
            "ladder": names,  # the older name of the key
        }
        for hierarchy, level, lost, weight in zip(
            table.hierarchies, node, bits, table.lattice.weights[:many], strict=True
        )
    ]


def frontier_of(table: "TableRelease", below: int) -> list[Page]:
    """List the evaluated transformations to which no other is superior in both risk and loss.

    The risk is the share of records in classes below k, before suppression. A masked share is given as
    the largest that the mask hides.
    """
    entropy = Entropy(table.lattice)
    lost = [
        (counted_node.below_k, entropy.least(counted_node.node), counted_node)
        for counted_node in table.result.counted
    ]
    shown: list[Page] = []
    for risk, loss, counted_node in sorted(lost, key=lambda each: each[:2]):
        shown_risk = max(risk, below / table.records) if risk else 0.0
        if not shown or (
            loss < shown[-1]["generalisation_loss"] and shown_risk > shown[-1]["records_below_k"]
        ):
            shown.append(
                {
                    "levels": list(counted_node.node[: len(table.hierarchies)]),
                    "records_below_k": shown_risk,
                    "generalisation_loss": loss,
                    "meets_class_sizes": counted_node.outcome.cut is not None,
                }
            )
    return [each | {"generalisation_loss": _few(each["generalisation_loss"])} for each in shown]


def release_rows(page: Page) -> list[Page]:
    """Return a row for each column: its level and loss, then the outcome for its table."""
    return [
        {
            "table": table["name"],
            "verdict": page["verdict"],
            **column,
            "minimised": table["loss"],
            **{name: value for name, value in table.items() if name not in LEFT_OUT},
        }
        for table in page["tables"]
        for column in table["columns"]
    ]


def sentences(table: Page) -> Iterator[str]:
    """Describe a table's transformation in the order in which it is applied, or say what to change."""
    if table["losses"] is None:
        yield f"{NONE}{' The search proved that none exists.' if table['none_meets'] else ''}{_limits(table)}"
        return
    if table["blank_columns"]:
        listed = "; ".join(", ".join(stage) for stage in table["blank_columns"])
        share = table["blank_share"]
        few = "few" if share is None else percent(share)
        yield f"Records of rare combinations have blank values, '*': {few}, in one of {listed}."
    yield _suppressed(table)
    yield _lost(table)
    if table["recovered"] is not None:
        known = "as both ends of a range are values of its people, and by the query"
        yield f"A reader can recover about {percent(table['recovered'])} of the loss, {known} (downcoding)."
    if table["target"] is not None:
        yield _target(table["target"])
    for each in table["cross_tables"]:
        yield cross_table_words(each)
    yield from _column_sentences(table)


def _column_sentences(table: Page) -> Iterator[str]:
    """Name the columns that the release lacks, and what it has in place of people's identifier."""
    if table["columns_blank"]:
        yield f"Left out, as each record would show '*': {', '.join(table['columns_blank'])}."
    if table["columns_left_out"]:
        yield OMITTED.format(", ".join(table["columns_left_out"]))
    for name in table["columns_numbered"]:
        yield NUMBERED.format(name, name)


def steps(page: Page) -> list[str]:
    """Describe the release table by table, for the report on it."""
    return [
        f"{table['name']}: {'; '.join(_forms(table))}. {' '.join(sentences(table))}"
        for table in page["tables"]
    ]


def _limits(table: Page) -> str:
    """Name the limits of columns that every transformation had to keep to."""
    limited = [f"{each['column']} {each['limit']}" for each in table["columns"] if each["limit"]]
    return (
        f" The policy also limits columns: {'; '.join(limited)}. Relax one of these."
        if limited
        else ""
    )


def _forms(table: Page) -> list[str]:
    local = table["method"] == "local"
    unchanged = [f"{each['column']} as it is" for each in table["columns"]]
    changed = [
        each["form"]
        for each in table["columns"]
        if each["level"] or (local and each["form"] is not None and each["form"] not in unchanged)
    ]
    return changed or ["every column as it is"]


def _suppressed(table: Page) -> str:
    cut, share = table["suppressed_below"], table["suppressed_share"]
    if share == 0 or (cut is None and not table["suppressed_for"]):
        return "No record is left out."
    few = (
        "few records (their number is not shown)"
        if share is None
        else f"{percent(share)} of the records"
    )
    if table["entity"] is not None:
        return f"Left out: {few}, all those of people with a combination that fewer than {cut} people have."
    small = [] if cut is None else [f"that fewer than {cut} records have"]
    return f"Left out: {few}, of combinations {', or '.join([*small, *table['suppressed_for']])}."


def _lost(table: Page) -> str:
    minimized = table["losses"][table["loss"]]
    lost = STATUS_WITHHELD if minimized is None else percent(minimized)
    weighted = (
        ", weighted by column" if any(each["weight"] != 1 for each in table["columns"]) else ""
    )
    words = f"Loss ({LOSS_LABELS[table['loss']]}{weighted}): {lost}"
    if table["method"] == "local":
        return f"{words} by local recoding. {_global_loss(table)}"
    if table["optimal"]:
        before = " before values are blank" if table["blank_columns"] else ""
        return f"{words}, the least of all transformations that meet the policy{before}."
    if table["search_ended"] != TIME_LIMIT:
        return f"{words}. {UNPROVED[table['search_ended']].format(**table)}"
    forms = f"{table['forms_counted']:,} of {table['forms']:,} transformations"
    least = table["least_possible_loss"]  # None if the loss is withheld
    possible = f": a loss of {percent(least)} may be possible" if least else ""
    cut = f"The search was cut off at the time limit, after {forms}{possible}"
    return f"{words}. {cut}; raise prepare.time_limit to search all."


def _search_end(table: "TableRelease") -> str:
    """Say why the search of global recoding ended."""
    if table.result.optimal:
        return COMPLETE if table.proved else OTHER_NULLS
    return TOO_LARGE if table.result.nodes > MAX_NODES else TIME_LIMIT


def _global_loss(table: Page) -> str:
    """Compare with global recoding."""
    if table["local_loss"] is None:
        return "The loss by global recoding is withheld, too."
    if table["global_loss"] is None:
        return "No transformation by global recoding was found that meets the policy."
    return (
        f"The best transformation found by global recoding loses {percent(table['global_loss'])}."
    )


def _target(target: Page) -> str:
    """Describe how well the target is predicted before and after."""
    share_kept = target["information_kept"]
    if share_kept is None:
        return (
            f"{target['column']}: the other columns did not predict it before, so nothing is lost."
        )
    before, after = target["original"], target["released"]
    errors = f"wrong in {percent(before['error'])} of the records before, {percent(after['error'])} after"
    by = f"by {', '.join(before['by'])} before, by {', '.join(after['by']) or 'nothing'} after"
    guess = f"{percent(target['expected_error'])} by its most frequent value"
    words = f"Target {target['column']}: {percent(share_kept)} of the information about it is kept;"
    return f"{words} the best table is {errors} ({by}; {guess})."


def release_page(page: Page, width: int) -> RenderableType:
    """Show each table's transformation, then the gate's verdict on the release."""
    parts: list[RenderableType] = [part for table in page["tables"] for part in _table_parts(table)]
    report = page["report"]
    return Group(
        *parts, verdict_page(report, width) if report else Text(ONE_ROW_ONE_PERSON, style="dim")
    )


def _table_parts(table: Page) -> list[RenderableType]:
    title = Text(
        f"{table['name']}: {table['forms_counted']:,} of {table['forms']:,} transformations evaluated",
        style="bold",
    )
    lines = [Text(each) for each in sentences(table)]
    lines += [Text(each, style="yellow") for each in table["cautions"]]
    if table["losses"] is None:
        return [title, *lines, ""]
    shown = FigureTable(header_style="bold")
    for name in ("column", "in the release"):
        shown.add_column(name)
    shown.add_column("loss", justify="right")
    for each in table["columns"]:
        words = each["form"].removeprefix(f"{each['column']} ")
        shown.add_row(Text(each["column"]), Text(words), percent(each["loss"] or 0.0))
    return [title, shown, *lines, ""]
