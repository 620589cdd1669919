-- How DuckDB measures what each class gives away about a sensitive column; it goes on where planner.sql ends.
-- A cell is a class and a sensitive value in it: its keys, the value s, and n records.

-- The names of what tells classes apart: the columns themselves, or, where values need not be listed, reid_key's two hashes.
MACRO reid_class_keys(columns, listed) AS
CASE WHEN listed OR len(columns) <= 4 THEN list_transform(columns, lambda reid_c, reid_i: 'q' || reid_i) ELSE ['k1', 'k2'] END;

MACRO reid_cells(tbl, columns, sensitive, nulls, listed) AS
'SELECT ' || reid_join(reid_class_keys(columns, listed), ', ') || ', s, count(*) AS n FROM (SELECT '
|| CASE WHEN listed THEN reid_numbered(columns) ELSE reid_key(columns) END || ', q' || (len(columns) + 1)
|| ' FROM ' || reid_rows(tbl, list_append(columns, sensitive), nulls) || ') AS reid_keyed(' || reid_join(reid_class_keys(columns, listed), ', ')
|| ', s) GROUP BY ALL';

-- Each sensitive value with the records that hold it; for distances along a line also its place x from 0 to 1, the share f of
-- records up to it, and the area g under f left of it.
MACRO reid_place(measure, sensitive) AS
CASE measure WHEN 't ordered' THEN 'CASE WHEN regexp_full_match(typeof(s), ''U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|BOOLEAN|ENUM.*'') '
  || 'THEN CASE WHEN s IS NOT NULL THEN row_number() OVER (ORDER BY s) - 1 END::DOUBLE ELSE error('
  || reid_text('sensitive must be a column of numbers, dates, times, booleans or ENUMs for variant := ''ordered'', got '''
    || sensitive || '''; cast it to one of them, or pass variant := ''equal''') || ')::DOUBLE END'
ELSE 'CASE WHEN regexp_full_match(typeof(s), ''U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*'') '
  || 'THEN CASE WHEN isfinite(try_cast(s::VARCHAR AS DOUBLE)) THEN try_cast(s::VARCHAR AS DOUBLE) END ELSE error('
  || reid_text('sensitive must be a column of numbers for variant := ''numeric'', got ''' || sensitive
    || '''; cast it to a number, or pass variant := ''equal''') || ')::DOUBLE END' END;

MACRO reid_held(measure, sensitive) AS
CASE WHEN measure NOT IN ('t ordered', 't numeric') THEN 'SELECT s AS v, sum(n)::BIGINT AS held, 0.0 AS x, 0.0 AS f, 0.0 AS g FROM reid_cells GROUP BY s'
ELSE 'SELECT v, held, x, f, sum(area) OVER (ORDER BY f) AS g FROM (SELECT *, coalesce(lag(f) OVER (ORDER BY f), 0) * (x - coalesce(lag(x) OVER (ORDER BY f), 0)) AS area FROM ('
  || 'SELECT v, held, sum(held) OVER (ORDER BY v) / sum(held) OVER () AS f, CASE WHEN count(place) OVER () = count(*) OVER () THEN '
  || 'CASE WHEN max(place) OVER () = min(place) OVER () THEN 1 ELSE (place / 2 - min(place) OVER () / 2) / (max(place) OVER () / 2 - min(place) OVER () / 2) END END AS x FROM ('
  || 'SELECT s AS v, sum(n)::BIGINT AS held, ' || reid_place(measure, sensitive) || ' AS place FROM reid_cells GROUP BY s)))' END;

-- What a measure makes of the cells of one class.
MACRO reid_measured(measure) AS
CASE measure
WHEN 'l distinct' THEN 'count(*)::DOUBLE'
WHEN 'l entropy' THEN 'CASE WHEN max(n) * count(*) = sum(n) THEN count(*)::DOUBLE ELSE exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) END'
WHEN 'alpha' THEN 'max(n) / sum(n)'
WHEN 'beta basic' THEN 'greatest(0, max(n / held) * any_value(total) / sum(n) - 1)'
WHEN 'beta enhanced' THEN 'CASE WHEN max(n * total / (held * (1 - ln(held / total)))) <= sum(n) '
  || 'THEN greatest(0, max(n / held) * any_value(total) / sum(n) - 1) ELSE ''infinity''::DOUBLE END'
WHEN 'delta present' THEN 'greatest(0, ln(max(n / held) * any_value(total) / sum(n)), -ln(min(n / held) * any_value(total) / sum(n)))'
WHEN 'delta all' THEN 'CASE WHEN count(*) = any_value(kinds) THEN '
  || 'greatest(0, ln(max(n / held) * any_value(total) / sum(n)), -ln(min(n / held) * any_value(total) / sum(n))) ELSE ''infinity''::DOUBLE END'
END;

