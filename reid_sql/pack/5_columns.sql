-- Which columns distinguish records: every subset of one to three of them.
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

-- Cells of a table of counts. Everybody of a row or column in one cell tells its category of all of them.
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
    CASE WHEN list_has_any(list_transform(names, lambda name: reid_fold_case(name)), ['total_over', 'records',
        'people', 'value_sum', 'largest_share', 'unsafe', 'status', 'loss', 'records_dropped', 'nulls'])
      THEN reid_refuse('by must not name a column of the answer', 'one of them',
        'rename the column in a view')::VARCHAR
      ELSE reid_cells(tbl, names, reid_number('k', k, 1, 1e6, true)::BIGINT,
        reid_choice('nulls', reid_refuse_option('value', value, reid_refuse_option('entity', entity, nulls)),
          ['value', 'drop'])) END)[1]);
