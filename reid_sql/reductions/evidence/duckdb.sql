-- How DuckDB says what uniqueness in the population is estimated from.

-- Sizes of classes, with what independent columns would hold where a method asks for it.
PLAN reid_class_evidence(source, columns, method, nulls) AS
{% if method IN ${OF_INDEPENDENCE} %}
  WITH reid_distinct AS MATERIALIZED (
    SELECT {{ reid_numbered(columns) }}, count(*) AS records
    FROM {{ reid_rows(source, columns, nulls) }}
    GROUP BY {{ reid_numbered(columns) }}
  )
  SELECT records AS class_size, round(log_expected * 1000) / 1000 AS log_expected, count(*) AS classes
  FROM ({{ reid_independent(columns) }})
  GROUP BY ALL
{% else %}
  SELECT class_size, NULL::DOUBLE AS log_expected, count(*) AS classes
  FROM ({{ reid_sizes(source, columns, nulls) }})
  GROUP BY class_size
{% endif %}
;

PLAN reid_plan_evidence(source, columns, method, nulls) AS
{% call reid_guarded('quasi-identifiers', [source], columns) %}
{% call reid_treated(source, columns, nulls) %}
  {% if method IN ${OF_PEOPLE} %}
  WITH reid_classes AS MATERIALIZED ({{ reid_people_classes(source, columns, NULL::VARCHAR, nulls) }})
  {% endif %}
  SELECT row_number() OVER () AS place, class_size, log_expected, classes, coalesce(first, 0) AS first,
    coalesce(second, 0) AS second, label, first_value, second_value, coalesce(records, 0) AS records,
    coalesce(mass, 0) AS mass, texts
  FROM (
    SELECT *, NULL::VARCHAR[] AS texts
    FROM ({{ reid_class_evidence(source, columns, method, nulls) }})
    UNION ALL BY NAME
    SELECT 0 AS class_size, NULL::DOUBLE AS log_expected, 0 AS classes,
      * EXCLUDE (cell, records_dropped, nulls)
    FROM ({{ reid_plan_pairs(source, columns, NULL::VARCHAR, NULL::VARCHAR, nulls) }})
    WHERE {{ method IN ${OF_PAIRS} }}
    {% if method IN ${OF_PEOPLE} %}
    UNION ALL BY NAME
    SELECT 0 AS class_size, 0 AS classes, ${DRAWN} AS second, records, mass, texts
    FROM ({{ reid_people_drawn(columns, ${SEED}) }})
    {% endif %}
  )
{% endcall %}
{% endcall %}
;
