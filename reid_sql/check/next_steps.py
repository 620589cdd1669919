"""What a report says to do next, and what it answers of a first file, of which nobody wrote a policy."""

from collections.abc import Iterator, Sequence
from typing import Final

from reid_sql.charts.risk_charts import measured_columns, risk_of_all
from reid_sql.check.masking import ReportPage
from reid_sql.check.remarks import name_rows
from reid_sql.check.sentences import checks_of, deciding_group, find_table_cautions
from reid_sql.models.numerics.quantiles import percent

MAX_LISTED: Final = 5
STEP_PUBLISH: Final = "Every check is within its limit. Keep this report with the release."
STEP_CAUTIONS: Final = "{}: resolve each caution on the table by the lines below it, or accept it by its code. Then check again."
STEP_UNNAMED: Final = "{}: name the columns that single people out and that no check measures, or leave them out of the release."
STEP_RELEASE: Final = "{} writes the release that meets every check and loses least."
STEP_PREPARE: Final = STEP_RELEASE.format("reid-sql prepare POLICY --release FILE")


def next_steps(page: ReportPage, *, advise: bool = True) -> list[str]:
    """Give the steps: what fails, which column does most to it, what could not be judged and why.

    No column is advised against where a whole transformation is shown, which may release it as it is.
    """
    steps = [step for table in page["tables"] for step in _table_steps(page, table, advise=advise)]
    return list(dict.fromkeys(steps)) or [STEP_PUBLISH]


def _table_steps(page: ReportPage, table: ReportPage, *, advise: bool) -> Iterator[str]:
    """Sum up a table: how many checks fail and which, what drives the risk, what could not be judged."""
    name = table["name"]
    checks = checks_of(page, name)
    if failing := _with_verdict(checks, "fail"):
        beyond = (
            f"{name}: {_count_of(failing, checks)} beyond the limit: {_list_measures(failing)}."
        )
        yield f"{beyond} Do not release it as it is."
        if advise:
            yield from _strongest_column(table)
            yield STEP_PREPARE
    if open_ := _with_verdict(checks, "not judged"):
        groups = [deciding_group(check) for check in open_[:MAX_LISTED]]
        why = "; ".join(dict.fromkeys(group["why"].rstrip(".") for group in groups))
        unjudged = f"{_count_of(open_, checks)} not judged"
        yield f"{name}: {unjudged}: {_list_measures(open_)}. Why: {why}."
        if find_table_cautions(page, name).accepted:
            yield STEP_CAUTIONS.format(name)
    if any("unnamed_columns" in check.get("caution_codes", ()) for check in checks):
        yield STEP_UNNAMED.format(name)
    if accepted := _with_verdict(checks, "no worse"):
        beyond = f"{_count_of(accepted, checks)} beyond the limit as in the baseline"
        yield f"{name}: {beyond}: {_list_measures(accepted)}. Plan how to meet it."


# The first report on a file, of which nobody wrote a policy.

MOST_HELPFUL: Final = 3  # columns
NONE_HELPS: Final = "No single column drives the risk; omit or coarsen several."
NOT_SHOWN: Final = "How many of {:,} {} are the only one with their {} is not shown: the number, or that of all others, is small."


def unit_of_rows(page: ReportPage) -> str:
    """Name what the rows of the first table are: people, but where a caution says that they may not be."""
    checks = checks_of(page, page["tables"][0]["name"])
    return name_rows(code for check in checks for code in check.get("caution_codes", ()))


def describe_people_alone(page: ReportPage) -> str:
    """Say how many people, or records that may not be people, are the only one with their values."""
    table, unit = page["tables"][0], unit_of_rows(page)
    end = "." if unit == "people" else "; a person may have several."
    *columns, last = table["quasi_identifiers"]
    named = f"{', '.join(columns)} and {last}" if columns else last
    if table["records"] is None:
        return f"How many {unit} are the only one with their {named} is unknown: they could not be counted."
    people = table["records"] - (table["records_dropped"] or 0)
    sizes = table["class_sizes"] or [{"records": None}]
    alone = sizes[0]["records"]
    if alone is None:
        hidden = NOT_SHOWN.format(people, unit, named)
        return _describe_small_classes(sizes, people, f"{unit} share their {named}") or hidden
    if alone == 0:
        return f"None of {people:,} {unit} is the only one with their {named}{end}"
    verb = "is" if alone == 1 else "are"
    return f"{alone:,} of {people:,} {unit} {verb} the only one with their {named}{end}"


def _describe_small_classes(sizes: Sequence[ReportPage], people: int, share: str) -> str | None:
    """Say how many are in small classes, where the sizes above show it; else None.

    It is what all classes that are shown leave of all people, so that it says no more than they do.
    """
    shown = [each for each in sizes if each["records"] is not None]
    is_rest_small = bool(shown) and shown == sizes[-len(shown) :]
    if not is_rest_small or shown[0]["from"] < 3:  # noqa: PLR2004 - else all of the rest are alone
        return None
    few = people - sum(each["records"] for each in shown)
    fewer = f"with fewer than {shown[0]['from'] - 1} others"
    return f"{few:,} of {people:,} {share} {fewer}; how many are alone is not shown, as it, or the rest, is few."


def describe_columns_that_help(page: ReportPage) -> list[str]:
    """Name the columns whose omission lowers the average risk most, with what is left without each."""
    table, unit = page["tables"][0], unit_of_rows(page)
    risk = risk_of_all(table)
    columns = measured_columns(table)
    helpful = [
        each
        for each in sorted(columns, key=lambda each: each["without"]["average_risk"])
        if risk is None or percent(each["without"]["average_risk"]) != percent(risk)
    ]
    if columns and not helpful:
        return [NONE_HELPS]
    of_all = "" if risk is None else f", in place of {percent(risk)}"
    return [
        f"Omit {each['column']}, or release it coarser: without it {percent(each['without']['uniqueness'])} of "
        f"the {unit} are unique, and the average risk is {percent(each['without']['average_risk'])}{of_all}."
        for each in helpful[:MOST_HELPFUL]
    ]


def _with_verdict(checks: list[ReportPage], verdict: str) -> list[ReportPage]:
    return [check for check in checks if check["verdict"] == verdict]


def _count_of(some: list[ReportPage], checks: list[ReportPage]) -> str:
    return f"{len(some)} of {len(checks)} checks {'is' if len(some) == 1 else 'are'}"


def _list_measures(checks: list[ReportPage]) -> str:
    """Name the measures, each once."""
    names = list(dict.fromkeys(check["measure"] for check in checks))
    return ", ".join(names[:MAX_LISTED]) + (
        f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    )


def _strongest_column(table: ReportPage) -> Iterator[str]:
    """Say which column drives the risk most, where the figures tell; bounds may be equal."""
    columns = sorted(measured_columns(table), key=lambda each: each["without"]["average_risk"])
    if not columns:
        return
    strongest = columns[0]
    risk, least = risk_of_all(table), strongest["without"]["k"]
    without = strongest["without"]["average_risk"]
    if risk is not None and percent(risk) == percent(without):
        yield f"{table['name']}: no single column drives the risk; omit or coarsen several."
        return
    start = "" if risk is None else f" from {percent(risk)}"
    smallest = f"{least:,} record{'' if least == 1 else 's'}"
    yield (
        f"{table['name']}: {strongest['column']} drives the risk most; without it the average risk "
        f"falls{start} to {percent(without)} and the smallest class has "
        f"{smallest}. Omit it, or release it coarser."
    )
