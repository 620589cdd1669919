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
-- tbl is a table, view or CTE, or the path of a Parquet or CSV file, of which every column is read as text.
-- qi is a list of names, such as ['age', 'sex']. nulls is 'value' (NULL is a value like any other) or 'drop'
-- (records with a NULL are left out). Each row is one person, but for unicity.
-- Semicolons stand only where a statement ends: chr(59) is one in a text.
SET VARIABLE reid_has_types = (SELECT CASE WHEN count(*) = 0 THEN error('DuckDB must be 1.5 or later, got '
  || version() || chr(59) || ' update it, or use the Python package reid-sql') END
  FROM duckdb_functions() WHERE function_name = 'get_type');

-- 1. Refusals: the rule, what was passed, what to do. Of a column its name is passed, and never a value.
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

-- 2. Closed forms (Rocher, Hendrickx and de Montjoye 2019): a record of cell probability p among n people.
-- DuckDB 1 computes a part that several branches share before it chooses one, so each part must have a value
-- (or NULL) for every number: a logarithm of 0 would be raised where the answer needs none.
CREATE OR REPLACE MACRO reid_ln(x) AS ln(CASE WHEN x > 0 THEN x END);
CREATE OR REPLACE MACRO reid_log1p(x) AS
  CASE WHEN abs(x) < 1e-8 THEN x * (1 - x / 2)
    WHEN x > -0.5 THEN 2 * atanh(CASE WHEN x > -0.5 THEN x / (2 + x) END) ELSE reid_ln(1 + x) END;
CREATE OR REPLACE MACRO reid_expm1(x) AS
  CASE WHEN abs(x) < 1e-8 THEN x * (1 + x / 2)
    WHEN abs(x) < 1 THEN 2 * tanh(x / 2) / (1 - tanh(x / 2)) ELSE exp(x) - 1 END;
CREATE OR REPLACE MACRO reid_uniqueness(p, n) AS  -- (1 - p)^(n - 1)
  CASE WHEN n = 1 THEN 1.0 WHEN p = 1 THEN 0.0 ELSE exp((n - 1) * reid_log1p(-p)) END;
CREATE OR REPLACE MACRO reid_correctness(p, n) AS  -- (1 - (1 - p)^n) / (n p)
  CASE WHEN n * p = 0 THEN 1.0 WHEN p = 1 THEN 1 / n
    ELSE least(1.0, -reid_expm1(n * reid_log1p(-p)) / (n * p)) END;
-- (1 - xi^(n / (n - 1))) / (n (1 - xi^(1 / (n - 1))))
CREATE OR REPLACE MACRO reid_correctness_of_unique(xi, n) AS
  CASE WHEN xi = 1 OR n = 1 THEN 1.0 WHEN xi = 0 THEN 1 / n WHEN reid_ln(xi) / (n - 1) = 0 THEN 1.0
    ELSE least(1.0, reid_expm1(n * (reid_ln(xi) / (n - 1))) / (n * reid_expm1(reid_ln(xi) / (n - 1)))) END;
CREATE OR REPLACE MACRO reid_has_null(label, p, n) AS
  p IS NULL OR n IS NULL
  OR reid_number(label, p, 0, 1, false) IS NULL OR reid_number('n', n, 1, 1e15, false) IS NULL;
CREATE OR REPLACE MACRO cell_risk(p, n, measure := 'uniqueness') AS
  CASE WHEN reid_has_null('p', p, n) THEN NULL ELSE
    CASE reid_choice('measure', measure, ['uniqueness', 'correctness', 'correctness_of_uniqueness'])
      WHEN 'uniqueness' THEN reid_uniqueness((p)::DOUBLE, (n)::DOUBLE)
      WHEN 'correctness' THEN reid_correctness((p)::DOUBLE, (n)::DOUBLE)
      ELSE reid_correctness_of_unique((p)::DOUBLE, (n)::DOUBLE) END END;

-- 3. The text of a query over the user's table.
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
-- A query, and with each of its rows how many records were left out.
CREATE OR REPLACE MACRO reid_with_nulls(tbl, columns, nulls, body) AS
  'SELECT reid_counted.*, ' || CASE nulls WHEN 'drop'
    THEN '(SELECT system.main.count(*) FROM ' || reid_table(tbl) || ' AS reid_source WHERE '
      || reid_columns(columns, '', ' IS NULL', ' OR ') || ')'
    ELSE '0::BIGINT' END || ' AS records_dropped, ' || reid_text(nulls) || ' AS nulls FROM ('
  || body || ') AS reid_counted';

