"""What makes a figure doubtful: a report prints each next to its check, and a policy may refuse them.

Cautions on the table or on the check hold for all of its figures; those of a figure stand in the figure.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import duckdb

from reid_sql.check.exact_figures import ColumnAlone, ReleasedColumns
from reid_sql.check.policy_model import (
    Check,
    TablePolicy,
    columns_checked,
    columns_named,
    columns_released,
    without_names,
)
from reid_sql.check.remarks import (
    Count,
    RefusedTableError,
    Remark,
    identifier_remark,
    nobody_remarks,
    remark,
    unidentified_remark,
)
from reid_sql.check.table_engine import Errors, TableEngine
from reid_sql.models.columns.direct_identifiers import IDENTIFIER_NAME
from reid_sql.models.columns.identifiers import (
    likely,
    names_a_person,
    repeating,
    repeating_people,
)
from reid_sql.models.columns.units import UNIT_PERSON
from reid_sql.parameters import MAX_COLUMNS, WORLD_POPULATION, ColumnNames, fold_case, plain
from reid_sql.parameters.document import toml_texts
from reid_sql.reduction import REFUSAL_UNIDENTIFIED_ROW
from reid_sql_udfs import declared

# beyond, a table is no sample of its population, but nearly all of it
MAX_SAMPLING_FRACTION: Final = 0.9
CAUTION_NOT_COVERED: Final = "no check of the table counts by all of its quasi-identifiers, {}, so that its whole risk is not measured"
CAUTION_COPIES: Final = (
    "every class by the quasi-identifiers has a multiple of the same number of rows, as if the table had "
    "each row several times: remove the copies, or count people with entity"
)
CAUTION_SCRIPTS: Final = (
    "the column name '{}' mixes letters of several scripts ({}) that may look alike"
)
CAUTION_INVISIBLE: Final = "the column name '{}' contains an invisible character"
CAUTION_LOOKALIKE: Final = (
    "the column '{}' may be mistaken for another column, whose name looks the same"
)
CAUTION_ANY_TABLE: Final = "the limit {} {} is met by any table"
# parameters: how many columns a measure takes at a time
SIZES_OF_SUBSETS: Final = ("max_size", "p")
# thresholds that no record and no class can exceed
ALWAYS_MET: Final = {"threshold": 1, "t": 1, "alpha": 1}
NEVER_MISSED: Final = {"l": 1, "k": 1}  # and those that every class reaches
# Japanese is written in three scripts, Korean in two; in Unicode each is named by its own.
WRITTEN_TOGETHER: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})
# Small letters of Cyrillic and Greek, and the Latin ones that they look like.
CYRILLIC: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u043a\u0442\u043c",
    "aeopcyxijshdqwktm",
)
GREEK: Final = str.maketrans("\u03b1\u03bf\u03c1\u03c7\u03b9\u03ba\u03c4\u03bd\u03c5", "aopxiktvu")


def table_cautions(
    table: TablePolicy, records: int, columns: ColumnNames, cautions: Sequence[Remark]
) -> Iterator[Remark]:
    """Yield the cautions on a table, whatever the check; `cautions` are those of its engine."""
    yield from cautions
    if table.population is not None:
        yield from _population_cautions(table.population, records)
    if table.quasi_identifiers and not any(_covers(table, check) for check in table.checks):
        yield remark(
            CAUTION_NOT_COVERED.format(", ".join(table.quasi_identifiers)),
            code="columns_not_covered",
        )
    yield from _name_cautions(columns_named(table), columns)


def _covers(table: TablePolicy, check: Check) -> bool:
    """Whether a check counts classes by all quasi-identifiers, or by some within groups of the others."""
    counted = {fold_case(name) for name in (*check.counted, *check.by)}
    wanted = {fold_case(name) for name in table.quasi_identifiers}
    sizes = [check.parameters.get(name) for name in SIZES_OF_SUBSETS]
    return wanted <= counted and all(size is None or size >= len(wanted) for size in sizes)


def check_cautions(
    check: Check, records: int, identifiers: Mapping[str, Remark], of_people: Mapping[str, Remark]
) -> Iterator[Remark]:
    """Yield the cautions on what a check asks: whose rows, limits that any table meets, small populations.

    `identifiers` are the cautions on columns of the table that are named like one and repeat, `of_people`
    those of the population table. A column that the check names as that of people or households is no caution
    of it, nor one that it counts by whose name is that of another's identifier.
    """
    named = {
        fold_case(name)
        for name in check.columns
        if name not in check.counted or (IDENTIFIER_NAME.search(name) and not names_a_person(name))
    }
    for name, caution in (*identifiers.items(), *of_people.items()):
        if fold_case(name) not in named:
            yield caution
    scenario = check.parameters.get("scenario")
    population = (
        json.loads(scenario)["population"] if scenario else check.parameters.get("population")
    )
    if population is not None:
        yield from _population_cautions(population, records)
    yield from _limit_cautions(check, records)
    yield from _threshold_cautions(check, records)


def _limit_cautions(check: Check, records: int) -> Iterator[Remark]:
    """Yield where any table, or any of so many records, is within the limit."""
    measure, limit = check.measure, check.limit
    if limit is None or check.no_worse:
        return
    words = CAUTION_ANY_TABLE.format(measure.bound.replace("_", " "), plain(limit))
    is_met = limit <= 1 if measure.at_least else measure.unit == "share" and limit >= 1
    if is_met:
        yield remark(words, code="met_by_any_table")
    elif not measure.at_least and limit >= _highest(measure.name, records):
        yield remark(f"{words} of ", Count(records, "records"), code="met_by_any_table")


def _highest(name: str, records: int) -> float:
    """Return the highest figure that so many records can have.

    A value of share q ≥ 1/n in the table has a share p ≤ 1 in a class: (p − q)/q ≤ n − 1, |ln(p/q)| ≤ ln n.
    The entropy of a population is at most the logarithm of its size.
    """
    by_name = {
        "unique_records": records,
        "beta_likeness": records - 1.0,
        "delta_disclosure": math.log(max(records, 1)),
        "entropy": math.log(WORLD_POPULATION),
    }
    return by_name.get(name, math.inf)


def _threshold_cautions(check: Check, records: int) -> Iterator[Remark]:
    """Yield where no record, or no class, could be beyond the measure's own threshold."""
    never_exceeded = {
        **ALWAYS_MET,
        "beta": _highest("beta_likeness", records),
        "delta": _highest("delta_disclosure", records),
    }
    for name, value in check.parameters.items():
        if not isinstance(value, int | float):
            continue
        if value >= never_exceeded.get(name, math.inf):
            words = f"{name} = {plain(value)} is exceeded by no record"
            yield remark(words, code="met_by_any_table")
        if value <= NEVER_MISSED.get(name, -math.inf) and "alpha" not in check.parameters:
            words = f"{name} = {plain(value)} is met by any class"
            yield remark(words, code="met_by_any_table")


