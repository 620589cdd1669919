-- How DuckDB says the sample's classes by their population.

-- The population of each of the sample's classes; a population holds its sample.
PLAN reid_population(tbl, population_tbl, columns, nulls) AS
{% if nulls = 'wildcard' %}
  {% call reid_population_with(columns) %}
    {{ reid_distinct(tbl, columns, nulls, 0) }} UNION ALL {{ reid_distinct(population_tbl, columns, nulls, 1) }}
  {% endcall %}
  SELECT own, records, class_size AS found FROM reid_matched JOIN reid_own USING (id)
{% else %}
  SELECT s.records AS own, s.records, coalesce(p.records, 0) AS found
  FROM ({{ reid_distinct(tbl, columns, nulls, 0) }}) s
  LEFT JOIN ({{ reid_distinct(population_tbl, columns, nulls, 1) }}) p
    ON {% for c, i in columns join ' AND ' %}s.q{{ i }} IS NOT DISTINCT FROM p.q{{ i }}{% endfor %}
{% endif %}
;

PLAN reid_population_with(columns, records) AS
{{ reid_wildcard_with(columns, records, 1) }}, reid_own AS ({{ reid_matches(0, 'own') }})
;

PLAN reid_plan_population_histogram(tbl, population_tbl, columns, nulls) AS
{% call reid_guarded('quasi-identifiers', [reid_table(tbl), reid_table(population_tbl)], columns) %}
{% call reid_treated(tbl, columns, nulls) %}
  SELECT greatest(found, own) AS class_size, count(*) AS classes, sum(records)::BIGINT AS records,
    coalesce(sum(records) FILTER (found < own), 0)::BIGINT AS uncovered
  FROM ({{ reid_population(tbl, population_tbl, columns, nulls) }})
  GROUP BY ALL
{% endcall %}
{% endcall %}
ORDER BY class_size
;