-- Measures that need a class's size at each of its cells: at once for classes of one value, as nearly all are in a table of
-- nearly unique records, and from the cells of the others.
MACRO reid_single(measure, c) AS
CASE measure WHEN 'l recursive' THEN CASE WHEN c > 1 THEN '1.0' ELSE '0.0' END
WHEN 't equal' THEN '1 - held / total' ELSE '2 * g - area + 1 - x' END;

MACRO reid_of_several(measure, c, keys) AS
CASE measure
WHEN 'l recursive' THEN 'SELECT ' || keys || ', any_value(size) AS class_size, count(*) FILTER (largest < ' || c || ' * tail)::DOUBLE AS value FROM '
  || '(SELECT *, max(n) OVER (PARTITION BY ' || keys || ') AS largest, sum(n) OVER (PARTITION BY ' || keys
  || ' ORDER BY n ROWS UNBOUNDED PRECEDING) AS tail FROM reid_several) GROUP BY ' || keys
WHEN 't equal' THEN 'SELECT ' || keys || ', any_value(size) AS class_size, sum(greatest(0, n / size - held / total)) AS value FROM reid_several GROUP BY ' || keys
ELSE 'SELECT ' || keys || ', any_value(size) AS class_size, sum(CASE WHEN first THEN g ELSE 0 END '
  || '+ reached * (2 * cross_x - x - next_x) + g + next_g - 2 * cross_g) AS value FROM (SELECT *, '
  || 'CASE WHEN coalesce(found_x, next_x) <= x THEN x WHEN coalesce(found_x, next_x) >= next_x THEN next_x ELSE found_x END AS cross_x, '
  || 'CASE WHEN coalesce(found_x, next_x) <= x THEN g WHEN coalesce(found_x, next_x) >= next_x THEN next_g ELSE found_g END AS cross_g FROM (SELECT reid_run.*, '
  || 'reid_held.x AS found_x, reid_held.g AS found_g FROM (SELECT *, sum(n) OVER by_value / size AS reached, row_number() OVER by_value = 1 AS first, '
  || 'coalesce(lead(x) OVER by_value, 1) AS next_x, coalesce(lead(g) OVER by_value, area) AS next_g FROM reid_several WINDOW by_value AS (PARTITION BY ' || keys
  || ' ORDER BY x)) AS reid_run ASOF LEFT JOIN reid_held ON reached < reid_held.f)) GROUP BY ' || keys END;

-- Keys, class_size and value of every class.
MACRO reid_disclosed(tbl, columns, sensitive, measure, c, nulls, listed, keys) AS
'WITH reid_cells AS MATERIALIZED (' || reid_cells(tbl, columns, sensitive, nulls, listed) || ')'
|| CASE WHEN measure IN ('l distinct', 'l entropy', 'l recursive', 'alpha') THEN ', reid_weighed AS (FROM reid_cells)'
   ELSE ', reid_held AS MATERIALIZED (' || reid_held(measure, sensitive) || '), reid_weighed AS (SELECT reid_cells.*, held, x, g, total, kinds, area FROM reid_cells '
   || 'JOIN reid_held ON s IS NOT DISTINCT FROM v, (SELECT sum(held)::BIGINT AS total, count(*) AS kinds, max(g) AS area FROM reid_held))' END
|| CASE WHEN reid_measured(measure) IS NOT NULL
   THEN ' SELECT ' || keys || ', sum(n)::BIGINT AS class_size, ' || reid_measured(measure) || ' AS value FROM reid_weighed GROUP BY ' || keys
   ELSE ', reid_counted AS MATERIALIZED (SELECT ' || keys || ', sum(n)::BIGINT AS size, count(*) AS parts, any_value(' || reid_single(measure, c)
   || ') AS single FROM reid_weighed GROUP BY ' || keys || '), reid_several AS (SELECT reid_weighed.*, size FROM reid_weighed JOIN (SELECT ' || keys
   || ', size FROM reid_counted WHERE parts > 1) AS reid_sized ON '
   || reid_join(list_transform(string_split(keys, ', '), lambda reid_q: 'reid_weighed.' || reid_q || ' IS NOT DISTINCT FROM reid_sized.' || reid_q), ' AND ')
   || ') SELECT ' || keys || ', size AS class_size, single AS value FROM reid_counted WHERE parts = 1 UNION ALL ' || reid_of_several(measure, c, keys) END;

-- What the plans need, each worked out once: an argument of a macro is written out wherever it stands.
MACRO reid_asked(columns, sensitive, listed) AS
{'columns': columns, 'sensitive': sensitive, 'keys': reid_join(reid_class_keys(columns, listed), ', '), 'every': reid_listed(
  'quasi-identifiers and sensitive', list_append(columns, sensitive))};

MACRO reid_plan_summary(tbl, asked, measure, c, nulls) AS
reid_guarded('quasi-identifiers and sensitive', [reid_table(tbl)], asked['every'], reid_treated(tbl, asked['every'], nulls,
  'SELECT class_size, value, count(*) AS classes FROM ('
  || reid_disclosed(tbl, asked['columns'], asked['sensitive'], measure, c, nulls, false, asked['keys']) || ') GROUP BY class_size, value'));

