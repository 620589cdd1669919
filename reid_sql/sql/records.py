"""Records in SQL: distinct ones with their counts, codes of their values, bounds on the memory they take."""

from collections.abc import Sequence

from reid_sql.models.classes.class_keys import REMEDY_MEMORY
from reid_sql.models.fitted_model import FittedModel
from reid_sql.parameters import ColumnNames
from reid_sql.reduction import REFUSAL_REPEATED_KEY
from reid_sql.sql.text import Source, aliases, all_null, numbered, same, text

# the Python function that matches records where NULL is any value
MATCHES = "reid_wildcard_class_sizes"
# the Python function that chooses cells to hide besides unsafe ones
SUPPRESSED = "reid_suppressed_cells"
ROUNDED = "reid_rounded_cells"  # the Python function that rounds counts so that totals add up


def with_null_report(source: Source, columns: ColumnNames, nulls: str, body: str) -> str:
    """Add to each row of a plan how NULLs were treated, and how many records that dropped."""
    if nulls != "drop":
        return f"""
        SELECT reid_counted.*, 0::BIGINT AS records_dropped, {text(nulls)} AS nulls
        FROM ({body}) AS reid_counted"""
    # The count is a query of its own: a column that the table lacks must not bind to one of the result.
    return f"""
        SELECT reid_counted.*, reid_left_out.records_dropped, {text(nulls)} AS nulls
        FROM ({body}) AS reid_counted, ({source.count_nulls(columns)}) AS reid_left_out(records_dropped)"""


def with_null_report_of_all(
    tables: Sequence[tuple[Source, Sequence[str]]], nulls: str, body: str
) -> str:
    """Add to each row of a plan the same of several tables, each with the columns that it reads."""
    dropped = "0::BIGINT"
    if nulls == "drop":
        counts = [f"({source.count_nulls(columns)})" for source, columns in tables]
        dropped = f"({' + '.join(counts)})::BIGINT"
    return f"""
        SELECT reid_counted.*, {dropped} AS records_dropped, {text(nulls)} AS nulls
        FROM ({body}) AS reid_counted"""


def count_distinct(source: Source, columns: ColumnNames, nulls: str, side: int = 0) -> str:
    """Number the distinct records of one side, each with how many records hold it."""
    return f"""
        SELECT {side} AS side, row_number() OVER () AS id, {numbered(columns)}, records
        FROM (
          SELECT {numbered(columns)}, count(*) AS records
          FROM {source.rows(columns, drop_nulls=nulls == "drop")}
          GROUP BY {numbered(columns)}
        )"""


def count_classes(
    source: Source, columns: ColumnNames, nulls: str, *, is_checked: bool = True
) -> str:
    """Count the records of each class, or the matches of each distinct record where NULL is any value."""
    if nulls == "wildcard":
        return f"""
            {match_records(columns, count_distinct(source, columns, nulls))}
            SELECT class_size, records FROM reid_matched"""
    return f"""
        SELECT count(*) AS class_size, count(*) AS records
        FROM {source.rows(columns, drop_nulls=nulls == "drop", is_checked=is_checked)}
        GROUP BY {numbered(columns)}"""


def encode_values(columns: ColumnNames, relation: str, *, in_order: bool = False) -> str:
    """Join to each row of a relation the codes of its values: code1, code2, …, NULL for NULL."""
    return "".join(
        f"""
        LEFT JOIN (
          SELECT v{place},
            row_number() OVER ({f"ORDER BY v{place} ASC NULLS LAST" if in_order else ""}) AS code{place}
          FROM (SELECT DISTINCT q{place} AS v{place} FROM {relation} WHERE q{place} IS NOT NULL)
        ) ON q{place} = v{place}"""
        for place, _ in enumerate(columns, 1)
    )


def list_codes(columns: ColumnNames) -> str:
    """List for each column the codes of all rows, 0 for NULL."""
    listed = (f"list(coalesce(code{place}, 0)::INTEGER)" for place, _ in enumerate(columns, 1))
    return f"[{', '.join(listed)}]"


