-- Re-identification risk as plain macros, for every client of DuckDB 1.5 or later. Nothing here needs Python.
--
-- The functions, parameters and result columns are those of the Python package reid-sql, which has more:
--   cell_risk(p, n, measure)          measure 'uniqueness', 'correctness' or 'correctness_of_uniqueness'
--   equivalence_class_size(c1, ...), equivalence_class_people(entity, c1, ...)  1 to 8 columns
--   class_size_histogram(tbl, qi, nulls), equivalence_classes(tbl, qi, nulls)
--   risk_summary(tbl, qi, threshold, nulls), journalist_risk(tbl, population_tbl, qi, threshold, nulls)
--   l_diversity(tbl, qi, sensitive, variant, c, l, nulls)    variant 'distinct' or 'entropy', c unused
--   t_closeness(tbl, qi, sensitive, variant, t, nulls)       variant 'equal'
--   attribute_disclosure(tbl, qi, sensitive, measure, threshold, k, nulls)
--     measure 'alpha_k_anonymity', 'beta_likeness' (basic) or 'delta_disclosure' (present), k for the first
--   disclosing_classes(tbl, qi, sensitive, measure, threshold, k, nulls)  and 'l_diversity', 't_closeness'
--   household_risk(tbl, household, columns, threshold, nulls)
--   individual_risk(tbl, qi, weight, form, nulls)            no log-linear model: what it needs is NULL
--   unicity(tbl, entity, columns, points, nulls)             points 1, and every row is counted
--   attribute_risk(tbl, columns, max_size, nulls)            max_size 1, 2 or 3, and at most 5,000 subsets
--   suda_scores(tbl, columns, max_size, dis, nulls)          the same bounds
--   safe_table(tbl, by, k, nulls)                            the cells, and which rules they break
--   join_risk(left, right, on, qi, right_qi, k, nulls)       on identifies people, entity unused
--   compare_releases(first, second, qi, key, sensitive, nulls)  entity unused, and no tolerance
-- tbl is a table, view or CTE, or the path of a Parquet or CSV file, of which every column is read as text.
-- qi is a list of names, such as ['age', 'sex']. nulls is 'value' (NULL is a value like any other) or 'drop'
-- (records with a NULL are left out). Each row is one person, but for unicity.
-- Semicolons stand only where a statement ends: chr(59) is one in a text.
SET VARIABLE reid_has_types = (SELECT CASE WHEN count(*) = 0 THEN error('DuckDB must be 1.5 or later, got '
  || version() || chr(59) || ' update it, or use the Python package reid-sql') END
  FROM duckdb_functions() WHERE function_name = 'get_type');

-- Refusals: the rule, what was passed, what to do. Of a column its name is passed, and never a value.
CREATE OR REPLACE MACRO reid_refuse(rule, got, remedy) AS
  error(rule || ', got ' || coalesce(got, 'NULL') || chr(59) || ' ' || remedy);
CREATE OR REPLACE MACRO reid_number(label, value, low, high, is_whole) AS
  CASE WHEN TRY_CAST(value AS DOUBLE) BETWEEN low AND high
      AND NOT (is_whole AND (value)::DOUBLE <> floor((value)::DOUBLE)) THEN (value)::DOUBLE
    ELSE reid_refuse(label || ' must be a ' || CASE WHEN is_whole THEN 'whole ' ELSE '' END || 'number from '
      || low || ' to ' || high, regexp_replace(alias(value), '^CAST\((.*) AS [^)]*\)$|[.]0$', '\1'),
      'pass one within these bounds')::DOUBLE END;
CREATE OR REPLACE MACRO reid_choice(label, value, choices) AS
  CASE WHEN list_contains(choices, value) THEN value
    ELSE reid_refuse(label || ' must be ' || array_to_string(choices, ' or ') || ' in plain SQL', value,
      'pass that, or use the Python package reid-sql')::VARCHAR END;
