"""Refusals that only a running query can decide: it passes the names and types that DuckDB resolved.

One Python function answers all of them, so that a sentence is written once for SQL and for Python.
"""

import json
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

import duckdb

from reid_sql.engines.counted_rows import warn_of_values
from reid_sql.engines.duckdb.names import BETWEEN_COLUMNS, WINDOWS_WITH_DEFAULTS
from reid_sql.engines.file_headers import RENAMED, refuse_misread, refuse_repeated_names
from reid_sql.errors import MissingCodesWarning, OutOfDomainError, ReidError
from reid_sql.models.columns.units import MAX_TEXTS_COMPARED, UNIT_VALUE
from reid_sql.parameters import Choice, ColumnNames, Columns, fold_case
from reid_sql.reduction import refuse_entity
from reid_sql.sql.text import place_of

EXACT_NUMBER: Final = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?|HUGEINT|DECIMAL\(\d+,\d+\)")
DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")
ROW: Final = re.compile(r'(?s).*?"row"\((.*)\)(?:\) ELSE CAST\(NULL AS .*)?')  # alone, or in a CASE
NAMES_ALONE: Final = re.compile(r"\b(struct_pack|struct_insert|struct_update|union_value)\(")
SUBQUERY: Final = "SUBQUERY"  # how DuckDB shows one
PARSE: Final = "SELECT json_serialize_sql(?)"
LOCK: Final = threading.Lock()
QUOTED: Final = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\""
)  # in a type: a word of an ENUM, a name
ENUM_WORDS: Final = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, ?)?)+\)")
REFUSAL_CAPITALS: Final = (
    "columns must differ by more than capitals, got '{0}' for a table with '{1}' and '{2}', which DuckDB "
    "calls '{3}'; rename one of them"
)
CAUTION_MANY_TEXTS: Final = (
    "Column '{}' has more than {:,} texts, so no one looked for those that are written alike, or stand for a "
    "missing value."
)
VARIANT: Final = re.compile(r"\bVARIANT(?![\w ])")  # a field of that name has its type after it
MAX_DIGITS: Final = 38  # of a DECIMAL; with more, the common type would round


def refuse(*call: Any) -> str | None:  # noqa: ANN401 - what DuckDB passes
    """Return the refusal by the rule that is named first, or None."""
    rule, *arguments = call
    try:
        return RULES[rule](*arguments)
    except ReidError as error:  # raised, the engine would wrap the sentence in its own
        return str(error)


def _missing_columns(
    label: str, columns: ColumnNames, names: ColumnNames, table: str = "the table"
) -> str | None:
    have = {fold_case(column) for column in names}
    for column in columns:
        _refuse_renamed(column, names)
        if fold_case(column) not in have:
            Columns(label, table=table).known([column], names)
    return None


def _other_word(name: str, shown: str, words: Sequence[str]) -> str:
    """Refuse a word by what DuckDB shows of it: a column by its name, so that no value is repeated."""
    return Choice(tuple(words)).check(name, shown.strip("'"))


def _misread_file(path: str, names: ColumnNames, header: Sequence[str] | None) -> None:
    """Refuse a file whose columns DuckDB finds otherwise than it names them, in lines or in a schema."""
    words = f"'{path}'"
    if not path.lower().removesuffix(".gz").removesuffix(".zst").endswith(".parquet"):
        refuse_misread(words, names, header or [])
        return
    fields = [field.split(" ", 1) for field in header or ["0 "]]
    columns, within = [], 0
    for children, name in fields[1:]:
        if not within:
            columns.append(name)
        within = max(0, within - 1) + int(children)
    refuse_repeated_names(words, columns, str)