def _population_cautions(population: float, records: int) -> Iterator[Remark]:
    if records > MAX_SAMPLING_FRACTION * population:
        larger = f"a population of {plain(population)} people is hardly larger than the table of "
        rest = ", so that the table is no sample of it"
        yield remark(larger, Count(records, "records"), rest, code="small_population")


def _name_cautions(named: ColumnNames, columns: ColumnNames) -> Iterator[Remark]:
    """Yield the names that a reader may take for other ones."""
    alike: dict[str, set[str]] = {}
    for other in columns:
        alike.setdefault(_skeleton(other), set()).add(fold_case(other))
    for name in named:
        scripts = sorted(scripts_of(name))
        if len(scripts) > 1:
            yield remark(CAUTION_SCRIPTS.format(name, ", ".join(scripts)), code="unclear_name")
        if any(unicodedata.category(letter) in {"Cf", "Cc"} for letter in name):
            yield remark(CAUTION_INVISIBLE.format(name), code="unclear_name")
        if alike.get(_skeleton(name), set()) - {fold_case(name)}:
            yield remark(CAUTION_LOOKALIKE.format(name), code="unclear_name")


def scripts_of(name: str) -> set[str]:
    """Return the scripts of a name's letters; those that one language writes together count as one.

    >>> scripts_of("age"), sorted(scripts_of("age\N{CYRILLIC SMALL LETTER A}")), scripts_of("年齢カラム")
    ({'Latin'}, ['Cyrillic', 'Latin'], {'Cjk'})
    """
    letters = [letter for letter in unicodedata.normalize("NFKC", name) if letter.isalpha()]
    letter_scripts = {
        re.split("[ -]", unicodedata.name(letter, "UNKNOWN"), maxsplit=1)[0] for letter in letters
    }
    return {"Cjk" if each in WRITTEN_TOGETHER else each.capitalize() for each in letter_scripts}


