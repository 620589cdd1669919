-- Texts of SQL: names are quoted here and nowhere else.

-- SQL has no empty name; that of a control character stands for it, which no table has, until the check
-- refuses it.
MACRO reid_name(c) AS '"' || CASE WHEN c = '' THEN chr(1) ELSE replace(c, '"', '""') END || '"';

MACRO reid_text(c) AS '''' || replace(c, '''', '''''') || '''';

MACRO reid_text_or_null(c) AS coalesce(reid_text(c), 'NULL::VARCHAR');

MACRO reid_join(items, separator) AS coalesce(array_to_string(items, separator), '');

MACRO reid_texts(items) AS
'[' || reid_join(list_transform(items, lambda reid_c: reid_text(reid_c)), ', ') || ']';

MACRO reid_texts_or_none(items) AS CASE WHEN items IS NULL THEN '[]::VARCHAR[]' ELSE reid_texts(items) END;

-- Column names differ by ASCII case alone.
MACRO reid_fold(c) AS translate(c, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

MACRO reid_folded(names) AS list_transform(names, lambda reid_n: reid_fold(reid_n));

-- Which known name a misspelt one most likely meant.
MACRO reid_suggestion(name, known, kind) AS
coalesce(
  'did you mean ''' || list_extract(list_transform(list_sort(list_transform(
      list_filter(known, lambda n: damerau_levenshtein(lower(name), lower(n))
        <= least(CASE WHEN length(name) < 4 THEN 1 ELSE 1 + length(name) // 3 END,
          greatest(length(name), length(n)) - 1)),
      lambda n: {
        'distance': damerau_levenshtein(lower(name), lower(n)), 'place': list_position(known, n), 'name': n
      }), 'ASC', 'NULLS LAST'),
    lambda found: found['name']), 1) || '''?',
  CASE WHEN len(known) = 0 THEN 'there are no ' || kind
  ELSE 'the ' || kind || ' are ' || reid_join(known[:12], ', ')
    || CASE WHEN len(known) > 12 THEN ', …' ELSE '' END
  END);