def _refuse_renamed(column: str, names: ColumnNames) -> None:
    """Refuse a name that two columns of a file or frame have but for capitals.

    DuckDB ignores capitals: of "Age" and "age" it names the second "age_1", and would find the first by
    the name of the second.
    """
    first = next((each for each in names if fold_case(each) == fold_case(column)), column)
    if first == column:
        return
    for each in names:
        second = RENAMED.sub("", each)
        if second not in {each, first} and fold_case(second) == fold_case(column):
            raise OutOfDomainError(REFUSAL_CAPITALS.format(column, first, second, each))


def _unlike_types(
    columns: ColumnNames,
    names: ColumnNames,
    types: Sequence[str],
    other_names: Sequence[str],
    other_types: Sequence[str],
) -> str | None:
    for column in columns:
        places = place_of(column, names), place_of(column, other_names)
        if not all(places):
            continue  # another check names the column that a table lacks
        one, other = types[places[0] - 1], other_types[places[1] - 1]
        if not are_comparable(one, other):
            return (
                f"quasi-identifiers must have the same types in both tables, got '{column}' as "
                f"{_hide_words(one)} and {_hide_words(other)}; cast one of the columns in a view"
            )
    return None


def _unlike_keys(one: str | None, other: str | None, label: str = "key") -> str | None:
    if one is None or other is None or (_kind(one) == _kind(other) and _has_digits(one, other)):
        return None
    rule = f"{label} must have the same type in both tables, got {_hide_words(one)} and {_hide_words(other)}"
    return f"{rule}; cast one of the columns in a view"


def _warn_of_nobodies(unit: str, column: str, *counts: Any) -> None:  # noqa: ANN401 - what DuckDB passes
    """Warn of values of a column of people or households that may stand for nobody."""
    from reid_sql.models.columns.nobodies import counts_of_nobodies  # noqa: PLC0415 - it reads lists of words

    warn_of_values(column, counts_of_nobodies(counts), unit)


def _warn_of_values(column: str, texts: Sequence[str] | None, sizes: Sequence[int] | None) -> None:
    """Warn of texts of a sensitive column that are written alike, or stand for missing ones."""
    from reid_sql.models.columns.nobodies import count_texts  # noqa: PLC0415 - it reads lists of words

    if len(texts or ()) > MAX_TEXTS_COMPARED:
        warnings.warn(
            CAUTION_MANY_TEXTS.format(column, MAX_TEXTS_COMPARED), MissingCodesWarning, stacklevel=2
        )
        return
    warn_of_values(column, count_texts(texts or (), sizes or ()), UNIT_VALUE)


def _clashing_names(names: ColumnNames, added: Sequence[str]) -> str | None:
    for column in names:
        if fold_case(column) in added:
            return (
                f"columns of the table must not be named like the columns of the scores, got '{column}'; "
                "rename the column in a view"
            )
    return None


def _several_types(column: str, names: ColumnNames, types: Sequence[str]) -> str | None:
    """Refuse a VARIANT: 1, 1.0 and '1' are one, two or three of its values, as each operator has it."""
    place = place_of(column, names)
    if not place or not VARIANT.search(QUOTED.sub("", types[place - 1])):
        return None
    rule = f"sensitive must be a column of values of one type, got '{column}' of type VARIANT"
    return f"{rule}; cast it in a view to the type of its values, or to JSON"


def are_comparable(one: str, other: str) -> bool:
    """Whether values of two types compare exactly: a cast would make one class of several.

    HUGEINT and UHUGEINT become DOUBLE; a type of lists begins as that of their items.

    >>> are_comparable("INTEGER", "DECIMAL(9,2)"), are_comparable("VARCHAR", "INTEGER")
    (True, False)
    """
    if one == other or '"NULL"' in {one, other}:
        return True
    return _kind(one) == _kind(other) and _has_digits(one, other)


def _kind(kind: str) -> str:
    if EXACT_NUMBER.fullmatch(kind):
        return "whole or decimal"
    if kind in {"FLOAT", "DOUBLE"}:
        return "floating"
    return "VARCHAR" if kind.startswith("ENUM(") and kind.endswith(")") else kind


