-- Closed forms (Rocher, Hendrickx and de Montjoye 2019): a record of cell probability p among n people.
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

-- Classes: the records that have the same values.
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

-- Risk, 1 / class_size. WHERE reads every column, so that an empty table is refused whatever is selected.
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
