"""What to do next, in sentences: from what was measured, never a guess."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reid_sql.charts.risk_charts import measured_columns, risk_of_all
from reid_sql.check.reports.words import telling
from reid_sql.models.numerics.percent import percent

Page = Mapping[str, Any]
SHOWN: Final = 5
DONE: Final = (
    "Every check is within its limit: the policy holds nothing against "
    "this release. Keep this report with it."
)
ADVICE: Final = (
    "reid-sql advise POLICY measures each column, each pair and coarser values against every failing check. "
    "reid-sql prepare POLICY finds the coarser form that meets them all and loses least, as SQL."
)


def next_steps(page: Page) -> list[str]:
    """Give the steps: what fails, which column does most to it, what could not be judged and why."""
    steps = [step for table in page["tables"] for step in _of_table(page, table)]
    return steps or [DONE]


def _of_table(page: Page, table: Page) -> Iterator[str]:
    """Sum up a table: how many checks fail and which, what drives the risk, what could not be judged."""
    checks = [check for check in page["checks"] if check["table"] == table["name"]]
    name = table["name"]
    if failing := _of(checks, "fail"):
        beyond = f"{name}: {_many(failing, checks)} beyond the limit: {_listed(failing)}."
        yield f"{beyond} Do not release it as it is."
        yield from _columns(table)
        yield ADVICE
    if open_ := _of(checks, "not judged"):
        why = "; ".join(dict.fromkeys(telling(check)["why"].rstrip(".") for check in open_[:SHOWN]))
        unjudged = f"{len(open_)} of {len(checks)} checks could not be judged"
        yield f"{name}: {unjudged}: {_listed(open_)}. Why: {why}."
    if kept := _of(checks, "no worse"):
        beyond = f"{name}: {_many(kept, checks)} beyond the limit as in the baseline: {_listed(kept)}."
        yield f"{beyond} Plan how to meet it."


def _of(checks: list[Page], verdict: str) -> list[Page]:
    return [check for check in checks if check["verdict"] == verdict]


def _many(some: list[Page], checks: list[Page]) -> str:
    return f"{len(some)} of {len(checks)} checks {'is' if len(some) == 1 else 'are'}"


def _listed(checks: list[Page]) -> str:
    """Name the measures, each once."""
    names = list(dict.fromkeys(check["measure"] for check in checks))
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _columns(table: Page) -> Iterator[str]:
    """Say which column drives the risk most."""
    found = measured_columns(table)
    if not found:
        return
    strongest = min(found, key=lambda each: float(each["without"]["average_risk"]))
    risk, least = risk_of_all(table), strongest["without"]["k"]
    start = "" if risk is None else f" from {percent(risk)}"
    told = "few records" if least is None else f"{least:,} record{'' if least == 1 else 's'}"
    yield (
        f"{table['name']}: {strongest['column']} drives the risk most; without it the average risk "
        f"falls{start} to {percent(strongest['without']['average_risk'])} and the smallest class has {told}. "
        "Leave it out, or release it coarser."
    )
