"""The macros by which SQL calls the functions: most hand their arguments to the planner, in `query()`.

Functions of single records are expressions: closed forms, windows and calls of a Python body.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from reid_sql.engines.duckdb.answers import body_name
from reid_sql.engines.duckdb.names import (
    BETWEEN_COLUMNS,
    DATABASE,
    HOME,
    PLAN,
    REFUSE,
    WINDOWS_WITH_DEFAULTS,
    WINDOWS_WITH_OWN_MACRO,
    qualified,
)
from reid_sql.engines.duckdb.source import (
    COLLATED,
    EXACT,
    REFUSAL_VARIANT,
    has_collation,
    has_interval,
    has_variant,
    known_value,
)
from reid_sql.errors import OTHER_VALUE
from reid_sql.function import Answer, Function
from reid_sql.parameters import MAX_COLUMNS, ColumnNames, sql_literal, sql_text
from reid_sql.parameters.domain import REFUSAL_BOOLEAN
from reid_sql.parameters.outputs import REFUSAL_OF_OUTPUT, REQUIRED, Parameter
from reid_sql.reduction import REFUSAL_INTERVAL, REFUSAL_UNIDENTIFIED_ROW
from reid_sql.sql.text import known_text, refusal

UNGIVEN: Final = "'reid: no column'"
# numbers of columns: scores gain less by it than each costs to make
SCORES_WITH_OWN_MACRO: Final = 4
INEXACT: Final = (
    "columns must distinguish texts that differ, got a collation of its own for one; pass "
    "decode(encode(name)) in its place, or where its texts are within a value "
    "create_sort_key(name, 'ASC NULLS LAST')"
)


def definitions(functions: Mapping[str, Function]) -> dict[str, str]:
    """The definition of every macro by name, each after those that it calls."""
    macros = dict(SHARED)
    for name, declared in functions.items():
        macros |= _macros_of(name, declared)
    return {name: qualified(text) for name, text in macros.items()}


def bare_definitions(functions: Mapping[str, Function]) -> dict[str, str]:
    """The same by bare names, as temporary macros of a connection: those of a table ask the planner."""
    macros: dict[str, str] = {}
    for name, declared in functions.items():
        if not declared.answer.of_rows:
            macros |= {
                each: qualified(_table_macro(name, declared)) for each in (name, *declared.also)
            }
        elif declared.answer is Answer.SCALAR:
            listed = ", ".join(names_of(declared))
            macros[name] = f"({signature(declared)}) AS {HOME}{name}({listed})"
        else:
            macros[name] = _forward(name, declared)
    return macros


def _macros_of(name: str, declared: Function) -> dict[str, str]:
    if declared.answer is Answer.SCALAR:
        return (_output_macros if declared.outputs else _value_macros)(name, declared)
    if declared.answer is Answer.WINDOW:
        return {
            name: _define_by_columns(declared, lambda columns: _window(declared, columns), "NULL")
        }
    if declared.answer is Answer.MODEL_SCORE:
        return _score_macros(name, declared)
    return {each: _table_macro(name, declared) for each in (name, *declared.also)}


def _table_macro(name: str, declared: Function) -> str:
    """Ask the planner for the query, and run it; whether files may be read only the connection knows.

    A parameter that the function lacks, where others have it, is there to be refused with the reason.
    """
    documents = any(parameter.domain.form == "document" for parameter in declared.parameters)
    files = "current_setting('enable_external_access')::BOOLEAN" if documents else "true"
    shown = ", ".join(
        [signature(declared, '"'), *(f'"{lacked}" := NULL' for lacked in declared.lacked)]
    )
    names = [*(p.name for p in declared.parameters), *declared.lacked]
    passed = "".join(f', "{each}"' for each in names)
    planned = f"{PLAN}({DATABASE}(), {files}, '{name}'{passed})"
    if not names:
        return f"({shown}) AS TABLE FROM query({planned})"
    # DuckDB would fold `l = 3` before the planner gets it, and raise an error of its own: types come first.
    types = ", ".join(f'typeof("{each}")' for each in names)
    refused = f"error({sql_text(REFUSAL_BOOLEAN.format(f'parameters of {name}'))})"
    return f"({shown}) AS TABLE FROM query(CASE WHEN 'BOOLEAN' IN ({types}) THEN {refused} ELSE {planned} END)"


def _value_macros(name: str, declared: Function) -> dict[str, str]:
    """Check the arguments, then answer by the closed form over them as doubles, or by the Python body.

    The closed form contains each argument many times, and so not its check; least() would pass over a NULL.
    """
    names = ", ".join(parameter.name for parameter in declared.parameters)
    cells = [parameter.domain.cell(parameter.name) for parameter in declared.parameters]
    if declared.duckdb is None:
        return {name: f"({names}) AS {body_name(declared)}({', '.join(cells)})"}
    missing = " OR ".join(f"{cell} IS NULL" for cell in cells)
    doubles = ", ".join(
        f"TRY_CAST({parameter.name} AS DOUBLE)" for parameter in declared.parameters
    )
    form = f"reid_closed_form_{name}"
    answer = f"CASE WHEN {missing} THEN NULL ELSE {form}({doubles}) END"
    return {form: f"({names}) AS {declared.duckdb}", name: f"({names}) AS {answer}"}


def _output_macros(name: str, declared: Function) -> dict[str, str]:
    """A macro of each output, and one that calls the output whose word is passed."""
    macros: dict[str, str] = {}
    cases = []
    for word, output in declared.outputs.items():
        macro = f"reid_output_{output.key}"
        macros |= _value_macros(macro, output)
        names = {parameter.name for parameter in output.parameters}
        answer = f"{HOME}{macro}({', '.join(names_of(output))})"
        for other in declared.parameters:
            if other.name not in {*names, declared.selector}:
                rule = REFUSAL_OF_OUTPUT.format(other.name, f"with {declared.selector} := '{word}'")
                is_passed = f"{other.name} IS DISTINCT FROM {sql_literal(other.default)}"
                answer = (
                    f"CASE WHEN {is_passed} THEN error({sql_text(rule)})::DOUBLE ELSE {answer} END"
                )
        cases.append(f"WHEN {sql_literal(word)} THEN {answer}")
    words = f"[{', '.join(map(sql_text, declared.outputs))}]"
    refused = f"{REFUSE}('choice', '{declared.selector}', alias({declared.selector}), {words})"
    chosen = f"CASE {declared.selector} {' '.join(cases)} ELSE error({refused})::DOUBLE END"
    return macros | {name: f"({signature(declared)}) AS {chosen}"}


def names_of(declared: Function) -> list[str]:
    """The names of the parameters."""
    return [parameter.name for parameter in declared.parameters]


def signature(declared: Function, quote: str = "") -> str:
    """The parameters of a macro, with their defaults; the names of a table's are in quotes."""
    return ", ".join(
        f"{quote}{p.name}{quote}"
        + ("" if p.default is REQUIRED else f" := {sql_literal(p.default)}")
        for p in declared.parameters
    )


