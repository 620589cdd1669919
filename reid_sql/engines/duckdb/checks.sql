-- What a call is given, checked: the value, or the refusal in one sentence.

-- True where operators and literals are DuckDB's own, else the refusal: a macro may have the name of one, and
-- no name of a place can stand before them. Only the sentence of a refusal of ours may be made with them.
MACRO reid_is_usual() AS
CASE
  WHEN 2 + 3 = 5 AND 7 - 4 = 3 AND - 4 < 0 AND 2 * 3 = 6 AND 6::DOUBLE / 4::DOUBLE = 1.5::DOUBLE
    AND 7 // 2 = 3 AND 7 % 4 = 3
    AND 'a' || 'b' = 'ab' AND [5, 6][2] = 6 AND len([5, 6, 7][2:3]) = 2 AND {'a': 8}['a'] = 8
    AND 'ab' LIKE 'a%' AND NOT 'ba' LIKE 'a%'
  THEN true
  ELSE error(${NOT_USUAL})::BOOLEAN
END;

MACRO reid_listed(words, columns) AS
CASE
  WHEN NOT reid_is_usual() THEN NULL
  WHEN coalesce(
    list_aggregate(try_cast(columns AS VARCHAR[]), 'count') < len(try_cast(columns AS VARCHAR[])), true)
  THEN error(words || ' must be a list of column names, got ' || coalesce(columns::VARCHAR, 'NULL')
    || '; write [''age'', ''sex'']')
  WHEN len(try_cast(columns AS VARCHAR[])) NOT BETWEEN 1 AND ${MAX_COLUMNS}
  THEN error(words || ' must name 1 to ${MAX_COLUMNS} columns, got ' || len(try_cast(columns AS VARCHAR[]))
    || '; pass the columns by which people can be told apart, such as [''age'', ''sex'']')
  WHEN len(list_distinct(reid_folded(try_cast(columns AS VARCHAR[])))) < len(try_cast(columns AS VARCHAR[]))
  THEN error(words || ' must be distinct, got ''' || list_extract(list_filter(try_cast(columns AS VARCHAR[]),
      lambda c, i: list_position(reid_folded(try_cast(columns AS VARCHAR[])), reid_fold(c)) < i), 1)
    || ''' twice; name each column once')
  ELSE try_cast(columns AS VARCHAR[])
END;

-- Nothing, or the refusal.
MACRO reid_are_listed(words, columns) AS CASE WHEN len(reid_listed(words, columns)) > 0 THEN '' END;

-- Whether a column may stand beside those that have been listed, of which it is then none.
MACRO reid_are_apart(columns, beside) AS
len(columns) < ${MAX_COLUMNS} AND NOT list_contains(reid_folded(columns), reid_fold(beside));

-- A file by its path, or a name as it stands where it holds no quotes or is quoted by SQL's rules. Else it is
-- an identifier that itself holds quotes: those arrive bare. A name in quotes may be a table's, and DuckDB
-- would read as a pattern what is none.
PLAN reid_table(tbl) AS
{% if coalesce(trim(tbl::VARCHAR), '') = '' %}
{{ error('tbl must be a table, view or file, got an empty name; pass its name or path')::VARCHAR }}
{% elif contains(tbl::VARCHAR, '"') %}
(FROM query('FROM ' || reid_quoted_table({{ reid_text(tbl::VARCHAR) }})))
{% elif reid_is_file(tbl::VARCHAR) %}{{ reid_file(tbl::VARCHAR) }}
{% else %}query_table({{ reid_text(tbl::VARCHAR) }}){% endif %}
;

MACRO reid_quoted_table(tbl) AS
CASE
  WHEN regexp_full_match(tbl, '(?s)("([^"]|"")+"|[^".]+)([.]("([^"]|"")+"|[^".]+)){0,2}')
  THEN CASE WHEN regexp_matches(tbl, '[\[?=]') AND reid_is_file(replace(tbl, '"', ''))
    THEN error('tbl must be a path without quotes around it where it holds [, ? or =, got '
      || tbl || '; leave the inner quotes out, or pass a view of the table')
    ELSE 'system.main.query_table(' || reid_text(tbl) || ')' END
  WHEN reid_is_file(tbl) AND contains(tbl, '/') THEN reid_file(tbl)
  ELSE 'system.main.query_table(' || reid_text(reid_name(tbl)) || ')'
END;

MACRO reid_is_file(path) AS
regexp_matches(path, '(?is)[.](parquet|csv|tsv|json|ndjson|jsonl)([.](gz|zst))?$');

-- The very file: no folder's name is a column, no line a comment, and texts are texts, whatever they look
-- like. A text of JSON that would be a value of another kind keeps its quotes, so that 1 and "1" stay two.
PLAN reid_file(path) AS
{% call reid_with_path(path) %}
{% if regexp_matches(path, '(?i)[.]parquet([.](gz|zst))?$') %}
read_parquet(<path>, hive_partitioning = false)
{% elif regexp_matches(path, '(?i)[.][ct]sv([.](gz|zst))?$') %}
read_csv(<path>, all_varchar = true, comment = '', hive_partitioning = false)
{% else %}
(
  SELECT CASE WHEN json_type(COLUMNS(*)) = 'VARCHAR' AND NOT json_valid(json_extract_string(COLUMNS(*), '$'))
    THEN json_extract_string(COLUMNS(*), '$') ELSE COLUMNS(*)::VARCHAR END
  FROM read_json(<path>, maximum_depth = 1, hive_partitioning = false)
)
{% endif %}
{% endcall %}
;

MACRO reid_with_path(path, body) AS replace(body, '<path>', reid_text(reid_path(path)));

-- A path in which * alone is a pattern; addresses of the web know none.
MACRO reid_path(path) AS
CASE WHEN starts_with(lower(path), 'http://') OR starts_with(lower(path), 'https://') THEN path
ELSE replace(replace(path, '[', '[[]'), '?', '[?]') END;

-- The first of the columns whose name is not among the names.
MACRO reid_missing(columns, names) AS
list_extract(list_filter(columns, lambda c: NOT list_contains(reid_folded(names), reid_fold(c))), 1);

-- True where texts that differ are told apart, else the refusal: a default collation would count them as one.
-- A cast refuses here, as error() counts as a side effect, which QUALIFY and ORDER BY cannot refer to.
MACRO reid_is_exact() AS
CAST(CASE WHEN 'a' <> 'A' AND 'a' <> 'á' AND 'é' <> concat('e', chr(769)) THEN 'true'
ELSE 'default_collation must be unset, got one by which texts that differ are the same; '
  || 'run RESET default_collation' END AS BOOLEAN);

-- A row of columns with every text in it, at any depth, as one without a collation. Only its type is asked
-- for: a cast from one text to another changes none, so each goes by way of a type that nobody has.
MACRO reid_bare(c) AS
replace_type(
  replace_type(c, NULL::VARCHAR, NULL::STRUCT("reid text" VARCHAR)),
  NULL::STRUCT("reid text" VARCHAR), NULL::VARCHAR);

-- What a type holds, its collations too, which neither its name nor the catalogue tells.
MACRO reid_type_of(c) AS create_sort_key(get_type(c), 'ASC NULLS LAST')::VARCHAR;

-- The same without those collations that compare bytes, as texts without one are compared.
MACRO reid_type_by_bytes(c) AS
regexp_replace(reid_type_of(c), 'e\\x01\\x00\\x01\\x01d\\x01\\x00\\x03\\xC8\\x01\\x00'
  || '(\\x01\\x01C|\\x05POSIX|\\x06binary)\\xFF\\xFF', '', 'gi');

-- Whether a text in a row of columns, at any depth, has another collation. No row is looked at: DuckDB knows
-- the types when a query is bound.
MACRO reid_is_folded(c) AS reid_type_by_bytes(c) <> reid_type_of(reid_bare(c));

-- True where no text in a row of columns has one, else the refusal.
MACRO reid_is_told_apart(c, names) AS
CASE WHEN reid_is_folded(c) THEN error(replace(${FOLDED}, '{}', names))::BOOLEAN ELSE true END;

-- The test of columns of a table, beside the table: DuckDB finds that it is always true, and drops it.
PLAN reid_told_apart(columns) AS
reid_is_told_apart(row({{ reid_columns(columns) }}), {{ reid_text(reid_join(columns, ', ')) }})
;

-- True where no text in a row of a window's columns has one, else the refusal.
MACRO reid_are_exact(c) AS
CAST(CASE WHEN reid_is_folded(c)
THEN 'columns must tell apart texts that differ, got a collation of its own for one; '
  || 'pass decode(encode(name)) in its place, or where its texts are within a value '
  || 'create_sort_key(name, ''ASC NULLS LAST'')' ELSE 'true' END AS BOOLEAN);

-- A value as a model reads it, else the refusal of a type whose values may differ where their texts do not:
-- 1 and '1' in one column. What stands in quotes is a name, or a word of an ENUM.
MACRO reid_written(c) AS
CASE WHEN regexp_matches(
    regexp_replace(typeof(c), '''([^'']|'''')*''|"([^"]|"")*"', '', 'g'), '\b(UNION|VARIANT)\b')
THEN error('columns of a model must be of types whose values are told apart as texts, got ' || typeof(c)
  || '; cast the column in a view')::VARCHAR
ELSE c::VARCHAR END;

-- True where a table lacks no column, else the refusal. Runs beside the query, as names are known only there.
MACRO reid_known(words, missing, names) AS
CASE WHEN NOT reid_is_exact() THEN NULL WHEN missing IS NULL THEN true
ELSE error(words || ' must be columns of the table, got ''' || missing || '''; '
  || reid_suggestion(missing, names, 'columns'))::BOOLEAN
END;

-- The columns of a table, with the first that it lacks of those asked for: worked out once, as what is given
-- to a macro is bound wherever it stands there.
PLAN reid_looked_up(source, columns) AS
(SELECT reid_names, reid_missing({{ reid_texts(columns) }}, reid_names) AS reid_missing
  FROM (SELECT list(column_name) AS reid_names FROM (DESCRIBE FROM {{ source }})))
;

-- The query with its columns checked. A column that the table lacks binds to the NULL beside it, and the
-- check refuses.
PLAN reid_guarded(words, source, columns, body) AS
SELECT reid_result.*
FROM (
  SELECT {% for c in columns join ', ' %}NULL::VARCHAR AS {{ reid_name(c) }}{% endfor %}
  FROM {{ reid_looked_up(source, columns) }}
  WHERE reid_known({{ reid_text(words) }}, reid_missing, reid_names)
) AS reid_fallback, LATERAL ({{ body }}) AS reid_result
;

-- The same with the columns checked in two tables.
PLAN reid_guarded_both(words, source, other, columns, body) AS
SELECT reid_result.*
FROM (
  SELECT {% for c in columns join ', ' %}NULL::VARCHAR AS {{ reid_name(c) }}{% endfor %}
  FROM (
    SELECT coalesce(reid_one.reid_missing, reid_other.reid_missing) AS reid_missing,
      CASE WHEN reid_one.reid_missing IS NULL THEN reid_other.reid_names ELSE reid_one.reid_names END
        AS reid_names
    FROM {{ reid_looked_up(source, columns) }} AS reid_one, {{ reid_looked_up(other, columns) }} AS reid_other
  )
  WHERE reid_known({{ reid_text(words) }}, reid_missing, reid_names)
) AS reid_fallback, LATERAL ({{ body }}) AS reid_result
;

-- A query that is a refusal, whatever is selected of it.
PLAN reid_refused(sentence) AS SELECT NULL AS refusal WHERE error({{ reid_text(sentence) }})::BOOLEAN;

-- True where no column of the table has the name of one that is put beside it, else the refusal.
MACRO reid_kept_apart(names, added) AS
CASE WHEN list_has_any(reid_folded(names), added)
THEN error('columns of the table must not be named like the scores beside them, got '''
  || list_extract(list_filter(names, lambda n: list_contains(added, reid_fold(n))), 1)
  || '''; rename the column in a view')::BOOLEAN
ELSE true END;

-- Kinds of types whose values compare exactly with each other; a type of no kind compares with itself alone.
-- HUGEINT and UHUGEINT meet as DOUBLE; a type of lists begins as that of what they hold.
MACRO reid_kind(type) AS
CASE WHEN regexp_full_match(type, 'U?(TINY|SMALL|BIG)?INT(EGER)?|HUGEINT|DECIMAL[(][0-9]+,[0-9]+[)]')
  THEN 'whole or decimal'
WHEN type IN ('FLOAT', 'DOUBLE') THEN 'floating' WHEN type LIKE 'ENUM(%)' THEN 'VARCHAR' ELSE type END;

-- The digits of a DECIMAL before its point, or after it; NULL of another type.
MACRO reid_before_point(type) AS
try_cast(regexp_extract(type, '^DECIMAL[(]([0-9]+),', 1) AS INTEGER) - reid_after_point(type);

MACRO reid_after_point(type) AS
try_cast(regexp_extract(type, '^DECIMAL[(][0-9]+,([0-9]+)[)]$', 1) AS INTEGER);

-- Whether a DECIMAL can hold the values of both: where none can, one that rounds would.
MACRO reid_has_digits(type, other) AS
coalesce(greatest(reid_before_point(type), reid_before_point(other))
  + greatest(reid_after_point(type), reid_after_point(other)) <= 38, true);

-- True where each column has comparable types in two tables, else the refusal, of what the first has that has
-- not: a cast would make one class of several.
MACRO reid_comparable(unlike) AS
CASE WHEN unlike IS NULL THEN true
ELSE error('quasi-identifiers must have the same types in both tables, got ' || unlike
  || '; cast one of the columns in a view')::BOOLEAN END;

-- The first column whose types in two tables are not comparable, and these.
MACRO reid_first_unlike(columns, names, types, other_names, other_types) AS
list_extract(list_filter(
  list_transform(list_transform(columns, lambda c: {
      'name': c, 'type': types[list_position(reid_folded(names), reid_fold(c))],
      'other': other_types[list_position(reid_folded(other_names), reid_fold(c))]}),
    lambda pair: reid_unlike(pair['name'], pair['type'], pair['other'])),
  lambda said: said <> ''), 1);

-- The same beside a plan over two tables, which refuses by reid_comparable(reid_compared.reid_unlike).
PLAN reid_types_of_both(source, other, columns) AS
(
  SELECT reid_first_unlike({{ reid_texts(columns) }},
    reid_one.names, reid_one.types, reid_other.names, reid_other.types) AS reid_unlike
  FROM (SELECT list(column_name) AS names, list(column_type) AS types
      FROM (DESCRIBE FROM {{ source }})) AS reid_one,
    (SELECT list(column_name) AS names, list(column_type) AS types
      FROM (DESCRIBE FROM {{ other }})) AS reid_other
) AS reid_compared
;

MACRO reid_unlike(name, type, other) AS
CASE WHEN type = other OR '"NULL"' IN (type, other)
  OR (reid_kind(type) = reid_kind(other) AND reid_has_digits(type, other)) THEN ''
ELSE '''' || name || ''' as ' || type || ' and ' || other END;

-- Nothing, or the refusal of names that the listing of classes needs for itself.
MACRO reid_own_names_refused(columns, own) AS
CASE WHEN list_has_any(reid_folded(columns), own)
THEN error('quasi-identifiers must not be named ' || reid_join(own[:-2], ', ') || ' or ' || own[-1]
  || ' where classes are listed, got '''
  || list_extract(list_filter(columns, lambda reid_c: list_contains(own, reid_fold(reid_c))), 1)
  || '''; rename the column in a view')
ELSE '' END;

-- What is no column: a constant or a list would make one class of all records. The names are texts such as
-- "row"(age), which alias(row(age)) is.
MACRO reid_no_column(names) AS
list_extract(list_filter(names,
  lambda n: regexp_matches(n, '^"row"\((''|list_value\(|-?[0-9]|CAST\(''|true\)|false\))')), 1);

-- What an argument is called, within the text that alias(row(it)) is.
MACRO reid_called(name) AS regexp_extract(name, '(?s)^"row"\((.*)\)$', 1);

-- True where all are columns or expressions of columns, else the refusal; all at once, as each spelling of a
-- function holds it. Said so that each block of rows sees one value: coalesce() would write one for each row.
MACRO reid_are_columns(names, example) AS
reid_is_exact() AND CAST(
  split_part(example, '(', 1) || ' must be given columns, got ' || reid_called(reid_no_column(names))
  || '; write the names without quotes or brackets, such as ' || example AS BOOLEAN) IS NULL;

-- The same of a column that tells people apart, the first, and of the others, of which it must be none.
MACRO reid_are_people(names, example) AS
list_extract(list_transform([names], lambda reid_n: reid_are_columns(reid_n, example) AND CAST(
  CASE WHEN list_contains(reid_folded(reid_n[2:]), reid_fold(reid_n[1]))
  THEN reid_entity_apart(reid_called(reid_n[1]))
  ELSE 'true' END AS BOOLEAN)), 1);

MACRO reid_entity_apart(entity) AS
'entity must not be a quasi-identifier, got ''' || entity
  || '''; an attacker who knows it needs nothing else: leave it out of one of them';

-- How many parameters of a function of many columns were given; those that were not have the text as default.
MACRO reid_number_given(shown) AS len(list_filter(shown, lambda c: c <> ${UNGIVEN}));

-- True where records of so many bytes fit, else the refusal; asked before any are gathered.
MACRO reid_in_memory(records, bytes, memory_mb, words) AS
CASE WHEN records::HUGEINT * bytes > memory_mb::HUGEINT * 1000000
THEN error('memory_mb must be at least ' || (records::HUGEINT * bytes + 999999) // 1000000 || ' for '
  || records || words || ', got ' || memory_mb
  || '; pass more, fewer columns, or a smaller sample')::BOOLEAN
ELSE true END;

-- DuckDB's bound of memory in bytes, from words such as 4.7 GiB.
MACRO reid_memory_limit() AS
regexp_extract(current_setting('memory_limit'), '^[0-9.]+')::DOUBLE
  * pow(1024, list_position(['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'],
    regexp_extract(current_setting('memory_limit'), '[A-Za-z]+$')) - 1);

-- True where a body that gets all distinct records at once stays within that bound, else the refusal.
MACRO reid_in_limit(records, bytes) AS
CASE WHEN records * bytes::DOUBLE > reid_memory_limit()
THEN error('memory_limit must be at least ' || (records * bytes::HUGEINT + 999999) // 1000000 || ' MB for '
  || records || ' distinct records, got ' || current_setting('memory_limit')
  || '; run SET memory_limit, or pass fewer or coarser columns')::BOOLEAN
ELSE true END;