MACRO reid_plan_disclosure(tbl, columns, sensitive, measure, c, nulls) AS
list_extract(list_transform([{'columns': columns, 'measure': measure, 'c': c, 'nulls': nulls}], lambda reid_given: list_extract(list_transform(
  [reid_asked(reid_given['columns'], sensitive, false)], lambda reid_found:
  reid_plan_summary(tbl, reid_found, reid_given['measure'], reid_given['c'], reid_given['nulls'])), 1)), 1);

MACRO reid_plan_listing(tbl, asked, measure, c, test, nulls) AS
CASE WHEN list_has_any(list_transform(asked['columns'], lambda reid_c: reid_fold(reid_c)), ['class_size', 'value', 'records_dropped', 'nulls'])
THEN error('quasi-identifiers must not be named class_size, value, records_dropped or nulls where classes are listed, got '''
  || list_extract(list_filter(asked['columns'], lambda reid_c: list_contains(['class_size', 'value', 'records_dropped', 'nulls'], reid_fold(reid_c))), 1)
  || '''; rename the column in a view')
ELSE reid_guarded('quasi-identifiers and sensitive', [reid_table(tbl)], asked['every'], reid_treated(tbl, asked['every'], nulls, 'SELECT '
  || reid_join(list_transform(asked['columns'], lambda reid_c, reid_i: 'q' || reid_i || ' AS ' || reid_name(reid_c)), ', ') || ', class_size, value FROM ('
  || reid_disclosed(tbl, asked['columns'], asked['sensitive'], measure, c, nulls, true, asked['keys']) || ') WHERE value IS NULL OR ' || test)) END;

MACRO reid_plan_offending(tbl, columns, sensitive, measure, c, test, nulls) AS
list_extract(list_transform([{'columns': columns, 'measure': measure, 'c': c, 'test': test, 'nulls': nulls}], lambda reid_given:
  list_extract(list_transform([reid_asked(reid_given['columns'], sensitive, true)], lambda reid_found:
  reid_plan_listing(tbl, reid_found, reid_given['measure'], reid_given['c'], reid_given['test'], reid_given['nulls'])), 1)), 1);

-- A bad c is refused also where the variant does not use it.
MACRO reid_diversity(variant, c) AS CASE WHEN c IS NOT NULL THEN 'l ' || variant END;

MACRO reid_plan_l_diversity(tbl, columns, sensitive, variant, c, nulls) AS
reid_plan_disclosure(tbl, columns, sensitive, reid_diversity(variant, c), c, nulls);

MACRO reid_plan_l_diversity_classes(tbl, columns, sensitive, variant, c, l, nulls) AS
reid_plan_offending(tbl, columns, sensitive, reid_diversity(variant, c), c, 'value < ' || l || ' * (1 - 1e-12)', nulls);

MACRO reid_plan_t_closeness(tbl, columns, sensitive, variant, nulls) AS
reid_plan_disclosure(tbl, columns, sensitive, 't ' || variant, 0, nulls);

MACRO reid_plan_t_closeness_classes(tbl, columns, sensitive, variant, t, nulls) AS
reid_plan_offending(tbl, columns, sensitive, 't ' || variant, 0, 'value > ' || t || ' * (1 + 1e-12)', nulls);

MACRO reid_plan_alpha_k_anonymity(tbl, columns, sensitive, nulls) AS
reid_plan_disclosure(tbl, columns, sensitive, 'alpha', 0, nulls);

MACRO reid_plan_alpha_k_anonymity_classes(tbl, columns, sensitive, alpha, k, nulls) AS
reid_plan_offending(tbl, columns, sensitive, 'alpha', 0, 'value > ' || alpha || ' * (1 + 1e-12) OR class_size < ' || k, nulls);

MACRO reid_plan_beta_likeness(tbl, columns, sensitive, variant, nulls) AS
reid_plan_disclosure(tbl, columns, sensitive, 'beta ' || variant, 0, nulls);

MACRO reid_plan_beta_likeness_classes(tbl, columns, sensitive, variant, beta, nulls) AS
reid_plan_offending(tbl, columns, sensitive, 'beta ' || variant, 0, 'value > ' || beta || ' * (1 + 1e-12)', nulls);

MACRO reid_plan_delta_disclosure(tbl, columns, sensitive, variant, nulls) AS
reid_plan_disclosure(tbl, columns, sensitive, 'delta ' || variant, 0, nulls);

MACRO reid_plan_delta_disclosure_classes(tbl, columns, sensitive, variant, delta, nulls) AS
reid_plan_offending(tbl, columns, sensitive, 'delta ' || variant, 0, 'value > ' || delta || ' * (1 + 1e-12)', nulls);
