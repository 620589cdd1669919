-- Two tables. What a join singles out that neither table does alone: a class is the people with the same
-- values, each with the worst of their rows. a... and b... are the columns, h... and g... what the tables are
-- joined by: it identifies people.
CREATE OR REPLACE MACRO reid_names_of(letter, number) AS
  list_transform(range(1, number + 1), lambda i: letter || i);
CREATE OR REPLACE MACRO reid_comma(parts) AS array_to_string(parts, ', ');
-- Types whose values are compared as they are: any of whole numbers, texts and words, else the same.
CREATE OR REPLACE MACRO reid_kind(type) AS CASE
  WHEN regexp_full_match(type, 'U?(TINY|SMALL|BIG|)INT(EGER)?') THEN 'INTEGER'
  WHEN regexp_full_match(type, '(?s)ENUM\(.*\)') THEN 'VARCHAR' WHEN type <> '"NULL"' THEN type END;
CREATE OR REPLACE MACRO reid_are_alike(label, type, other) AS
  CASE WHEN coalesce(reid_kind(type) = reid_kind(other), true) THEN true
    ELSE reid_refuse(label || ' must have the same type in both tables', 'two types',
      'cast one of the columns in a view')::BOOLEAN END;
-- A key is known where each of its values is.
CREATE OR REPLACE MACRO reid_read_side(tbl, columns, keys, letter, key_letter, nulls) AS
  '(SELECT *, ' || array_to_string(list_transform(reid_names_of(key_letter, len(keys)),
      lambda h: 'reid_known_value(' || h || ') IS NOT NULL'), ' AND ') || ' AS has_key FROM (SELECT '
    || reid_comma(list_transform(reid_names_of(letter, len(columns)) || reid_names_of(key_letter, len(keys)),
      lambda name, i: 'q' || i || ' AS ' || name))
    || ', system.main.count(*) AS records FROM ' || reid_rows(tbl, columns || keys, 'value')
    || ' WHERE ' || reid_complete(reid_aliases(len(columns)), nulls) || ' GROUP BY ALL))';
CREATE OR REPLACE MACRO reid_match_keys(number) AS array_to_string(list_transform(range(1, number + 1),
  lambda i: 'o.h' || i || ' = t.g' || i), ' AND ');
-- The smallest class of each person in a table: one row without a key is one person.
CREATE OR REPLACE MACRO reid_smallest_classes(relation, columns, keys) AS
  'SELECT ' || reid_comma(list_transform(keys, lambda key, i: key || ' AS p' || i))
    || ', system.main.min(size) AS size FROM (SELECT *, system.main.sum(number) OVER (PARTITION BY '
    || reid_comma(['true'] || columns) || ') AS size FROM (SELECT ' || reid_comma(columns || keys)
    || ', has_key, CASE WHEN has_key THEN 1 ELSE system.main.sum(records) END AS number FROM ' || relation
    || ' GROUP BY ' || reid_comma(columns || keys) || ', has_key)) WHERE has_key GROUP BY '
    || reid_comma(keys);
