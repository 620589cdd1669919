-- The rows of a table on some columns, and how they are told apart.

MACRO reid_numbered(columns) AS
coalesce('q' || list_aggregate(range(1, len(columns) + 1)::VARCHAR[], 'string_agg', ', q'), '');

PLAN reid_named_columns(columns) AS
{% for c, i in columns join ', ' %}q{{ i }} AS {{ reid_name(c) }}{% endfor %};

PLAN reid_columns(columns) AS {% for c in columns join ', ' %}{{ reid_name(c) }}{% endfor %};

PLAN reid_all_missing(columns) AS {% for c, i in columns join ' AND ' %}q{{ i }} IS NULL{% endfor %};

PLAN reid_all_known(columns) AS {% for c, i in columns join ' AND ' %}q{{ i }} IS NOT NULL{% endfor %};

-- The quasi-identifiers as q1, q2, …; they are taken from the table before anything of ours can have their
-- name.
PLAN reid_rows(source, columns, nulls) AS
{{ reid_rows_where(reid_told_apart(columns), source, columns, nulls) }};

PLAN reid_rows_where(test, source, columns, nulls) AS
(
  SELECT {{ reid_columns(columns) }} FROM {{ source }} AS reid_source
  WHERE {{ test }}
  {% if nulls = 'drop' %}
  AND {% for c in columns join ' AND ' %}{{ reid_name(c) }} IS NOT NULL{% endfor %}
  {% endif %}
) AS reid_source_rows({{ reid_numbered(columns) }})
;

-- How NULLs were treated, beside each row of a plan. The count stands in a query of its own, away from our
-- columns.
PLAN reid_treated(source, columns, nulls, body) AS
SELECT reid_counted.*, reid_left_out.records_dropped, {{ reid_text(nulls) }} AS nulls
FROM ({{ body }}) AS reid_counted, (
  SELECT
  {% if nulls = 'drop' %}
    count(*) FROM {{ source }} AS reid_source
    WHERE {% for c in columns join ' OR ' %}{{ reid_name(c) }} IS NULL{% endfor %}
  {% else %}
    0::BIGINT
  {% endif %}
) AS reid_left_out(records_dropped)
;

-- True where keys tell records apart, else the refusal.
MACRO reid_is_key(records, keys, kinds, often) AS
CASE WHEN kinds + least(1, records - keys) < records
THEN error('key must tell each record from the others, got ' || coalesce(often::VARCHAR, 'NULL')
  || ' twice; pass a column whose values are distinct, or none')::BOOLEAN
ELSE true END;

-- The query of records named by a key, where the key tells apart those that it answers for.
PLAN reid_by_key(source, columns, key, nulls, body) AS
{% if key IS NULL %}
{{ body }}
{% else %}
SELECT reid_answer_of.*
FROM ({{ body }}) AS reid_answer_of, (
  SELECT reid_is_key(count(*), count(reid_key), count(DISTINCT reid_key),
    CASE WHEN count(*) - count(reid_key) < 2 THEN mode(reid_key) END) AS reid_is_one
  FROM (SELECT {{ reid_name(key) }} AS reid_key, {{ reid_columns(columns) }} FROM {{ source }})
    AS reid_source(reid_key, {{ reid_numbered(columns) }})
  {% if nulls = 'drop' %}WHERE {{ reid_all_known(columns) }}{% endif %}
) WHERE reid_is_one
{% endif %}
;

-- Distinct records of one side, numbered, with their counts.
PLAN reid_distinct(source, columns, nulls, side) AS
SELECT {{ side }} AS side, row_number() OVER () AS id, {{ reid_numbered(columns) }}, records
FROM (
  SELECT {{ reid_numbered(columns) }}, count(*) AS records
  FROM {{ reid_rows(source, columns, nulls) }}
  GROUP BY {{ reid_numbered(columns) }}
)
;

-- The rows of a relation joined to the codes of their values: code1, code2, …, NULL for NULL; in order of
-- the values where that is asked for.
PLAN reid_coding(columns, relation, ordered) AS
{% for c, i in columns %}
LEFT JOIN (
  SELECT v{{ i }}, row_number() OVER ({% if ordered %}ORDER BY v{{ i }} ASC NULLS LAST{% endif %})
    AS code{{ i }}
  FROM (SELECT DISTINCT q{{ i }} AS v{{ i }} FROM {{ relation }} WHERE q{{ i }} IS NOT NULL)
) ON q{{ i }} = v{{ i }}
{% endfor %}
;

