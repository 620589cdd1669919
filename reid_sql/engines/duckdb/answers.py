"""A function's answer in SQL over its reduction's query: a SELECT list, or a call of its Python body."""

from collections.abc import Mapping, Sequence
from functools import partial
from string import Template
from typing import Any, Final

from reid_sql.engines import registry
from reid_sql.engines.contract import refuse_columns_in_a_row, refuse_names_of_options
from reid_sql.engines.duckdb.names import BEGIN, BODY, REFUSE
from reid_sql.engines.duckdb.source import table_source
from reid_sql.function import Answer, Function
from reid_sql.parameters import Arguments, Domain
from reid_sql.reduction import GROUP, NULL_REPORT_COLUMNS, OF_NO_RECORD, Reduction
from reid_sql.sql.records import with_scores
from reid_sql.sql.text import name, text, texts


def check_arguments(
    declared: Function,
    values: Sequence[Any],
    *,
    may_read_files: bool = True,
    is_plain: bool = False,
) -> dict[str, Any]:
    """Check the values in the order of the parameters: tables become sources, whole numbers whole."""
    refuse_names_of_options(declared, values)
    refuse_columns_in_a_row(declared, values)
    named = zip(declared.parameters, values, strict=True)
    return {
        parameter.name: _check(parameter.name, parameter.domain, value, may_read_files, is_plain)
        for parameter, value in named
    }


def _check(name: str, domain: Domain, value: Any, may_read_files: bool, is_plain: bool) -> Any:  # noqa: ANN401, FBT001
    readable = domain if may_read_files else domain.without_files()
    source = partial(table_source, is_plain=is_plain)
    return domain.convert_tables(name, readable.from_sql(name, value), source)


def reduction_arguments(declared: Function, checked: Arguments) -> dict[str, Any]:
    """What the function passes to its reduction: a parameter of the same name, or None."""
    passed = set(checked) - ({"entity"} if declared.one_row_per_person else set())
    arguments = declared.reduction.arguments if declared.reduction else ()
    return {each.name: checked[each.name] if each.name in passed else None for each in arguments}


# rows of a range that has no end, each of which asks a body for its answer
MAX_CALLS: Final = 2**63 - 1
# What arrives as bytes where arrow_lossless_conversion is set.
IN_ARROW: Final = {"HUGEINT": "DECIMAL(38, 0)"}
# Every column by its name, those of the groups by their own.
PUBLIC_NAMES: Final = rf"SELECT COLUMNS('^(?s:(?:{GROUP})?(.*))$') AS '\1'"
NULL_REPORT: Final = ", ".join(NULL_REPORT_COLUMNS)
MAX_NULL_REPORT: Final = ", ".join(f"max({column}) AS {column}" for column in NULL_REPORT_COLUMNS)


def body_name(declared: Function) -> str:
    """What the function's Python body is called in DuckDB."""
    return f"{BODY}{declared.key}"


def answer_over(
    declared: Function,
    options: Mapping[str, str],
    database: str,
    reduced: str | None,
    *,
    is_divided: bool,
    has_households: bool = False,
) -> str:
    """Select the answer over the reduction's query; `options` are the literals of the body's parameters.

    `is_divided` says whether the table is divided into groups, `has_households` whether records are members.
    """
    reduction = declared.reduction
    if reduction is None or reduced is None:
        called = call_body(declared, list(options.values()), database)
        return f"SELECT unnest(answer) FROM (SELECT unnest(answers) AS answer FROM ({called}))"
    source = f"({reduced})"
    if declared.answer is Answer.REDUCTION:
        return f"{PUBLIC_NAMES} FROM {source}" if is_divided else f"FROM {source}"
    if declared.duckdb is not None:
        report = NULL_REPORT if reduction.rowwise else MAX_NULL_REPORT
        answer = f"{Template(declared.duckdb).substitute(options)}, {report} FROM {source}"
        if is_divided:
            return _answer_by_group(declared, reduction, answer)
        return f"FROM (SELECT {answer}) AS reid_answer WHERE {_every_column(declared)}"
    if declared.grouped:
        return _body_by_group(
            declared, reduction, [*options.values(), str(is_divided).lower()], database, source
        )
    answer = _body_over(declared, reduction, list(options.values()), database, source)
    if has_households:
        # the risks of a household's members are combined; a record without a household is one of its own
        alone = "CASE WHEN record.household IS NULL THEN row_number() OVER () END"
        answer = f"""SELECT * EXCLUDE (reid_alone) REPLACE (record.record AS record,
            1 - product(1 - risk) OVER (PARTITION BY record.household, reid_alone) AS household_risk)
        FROM (SELECT *, {alone} AS reid_alone FROM ({answer})) ORDER BY record ASC NULLS LAST"""
    return answer


