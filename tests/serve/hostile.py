"""Statements that ask for rows, files and settings, in families: each form with each payload.

`hostile.sql` has those that somebody thought of one by one. These are products, of the syntax of DuckDB 1.5
and 2.0.
"""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

LISTED = Path(__file__).with_name("hostile.sql").read_text(encoding="utf-8").splitlines()
TABLES = [
    "people", '"people"', "main.people", "memory.main.people", "PEOPLE", "people AS p", "people p(a, b)", "(people)",
    "ONLY people", "people TABLESAMPLE 5 ROWS", "people AT (VERSION => 1)", "peo/**/ple", "pe\u043eple", "people\u200b",
    "\u00a0people", "U&'\\0070eople'", "$$people$$", "people\u0000", "reid.people", "other.people",
]  # fmt: skip
ROWS = [
    "SELECT name FROM people", "FROM people SELECT name", "TABLE people", "SELECT p.name FROM (FROM people) p",
    "SELECT name FROM people GROUP BY name HAVING max(age) > 1", "SELECT max(name) FROM people",
    "SELECT first(name ORDER BY age) FROM people", "SELECT name FROM people QUALIFY row_number() OVER () = 1",
    "SELECT columns(c -> c = 'name') FROM people", "SELECT * EXCLUDE (age) FROM people",
    "SELECT * RENAME (name AS x) FROM people", "SELECT DISTINCT ON (sex) name FROM people",
]  # fmt: skip
FORMS = [
    "SELECT * FROM ({}) AS x", "WITH x AS ({}) SELECT * FROM x", "WITH x AS MATERIALIZED ({}) FROM x",
    "WITH RECURSIVE x AS ({} UNION ALL FROM x) FROM x", "WITH RECURSIVE x(a) USING KEY (a) AS ({} UNION FROM x) FROM x",
    "SELECT 'a' UNION ALL ({})", "({}) EXCEPT SELECT 'a'", "({}) INTERSECT ALL ({})", "({}) UNION BY NAME ({})",
    "SELECT ({} LIMIT 1)", "SELECT ARRAY({})", "SELECT EXISTS ({})", "SELECT 'a' IN ({})", "SELECT 'a' < ANY ({})",
    "SELECT [x FOR x IN ARRAY({})]", "SELECT list_transform([1], lambda y: ({} LIMIT 1))", "SELECT {{'a': ({} LIMIT 1)}}",
    "SELECT coalesce(NULL, ({} LIMIT 1))", "SELECT CASE WHEN true THEN ({} LIMIT 1) END", "SELECT try(({} LIMIT 1))",
    "SELECT error(({} LIMIT 1))", "SELECT ({} LIMIT 1)::INT", "SELECT TRY_CAST(({} LIMIT 1) AS DATE)",
    "FROM (SELECT 1), LATERAL ({}) AS x", "FROM (SELECT 1) AS a LEFT JOIN LATERAL ({}) AS x ON true",
    "FROM ({}) AS a POSITIONAL JOIN ({}) AS b", "FROM ({}) AS a ASOF JOIN ({}) AS b ON a.name >= b.name",
    "FROM ({}) AS a SEMI JOIN ({}) AS b USING (name)", "FROM ({}) AS a ANTI JOIN (SELECT 1) AS b ON false",
    "SELECT k, ({} LIMIT 1) FROM reid.risk_summary(people, ['age'])",
    "FROM reid.risk_summary(people, ['age']) WHERE status IN ({})",
    "FROM reid.risk_summary(people, ['age']) ORDER BY ({} LIMIT 1)",
    "SELECT count(*) FROM people GROUP BY sex HAVING ({} LIMIT 1) > 'a'",
    "SELECT sex, count(*) FROM people GROUP BY sex LIMIT (SELECT length(x) FROM ({}) AS t(x))",
    "SELECT sex, count(*) FROM people WHERE sex IN ({}) GROUP BY sex",
    "EXPLAIN {}", "EXPLAIN ANALYZE {}", "EXPLAIN (FORMAT json) {}", "SUMMARIZE {}", "FROM (SUMMARIZE {})",
    "PIVOT ({}) ON name USING count(*)", "UNPIVOT ({}) ON COLUMNS(*) INTO NAME a VALUE b", "{} LIMIT 10 PERCENT",
    "COPY ({}) TO '/tmp/reid_hostile.csv'", "COPY ({}) TO '/dev/stdout' (FORMAT csv)", "CREATE TABLE x AS {}",
    "CREATE OR REPLACE TEMP VIEW x AS {}", "CREATE MACRO m() AS TABLE {}", "INSERT INTO other BY NAME {}",
    "MERGE INTO other USING ({}) AS x ON false WHEN NOT MATCHED THEN INSERT", "PREPARE p AS {}", "{}; SELECT 1",
    "SELECT 1; {}", "/* a */ {} -- b", "--\n{}", "/* /* */ {} /* */ */ {}", "CALL query('{}')", "FROM query('{}')",
    "FROM json_execute_serialized_sql(json_serialize_sql('{}'))", "EXECUTE IMMEDIATE '{}'", "{} INTO OUTFILE 'x'",
    "FROM ({}) |> SELECT name", "FROM quack_query('quack:localhost:9494', '{}')", "SELECT $1 FROM ({})",
    "SET VARIABLE x = ({} LIMIT 1)", "UPDATE other SET age = 1 WHERE EXISTS ({})", "DELETE FROM other USING ({}) AS x",
]  # fmt: skip
AGGREGATES = [
    "first", "last", "arbitrary", "any_value", "mode", "min", "max", "list", "array_agg", "string_agg", "group_concat",
    "listagg", "histogram", "histogram_exact", "median", "quantile_disc", "approx_quantile", "reservoir_quantile",
    "approx_top_k", "approx_count_distinct", "entropy", "product", "bitstring_agg", "bit_xor", "bool_or", "fsum",
    "kahan_sum", "geomean", "mad", "skewness", "stddev", "var_pop", "arg_min", "max_by", "arg_max_null", "map", "corr",
    "regr_slope", "json_group_array", "json_group_object", "count_if", "sumkahan", "checksum", "sum_no_overflow",
]  # fmt: skip
WINDOWS = ["row_number()", "lag(name)", "first_value(name)", "nth_value(name, 2)", "ntile(400)", "rank(ORDER BY name)",
           "count(*)", "sum(income)", "fill(income)", "cume_dist()", "max(name)"]  # fmt: skip
