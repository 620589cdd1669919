"""What to do next, in sentences: from what was measured, never a guess."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reid_sql.check.reports.words import asked, figure, limit, telling
from reid_sql.screen import percent

Page = Mapping[str, Any]
DONE: Final = "Every check is within its limit: the policy holds nothing against this release. Keep this report with it."


def next_steps(page: Page) -> list[str]:
    """Give the steps: what fails, which column does most to it, what could not be judged and why."""
    steps = [step for table in page["tables"] for step in _of_table(page, table)]
    return steps or [DONE]


def _of_table(page: Page, table: Page) -> Iterator[str]:
    checks = [check for check in page["checks"] if check["table"] == table["name"]]
    failing = [check for check in checks if check["verdict"] == "fail"]
    for check in failing:
        group = telling(check)
        where = (
            ""
            if not check["by"]
            else f" in {len([g for g in check['groups'] if g['verdict'] == 'fail'])} groups"
        )
        yield f"{table['name']}: bring {asked(check)} from {figure(group)} to {limit(check)}{where}."
    if failing:
        yield from _columns(table)
        yield "reid-sql advise POLICY measures each column, each pair and coarser values against every failing check."
    for check in checks:
        if check["verdict"] == "not judged":
            yield f"{table['name']}: {asked(check)} could not be judged: {telling(check)['why']}."
        if check["verdict"] == "no worse":
            yield f"{table['name']}: {asked(check)} is beyond its limit as it was in the baseline; plan how to meet it."


def _columns(table: Page) -> Iterator[str]:
    """Say which column drives the risk most."""
    measured = [each for each in table["columns"] if each["without"]]
    if not measured:
        return
    strongest = min(measured, key=lambda each: float(each["without"]["average_risk"]))
    risk = table["classes"] / max(1, table["records"] - table["records_dropped"])
    left, least = percent(strongest["without"]["average_risk"]), strongest["without"]["k"]
    yield (
        f"{table['name']}: {strongest['column']} drives the risk most; without it the average risk falls from {percent(risk)} "
        f"to {left} and the smallest class has {least:,} record{'' if least == 1 else 's'}. Leave it out, or release it coarser."
    )