def _skeleton(name: str) -> str:
    """Return what a name looks like: without marks, widths and case, its letters as Latin ones."""
    shown = unicodedata.normalize("NFKC", name).casefold().translate(CYRILLIC | GREEK)
    return "".join(letter for letter in shown if unicodedata.category(letter) not in {"Cf", "Cc"})


# Columns of people: rows that one attributes to nobody, and rows that are not people where none is named.

CAUTION_UNCOUNTED: Final = "whether {} repeat, so that rows are not people, could not be counted"
CAUTION_POPULATION_ROWS: Final = "the population table: "
INTERRUPTIONS: Final = (duckdb.InterruptException, KeyboardInterrupt)


def refuse_nobodies(engine: TableEngine, entity: str) -> None:
    """Refuse rows without a value in the column of people: they would count as one person."""
    rows, filled = engine.count_records(), int(engine.count_values([entity])[1][0])
    if filled < rows:
        raise RefusedTableError(
            REFUSAL_UNIDENTIFIED_ROW, unidentified_remark(entity, rows - filled, rows)
        )


def find_nobodies(engine: TableEngine, column: str, unit: str = UNIT_PERSON) -> tuple[Remark, ...]:
    """Return the cautions on values of a column of people or households that may stand for nobody."""
    return tuple(
        nobody_remarks(column, engine.count_nobodies(column), engine.count_records(), unit)
    )


def find_identifiers(
    engine: TableEngine,
    table: TablePolicy,
    records: int | None,
    errors: Errors,
) -> dict[str, Remark]:
    """Return a caution for each column that looks like an identifier and repeats, or that cannot be counted.

    Without `records`, of the population table. None where the policy names the column of people.
    """
    if table.entity is not None:
        return {}
    in_population = records is None
    columns = engine.population_columns if in_population else engine.columns
    described = (*table.quasi_identifiers, *table.sensitive)
    names = likely(columns, described)
    of = CAUTION_POPULATION_ROWS if in_population else ""
    try:
        panels = engine.find_panels(table.sensitive, in_population=in_population) if columns else ()
        names = list(dict.fromkeys([*names, *panels]))
        if not names:
            return {}
        counted = engine.count_values(names, in_population=in_population)
        repeated = repeating(names, *counted, described, of_rows=records or max(counted[1]))
        if not in_population:
            nobodies = [engine.count_nobodies(each.name) for each in repeated]
            repeated = repeating_people(repeated, nobodies)
    except INTERRUPTIONS:
        raise
    except errors:
        words = ", ".join(names) or "rows of people"
        return {words: remark(of + CAUTION_UNCOUNTED.format(words), code="uncounted_identifier")}
    of_table = {fold_case(name) for name in engine.columns}
    return {
        each.name: identifier_remark(of, each, records, named=fold_case(each.name) in of_table)
        for each in repeated
    }


# The columns that a release has, and those that no check measures: each is named, with what it would do. A
# policy's checks are about the columns that they name. The file has others, which are released with them
# unless the policy leaves them out. Each is counted by itself, and all together, through the functions that
# every engine has; no value leaves it.

# A column singles people out if at least this share of them are the only one with their value. Of a column
# of few values, such as ages, a rare one or two may be single, too. In nine public tables these are at most
# 0.4 % of the people of a category, a count or an age; of weights, amounts and identifiers, 1 to 100 %.
MIN_SHARE_SINGLED_OUT: Final = 0.01
MIN_SINGLED_OUT: Final = 3
CAUTION_UNNAMED: Final = (
    "no list of the policy names {}, which single{} people out by {}: name {} in quasi_identifiers, "
    "sensitive, or left_out"
)
CAUTION_UNNAMED_JOINED: Final = (
    "the check does not join {} of the joined table, which single people out: name them in right_qi, "
    "or leave them out of the file"
)
MAX_NAMED: Final = 10  # columns in a caution; the report names all


