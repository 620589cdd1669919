-- How DuckDB says the equivalence classes.

PLAN reid_plan_classes(source, columns, entity, nulls) AS
{{ reid_own_names_refused(columns, ['class_size', 'records', 'records_dropped', 'nulls']) }}
{% if entity IS NOT NULL %}
FROM query(reid_classes_of_people(
  {{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ reid_text(entity) }}, {{ reid_text(nulls) }}))
{% elif nulls = 'wildcard' %}
FROM query(reid_classes_of_matches({{ reid_text(source) }}, {{ reid_texts(columns) }}))
{% else %}
{% call reid_guarded('quasi-identifiers', [source], columns) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT {{ reid_named_columns(columns) }}, count(*) AS class_size, count(*) AS records
  FROM {{ reid_rows(source, columns, nulls) }}
  GROUP BY {{ reid_numbered(columns) }}
{% endcall %}
{% endcall %}
{% endif %}
;

PLAN reid_classes_of_matches(source, columns) AS
{% call reid_guarded('quasi-identifiers', [source], columns) %}
{% call reid_treated(source, columns, 'wildcard') %}
  {{ reid_wildcard_with(columns, reid_distinct(source, columns, 'wildcard', 0), 0) }}
  SELECT {{ reid_named_columns(columns) }}, class_size, records FROM reid_matched
{% endcall %}
{% endcall %}
;

PLAN reid_classes_of_people(source, columns, entity, nulls) AS
{% call reid_guarded(reid_words(entity), [source], reid_with_entity(columns, entity, nulls)) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT {{ reid_named_columns(columns) }}, count(*) AS class_size, sum(records)::BIGINT AS records
  FROM ({{ reid_people(source, columns, entity, nulls) }})
  GROUP BY {{ reid_numbered(columns) }}
{% endcall %}
{% endcall %}
;

-- What is seldom asked for is written when it is: DuckDB binds each text that a plan may write at each call.
PLAN reid_plan_histogram(source, columns, entity, groups, nulls) AS
{% if groups IS NOT NULL %}
FROM query(reid_grouped_histogram({{ reid_text(source) }}, {{ reid_texts(columns) }},
  {{ reid_text_or_null(entity) }}, {{ reid_texts(groups) }}, {{ reid_text(nulls) }}))
{% elif entity IS NOT NULL %}
FROM query(reid_histogram_of_people(
  {{ reid_text(source) }}, {{ reid_texts(columns) }}, {{ reid_text(entity) }}, {{ reid_text(nulls) }}))
{% elif nulls = 'wildcard' %}
FROM query(reid_histogram_of_matches({{ reid_text(source) }}, {{ reid_texts(columns) }}))
{% else %}
{% call reid_guarded('quasi-identifiers', [source], columns) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records, NULL::BIGINT AS blank_records
  FROM (
    SELECT count(*) AS class_size, count(*) AS records
    FROM {{ reid_rows(source, columns, nulls) }}
    GROUP BY {{ reid_key(columns) }}
  )
  GROUP BY class_size
{% endcall %}
{% endcall %}
{% endif %}
ORDER BY class_size ASC
;

PLAN reid_histogram_of_matches(source, columns) AS
{% call reid_guarded('quasi-identifiers', [source], columns) %}
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
{% call reid_guarded(reid_words(entity), [source], reid_with_entity(columns, entity, nulls)) %}
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
{% call reid_guarded(reid_words_by(entity), [source],
  reid_apart(reid_with_entity(columns, entity, nulls), by)) %}
  WITH reid_counted AS MATERIALIZED (
    SELECT *, {% if nulls = 'drop' %}{{ reid_all_known(columns) }}{% else %}true{% endif %} AS kept
    FROM (
      SELECT {{ reid_numbered(every) }},
        {% if entity IS NULL %}NULL{% else %}q{{ len(every) + 1 }}{% endif %} AS entity, count(*) AS records
      FROM {{ reid_rows(
        source, CASE WHEN entity IS NULL THEN every ELSE list_append(every, entity) END, 'value') }}
      GROUP BY ALL
    )
  ),
  {% if entity IS NULL %}
  reid_sized AS (
    SELECT {{ reid_join(places, ', ') }}, class_size, count(*) AS classes, sum(class_size)::BIGINT AS records
    FROM (SELECT *, records AS class_size FROM reid_counted WHERE kept)
    GROUP BY {{ reid_join(places, ', ') }}, class_size
  ),
  {% else %}
  {{ reid_grouped_people(reid_numbered(every), reid_join(places, ', '), reid_alike('c', 'p', places)) }},
  {% endif %}
  reid_groups AS (
    SELECT {{ reid_join(places, ', ') }},
      coalesce(sum(records) FILTER (NOT kept), 0)::BIGINT AS records_dropped
    FROM reid_counted GROUP BY {{ reid_join(places, ', ') }}
  )
  SELECT {% for c, i in by join ', ' %}g.q{{ len(columns) + i }} AS {{ reid_name(c) }}{% endfor %},
    class_size, coalesce(classes, 0)::BIGINT AS classes, coalesce(records, 0)::BIGINT AS records,
    NULL::BIGINT AS blank_records, records_dropped, {{ reid_text(nulls) }} AS nulls
  FROM reid_groups AS g LEFT JOIN reid_sized AS s ON {{ reid_alike('g', 's', places) }}
{% endcall %}
;

-- The same of people, each by the smallest of their classes in the group.
PLAN reid_grouped_people(every, groups, alike) AS
reid_people AS (
  SELECT {{ groups }}, entity, count(*) OVER (PARTITION BY {{ every }}) AS class_size
  FROM reid_counted WHERE kept
),
reid_sized AS (
  SELECT c.*, p.records
  FROM (
    SELECT {{ groups }}, class_size, count(*) AS classes
    FROM (SELECT {{ groups }}, count(*) AS class_size FROM reid_counted WHERE kept GROUP BY {{ every }})
    GROUP BY ALL
  ) AS c
  LEFT JOIN (
    SELECT {{ groups }}, class_size, count(*) AS records
    FROM (SELECT {{ groups }}, min(class_size) AS class_size FROM reid_people GROUP BY {{ groups }}, entity)
    GROUP BY ALL
  ) AS p ON c.class_size = p.class_size AND {{ alike }}
)
;
