"""The rules by which a cell of a table of aggregates is unsafe, and the cells that hide the unsafe ones."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

from reid_sql.parameters import Places
from reid_sql.sql.records import ROUNDED, SUPPRESSED
from reid_sql.sql.text import aliases, same, text, texts

FEW_PEOPLE = "few_people"
DOMINANCE = "dominance"
P_PERCENT = "p_percent"
ONE_CELL = "all_in_one_cell"
DETERMINED: Final = (
    "determined"  # as all in one cell, because a category of one column has only one of another
)
NOBODY: Final = "nobody"  # of a cell that is listed because each of its categories has people
HIDING: Final = (FEW_PEOPLE, DOMINANCE, P_PERCENT)  # what hiding a cell helps against


@dataclass(frozen=True)
class CellRules:
    """The rules by which a cell is unsafe, checked, and the sets of columns that are totalled."""

    contributors: int
    share: float
    # the places of `by` that are totalled, of each set that is listed
    totals: tuple[Places, ...]
    # the same of the sets that only other cells are compared with
    margins: tuple[Places, ...]
    # the places that are levels of one, the coarsest first
    hierarchies: tuple[Places, ...]

    @property
    def finest(self) -> list[Places]:
        """The sets of which no other has the parts: the cells of each table without its totals."""
        return [
            each for each in self.totals if not any({*other} < {*each} for other in self.totals)
        ]

    @property
    def chains(self) -> list[Places]:
        """The hierarchies that share no column, in which a person moves from one category to another."""
        columns = Counter(place for each in self.hierarchies for place in each)
        return [each for each in self.hierarchies if all(columns[place] == 1 for place in each)]

    def blocks(self, width: int, totalled: Sequence[int]) -> list[list[int]]:
        """The places that are not totalled; levels of one hierarchy, or of two of one column, together."""
        blocks: list[list[int]] = []
        for each in (*self.hierarchies, *((place,) for place in range(width))):
            apart = [block for block in blocks if not {*block} & {*each}]
            joined = [place for block in blocks if block not in apart for place in block]
            blocks = [*apart, list(dict.fromkeys([*joined, *each]))]
        return [[place for place in block if place not in totalled] for block in blocks]

    @property
    def largest(self) -> int:
        """How many of the largest contributions are needed: the p % rule needs two."""
        return max(self.contributors, 2)


def select_figures(figures: Mapping[str, str]) -> str:
    """Select each figure under its name."""
    return ", ".join(f"{cell} AS {alias}" for alias, cell in figures.items())


def shown_aliases(width: int, totalled: Sequence[int]) -> list[str]:
    """The columns that are not totalled."""
    return [alias for place, alias in enumerate(aliases(width)) if place not in totalled]


def judge_cells(width: int, rules: CellRules, k: int, p_percent: float) -> str:
    """Judge each listed cell by each rule; a cell that has everybody of a margin is found by a join with it.

    A margin of a column with one category alone always has everybody in one cell, which says nothing. Where
    a category determines another in the whole table, as pregnant determines sex, each finer cell repeats it.
    """
    top = sum_of_largest(rules.contributors)
    rest = f"c.size - {sum_of_largest(2)}"
    tests = {
        FEW_PEOPLE: f"c.people < {k}",
        DOMINANCE: f"c.size > 0 AND {top} > {rules.share!r} * c.size",
        P_PERCENT: f"c.size > 0 AND {rest} < {p_percent!r} * list_extract(c.largest, 1)",
        ONE_CELL: " OR ".join(
            f"(c.people = m{place}.people AND NOT {_is_determined(width, place)})"
            for place in range(width)
        ),
        DETERMINED: " OR ".join(
            f"(c.people = m{place}.people AND {_is_determined(width, place)})"
            for place in range(width)
        ),
    }
    rules_met = ", ".join(f"CASE WHEN {test} THEN {text(rule)} END" for rule, test in tests.items())
    listed = ", ".join(str(bits_of(width, totalled)) for totalled in rules.totals)
    return f"""
          SELECT c.*, CASE WHEN c.size > 0 THEN {top} / c.size END AS largest_share,
            list_filter([{rules_met}], lambda reid_rule: reid_rule IS NOT NULL) AS unsafe
          FROM (SELECT * FROM reid_cells WHERE totalled IN ({listed})) AS c
          {"".join(_margin(width, place) for place in range(width))}
          {"".join(_determining(one, place) for one, place in _pairs(width))}"""


def sum_of_largest(number: int) -> str:
    """Add up so many of the largest contributions of a cell, c."""
    each = (f"coalesce(list_extract(c.largest, {place}), 0)" for place in range(1, number + 1))
    return f"({' + '.join(each)})"


def bits_of(width: int, totalled: Sequence[int]) -> int:
    """The columns that are totalled as bits of a number: the first column is the highest bit."""
    return sum(1 << (width - 1 - place) for place in totalled)


def _margin(width: int, place: int) -> str:
    bit, margin = bits_of(width, [place]), f"m{place}"
    other_columns = [alias for o, alias in enumerate(aliases(width)) if o != place]
    matched = f"AND {same('c', margin, other_columns)}" if other_columns else ""
    categories = f"SELECT DISTINCT q{place + 1} FROM reid_cells WHERE totalled & {bit} = 0"
    several = f"(SELECT count(*) > 1 FROM ({categories}))"
    return f"""
          LEFT JOIN (SELECT * FROM reid_cells WHERE {several}) AS {margin}
            ON c.totalled & {bit} = 0 AND {margin}.totalled = c.totalled + {bit} {matched}"""


def _pairs(width: int) -> Iterator[tuple[int, int]]:
    """The pairs of columns of which one may determine the other in several cells: not of two alone."""
    yield from permutations(range(width), 2) if width > 2 else ()  # noqa: PLR2004


def _determining(one: int, place: int) -> str:
    """Join the categories of one column that have, in several cells, one category of the other alone."""
    keys = f"q{one + 1}", f"q{place + 1}"
    return f"""
          LEFT JOIN (
            SELECT {keys[0]}, true AS is_met
            FROM (
              SELECT {", ".join(keys)}, count(*) AS cells
              FROM reid_cells WHERE totalled = 0 GROUP BY {", ".join(keys)}
            )
            GROUP BY {keys[0]} HAVING count(*) = 1 AND sum(cells) > 1
          ) AS d{one}_{place} ON {same("c", f"d{one}_{place}", [keys[0]])}"""


def _is_determined(width: int, place: int) -> str:
    """Whether a category of another column determines that of this one, and the cell is finer than both."""
    met = (
        f"(d{one}_{at}.is_met AND c.totalled & {bits_of(width, [one])} = 0)"
        for one, at in _pairs(width)
        if at == place
    )
    is_fine = f"bit_count(c.totalled) < {width - 2}"
    return f"coalesce({is_fine} AND ({' OR '.join(met)}), false)" if width > 2 else "false"  # noqa: PLR2004


IS_UNSAFE: Final = (
    f"len(list_filter(unsafe, lambda reid_rule: reid_rule IN ({', '.join(map(text, HIDING))}))) > 0"
)


def choose_hidden(
    figures: Mapping[str, str],
    protection: int,
    hierarchies: Sequence[Sequence[int]],
    by: Sequence[str],
    earlier: str | None,
) -> str:
    """Add to the cells of reid_judged, c, the number of the status of each, as `hidden`.

    The figures are codes, records and is_primary of each cell, and its sum with what that needs, if any.
    `earlier` are the rows of tables that were published before.
    """
    counts, sums = list(figures)[:3], list(figures)[3:]
    nested = f"[{', '.join(str(list(each)) for each in hierarchies)}]::BIGINT[][]"
    published = ["NULL::BIGINT[]", "NULL::VARCHAR[]", "NULL::VARCHAR[]"]
    if earlier is not None:
        categories = ", ".join(f"to_json(c.{alias})" for alias in aliases(len(by)))
        figures = {**figures, "label": f"to_json([{categories}])::VARCHAR"}
        published = [
            f"(SELECT list({name} ORDER BY place ASC) FROM ({earlier}))" for name in ("tbl", "text")
        ]
        published.append(_list_figure("label"))
    more = [f"{protection}::BIGINT", nested, texts(by), *published, *map(_list_figure, sums)]
    whole = [*map(_list_figure, counts), *more]
    return _ask_python(SUPPRESSED, figures, whole, "list_extract(chosen, reid_cell) AS hidden")


def round_cells(figures: Mapping[str, str], base: int) -> str:
    """Add to the cells of reid_judged, c, the rounded count of each, as `rounded`; none is hidden."""
    added = "0 AS hidden, list_extract(chosen, reid_cell) AS rounded"
    return _ask_python(ROUNDED, figures, [*map(_list_figure, figures), f"{base}::BIGINT"], added)


def _list_figure(name: str) -> str:
    return f"list(reid_{name} ORDER BY reid_cell ASC)"


def _ask_python(function: str, figures: Mapping[str, str], whole: Sequence[str], added: str) -> str:
    """Ask a Python function for a number of each cell: of whole columns of figures, and values."""
    numbered = ", ".join(f"{text} AS reid_{name}" for name, text in figures.items())
    return f"""reid_numbered AS MATERIALIZED (
          SELECT row_number() OVER () AS reid_cell, c.*, {numbered}
          FROM reid_judged AS c
        ),
        reid_begun AS MATERIALIZED (
          SELECT reid_begin('{function}', {", ".join(whole)}) AS reid_number FROM reid_numbered
        ),
        reid_waited AS MATERIALIZED (
          SELECT reply
          FROM (SELECT {function}(reid_number) AS reply FROM range(9223372036854775807), reid_begun)
          WHERE reply IS NOT NULL LIMIT 1
        ),
        reid_chosen AS MATERIALIZED (
          SELECT CASE WHEN struct_extract(reply, 'refusal') IS NULL THEN struct_extract(reply, 'answers')
            ELSE error(struct_extract(reply, 'refusal')) END AS chosen
          FROM reid_waited
        ),
        reid_hidden AS MATERIALIZED (
          SELECT reid_numbered.*, {added} FROM reid_numbered, reid_chosen
        )"""