-- One choice of columns of the right table: kind 0 is all, 1 one of them alone, 2 all but one.
CREATE OR REPLACE MACRO reid_join_line(kind, name, a, b, p, g, k) AS
  'SELECT ' || kind || ' AS kind, ' || coalesce(reid_text(name), 'NULL::VARCHAR') || ' AS name,
    system.main.count(*) AS people, system.main.count(*) FILTER (l.size < ' || k || ') AS below_left,
    system.main.count(*) FILTER (r.size < ' || k || ') AS below_right,
    system.main.count(*) FILTER (j.size < ' || k || ') AS below_joined,
    system.main.count(*) FILTER (j.size < ' || k || ' AND l.size >= ' || k || ' AND r.size >= ' || k
    || ') AS singled_out
  FROM (SELECT ' || reid_comma(p) || ', system.main.min(size) AS size FROM (SELECT ' || reid_comma(p)
    || ', system.main.count(*) OVER (PARTITION BY ' || reid_comma(a || b) || ') AS size
      FROM (SELECT DISTINCT ' || reid_comma(p || a || b) || ' FROM reid_joined))
    GROUP BY ' || reid_comma(p) || ') AS j
  JOIN reid_worst_left AS l USING (' || reid_comma(p) || ')
  JOIN (' || reid_smallest_classes('reid_theirs', b, g) || ') AS r USING (' || reid_comma(p) || ')';
CREATE OR REPLACE MACRO reid_join_lines(names, a, b, p, g, k) AS array_to_string(
  [reid_join_line(0, NULL::VARCHAR, a, b, p, g, k)]
  || list_transform(names, lambda name, i: reid_join_line(1, name, a, [b[i]], p, g, k))
  || list_transform(names, lambda name, i:
    reid_join_line(2, name, a, list_filter(b, lambda other: other <> b[i]), p, g, k)), ' UNION ALL ');
-- Keys that match nothing, and would if both were written alike: in capitals, spaces, accents, zeros, marks.
CREATE OR REPLACE MACRO reid_is_ascii(value) AS strlen(value) = length(value);
CREATE OR REPLACE MACRO reid_small_letters(value) AS CASE WHEN reid_is_ascii(value) THEN lower(value)
  ELSE lower(nfc_normalize(translate(
    regexp_replace(regexp_replace(value, '[\p{Z}\s]+', ' ', 'g'), '[\p{Cf}\p{Cc}]+', '', 'g'),
    '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ'
    || '［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～‐‑‒–—―⁃−﹘﹣',
    '!"#$%&''()*+,-./0123456789:' || chr(59) || '<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ'
    || '[\]^_`abcdefghijklmnopqrstuvwxyz{|}~----------'))) END;
CREATE OR REPLACE MACRO reid_plain_letters(value) AS CASE WHEN reid_is_ascii(value) THEN lower(value)
  ELSE strip_accents(translate(replace(replace(replace(replace(reid_small_letters(value), 'ß', 'ss'),
    'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'), 'øđðłħıŧ', 'oddlhit')) END;
CREATE OR REPLACE MACRO reid_plain_number(value) AS
  CASE WHEN regexp_full_match(value, '[0-9]{1,3}([.,''’ ][0-9]{3})+')
    THEN regexp_replace(value, '[^0-9]', '', 'g') ELSE replace(value, ',', '.') END;
CREATE OR REPLACE MACRO reid_plain_key(value) AS
  ltrim(regexp_replace(reid_plain_letters(reid_plain_number((value)::VARCHAR)), '[.]0+\s*$|[\s_]+', '', 'g'),
    '0');
CREATE OR REPLACE MACRO reid_select_unmatched(is_right, relation, other, keys) AS
  'SELECT DISTINCT ' || is_right || ' AS is_right, '
    || reid_comma(list_transform(keys, lambda key, i: 'reid_plain_key(' || key || ') AS f' || i))
    || ' FROM ' || relation || ' ANTI JOIN ' || other || ' ON ' || reid_match_keys(len(keys))
    || ' WHERE has_key AND (SELECT is_like FROM reid_keys) AND (' || array_to_string(list_transform(keys,
      lambda key: 'system.main.typeof(' || key || ') = ''VARCHAR'''), ' OR ') || ')';
CREATE OR REPLACE MACRO reid_join_totals(h, g) AS
  'SELECT (SELECT system.main.count(*) FROM reid_worst_left) + missing_left AS left_people,
    (SELECT system.main.count(*) FROM (SELECT DISTINCT ' || reid_comma(g) || '
      FROM reid_theirs WHERE has_key)) + missing_right AS right_people,
    (SELECT system.main.count(*) FROM (SELECT DISTINCT ' || reid_comma(g) || ' FROM reid_theirs AS t SEMI JOIN
      (FROM reid_own WHERE has_key AND (SELECT is_like FROM reid_keys)) AS o ON '
      || reid_match_keys(len(h)) || ' WHERE has_key)) AS matched_right,
    missing_left + missing_right AS without_key,
    (SELECT system.main.count(*) FROM (SELECT ' || reid_comma(h) || ' FROM reid_own WHERE has_key GROUP BY '
      || reid_comma(h) || ' HAVING system.main.sum(records) > 1)) AS repeated_keys,
    (SELECT system.main.count(*) FROM (SELECT ' || reid_comma(reid_names_of('p', len(h)))
      || ' FROM reid_joined GROUP BY ALL HAVING system.main.count(*) > 1)) AS several_rows,
    (SELECT system.main.count(*) FROM (SELECT ' || reid_comma(reid_names_of('f', len(h))) || ' FROM ('
      || reid_select_unmatched('false', 'reid_own AS o', 'reid_theirs AS t', h) || ' UNION ALL '
      || reid_select_unmatched('true', 'reid_theirs AS t', 'reid_own AS o', g) || ')
      GROUP BY ALL HAVING system.main.bool_or(is_right) AND NOT system.main.bool_and(is_right))) AS written
  FROM (SELECT
    (SELECT coalesce(system.main.sum(records), 0)::BIGINT FROM reid_own WHERE NOT has_key) AS missing_left,
    (SELECT coalesce(system.main.sum(records), 0)::BIGINT FROM reid_theirs WHERE NOT has_key)
      AS missing_right)';
CREATE OR REPLACE MACRO reid_join("left", "right", qi, right_qi, keys, right_keys, k, nulls) AS
  list_transform([[reid_names_of('a', len(qi)), reid_names_of('b', len(right_qi)),
      reid_names_of('p', len(keys)), reid_names_of('h', len(keys)), reid_names_of('g', len(keys))]],
    lambda n: reid_add_nulls(reid_count_nulls("left", qi, nulls) || ' + '
      || reid_count_nulls("right", right_qi, nulls), nulls,
    'WITH reid_own AS MATERIALIZED ' || reid_read_side("left", qi, keys, 'a', 'h', nulls)
      || ', reid_theirs AS MATERIALIZED ' || reid_read_side("right", right_qi, right_keys, 'b', 'g', nulls)
      || ', reid_keys AS MATERIALIZED (SELECT ' || array_to_string(list_transform(keys, lambda key, i:
        'reid_are_alike(''on'',
          (SELECT system.main.any_value(system.main.typeof(h' || i || ')) FROM reid_own),
          (SELECT system.main.any_value(system.main.typeof(g' || i || ')) FROM reid_theirs))'), ' AND ')
      || ' AS is_like)
    , reid_joined AS MATERIALIZED (SELECT DISTINCT '
      || reid_comma(list_transform(n[4], lambda h, i: 'o.' || h || ' AS p' || i)
        || list_transform(n[1], lambda a: 'o.' || a) || list_transform(n[2], lambda b: 't.' || b))
      || ' FROM (FROM reid_own WHERE has_key AND (SELECT is_like FROM reid_keys)) AS o
      JOIN (FROM reid_theirs WHERE has_key AND (SELECT is_like FROM reid_keys)) AS t
      ON ' || reid_match_keys(len(keys)) || ')
    , reid_worst_left AS MATERIALIZED (' || reid_smallest_classes('reid_own', n[1], n[4]) || ')
    SELECT lines.*, totals.* FROM (' || reid_join_lines(right_qi, n[1], n[2], n[3], n[5], k)
      || ') AS lines, (' || reid_join_totals(n[4], n[5]) || ') AS totals'))[1];
-- on is a name, a list of names, or pairs such as {'id': 'person_id'}: the names on the left, on the right.
CREATE OR REPLACE MACRO reid_key_names(pairs) AS list_transform([TRY_CAST(pairs AS MAP(VARCHAR, VARCHAR))],
  lambda m: CASE WHEN typeof(pairs) = 'VARCHAR' OR m IS NULL
    THEN [reid_names('on', pairs), reid_names('on', pairs)]
    ELSE [reid_names('on', map_keys(m)), reid_names('on', map_values(m))] END)[1];
CREATE OR REPLACE MACRO reid_percent(share) AS CASE WHEN share > 0 AND share < 0.001 THEN 'below 0.1 %'
  WHEN share > 0.999 AND share < 1 THEN 'above 99.9 %' ELSE format('{:.1f} %', 100 * share) END;
CREATE OR REPLACE MACRO reid_describe_join(k, people, singled_out, column_name, others) AS
  CASE WHEN people = 0 THEN 'No value of on is in both tables, so the join shows nothing.'
  ELSE list_transform([CASE WHEN singled_out > 0 THEN format('{:,}', singled_out) || ' ('
      || reid_percent(singled_out::DOUBLE / people) || ')' ELSE 'nobody' END],
    lambda who: 'Of ' || format('{:,}', people) || ' people in both tables, the join '
      || CASE WHEN k = 2 THEN 'singles out ' || who || ' whom neither table singles out alone'
        ELSE 'puts ' || who || ' in classes of fewer than ' || format('{:,}', k)
          || ' whom neither table puts there alone' END
      || CASE WHEN singled_out > 0 AND column_name IS NOT NULL THEN chr(59) || ' ''' || column_name
        || ''' adds most: without it, ' || format('{:,}', others) ELSE '' END || '.')[1] END;
-- The column comes first without which the join singles out the fewest, then that which does most alone.
CREATE OR REPLACE MACRO reid_join_answer(joined, k) AS TABLE
  WITH l AS MATERIALIZED (FROM query(joined)), ordered AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY kind ASC, others ASC, singled_out DESC, encode(name) ASC) AS place
    FROM (SELECT *, lead(singled_out) OVER (PARTITION BY name ORDER BY kind ASC) AS others FROM l)
    WHERE kind < 2
  ), most AS (SELECT list(name ORDER BY encode(name) ASC) AS names, max(name) FILTER (place = 2) AS top,
      max(others) FILTER (place = 2) AS least FROM ordered WHERE kind = 1)
  SELECT CASE WHEN o.kind = 0 THEN m.names ELSE [o.name] END AS columns,
    o.people, o.below_left AS below_k_left, o.below_right AS below_k_right, o.below_joined AS below_k_joined,
    o.singled_out, CASE WHEN o.people > 0 THEN o.singled_out::DOUBLE / o.people END AS share,
    CASE WHEN o.kind = 1 THEN o.others END AS without, o.several_rows, o.left_people - o.people AS left_only,
    o.right_people - o.matched_right AS right_only, o.without_key,
    CASE WHEN o.written > 0 THEN 'few_comparable: ' || format('{:,}', o.written) || ' values of on match '
        || 'nothing, and differ by capitals, spaces, zeros or accents alone'
      WHEN o.people = 0 THEN 'no_match: no value of on is in both tables, so nothing is joined'
      WHEN o.repeated_keys > 0 THEN 'repeated_key: ' || format('{:,}', o.repeated_keys)
        || ' values of on repeat in left, and each counts as one person'
      WHEN 2 * o.people < o.left_people AND 2 * o.matched_right < o.right_people
        THEN 'few_match: more than half of the people of each table match nothing'
      ELSE 'ok' END AS status,
    reid_describe_join(k, o.people, o.singled_out, CASE WHEN o.kind = 0 AND len(m.names) > 1 THEN m.top END,
      m.least) AS sentence, o.records_dropped, o.nulls
  FROM ordered AS o, most AS m
  WHERE reid_some(least(o.left_people, o.right_people)) > 0 AND o::VARCHAR <> '' ORDER BY o.place ASC;
CREATE OR REPLACE MACRO reid_join_columns(qi, right_qi, keys) AS list_transform([[
    reid_names('quasi-identifiers and on', reid_names('quasi-identifiers', qi) || keys[1]),
    reid_names('right_qi and on', reid_names('right_qi', right_qi) || keys[2])]],
  lambda names: [names[1][:-len(keys[1]) - 1], names[2][:-len(keys[2]) - 1], keys[1], keys[2]])[1];
CREATE OR REPLACE MACRO join_risk(
  "left", "right", "on", qi, right_qi, entity := NULL, k := 2, nulls := 'value') AS TABLE
  FROM reid_join_answer(list_transform(
    list_transform([reid_key_names("on")], lambda keys: reid_join_columns(qi, right_qi, keys)),
    lambda c: reid_join("left", "right", c[1], c[2], c[3], c[4], reid_number('k', k, 2, 1e6, true)::BIGINT,
      reid_refuse_option('entity', entity, nulls)))[1], (k)::BIGINT);
