-- How DuckDB says distinct records as texts.

PLAN reid_plan_texts(source, columns, groups, nulls) AS
{% if groups IS NOT NULL %}
FROM query(reid_grouped_texts({{ reid_text(source) }}, {{ reid_texts(columns) }},
  {{ reid_texts(reid_groups(groups, nulls)) }}, {{ reid_text(reid_head(len(columns), len(groups))) }},
  {{ reid_text(nulls) }}))
{% else %}
{% call reid_guarded('quasi-identifiers', source, columns) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT ${NAMES}::BIGINT AS line, {{ reid_texts(columns) }} AS texts, 0::BIGINT AS records
  UNION ALL
  SELECT row_number() OVER () AS line,
    [{% for c, i in columns join ', ' %}reid_written(q{{ i }}){% endfor %}] AS texts, records
  FROM (
    SELECT {{ reid_numbered(columns) }}, count(*) AS records
    FROM {{ reid_rows(source, columns, nulls) }}
    GROUP BY {{ reid_numbered(columns) }}
  )
{% endcall %}
{% endcall %}
{% endif %}
;

-- The same of each group.
PLAN reid_grouped_texts(source, columns, groups, head, nulls) AS
{% call reid_by_group(source, 'quasi-identifiers and by', columns, groups, NULL::VARCHAR, nulls,
  'line, texts, coalesce(s.records, 0)::BIGINT AS records') %}
  reid_sized AS (
    SELECT DISTINCT {{ head }} ${NAMES}::BIGINT AS line, {{ reid_texts(columns) }} AS texts,
      0::BIGINT AS records
    FROM reid_divided WHERE kept
    UNION ALL
    SELECT {{ head }} row_number() OVER () AS line,
      [{% for c, i in columns join ', ' %}reid_written(q{{ i }}){% endfor %}] AS texts, records
    FROM reid_divided WHERE kept
  )
{% endcall %}
;