-- 4. Classes: the records that have the same values.
-- A constant in the place of a column would make one class of all records. Its text shows it.
CREATE OR REPLACE MACRO reid_refuse_constants(
  texts, record, called := 'equivalence_class_size', example := '(age, sex)') AS
  CASE WHEN len(list_filter(texts, lambda t: regexp_full_match(t, '(?s)(''([^'']|'''')*''|[-+.0-9eE]+|NULL'
      || '|true|false|CAST\((''|[-+.0-9tfN]).*|(main\.)?list_value\(.*|\(?''.*'' \|\| ''.*)'))) > 0
    THEN CAST(called || ' must be given columns, got a constant' || chr(59)
      || ' write names without quotes or brackets, such as ' || called || example AS BOOLEAN)
    WHEN NOT reid_is_exact(record)
    THEN CAST('columns must distinguish texts that differ, got one with a collation' || chr(59)
      || ' pass decode(encode(name)) instead' AS BOOLEAN) ELSE true END;
-- Of 1 to 8 columns: `reid-sql sql` writes what is in braces for each number of them.
CREATE OR REPLACE MACRO equivalence_class_size
  {(c) AS CASE WHEN reid_refuse_constants(
    [alias(c)],
    row(c)) THEN count(*) OVER (PARTITION BY c) END};
-- A person counts once in each class. A row without one is refused.
CREATE OR REPLACE MACRO reid_person(entity, texts, record) AS struct_pack(person := CASE
  WHEN reid_refuse_constants([alias(entity)] || texts, record,
      called := 'equivalence_class_people', example := '(person_id, age, sex)')
    AND CAST(CASE WHEN list_contains(texts, alias(entity)) THEN
        'entity must not be a quasi-identifier, got it' || chr(59) || ' leave it out of one of them'
      WHEN entity IS NULL OR lower(entity::VARCHAR) = 'nan' THEN 'entity must have a value in every row, '
        || 'got one without (NULL or NaN)' || chr(59) || ' leave such rows out, or name each of them'
      ELSE 'true' END AS BOOLEAN) THEN entity END);
CREATE OR REPLACE MACRO equivalence_class_people
  {(entity, c) AS count(DISTINCT reid_person(entity,
    [alias(c)],
    row(entity, c))) OVER (PARTITION BY c)};
CREATE OR REPLACE MACRO reid_histogram(tbl, columns, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT class_size, system.main.count(*) AS classes,
    system.main.sum(class_size)::BIGINT AS records, NULL::BIGINT AS blank_records
    FROM (SELECT system.main.count(*) AS class_size FROM ' || reid_rows(tbl, columns, nulls)
    || ' GROUP BY ' || reid_keys(len(columns)) || ') GROUP BY class_size');
CREATE OR REPLACE MACRO class_size_histogram(tbl, qi, nulls := 'value') AS TABLE
  FROM query(reid_histogram(tbl, reid_names('quasi-identifiers', qi), nulls) || ' ORDER BY class_size ASC');
CREATE OR REPLACE MACRO reid_classes(tbl, columns, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT ' || reid_as_named(columns)
    || ', system.main.count(*) AS class_size, system.main.count(*) AS records FROM '
    || reid_rows(tbl, columns, nulls) || ' GROUP BY ' || reid_keys(len(columns)));
CREATE OR REPLACE MACRO equivalence_classes(tbl, qi, nulls := 'value') AS TABLE
  FROM query(reid_classes(tbl, reid_names('quasi-identifiers', qi), nulls));

-- 5. Risk, 1 / class_size. WHERE reads every column, so that an empty table is refused whatever is selected.
CREATE OR REPLACE MACRO reid_some(records) AS
  CASE WHEN records > 0 THEN records ELSE reid_refuse('the table must contain at least one record',
    '0 (those that nulls := ''drop'' leaves out do not count)', 'pass a table with records')::BIGINT END;
CREATE OR REPLACE MACRO reid_risk(histogram, threshold) AS TABLE
  FROM (
    SELECT reid_some(sum(h.records)::BIGINT) AS records, sum(h.classes)::BIGINT AS classes,
      min(h.class_size) AS k,
      coalesce(sum(h.records) FILTER (h.class_size = 1), 0)::BIGINT AS unique_records,
      coalesce(sum(h.records) FILTER (h.class_size = 1), 0)::DOUBLE / sum(h.records) AS uniqueness,
      1::DOUBLE / min(h.class_size) AS highest_risk,
      sum(h.records::DOUBLE / h.class_size) / sum(h.records) AS average_risk,
      sum(h.classes::DOUBLE / h.class_size) / sum(h.classes) AS average_class_risk,
      coalesce(sum(h.records) FILTER (1::DOUBLE / h.class_size > threshold), 0)::DOUBLE / sum(h.records)
        AS records_at_risk,
      max(reid_number('threshold', threshold, 0, 1, false)) AS threshold,
      sum(h.uncovered)::BIGINT AS uncovered_records,
      CASE WHEN sum(h.uncovered) = 0 THEN 'ok' ELSE sum(h.uncovered)::VARCHAR || ' records are not covered '
        || 'by the population table and count with their class size in the sample' END AS status,
      NULL::BIGINT AS blank_records, max(h.records_dropped) AS records_dropped, max(h.nulls) AS nulls
    FROM query(histogram || ' ORDER BY class_size ASC') AS h
  ) AS reid_answer WHERE reid_answer::VARCHAR <> '';
CREATE OR REPLACE MACRO risk_summary(tbl, qi, threshold := 0.2, nulls := 'value') AS TABLE
  SELECT * EXCLUDE (uncovered_records, status) FROM reid_risk('SELECT *, 0 AS uncovered FROM ('
    || reid_histogram(tbl, reid_names('quasi-identifiers', qi), nulls) || ')', (threshold)::DOUBLE);
-- A class is as large as in the population, or as in the table where the population has fewer such records.
CREATE OR REPLACE MACRO reid_population_histogram(tbl, population_tbl, columns, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT system.main.greatest(found, own) AS class_size,
    system.main.count(*) AS classes, system.main.sum(own)::BIGINT AS records,
    coalesce(system.main.sum(own) FILTER (found < own), 0)::BIGINT AS uncovered
    FROM (SELECT s.own, coalesce(p.own, 0) AS found
      FROM (SELECT *, system.main.count(*) AS own FROM ' || reid_rows(tbl, columns, nulls) || '
        GROUP BY ALL) s
      LEFT JOIN (SELECT *, system.main.count(*) AS own FROM ' || reid_rows(population_tbl, columns, nulls)
      || ' GROUP BY ALL) p ON ' || array_to_string(list_transform(reid_aliases(len(columns)),
        lambda q: 's.' || q || ' IS NOT DISTINCT FROM p.' || q), ' AND ')
      || ' WHERE CASE WHEN ' || array_to_string(list_transform(reid_aliases(len(columns)),
        lambda q: 'system.main.typeof(s.' || q || ') = system.main.typeof(p.' || q || ')'), ' AND ')
      || ' THEN true ELSE system.main.error(''quasi-identifiers must have the same types in both tables''
        || system.main.chr(59) || '' cast one of the columns in a view'')::BOOLEAN END) GROUP BY ALL');
CREATE OR REPLACE MACRO journalist_risk(tbl, population_tbl, qi, threshold := 0.2, nulls := 'value') AS TABLE
  FROM reid_risk(reid_population_histogram(
    tbl, population_tbl, reid_names('quasi-identifiers', qi), nulls), (threshold)::DOUBLE);

-- 6. What classes reveal about a sensitive column: n of a class's `size` have a value, `in_table` of `total`.
CREATE OR REPLACE MACRO reid_measure(variant) AS CASE variant
  WHEN 'distinct' THEN 'system.main.count(*)::DOUBLE'
  WHEN 'entropy' THEN 'CASE WHEN system.main.max(n) * system.main.count(*) = system.main.sum(n)
    THEN system.main.count(*)::DOUBLE ELSE system.main.exp(system.main.ln(system.main.sum(n))
      - system.main.sum(n * system.main.ln(n)) / system.main.sum(n)) END'
  WHEN 'general' THEN 'system.main.max(n)::DOUBLE / system.main.sum(n)'
  -- Sum of n / size - in_table / total where positive, exactly 1 - sum(in_table) / total if all are.
  WHEN 'equal' THEN
    'CASE WHEN system.main.min(n::DOUBLE / in_table) * system.main.max(total) >= system.main.max(size)
    THEN 1 - system.main.sum(in_table)::DOUBLE / system.main.max(total)
    ELSE system.main.sum(system.main.greatest(0, n::DOUBLE / size - in_table::DOUBLE / total)) END'
  -- The largest gain (p - q) / q, and the largest |ln p / q|, of a value's shares in the class and the table.
  WHEN 'basic' THEN
    'system.main.greatest(0, system.main.max(n::DOUBLE / in_table) * system.main.max(total)
      / system.main.max(size) - 1)'
  WHEN 'present' THEN
    'system.main.ln(system.main.greatest(1, system.main.max(n::DOUBLE / in_table) * system.main.max(total)
      / system.main.max(size), system.main.max(size)
      / (system.main.min(n::DOUBLE / in_table) * system.main.max(total))))' END;
CREATE OR REPLACE MACRO reid_class_measure(columns, rows, variant) AS
  'SELECT ' || reid_keys(len(columns) - 1) || ', system.main.sum(n)::BIGINT AS class_size, '
    || reid_measure(variant) || ' AS value
  FROM (SELECT *, system.main.sum(n) OVER ()::BIGINT AS total,
      system.main.sum(n) OVER (PARTITION BY ' || reid_keys(len(columns) - 1) || ')::BIGINT AS size,
      system.main.sum(n) OVER (PARTITION BY q' || len(columns) || ')::BIGINT AS in_table
    FROM (SELECT *, system.main.count(*) AS n FROM ' || rows || ' GROUP BY ALL))
  GROUP BY ' || reid_keys(len(columns) - 1);
CREATE OR REPLACE MACRO reid_class_values(tbl, columns, variant, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT class_size, value, system.main.count(*) AS classes
    FROM (' || reid_class_measure(columns, reid_rows(tbl, columns, nulls), variant) || ')
    GROUP BY class_size, value');
-- A class offends below the threshold (l), or above it (t, alpha), by more than rounding, or below least_k.
CREATE OR REPLACE MACRO reid_disclosure(tbl, columns, variant, threshold, is_least, least_k, nulls) AS TABLE
  FROM (
    SELECT max(variant) AS variant, CASE WHEN is_least THEN min(c.value) ELSE max(c.value) END AS value,
      reid_some(sum(c.class_size * c.classes)::BIGINT) AS records,
      sum(c.classes)::BIGINT AS classes, min(c.class_size) AS k,
      coalesce(sum(c.classes) FILTER (c.offends), 0)::BIGINT AS offending_classes,
      coalesce(sum(c.class_size * c.classes) FILTER (c.offends), 0)::BIGINT AS offending_records,
      coalesce(sum(c.class_size * c.classes) FILTER (c.offends), 0)::DOUBLE / sum(c.class_size * c.classes)
        AS offending_share,
      max(threshold) AS threshold, 'ok' AS status,
      max(c.records_dropped) AS records_dropped, max(c.nulls) AS nulls
    FROM (
      SELECT *, CASE WHEN is_least THEN v.value < threshold * (1 - 1e-12)
        ELSE v.value > threshold * (1 + 1e-12) OR v.class_size < least_k END AS offends
      FROM query(reid_class_values(
        tbl, reid_names('quasi-identifiers and sensitive', columns), variant, nulls)) AS v
    ) AS c
  ) AS reid_answer WHERE reid_answer::VARCHAR <> '';
CREATE OR REPLACE MACRO l_diversity(
  tbl, qi, sensitive, variant := 'distinct', c := 3, l := 2, nulls := 'value') AS TABLE
  SELECT * EXCLUDE (records_dropped, nulls), NULL::DOUBLE AS c, a.records_dropped, a.nulls
  FROM reid_disclosure(tbl, list_append(reid_names('quasi-identifiers', qi), sensitive),
    reid_choice('variant', variant, ['distinct', 'entropy']), reid_number('l', l, 1, 1e9, false), true, 1,
    nulls) AS a;
CREATE OR REPLACE MACRO t_closeness(
  tbl, qi, sensitive, variant := 'equal', t := 0.2, nulls := 'value') AS TABLE
  FROM reid_disclosure(tbl, list_append(reid_names('quasi-identifiers', qi), sensitive),
    reid_choice('variant', variant, ['equal']), reid_number('t', t, 0, 1, false), false, 1, nulls);
-- The variant, the threshold and the least k of a measure. Only one measure has a k.
CREATE OR REPLACE MACRO reid_variant(measure, choices) AS CASE reid_choice('measure', measure, choices)
  WHEN 'l_diversity' THEN 'distinct' WHEN 't_closeness' THEN 'equal' WHEN 'beta_likeness' THEN 'basic'
  WHEN 'delta_disclosure' THEN 'present' ELSE 'general' END;
CREATE OR REPLACE MACRO reid_threshold(measure, threshold) AS CASE
  WHEN threshold IS NULL THEN
    CASE measure WHEN 'l_diversity' THEN 2.0 WHEN 't_closeness' THEN 0.2 WHEN 'alpha_k_anonymity' THEN 0.5
      ELSE 1.0 END
  WHEN measure = 'l_diversity' THEN reid_number('threshold', threshold, 1, 1e9, false)
  WHEN measure IN ('t_closeness', 'alpha_k_anonymity') THEN reid_number('threshold', threshold, 0, 1, false)
  ELSE reid_number('threshold', threshold, 0, 1e9, false) END::DOUBLE;
CREATE OR REPLACE MACRO reid_least_k(measure, k) AS CASE
  WHEN k IS NULL THEN CASE measure WHEN 'alpha_k_anonymity' THEN 2 ELSE 1 END
  WHEN measure = 'alpha_k_anonymity' THEN reid_number('k', k, 1, 1e15, true)
  ELSE reid_refuse('k must be used with measure := ''alpha_k_anonymity''', measure,
    'leave it out')::DOUBLE END;
CREATE OR REPLACE MACRO attribute_disclosure(
  tbl, qi, sensitive, measure := 'alpha_k_anonymity', threshold := NULL, k := NULL, nulls := 'value') AS TABLE
  SELECT COLUMNS(lambda c: c <> 'threshold_k' OR measure = 'alpha_k_anonymity') FROM (
    SELECT * EXCLUDE (records_dropped, nulls), reid_least_k(measure, k)::BIGINT AS threshold_k,
      a.records_dropped, a.nulls
    FROM reid_disclosure(tbl, list_append(reid_names('quasi-identifiers', qi), sensitive),
      reid_variant(measure, ['alpha_k_anonymity', 'beta_likeness', 'delta_disclosure']),
      reid_threshold(measure, threshold), false, reid_least_k(measure, k), nulls) AS a);
CREATE OR REPLACE MACRO reid_offending(tbl, columns, measure, threshold, least_k, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT ' || reid_as_named(columns[:-2])
    || ', class_size, value FROM (' || reid_class_measure(columns, reid_rows(tbl, columns, nulls),
      reid_variant(measure, ['l_diversity', 't_closeness', 'alpha_k_anonymity', 'beta_likeness',
        'delta_disclosure']))
    || ') WHERE ' || CASE WHEN measure = 'l_diversity'
      THEN 'value < ' || threshold || '::DOUBLE * (1 - 1e-12)'
      ELSE 'value > ' || threshold || '::DOUBLE * (1 + 1e-12) OR class_size < ' || least_k END);
CREATE OR REPLACE MACRO disclosing_classes(
  tbl, qi, sensitive, measure := 'l_diversity', threshold := NULL, k := NULL, nulls := 'value') AS TABLE
  FROM query(list_transform([reid_names('quasi-identifiers', qi)], lambda names:
    CASE WHEN list_has_any(list_transform(names, lambda name: reid_fold_case(name)), ['class_size', 'value'])
      THEN reid_refuse('quasi-identifiers must differ from columns of the result', 'class_size or value',
        'rename the column in a view')::VARCHAR
      ELSE reid_offending(tbl, reid_names('quasi-identifiers and sensitive', list_append(names, sensitive)),
        measure, reid_threshold(measure, threshold), reid_least_k(measure, k), nulls) END)[1]);

-- Households: a member has the risk 1 / class_size, a household that of at least one member. Its class is of
-- the households whose members have the same values, here a sorted list of the numbers of these.
CREATE OR REPLACE MACRO reid_households(tbl, household, columns, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT class_size, members, risk, member_risk,
      system.main.sum(class_size)::BIGINT AS households
    FROM (SELECT system.main.count(*) AS class_size, system.main.any_value(members) AS members,
        system.main.any_value(risk) AS risk, system.main.any_value(member_risk) AS member_risk
      FROM (SELECT system.main.list(class ORDER BY class ASC) AS classes, system.main.count(*) AS members,
          1 - system.main.product(1 - 1::DOUBLE / size ORDER BY size ASC) AS risk,
          system.main.sum(1::DOUBLE / size ORDER BY size ASC) AS member_risk
        FROM (SELECT * REPLACE (CASE WHEN system.main.typeof(q1) NOT IN (''FLOAT'', ''DOUBLE'')
              OR NOT system.main.isnan(TRY_CAST(q1 AS DOUBLE)) THEN q1 END AS q1),
            CASE WHEN q1 IS NULL OR system.main.typeof(q1) IN (''FLOAT'', ''DOUBLE'')
              AND system.main.isnan(TRY_CAST(q1 AS DOUBLE))
              THEN system.main.row_number() OVER () END AS alone,
            system.main.dense_rank() OVER (ORDER BY '
              || array_to_string(list_transform(reid_aliases(len(columns) + 1)[2:],
                lambda q: q || ' ASC NULLS LAST'), ', ') || ') AS class,
            system.main.count(*) OVER (PARTITION BY '
              || array_to_string(reid_aliases(len(columns) + 1)[2:], ', ') || ') AS size
          FROM ' || reid_rows(tbl, list_prepend(household, columns), 'value') || ' WHERE '
          || reid_complete(reid_aliases(len(columns) + 1)[2:], nulls) || ')
        GROUP BY q1, alone)
      GROUP BY classes)
    GROUP BY class_size, members, risk, member_risk');
CREATE OR REPLACE MACRO household_risk(tbl, household, columns, threshold := 0.2, nulls := 'value') AS TABLE
  FROM (
    SELECT reid_some(sum(h.households)::BIGINT) AS households,
      sum(h.households * h.members)::BIGINT AS records,
      fsum(h.households * h.members * h.risk) / sum(h.households * h.members) AS average_risk,
      fsum(h.households * h.risk) / sum(h.households) AS average_household_risk,
      max(h.risk) AS highest_risk,
      coalesce(sum(h.households) FILTER (h.risk > threshold), 0)::DOUBLE / sum(h.households)
        AS households_at_risk,
      fsum(h.households * h.member_risk) / sum(h.households * h.members) AS average_member_risk,
      min(h.class_size) AS k,
      coalesce(sum(h.households) FILTER (h.class_size = 1), 0)::BIGINT AS unique_households,
      coalesce(sum(h.households) FILTER (h.class_size = 1), 0)::DOUBLE / sum(h.households) AS uniqueness,
      fsum(h.households::DOUBLE / h.class_size) / sum(h.households) AS average_class_risk,
      max(reid_number('threshold', threshold, 0, 1, false)) AS threshold,
      max(h.records_dropped) AS records_dropped, max(h.nulls) AS nulls
    FROM query(reid_households(tbl, household, reid_names('household and columns', list_prepend(household,
      reid_names('columns', columns)))[2:], nulls)) AS h
  ) AS reid_answer WHERE reid_answer::VARCHAR <> '';

-- Individual risk: the mean of 1/F, where the F people of a class of f records are negative binomial with the
-- chance p = f / sum of weights (Benedetti and Franconi 1998). By Pfaff's transformation it is p/f times the
-- sum of (1 - p)^k / C(f + k, k), whose first 65 terms leave less than 2^-60 if p >= 1/2 or f >= 20. Else
-- I(1) = ln(1/p) p / (1 - p) and I(f + 1) = (1/f - I(f)) p / (1 - p), by which errors shrink.
CREATE OR REPLACE MACRO reid_inverse_count(f, p) AS CASE WHEN p >= 0.5 OR f >= 20
  THEN p / f * list_reduce(range(64, 0, -1), lambda s, k: 1 + s * (1 - p) * k / (f + k), 1::DOUBLE)
  ELSE list_reduce(range(1, least(f, 20)::BIGINT), lambda i, k: (1::DOUBLE / k - i) * p / (1 - p),
    reid_ln(1 / p) * p / (1 - p)) END;
CREATE OR REPLACE MACRO reid_weighted(tbl, columns, weight, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT system.main.count(*) AS class_size, system.main.sum(CASE
      WHEN weight > 0 THEN weight ELSE ''NaN''::DOUBLE END ORDER BY weight ASC) AS mass,
      system.main.list(record) AS members
    FROM (SELECT *, system.main.row_number() OVER () - 1 AS record, TRY_CAST('
      || CASE WHEN weight IS NULL THEN '1' ELSE 'q' || (len(columns) + 1) END || ' AS DOUBLE) AS weight FROM '
      || reid_rows(tbl, columns || CASE WHEN weight IS NULL THEN [] ELSE [(weight)::VARCHAR] END, 'value')
    || ') WHERE ' || reid_complete(reid_aliases(len(columns)), nulls)
    || ' GROUP BY ' || reid_keys(len(columns)));
CREATE OR REPLACE MACRO individual_risk(
  tbl, qi, weight := NULL, form := 'exact', nulls := 'value') AS TABLE
  WITH scored AS MATERIALIZED (
    SELECT *, CASE WHEN reid_choice('form', form, ['exact', 'approximate']) = 'approximate' AND class_size > 2
      THEN p / (class_size - (1 - p)) ELSE reid_inverse_count(class_size::DOUBLE, p) END AS risk
    FROM (SELECT *, least(class_size / mass, 1) AS p
      FROM query(reid_weighted(tbl, reid_names('quasi-identifiers', qi), weight, nulls)))
  ), total AS (
    SELECT reid_some(sum(class_size)::BIGINT) AS records, bool_and(p = 1) AS is_whole,
      sum(class_size) FILTER (mass < class_size * (1 - 1e-12)) AS light, CASE WHEN sum(mass) <= 1e15
        THEN fsum(class_size * risk) ELSE reid_refuse('weight must be a number above 0 for every record, and '
          || 'add up to at most 1e15', 'another', 'mend the column, or leave weight out')::DOUBLE END AS risk
    FROM scored
  )
  SELECT unnest(s.members) AS record, s.class_size, s.mass AS population_class_size, s.risk,
    NULL::DOUBLE AS household_risk, CASE WHEN t.is_whole THEN t.risk END AS expected_reidentifications,
    t.risk AS benedetti_franconi_sum, coalesce(nullif(concat_ws(chr(59) || ' ', 'light_weights: ' || t.light
      || ' records have too small weights and count as the whole of their class', CASE WHEN NOT t.is_whole
      THEN 'no_expected_number: plain SQL has no log-linear model, so nothing bounds the risk of lone records'
      END), ''), 'ok') AS status, s.records_dropped, s.nulls
  FROM total AS t LEFT JOIN scored AS s ON true WHERE t::VARCHAR <> '';

-- Unicity of one point: an attacker knows a random one of the different rows of a person.
CREATE OR REPLACE MACRO reid_points(tbl, columns, nulls) AS
  reid_with_nulls(tbl, columns[2:], nulls, 'SELECT matches, system.main.fsum(weight) AS weight
    FROM (SELECT 1::DOUBLE / system.main.count(*) OVER (PARTITION BY q1) AS weight,
        system.main.count(*) OVER (PARTITION BY ' || array_to_string(reid_aliases(len(columns))[2:], ', ')
    || ') AS matches FROM (SELECT DISTINCT * FROM ' || reid_rows(tbl, columns, 'value') || ' WHERE
      CASE WHEN q1 IS NULL OR system.main.typeof(q1) IN (''FLOAT'', ''DOUBLE'')
          AND system.main.isnan(TRY_CAST(q1 AS DOUBLE))
        THEN reid_refuse(''entity must have a value in every row'', ''one without (NULL or NaN)'',
          ''leave such rows out, or name each of them'')::BOOLEAN
        ELSE ' || reid_complete(reid_aliases(len(columns))[2:], nulls) || ' END)) GROUP BY matches');
CREATE OR REPLACE MACRO unicity(tbl, entity, columns, points := [1, 2, 3, 4], nulls := 'value') AS TABLE
  SELECT * FROM (
    SELECT max(reid_choice('points', replace((points)::VARCHAR, '[1]', '1'), ['1']))::BIGINT AS points,
      reid_some(round(max(m.people))::BIGINT) AS people,
      coalesce(fsum(m.weight) FILTER (m.matches = 1), 0) / max(m.people) AS uniqueness,
      uniqueness AS uniqueness_low, uniqueness AS uniqueness_high, 0::DOUBLE AS standard_error,
      fsum(m.weight / m.matches) / max(m.people) AS correctness, correctness AS correctness_low,
      correctness AS correctness_high, 0::DOUBLE AS correctness_standard_error,
      min(m.matches) FILTER (m.upto >= m.people / 2 * (1 - 1e-9)) AS median_matches,
      0::BIGINT AS people_with_fewer, 0::BIGINT AS draws, NULL::VARCHAR AS resolution,
      NULL::DOUBLE AS population_uniqueness, NULL::DOUBLE AS population_uniqueness_low,
      NULL::DOUBLE AS population_uniqueness_high, 'ok' AS status,
      max(m.records_dropped) AS records_dropped, max(m.nulls) AS nulls
    FROM (SELECT *, sum(weight) OVER () AS people, sum(weight) OVER (ORDER BY matches ASC) AS upto
      FROM query(reid_points(tbl, reid_names('entity and columns', list_prepend(entity,
        reid_names('columns', columns))), nulls))) AS m
  ) AS reid_answer WHERE reid_answer::VARCHAR <> '';

-- 7. Which columns distinguish records: every subset of one to three of them.
-- Subsets of the places 1 to `number`, each longer by one place than those given.
CREATE OR REPLACE MACRO reid_longer(subsets, number) AS flatten(list_transform(subsets,
  lambda s: list_transform(range(s[-1] + 1, number + 1), lambda i: list_append(s, i))));
CREATE OR REPLACE MACRO reid_subsets(number, max_size) AS
  list_transform([list_transform(range(1, number + 1), lambda i: [i])], lambda ones:
    ones || CASE WHEN max_size > 1 THEN reid_longer(ones, number) ELSE [] END
    || CASE WHEN max_size > 2 THEN reid_longer(reid_longer(ones, number), number) ELSE [] END)[1];
CREATE OR REPLACE MACRO reid_count_subset(tbl, columns, nulls) AS
  '(' || reid_with_nulls(tbl, columns, nulls, 'SELECT ['
    || array_to_string(list_transform(columns, lambda c: reid_text(c)), ', ') || '] AS columns,
    coalesce(system.main.sum(class_size), 0)::BIGINT AS records, system.main.count(*) AS classes,
    system.main.sum(class_size * (class_size - 1)::HUGEINT) AS alike,
    system.main.count(*) FILTER (class_size = 1) AS unique_records
    FROM (SELECT system.main.count(*) AS class_size FROM ' || reid_rows(tbl, columns, nulls)
    || ' GROUP BY ' || reid_keys(len(columns)) || ')') || ')';
CREATE OR REPLACE MACRO reid_count_subsets(tbl, names, subsets, nulls) AS
  CASE WHEN len(subsets) <= 5000 THEN array_to_string(list_transform(subsets,
      lambda places: reid_count_subset(tbl, list_select(names, places), nulls)), ' UNION ALL ')
    ELSE reid_refuse('the number of subsets of the columns must be at most 5000 in plain SQL',
      len(subsets)::VARCHAR, 'pass fewer columns or a smaller max_size')::VARCHAR END;
CREATE OR REPLACE MACRO attribute_risk(tbl, columns, max_size := 3, nulls := 'value') AS TABLE
  FROM (SELECT s.columns, s.classes::DOUBLE / reid_some(s.records) AS distinction,
      CASE WHEN s.records > 1 THEN (s.records::HUGEINT * (s.records - 1) - s.alike)::DOUBLE
        / (s.records::HUGEINT * (s.records - 1)) END AS separation, s.records, s.classes, s.unique_records,
      coalesce(nullif(concat_ws(chr(59) || ' ', CASE WHEN s.records = 1
        THEN 'one_record: separation is not available, since one record leaves no pair to compare' END,
        CASE WHEN max_size < len(reid_names('columns', columns)) THEN 'incomplete: sets of more than '
          || (max_size)::BIGINT || ' of the ' || len(reid_names('columns', columns))
          || ' columns were not searched' END), ''), 'ok') AS status, s.records_dropped, s.nulls
    FROM query(list_transform([reid_names('columns', columns)], lambda names: reid_count_subsets(tbl, names,
      reid_subsets(len(names), reid_number('max_size', max_size, 1, 3, true)), nulls))[1]) AS s
  ) AS reid_answer WHERE reid_answer::VARCHAR <> '';
-- Which records stand out: a set of columns is minimal for a record where it singles it out, and no part of
-- it does. Of A columns, a set of k scores the product of A - i, for i from k to max_size, or to A - 1.
CREATE OR REPLACE MACRO reid_unique_sets(tbl, columns, subsets, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT record, system.main.list_filter(['
    || CASE WHEN len(subsets) <= 5000 THEN array_to_string(list_transform(subsets, lambda places:
        'CASE WHEN system.main.count(*) OVER (PARTITION BY '
        || array_to_string(list_transform(places, lambda i: 'q' || i), ', ') || ') = 1 THEN '
        || places::VARCHAR || ' END'), ', ')
      ELSE reid_refuse('the number of subsets of the columns must be at most 5000 in plain SQL',
        len(subsets)::VARCHAR, 'pass fewer columns or a smaller max_size')::VARCHAR END
    || '], lambda s: s IS NOT NULL) AS sets
    FROM (SELECT *, system.main.row_number() OVER () - 1 AS record FROM '
    || reid_rows(tbl, columns, 'value') || ') WHERE ' || reid_complete(reid_aliases(len(columns)), nulls));
CREATE OR REPLACE MACRO reid_score_set(set_size, number, max_size) AS list_product([1.0::DOUBLE] ||
  list_transform(range(set_size, least(max_size, number - 1)::BIGINT + 1), lambda i: (number - i)::DOUBLE));
CREATE OR REPLACE MACRO reid_suda(unique_sets, number, max_size, dis) AS TABLE
  WITH scored AS MATERIALIZED (
    SELECT u.record, len(least_sets)::BIGINT AS subsets,
      list_min(list_transform(least_sets, lambda s: len(s)))::BIGINT AS smallest_size,
      list_sum(list_transform(least_sets, lambda s: reid_score_set(len(s), number, max_size))) AS suda_score,
      u.records_dropped, u.nulls
    FROM (SELECT *, list_filter(sets, lambda s: len(list_filter(sets, lambda other:
        len(other) < len(s) AND list_has_all(s, other))) = 0) AS least_sets FROM query(unique_sets)) AS u
  ), ends AS (
    SELECT reid_some(count(*)) AS records, count(*) FILTER (subsets > 0) AS found,
      max(s.records_dropped) AS records_dropped, max(s.nulls) AS nulls,
      CASE WHEN max_size < number THEN 'incomplete: sets of more than ' || (max_size)::BIGINT || ' of the '
        || number || ' columns were not searched' ELSE 'ok' END AS status FROM scored AS s
  )
  SELECT s.record, s.subsets, s.smallest_size, s.suda_score,
    least(1, reid_number('dis', dis, 0, 1, false) * s.suda_score / avg(s.suda_score) OVER ()) AS dis_suda,
    e.status, s.records_dropped, s.nulls
  FROM scored AS s, ends AS e WHERE s.subsets > 0
  UNION ALL
  SELECT NULL, 0, NULL, 0, 0, e.status, e.records_dropped, e.nulls
  FROM ends AS e WHERE e.found = 0 AND e.status <> 'ok' AND e.records > 0
    AND reid_number('dis', dis, 0, 1, false) >= 0;
CREATE OR REPLACE MACRO suda_scores(tbl, columns, max_size := 3, dis := 0.1, nulls := 'value') AS TABLE
  FROM reid_suda(list_transform([reid_names('columns', columns)], lambda names: reid_unique_sets(tbl, names,
      reid_subsets(len(names), reid_number('max_size', max_size, 1, 3, true)), nulls))[1],
    len(reid_names('columns', columns)), max_size, dis);

-- 8. Cells of a table of counts. Everybody of a row or column in one cell tells its category of all of them.
-- Where a category has one of another column in several cells, finer cells repeat it: `determined`.
CREATE OR REPLACE MACRO reid_any_place(number, test) AS
  array_to_string(list_transform(range(1, number + 1), lambda p: replace(test, '#', p::VARCHAR)), ' OR ');
CREATE OR REPLACE MACRO reid_other_places(number, place) AS
  list_filter(range(1, number + 1), lambda p: p <> place);
CREATE OR REPLACE MACRO reid_cells(tbl, columns, k, nulls) AS
  reid_with_nulls(tbl, columns, nulls, 'SELECT ' || reid_as_named(columns)
    || ', []::VARCHAR[] AS total_over, records, records AS people, NULL::DOUBLE AS value_sum,
      NULL::DOUBLE AS largest_share, unsafe, CASE WHEN records < ' || k || ' THEN ''unsafe''
        ELSE ''published'' END AS status, 0::DOUBLE AS loss
    FROM (SELECT *, system.main.list_filter([CASE WHEN records < ' || k || ' THEN ''few_people'' END,
        CASE WHEN ' || reid_any_place(len(columns), '(a# AND NOT d#)') || ' THEN ''all_in_one_cell'' END,
        CASE WHEN ' || reid_any_place(len(columns), '(a# AND d#)') || ' THEN ''determined'' END],
        lambda rule: rule IS NOT NULL) AS unsafe
      FROM (SELECT *'
    || array_to_string(list_transform(columns, lambda c, i:
        ', records = system.main.sum(records) OVER (' || CASE WHEN len(columns) > 1 THEN 'PARTITION BY '
            || array_to_string(list_transform(reid_other_places(len(columns), i), lambda o: 'q' || o), ', ')
          ELSE '' END || ')
          AND system.main.count(DISTINCT system.main.row(q' || i || ')) OVER () > 1 AS a' || i || ', '
        || CASE WHEN len(columns) > 2 THEN array_to_string(list_transform(
            reid_other_places(len(columns), i), lambda o: '(system.main.count(DISTINCT system.main.row(q' || i
            || ')) OVER (PARTITION BY q' || o || ') = 1 AND system.main.count(*) OVER (PARTITION BY q' || o
            || ') > 1)'), ' OR ') ELSE 'false' END || ' AS d' || i), '')
    || ' FROM (SELECT *, system.main.count(*) AS records FROM ' || reid_rows(tbl, columns, nulls)
    || ' GROUP BY ALL)))');
CREATE OR REPLACE MACRO safe_table(
  tbl, "by", value := NULL, entity := NULL, k := 5, nulls := 'value') AS TABLE
  FROM query(list_transform([reid_names('by', "by")], lambda names:
    CASE WHEN coalesce((value)::VARCHAR, (entity)::VARCHAR) IS NOT NULL
      THEN reid_refuse('value and entity must be left out in plain SQL', 'one of them',
        'use the Python package reid-sql')::VARCHAR
      WHEN list_has_any(list_transform(names, lambda name: reid_fold_case(name)), ['total_over', 'records',
        'people', 'value_sum', 'largest_share', 'unsafe', 'status', 'loss', 'records_dropped', 'nulls'])
      THEN reid_refuse('by must not name a column of the answer', 'one of them',
        'rename the column in a view')::VARCHAR
      ELSE reid_cells(tbl, names, reid_number('k', k, 1, 1e6, true)::BIGINT,
        reid_choice('nulls', nulls, ['value', 'drop'])) END)[1]);