-- An argument that needs Python: without it, what was passed for another one.
CREATE OR REPLACE MACRO reid_refuse_option(label, value, other) AS CASE
  WHEN (value)::VARCHAR IS NULL THEN other ELSE reid_refuse(label || ' must be left out in plain SQL', 'one',
    'use the Python package reid-sql')::VARCHAR END;
-- A list of 1 to 64 different names, or a single name. Names are the same in any case of A to Z.
CREATE OR REPLACE MACRO reid_fold_case(name) AS
  translate(name, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
CREATE OR REPLACE MACRO reid_names(label, names) AS
  list_transform(
    [CASE WHEN typeof(names) = 'VARCHAR' THEN [names::VARCHAR] ELSE TRY_CAST(names AS VARCHAR[]) END],
    lambda listed: CASE WHEN len(listed) BETWEEN 1 AND 64 AND len(listed)
        = len(list_distinct(list_transform(listed, lambda name: reid_fold_case(name)))) THEN listed
      ELSE reid_refuse(label || ' must be a list of 1 to 64 different column names', names::VARCHAR,
        'write it like [''age'', ''sex'']')::VARCHAR[] END)[1];

-- The text of a query over the user's table.
CREATE OR REPLACE MACRO reid_quote(name) AS '"' || replace(name, '"', '""') || '"';
CREATE OR REPLACE MACRO reid_text(value) AS '''' || replace(value, '''', '''''') || '''';
-- A file by its path, in which only * is a pattern, or a table, which DuckDB finds by its name.
CREATE OR REPLACE MACRO reid_table(tbl) AS
  CASE WHEN coalesce(trim(tbl), '') = '' THEN
      reid_refuse('tbl must be a table, view or file', 'an empty name', 'pass its name or path')::VARCHAR
    WHEN regexp_full_match(tbl, '(?is)[^"]*[.]parquet') THEN 'system.main.read_parquet('
      || reid_text(replace(replace(tbl, '[', '[[]'), '?', '[?]')) || ', hive_partitioning = false)'
    WHEN regexp_full_match(tbl, '(?is)[^"]*[.][ct]sv([.](gz|zst))?') THEN 'system.main.read_csv('
      || reid_text(replace(replace(tbl, '[', '[[]'), '?', '[?]'))
      || ', all_varchar = true, comment = '''', hive_partitioning = false)'
    WHEN regexp_full_match(tbl, '(?is)[^"]*[.](json|ndjson|jsonl|parquet)([.](gz|zst))?') THEN
      reid_refuse('tbl must be a table, a Parquet or a CSV file', tbl, 'pass a view of it')::VARCHAR
    WHEN NOT contains(tbl, '"') THEN 'system.main.query_table(' || reid_text(tbl) || ')'
    WHEN version() LIKE 'v1.%' AND NOT regexp_full_match(tbl, '(?s)("[^"]+"|[^".]+)([.]("[^"]+"|[^".]+))*')
      THEN reid_refuse('tbl must have no quotes in names before DuckDB 2', tbl, 'pass a view of it')::VARCHAR
    ELSE 'system.main.query_table(' || reid_text(CASE
      WHEN regexp_full_match(tbl, '(?s)("([^"]|"")+"|[^".]+)([.]("([^"]|"")+"|[^".]+)){0,2}')
      THEN tbl ELSE reid_quote(tbl) END) || ')' END;
-- Each column under the table's alias: one that the table lacks is never a column of an outer query.
CREATE OR REPLACE MACRO reid_columns(columns, before, after, separator) AS array_to_string(
  list_transform(columns, lambda c: before || 'reid_source.' || reid_quote(c) || after), separator);
CREATE OR REPLACE MACRO reid_aliases(number) AS list_transform(range(1, number + 1), lambda i: 'q' || i);
CREATE OR REPLACE MACRO reid_keys(number) AS array_to_string(reid_aliases(number), ', ');
CREATE OR REPLACE MACRO reid_as_named(columns) AS
  array_to_string(list_transform(columns, lambda c, i: 'q' || i || ' AS ' || reid_quote(c)), ', ');
CREATE OR REPLACE MACRO reid_complete(aliases, nulls) AS array_to_string(
  CASE reid_choice('nulls', nulls, ['value', 'drop'])
    WHEN 'drop' THEN list_transform(aliases, lambda q: q || ' IS NOT NULL') ELSE ['true'] END, ' AND ');
-- Texts that differ must not count as one: the sort key of a type shows the collations in it, at any depth.
CREATE OR REPLACE MACRO reid_is_exact(record) AS
  'a' <> 'A' AND 'a' <> 'á' AND 'é' <> concat('e', chr(769))
  AND regexp_replace(create_sort_key(get_type(record), 'ASC NULLS LAST')::VARCHAR,
    'e\\x01\\x00\\x01\\x01d\\x01\\x00\\x03\\xC8\\x01\\x00(\\x01\\x01C|\\x05POSIX|\\x06binary)\\xFF\\xFF',
    '', 'gi')
  = create_sort_key(get_type(replace_type(replace_type(record, NULL::VARCHAR,
    NULL::STRUCT("reid text" VARCHAR)), NULL::STRUCT("reid text" VARCHAR), NULL::VARCHAR)),
    'ASC NULLS LAST')::VARCHAR;
-- The columns as q1, q2, ..., without the records that nulls := 'drop' leaves out.
CREATE OR REPLACE MACRO reid_rows(tbl, columns, nulls) AS
  '(SELECT ' || reid_columns(columns, '', '', ', ') || ' FROM ' || reid_table(tbl) || ' AS reid_source
    WHERE CASE WHEN reid_is_exact(system.main.row(' || reid_columns(columns, '', '', ', ') || ')) THEN true
      ELSE system.main.error(''columns must distinguish texts that differ, got one with a collation''
        || system.main.chr(59) || '' pass a view that has decode(encode(name)) instead'')::BOOLEAN END'
  || CASE reid_choice('nulls', nulls, ['value', 'drop']) WHEN 'drop'
    THEN reid_columns(columns, ' AND ', ' IS NOT NULL', '') ELSE '' END
  || ') AS reid_numbered(' || reid_keys(len(columns)) || ')';
-- NULL for a number that is none. isnan is false in a Parquet file whose statistics leave NaN out.
CREATE OR REPLACE MACRO reid_known_value(value) AS CASE WHEN typeof(value) NOT IN ('FLOAT', 'DOUBLE')
    OR isfinite(TRY_CAST(value AS DOUBLE)) OR isinf(TRY_CAST(value AS DOUBLE)) THEN value END;
-- A test of rows, each of which must have a value by which a person is known.
CREATE OR REPLACE MACRO reid_require_person(label, person, test) AS 'CASE WHEN reid_known_value(' || person
  || ') IS NULL THEN reid_refuse(''' || label || ' must have a value in every row'', ''one without (NULL or '
  || 'NaN)'', ''leave such rows out, or name each of them'')::BOOLEAN ELSE ' || test || ' END';
-- A query, and with each of its rows how many records were left out.
CREATE OR REPLACE MACRO reid_count_nulls(tbl, columns, nulls) AS CASE nulls WHEN 'drop'
  THEN '(SELECT system.main.count(*) FROM ' || reid_table(tbl) || ' AS reid_source WHERE '
    || reid_columns(columns, '', ' IS NULL', ' OR ') || ')' ELSE '0::BIGINT' END;
CREATE OR REPLACE MACRO reid_add_nulls(number, nulls, body) AS 'SELECT reid_counted.*, ' || number
  || ' AS records_dropped, ' || reid_text(nulls) || ' AS nulls FROM (' || body || ') AS reid_counted';
CREATE OR REPLACE MACRO reid_with_nulls(tbl, columns, nulls, body) AS
  reid_add_nulls(reid_count_nulls(tbl, columns, nulls), nulls, body);