PLAN reid_codes(columns) AS [{% for c, i in columns join ', ' %}coalesce(code{{ i }}, 0){% endfor %}];

-- Sizes of classes, or of the matches of each distinct record, with the records that have them.
PLAN reid_sizes(source, columns, nulls) AS
{{ reid_sizes_where(reid_told_apart(columns), source, columns, nulls) }};

PLAN reid_sizes_where(test, source, columns, nulls) AS
{% if nulls = 'wildcard' %}
{{ reid_wildcard_with(columns, reid_distinct(source, columns, nulls, 0), 0) }}
SELECT class_size, records FROM reid_matched
{% else %}
{{ reid_class_counts(test, source, columns, nulls) }}
{% endif %}
;

PLAN reid_class_counts(test, source, columns, nulls) AS
SELECT count(*) AS class_size, count(*) AS records
FROM {{ reid_rows_where(test, source, columns, nulls) }}
GROUP BY {{ reid_numbered(columns) }}
;

-- The logarithm of the count that each distinct record would have if the columns were independent, from
-- reid_distinct.
PLAN reid_independent(columns) AS
SELECT reid_distinct.*,
  {% for c, i in columns join ' + ' %}m{{ i }}{% endfor %} - {{ len(columns) - 1 }} * total AS log_expected
FROM reid_distinct, (SELECT ln(sum(records)) AS total FROM reid_distinct)
{% for c, i in columns %}
JOIN (SELECT q{{ i }} AS v{{ i }}, ln(sum(records)) AS m{{ i }} FROM reid_distinct GROUP BY q{{ i }})
  ON q{{ i }} IS NOT DISTINCT FROM v{{ i }}
{% endfor %}
;

-- What the columns are called in a refusal, and all that must be in the table.
MACRO reid_words(entity) AS reid_words_beside('quasi-identifiers', entity);

MACRO reid_words_beside(words, entity) AS CASE WHEN entity IS NULL THEN words ELSE words || ' and entity' END;

MACRO reid_with_entity(columns, entity, nulls) AS
CASE WHEN entity IS NULL THEN columns
WHEN list_contains(list_transform(columns, lambda c: reid_fold(c)), reid_fold(entity))
THEN error(reid_entity_apart(entity))
WHEN nulls = 'wildcard'
THEN error('entity must be counted with nulls := ''value'' or ''drop'', got ''wildcard''; '
  || 'reduce the table to a row a person first')
ELSE list_append(columns, entity) END;

-- A row for each person, NULL one of them: the values of the smallest of their classes, of several the first
-- in order. Where there are groups, a row in each.
PLAN reid_individuals(source, columns, entity, nulls, groups, weight) AS
{% if weight IS NULL
  OR list_contains(reid_folded(list_append(reid_apart(columns, groups), entity)), reid_fold(weight)) %}
{% call reid_guarded(CASE WHEN len(groups) = 0 THEN reid_words(entity) ELSE reid_words_by(entity) END,
  source, reid_apart(reid_with_entity(columns, entity, nulls), groups)) %}
  {{ reid_first_of_people(source, columns, entity, nulls, groups) }}
{% endcall %}
{% else %}
{% call reid_guarded('quasi-identifiers, weight and entity', source,
  reid_apart(list_append(reid_with_entity(columns, entity, nulls), weight), groups)) %}
  SELECT reid_first.*, reid_weights.weight AS {{ reid_name(weight) }}
  FROM ({{ reid_first_of_people(source, columns, entity, nulls, groups) }}) AS reid_first
  JOIN ({{ reid_weights_of_people(source, list_prepend(entity, groups), weight) }}) AS reid_weights
    ON {% for b, i in list_prepend(entity, groups) join ' AND ' %}
      reid_first.{{ reid_name(b) }} IS NOT DISTINCT FROM reid_weights.q{{ i }}{% endfor %}
{% endcall %}
{% endif %}
;

PLAN reid_first_of_people(source, columns, entity, nulls, groups) AS
{% set every = reid_apart(columns, groups) %}
SELECT {{ reid_named_columns(every) }}
  {% if NOT list_contains(reid_folded(every), reid_fold(entity)) %}
  , entity AS {{ reid_name(entity) }}
  {% endif %}
FROM (
  SELECT *, row_number() OVER (
    PARTITION BY
      {% for b in groups %}q{{ list_position(reid_folded(every), reid_fold(b)) }}, {% endfor %}entity
    ORDER BY class_size ASC, {% for c, i in columns join ', ' %}q{{ i }} ASC NULLS FIRST{% endfor %}
  ) AS place
  FROM (
    SELECT *, count(*) OVER (PARTITION BY {{ reid_numbered(every) }}) AS class_size
    FROM ({{ reid_people(source, every, entity, nulls) }})
  )
)
WHERE place = 1
;