def codes_of(columns: ColumnNames) -> str:
    """List the codes of a row, 0 for NULL."""
    return f"[{', '.join(f'coalesce(code{place}, 0)' for place, _ in enumerate(columns, 1))}]"


def match_records(columns: ColumnNames, distinct_records: str, other: int = 0) -> str:
    """Match distinct records with those of the other side, NULL with any value: a WITH clause, reid_matched.

    Each record is a list of codes, 0 for NULL; one call of a Python function matches them all.
    """
    return f"""
        WITH reid_distinct AS MATERIALIZED ({distinct_records}),
        reid_coded AS (
          SELECT side, id, records, {codes_of(columns)} AS codes
          FROM reid_distinct {encode_values(columns, "reid_distinct")}
        ),
        reid_sizes AS ({count_matches(other, "class_size")}),
        reid_matched AS (
          SELECT reid_distinct.*, class_size
          FROM reid_distinct JOIN reid_sizes ON reid_distinct.id = reid_sizes.id
          WHERE side = 0
        )"""


def count_matches(other: int, alias: str) -> str:
    """Count for each record of side 0, by its id, the records of the other side that match it."""
    return f"""
        SELECT unnest(sizes) AS {alias}, unnest(range(1, len(sizes) + 1)) AS id
        FROM (
          WITH reid_begun AS MATERIALIZED (
            SELECT reid_begin('{MATCHES}',
              (list(codes ORDER BY id ASC) FILTER (side = 0))::BIGINT[][],
              (list(codes ORDER BY id ASC) FILTER (side = {other}))::BIGINT[][],
              (list(records ORDER BY id ASC) FILTER (side = {other}))::BIGINT[]
            ) AS reid_number FROM reid_coded
          ),
          reid_waited AS MATERIALIZED (
            SELECT reply
            FROM (SELECT {MATCHES}(reid_number) AS reply FROM range(9223372036854775807), reid_begun)
            WHERE reply IS NOT NULL LIMIT 1
          )
          SELECT CASE WHEN struct_extract(reply, 'refusal') IS NULL THEN struct_extract(reply, 'answers')
            ELSE error(struct_extract(reply, 'refusal')) END AS sizes
          FROM reid_waited
        )"""


def sum_blank_records(columns: ColumnNames, nulls: str) -> str:
    """Sum the records that are NULL in every column, which match all others where NULL is any value."""
    if nulls != "wildcard":
        return "NULL::BIGINT"
    return f"coalesce(sum(records) FILTER ({all_null(columns)}), 0)::BIGINT"


def log_expected(columns: ColumnNames, relation: str, groups: Sequence[str] = ()) -> str:
    """Select from distinct records the log of the count that each would have with independent columns.

    ln E = sum_i ln n_i - (d - 1) ln n: n records, n_i of which hold the record's value in column i of d.
    Within each of the groups, if there are any. Behind a comma in the place of CROSS JOIN, DuckDB 1.4 loses
    records in the joins that follow.
    """
    head = "".join(f"{group}, " for group in groups)
    # In the order of the numbers: the order of the columns changes no digit.
    terms = ", ".join(f"m{place}" for place, _ in enumerate(columns, 1))
    marginals = f"list_sum(list_sort([{terms}]))"
    joins = "".join(
        f"""
        JOIN (
          SELECT {head}q{place} AS v{place}, ln(sum(records)) AS m{place}
          FROM {relation} GROUP BY {head}q{place}
        ) AS reid_values_{place}
          ON {same(relation, f"reid_values_{place}", [*groups, f"q{place}"], [*groups, f"v{place}"])}"""
        for place, _ in enumerate(columns, 1)
    )
    total = f"SELECT {head}ln(sum(records)) AS total FROM {relation}"
    grouped = f"{total} GROUP BY {', '.join(groups)}" if groups else total
    joined = f"JOIN ({grouped}) AS reid_all ON {same(relation, 'reid_all', groups)}"
    return f"""
        SELECT {relation}.*, {marginals} - {len(columns) - 1} * total AS log_expected
        FROM {relation} {joined if groups else f"CROSS JOIN ({total})"} {joins}"""


