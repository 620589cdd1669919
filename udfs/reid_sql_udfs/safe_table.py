"""A table of aggregates, with the cells that are unsafe."""

from reid_sql.function import Answer, Question, table_function
from reid_sql.models.classes.disclosure import Classes
from reid_sql.reductions.tables import SAFE_CELLS


@table_function(
    "tbl, by, value, entity, k, dominance, p_percent, totals, suppress, protection, zeros, nulls, "
    "base, output, levels, tables, published",
    answer=Answer.REDUCTION,
    reduction=SAFE_CELLS,
    question=Question.RELEASES,
    source="Hundepool et al. 2012 (minimum frequency, (n, k) dominance, p % rule, secondary suppression); "
    "Cox & Ernst 1982 (controlled rounding)",
)
def safe_table(cells: Classes) -> Classes:
    """Count a table by some columns, and say of each cell by which rules it is unsafe to publish.

    Each combination of values of `by` has a row. Nothing is hidden unless asked. `unsafe` lists the rules
    that a cell breaks: `few_people` (fewer than `k`), `dominance` (the n largest contributors have more than
    a share of the total; `dominance := [n, share]`), `p_percent` (the total without the two largest is less
    than `p_percent` of the largest, so that the second estimates the first that closely), and
    `all_in_one_cell` (everybody of a row or column is in this cell, so that the value is known of all of
    them; the other cells are zeros). Where a category has one category of another column in the whole table,
    as pregnant has sex, its finer cells have `determined` in place of that rule, as each repeats one fact.
    Contributions of negative numbers count by their absolute values; `value_sum` is the plain sum. One row
    per person is assumed. With `entity`, people are counted, and contributions are added up for each before
    the rules. Refuses a value that is no finite number.

    `totals := 'margins'` adds a row for each total, `'rollup'` those from the last column on.
    `levels := ['region > town', 'clinic > town']` names columns that are levels of one hierarchy: a town
    has no total over regions. `tables := ['region, sex', 'region, drug']` lists several tables of columns
    of `by`, protected together; `loss` is of them all. Refused are tables of which one has towns and
    another regions, if no level says that each town has one. `published` are earlier tables of the same
    people: the attacker knows them, what they hide stays hidden, and an unsafe cell that follows from
    them is 'unprotected'. A total has NULL in the columns that `total_over` lists; a NULL elsewhere is a
    category. `suppress := 'primary'` makes the figures of cells that are unsafe by the first three rules
    NULL; hiding does not help against the fourth. `'secondary'` hides more cells, until each of these has
    an interval of at least `protection` people for whoever adds up the rest; 0 stands for `k`, by which
    nobody can tell that a cell is below it. An unsafe sum must also possibly be larger by what its rule
    asks, for an attacker who knows that no sum is negative. `status` is 'published', 'unsafe' for what
    would be hidden, 'primary', 'secondary' or 'unprotected', `loss` the share of the records in hidden
    cells. Publish neither of these columns nor `unsafe`: with `output := 'publishable'` they are NULL, as
    is `largest_share`, and with `entity` also `people`.

    `suppress := 'rounding'` hides nothing and rounds each count to a multiple of `base`, so that the totals
    still add up, and each count is less than `base` from its true value; multiples stay. The sum of the
    distances is the least in tables of two columns, and in small ones. Where no such table is found, the
    `status` of counts that are `base` or further away is 'beyond_base', else 'rounded'. `loss` is the sum of
    the distances, as a share of the records. `value` and `entity` are refused. Publishable rows are without
    those that are rounded to 0, unless `zeros := 'list'`, as a listed cell would be known to have people.

    Cells of nobody are no rows. `zeros := 'list'` adds all that the categories of the table make, with
    `unsafe` 'nobody'. They are not hidden: merge categories where that discloses something, and ignore what
    is impossible.

    >>> safe_table(Classes({"sex": ["F", "M"]}, [3, 9], [3, 9])).records
    [3, 9]
    """
    return cells
