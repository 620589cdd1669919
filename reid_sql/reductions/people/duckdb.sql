-- How DuckDB says what a model of people is fitted to.

-- The classes, and their records in a random order that the values and the seed decide.
PLAN reid_people_classes(source, columns, weight, nulls) AS
SELECT {{ reid_numbered(columns) }}, count(*) AS records
FROM {{ reid_rows(source, reid_weighted(columns, weight), nulls) }}
GROUP BY {{ reid_numbered(columns) }}
;

PLAN reid_people_drawn(columns, seed) AS
SELECT records, texts,
  hash({{ reid_numbered(columns) }}, copy, {{ seed }}::BIGINT)::DOUBLE / 18446744073709551616 AS mass
FROM (
  SELECT *, [{% for c, i in columns join ', ' %}q{{ i }}::VARCHAR{% endfor %}] AS texts,
    unnest(range(records)) AS copy
  FROM reid_classes
)
ORDER BY mass
LIMIT ${MOST_DRAWN}
;

PLAN reid_plan_people(source, columns, weight, marginals, seed, nulls) AS
{% set taken = reid_weighted(columns, weight) %}
{% call reid_guarded('columns', [source], taken) %}
{% call reid_treated(source, taken, nulls) %}
  WITH reid_classes AS MATERIALIZED ({{ reid_people_classes(source, columns, weight, nulls) }})
  SELECT row_number() OVER () AS line, first, second, label, first_value, second_value, records, mass, texts
  FROM (
    SELECT first, second, label, first_value, second_value, records, mass, NULL::VARCHAR[] AS texts
    FROM (
      SELECT *, count(*) OVER (PARTITION BY first, second) AS reid_lines
      FROM ({{ reid_plan_pairs(source, columns, weight, marginals, nulls) }})
    )
    WHERE second <= 0 OR reid_lines <= ${MOST_LINES}
    UNION ALL
    SELECT 0, ${SIZES}, NULL, NULL, NULL, records, count(*)::DOUBLE, NULL
    FROM reid_classes
    GROUP BY records
    UNION ALL
    SELECT 0, ${DRAWN}, NULL, NULL, NULL, records, mass, texts
    FROM ({{ reid_people_drawn(columns, seed) }})
  )
{% endcall %}
{% endcall %}
;
