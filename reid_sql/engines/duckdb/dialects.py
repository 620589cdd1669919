"""Plain SQL in the dialect of another database, by sqlglot: what DuckDB alone has is written otherwise."""

import re
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

import duckdb

from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError, suggestion

DUCKDB: Final = "duckdb"
NOT_SQL: Final = frozenset({"", "dax", "prql"})  # languages that sqlglot reads and does not write
LOWER_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*")
NOTHING_LARGER: Final = "1.7976931348623157e308"
# The refusal of an empty table: no other database has a function for it, and NULLs are the answer there.
READS_ALL: Final = re.compile(r"\s*WHERE row\([^()]*\)::VARCHAR <> ''")


def refuse_dialect(dialect: str) -> None:
    """Refuse a dialect that sqlglot does not know, or any but DuckDB's where it is missing."""
    if dialect == DUCKDB:
        return
    if find_spec("sqlglot") is None:
        raise UnavailableError(
            f"--dialect {dialect} must have sqlglot, got none; "
            "pip install 'reid-sql[ibis]', or write DuckDB's SQL"
        )
    from sqlglot.dialects.dialect import Dialects  # noqa: PLC0415 - an optional extra

    dialects = sorted({each.value for each in Dialects} - NOT_SQL)
    if dialect not in dialects:
        raise UnknownNameError(
            f"--dialect must be one that sqlglot knows, got '{dialect}'; "
            f"{suggestion(dialect, dialects, 'dialects')}"
        )


def translate(query: str, dialect: str, function: str, *, is_divided: bool) -> str:
    """Translate a query of DuckDB that a call of the function runs, for each group if it `is_divided`.

    DuckDB alone names columns by a pattern: those of the groups of any call, and those of some functions.
    """
    import sqlglot  # noqa: PLC0415 - an optional extra
    from sqlglot import exp  # noqa: PLC0415 - the same

    if is_divided:
        raise OutOfDomainError(
            f"SQL of {dialect} must be written without by, got a call with it; "
            "ask about each group in a view of its own"
        )
    tree = sqlglot.parse_one(READS_ALL.sub("", query), read=DUCKDB)
    if any(tree.find_all(exp.Columns)):
        raise UnavailableError(
            f"SQL of {dialect} must be of a function that it can answer, got {function}, which is for DuckDB alone; "
            "`reid-sql query file.sql` runs it on a file, reid_sql.ibis on a table there"
        )
    return _write(tree, dialect)


def translate_expression(expression: str, dialect: str) -> str:
    """Translate an expression of DuckDB."""
    import sqlglot  # noqa: PLC0415 - an optional extra

    return _write(sqlglot.parse_one(expression, read=DUCKDB), dialect)


def _write(tree: Any, dialect: str) -> str:  # noqa: ANN401 - a tree of sqlglot
    from sqlglot import ErrorLevel, UnsupportedError, exp  # noqa: PLC0415 - an optional extra
    from sqlglot.transforms import eliminate_semi_and_anti_joins  # noqa: PLC0415 - the same

    if any(join.method == "ASOF" for join in tree.find_all(exp.Join)):
        raise UnavailableError(
            f"SQL of {dialect} must have all that the call needs, got one that has ASOF JOIN; "
            "run the call in DuckDB"
        )
    tree = tree.transform(_portable)
    for select in list(tree.find_all(exp.Select)):
        eliminate_semi_and_anti_joins(select)
        group = select.args.get("group")
        if group is not None and group.args.get("all"):  # few databases have GROUP BY ALL
            columns = [
                each.unalias().copy() for each in select.expressions if not each.find(exp.AggFunc)
            ]
            select.set("group", exp.Group(expressions=columns) if columns else None)
        _name_subqueries(select)
    try:
        return str(
            tree.sql(dialect, pretty=True, unsupported_level=ErrorLevel.RAISE, comments=False)
        )
    # the second where a rewriter of sqlglot breaks down
    except (UnsupportedError, AttributeError) as error:
        rule = f"SQL of {dialect} must have all that the call needs, got one thing that sqlglot cannot write"
        reason = " ".join(str(error).split())
        raise UnavailableError(f"{rule} ({reason}); run the call in DuckDB") from None


def _portable(node: Any) -> Any:  # noqa: ANN401 - the same
    """Write what DuckDB alone has in words of all."""
    from sqlglot import exp  # noqa: PLC0415 - an optional extra

    match node:
        case exp.Cast(this=exp.Anonymous(name="error")):
            return exp.cast(exp.null(), node.to)
        # of values that are the same
        case exp.AnyValue(this=value) | exp.IgnoreNulls(this=exp.Expression(this=value)):
            return exp.Max(this=value)
        # by which t_closeness chooses the faster of two equal ways
        case exp.ApproxDistinct():
            return exp.Literal.number(0)
        case exp.IsInf(this=value):
            largest = exp.Literal.number(NOTHING_LARGER)
            return exp.GT(this=exp.Abs(this=value), expression=largest)
        case exp.DataType(this=exp.DataType.Type.INT128 | exp.DataType.Type.INT256):
            return exp.DataType.build("DECIMAL(38, 0)", dialect=DUCKDB)
        case exp.Identifier(quoted=True, name=name) if LOWER_NAME.fullmatch(name):
            node.set("quoted", name in reserved_words())
    return node


@cache
def reserved_words() -> frozenset[str]:
    """The words that DuckDB takes for no name where they are not quoted."""
    with duckdb.connect() as con:
        rows = con.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'"
        )
        return frozenset(word for (word,) in rows.fetchall())


def _name_subqueries(select: Any) -> None:  # noqa: ANN401 - the same
    """Name each subquery in FROM or JOIN, and its columns within it, as most databases want it."""
    from sqlglot import exp  # noqa: PLC0415 - an optional extra

    sources = [
        select.args.get("from_") or select.args.get("from"),
        *(select.args.get("joins") or []),
    ]
    for place, source in enumerate(filter(None, sources)):
        subquery = source.this
        if not isinstance(subquery, exp.Subquery):
            continue
        if not subquery.alias:
            subquery.set("alias", exp.TableAlias(this=exp.to_identifier(f"reid_part_{place}")))
        names = subquery.args["alias"].args.get("columns") or []
        if names and isinstance(subquery.this, exp.Select):
            cells = zip(subquery.this.expressions, names, strict=True)
            subquery.this.set(
                "expressions", [exp.alias_(cell.unalias(), name.name) for cell, name in cells]
            )
            subquery.args["alias"].set("columns", [])
