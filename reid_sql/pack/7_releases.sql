-- Two releases of one table. A class is the people of a release with the same values. Lines are of classes
-- (kind 0) and of pairs of classes that people moved between (kind 1): how many people each has in the
-- releases, who stayed, arrived from another class or departed for one, and what the sensitive values share.
CREATE OR REPLACE MACRO reid_read_release(side, tbl, qi, has_sensitive, has_key, columns, nulls) AS
  'SELECT ' || side || ' AS side, ' || reid_keys(len(qi)) || ', '
    || CASE WHEN has_sensitive THEN 'q' || (len(qi) + 1) ELSE 'NULL' END || ' AS s, '
    || CASE WHEN has_key THEN 'q' || len(columns) ELSE 'NULL' END || ' AS p FROM '
    || reid_rows(tbl, columns, 'value') || ' WHERE ' || CASE WHEN has_key
      THEN reid_require_person('key', 'q' || len(columns),
        reid_complete(reid_aliases(len(columns) - 1), nulls))
      ELSE reid_complete(reid_aliases(len(columns)), nulls) END;
CREATE OR REPLACE MACRO reid_types(tbl, columns) AS
  '(SELECT [' || reid_comma(list_transform(reid_aliases(len(columns)),
      lambda q: 'system.main.typeof(' || q || ')')) || '] AS types FROM '
    || reid_rows(tbl, columns, 'value') || ' LIMIT 1)';
-- Values are read once it is known that they have the same types: a cast would make one class of several.
CREATE OR REPLACE MACRO reid_same_types(tbl, other, columns) AS
  'coalesce((SELECT ' || array_to_string(list_transform(columns, lambda c, i: 'reid_are_alike('
      || reid_text(c) || ', reid_first.types[' || i || '], reid_second.types[' || i || '])'), ' AND ')
    || ' FROM ' || reid_types(tbl, columns) || ' AS reid_first, ' || reid_types(other, columns)
    || ' AS reid_second), true)';
CREATE OR REPLACE MACRO reid_are_distinct(side) AS
  '(SELECT CASE WHEN system.main.count(DISTINCT p) < system.main.count(*)
    THEN reid_refuse(''key must differ between records'', ''a value that occurs more than once'',
      ''pass a column whose values are distinct, or none'')::BOOLEAN ELSE true END
    FROM reid_read WHERE side = ' || side || ')';
CREATE OR REPLACE MACRO reid_match(one, other, names, other_names) AS array_to_string(list_transform(names,
  lambda name, i: one || '.' || name || ' IS NOT DISTINCT FROM ' || other || '.' || other_names[i]), ' AND ');
CREATE OR REPLACE MACRO reid_sum_moves(name, keys, ends) AS ', reid_' || name || ' AS (SELECT '
  || reid_comma(list_transform(keys, lambda key, i: key || ' AS ' || ends[i]))
  || ', system.main.sum(people) AS ' || name || ' FROM reid_changes GROUP BY ' || reid_comma(keys) || ')';
