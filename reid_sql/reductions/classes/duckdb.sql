-- How DuckDB says the equivalence classes.

PLAN reid_plan_classes(tbl, columns, nulls) AS
{% set qi = reid_own_names_refused(columns, ['class_size', 'records', 'records_dropped', 'nulls']) %}
{% call reid_guarded('quasi-identifiers', [reid_table(tbl)], qi) %}
{% call reid_treated(tbl, qi, nulls) %}
{% if nulls = 'wildcard' %}
  {{ reid_wildcard_with(qi, reid_distinct(tbl, qi, nulls, 0), 0) }}
  SELECT {{ reid_named_columns(qi) }}, class_size, records FROM reid_matched
{% else %}
  SELECT {{ reid_named_columns(qi) }}, count(*) AS class_size, count(*) AS records
  FROM {{ reid_rows(tbl, qi, nulls) }}
  GROUP BY {{ reid_numbered(qi) }}
{% endif %}
{% endcall %}
{% endcall %}
;

PLAN reid_plan_histogram(tbl, columns, nulls) AS
{% call reid_guarded('quasi-identifiers', [reid_table(tbl)], columns) %}
{% call reid_treated(tbl, columns, nulls) %}
  SELECT class_size, count(*) AS classes, sum(records)::BIGINT AS records
  FROM ({{ reid_sizes(tbl, columns, nulls) }})
  GROUP BY class_size
{% endcall %}
{% endcall %}
ORDER BY class_size
;