def value_text(alias: str) -> str:
    """The text of a value as a model reads it; refuses types whose values differ where their texts do not.

    These are 1 and '1' in one UNION or VARIANT. What is in quotes within a type is a name, or a word of an
    ENUM.
    """
    bare = f"""regexp_replace(typeof({alias}), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g')"""
    return f"""CASE WHEN regexp_matches({bare}, '\\b(UNION|VARIANT)\\b')
        THEN error(('columns of a model must be of types whose values differ as texts, got '
          || {bare} || '; cast the column in a view')::VARCHAR)::VARCHAR
        ELSE {alias}::VARCHAR END"""


def value_texts(columns: ColumnNames) -> str:
    """List the texts of a record's values."""
    return f"[{', '.join(map(value_text, aliases(len(columns))))}]"


def fits_memory(bytes_each: int, what: str = " distinct records") -> str:
    """Test that a function that gets so many records at once stays within DuckDB's memory_limit."""
    setting = "current_setting('memory_limit')"
    return f"""CASE WHEN count(*) * {bytes_each}::HUGEINT > {MEMORY_LIMIT}
        THEN error(('memory_limit must be at least ' || (count(*) * {bytes_each}::HUGEINT + 999999) // 1000000
          || ' MB for ' || count(*) || {text(what)} || ', got ' || {setting}
          || {text(f"; {REMEDY_MEMORY}")})::VARCHAR)::BOOLEAN
        ELSE true END"""


# DuckDB's memory_limit in bytes, from words such as 4.7 GiB; without a limit it has more than a BIGINT.
MEMORY_LIMIT = """least(9e18, regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE
        * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'],
          regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1))::BIGINT"""


def named_by_key(
    source: Source, columns: ColumnNames, key: str | None, nulls: str, body: str
) -> str:
    """Write the body behind the check that the key differs between the records that it answers for."""
    if key is None:
        return body
    where = f"WHERE {' AND '.join(f'q{place} IS NOT NULL' for place in range(2, len(columns) + 2))}"
    return f"""
        SELECT reid_answer_of.*
        FROM ({body}) AS reid_answer_of, (
          SELECT {is_key("q1")} AS reid_is_key
          FROM {source.rows([key, *columns], is_checked=False)} {where if nulls == "drop" else ""}
        ) WHERE reid_is_key"""


def is_key(alias: str) -> str:
    """Test in an aggregate that the values differ, one NULL among them; else refuse. No value is named."""
    return f"""CASE WHEN count(DISTINCT {alias}) + least(1, count(*) - count({alias})) < count(*)
        THEN error({text(REFUSAL_REPEATED_KEY)})::BOOLEAN ELSE true END"""


def with_scores(
    source: Source, model: FittedModel, arguments: Sequence[str], function: str, body: str
) -> str:
    """Write the body behind reid_scored: the values as reid_q1, reid_q2, …, and reid_answer.

    They are scored in the model's order, so that those that begin alike are next to each other.
    """
    columns = list(model.columns)
    shown = ", ".join(f"q{place} AS reid_q{place}" for place, _ in enumerate(columns, 1))
    order = ", ".join(f"q{column + 1} ASC NULLS LAST" for column in model.order)
    call = f"reid_body_{function}({', '.join([value_texts(columns), 'class_size', *arguments])})"
    return source.check_columns(
        "columns of the model",
        columns,
        f"""
        WITH reid_distinct AS MATERIALIZED (
          SELECT {numbered(columns)}, count(*) AS class_size
          FROM {source.rows(columns)} GROUP BY {numbered(columns)}
        ),
        reid_scored AS MATERIALIZED (
          SELECT * EXCLUDE (reid_found), CASE WHEN struct_extract(reid_found, 'refusal') IS NULL
            THEN struct_extract(reid_found, 'answer')
            ELSE error(struct_extract(reid_found, 'refusal')) END AS reid_answer
          FROM (SELECT {shown}, {call} AS reid_found FROM (FROM reid_distinct ORDER BY {order}))
        )
        {body}""",
    )
