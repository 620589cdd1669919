-- How DuckDB says the equivalence classes.

PLAN reid_plan_classes(source, columns, entity, nulls) AS
{{ reid_own_names_refused(columns, ['class_size', 'records', 'records_dropped', 'nulls']) }}
{% if entity IS NOT NULL %}
FROM query(reid_classes_of_people(
  {{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ reid_text(entity) }}, {{ reid_text(nulls) }}))
{% elif nulls = 'wildcard' %}
FROM query(reid_classes_of_matches({{ reid_text(source) }}, {{ reid_texts(columns) }}))
{% else %}
{% call reid_guarded('quasi-identifiers', source, columns) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT {{ reid_named_columns(columns) }}, count(*) AS class_size, count(*) AS records
  FROM {{ reid_rows(source, columns, nulls) }}
  GROUP BY {{ reid_numbered(columns) }}
{% endcall %}
{% endcall %}
{% endif %}
;

PLAN reid_classes_of_matches(source, columns) AS
{% call reid_guarded('quasi-identifiers', source, columns) %}
{% call reid_treated(source, columns, 'wildcard') %}
  {{ reid_wildcard_with(columns, reid_distinct(source, columns, 'wildcard', 0), 0) }}
  SELECT {{ reid_named_columns(columns) }}, class_size, records FROM reid_matched
{% endcall %}
{% endcall %}
;

PLAN reid_classes_of_people(source, columns, entity, nulls) AS
{% call reid_guarded(reid_words(entity), source, reid_with_entity(columns, entity, nulls)) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT {{ reid_named_columns(columns) }}, count(*) AS class_size, sum(records)::BIGINT AS records
  FROM ({{ reid_people(source, columns, entity, nulls) }})
  GROUP BY {{ reid_numbered(columns) }}
{% endcall %}
{% endcall %}
;

-- What is seldom asked for is written when it is: DuckDB binds each text that a plan may write at each call.
PLAN reid_plan_histogram(source, columns, entity, groups, nulls) AS
{% if groups IS NOT NULL OR entity IS NOT NULL OR nulls = 'wildcard' %}
FROM query(reid_seldom_histogram({{ reid_text(source) }}, {{ reid_texts(columns) }},
  {{ reid_text_or_null(entity) }}, {{ reid_texts_or_none(groups) }}, {{ reid_text(nulls) }}))
{% else %}
{% call reid_guarded('quasi-identifiers', source, columns) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records, NULL::BIGINT AS blank_records
  FROM ({{ reid_class_counts(reid_told_apart(columns), source, columns, nulls) }})
  GROUP BY class_size
{% endcall %}
{% endcall %}
{% endif %}
ORDER BY class_size ASC
;

PLAN reid_seldom_histogram(source, columns, entity, groups, nulls) AS
{% if len(groups) > 0 %}
FROM query(reid_grouped_histogram({{ reid_text(source) }}, {{ reid_texts(columns) }},
  {{ reid_text_or_null(entity) }}, {{ reid_texts(groups) }}, {{ reid_text(nulls) }}))
{% elif entity IS NOT NULL %}
FROM query(reid_histogram_of_people(
  {{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ reid_text(entity) }}, {{ reid_text(nulls) }}))
{% else %}
FROM query(reid_histogram_of_matches({{ reid_text(source) }}, {{ reid_texts(columns) }}))
{% endif %}
;

PLAN reid_histogram_of_matches(source, columns) AS
{% call reid_guarded('quasi-identifiers', source, columns) %}
{% call reid_treated(source, columns, 'wildcard') %}
  {{ reid_wildcard_with(columns, reid_distinct(source, columns, 'wildcard', 0), 0) }}
  SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records,
    coalesce(sum(records) FILTER ({{ reid_all_missing(columns) }}), 0)::BIGINT AS blank_records
  FROM reid_matched
  GROUP BY class_size
{% endcall %}
{% endcall %}
;

-- Of people, each by the smallest of their classes.
PLAN reid_histogram_of_people(source, columns, entity, nulls) AS
{% call reid_guarded(reid_words(entity), source, reid_with_entity(columns, entity, nulls)) %}
{% call reid_treated(source, columns, nulls) %}
  WITH reid_people AS MATERIALIZED ({{ reid_people(source, columns, entity, nulls) }}),
  reid_sized AS (
    SELECT entity, count(*) OVER (PARTITION BY {{ reid_numbered(columns) }}) AS class_size FROM reid_people
  )
  SELECT class_size, classes, coalesce(records, 0)::BIGINT AS records, NULL::BIGINT AS blank_records
  FROM (
    SELECT class_size, count(*) AS classes
    FROM (SELECT count(*) AS class_size FROM reid_people GROUP BY {{ reid_numbered(columns) }})
    GROUP BY class_size
  )
  LEFT JOIN (
    SELECT class_size, count(*) AS records
    FROM (SELECT min(class_size) AS class_size FROM reid_sized GROUP BY entity)
    GROUP BY class_size
  ) USING (class_size)
{% endcall %}
{% endcall %}
;

-- The histogram of each group, all from one count by the columns and the groups.
PLAN reid_grouped_histogram(source, columns, entity, groups, nulls) AS
{% set by = reid_groups(groups, nulls) %}
{% set every = list_concat(columns, by) %}
{% set places = reid_places(len(columns) + 1, len(every)) %}
{% call reid_by_group(source, reid_words_by(entity), columns, by, entity, nulls,
  'class_size, coalesce(classes, 0)::BIGINT AS classes, coalesce(records, 0)::BIGINT AS records, '
    || 'NULL::BIGINT AS blank_records') %}
  reid_met AS (
    SELECT *, false AS short,
      {% if entity IS NULL %}records{% else %}
      count(*) OVER (PARTITION BY {{ reid_numbered(every) }}){% endif %} AS class_size
    FROM reid_divided WHERE kept
  ),
  {{ reid_sized_by_group(reid_join(places, ', '), reid_numbered(every), reid_alike('c', 'p', places),
    entity IS NOT NULL) }}
{% endcall %}
;
