"""The cells of a table as they are shown: hidden, rounded, publishable, with those of nobody."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from reid_sql.sql.cells import IS_UNSAFE, NOBODY, CellRules, bits_of, select_figures, shown_aliases
from reid_sql.sql.text import aliases, name, refusal, same, text, texts

MAX_ZEROS: Final = 1_000_000  # cells of a set of totals, of which those of nobody are listed
REFUSAL_ZEROS: Final = (
    f"the categories must make at most {MAX_ZEROS} cells where zeros are listed, got more; "
    "name fewer or coarser columns, or leave the zeros out"
)
ROUNDING: Final = "rounding"
STATUSES: Final = texts(["published", "primary", "secondary", "unprotected"])


@dataclass(frozen=True)
class Form:
    """How the cells are shown."""

    suppress: str
    base: int
    counts_people: bool
    lists_zeros: bool
    # without anything by which a cell is known to be unsafe, or to have people
    is_publishable: bool


def list_hidden(width: int, rules: CellRules, zeros: str, *, is_rounded: bool = False) -> str:
    """The cells of reid_hidden, with those of nobody if asked: all that the categories make, and no row has.

    They are published, as the cells of their row and column would show them anyway.
    """
    rounded = ", rounded" if is_rounded else ""
    figures = f"totalled, records, people, value_sum, largest_share, unsafe, hidden{rounded}"
    listed = f"SELECT {', '.join(aliases(width))}, {figures} FROM reid_hidden"
    sets = rules.totals if zeros == "list" else ()
    more = ", 0::BIGINT" if is_rounded else ""
    blocks = ((each, [block for block in rules.blocks(width, each) if block]) for each in sets)
    nobody = [_list_zeros(width, each, of, more) for each, of in blocks if len(of) > 1]
    return " UNION ALL ".join([listed, *nobody])


def _list_zeros(
    width: int, totalled: Sequence[int], blocks: Sequence[Sequence[int]], more: str
) -> str:
    """The cells of nobody of one set of totals; too many are refused before they are made.

    Levels of one hierarchy have the categories that they have together.
    """
    keys = shown_aliases(width, totalled)
    categories = [
        f"(SELECT DISTINCT {', '.join(f'q{place + 1}' for place in block)} "
        f"FROM reid_hidden WHERE totalled & {bits_of(width, block)} = 0)"
        for block in blocks
    ]
    number = " * ".join(f"(SELECT count(*) FROM {each} AS reid_of)::DOUBLE" for each in categories)
    is_few = f"CASE WHEN {number} > {MAX_ZEROS} THEN {refusal(REFUSAL_ZEROS)} ELSE true END"
    first = f"(SELECT * FROM {categories[0]} AS reid_every WHERE {is_few})"
    products = ", ".join(f"{each} AS b{n}" for n, each in enumerate([first, *categories[1:]]))
    cells = ", ".join(key if key in keys else f"NULL AS {key}" for key in aliases(width))
    return f"""
          SELECT {cells}, {bits_of(width, totalled)}, 0::BIGINT, 0::BIGINT, NULL::DOUBLE, NULL::DOUBLE,
            [{text(NOBODY)}], 0{more}
          FROM (
            SELECT {", ".join(keys)} FROM {products}
          ) AS reid_made
          WHERE NOT EXISTS (
            SELECT 1 FROM reid_hidden AS h
            WHERE h.totalled = {bits_of(width, totalled)} AND {same("h", "reid_made", keys)}
          )"""


def list_shown(by: Sequence[str], rules: CellRules, form: Form) -> str:
    """List the cells under the columns' own names; what is hidden is NULL.

    A cell that is rounded to 0 is not listed in a publishable table, unless the cells of nobody are. People
    of several rows do not add up to totals, so that hiding protects only counts of rows.
    """
    named = ", ".join(f"q{place} AS {name(column)}" for place, column in enumerate(by, 1))
    over = ", ".join(
        f"CASE WHEN totalled & {bits_of(len(by), [place])} > 0 THEN {text(column)} END"
        for place, column in enumerate(by)
    )
    figures = {
        each: f"CASE WHEN hidden = 0 THEN {each} END" for each in ("records", "people", "value_sum")
    }
    share = (
        "largest_share" if form.suppress == "none" else "CASE WHEN is_open THEN largest_share END"
    )
    to_hide = f"CASE WHEN {IS_UNSAFE} THEN 'unsafe' ELSE 'published' END"
    status = to_hide if form.suppress == "none" else f"list_extract({STATUSES}, hidden + 1)"
    finest = f"totalled IN ({', '.join(str(bits_of(len(by), each)) for each in rules.finest)})"
    lost, shown = f"sum(records) FILTER (hidden > 0 AND {finest})", ""
    if form.suppress == ROUNDING:
        figures |= {"records": "rounded", "people": "rounded"}
        status = (
            f"CASE WHEN abs(rounded - records) < {form.base} THEN 'rounded' ELSE 'beyond_base' END"
        )
        lost = f"sum(abs(rounded - records)) FILTER ({finest})"
        shown = "WHERE rounded > 0" if form.is_publishable and not form.lists_zeros else ""
    unsafe, loss = "unsafe::VARCHAR[]", "coalesce(loss, 0)::DOUBLE"
    if form.is_publishable:
        share = "NULL::DOUBLE"
        unsafe = "NULL::VARCHAR[]"
        status = "NULL::VARCHAR"
        loss = "NULL::DOUBLE"
        figures |= {"people": "NULL::BIGINT"} if form.counts_people else {}
    order = ", ".join(["totalled ASC", *(f"{alias} ASC NULLS LAST" for alias in aliases(len(by)))])
    share_lost = f"{lost} / sum(records) FILTER ({finest})"
    return f"""
        SELECT {named}, list_filter([{over}], lambda reid_t: reid_t IS NOT NULL)::VARCHAR[] AS total_over,
          {select_figures(figures)}, {share} AS largest_share, {unsafe} AS unsafe,
          {status} AS status, {loss} AS loss
        FROM reid_listed, (SELECT {share_lost} AS loss, max(hidden) = 0 AS is_open FROM reid_hidden)
        {shown}
        ORDER BY {order}"""