def _every_column(declared: Function) -> str:
    """Read all columns: the optimiser drops a refusal that is in one that nobody selects."""
    return f"row({', '.join(declared.columns)})::VARCHAR <> ''"


def _answer_by_group(declared: Function, reduction: Reduction, answer: str) -> str:
    """Answer for each group by its columns; of a group whose records were all dropped only that is known."""
    no_record = {name: f" ELSE {text(str(value))}" for name, value in OF_NO_RECORD.items()}
    cells = ", ".join(
        f"CASE WHEN g.records > 0 THEN g.{column}{no_record.get(column, '')} END AS {column}"
        for column in declared.columns
        if column != "records"
    )
    each = f"SELECT {_groups(reduction)}, {answer} GROUP BY ALL"
    return f"{PUBLIC_NAMES} FROM (SELECT * REPLACE ({cells}) FROM ({each}) AS g WHERE {_every_column(declared)})"


def _groups(reduction: Reduction) -> str:
    return f"* EXCLUDE ({', '.join([*reduction.columns, *NULL_REPORT_COLUMNS])})"


def call_body(declared: Function, arguments: Sequence[str], database: str, rest: str = "") -> str:
    """Select the body's rows as `answers`, or raise its refusal, next to what `rest` selects.

    One call begins the body; every row of a range that has no end asks for its answer, and the first to get
    it is the last. DuckDB may stop between two of them. The row is materialized: DuckDB 1.4 loses it where it
    streams into a join.
    """
    typed = [
        f"({value})::{kind}" for value, kind in zip(arguments, body_types(declared), strict=True)
    ]
    passed = ", ".join([f"'{body_name(declared)}'", *[text(database)] * declared.models, *typed])
    # alone: what is next to it would be copied at each call
    number = "(SELECT reid_number FROM reid_begun)"
    polled = f"SELECT {body_name(declared)}(reid_number) AS reid_answered FROM range({MAX_CALLS}), {number}"
    return f"""WITH reid_begun AS MATERIALIZED (
        SELECT {BEGIN}({passed}) AS reid_number{rest and f", {rest}"}
    ),
    reid_waited AS MATERIALIZED (SELECT reid_answered FROM ({polled}) WHERE reid_answered IS NOT NULL LIMIT 1)
    SELECT CASE WHEN struct_extract(reid_answered, 'refusal') IS NULL
        THEN struct_extract(reid_answered, 'answers')
        ELSE error(struct_extract(reid_answered, 'refusal')) END AS answers,
        * EXCLUDE (reid_answered, reid_number)
    FROM reid_waited, reid_begun"""


def body_types(declared: Function) -> list[str]:
    """Types of what a body of a table takes: whole columns of the reduction, then parameters of its own.

    Of a function that can be asked for each group, the columns of each, and last whether it is.
    """
    reduction = declared.reduction
    listed = "" if reduction and reduction.whole else "[][]" if declared.grouped else "[]"
    inputs = reduction.inputs.values() if reduction else ()
    of_options = [parameter.domain.sql_type for parameter in declared.own_parameters]
    return (
        [f"{IN_ARROW.get(kind, kind)}{listed}" for kind in inputs]
        + of_options
        + ["BOOLEAN"] * declared.grouped
    )


