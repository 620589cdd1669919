-- What classes reveal about a sensitive column: n of a class's `size` have a value, `in_table` of `total`.
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
