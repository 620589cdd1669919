-- How DuckDB says the reductions: macros that write the query for a table and columns given as data.
-- A statement starts with MACRO; the engine puts CREATE before it. Names are quoted here and nowhere else.

-- Exact near zero, where ln(1 + x) and exp(x) - 1 lose digits.
MACRO reid_log1p(x) AS CASE WHEN abs(x) < 1e-8 THEN x * (1 - x / 2) WHEN x > -0.5 THEN 2 * atanh(x / (2 + x)) ELSE ln(1 + x) END;

MACRO reid_expm1(x) AS CASE WHEN abs(x) < 1e-8 THEN x * (1 + x / 2) WHEN abs(x) < 1 THEN 2 * tanh(x / 2) / (1 - tanh(x / 2)) ELSE exp(x) - 1 END;

-- One 64-bit hash of a column, independent of hash(c): only types whose hash is one-to-one are hashed as they are.
MACRO reid_column_hash(c) AS
CASE WHEN regexp_full_match(typeof(c), 'BOOLEAN|U?(TINY|SMALL|BIG)?INT(EGER)?|FLOAT|DOUBLE|DATE|TIME|TIMESTAMP( WITH TIME ZONE)?')
THEN hash(c) ELSE hash(create_sort_key(c, 'ASC NULLS LAST')) END;

-- SQL has no empty name; that of a control character stands for it, which no table has, until the check refuses it.
MACRO reid_name(c) AS '"' || CASE WHEN c = '' THEN chr(1) ELSE replace(c, '"', '""') END || '"';

MACRO reid_text(c) AS '''' || replace(c, '''', '''''') || '''';

