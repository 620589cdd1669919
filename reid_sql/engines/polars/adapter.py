"""Polars: how functions are bound, as expressions and lazy frames; only the user collects."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from inspect import Parameter, Signature
from typing import Any, Final

import polars as pl

from reid_sql.engines.arrow import answer_columns, answer_rows, of_group
from reid_sql.engines.contract import Kind
from reid_sql.engines.polars.frames import TYPES, collected, framed, map_whole, schema
from reid_sql.engines.polars.groups import (
    answer_by_group,
    check_groups,
    one_row_per_person,
    values_of_people,
    with_group_names,
)
from reid_sql.engines.polars.records import drawn, score, scored_table, value
from reid_sql.engines.polars.tables import TABLE, warn_of_rows
from reid_sql.errors import OutOfDomainError
from reid_sql.function import Answer, Function
from reid_sql.reduction import (
    NULL_REPORT_COLUMNS,
    PERSON,
    group_names,
    implementation,
    refuse_groups_named_like_results,
    refuse_household_with_entity,
    refuse_key_with_entity,
    refuse_repeated_key,
)

__all__ = [
    "COLUMN",
    "ENGINE",
    "TABLE",
    "collected",
    "count",
    "counting",
    "drawn",
    "framed",
    "score",
    "scored_table",
    "table",
    "value",
]

ENGINE: Final = "polars"
COLUMN: Final = Kind((pl.Expr,), "an expression", "write 'age' or pl.col('age')")


def counting(declared: Function) -> Signature:
    """Columns, and by name, or first, the column that identifies people; an expression has no table."""
    columns, option = Parameter("columns", Parameter.VAR_POSITIONAL), Parameter.KEYWORD_ONLY
    if len(declared.parameters) > 1:
        return Signature([Parameter("entity", Parameter.POSITIONAL_OR_KEYWORD), columns])
    return Signature([columns, Parameter("entity", option, default=None)])


def count(declared: Function, columns: Sequence[Any], entity: str | pl.Expr | None = None) -> pl.Expr:
    """Bind a function of a record among all records: an expression named after the function."""
    # A COUNT has a reduction.
    counted: pl.Expr = implementation(declared.reduction, ENGINE)(columns, entity)  # type: ignore[arg-type]
    return counted.alias(declared.name)


# Functions of a table


def table(declared: Function, arguments: Mapping[str, Any]) -> pl.LazyFrame:
    """Bind a function of a table, or of its parameters alone: a lazy frame."""
    return warn_of_rows(_answer_table(declared, arguments), declared, arguments)


def _answer_table(declared: Function, arguments: Mapping[str, Any]) -> pl.LazyFrame:
    own = {parameter.name: arguments[parameter.name] for parameter in declared.own_parameters}
    if declared.reduction is None:
        return pl.LazyFrame(answer_rows(declared, {}, own), schema=schema(declared.columns), orient="row")
    counted = {
        a.name: a.domain.convert_tables(a.name, arguments[a.name], lambda each: each.lazy())
        for a in declared.reduction.arguments
        if a.name in arguments
    }
    frames = {name: each for name, each in counted.items() if isinstance(each, pl.LazyFrame)}
    by = arguments["by"] if declared.grouped else None
    if by is not None:
        by = check_groups(frames["tbl"], by, arguments["nulls"])
        refuse_groups_named_like_results(by, declared.answer_columns)
    if declared.one_row_per_person and (entity := counted.pop("entity", arguments["entity"])) is not None:
        refuse_household_with_entity(arguments.get("household"))
        of_shares = declared.reduction.of_shares
        frames["tbl"] = _one_row_per_person(frames["tbl"], arguments, entity, by or (), of_shares=of_shares)
        if "sensitive" in arguments:
            counted["entity"] = PERSON
        if "key" in counted:
            refuse_key_with_entity(counted["key"])
            counted["key"] = entity
    reduced: pl.LazyFrame = implementation(declared.reduction, "polars")(**counted | frames)
    if declared.answer is Answer.REDUCTION:
        counts = pl.exclude(group_names(by or ()))
        return reduced.select(*with_group_names(by), counts) if by is not None else reduced
    types = schema({**declared.columns, **NULL_REPORT_COLUMNS})
    if declared.answer is Answer.PER_RECORD:
        has_households = arguments.get("household") is not None
        member = _list_type(reduced, "members")
        record = member.to_schema()["record"] if has_households else member  # type: ignore[attr-defined]
        answer = _answer_per_record(declared, own, has_households=has_households)
        return map_whole(reduced, answer, {"record": record, **types}).sort("record")
    if declared.reduction.keyed:
        types["record"] = _list_type(reduced, "keys")
    answer = _answer_of(declared, own, answer_rows if by is None else of_group)
    if by is not None:
        groups_types = reduced.select(with_group_names(by)).collect_schema()
        types = {**groups_types, **types}
        by_group = partial(answer_by_group, reduction=declared.reduction, by=by, types=types, answer=answer)
        return map_whole(reduced, by_group, types)
    return map_whole(reduced, answer, types)


def _one_row_per_person(
    frame: pl.LazyFrame, arguments: Mapping[str, Any], entity: str, by: Sequence[str], *, of_shares: bool
) -> pl.LazyFrame:
    """The table with a row for each person, or for each sensitive value of theirs; in each group, if any."""
    qi, nulls = arguments["qi"], arguments["nulls"]
    if "sensitive" in arguments:
        sensitive = arguments["sensitive"]
        return values_of_people(frame, qi, sensitive, entity, nulls, by, of_shares=of_shares)
    return one_row_per_person(frame, qi, entity, nulls, by, weight=arguments.get("weight"))


def _list_type(reduced: pl.LazyFrame, name: str) -> pl.DataType:
    """The type of the elements of the column's lists."""
    return reduced.collect_schema()[name].inner  # type: ignore[attr-defined,no-any-return]


