-- How DuckDB says the equivalence classes.

PLAN reid_plan_classes(tbl, columns, entity, nulls) AS
{% set qi = reid_own_names_refused(columns, ['class_size', 'records', 'records_dropped', 'nulls']) %}
{% call reid_guarded(reid_words(entity), [reid_table(tbl)], reid_with_entity(qi, entity, nulls)) %}
{% call reid_treated(tbl, qi, nulls) %}
{% if nulls = 'wildcard' %}
  {{ reid_wildcard_with(qi, reid_distinct(tbl, qi, nulls, 0), 0) }}
  SELECT {{ reid_named_columns(qi) }}, class_size, records FROM reid_matched
{% elif entity IS NOT NULL %}
  SELECT {{ reid_named_columns(qi) }}, count(*) AS class_size, sum(records)::BIGINT AS records
  FROM ({{ reid_people(tbl, qi, entity, nulls) }})
  GROUP BY {{ reid_numbered(qi) }}
{% else %}
  SELECT {{ reid_named_columns(qi) }}, count(*) AS class_size, count(*) AS records
  FROM {{ reid_rows(tbl, qi, nulls) }}
  GROUP BY {{ reid_numbered(qi) }}
{% endif %}
{% endcall %}
{% endcall %}
;

PLAN reid_plan_histogram(tbl, columns, entity, nulls) AS
{% call reid_guarded(reid_words(entity), [reid_table(tbl)], reid_with_entity(columns, entity, nulls)) %}
{% call reid_treated(tbl, columns, nulls) %}
{% if entity IS NOT NULL %}
  WITH reid_people AS MATERIALIZED ({{ reid_people(tbl, columns, entity, nulls) }}),
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
{% elif nulls = 'wildcard' %}
  {{ reid_wildcard_with(columns, reid_distinct(tbl, columns, nulls, 0), 0) }}
  SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records,
    coalesce(sum(records) FILTER ({{ reid_all_missing(columns) }}), 0)::BIGINT AS blank_records
  FROM reid_matched
  GROUP BY class_size
{% else %}
  SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records, NULL::BIGINT AS blank_records
  FROM ({{ reid_sizes(tbl, columns, nulls) }})
  GROUP BY class_size
{% endif %}
{% endcall %}
{% endcall %}
ORDER BY class_size ASC
;