def _options(declared: Function) -> list[Parameter]:
    """The parameters that stand before a record's values."""
    return [parameter for parameter in declared.parameters if not parameter.domain.is_record_value]


def _define_by_columns(
    declared: Function, make: Callable[[Sequence[str]], str], ungiven: str
) -> str:
    """A macro of 1 to 64 columns: one for each of the first numbers of them, some with defaults for the rest.

    There are no macros of any number of parameters. The text of all 64 would grow with the square of their
    number, and so would the time to make them. A window groups by the defaults too, so it has several.
    """
    is_window = declared.answer is Answer.WINDOW
    last_separate = WINDOWS_WITH_OWN_MACRO if is_window else SCORES_WITH_OWN_MACRO
    before = [parameter.name for parameter in _options(declared)]
    columns = [f"c{place}" for place in range(1, MAX_COLUMNS + 1)]
    least, variants = 1, []
    for most in [
        *range(1, last_separate + 1),
        *(WINDOWS_WITH_DEFAULTS if is_window else [MAX_COLUMNS]),
    ]:
        defaults = [f"{column} := {ungiven}" for column in columns[least:most]]
        variants.append(
            f"({', '.join([*before, *columns[:least], *defaults])}) AS {make(columns[:most])}"
        )
        least = most + 1
    return ", ".join(variants)


