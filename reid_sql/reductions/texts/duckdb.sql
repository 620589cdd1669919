-- How DuckDB says distinct records as texts.

PLAN reid_plan_texts(source, columns, nulls) AS
{% call reid_guarded('quasi-identifiers', [source], columns) %}
{% call reid_treated(source, columns, nulls) %}
  SELECT ${NAMES}::BIGINT AS line, {{ reid_texts(columns) }} AS texts, 0::BIGINT AS records
  UNION ALL
  SELECT row_number() OVER () AS line,
    [{% for c, i in columns join ', ' %}q{{ i }}::VARCHAR{% endfor %}] AS texts, records
  FROM (
    SELECT {{ reid_numbered(columns) }}, count(*) AS records
    FROM {{ reid_rows(source, columns, nulls) }}
    GROUP BY {{ reid_numbered(columns) }}
  )
{% endcall %}
{% endcall %}
;