def _body_over(
    declared: Function, reduction: Reduction, options: Sequence[str], database: str, source: str
) -> str:
    """The answer of a Python body, which gets whole columns of the reduction."""
    first = next(iter(reduction.columns))
    inputs = list(reduction.inputs)
    arrays = (
        inputs if reduction.whole else [f"list({column} ORDER BY {first} ASC)" for column in inputs]
    )
    if declared.answer is Answer.PER_RECORD:
        members = f"list(members ORDER BY {first} ASC) AS reid_members, {MAX_NULL_REPORT}"
        called = call_body(declared, [*arrays, *options], database, f"{members} FROM {source}")
        each = f"""SELECT unnest(reid_members) AS members, unnest(answers) AS answer, {NULL_REPORT}
            FROM ({called})"""
        return f"""SELECT unnest(members) AS record, unnest(answer), {NULL_REPORT}
            FROM ({each}) ORDER BY record ASC NULLS LAST"""
    report = NULL_REPORT if reduction.whole else MAX_NULL_REPORT
    if reduction.keyed:
        called = call_body(
            declared, [*arrays, *options], database, f"{report}, keys AS reid_keys FROM {source}"
        )
        each = f"SELECT unnest(answers) AS answer, {NULL_REPORT}, reid_keys FROM ({called})"
        named = f"SELECT unnest(answer), {NULL_REPORT}, reid_keys FROM ({each})"
        key = "list_extract(reid_keys, record + 1) AS record"
        return f"SELECT * EXCLUDE (reid_keys) REPLACE ({key}) FROM ({named})"
    called = call_body(declared, [*arrays, *options], database, f"{report} FROM {source}")
    each = f"SELECT unnest(answers) AS answer, {NULL_REPORT} FROM ({called})"
    return f"SELECT unnest(answer), {NULL_REPORT} FROM ({each})"


def _body_by_group(
    declared: Function, reduction: Reduction, options: Sequence[str], database: str, source: str
) -> str:
    """The same for each group by one call: the body gets the arrays of each group in a list.

    The groups stay in one list, so that each group's answer comes next to its values.
    """
    first = next(iter(reduction.columns))
    arrays = [f"reid_array_{place}" for place in range(1, len(reduction.inputs) + 1)]
    gathered = ", ".join(
        f"list({column} ORDER BY {first} ASC) AS {array}"
        for column, array in zip(reduction.inputs, arrays, strict=True)
    )
    parts = f"SELECT {_groups(reduction)}, {gathered}, {MAX_NULL_REPORT} FROM {source} GROUP BY ALL"
    gathered_groups = f"SELECT list(struct_pack(*COLUMNS(*))) AS reid_parts FROM ({parts})"
    lists = [
        f"list_transform(reid_parts, lambda reid_p: struct_extract(reid_p, '{array}'))"
        for array in arrays
    ]
    called = call_body(
        declared, [*lists, *options], database, f"reid_parts FROM ({gathered_groups})"
    )
    each = f"SELECT unnest(reid_parts) AS reid_part, unnest(answers) AS reid_rows FROM ({called})"
    rows = f"SELECT reid_part, unnest(reid_rows) AS reid_row FROM ({each})"
    flat = f"SELECT unnest(reid_part), unnest(reid_row) FROM ({rows})"
    return f"""{PUBLIC_NAMES} FROM (
        SELECT * EXCLUDE ({", ".join([*arrays, *NULL_REPORT_COLUMNS])}), {NULL_REPORT} FROM ({flat}))"""


def score_records(declared: Function, checked: Arguments, database: str) -> str:
    """Select the table's rows, each with the scores of its values; each distinct record is scored once."""
    source, model = checked["tbl"], registry.known(checked["model"])
    options = [p.domain.literal(checked[p.name]) for p in declared.own_parameters]
    on = " AND ".join(
        f"{name(column)} IS NOT DISTINCT FROM reid_q{place}"
        for place, column in enumerate(model.columns, 1)
    )
    listed = f"(SELECT list(column_name) FROM (DESCRIBE FROM {source.items()}))"
    test = f"coalesce(error({REFUSE}('names', {listed}, {texts(declared.columns)}))::BOOLEAN, true)"
    body = f"""
        SELECT reid_own.*, unnest(reid_answer)
        FROM (FROM {source.items()}) AS reid_own JOIN reid_scored ON {on}
        WHERE {test}"""
    return with_scores(
        source, model, [text(database), text(checked["model"]), *options], declared.name, body
    )