-- The smallest weight of each person, or of each in a group, NULL where one of them is no number of at least
-- 0; `apart` are the columns that tell them apart.
PLAN reid_weights_of_people(source, apart, weight) AS
SELECT {{ reid_numbered(apart) }}, CASE WHEN count(weight) = count(*) THEN min(weight) END AS weight
FROM (
  SELECT {{ reid_numbered(apart) }}, CASE WHEN isfinite(weight) AND weight >= 0 THEN weight END AS weight
  FROM (SELECT {{ reid_columns(apart) }}, try_cast({{ reid_name(weight) }} AS DOUBLE) FROM {{ source }})
    AS reid_weighed({{ reid_numbered(apart) }}, weight)
)
GROUP BY {{ reid_numbered(apart) }}
;

-- What tells one record from the others where people are counted: themselves.
MACRO reid_key_of_people(key, entity) AS
CASE WHEN entity IS NULL THEN key WHEN key IS NULL THEN entity
ELSE error(replace(${KEY_OF_PEOPLE}, '{}', key)) END;

-- Such rows in place of the table, where a column tells people apart.
PLAN reid_source_of_individuals(source, columns, entity, nulls, groups, weight) AS
{% if entity IS NULL %}{% elif nulls <> 'value' %}
{{ error('entity must be counted with nulls := ''value'' where people are a sample, got ''' || nulls
  || '''; leave out in a view the rows that lack a value')::VARCHAR }}
{% else %}(FROM query(reid_individuals({% endif %}{{ reid_text_where(entity IS NOT NULL, source) }}
{% if entity IS NOT NULL %}
  , {{ reid_texts(columns) }}, {{ reid_text(entity) }},
  'value', {{ reid_texts_or_none(groups) }}, {{ reid_text_or_null(weight) }})))
{% endif %}
;

-- A row for each person and value of theirs in each class, NULL one person; people of several values there
-- are refused, as such a class would look more diverse than it is. Groups tell classes apart too.
PLAN reid_values_of_people(source, columns, sensitive, entity, nulls, groups) AS
{% set asked = list_append(columns, sensitive) %}
{% set every = reid_apart(asked, groups) %}
{% call reid_guarded(
  'quasi-identifiers, sensitive' || CASE WHEN len(groups) = 0 THEN ' and entity' ELSE ', by and entity' END,
  source, reid_apart(reid_with_entity(asked, entity, nulls), groups)) %}
  SELECT {{ reid_named_columns(every) }}
  FROM (
    SELECT *,
      count(*) {% if nulls = 'drop' %}
      FILTER ({{ reid_all_known(asked) }}){% endif %}
      OVER (PARTITION BY {% for c, i in every %}
        {% if i <> len(asked) OR list_contains(reid_folded(groups), reid_fold(c)) %}q{{ i }}, {% endif %}
        {% endfor %}entity) AS several
    FROM ({{ reid_people(source, every, entity, 'value') }})
  )
  WHERE CASE WHEN several > 1 THEN error(${SEVERAL_VALUES})::BOOLEAN ELSE true END
{% endcall %}
;

-- Such rows in place of the table, where a column tells people apart.
PLAN reid_source_of_values(source, columns, sensitive, entity, nulls, groups) AS
{% if entity IS NOT NULL %}(FROM query(reid_values_of_people({% endif %}
{{ reid_text_where(entity IS NOT NULL, source) }}
{% if entity IS NOT NULL %}
  , {{ reid_texts(columns) }}, {{ reid_text(sensitive) }}, {{ reid_text(entity) }}, {{ reid_text(nulls) }},
  {{ reid_texts_or_none(groups) }})))
{% endif %}
;

-- The people of each class, NULL one of them, with how many of its records each has.
PLAN reid_people(source, columns, entity, nulls) AS
{{ reid_people_where(reid_told_apart(list_append(columns, entity)), source, columns, entity, nulls) }};

PLAN reid_people_where(test, source, columns, entity, nulls) AS
SELECT {{ reid_numbered(columns) }}, q{{ len(columns) + 1 }} AS entity, count(*) AS records
FROM {{ reid_rows_where(test, source, list_append(columns, entity), 'value') }}
{% if nulls = 'drop' %}
WHERE {{ reid_all_known(columns) }}
{% endif %}
GROUP BY ALL
;