def _forward(name: str, declared: Function) -> str:
    """Call the macro of the catalogue, which is not expanded where this one is made."""
    before = [parameter.name for parameter in _options(declared)]
    ungiven = "NULL" if declared.answer is Answer.WINDOW else UNGIVEN

    def call(columns: ColumnNames) -> str:
        arguments = [*before, *columns]
        return bind_no_further(arguments[0], f"{HOME}{name}({', '.join(arguments)})")

    return _define_by_columns(declared, call, ungiven)


def bind_no_further(parameter: str, body: str) -> str:
    """Put the body behind a case that never is, which the optimiser drops.

    Where a macro is made, DuckDB binds its body, and stops at the first parameter whose type it must know: of
    what is behind it nothing is bound, neither there nor where another macro that calls it is made.
    """
    return f"CASE WHEN {parameter} IS NULL AND false THEN NULL ELSE {body} END"


def _window(declared: Function, columns: ColumnNames) -> str:
    people = [parameter.name for parameter in _options(declared)]
    values = [*people, *columns]
    example = f"{declared.name}({', '.join(['person_id'] * len(people) + ['age', 'sex'])})"
    separated = f", {sql_literal(BETWEEN_COLUMNS)}, ".join(values)
    test = f"reid_are_columns({len(people)}, row({separated}), {sql_literal(example)})"
    exact = f"reid_are_exact(row({', '.join(values)}))"
    return bind_no_further(
        values[0], f"CASE WHEN {test} AND {exact} THEN {window_of(people, columns)} END"
    )


def window_of(people: Sequence[str], columns: ColumnNames, *, is_plain: bool = False) -> str:
    """Count the records of a window, or its people by a column: in a struct, as NULL has no count.

    DuckDB 2.0 breaks down where a row without names holds an array.
    """
    counted = (
        f"DISTINCT struct_pack(person := {_identified(people[0], known_text if is_plain else known_value)})"
        if people
        else "*"
    )
    return f"count({counted}) OVER (PARTITION BY {', '.join(columns)})"


def _identified(person: str, without_nan: Callable[[str], str]) -> str:
    """The person of a row; refuses a row of nobody, by a cast that fails (see SHARED)."""
    is_known = f"{without_nan(person)} IS NOT NULL"
    test = f"CAST(CASE WHEN {is_known} THEN 'true' ELSE {sql_literal(REFUSAL_UNIDENTIFIED_ROW)} END AS BOOLEAN)"
    return f"CASE WHEN {test} THEN {person} END"


def _score_macros(name: str, declared: Function) -> dict[str, str]:
    """Score the record of these texts; the macros of 1 to 64 columns make texts of them."""
    options = [parameter.name for parameter in _options(declared)]
    cells = [parameter.domain.cell(parameter.name) for parameter in _options(declared)[1:]]
    call = f"{body_name(declared)}({', '.join(['reid_texts', f'{DATABASE}()', 'model', *cells])})"
    refusal_of_answer = "struct_extract(reid_answered, 'refusal')"
    answer = f"""list_extract(list_transform(list_value({call}), lambda reid_answered:
        CASE WHEN {refusal_of_answer} IS NULL THEN struct_extract(reid_answered, 'answer')
        ELSE error(replace({refusal_of_answer}, {sql_literal(OTHER_VALUE)}, alias(model))) END), 1)"""
    score = f"reid_score_{name}"
    return {
        score: f"({', '.join([*options, 'reid_texts'])}) AS {bind_no_further('model', answer)}",
        name: _define_by_columns(
            declared,
            lambda columns: f"{HOME}{score}({', '.join([*options, _texts_of(columns)])})",
            UNGIVEN,
        ),
    }


def _texts_of(columns: ColumnNames) -> str:
    """List the texts of the columns; of the macro with defaults, those not given are left out.

    DuckDB expands `*COLUMNS(...)` in the arguments of a function, but not of a macro: row(*COLUMNS(...)) is
    one argument, and its fields are the columns.
    """
    values = f"list_value({', '.join(f'{column}::VARCHAR' for column in columns)})"
    if len(columns) == 1:
        return f"CASE WHEN {_is_row(columns[0])} THEN reid_texts_of_row({columns[0]}) ELSE {values} END"
    if len(columns) == MAX_COLUMNS:
        aliases = ", ".join(f"alias({column})" for column in columns)
        number = f"len(list_filter([{aliases}], lambda c: c <> {sql_literal(UNGIVEN)}))"
        return f"list_slice({values}, 1, {number})"
    return values


