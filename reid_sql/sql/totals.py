"""Which sets of totals a table of aggregates lists: of all columns, of hierarchies, and of several tables.

Tables that do not show how their columns hang together are refused.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, combinations, pairwise, permutations
from typing import Final, NamedTuple

from reid_sql.errors import OutOfDomainError, suggestion
from reid_sql.parameters import ColumnNames, Places, fold_case, list_text

REFUSAL_UNLINKED: Final = (
    "tables must show how their columns hang together, got '{0}', which determines '{1}' of another table; "
    "pass levels := ['{1} > {0}'], or name both in each table of '{0}'"
)
REFUSAL_TOGETHER: Final = (
    "tables must show how their columns hang together, got '{0}', which determine '{1}' of another table; "
    "name all of these in each table of '{0}'"
)
REFUSAL_REMAINDER: Final = (
    "tables must not subtract to few people, got '{0}', of which some values have one value of '{1}' in another "
    "table; name all of these in each table of '{0}'"
)
# Of a column that determines another: were the records of a category drawn from all records, so many would
# have another category of the other column. Of independent columns, 5 % are taken for determined: e^-3.
MIN_EXPECTED_DISAGREEMENTS: Final = 3


def _read_sets(
    by: ColumnNames, name: str, texts: Sequence[str] | None, sign: str
) -> list[list[int]]:
    """The places in `by` of the columns of each text, which a sign separates."""
    places = {fold_case(column): place for place, column in enumerate(by)}
    sets = [[fold_case(part.strip()) for part in each.split(sign)] for each in texts or ()]
    for part in chain(*sets):
        if part not in places:
            raise OutOfDomainError(
                f"{name} must be of columns of by, separated by {sign}, got '{part}'; {suggestion(part, list(by))}"
            )
    return [[places[part] for part in each] for each in sets]


def read_levels(by: ColumnNames, levels: Sequence[str] | None) -> tuple[Places, ...]:
    """The places of the columns that are levels of each hierarchy."""
    hierarchies = _read_sets(by, "levels", levels, ">")
    if any(len(each) < 2 or len(each) > len({*each}) for each in hierarchies):  # noqa: PLR2004
        raise OutOfDomainError(
            f"levels must be of two columns or more, each named once in a hierarchy, the coarsest first, got {list_text(levels)}; write it like ['region > town']"
        )
    return tuple(map(tuple, hierarchies))


def list_totals(
    by: ColumnNames,
    totals: str,
    hierarchies: Sequence[Places],
    tables: Sequence[str] | None,
) -> tuple[Places, ...]:
    """The places that are totalled in each set of cells; a level is totalled where a coarser one is."""
    all_columns = set(range(len(by)))
    shown = list(map(set, _read_sets(by, "tables", tables, ","))) or [all_columns]
    for table in shown:
        for hierarchy in hierarchies:
            below = [place for place, level in enumerate(hierarchy) if level in table]
            table |= {*hierarchy[: max(below, default=-1) + 1]}
    _refuse_cycle(by, shown)
    sets = (
        tuple(sorted((all_columns - table).union(totalled)))
        for table in shown
        for totalled in _totalled(sorted(table), totals)
    )
    return tuple(each for each in dict.fromkeys(sets) if is_nested(each, hierarchies))


def is_nested(totalled: Collection[int], hierarchies: Sequence[Sequence[int]]) -> bool:
    """Whether each level is totalled where a coarser one of its hierarchy is."""
    return not any(
        level in totalled and finer not in totalled
        for chain in hierarchies
        for level, finer in pairwise(chain)
    )


def _refuse_cycle(by: ColumnNames, tables: Sequence[Collection[int]]) -> None:
    """Refuse tables that limit each other without sharing all columns, as a and b, b and c, a and c do.

    A column of one table alone, and a table within another, link nothing: what is left is a cycle, as in the
    reduction of Graham 1979, and Yu & Ozsoyoglu 1979.
    """
    left, before = {*map(frozenset, tables)}, None
    while left != before:
        before = left
        for place in range(len(by)):
            if sum(place in each for each in left) == 1:
                left = {each - {place} for each in left}
        left = {each for each in left if not any(each < other for other in left)}
    if len(left) > 1:
        raise OutOfDomainError(
            f"tables must not share columns in a circle, got {len(left)} that do; add a table of all their columns"
        )


def list_margins(
    columns: int, listed: Sequence[Places], hierarchies: Sequence[Sequence[int]]
) -> tuple[Places, ...]:
    """The sets with one column more that are totalled than in a set that is listed, and are not listed."""
    wider = (
        tuple(sorted({*totalled, place}))
        for totalled in listed
        for place in range(columns)
        if place not in totalled
    )
    return tuple(
        each for each in dict.fromkeys(wider) if each not in listed and is_nested(each, hierarchies)
    )


class Unlinked(NamedTuple):
    """Columns of a set of cells, others of a set without them, shown together by none, and what both show.

    The first are one column, or all of their set.
    """

    ones: Places
    others: Places
    shared: Places


def _list_unlinked(width: int, totals: Sequence[Collection[int]]) -> list[Unlinked]:
    """The columns by which two sets of cells may subtract, in the places of the columns.

    If the one determines the others, as a town its region, cells by the one are sums of cells by the others,
    and no equation says so: it would be of the set that shows the others beside the first. All columns of a
    set may do so together, as adults and children the size of a household. Of what both sets show, only the
    most is listed.
    """
    shown = [frozenset(range(width)) - {*each} for each in totals]
    unlinked: dict[tuple[Places, frozenset[int]], set[frozenset[int]]] = {}
    for first, second in permutations(shown, 2):
        for others in _subsets(second - first):
            if not any(first | others <= each for each in shown):
                for ones in {*((one,) for one in first - second), tuple(sorted(first))}:
                    unlinked.setdefault((ones, others), set()).add(first & second)
    listed = [
        Unlinked(ones, tuple(sorted(others)), tuple(sorted(each)))
        for (ones, others), shared in unlinked.items()
        for each in shared
        if not any(each < more for more in shared)
    ]
    return sorted(listed, key=lambda each: (len(each.ones), each))


def refuse_unlinked(
    by: ColumnNames, totals: Sequence[Collection[int]], k: int, *, counts_people: bool
) -> dict[str, str]:
    """Why sets of cells may subtract to few people, by the test of reid_base that it is met by."""
    unlinked: dict[str, str] = {}
    for each in _list_unlinked(len(by), totals):
        ones, others = (
            "' and '".join(by[place] for place in places) for places in (each.ones, each.others)
        )
        if len(each.others) == 1:
            rule = REFUSAL_UNLINKED if len(each.ones) == 1 else REFUSAL_TOGETHER
            unlinked[_determines(each.ones, each.others[0])] = rule.format(ones, others)
        unlinked[_leaves_few(each, k, counts_people=counts_people)] = REFUSAL_REMAINDER.format(
            ones, others
        )
    return unlinked


def _determines(ones: Sequence[int], other: int) -> str:
    """Whether each category of columns has one category of the other, in reid_base, and would not by chance.

    The chance is that of `MIN_EXPECTED_DISAGREEMENTS`.
    """
    categories, of = ", ".join(f"q{one + 1}" for one in ones), f"q{other + 1}"
    pairs = f"SELECT {categories}, {of} FROM reid_base GROUP BY {categories}, {of}"
    shares = (
        f"SELECT sum(records) AS n, sum(sum(records)) OVER () AS whole FROM reid_base GROUP BY {of}"
    )
    return f"""(
            SELECT max(n) = 1 AND (
              SELECT (1 - sum(power(n::DOUBLE / whole, 2))) * (any_value(whole) - any_value(categories))
              FROM ({shares})
            ) >= {MIN_EXPECTED_DISAGREEMENTS}
            FROM (SELECT count(*) AS n, count(*) OVER () AS categories FROM ({pairs}) GROUP BY {categories})
          )"""


def _leaves_few(unlinked: Unlinked, k: int, *, counts_people: bool) -> str:
    """Whether some categories of columns are in one of others, and few people are left, or hidden, there.

    The categories would have others by chance, as in `_determines`; of n categories of several columns, more
    are in one by chance, about n exp(-expected). Of occupation '?' less workclass '?', those are left who
    never worked. Each group of the columns that both tables share is judged.
    """
    ones = [f"q{place + 1}" for place in unlinked.ones]
    one, expected = ", ".join(ones), f"{MIN_EXPECTED_DISAGREEMENTS}"
    if len(ones) > 1:
        expected += f" + (SELECT ln(count(*)) FROM (SELECT DISTINCT {one} FROM reid_base))"
    others = [f"q{place + 1}" for place in unlinked.others]
    by = [f"q{place + 1}" for place in unlinked.shared] + others
    other = f"row({', '.join(others)})"
    group, finest = ", ".join(by), ", ".join(dict.fromkeys([*by, *ones]))
    base, people, of_group = (
        "reid_base",
        "sum(records)",
        f"sum(sum(records)) OVER (PARTITION BY {group})",
    )
    if counts_people:  # who may have several categories, so that the counts of these do not add up
        base = f"(SELECT *, count(DISTINCT entity) OVER (PARTITION BY {group}) AS people FROM reid_base)"
        people, of_group = "count(DISTINCT entity)", "any_value(people)"
    return f"""(
            SELECT bool_or(is_told) FROM (
              SELECT bool_or(is_within AND of_one * (1 - of_other / whole) >= {expected})
                AND (any_value(of_group) - sum(n) FILTER (is_within) BETWEEN 1 AND {k - 1}
                  OR (bool_and(is_within) AND count(*) > 1 AND min(n) < {k})) AS is_told
              FROM (
                SELECT *, sum(n) OVER one AS of_one, sum(n) OVER (PARTITION BY {", ".join(others)}) AS of_other,
                  sum(n) OVER () AS whole,
                  min({other}) OVER one IS NOT DISTINCT FROM max({other}) OVER one AS is_within
                FROM (
                  SELECT {finest}, {people} AS n, {of_group} AS of_group FROM {base} GROUP BY {finest}
                )
                WINDOW one AS (PARTITION BY {one})
              ) GROUP BY {group}
            ))"""


def _subsets(columns: frozenset[int]) -> list[frozenset[int]]:
    """All sets of some of the columns."""
    sizes = range(1, len(columns) + 1)
    return [frozenset(each) for size in sizes for each in combinations(sorted(columns), size)]


def _totalled(columns: Sequence[int], totals: str) -> Iterable[Sequence[int]]:
    """The columns that are totalled in each set of cells, none first."""
    if totals == "rollup":
        return [columns[place:] for place in range(len(columns), -1, -1)]
    if totals == "margins":
        return chain(*(combinations(columns, size) for size in range(len(columns) + 1)))
    return ((),)