def _refuse_repeated(keys: pl.Series) -> pl.Series:
    """Refuse keys that do not differ between records, where an answer names single records."""
    refuse_repeated_key(is_repeated=keys.n_unique() < len(keys))
    return keys


def _answer_of(
    declared: Function, options: dict[str, Any], rows: Callable[..., list[dict[str, Any]]]
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Call the body with the reduction's arrays, and add the treatment of NULLs to its answer."""
    reduction = declared.reduction

    def answer(frame: pl.DataFrame) -> pl.DataFrame:
        arrays, types = _arrays(declared, frame), schema(declared.columns)
        if declared.columnar:
            table = pl.DataFrame(answer_columns(declared, arrays, options), schema=types)
        else:
            table = pl.DataFrame(rows(declared, arrays, options), schema=types, orient="row")
        if reduction and reduction.keyed:
            people, keys = len(frame["people"][0]), frame["keys"][0]
            named = keys if people else _refuse_repeated(keys)  # people may have several records
            table = table.with_columns(named.gather(table["record"]).alias("record"))
        if reduction and reduction.rowwise:
            return table.hstack(frame.select(*NULL_REPORT_COLUMNS))
        return table.with_columns(
            pl.lit(frame[name].max(), dtype=TYPES[kind]).alias(name)
            for name, kind in NULL_REPORT_COLUMNS.items()
        )

    return answer


def _answer_per_record(
    declared: Function, options: dict[str, Any], *, has_households: bool
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Call the body with the distinct records, and give its answer to every record with these values."""

    def answer(frame: pl.DataFrame) -> pl.DataFrame:
        result = pl.DataFrame(
            answer_columns(declared, _arrays(declared, frame), options), schema=schema(declared.columns)
        )
        each = (
            frame.select(pl.col("members").alias("record"))
            .hstack(result)
            .hstack(frame.select(*NULL_REPORT_COLUMNS))
        )
        named = each.explode("record", empty_as_null=False, keep_nulls=False)
        named = _with_household_risk(named) if has_households else named
        _refuse_repeated(named["record"])
        return named

    return answer


def _with_household_risk(members: pl.DataFrame) -> pl.DataFrame:
    """Combine the risks of each household's members; a record without a household is one of its own."""
    record, household = (pl.col("record").struct.field(name) for name in ("record", "household"))
    alone = pl.when(household.is_null()).then(pl.int_range(pl.len()))
    risk = 1 - (1 - pl.col("risk")).product().over(household, alone)
    return members.with_columns(record, household_risk=risk)


def _arrays(declared: Function, frame: pl.DataFrame) -> dict[str, Any]:
    """Columns of the reduction as the body takes them: numbers as an array or matrix, else a list.

    A matrix is made of lists of numbers.
    """
    reduction = declared.reduction
    if reduction and reduction.bytes_each is not None:
        refuse_too_large(frame.height, reduction.bytes_each)
    series = {name: frame[name] for name in reduction.inputs} if reduction else {}
    if reduction and reduction.whole:
        series = {name: values[0] for name, values in series.items()}
    return {name: _array(values) for name, values in series.items()}


def _array(values: pl.Series) -> Any:  # noqa: ANN401 - see above
    if values.dtype in {pl.List(pl.Int32), pl.List(pl.Int64)} and len(values):
        return values.explode(empty_as_null=False).to_numpy().reshape(len(values), -1)
    return values.to_numpy() if values.dtype in {pl.Int64, pl.Float64} else values.to_list()


# Memory: Polars itself has no limit for a function that receives all distinct records


SMALL: Final = 100_000_000  # bytes that are never checked
UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


@cache
def memory_limit() -> float:
    """DuckDB's default memory limit in bytes: 80 % of the memory that the process may have."""
    import duckdb  # noqa: PLC0415 - only where there is much to hold

    with duckdb.connect() as con:
        number, unit = con.execute("SELECT current_setting('memory_limit')").fetchall()[0][0].split()
    return float(number) * 1024.0 ** UNITS.index(unit)


def refuse_too_large(records: int, each: int) -> None:
    """Refuse so many distinct records, of so many bytes each, where they do not fit."""
    if records * each > SMALL and records * each > memory_limit():
        rule = (
            f"memory must be at least {-(-records * each // 1_000_000)} MB for {records} distinct records, "
            f"got {memory_limit() / 1_000_000:.0f} MB, 80 % of what this process may have"
        )
        raise OutOfDomainError(f"{rule}; pass fewer or coarser columns, or a smaller sample")