def caution_on(columns: ReleasedColumns | None) -> Remark | None:
    """Return the caution on columns that single people out and that nobody named; it has no count."""
    names = columns.unlisted if columns else ()
    if columns is None or not names:
        return None
    listed = ", ".join(names[:MAX_NAMED])
    if len(names) > MAX_NAMED:
        listed = f"{listed} and {len(names) - MAX_NAMED} more columns"
    words = ("s", "itself", "it") if len(names) == 1 else ("", "themselves", "them")
    remedy = "" if columns.has_list else f"left_out = {toml_texts([*columns.left_out, *names])}"
    return remark(CAUTION_UNNAMED.format(listed, *words), code="unnamed_columns", remedy=remedy)


def find_unnamed_joined(
    engine: TableEngine, table: TablePolicy, check: Check, errors: Errors
) -> list[Remark]:
    """Return the caution on columns of a joined table that single people out and that no check names.

    Who joins the table has all of its columns; each is judged by the people to whom it adds a value. Those
    that cannot be counted may single people out.
    """
    on = check.parameters["on"]
    keys = on.values() if isinstance(on, Mapping) else on
    named = [*keys, *(check.parameters["right_qi"] or ())]
    names = without_names(engine.joined_columns(), named)
    if not names:
        return []
    asked = {"right": None, "on": on, "right_qi": names[:MAX_COLUMNS], "k": 2}
    options = {**table.call_options, **asked}
    single = names[MAX_COLUMNS:]
    try:
        rows = engine.call(declared()["join_risk"], check.quasi_identifiers, options)
    except INTERRUPTIONS:
        raise
    except errors:
        single = names
    else:
        least = max(MIN_SINGLED_OUT, MIN_SHARE_SINGLED_OUT * rows[0]["people"])
        single += [row["columns"][0] for row in rows[1:] if row["below_k_right"] >= least]
    listed = ", ".join(single[:MAX_NAMED])
    more = f" and {len(single) - MAX_NAMED} more columns" if len(single) > MAX_NAMED else ""
    words = CAUTION_UNNAMED_JOINED.format(listed + more)
    return [remark(words, code="unnamed_columns")] if single else []


def measure_released_columns(
    engine: TableEngine,
    table: TablePolicy,
    records: int,
    errors: Errors,
) -> ReleasedColumns:
    """Count the people whom each column in no check singles out by itself, and all columns together."""
    released = without_names(columns_released(table, engine.columns), engine.omitted)
    described = without_names(released, [table.entity] if table.entity else [])
    unchecked = without_names(described, columns_checked(table))
    together = tuple(described[:MAX_COLUMNS])
    sets = [*((name,) for name in unchecked), *[together] * bool(together)]
    unique = engine.count_unique(sets, errors)
    alone = [ColumnAlone(name, count) for name, count in zip(unchecked, unique, strict=False)]
    alone.sort(key=lambda each: (each.unique is not None, -(each.unique or 0)))
    least = max(MIN_SINGLED_OUT, MIN_SHARE_SINGLED_OUT * records)
    # One that could not be counted may single people out.
    single = [each.column for each in alone if each.unique is None or each.unique >= least]
    listed = (*table.quasi_identifiers, *table.sensitive, *table.kept)
    left_out = without_names((*engine.columns, *engine.omitted), released)
    return ReleasedColumns(
        unmeasured=tuple(alone),
        unlisted=tuple(without_names(single, listed)),
        left_out=tuple(dict.fromkeys(left_out)),
        counted=together,
        more=len(described) - len(together),
        unique=unique[-1] if together else None,
        entity=table.entity if len(described) < len(released) else None,
        is_prepared=engine.is_prepared,
        has_list=table.released is not None,
        other_tables=() if engine.is_prepared else tuple(engine.other_tables),
    )