def _is_row(value: str) -> str:
    """Test that a value is a row without names, which is a STRUCT before DuckDB 2.0."""
    return f"""(starts_with(typeof({value}), 'TUPLE(')
        OR (starts_with(typeof({value}), 'STRUCT(') AND starts_with({value}::VARCHAR, '(')))"""


# Types whose texts differ once they went through VARIANT, by which alone a row of any length becomes texts.
NOT_IN_ROWS: Final = "(TUPLE[(].*TUPLE[(])|MAP[(]|UNION[(]|JSON"
REFUSAL_ROW: Final = (
    "a row of columns must contain no rows, maps, unions or JSON and must not be NULL, got one that does; "
    "pass the columns one by one"
)
REFUSAL_OLD_ROW: Final = "a row of columns must be read by DuckDB 2.0 or later, got an older one; pass the columns one by one"
# A refusal within a window is a cast that fails: error() counts as a side effect, which QUALIFY and ORDER BY
# cannot refer to. The tests read no row. DuckDB 2.0 folds them while it plans the query: the alias of a case
# that never is contains the texts of the columns, and depends on none. DuckDB before 2.0 folds that case to
# NULL first, and asks for the alias of the row once for each 2,048 rows.
# DuckDB before 2.0 computes the logarithm of a constant in a branch that is not taken, too: abs() lets the
# check of the argument refuse a negative one.
SHARED: Final[Mapping[str, str]] = {
    "reid_log1p": """(x) AS CASE WHEN abs(x) < 1e-8 THEN x * (1 - x / 2)
        WHEN x > -0.5 THEN 2 * atanh(x / (2 + x)) ELSE ln(abs(1 + x)) END""",
    "reid_expm1": """(x) AS CASE WHEN abs(x) < 1e-8 THEN x * (1 + x / 2)
        WHEN abs(x) < 1 THEN 2 * tanh(x / 2) / (1 - tanh(x / 2)) ELSE exp(x) - 1 END""",
    "reid_texts_of_row": f"""(r) AS CASE WHEN starts_with(typeof(r), 'STRUCT(')
        THEN {refusal(REFUSAL_OLD_ROW, "VARCHAR[]")}
        WHEN r IS NULL OR regexp_matches(typeof(r), '{NOT_IN_ROWS}')
        THEN {refusal(REFUSAL_ROW, "VARCHAR[]")} ELSE r::VARIANT::VARCHAR[] END""",
    "reid_are_exact": f"""(c) AS CAST(CASE WHEN ({EXACT}) IS NOT TRUE THEN {sql_literal(COLLATED)}
        WHEN {has_interval("c")} THEN {sql_literal(REFUSAL_INTERVAL.format("them"))}
        WHEN {has_collation("c")} THEN {sql_literal(INEXACT)}
        WHEN starts_with(version(), 'v1.') AND {has_variant("c")} THEN {sql_literal(REFUSAL_VARIANT)}
        ELSE 'true' END AS BOOLEAN)""",
    "reid_are_columns": f"""(people, given, example) AS CAST(coalesce({REFUSE}('constants', people,
        CASE WHEN alias(CASE WHEN false THEN given END) = 'NULL' THEN alias(given)
        ELSE alias(CASE WHEN false THEN given END) END, example), 'true') AS BOOLEAN)""",
}


# Comments on the functions, for whoever browses DuckDB's catalogue.


def comments(functions: Mapping[str, Function]) -> str:
    """Write the statements that put each function's summary, call and source as a comment on its macro."""
    statements = []
    for declared in functions.values():
        kind = "MACRO" if declared.answer.of_rows else "MACRO TABLE"
        words = f"{declared.words} {declared.signature}. Source: {declared.source}"
        # tools that split a script at semicolons do so within texts too
        plain = words.replace(";", ",")
        statements.append(f"COMMENT ON {kind} {HOME}{declared.name} IS {sql_literal(plain)};\n")
    return "".join(statements)
