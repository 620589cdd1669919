"""Audit of published tables."""

from math import inf
from typing import Annotated, Final, Literal

from reid_sql.errors import OutOfDomainError
from reid_sql.function import Answer, Question, table_function
from reid_sql.models.tables import audit
from reid_sql.models.tables.audit import AuditedCell, LeastCount, PeopleWord
from reid_sql.models.tables.published_tables import PublishedRows, Reading
from reid_sql.models.tables.sums import SumRules
from reid_sql.parameters import Choice, Labels, Names, Number, Text
from reid_sql.reductions.tables import DOMINANCE_RULE, P_SHARE, PUBLISHED_ROWS, check_dominance

UNBOUNDED: Final = 1e9
HIDDEN_COUNT: Final = Number(
    "a whole number of people from 0 to 1e+9",
    "pass what the publisher's rule tells of a hidden count, such as 4",
    0.0,
    UNBOUNDED,
    whole=True,
)
ROUNDING_BASE: Final = Number(
    "a whole number from 0 to 1e+6",
    "pass the number that counts are multiples of, such as 5, 1 for exact counts, or 0 to guess",
    0.0,
    1e6,
    whole=True,
)
DISTANCE: Final = Number(
    "a whole number from 0 to 1e+6",
    "pass by how much a published count may differ from the true one, such as 4, or 0 for half the base",
    0.0,
    1e6,
    whole=True,
)
ROUNDING_RULE: Final = Choice(("none", "opensafely"))
RuleWord = Annotated[Literal["none", "opensafely"], ROUNDING_RULE]
REDACTED, REDACTED_BASE = 7, 5  # of OpenSAFELY
COUNT_COLUMN: Final = Text("the name of a column of counts", "write count := 'column'")
STATUS_COLUMN: Final = Text(
    "the name of a column that marks hidden counts", "write status := 'column'", optional=True
)
SUM_COLUMN: Final = Text(
    "the name of a column of sums", "write value := 'value_sum'", optional=True
)
LARGEST_COLUMN: Final = Text(
    "the name of a column of the largest contributions", "write largest := 'column'"
)
LABELS: Final = Labels()


@table_function(
    "tables, k, columns, count, total, people, lowest, highest, base, status, value, largest, dominance, "
    "p_percent, within, not_total, rule",
    answer=Answer.ROWS,
    reduction=PUBLISHED_ROWS,
    question=Question.RELEASES,
    source="Fischetti & Salazar 2001 (attacker's programmes); Heller & Tompkins 1956; Hundepool et al. 2012",
)
def audit_tables(  # noqa: PLR0917 - what an analyst says of the tables
    tables: PublishedRows,
    k: LeastCount = 5,
    columns: Names = None,
    count: Annotated[str, COUNT_COLUMN] = "records",
    total: Annotated[list[str] | None, LABELS] = None,
    people: PeopleWord = "same",
    lowest: Annotated[int, HIDDEN_COUNT] = 1,
    highest: Annotated[int, HIDDEN_COUNT] = int(UNBOUNDED),
    base: Annotated[int, ROUNDING_BASE] = 0,
    status: Annotated[str | None, STATUS_COLUMN] = None,
    value: Annotated[str | None, SUM_COLUMN] = None,
    largest: Annotated[str, LARGEST_COLUMN] = "largest",
    dominance: Annotated[tuple[float, ...], DOMINANCE_RULE] = (1.0, 0.5),
    p_percent: Annotated[float, P_SHARE] = 0.1,
    within: Annotated[int, DISTANCE] = 0,
    not_total: Annotated[list[str] | None, LABELS] = None,
    rule: RuleWord = "none",
) -> list[AuditedCell]:
    """Compute what published tables give away together of their hidden cells, and of groups between them.

    Each table has columns of categories and a column of counts, NULL where a count is hidden. NULL in a
    column of categories marks a total, or the texts `total`. docs/published_tables.md lists how marks of
    other programs, undeclared totals and rounded counts are read. The tables may share columns: what one
    totals, another may show. A column that a table lacks is totalled there. What `safe_table` answers can be
    audited as it is.

    Each hidden cell has a row, with the smallest and largest count that fit everything published, and the sum
    of published cells that reveals it. `finding` is `recovered` (known exactly), `below_k` (known to be below
    `k`), or `protected`. A row of the kind `difference` is a group of fewer than `k` people that a total has
    besides its parts; one of the kind `published` is a count below `k` that is shown; one of the kind
    `column` is `not_audited`: it has percentages or other figures, which may reveal hidden counts, or may be
    another column under another name. `revealed_by` says whether it takes several tables, or only the
    publisher's rule. An attacker knows that a hidden count is a whole number from `lowest` to `highest`: 1,
    as cells of nobody are not listed, and no upper bound, unless the publisher's rule tells one. If a finding
    assumes that no hidden count is 0, its status is `zeros_excluded`.

    Counts that are rounded to multiples of a `base`, such as 5, are bounds: they differ from the true ones by
    at most `within`, half the base if it is 0 (`base - 1` for random or controlled rounding), and each has a
    row of the kind `rounded`. A `base` of 0 is guessed if the counts have a common divisor that chance does
    not explain; the status is then `base_guessed`.

    With `people := 'nested'`, each table counts some of the people of the one before, as after a withdrawal.
    Else all count the same people, and a column with one category in all tables, such as a sex, may say that
    a table is of these people. A column with one category in each table and others between them, such as the
    year of publication, is left out, and the status says so: always if nested, else if all counts agree
    without it. Where an interval is not proved to be exact, the status says so. Refuses tables that no people
    can make, such as rounded ones without their `base`.

    With `value`, a column of sums, the audit has a row of the kind `sum` for each hidden sum, and for each
    shown one that reveals too much. The auditor alone adds the column `largest`: a list of the largest
    contributions to the sum, such as `max(turnover, 2)`. `largest_low` and `largest_high` are what the
    nearest attacker computes of the largest contribution, and `needed` is how large it must be possible by
    `dominance` and `p_percent`, as in `safe_table`; the finding is `estimated` where it is not. Attackers are
    anyone (of the n largest together, for dominance), the second largest contributor, and a contributor of
    another hidden cell. They know that no contribution is negative, unless a shown sum is.

    >>> import numpy as np
    >>> texts = ['{"sex": "F", "records": null}', '{"sex": "M", "records": 8}', '{"records": 9}']
    >>> [row] = audit_tables(PublishedRows(np.array([1, 1, 2]), texts))
    >>> row.cell, row.finding, row.low, row.revealing_sum
    ('sex = F', 'recovered', 1, '[total] - [sex = M]')
    """
    most = inf if highest >= UNBOUNDED else highest
    is_redacted = rule == "opensafely"
    if is_redacted and (base or within):
        raise OutOfDomainError(
            f"base and within must be left out with rule := 'opensafely', got base {int(base)} and within {int(within)}; leave one out"
        )
    known = (lowest, most, REDACTED_BASE if is_redacted else int(base))
    reading = Reading(
        columns or None,
        count,
        tuple(total or ()),
        *known,
        status,
        value,
        largest,
        int(within),
        not_total=tuple(not_total or ()),
        redacted=REDACTED if is_redacted else 0,
    )
    rules = SumRules(*check_dominance(dominance), float(p_percent))
    return audit.audit_tables(tables, reading, int(k), nested=people == "nested", rules=rules)