def _hide_words(kind: str) -> str:
    """The type without the words of an ENUM, which are values of the table.

    >>> _hide_words("ENUM('Ann', 'it''s Bob')[]")
    'ENUM[]'
    """
    return ENUM_WORDS.sub("ENUM", kind)


def _has_digits(one: str, other: str) -> bool:
    """Whether a DECIMAL can hold the values of both."""
    matches = [DECIMAL.fullmatch(one), DECIMAL.fullmatch(other)]
    digits = [(int(match[1]) - int(match[2]), int(match[2])) for match in matches if match]
    if len(digits) < 2:  # noqa: PLR2004 - one of two
        return True
    return max(before for before, _ in digits) + max(after for _, after in digits) <= MAX_DIGITS


@lru_cache(maxsize=256)
def _constants(people: int, row: str, example: str) -> str | None:
    """Refuse what is no column: a constant would make one class of all records.

    The text is DuckDB's own of the expressions that it bound, within a row.
    """
    match = ROW.fullmatch(row)
    shown = match[1].split(f", '{BETWEEN_COLUMNS}', ") if match else [row]
    if len(shown) - people in WINDOWS_WITH_DEFAULTS:
        while shown[-1] == "NULL":  # the columns that were not given
            shown.pop()
    for expression in shown:
        if not has_column(expression):
            function = example.partition("(")[0]
            return (
                f"{function} must be given columns, got {expression}; write the names without quotes or "
                f"brackets, such as {example}"
            )
    entity = fold_case(shown[0])
    if people and entity in map(fold_case, shown[1:]):
        refuse_entity([entity], shown[0].lower(), "value")
    return None


def has_column(expression: str) -> bool:
    """Whether a record's value depends on its columns; a subquery's does not.

    Names are shown without quotes, so that one may be no SQL. Functions whose arguments have names show the
    names alone: {'a': 'x'} is struct_pack(a).

    >>> has_column("age"), has_column("concat('a', 'b')"), has_column('"row"(age, 1)')
    (True, False, False)
    """
    if NAMES_ALONE.search(expression):
        return False
    with LOCK:
        parsed = json.loads(open_parser().execute(PARSE, [f"SELECT {expression}"]).fetchall()[0][0])
    if parsed.get("error"):
        return "(" not in expression
    return _has_column(parsed["statements"][0]["node"]["select_list"][0])


@cache
def open_parser() -> duckdb.DuckDBPyConnection:
    """Open the side connection that parses expressions; whoever names columns alone never waits for it."""
    return duckdb.connect(config={"threads": 1, "enable_external_access": False})


def _has_column(node: Mapping[str, Any]) -> bool:
    if node.get("function_name") == "row":
        # in DuckDB 1.5 they are its children
        arguments = node.get("arguments", node.get("children", []))
        return all(_has_column(each.get("expression", each)) for each in arguments)
    return bool(_columns_in(node) - {SUBQUERY})


def _columns_in(node: Any) -> set[str]:  # noqa: ANN401 - a part of a parsed expression
    if isinstance(node, list):
        return set().union(*map(_columns_in, node))
    if not isinstance(node, dict):
        return set()
    # columns of these very names: * and #1
    if node.get("class") in {"STAR", "POSITIONAL_REFERENCE"}:
        return {str(node["class"])}
    if node.get("class") == "COLUMN_REF":
        return {".".join(node["column_names"])}
    mentioned = set().union(*map(_columns_in, node.values()))
    return mentioned - _columns_in(node.get("lhs")) if node.get("class") == "LAMBDA" else mentioned


RULES: Final[Mapping[str, Callable[..., str | None]]] = {
    "columns": _missing_columns,
    "file": _misread_file,
    "types": _unlike_types,
    "keys": _unlike_keys,
    "sensitive": _several_types,
    "names": _clashing_names,
    "constants": _constants,
    "nobodies": _warn_of_nobodies,
    "values": _warn_of_values,
    "choice": _other_word,
}
