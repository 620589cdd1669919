-- Texts of SQL: names are quoted here and nowhere else.

-- SQL has no empty name; that of a control character stands for it, which no table has, until the check
-- refuses it.
MACRO reid_name(c) AS '"' || CASE WHEN c = '' THEN chr(1) ELSE replace(c, '"', '""') END || '"';

MACRO reid_text(c) AS '''' || replace(c, '''', '''''') || '''';

-- The same where a condition holds, else the text itself, which is bound once.
MACRO reid_text_where(condition, c) AS
CASE WHEN condition THEN '''' ELSE '' END || replace(c, '''', CASE WHEN condition THEN '''''' ELSE '''' END)
  || CASE WHEN condition THEN '''' ELSE '' END;

MACRO reid_text_or_null(c) AS coalesce(reid_text(c), 'NULL::VARCHAR');

-- array_to_string is a macro that binds the items twice, and all that they are made of.
MACRO reid_join(items, separator) AS
coalesce(list_aggregate(items::VARCHAR[], 'string_agg', separator), '');

MACRO reid_texts(items) AS
'[' || reid_join(list_transform(items, lambda reid_c: reid_text(reid_c)), ', ') || ']';

MACRO reid_texts_or_none(items) AS CASE WHEN items IS NULL THEN '[]::VARCHAR[]' ELSE reid_texts(items) END;

-- Column names differ by ASCII case alone.
MACRO reid_fold(c) AS translate(c, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');

MACRO reid_folded(names) AS list_transform(names, lambda reid_n: reid_fold(reid_n));

-- Which known name a misspelt one most likely meant: the nearest, of several the first.
MACRO reid_suggestion(name, known, kind) AS
coalesce(
  'did you mean ''' || list_min(list_filter(
      list_transform(known, lambda n, i: {
        'distance': damerau_levenshtein(lower(name), lower(n)), 'place': i, 'name': n}),
      lambda found: found['distance']
        <= least(CASE WHEN length(name) < 4 THEN 1 ELSE 1 + length(name) // 3 END,
          greatest(length(name), length(found['name'])) - 1)))['name'] || '''?',
  CASE WHEN len(known) = 0 THEN 'there are no ' || kind
  ELSE 'the ' || kind || ' are ' || reid_join(known[:12], ', ')
    || CASE WHEN len(known) > 12 THEN ', …' ELSE '' END
  END);

-- The refusal of a word that is none of those there are.
MACRO reid_no_choice(rule, got, words) AS
error(rule || got || '''; ' || reid_suggestion(got, words, 'choices'))::VARCHAR;