OVER = ["OVER ()", "OVER (ORDER BY name)", "OVER (PARTITION BY name ROWS 1 PRECEDING EXCLUDE TIES)"]
READERS = [
    "read_csv", "read_csv_auto", "sniff_csv", "read_text", "read_blob", "read_parquet", "parquet_scan", "parquet_metadata",
    "parquet_file_metadata", "parquet_kv_metadata", "parquet_bloom_probe", "read_json", "read_json_auto", "read_ndjson",
    "read_json_objects", "glob", "read_xlsx", "read_duckdb", "read_avro", "delta_scan", "sqlite_scan", "postgres_query",
    "query", "query_table", "seq_scan", "arrow_scan", "pandas_scan", "python_map_function", "sql_auto_complete", "repeat_row",
    "pragma_storage_info", "storage_info", "table_info", "which_secret", "unnest", "summary", "load_aws_credentials",
    "vector_type", "get_substrait", "from_substrait", "register_geoarrow_extensions", "test_vector_types", "checkpoint",
]  # fmt: skip
FILES = ["'/etc/passwd'", "'people.csv'", "['https://localhost/x.csv']", "'people'", "people"]
SETTINGS = [
    "SET {}", "SET GLOBAL {}", "SET SESSION {}", "PRAGMA {}", "SET VARIABLE {}", "SELECT set_config({})",
    "RESET {}",
]  # fmt: skip
SET = [
    "enable_external_access = true", "lock_configuration = false", "threads = 99", "search_path = 'system'", "schema = 'x'",
    "memory_limit = '1TB'", "allow_community_extensions = true", "custom_extension_repository = 'http://localhost'",
    "quack_authorization_function = 'quack_nop_authorization'", "logging_level = 'trace'", "profiling_output = 'x.json'",
    "enable_profiling = 'json'", "log_query_path = '/tmp/reid_hostile.log'", "home_directory = '/tmp'",
    "allowed_paths = ['/']", "autoinstall_known_extensions = true", "file_search_path = '/'", "secret_directory = '/tmp'",
]  # fmt: skip
COMMANDS = [
    "INSTALL {}", "FORCE INSTALL {}", "LOAD {}", "INSTALL {} FROM community", "ATTACH '{}' AS x", "ATTACH OR REPLACE '{}'",
    "DETACH {}", "USE {}", "EXPORT DATABASE '{}'", "IMPORT DATABASE '{}'", "COPY FROM DATABASE memory TO {}", "DROP TABLE {}",
    "TRUNCATE {}", "VACUUM {}", "ANALYZE {}", "ALTER TABLE {} RENAME TO x", "COMMENT ON TABLE {} IS 'x'", "EXECUTE {}",
    "DEALLOCATE {}", "CHECKPOINT {}", "CREATE SECRET {} (TYPE s3)", "DROP SECRET {}", "CREATE TYPE {} AS ENUM (FROM other)",
    "CREATE SCHEMA {}", "CREATE INDEX i ON {} (name)", "CREATE TRIGGER t ON {}", "UPDATE EXTENSIONS ({})", "CONNECT '{}'",
    "BEGIN; FROM {}", "GRANT SELECT ON {} TO x", "COPY {} FROM '/etc/passwd'", "COPY {} TO '/tmp/reid_hostile.db'",
]  # fmt: skip


def generate() -> Iterator[str]:
    """Write each form with the next payload, so that each payload is in several forms."""
    for table in TABLES:
        yield f"SELECT name FROM {table}"
        yield f"FROM {table} ORDER BY name LIMIT 3"
    payloads = cycle(ROWS)
    for _ in range(3):
        for form in FORMS:
            payload = next(payloads)
            yield form.format(*[payload] * form.count("{}"))
    for name in AGGREGATES:
        yield f"SELECT {name}(name) FROM people"
        yield f"SELECT sex, {name}(income, age) FILTER (age = 20) FROM people GROUP BY sex"
    for over in OVER:
        yield from (f"SELECT {window} {over} FROM people" for window in WINDOWS)
    files = cycle(FILES)
    for reader in READERS:
        yield f"FROM {reader}({next(files)})"
        yield f"SELECT sex, count(*) FROM people, {reader}({next(files)}) GROUP BY sex"
    for place, setting in enumerate(SET):
        yield from (each.format(setting) for each in SETTINGS[place % 2 :: 2])
    for command in COMMANDS:
        yield from (command.format(name) for name in ("people", "httpfs"))


HOSTILE = list(dict.fromkeys([*LISTED, *generate()]))