CREATE OR REPLACE MACRO reid_release_lines(first, second, qi, compared, columns, sensitive, key, nulls) AS
  list_transform([[reid_aliases(len(qi)), reid_names_of('r', len(qi))]], lambda n: reid_add_nulls(
    reid_count_nulls(first, compared, nulls) || ' + ' || reid_count_nulls(second, compared, nulls), nulls,
  'WITH reid_read AS MATERIALIZED (SELECT * FROM ('
    || reid_read_release(0, first, qi, sensitive IS NOT NULL, key IS NOT NULL, columns, nulls)
    || ' UNION ALL '
    || reid_read_release(1, second, qi, sensitive IS NOT NULL, key IS NOT NULL, columns, nulls)
    || ') WHERE ' || reid_same_types(first, second, columns) || ')
  , reid_rows AS (SELECT * FROM reid_read' || CASE WHEN key IS NULL THEN ''
      ELSE ' WHERE ' || reid_are_distinct(0) || ' AND ' || reid_are_distinct(1) END || ')
  , reid_joined AS MATERIALIZED (
    SELECT a.* EXCLUDE (side, p), ' || reid_comma(n[2]) || ', b.is_there,
      CASE WHEN b.is_there AND ' || reid_match('a', 'b', n[1], n[2]) || ' THEN 1 ELSE 0 END AS has_stayed
    FROM (SELECT * FROM reid_rows WHERE side = 0) AS a LEFT JOIN (SELECT '
      || reid_comma(list_transform(n[1], lambda q, i: q || ' AS ' || n[2][i]))
      || ', p, true AS is_there FROM reid_rows WHERE side = 1) AS b ON '
      || CASE WHEN key IS NULL THEN 'false' ELSE 'a.p = b.p' END || ')
  , reid_changes AS MATERIALIZED (SELECT ' || reid_comma(n[1] || n[2]) || ', system.main.count(*) AS people
    FROM reid_joined WHERE is_there AND has_stayed = 0 GROUP BY ' || reid_comma(n[1] || n[2]) || ')'
    || reid_sum_moves('departed', n[1], n[1]) || reid_sum_moves('arrived', n[2], n[1]) || '
  , reid_cells AS MATERIALIZED (
    SELECT ' || reid_comma(n[1]) || ', s, system.main.count(*) FILTER (side = 0) AS n1,
      system.main.count(*) FILTER (side = 1) AS n2, system.main.sum(has_stayed) AS people
    FROM (SELECT ' || reid_comma(n[1]) || ', s, 0 AS side, has_stayed FROM reid_joined
      UNION ALL SELECT ' || reid_comma(n[1]) || ', s, 1, 0 FROM reid_rows WHERE side = 1)
    GROUP BY ' || reid_comma(n[1]) || ', s)
  , reid_classes AS MATERIALIZED (
    SELECT ' || reid_comma(n[1]) || ', system.main.sum(n1) AS n1, system.main.sum(n2) AS n2,
      system.main.sum(people) AS people, system.main.sum(system.main.least(n1, n2)) AS overlap,
      system.main.count(*) FILTER (n1 > 0 AND n2 > 0) AS common_values,
      system.main.count(*) FILTER (n1 > 0) AS first_values,
      system.main.count(*) FILTER (n2 > 0) AS second_values,
      system.main.count(*) FILTER (n2 > n1) AS gained, system.main.count(*) FILTER (n1 > n2) AS lost
    FROM reid_cells GROUP BY ' || reid_comma(n[1]) || ')
  SELECT *, system.main.count(*) AS n FROM (
    SELECT 0 AS kind, n1, n2, people, coalesce(v.arrived, 0) AS arrived, coalesce(d.departed, 0) AS departed,
      overlap, common_values, first_values, second_values, gained, lost
    FROM reid_classes AS c LEFT JOIN reid_arrived AS v ON ' || reid_match('c', 'v', n[1], n[1])
    || ' LEFT JOIN reid_departed AS d ON ' || reid_match('c', 'd', n[1], n[1]) || '
    UNION ALL
    SELECT 1, system.main.sum(a.n1), system.main.max(b.n2), system.main.max(m.people), 0, 0,
      system.main.sum(system.main.least(a.n1, coalesce(v.n2, 0))), system.main.count(v.n2),
      system.main.count(*), system.main.max(b.second_values), 0, 0
    FROM reid_changes AS m
    JOIN (SELECT * FROM reid_cells WHERE n1 > 0) AS a ON ' || reid_match('m', 'a', n[1], n[1]) || '
    JOIN reid_classes AS b ON ' || reid_match('m', 'b', n[2], n[1]) || '
    LEFT JOIN (SELECT * FROM reid_cells WHERE n2 > 0) AS v ON ' || reid_match('m', 'v', n[2], n[1])
      || ' AND a.s IS NOT DISTINCT FROM v.s
    GROUP BY ' || reid_comma(list_transform(n[1] || n[2], lambda name: 'm.' || name)) || ')
  GROUP BY ALL'))[1];

-- What is counted of the lines, and which figures can be compared. Whoever may be followed by a link is in
-- both: by the key, or without one the smaller number of a class that both have.
CREATE OR REPLACE MACRO reid_total(value, test) AS coalesce(sum(value) FILTER (test), 0)::BIGINT;
CREATE OR REPLACE MACRO reid_count_releases(lines, is_keyed) AS TABLE
  SELECT *, least(first_people, second_people) AS smaller, least(first_common, second_common) AS common,
    reid_some(first_people + second_people) > 0
      AND CASE WHEN first_people = 0 OR second_people = 0 THEN reid_refuse(CASE WHEN first_people = 0
        THEN 'first' ELSE 'second' END || ' must contain at least one record', '0',
        'pass a table with records')::BOOLEAN ELSE true END AS has_people
  FROM (
    SELECT reid_total(n * n1, kind = 0) AS first_people,
      reid_total(n * n2, kind = 0) AS second_people,
      reid_total(n * people, true) AS stayed, reid_total(n * people, kind = 0) AS same_class,
      reid_total(n * n1, kind = 0 AND n2 > 0) AS first_common,
      reid_total(n * n2, kind = 0 AND n1 > 0) AS second_common,
      reid_total(n, kind = 0 AND n1 = 1 AND n2 = 1) AS followed,
      reid_total(n * people, kind = 0 AND n1 = 1 AND n2 = 1) AS followed_right,
      coalesce(fsum(n * people::DOUBLE / greatest(1, n1, n2)) FILTER (kind = 0), 0) AS expected_links,
      reid_total(n * people, n1 = 1 AND n2 = 1) AS unique_in_both,
      reid_total(n, kind = 0 AND n1 = 1) AS first_unique,
      reid_total(n, kind = 0 AND n2 = 1) AS second_unique,
      reid_total(n * ((people = 1)::BIGINT + (kind = 0 AND n1 - people - departed = 1)::BIGINT
        + (kind = 0 AND n2 - people - arrived = 1)::BIGINT), true) AS unique_by_all,
      reid_total(n, kind = 0 AND n1 = n2 + 1) AS left_alone,
      reid_total(n, kind = 0 AND n1 = n2 + 1 AND people = n2) AS left_alone_right,
      reid_total(n, kind = 0 AND n2 = n1 + 1) AS entered_alone,
      reid_total(n, kind = 0 AND n2 = n1 + 1 AND people = n1) AS entered_alone_right,
      reid_total(n * (n2 - n1), kind = 0 AND gained = 1 AND lost = 0) AS entered_value,
      reid_total(n * (n1 - n2), kind = 0 AND lost = 1 AND gained = 0) AS left_value,
      reid_total(targets, true) AS targets, reid_total(targets, n1 > overlap) AS forward_attack,
      reid_total(targets, n2 > overlap) AS cross_attack,
      min(overlap) FILTER (targets > 0) AS least_overlap,
      reid_total(targets, common_values = 1 AND first_values > 1 AND second_values > 1) AS one_value,
      reid_total(n * entered, true) AS entered,
      min(n2 - overlap) FILTER (entered > 0 AND n2 > overlap) AS least_rest,
      reid_total(n * entered, entered > 0 AND n2 > overlap AND overlap > 0) AS backward_attack,
      CASE WHEN bool_and(n1 = first_values AND n2 = second_values) FILTER (kind = 0)
        THEN min(least(CASE WHEN n1 > 0 THEN n1 END, CASE WHEN n2 > 0 THEN n2 END)) FILTER (kind = 0)
        ELSE 0 END AS m_uniqueness,
      reid_total(n * people, common_values <> first_values OR common_values <> second_values) AS changed,
      reid_total(n * least(n1, n2), kind = 0) AS possible_values,
      reid_total(n * overlap, kind = 0) AS common_values,
      sum(n::DOUBLE * n1 * (n1 - 1)) FILTER (kind = 0) AS first_pairs,
      sum(n::DOUBLE * n2 * (n2 - 1)) FILTER (kind = 0) AS second_pairs,
      sum(n::DOUBLE * people * (people - 1)) AS pairs_together,
      max(records_dropped) AS records_dropped, max(nulls) AS nulls
    FROM (SELECT *, n * CASE WHEN is_keyed THEN people WHEN kind = 0 THEN least(n1, n2) ELSE 0 END AS targets,
        CASE WHEN kind = 1 THEN 0 WHEN is_keyed THEN n2 - people - arrived ELSE n2 - overlap END AS entered
      FROM query(lines))
  );
-- Whether people of a class stay together as strangers do: then the key was numbered anew.
CREATE OR REPLACE MACRO reid_are_strangers(
  stayed, first, second, first_pairs, second_pairs, together, common, same) AS
  CASE WHEN stayed < 30 OR second_pairs >= 0.5::DOUBLE * (second * (second - 1)::DOUBLE) THEN false
    WHEN stayed * (stayed - 1)::DOUBLE * (first_pairs / (first * (first - 1)::DOUBLE)) >= 30
    THEN list_transform([stayed * (stayed - 1)::DOUBLE * (first_pairs / (first * (first - 1)::DOUBLE))
        * (second_pairs / (second * (second - 1)::DOUBLE))],
      lambda chance: together <= 1.05::DOUBLE * chance + 4 * sqrt(2 * chance) + 4)[1]
    ELSE common >= 0.9::DOUBLE * least(first, second) AND same < stayed / 10::DOUBLE END;
CREATE OR REPLACE MACRO reid_judge(found, people, if_none, if_few) AS
  CASE WHEN found = 0 THEN if_none WHEN found < 0.5::DOUBLE * people THEN if_few ELSE 'ok' END;
CREATE OR REPLACE MACRO reid_judge_releases(lines, is_keyed) AS TABLE
  SELECT *, CASE WHEN is_keyed AND stayed > 0 AND NOT starts_with(key_status, 'not_comparable')
      THEN reid_judge(same_class, stayed, no_class, few_classes)
      ELSE reid_judge(common, smaller, no_class, few_classes) END AS class_status,
    CASE WHEN possible_values < 20 THEN 'ok' ELSE reid_judge(common_values, possible_values,
      'not_comparable: no sensitive value of a class of one table is in the other',
      'few_comparable: fewer than half of the sensitive values are in both tables') END AS value_status,
    CASE WHEN is_keyed THEN reid_judge(stayed, smaller,
      'nobody_shared: a release has no value of key, or entity, that another has',
      'few_shared: fewer than half of the people of a release are in another one') ELSE 'ok' END
      AS shared_status
  FROM (
    SELECT *, CASE WHEN reid_are_strangers(stayed, first_people, second_people, first_pairs, second_pairs,
        pairs_together, possible_values, same_class)
      THEN 'not_comparable: people of one key agree no better than strangers'
      ELSE reid_judge(stayed, smaller, 'nobody_stayed: no value of key, or entity, is in both releases',
        'few_comparable: fewer than half of the people are in both tables') END AS key_status,
      'not_comparable: no class of one release is in the other, so nothing can be compared' AS no_class,
      'few_comparable: fewer than half of the people are in classes that both releases have' AS few_classes
    FROM reid_count_releases(lines, is_keyed)
  );
-- Each figure: its value, of how many, why it may be doubtful from the start, whether it compares classes by
-- their values (of_class), rests on keys (of_key 1) or counts them (2), and is of the sensitive values of
-- both releases (of_value 1), or of one (2).
CREATE OR REPLACE MACRO reid_release_figures(lines, is_keyed) AS TABLE
  SELECT t.*, unnest([
      row('first_people', first_people, NULL, NULL, false, 0, 0, 'people of the first release'),
      row('second_people', second_people, NULL, NULL, false, 0, 0, 'people of the second release'),
      row('followed', followed, smaller, NULL, true, 0, 0,
        'people alone in their class in both releases, whom an attacker links one to one'),
      row('followed_right', followed_right, followed, NULL, true, 1, 0,
        'followed people whose link is right'),
      row('expected_right_links', expected_links, stayed, NULL, true, 1, 0,
        'right links to expect when all are linked: a person counts 1/(larger class)'),
      row('unique_in_both', unique_in_both, stayed, NULL, false, 1, 0,
        'people in both releases who are alone in their class in each, whatever its values'),
      row('common_classes', common, smaller, NULL, false, 0, 0,
        'people in classes that both releases have, of the release where they are fewer'),
      row('same_class', same_class, stayed, NULL, false, 2, 0,
        'people in both releases whose class is the same in both'),
      row('stayed', stayed, smaller, NULL, false, 2, 0, 'people who are in both releases'),
      row('entered', second_people - stayed, second_people, NULL, false, 2, 0,
        'people who are in the second release alone'),
      row('left', first_people - stayed, first_people, NULL, false, 2, 0,
        'people who are in the first release alone'),
      row('entered_alone', entered_alone, second_people, NULL, true, 0, 0,
        'classes that grew by one person, whose entry is known'),
      row('left_alone', left_alone, first_people, NULL, true, 0, 0,
        'classes that lost one person, whose departure is known'),
      row('entered_alone_right', entered_alone_right, entered_alone, NULL, true, 1, 0,
        'classes that grew by one person and that nobody left'),
      row('left_alone_right', left_alone_right, left_alone, NULL, true, 1, 0,
        'classes that lost one person and that nobody entered'),
      row('entered_value', entered_value, second_people, NULL, true, 0, 1,
        'people who entered classes that gained one sensitive value, and lost none'),
      row('left_value', left_value, first_people, NULL, true, 0, 1,
        'people who left classes that lost one sensitive value, and gained none'),
      row('forward_attack', forward_attack, targets, NULL, NOT is_keyed, is_keyed::INT, 1,
        'people in both for whom it excludes records of their class in the first release'),
      row('forward_anonymity', least_overlap, NULL, NULL, NOT is_keyed, is_keyed::INT, 1,
        'fewest records of the first release that it leaves for a person in both'),
      row('cross_attack', cross_attack, targets, NULL, NOT is_keyed, is_keyed::INT, 1,
        'people in both for whom it excludes records of their class in the second release'),
      row('cross_anonymity', least_overlap, NULL, NULL, NOT is_keyed, is_keyed::INT, 1,
        'fewest records of the second release that it leaves for a person in both'),
      row('backward_attack', backward_attack, entered, NULL, true, is_keyed::INT, 1,
        'people who entered for whom it excludes records of their class'),
      row('backward_anonymity', least_rest, NULL, CASE WHEN least_rest IS NULL
        THEN 'nobody_entered: no class shows a person who entered' END, true, is_keyed::INT, 1,
        'fewest records of the second release that it leaves for a person who entered'),
      row('bcf_anonymity', NULL, NULL, NULL, false, 0, 1, 'the smallest of the three anonymities'),
      row('value_by_intersection', one_value, targets, NULL, NOT is_keyed, is_keyed::INT, 1,
        'people in both whose classes have one sensitive value in common, each several'),
      row('m_uniqueness', m_uniqueness, NULL, NULL, false, 0, 2,
        'records of the smallest class, 0 if a sensitive value repeats in a class'),
      row('signature_changed', changed, stayed, NULL, false, 1, 1,
        'people in both whose classes have different sets of sensitive values'),
      row('m_invariance', CASE WHEN changed > 0 THEN 0 ELSE m_uniqueness END, NULL, NULL, false, 1, 1,
        'm_uniqueness, 0 if a set of sensitive values changed for a person in both'),
      row('all_people', first_people + second_people - stayed, NULL, shared_status, false, 2, 0,
        'people of all releases, each counted once'),
      row('unique_by_one', greatest(first_unique, second_unique), first_people + second_people - stayed,
        shared_status, false, of_shared, 0,
        'people unique by their values in one release, which singles out the most'
        || CASE WHEN first_unique + second_unique = 0 OR stayed = 0 OR of_shared = 1 THEN ''
          WHEN first_unique >= second_unique THEN ': release 1' ELSE ': release 2' END),
      row('unique_by_all', unique_by_all, first_people + second_people - stayed, shared_status, false,
        of_shared, 0,
        'people unique by their values in all releases together, absence being a value'),
      row('beyond_one', unique_by_all - (first_unique + second_unique - unique_in_both),
        first_people + second_people - stayed, shared_status, false, of_shared, 0,
        'people unique by all releases together, but by no single one')
    ]::STRUCT(figure VARCHAR, value DOUBLE, total BIGINT, reason VARCHAR, of_class BOOLEAN, of_key INT,
      of_value INT, definition VARCHAR)[], max_depth := 2)
  FROM (SELECT *, (NOT is_keyed OR starts_with(key_status, 'not_comparable'))::INT AS of_shared
    FROM reid_judge_releases(lines, is_keyed)) AS t;
-- The doubt of the classes comes before that of the keys, and the value is NULL where it is no doubt alone.
CREATE OR REPLACE MACRO reid_doubt_key(of_key, is_keyed, key_status, status) AS CASE
  WHEN of_key = 0 THEN status
  WHEN NOT is_keyed THEN 'no_key: the figure needs key, or entity, a column that identifies people in both'
  WHEN of_key = 1 AND starts_with(key_status, 'not_comparable') THEN key_status
  WHEN status <> 'ok' THEN status ELSE key_status END;
CREATE OR REPLACE MACRO reid_is_known(status, of_key) AS NOT (starts_with(status, 'no_')
  OR of_key < 2 AND regexp_matches(status, '^(not_comparable|nobody_)'));
-- The quasi-identifiers, those columns whose values are compared, and all.
CREATE OR REPLACE MACRO reid_release_columns(qi, sensitive, key) AS
  list_transform([reid_names('quasi-identifiers', qi)], lambda names:
    [names, names || list_filter([sensitive], lambda c: c IS NOT NULL),
      reid_names('quasi-identifiers, sensitive and key',
        names || list_filter([sensitive, key], lambda c: c IS NOT NULL))])[1];
CREATE OR REPLACE MACRO compare_releases(
  first, second, qi, key := NULL, entity := NULL, sensitive := NULL, nulls := 'value') AS TABLE
  WITH figures AS MATERIALIZED (
    SELECT *, row_number() OVER () AS place, reid_doubt_key(of_key, key IS NOT NULL, key_status,
      CASE WHEN reason IS NOT NULL THEN reason WHEN of_class THEN class_status ELSE 'ok' END) AS doubt
    FROM reid_release_figures(list_transform(
      [reid_release_columns(qi, (sensitive)::VARCHAR, (key)::VARCHAR)], lambda c: reid_release_lines(first,
        second, c[1], c[2], c[3], (sensitive)::VARCHAR, (key)::VARCHAR,
        reid_refuse_option('entity', entity, nulls)))[1], key IS NOT NULL)
  ), smallest AS (
    SELECT CASE WHEN reid_is_known(doubt, of_key) THEN value END AS least_value, doubt AS least_doubt
    FROM figures WHERE figure IN ('forward_anonymity', 'cross_anonymity', 'backward_anonymity')
    ORDER BY least_value ASC NULLS LAST, place ASC LIMIT 1
  ), doubted AS (
    SELECT * EXCLUDE (value, doubt), CASE WHEN figure = 'bcf_anonymity' THEN least_value
        WHEN reid_is_known(doubt, of_key) THEN value END AS known_value,
      CASE WHEN figure = 'bcf_anonymity' THEN least_doubt ELSE doubt END AS doubt
    FROM figures, smallest
  ), valued AS (
    SELECT *, CASE WHEN status = doubt OR NOT starts_with(status, 'no') THEN known_value END AS value
    FROM (SELECT *, CASE WHEN of_value = 0 THEN doubt
        WHEN sensitive IS NULL THEN 'no_sensitive: the figure needs sensitive, the name of a column'
        WHEN of_value = 2 OR value_status = 'ok' OR known_value IS NULL THEN doubt ELSE value_status END
        AS status
      FROM doubted)
  )
  SELECT v.figure, v.value, CASE WHEN v.value IS NOT NULL THEN v.total END AS total,
    v.value / CASE WHEN v.total > 0 THEN v.total END AS share, v.status, v.definition, v.records_dropped,
    v.nulls
  FROM valued AS v WHERE v.has_people AND v::VARCHAR <> '' ORDER BY v.place ASC;
