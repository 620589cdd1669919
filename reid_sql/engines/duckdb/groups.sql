-- Groups of a table: the columns by whose values it is divided.

-- The columns, or the refusal: where NULL may be any value, and of names that answers need for themselves.
MACRO reid_groups(reid_by, nulls) AS
CASE WHEN nulls = 'wildcard'
THEN error('by must be asked with nulls := ''value'' or ''drop'', got ''wildcard''; '
  || 'ask about each group in a view of its own')
WHEN len(list_filter(reid_by::VARCHAR[], lambda reid_b: reid_fold(reid_b) IN ${OF_GROUPS})) > 0
THEN error('by must not name a column as the answer names its own, got '''
  || list_extract(list_filter(reid_by::VARCHAR[], lambda reid_b: reid_fold(reid_b) IN ${OF_GROUPS}), 1)
  || '''; rename the column in a view')
ELSE reid_by::VARCHAR[] END;

-- What the columns are called in a refusal.
MACRO reid_words_by(entity) AS
CASE WHEN entity IS NULL THEN 'quasi-identifiers and by' ELSE 'quasi-identifiers, by and entity' END;

-- All columns that must be in the table, each once.
MACRO reid_apart(columns, others) AS
list_concat(
  columns, list_filter(others, lambda reid_b: NOT list_contains(reid_folded(columns), reid_fold(reid_b))));

-- The numbers of the columns from one place to another.
MACRO reid_places(first, last) AS list_transform(range(first, last + 1), lambda reid_i: 'q' || reid_i);

-- Whether two relations have the same values in the columns, NULL like NULL.
PLAN reid_alike(one, other, places) AS
{% for q in places join ' AND ' %}{{ one }}.{{ q }} IS NOT DISTINCT FROM {{ other }}.{{ q }}{% endfor %}
;