-- Column names differ by ASCII case alone.
MACRO reid_fold(c) AS translate(c, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

MACRO reid_join(items, separator) AS coalesce(array_to_string(items, separator), '');

MACRO reid_suggestion(name, known, kind) AS
coalesce(
  'did you mean ''' || list_extract(list_transform(list_sort(list_transform(
      list_filter(known, lambda n: damerau_levenshtein(lower(name), lower(n)) <= 1 + length(name) // 3),
      lambda n: {'distance': damerau_levenshtein(lower(name), lower(n)), 'place': list_position(known, n), 'name': n})),
    lambda found: found['name']), 1) || '''?',
  CASE WHEN len(known) = 0 THEN 'there are no ' || kind
  ELSE 'the ' || kind || ' are ' || reid_join(known[:12], ', ') || CASE WHEN len(known) > 12 THEN ', …' ELSE '' END END);

MACRO reid_listed(words, columns) AS
CASE
  WHEN try_cast(columns AS VARCHAR[]) IS NULL OR list_contains(list_transform(try_cast(columns AS VARCHAR[]), lambda c: c IS NULL), true)
  THEN error(words || ' must be a list of column names, got ' || coalesce(columns::VARCHAR, 'NULL') || '; write [''age'', ''sex'']')
  WHEN len(try_cast(columns AS VARCHAR[])) NOT BETWEEN 1 AND 64
  THEN error(words || ' must name 1 to 64 columns, got ' || len(try_cast(columns AS VARCHAR[]))
    || '; pass the columns by which people can be told apart, such as [''age'', ''sex'']')
  WHEN len(list_distinct(list_transform(try_cast(columns AS VARCHAR[]), lambda c: reid_fold(c)))) < len(try_cast(columns AS VARCHAR[]))
  THEN error(words || ' must be distinct, got ''' || list_extract(list_filter(try_cast(columns AS VARCHAR[]),
      lambda c, i: list_contains(list_transform(try_cast(columns AS VARCHAR[])[:i - 1], lambda d: reid_fold(d)), reid_fold(c))), 1)
    || ''' twice; name each column once')
  ELSE try_cast(columns AS VARCHAR[])
END;

-- A name or a path, as it stands where it holds no quotes or is quoted by SQL's rules. Else it is an odd path, or an
-- identifier that itself holds quotes: those arrive bare.
MACRO reid_table(tbl) AS
CASE
  WHEN coalesce(trim(tbl::VARCHAR), '') = '' THEN error('tbl must be a table, view or file, got an empty name; pass its name or path')
  WHEN NOT contains(tbl::VARCHAR, '"') OR regexp_full_match(tbl::VARCHAR, '(?s)("([^"]|"")+"|[^".]+)([.]("([^"]|"")+"|[^".]+)){0,2}')
  THEN 'query_table(' || reid_text(tbl::VARCHAR) || ')'
  WHEN regexp_matches(tbl::VARCHAR, '(?s)/.*[.](parquet|csv|tsv|json|ndjson|jsonl)([.](gz|zst))?$') THEN reid_text(tbl::VARCHAR)
  ELSE 'query_table(' || reid_text(reid_name(tbl::VARCHAR)) || ')'
END;

-- True where the table has all the columns, else the refusal. Runs beside the query, as names are known only there.
MACRO reid_known(words, columns, names) AS
CASE WHEN list_has_all(list_transform(names, lambda n: reid_fold(n)), list_transform(columns, lambda c: reid_fold(c))) THEN true
ELSE error(words || ' must be columns of the table, got '''
  || list_extract(list_filter(columns, lambda c: NOT list_contains(list_transform(names, lambda n: reid_fold(n)), reid_fold(c))), 1)
  || '''; ' || reid_suggestion(
    list_extract(list_filter(columns, lambda c: NOT list_contains(list_transform(names, lambda n: reid_fold(n)), reid_fold(c))), 1),
    names, 'columns'))::BOOLEAN
END;

MACRO reid_texts(items) AS '[' || reid_join(list_transform(items, lambda c: reid_text(c)), ', ') || ']';

-- The query with its columns checked. A column that the table lacks binds to the NULL beside it, and the check refuses.
MACRO reid_guarded(words, tables, columns, body) AS
'SELECT reid_result.* FROM (SELECT ' || reid_join(list_transform(columns, lambda c: 'NULL::VARCHAR AS ' || reid_name(c)), ', ')
|| ' FROM ' || reid_join(list_transform(tables, lambda t, i:
    '(SELECT list(column_name) AS reid_names_' || i || ' FROM (DESCRIBE FROM ' || t || '))'), ', ')
|| ' WHERE ' || reid_join(list_transform(tables, lambda t, i:
    'reid_known(' || reid_text(words) || ', ' || reid_texts(columns) || ', reid_names_' || i || ')'), ' AND ')
|| ') AS reid_fallback, LATERAL (' || body || ') AS reid_result';

MACRO reid_where(columns, operator, test) AS reid_join(list_transform(columns, lambda c: reid_name(c) || test), operator);

MACRO reid_numbered(columns) AS reid_join(list_transform(columns, lambda c, i: 'q' || i), ', ');

-- The quasi-identifiers as q1, q2, …; they are taken from the table before anything of ours can have their name.
MACRO reid_rows(tbl, columns, nulls) AS
'(SELECT ' || reid_join(list_transform(columns, lambda c: reid_name(c)), ', ') || ' FROM ' || reid_table(tbl) || ' AS reid_source'
|| CASE WHEN nulls = 'drop' THEN ' WHERE ' || reid_where(columns, ' AND ', ' IS NOT NULL') ELSE '' END
|| ') AS reid_rows(' || reid_numbered(columns) || ')';

-- How NULLs were treated, beside each row of a plan. The count stands in a query of its own, away from our columns.
MACRO reid_treated(tbl, columns, nulls, body) AS
'SELECT reid_counted.*, reid_left_out.records_dropped, ' || reid_text(nulls) || ' AS nulls FROM (' || body || ') AS reid_counted, (SELECT '
|| CASE WHEN nulls = 'drop' THEN 'count(*) FROM ' || reid_table(tbl) || ' AS reid_source WHERE ' || reid_where(columns, ' OR ', ' IS NULL')
   ELSE '0::BIGINT' END || ') AS reid_left_out(records_dropped)';

-- The columns themselves up to four; beyond, two 64-bit hashes of all of them, each in its own order.
MACRO reid_key(columns) AS
CASE WHEN len(columns) <= 4 THEN reid_numbered(columns)
ELSE 'hash(' || reid_numbered(columns) || '), hash('
  || reid_join(list_reverse(list_transform(columns, lambda c, i: 'reid_column_hash(q' || i || ')')), ', ') || ')' END;

-- Distinct records of one side, numbered, with their counts.
MACRO reid_distinct(tbl, columns, nulls, side) AS
'SELECT ' || side || ' AS side, row_number() OVER () AS id, ' || reid_numbered(columns) || ', records FROM (SELECT '
|| reid_numbered(columns) || ', count(*) AS records FROM ' || reid_rows(tbl, columns, nulls)
|| ' GROUP BY ' || reid_numbered(columns) || ')';

-- Each record as a list of codes (0 for NULL), matched in one call with the records of the other side.
MACRO reid_matches(other, alias) AS
'SELECT unnest(sizes) AS ' || alias || ', generate_subscripts(sizes, 1) AS id FROM (SELECT reid_wildcard_class_sizes('
|| 'list(codes ORDER BY id) FILTER (side = 0), list(codes ORDER BY id) FILTER (side = ' || other || '), '
|| 'list(records ORDER BY id) FILTER (side = ' || other || ')) AS sizes FROM reid_coded)';

-- NULL matches anything.
MACRO reid_wildcard_with(columns, distinct_records, other) AS
'WITH reid_distinct AS MATERIALIZED (' || distinct_records || '), reid_coded AS (SELECT side, id, records, ['
|| reid_join(list_transform(columns, lambda c, i: 'coalesce(code' || i || ', 0)'), ', ') || '] AS codes FROM reid_distinct'
|| reid_join(list_transform(columns, lambda c, i: ' LEFT JOIN (SELECT v' || i || ', row_number() OVER () AS code' || i
    || ' FROM (SELECT DISTINCT q' || i || ' AS v' || i || ' FROM reid_distinct WHERE q' || i || ' IS NOT NULL)) ON q' || i || ' = v' || i), '')
|| '), reid_sizes AS (' || reid_matches(other, 'class_size') || '), reid_matched AS ('
|| 'SELECT reid_distinct.*, class_size FROM reid_distinct JOIN reid_sizes ON reid_distinct.id = reid_sizes.id WHERE side = 0) ';

MACRO reid_plan_classes(tbl, columns, nulls) AS
CASE WHEN list_has_any(list_transform(columns, lambda c: reid_fold(c)), ['class_size', 'records', 'records_dropped', 'nulls'])
THEN error('quasi-identifiers must not be named class_size, records, records_dropped or nulls where classes are listed, got '''
  || list_extract(list_filter(columns, lambda c: list_contains(['class_size', 'records', 'records_dropped', 'nulls'], reid_fold(c))), 1)
  || '''; rename the column in a view')
ELSE reid_guarded('quasi-identifiers', [reid_table(tbl)], columns, reid_treated(tbl, columns, nulls,
  CASE WHEN nulls = 'wildcard' THEN reid_wildcard_with(columns, reid_distinct(tbl, columns, nulls, 0), 0) ELSE '' END
  || 'SELECT ' || reid_join(list_transform(columns, lambda c, i: 'q' || i || ' AS ' || reid_name(c)), ', ')
  || CASE WHEN nulls = 'wildcard' THEN ', class_size, records FROM reid_matched'
     ELSE ', count(*) AS class_size, count(*) AS records FROM ' || reid_rows(tbl, columns, nulls) || ' GROUP BY ' || reid_numbered(columns) END)) END;

-- Sizes of classes, or of the matches of each distinct record, with the records that have them.
MACRO reid_sizes(tbl, columns, nulls) AS
CASE WHEN nulls = 'wildcard'
THEN reid_wildcard_with(columns, reid_distinct(tbl, columns, nulls, 0), 0) || 'SELECT class_size, records FROM reid_matched'
ELSE 'SELECT count(*) AS class_size, count(*) AS records FROM ' || reid_rows(tbl, columns, nulls) || ' GROUP BY ' || reid_key(columns) END;

MACRO reid_plan_histogram(tbl, columns, nulls) AS
reid_guarded('quasi-identifiers', [reid_table(tbl)], columns, reid_treated(tbl, columns, nulls,
  'SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records FROM (' || reid_sizes(tbl, columns, nulls) || ') GROUP BY class_size')) || ' ORDER BY class_size';

-- The population of each of the sample's classes; a population holds its sample.
MACRO reid_population(tbl, population_tbl, columns, nulls) AS
CASE WHEN nulls = 'wildcard'
THEN reid_wildcard_with(columns, reid_distinct(tbl, columns, nulls, 0) || ' UNION ALL ' || reid_distinct(population_tbl, columns, nulls, 1), 1)
  || ', reid_own AS (' || reid_matches(0, 'own') || ') '
  || 'SELECT own, records, class_size AS found FROM reid_matched JOIN reid_own USING (id)'
ELSE 'SELECT s.records AS own, s.records, coalesce(p.records, 0) AS found FROM (' || reid_distinct(tbl, columns, nulls, 0)
  || ') s LEFT JOIN (' || reid_distinct(population_tbl, columns, nulls, 1) || ') p ON '
  || reid_join(list_transform(columns, lambda c, i: 's.q' || i || ' IS NOT DISTINCT FROM p.q' || i), ' AND ') END;

MACRO reid_plan_population_histogram(tbl, population_tbl, columns, nulls) AS
reid_guarded('quasi-identifiers', [reid_table(tbl), reid_table(population_tbl)], columns, reid_treated(tbl, columns, nulls,
  'SELECT greatest(found, own) AS class_size, count(*) AS classes, sum(records)::BIGINT AS records, '
  || 'coalesce(sum(records) FILTER (found < own), 0)::BIGINT AS uncovered FROM ('
  || reid_population(tbl, population_tbl, columns, nulls) || ') GROUP BY ALL')) || ' ORDER BY class_size';

-- Every subset of 1 to max_size of n columns, as lists of 1-based places, smallest subsets first.
MACRO reid_subset_places(n, max_size) AS
list_reduce(
  list_prepend(list_transform(range(1, n + 1), lambda i: [i]), list_transform(range(1, max_size), lambda i: []::BIGINT[][])),
  lambda found, step: list_concat(found, flatten(list_transform(
    list_filter(found, lambda s: len(s) = len(found[-1])),
    lambda s: list_transform(range(s[-1] + 1, n + 1), lambda j: list_append(s, j))))));

MACRO reid_subset_count(n, max_size) AS
list_sum(list_transform(range(1, least(n, max_size) + 1), lambda k:
  list_reduce(list_prepend(1::HUGEINT, range(1, k + 1)::HUGEINT[]), lambda chosen, i: chosen * (n - i + 1) // i)));

MACRO reid_plan_subset(tbl, columns, nulls) AS
reid_treated(tbl, columns, nulls, 'SELECT ' || reid_texts(columns) || ' AS subset, coalesce(sum(records), 0)::BIGINT AS records, count(*) AS classes, '
|| 'coalesce(sum(records * (class_size - 1)::HUGEINT), 0)::HUGEINT AS pairs_alike FROM ('
|| reid_sizes(tbl, columns, nulls) || ')');

MACRO reid_plan_subsets(tbl, columns, max_size, nulls) AS
CASE WHEN reid_subset_count(len(columns), max_size) > 5000
THEN error('the number of subsets of the columns must be at most 5000, got ' || reid_subset_count(len(columns), max_size)
  || '; pass fewer columns or a smaller max_size')
ELSE reid_guarded('columns', [reid_table(tbl)], columns, reid_join(list_transform(
  reid_subset_places(len(columns), max_size), lambda reid_places: '(' || reid_plan_subset(tbl, list_select(columns, reid_places), nulls) || ')'), ' UNION ALL ')) END;

-- A scramble of two whole numbers below 2^31 - 1, the same on every engine: no product leaves 63 bits.
MACRO reid_square(z, a, b) AS (z * z + z * a + b) % 2147483647;

MACRO reid_mixed(x, y) AS reid_square(reid_square((x::BIGINT * 48271 + y::BIGINT * 69621 + 11) % 2147483647, 16807, 7), 48271, 3);

MACRO reid_choose(n, k) AS list_reduce(list_prepend(1::DOUBLE, range(1, k + 1)::DOUBLE[]), lambda chosen, i: chosen * (n - i + 1) / i);

-- Each person's set, items coded by their order and placed rarest first; whether all combinations of points are few enough.
MACRO reid_sets_with(tbl, person, item, points, exact_up_to, nulls) AS
'WITH reid_coded AS MATERIALIZED (SELECT dense_rank() OVER (ORDER BY q1) AS p, dense_rank() OVER (ORDER BY q2) AS i FROM (SELECT DISTINCT q1, q2 FROM '
|| reid_rows(tbl, [person, item], nulls) || ')), reid_sets AS MATERIALIZED (SELECT p, i, count(*) OVER (PARTITION BY p) AS size, '
|| 'row_number() OVER (PARTITION BY p ORDER BY support, i) AS place FROM reid_coded JOIN (SELECT i, count(*) AS support FROM reid_coded GROUP BY i) USING (i)), '
|| 'reid_total AS MATERIALIZED (SELECT count(*) AS people, sum(reid_choose(size, least(' || points || ', size))) <= ' || exact_up_to
|| ' AS exact FROM reid_sets WHERE place = 1), ';

-- Every combination of points of every person, or all that a person has; each person weighs 1.
MACRO reid_combinations(points) AS
'SELECT list(i ORDER BY place) AS known, 1::DOUBLE AS weight FROM reid_sets, reid_total WHERE exact AND size <= ' || points || ' GROUP BY p UNION ALL SELECT ['
|| reid_join(list_transform(range(1, points + 1), lambda k: 's' || k || '.i'), ', ') || '], 1 / reid_choose(s1.size, ' || points
|| ') FROM (SELECT reid_sets.* FROM reid_sets, reid_total WHERE exact AND size > ' || points || ') s1'
|| reid_join(list_transform(range(2, points + 1), lambda k: ' JOIN reid_sets s' || k || ' ON s' || k || '.p = s1.p AND s' || k || '.place > s' || (k - 1) || '.place'), '');

-- Targets drawn in rounds, each person once a round, and the items that are known of them.
MACRO reid_draws(points, samples, seed) AS
'SELECT list(i ORDER BY place) AS known, 1::DOUBLE AS weight FROM (SELECT p, turn, i, place, row_number() OVER (PARTITION BY p, turn '
|| 'ORDER BY reid_mixed(reid_mixed(reid_mixed(' || seed || ', turn + 1), p), i), i) AS rank FROM reid_sets JOIN (SELECT p, unnest(range((' || samples
|| ' + people - 1) // people)) AS turn FROM reid_sets, reid_total WHERE NOT exact AND place = 1 ORDER BY turn, reid_mixed(reid_mixed(' || seed || ', 0), p), p LIMIT '
|| samples || ') USING (p)) WHERE rank <= ' || points || ' GROUP BY p, turn';

MACRO reid_plan_matches(tbl, person, item, points, exact_up_to, samples, seed, nulls) AS
reid_guarded('person and item', [reid_table(tbl)], reid_listed('person and item', [person, item]), reid_treated(tbl, [person, item], nulls,
  reid_sets_with(tbl, person, item, points, exact_up_to, nulls)
  || 'reid_knowledge AS MATERIALIZED (SELECT row_number() OVER () AS id, known, weight FROM (SELECT known, sum(weight) AS weight FROM ('
  || reid_combinations(points) || ' UNION ALL ' || reid_draws(points, samples, seed) || ') GROUP BY known)), '
  || 'reid_matched AS (SELECT id, any_value(weight) AS weight, count(*) AS matches FROM reid_knowledge JOIN reid_coded c1 ON c1.i = known[1]'
  || reid_join(list_transform(range(2, points + 1), lambda k: ' JOIN reid_coded c' || k || ' ON c' || k || '.p = c1.p AND c' || k || '.i = known[least(' || k || ', len(known))]'), '')
  || ' GROUP BY id) SELECT matches, sum(weight) AS weight, people, CASE WHEN exact THEN 0 ELSE ' || samples
  || ' END::BIGINT AS draws FROM reid_matched, reid_total GROUP BY ALL'));

-- The columns and the weights, which are the last of them where there are any.
MACRO reid_weighted(columns, weight) AS CASE WHEN weight IS NULL THEN columns ELSE list_append(columns, weight) END;

-- A missing or negative weight must not pass: it makes the sum NaN, which the model refuses.
MACRO reid_pair_counts(columns, weight) AS
'count(*) AS records, ' || CASE WHEN weight IS NULL THEN 'count(*)::DOUBLE'
ELSE 'sum(CASE WHEN try_cast(q' || (len(columns) + 1) || ' AS DOUBLE) >= 0 THEN q' || (len(columns) + 1) || '::DOUBLE ELSE ''NaN''::DOUBLE END)' END || ' AS mass';

-- Shares from outside, as counts of the columns that they name; 0 is the column of a name that is none.
MACRO reid_outside(columns, marginals, nulls) AS
' UNION ALL SELECT coalesce(list_position(' || reid_texts(list_transform(columns, lambda c: reid_fold(c))) || ', reid_fold(q1::VARCHAR)), 0), -1, q1::VARCHAR, q2::VARCHAR, NULL, 0, '
|| 'coalesce(try_cast(q3 AS DOUBLE), ''NaN''::DOUBLE) FROM (' || reid_guarded('columns of the marginals', [reid_table(marginals)], ['column_name', 'value', 'share'],
  'FROM ' || reid_rows(marginals, ['column_name', 'value', 'share'], 'value')) || ') AS reid_given(q1, q2, q3)'
|| CASE WHEN nulls = 'drop' THEN ' WHERE q2 IS NOT NULL' ELSE '' END;

MACRO reid_plan_pairs(tbl, columns, weight, marginals, nulls) AS
reid_guarded('columns', [reid_table(tbl)], reid_weighted(columns, weight), reid_treated(tbl, reid_weighted(columns, weight), nulls,
  'WITH reid_taken AS (FROM ' || reid_rows(tbl, reid_weighted(columns, weight), nulls) || ') SELECT row_number() OVER () AS cell, * FROM ('
  || reid_join(list_transform(columns, lambda c, i: 'SELECT ' || i || '::BIGINT AS first, 0::BIGINT AS second, ' || reid_text(c) || ' AS label, q' || i
    || '::VARCHAR AS first_value, NULL::VARCHAR AS second_value, ' || reid_pair_counts(columns, weight) || ' FROM reid_taken GROUP BY q' || i), ' UNION ALL ')
  || reid_join(list_transform(
      list_filter(reid_subset_places(len(columns), 2), lambda reid_places: len(reid_places) = 2),
      lambda reid_places: ' UNION ALL SELECT ' || reid_places[1] || ', ' || reid_places[2] || ', NULL, q' || reid_places[1] || '::VARCHAR, q' || reid_places[2]
    || '::VARCHAR, ' || reid_pair_counts(columns, weight) || ' FROM reid_taken GROUP BY q' || reid_places[1] || ', q' || reid_places[2]), '')
  || CASE WHEN weight IS NULL THEN ' UNION ALL SELECT 0, -2, NULL, NULL, NULL, coalesce(count_if(alike = 1), 0)::BIGINT, 0 FROM (SELECT count(*) AS alike FROM reid_taken GROUP BY '
     || reid_key(columns) || ')' ELSE '' END
  || CASE WHEN marginals IS NULL THEN '' ELSE reid_outside(columns, marginals, nulls) END || ')'));

MACRO reid_plan_saved(tbl) AS
reid_guarded('columns of the saved models', [reid_table(tbl)], ['model', 'json'],
  'SELECT row_number() OVER () AS line, *, 0::BIGINT AS records_dropped, ''value'' AS nulls FROM (SELECT "model"::VARCHAR, "json"::VARCHAR FROM '
  || reid_table(tbl) || ' AS reid_source) AS reid_saved(model, json)');

-- Records drawn from a model, each by its place alone: the engine streams the places.
MACRO reid_plan_drawn(found, head, n, tail) AS
CASE WHEN found.refusal IS NOT NULL THEN 'SELECT error(' || reid_text(found.refusal) || ')'
ELSE 'SELECT ' || reid_join(list_transform(found.columns, lambda c, i: 'reid_drawn[' || i || '] AS ' || reid_name(c)), ', ')
  || ' FROM (SELECT ' || head || '(reid_database(), ' || tail || ', reid_place) AS reid_drawn FROM range(' || n || ') AS reid_places(reid_place))' END;

-- The table's rows beside the scores of their values; distinct records are scored in the model's order, so that those
-- that begin alike stand together.
MACRO reid_plan_scores(tbl, model_columns, places, head, tail, beside) AS
reid_guarded('columns of the model', [reid_table(tbl)], model_columns,
  'WITH reid_distinct AS MATERIALIZED (SELECT *, count(*) AS class_size FROM ' || reid_rows(tbl, model_columns, 'value') || ' GROUP BY ALL), '
  || 'reid_scored AS MATERIALIZED (SELECT ' || reid_join(list_transform(model_columns, lambda c, i: 'q' || i || ' AS reid_q' || i), ', ')
  || ', ' || head || '([' || reid_join(list_transform(model_columns, lambda c, i: 'q' || i || '::VARCHAR'), ', ') || '], class_size, ' || tail
  || ' AS reid_answer FROM (FROM reid_distinct ORDER BY ' || reid_join(list_transform(places, lambda i: 'q' || i), ', ') || ')) '
  || CASE WHEN NOT beside THEN 'SELECT row_number() OVER () AS place, reid_answer.class_size AS class_size, reid_answer.uniqueness_xi AS uniqueness_xi, '
    || '0::BIGINT AS records_dropped, ''value'' AS nulls FROM reid_scored' ELSE 'SELECT reid_own.*, unnest(reid_answer) FROM (FROM ' || reid_table(tbl) || ') AS reid_own JOIN reid_scored ON '
  || reid_join(list_transform(model_columns, lambda c, i: reid_name(c) || ' IS NOT DISTINCT FROM reid_q' || i), ' AND ') END);

MACRO reid_plan_scored(tbl, found, head, tail, beside) AS
CASE WHEN found.refusal IS NOT NULL THEN 'SELECT error(' || reid_text(found.refusal) || ')'
ELSE reid_plan_scores(tbl, found.columns, found.places, head, tail, beside) END;

MACRO reid_plan_classes_scored(tbl, found, model, population) AS
CASE WHEN found.refusal IS NOT NULL THEN 'SELECT error(' || reid_text(found.refusal)
  || ')::BIGINT AS place, 1::BIGINT AS class_size, 1::DOUBLE AS uniqueness_xi, 0::BIGINT AS records_dropped, ''value'' AS nulls'
ELSE reid_plan_scored(tbl, found, 'reid_answered_score_copula',
  reid_text(model) || ', ' || reid_text(population::VARCHAR) || ', ''ignored'')', false) END;

MACRO reid_plan_scored_classes(tbl, model, population) AS
reid_plan_classes_scored(tbl, reid_model_columns(reid_database(), model), model, population);

MACRO reid_ordinal(kind) AS
regexp_full_match(kind, 'BOOLEAN|U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|DATE|TIME.*|INTERVAL|ENUM.*');

-- Each column as the rank of its values, 0 for NULL: one row of whole columns, its records in any order, its keys by position.
MACRO reid_plan_record_codes(tbl, columns, key, nulls) AS
reid_guarded(CASE WHEN key IS NULL THEN 'columns' ELSE 'columns and key' END, [reid_table(tbl)],
  list_filter(list_append(columns, key), lambda c, i: c IS NOT NULL AND list_position(list_append(columns, key), c) = i),
  reid_treated(tbl, columns, nulls,
  'WITH reid_records AS MATERIALIZED (SELECT * FROM (SELECT row_number() OVER () - 1 AS position, * FROM '
  || reid_rows(tbl, CASE WHEN key IS NULL THEN columns ELSE list_append(columns, key) END, 'value') || ')'
  || CASE WHEN nulls = 'drop' THEN ' WHERE ' || reid_join(list_transform(columns, lambda c, i: 'q' || i || ' IS NOT NULL'), ' AND ') ELSE '' END
  || ') SELECT ' || reid_texts(columns) || ' AS names, ['
  || reid_join(list_transform(columns, lambda c, i: 'reid_ordinal(any_value(typeof(q' || i || ')))'), ', ') || '] AS ordinal, ['
  || reid_join(list_transform(columns, lambda c, i: 'list(coalesce(code' || i || ', 0)::INTEGER)'), ', ') || '] AS codes, '
  || 'list(position) AS position, list(' || CASE WHEN key IS NULL THEN 'position' ELSE 'q' || (len(columns) + 1) END
  || ' ORDER BY position) AS keys FROM reid_records'
  || reid_join(list_transform(columns, lambda c, i: ' LEFT JOIN (SELECT v' || i || ', row_number() OVER (ORDER BY v' || i || ') AS code' || i
    || ' FROM (SELECT DISTINCT q' || i || ' AS v' || i || ' FROM reid_records WHERE q' || i || ' IS NOT NULL)) ON q' || i || ' = v' || i), '')));

MACRO reid_plan_codes(tbl, columns, nulls) AS reid_plan_record_codes(tbl, columns, NULL, nulls);

-- A list of names in a document that was read.
MACRO reid_named(document, part) AS coalesce(json_extract_string(document, '$.' || part || '[*]'), []::VARCHAR[]);

-- The distinct records on the columns, each value as a code (0 for NULL), the values of the told columns as texts, and the
-- records that hold each: by the key, else by their place in the scan, counted before any is left out.
MACRO reid_known_records(tbl, columns, told, key, nulls, every) AS
'WITH reid_distinct AS MATERIALIZED (SELECT row_number() OVER () AS id, * FROM (SELECT ' || reid_numbered(every)
|| ', count(*) AS records, list(record) AS members FROM (SELECT ' || CASE WHEN key IS NULL THEN 'row_number() OVER () - 1' ELSE reid_name(key) END
|| ', ' || reid_join(list_transform(every, lambda c: reid_name(c)), ', ') || ' FROM ' || reid_table(tbl) || ' AS reid_source) AS reid_rows(record, '
|| reid_numbered(every) || ')'
|| CASE WHEN nulls = 'drop' THEN ' WHERE ' || reid_join(list_transform(columns, lambda c, i: 'q' || i || ' IS NOT NULL'), ' AND ') ELSE '' END
|| ' GROUP BY ' || reid_numbered(every) || ')) '
|| 'SELECT id AS place, records, [' || reid_join(list_transform(columns, lambda c, i: 'coalesce(code' || i || ', 0)'), ', ') || '] AS codes, ['
|| reid_join(list_transform(told, lambda c: 'q' || list_position(every, c) || '::VARCHAR'), ', ') || ']::VARCHAR[] AS texts, members FROM reid_distinct'
|| reid_join(list_transform(columns, lambda c, i: ' LEFT JOIN (SELECT v' || i || ', row_number() OVER () AS code' || i
    || ' FROM (SELECT DISTINCT q' || i || ' AS v' || i || ' FROM reid_distinct WHERE q' || i || ' IS NOT NULL)) ON q' || i || ' IS NOT DISTINCT FROM v' || i), '');

MACRO reid_every(columns, told) AS list_concat(columns, list_filter(told, lambda c: NOT list_contains(columns, c)));

MACRO reid_plan_known(tbl, columns, told, key, nulls) AS
reid_guarded(CASE WHEN key IS NULL THEN 'columns of the scenario' ELSE 'columns of the scenario, and key,' END, [reid_table(tbl)],
  reid_every(reid_every(columns, told), CASE WHEN key IS NULL THEN [] ELSE [key::VARCHAR] END),
  reid_treated(tbl, columns, nulls, reid_known_records(tbl, columns, told, key::VARCHAR, nulls, reid_every(columns, told))));

MACRO reid_plan_known_records(tbl, scenario, key, nulls) AS
list_extract(list_transform([scenario], lambda reid_document: reid_plan_known(tbl,
  reid_listed('columns of the scenario', reid_named(reid_document, 'columns')), reid_named(reid_document, 'told'), key, nulls)), 1);

-- The logarithm of the count that each distinct record would have if the columns were independent, from reid_distinct.
MACRO reid_independent(columns) AS
'SELECT reid_distinct.*, ' || reid_join(list_transform(columns, lambda c, i: 'm' || i), ' + ') || ' - ' || (len(columns) - 1)
|| ' * total AS log_expected FROM reid_distinct, (SELECT ln(sum(records)) AS total FROM reid_distinct) '
|| reid_join(list_transform(columns, lambda c, i: ' JOIN (SELECT q' || i || ' AS v' || i || ', ln(sum(records)) AS m' || i
    || ' FROM reid_distinct GROUP BY q' || i || ') ON q' || i || ' IS NOT DISTINCT FROM v' || i), '');

-- Sizes of classes, with what independent columns would hold where a method asks for it.
MACRO reid_plan_evidence(tbl, columns, method, nulls) AS
reid_guarded('quasi-identifiers', [reid_table(tbl)], columns, reid_treated(tbl, columns, nulls,
  'SELECT row_number() OVER () AS place, class_size, log_expected, classes, coalesce(first, 0) AS first, coalesce(second, 0) AS second, label, '
  || 'first_value, second_value, coalesce(records, 0) AS records, coalesce(mass, 0) AS mass FROM (FROM (' || CASE WHEN method IN ('all', 'loglinear', 'loglinear_nb')
  THEN 'WITH reid_distinct AS MATERIALIZED (SELECT ' || reid_numbered(columns) || ', count(*) AS records FROM ' || reid_rows(tbl, columns, nulls)
    || ' GROUP BY ' || reid_numbered(columns) || ') SELECT records AS class_size, '
    || 'round(log_expected * 1000) / 1000 AS log_expected, count(*) AS classes FROM (' || reid_independent(columns) || ') GROUP BY ALL'
  ELSE 'SELECT class_size, NULL::DOUBLE AS log_expected, count(*) AS classes FROM (' || reid_sizes(tbl, columns, nulls) || ') GROUP BY class_size' END
  || ') UNION ALL BY NAME SELECT 0 AS class_size, NULL::DOUBLE AS log_expected, 0 AS classes, * EXCLUDE (cell, records_dropped, nulls) FROM ('
  || reid_plan_pairs(tbl, columns, NULL::VARCHAR, NULL::VARCHAR, nulls) || ') WHERE ' || (method IN ('all', 'copula', 'copula_calibrated')) || ')'));

-- The distinct records, numbered, with the records that hold each (by the key, else by their place in the scan) and the sum of
-- a column of numbers above 0, NaN where one of them is none.
MACRO reid_holders(tbl, columns, weight, key, nulls) AS
'WITH reid_distinct AS MATERIALIZED (SELECT row_number() OVER () AS id, * FROM (SELECT ' || reid_numbered(columns)
|| ', count(*) AS records, list(record) AS members, sum(CASE WHEN weight > 0 THEN weight ELSE ''NaN''::DOUBLE END) AS mass FROM (SELECT '
|| CASE WHEN key IS NULL THEN 'row_number() OVER () - 1' ELSE reid_name(key) END || ', '
|| CASE WHEN weight IS NULL THEN '1::DOUBLE' ELSE 'try_cast(' || reid_name(weight) || ' AS DOUBLE)' END || ', '
|| reid_join(list_transform(columns, lambda c: reid_name(c)), ', ') || ' FROM ' || reid_table(tbl) || ' AS reid_source) AS reid_rows(record, weight, '
|| reid_numbered(columns) || ')'
|| CASE WHEN nulls = 'drop' THEN ' WHERE ' || reid_join(list_transform(columns, lambda c, i: 'q' || i || ' IS NOT NULL'), ' AND ') ELSE '' END
|| ' GROUP BY ' || reid_numbered(columns) || ')) ';

MACRO reid_in_classes(tbl, columns, weight, key, nulls, body) AS
reid_guarded(CASE WHEN weight IS NULL AND key IS NULL THEN 'quasi-identifiers' ELSE 'quasi-identifiers, weight and key' END, [reid_table(tbl)],
  list_distinct(list_concat(columns, list_filter([weight, key], lambda c: c IS NOT NULL))),
  reid_treated(tbl, columns, nulls, reid_holders(tbl, columns, weight, key, nulls) || body));

MACRO reid_plan_fitted_records(tbl, columns, interactions, key, nulls) AS
reid_in_classes(tbl, columns, NULL::VARCHAR, key::VARCHAR, nulls, 'SELECT id AS place, records, log_expected, '
  || CASE WHEN interactions = 2 THEN '[' || reid_join(list_transform(columns, lambda c, i: 'code' || i), ', ') || ']' ELSE '[]::BIGINT[]' END
  || ' AS codes, members FROM (' || reid_independent(columns) || ')' || CASE WHEN interactions = 2
  THEN reid_join(list_transform(columns, lambda c, i: ' JOIN (SELECT q' || i || ' AS w' || i || ', row_number() OVER () AS code' || i
    || ' FROM reid_distinct GROUP BY q' || i || ') ON q' || i || ' IS NOT DISTINCT FROM w' || i), '') ELSE '' END);

MACRO reid_plan_weighted_records(tbl, columns, weight, key, nulls) AS
reid_in_classes(tbl, columns, weight::VARCHAR, key::VARCHAR, nulls, 'SELECT id AS place, records, mass, members FROM reid_distinct');
